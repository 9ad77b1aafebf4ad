//! A wish that a call ends, from one thread to another.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// A wish that a call ends. Clones share it; it is never taken back.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    asked: Arc<(Mutex<bool>, Condvar)>,
    told: Arc<Mutex<Vec<Weak<Told>>>>,
}

/// Something that is told of a wish, as long as it is kept.
pub struct Told(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
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
        let told: Vec<Arc<Told>> = self.told().drain(..).filter_map(|told| told.upgrade()).collect();
        for told in told {
            (told.0)();
        }
    }

    /// Has `tell` called when somebody asks, at once when somebody did: for one who waits for something else too. In
    /// force until the result is dropped. May be called twice, and from the thread that asks.
    pub fn when_asked(&self, tell: impl Fn() + Send + Sync + 'static) -> Arc<Told> {
        let told = Arc::new(Told(Box::new(tell)));
        {
            let mut all = self.told();
            all.retain(|other| other.strong_count() > 0);
            all.push(Arc::downgrade(&told));
        }
        if self.is_asked() {
            (told.0)();
        }
        told
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Told>>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
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
    #[test]
    fn who_waits_for_something_else_is_told_until_it_lets_go() {
        let cancel = Cancel::new();
        let (sender, told) = std::sync::mpsc::channel();
        let (dropped, kept) = (sender.clone(), sender);
        drop(cancel.when_asked(move || dropped.send("dropped").unwrap()));
        let _kept = cancel.when_asked(move || kept.send("kept").unwrap());
        cancel.ask();
        let (sender, late) = std::sync::mpsc::channel();
        let _late = cancel.when_asked(move || sender.send("late").unwrap());
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["kept"]);
        assert_eq!(late.try_iter().collect::<Vec<_>>(), ["late"]);
    }
}
