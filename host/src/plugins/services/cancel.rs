//! A wish that a call ends, from one thread to another.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A wish that a call ends. Clones share it; it is never taken back.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    asked: Arc<(Mutex<bool>, Condvar)>,
}

impl Cancel {
    /// Nobody asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks, and wakes whoever waits.
    pub fn ask(&self) {
        let (asked, changed) = &*self.asked;
        *asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.asked.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until somebody asks, at most `time`. Whether somebody asked.
    #[must_use]
    pub fn wait(&self, time: Duration) -> bool {
        let (asked, changed) = &*self.asked;
        let guard = asked.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(guard, time, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_wish_and_waiting_ends_with_it() {
        let cancel = Cancel::new();
        assert!(!cancel.is_asked());
        assert!(!cancel.wait(Duration::ZERO));
        let other = cancel.clone();
        let waiting = std::thread::spawn(move || other.wait(Duration::from_secs(60)));
        cancel.ask();
        assert!(waiting.join().unwrap());
        assert!(cancel.is_asked());
    }
}
