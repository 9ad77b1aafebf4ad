//! How a command ends: its exit code, or the error that is rendered once.

use std::process::ExitCode;

use crate::ledger::fatal::FatalError;

/// Done.
pub const OK: u8 = 0;
/// Refused or failed, or rejections with `--fail-on-rejections`.
pub const REFUSED: u8 = 1;
/// The command line makes no sense.
pub const USAGE: u8 = 2;

/// The exit code of a command that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome(pub u8);

impl Outcome {
    /// Done.
    pub const OK: Self = Self(OK);
    /// Ran, and the answer is no.
    pub const REFUSED: Self = Self(REFUSED);
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.0)
    }
}

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Refused with a code: exit 1, stderr `ERROR <code>: <detail>`.
    #[error(transparent)]
    Fatal(#[from] FatalError),
    /// A verb of a kind refuses its arguments with an exit code of its own, rendered the same.
    #[error("{error}")]
    Verb {
        /// The exit code.
        exit: u8,
        /// Code and detail.
        error: FatalError,
    },
    /// Refused for a reason that the kind declares, with the kind's own words on what to do.
    #[error("{error}")]
    Own {
        /// Code and detail.
        error: FatalError,
        /// What to do, one sentence.
        remedy: String,
    },
    /// The command line makes no sense, or its help was asked for: clap has the text and the exit code.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// stdout could not be written: whoever reads it went away.
    #[error("cannot write to stdout: {0}")]
    Output(#[source] std::io::Error),
}
