//! How a call reaches the host: one question, one answer, JSON both ways.

use std::sync::Arc;

use crate::kind::Failure;

/// The way to the host. In a worker it leads over the boundary and through a frame; in a test it is a script.
pub trait Ask: Send + Sync {
    /// Asks a service, and waits for its answer.
    ///
    /// # Errors
    /// The service's failure; code `cancelled` or `deadline` when the unit is over.
    fn ask(&self, service: &str, request: &str) -> Result<String, Failure>;

    /// Whether somebody asked for the unit to end. To be looked at between steps; asking a service looks at it too.
    fn cancelled(&self) -> bool;

    /// How long the call may still take, in milliseconds; `None` without a deadline.
    fn remaining_ms(&self) -> Option<u64>;

    /// Names of the services that this host has.
    fn features(&self) -> Vec<String>;
}

impl<A: Ask + ?Sized> Ask for Arc<A> {
    fn ask(&self, service: &str, request: &str) -> Result<String, Failure> {
        (**self).ask(service, request)
    }

    fn cancelled(&self) -> bool {
        (**self).cancelled()
    }

    fn remaining_ms(&self) -> Option<u64> {
        (**self).remaining_ms()
    }

    fn features(&self) -> Vec<String> {
        (**self).features()
    }
}

/// The way to the host, as a session keeps it for one call.
pub type Link<'l> = &'l dyn Ask;
