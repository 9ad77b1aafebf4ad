//! Locks that organs take: one holder of a name for one state folder, whichever organ and process it is.
//!
//! Locks of the system (see [`crate::store::lock`]): freed when their holder dies, never judged by their age.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plugin_api::Failure;
use plugin_api::organ::services::{Done, LockRelease, LockTake};

use super::bounds::{self, Bounds};
use super::key::file_name;
use super::{Outside, failure};
use crate::store::{Guard, Guarded, LockError, OutputLock};

/// Pause between two tries: 25 ms.
const POLL: Duration = Duration::from_millis(25);

/// The locks of a session.
#[derive(Debug)]
pub(super) struct Locks {
    folder: PathBuf,
    guard: Guard,
    outside: Outside,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// The session is over: nothing is taken any more.
    over: bool,
    locks: BTreeMap<String, OutputLock>,
}

impl Locks {
    pub(super) fn new(state: &Path, shared: Option<PathBuf>, outside: Outside) -> Self {
        Self { folder: state.join("locks"), guard: Guard::new(shared), outside, held: Mutex::default() }
    }

    pub(super) fn take(&self, request: &LockTake, bounds: &Bounds<'_>) -> Result<Done, Failure> {
        let name = &request.name;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err(failure::invalid(format!("{name:?} is no name of a lock: write letters, digits, . _ - /")));
        }
        if self.held().locks.contains_key(name) {
            let text = format!("this session holds the lock {name} already; release it first");
            return Err(Failure::new("locked", text));
        }
        let failed = |error: Untaken| error.failure("locked", &format!("the lock {name}"));
        let file = self.guard.check(self.folder.join(file_name("l", name))).map_err(|error| failed(error.into()))?;
        let own = bounds.narrowed(Some(request.wait_ms));
        let lock = acquire(&file, &self.outside, &own).map_err(|error| match error {
            // The unit ended before the wait did.
            Untaken::Held(_) if bounds.check().is_err() => bounds::deadline(),
            error @ (Untaken::Held(_) | Untaken::Unusable(_) | Untaken::Cancelled) => failed(error),
        })?;
        let mut held = self.held();
        if held.over {
            return Err(bounds::cancelled());
        }
        held.locks.insert(name.clone(), lock);
        Ok(Done {})
    }

    pub(super) fn release(&self, request: &LockRelease) -> Result<Done, Failure> {
        match self.held().locks.remove(&request.name) {
            Some(_freed) => Ok(Done {}),
            None => Err(failure::invalid(format!("this session does not hold the lock {:?}", request.name))),
        }
    }

    /// Gives back every lock, and lets none be taken any more.
    pub(super) fn end(&self) {
        let mut held = self.held();
        held.over = true;
        held.locks.clear();
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock that was not taken.
pub(super) enum Untaken {
    /// Somebody else holds it, and the wait is over.
    Held(LockError),
    /// It cannot be used.
    Unusable(LockError),
    Cancelled,
}

impl From<crate::store::GuardError> for Untaken {
    fn from(error: crate::store::GuardError) -> Self {
        Self::Unusable(error.into())
    }
}

impl Untaken {
    /// The failure, under `held` when somebody else holds `what`.
    pub(super) fn failure(&self, held: &str, what: &str) -> Failure {
        match self {
            Self::Held(LockError::Held { holder, path, .. }) => {
                let text = format!("{what} is held by {holder} ({}); try again when that has ended", path.display());
                Failure::new(held, text)
            }
            Self::Held(error) | Self::Unusable(error) => {
                let text = format!("{what} cannot be taken: {}; check the state folder", failure::chain(error));
                Failure::new("lock_unusable", text)
            }
            Self::Cancelled => bounds::cancelled(),
        }
    }
}

/// Takes `<file>.lock`; tries until the bounds are over, at least once.
pub(super) fn acquire(file: &Guarded, outside: &Outside, bounds: &Bounds<'_>) -> Result<OutputLock, Untaken> {
    loop {
        let now = || (outside.now)();
        match OutputLock::acquire(&outside.disk, &[file], Duration::ZERO, &now) {
            Ok(lock) => return Ok(lock),
            Err(error @ LockError::Held { .. }) => {
                let pause = bounds.at_most(POLL);
                if bounds.is_cancelled() {
                    return Err(Untaken::Cancelled);
                }
                if pause.is_zero() {
                    return Err(Untaken::Held(error));
                }
                let _asked = (outside.wait)(pause, bounds.cancel());
            }
            Err(error) => return Err(Untaken::Unusable(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::services::testing::{self, Free};
    use crate::store::testing::Home;

    fn locks(home: &Home) -> Locks {
        Locks::new(&home.at("host"), None, testing::outside())
    }

    fn take(locks: &Locks, name: &str) -> Result<(), Failure> {
        locks.take(&LockTake { name: name.into(), wait_ms: 0 }, &Free::new().bounds()).map(|_| ())
    }

    #[test]
    fn a_lock_has_one_holder_until_it_is_released() {
        let home = Home::new();
        let (one, other) = (locks(&home), locks(&home));
        take(&one, "merge/o/r").unwrap();
        let failure = take(&other, "merge/o/r").unwrap_err();
        assert_eq!(failure.code, "locked");
        let pid = format!("held by process {} since 20", std::process::id());
        assert!(failure.message.contains(&pid), "{}", failure.message);
        take(&other, "merge/o/R").unwrap();
        one.release(&LockRelease { name: "merge/o/r".into() }).unwrap();
        take(&other, "merge/o/r").unwrap();
    }

    #[test]
    fn the_end_of_a_session_gives_its_locks_back_and_takes_no_more() {
        let home = Home::new();
        let (one, other) = (locks(&home), locks(&home));
        take(&one, "a").unwrap();
        one.end();
        one.end();
        take(&other, "a").unwrap();
        assert_eq!(take(&one, "b").unwrap_err().code, "cancelled");
    }

    #[test]
    fn a_lock_that_a_wait_outlasts_is_taken() {
        let home = Home::new();
        let (one, other) = (locks(&home), locks(&home));
        take(&one, "a").unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let request = LockTake { name: "a".into(), wait_ms: 60_000 };
                other.take(&request, &Free::new().bounds())
            });
            one.end();
            assert_eq!(waiting.join().unwrap(), Ok(Done {}));
        });
    }

    #[test]
    fn a_wait_ends_when_it_is_cancelled() {
        let home = Home::new();
        let (one, other) = (locks(&home), locks(&home));
        take(&one, "a").unwrap();
        let free = Free::new();
        free.cancel.ask();
        let request = LockTake { name: "a".into(), wait_ms: 60_000 };
        assert_eq!(other.take(&request, &free.bounds()).unwrap_err().code, "cancelled");
    }

    #[test]
    fn twice_in_one_session_and_odd_names_are_refused() {
        let home = Home::new();
        let locks = locks(&home);
        take(&locks, "a").unwrap();
        assert_eq!(take(&locks, "a").unwrap_err().code, "locked");
        assert_eq!(take(&locks, "").unwrap_err().code, "invalid_request");
        assert_eq!(take(&locks, "a b").unwrap_err().code, "invalid_request");
        assert_eq!(locks.release(&LockRelease { name: "b".into() }).unwrap_err().code, "invalid_request");
        take(&locks, "../../etc").unwrap();
        assert_eq!(home.names(), ["host"]);
    }
}
