//! When a question must be over: its deadline, the wish that it ends, and the end of the session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plugin_api::Failure;

use super::{Asked, Cancel};

/// When a question must be over.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    deadline: Option<Instant>,
    cancel: &'a Cancel,
    /// The session is over.
    over: &'a AtomicBool,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(asked: &Asked<'a>, over: &'a AtomicBool) -> Self {
        Self { deadline: asked.deadline, cancel: asked.cancel, over }
    }

    /// The same, over after so many milliseconds if that is earlier.
    pub(super) fn narrowed(self, ms: Option<u64>) -> Self {
        // A time that no clock can tell is none.
        let own = ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
        Self { deadline: self.deadline.into_iter().chain(own).min(), ..self }
    }

    /// # Errors
    /// Code `cancelled` or `deadline` when it is over.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.is_cancelled() {
            return Err(cancelled());
        }
        if self.left() == Some(Duration::ZERO) { Err(deadline()) } else { Ok(()) }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.over.load(Ordering::Acquire) || self.cancel.is_asked()
    }

    /// How much time is left; `None` without a deadline.
    pub(super) fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// At most so much of the time that is left.
    pub(super) fn at_most(&self, time: Duration) -> Duration {
        self.left().map_or(time, |left| left.min(time))
    }

    pub(super) fn cancel(&self) -> &'a Cancel {
        self.cancel
    }
}

/// The call was cancelled, or its session is over.
pub(super) fn cancelled() -> Failure {
    Failure::new("cancelled", "the unit was cancelled")
}

/// No time is left.
pub(super) fn deadline() -> Failure {
    Failure::new("deadline", "the unit's deadline is over")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_deadline_holds() {
        let (cancel, over) = (Cancel::new(), AtomicBool::new(false));
        let asked = Asked { service: "", request: "", deadline: None, cancel: &cancel };
        let bounds = Bounds::new(&asked, &over);
        assert_eq!(bounds.left(), None);
        assert!(bounds.narrowed(Some(50_000)).left().unwrap() <= Duration::from_secs(50));
        assert!(bounds.narrowed(Some(50_000)).narrowed(Some(90_000)).left().unwrap() <= Duration::from_secs(50));
        assert_eq!(bounds.narrowed(Some(0)).check().unwrap_err().code, "deadline");
        assert_eq!(bounds.narrowed(Some(u64::MAX)).check(), Ok(()));
        cancel.ask();
        assert_eq!(bounds.check().unwrap_err().code, "cancelled");
    }
}
