//! What lets a plugin be loaded, and why one is not (DECISIONS 7.3, 7.4).
//!
//! Loading runs code with all rights of the host, so a plugin needs one of three: to lie where the binary lies, a pin
//! that its bytes match, or the operator's word for this one command.

use std::io;
use std::path::PathBuf;

use super::pins::Fingerprint;
use crate::reasons::Fatal;

/// What becomes of a plugin that is neither pinned nor beside the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpinned {
    /// It is refused.
    Refuse,
    /// It is loaded: the operator said so.
    Allow,
}

/// A plugin that is not trusted. None of its code was run.
#[derive(Debug, thiserror::Error)]
#[error("plugin {name} at {}: {kind}", file.display())]
pub struct TrustError {
    /// The name that was asked for.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub kind: TrustErrorKind,
}

/// Why a plugin is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustErrorKind {
    /// Its bytes are not those that were pinned.
    #[error("its SHA-256 is {found}, pinned is {pinned}; it was not loaded")]
    Altered {
        /// What it is.
        found: Fingerprint,
        /// What it was.
        pinned: Fingerprint,
    },
    /// Its copy is gone.
    #[error("the copy that was pinned is gone: {0}")]
    Gone(#[source] io::Error),
    /// It cannot be read or copied.
    #[error("it cannot be read into a sealed copy: {0}; check its permissions")]
    Unreadable(#[source] io::Error),
    /// Nobody pinned it.
    #[error("it is not pinned, so it was not loaded; `host plugin add {}` pins it", .0.display())]
    Unpinned(PathBuf),
}

impl TrustErrorKind {
    /// What the system said about a pinned copy.
    #[must_use]
    pub fn from_io(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::Gone(error) } else { Self::Unreadable(error) }
    }
}

impl TrustError {
    /// The code under which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self.kind {
            TrustErrorKind::Altered { .. } | TrustErrorKind::Gone(_) => Fatal::PluginAltered,
            TrustErrorKind::Unreadable(_) => Fatal::PluginUnreadable,
            TrustErrorKind::Unpinned(_) => Fatal::PluginUnpinned,
        }
    }
}
