//! How a call of a worker ends without an answer. Each way has a stable code; all of them make a unit undecidable.

use std::time::Duration;

use plugin_api::Failure;

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// The system did not start the process.
    #[error("the worker could not be started: {0}; check that the host's own binary can be run")]
    NotStarted(String),
    /// The worker refused before its first call: the plugin does not load there.
    #[error("the worker refused: {} ({})", .0.message, .0.code)]
    Refused(Failure),
    /// It ended on a signal.
    #[error("the worker was ended by signal {signal}{}; report this to the author of {organ}", dumped(*.core))]
    Crashed {
        /// The organ.
        organ: String,
        /// Number of the signal.
        signal: i32,
        /// Whether the system wrote a core.
        core: bool,
    },
    /// It exited by itself.
    #[error("the worker exited with code {code} before it answered; report this to the author of {organ}")]
    Exited {
        /// The organ.
        organ: String,
        /// Exit code.
        code: i32,
    },
    /// It did not answer in time, and was killed.
    #[error("no answer within {}; the worker and all it started were killed", seconds(*.0))]
    Deadline(Duration),
    /// Somebody asked for its end.
    #[error("cancelled; the worker {}", if *.seen { "had seen it" } else { "had not seen it and was killed" })]
    Cancelled {
        /// Whether the organ looked at the wish.
        seen: bool,
    },
    /// What it sent is not of the protocol.
    #[error("what the worker sent makes no sense: {0}; report this to the author of its plugin")]
    Protocol(String),
    /// It stopped in the middle of a frame.
    #[error("the worker's answer stops after {got} of {of} bytes")]
    HalfFrame {
        /// Bytes that came.
        got: u64,
        /// Bytes that were announced.
        of: u64,
    },
    /// It announced more than a frame may hold.
    #[error("the worker's answer has {0} bytes, more than a frame may hold")]
    TooLarge(u64),
    /// It printed more than anyone will read, and was killed.
    #[error("the worker printed more than {0} bytes and was killed")]
    Flood(u64),
    /// The organ failed or panicked; code and text are its own.
    #[error("{} ({})", .0.message, .0.code)]
    Failed(Failure),
}

fn dumped(core: bool) -> &'static str {
    if core { " (core dumped)" } else { "" }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_millis() as f64 / 1000.0)
}

impl Loss {
    /// The stable code, as it stands in reports and as `host explain` knows it.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::NotStarted(_) => "worker_not_started",
            Self::Refused(_) => "worker_refused",
            Self::Crashed { .. } => "worker_crashed",
            Self::Exited { .. } => "worker_exited",
            Self::Deadline(_) => "deadline",
            Self::Cancelled { .. } => "cancelled",
            Self::Protocol(_) => "worker_protocol",
            Self::HalfFrame { .. } => "worker_half_frame",
            Self::TooLarge(_) => "worker_answer_too_large",
            Self::Flood(_) => "worker_flood",
            Self::Failed(failure) if failure.code == "panic" => "organ_panicked",
            Self::Failed(_) => "organ_failed",
        }
    }
}
