//! What an organ may ask of the host, answered in the host's process (DECISIONS 1.5, 7.1).
//!
//! Every answer is measured against what the organ's declaration and its run allow; what was not granted is refused
//! before anything happens. Tokens, state and programs never enter the worker.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`session`] | [`HostServices`]: which question goes where |
//! | [`outside`] | clock, waits, environment and disk as the services reach them; tests script these |
//! | `file`, `output`, `state`, `lock`, `program` | one service each |
//! | [`tree`] | the end of a program and of all that it started |

mod bounds;
mod cancel;
mod deferred;
mod failure;
mod file;
mod key;
mod lock;
mod output;
pub mod outside;
mod program;
pub mod session;
mod state;
#[cfg(test)]
mod testing;
pub mod tree;

use std::time::Instant;

pub use cancel::{Cancel, Told};
pub use deferred::Deferred;
pub use outside::Outside;
use plugin_api::Failure;
pub use session::{Grants, HostServices};

/// Answers the questions of one session.
pub trait Services: Send + Sync {
    /// Answers a question. Called from a thread of its own, so it may take its time, up to the deadline.
    ///
    /// # Errors
    /// The failure that the organ gets.
    fn answer(&self, asked: &Asked<'_>) -> Result<String, Failure>;

    /// Names of the services that there are.
    fn features(&self) -> Vec<String>;

    /// The session is over: what it holds (locks, kept programs) is given back. May be called more than once.
    fn end(&self);
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Name of the service, e.g. `program.run`.
    pub service: &'a str,
    /// The request: a JSON object of [`plugin_api::organ::services`].
    pub request: &'a str,
    /// When the call must be over.
    pub deadline: Option<Instant>,
    /// Whether the call was cancelled.
    pub cancel: &'a Cancel,
}
