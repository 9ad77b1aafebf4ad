//! Fault points: the store fails, or the process dies, at a chosen operation (DECISIONS 1.11, 6.12).
//!
//! Each operation on the disk asks [`Faults`] first. Without the feature `faults` the type is empty and every question
//! compiles to nothing. With it, `HOST_FAULTS` lists points, e.g. `rename:2:kill,write:3:enospc`: the second rename
//! kills the process, the third write finds no space. Counts are per kind of operation and start at 1; a kill comes
//! before the operation. The lock's note about its holder is not counted.
//!
//! The counts live in a value that is passed on, not in the process, so that tests do not disturb each other.

#[cfg(not(any(test, feature = "faults")))]
pub use off::Faults;
#[cfg(any(test, feature = "faults"))]
pub use on::Faults;

/// A kind of operation that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create a folder: `mkdir`.
    CreateFolder,
    /// Create a temporary file: `create`.
    Create,
    /// One write of bytes: `write`.
    Write,
    /// Sync a file: `fsync`.
    Sync,
    /// Put a file in place, replacing or not: `rename`.
    Rename,
    /// Sync a folder: `fsync-folder`.
    SyncFolder,
    /// Remove a temporary file: `remove`.
    Remove,
}

/// An item of `HOST_FAULTS` that is no fault point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HOST_FAULTS: `{item}` {kind}")]
pub struct FaultsError {
    /// The item as written.
    pub item: String,
    /// What is wrong with it.
    pub kind: FaultsErrorKind,
}

/// What is wrong with an item of `HOST_FAULTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultsErrorKind {
    /// Not three parts.
    #[error("is not of the form operation:count:effect, e.g. rename:2:kill")]
    Shape,
    /// Not a kind of operation.
    #[error("names no operation; there are mkdir, create, write, fsync, rename, fsync-folder and remove")]
    Operation,
    /// Not a number from 1 on.
    #[error("counts from 1 on, in digits")]
    Count,
    /// Not an effect.
    #[error("names no effect; there are kill, short, enospc, edquot, eio, eperm, eacces, ebusy, erofs and eexist")]
    Effect,
    /// A short write of something that is no write.
    #[error("is short, which only a write can be")]
    ShortOnlyForWrites,
    /// Two effects for one operation.
    #[error("is the second effect for one operation")]
    Twice,
}

#[cfg(not(any(test, feature = "faults")))]
mod off {
    use std::io;

    use super::{FaultsError, Operation};

    /// No fault points: this build was made without the feature `faults`.
    #[derive(Clone, Debug, Default)]
    pub struct Faults;

    impl Faults {
        /// No faults; the variable is not read in this build.
        ///
        /// # Errors
        /// None in this build.
        pub fn from_env() -> Result<Self, FaultsError> {
            Ok(Self)
        }

        #[inline]
        pub(in crate::store) fn before(&self, _operation: Operation) -> io::Result<()> {
            Ok(())
        }

        #[inline]
        pub(in crate::store) fn before_write(&self, length: usize) -> io::Result<usize> {
            Ok(length)
        }
    }
}

#[cfg(any(test, feature = "faults"))]
mod on {
    use std::ffi::OsStr;
    use std::io;
    use std::str::FromStr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::{FaultsError, FaultsErrorKind, Operation};
    use crate::env;
    use crate::store::platform::{self, SystemError};

    /// Which operations fail, and how many of each there were. Clones count together.
    #[derive(Clone, Debug, Default)]
    pub struct Faults {
        points: Arc<[Point]>,
        counts: Arc<[AtomicU64; OPERATIONS.len()]>,
        death: Death,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Point {
        operation: Operation,
        count: u64,
        effect: Effect,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Effect {
        Kill,
        Short,
        Fail(SystemError),
    }

    /// What a kill is.
    #[derive(Clone, Debug, Default)]
    enum Death {
        #[default]
        Process,
        /// From then on every operation fails, so nothing more reaches the disk.
        Simulated(Arc<AtomicBool>),
    }

    /// In the order of the type: an operation's number is its place here and among the counts.
    const OPERATIONS: [(Operation, &str); 7] = [
        (Operation::CreateFolder, "mkdir"),
        (Operation::Create, "create"),
        (Operation::Write, "write"),
        (Operation::Sync, "fsync"),
        (Operation::Rename, "rename"),
        (Operation::SyncFolder, "fsync-folder"),
        (Operation::Remove, "remove"),
    ];

    const EFFECTS: [(Effect, &str); 10] = [
        (Effect::Kill, "kill"),
        (Effect::Short, "short"),
        (Effect::Fail(SystemError::NoSpace), "enospc"),
        (Effect::Fail(SystemError::Quota), "edquot"),
        (Effect::Fail(SystemError::Device), "eio"),
        (Effect::Fail(SystemError::NotPermitted), "eperm"),
        (Effect::Fail(SystemError::AccessDenied), "eacces"),
        (Effect::Fail(SystemError::Busy), "ebusy"),
        (Effect::Fail(SystemError::ReadOnly), "erofs"),
        (Effect::Fail(SystemError::Exists), "eexist"),
    ];

    impl Faults {
        /// The fault points of `HOST_FAULTS`; none when it is unset or empty.
        ///
        /// # Errors
        /// [`FaultsError`] when an item of it is no fault point: a test that injects nothing must not look green.
        pub fn from_env() -> Result<Self, FaultsError> {
            let text = env::get(env::FAULTS).unwrap_or_default();
            Self::from_os_str(&text)
        }

        fn from_os_str(text: &OsStr) -> Result<Self, FaultsError> {
            let shape = || FaultsError { item: text.to_string_lossy().into_owned(), kind: FaultsErrorKind::Shape };
            text.to_str().ok_or_else(shape)?.parse()
        }

        /// The same points, but a kill only makes this and every later operation fail: what is on the disk is then what
        /// a killed process would have left, and the test goes on.
        #[must_use]
        pub fn simulated(self) -> Self {
            Self { death: Death::Simulated(Arc::default()), ..self }
        }

        /// How many operations of a kind there were.
        #[must_use]
        pub fn count(&self, operation: Operation) -> u64 {
            self.counts[operation as usize].load(Ordering::SeqCst)
        }

        /// Counts an operation other than a write, and fails or dies if it is a chosen one.
        pub(in crate::store) fn before(&self, operation: Operation) -> io::Result<()> {
            self.next(operation).map(|_whole| ())
        }

        /// Counts a write; the answer is how many of its bytes may be written.
        pub(in crate::store) fn before_write(&self, length: usize) -> io::Result<usize> {
            Ok(match self.next(Operation::Write)? {
                Extent::Whole => length,
                // At least one byte: zero would mean that the disk takes no more.
                Extent::Half => length.div_ceil(2),
            })
        }

        fn next(&self, operation: Operation) -> io::Result<Extent> {
            if self.is_dead() {
                return Err(io::Error::other("the process is dead (simulated)"));
            }
            let count = self.counts[operation as usize].fetch_add(1, Ordering::SeqCst) + 1;
            let chosen = self.points.iter().find(|point| point.operation == operation && point.count == count);
            match chosen.map(|point| point.effect) {
                None => Ok(Extent::Whole),
                Some(Effect::Short) => Ok(Extent::Half),
                Some(Effect::Fail(error)) => Err(platform::system_error(error)),
                Some(Effect::Kill) => Err(self.die()),
            }
        }

        fn is_dead(&self) -> bool {
            match &self.death {
                Death::Process => false,
                Death::Simulated(dead) => dead.load(Ordering::SeqCst),
            }
        }

        fn die(&self) -> io::Error {
            match &self.death {
                Death::Process => platform::kill_self(),
                Death::Simulated(dead) => dead.store(true, Ordering::SeqCst),
            }
            io::Error::other("killed here (simulated)")
        }
    }

    /// How much of an operation is done.
    enum Extent {
        Whole,
        Half,
    }

    impl FromStr for Faults {
        type Err = FaultsError;

        fn from_str(text: &str) -> Result<Self, FaultsError> {
            let mut points: Vec<Point> = Vec::new();
            for item in text.split(',').filter(|_| !text.is_empty()) {
                let refused = |kind| FaultsError { item: item.to_owned(), kind };
                let point = point(item).map_err(refused)?;
                if points.iter().any(|other| other.operation == point.operation && other.count == point.count) {
                    return Err(refused(FaultsErrorKind::Twice));
                }
                points.push(point);
            }
            Ok(Self { points: points.into(), ..Self::default() })
        }
    }

    fn point(item: &str) -> Result<Point, FaultsErrorKind> {
        let mut parts = item.split(':');
        let (Some(operation), Some(count), Some(effect), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(FaultsErrorKind::Shape);
        };
        let named = |(_, name): &&(Operation, &str)| *name == operation;
        let (operation, _) = *OPERATIONS.iter().find(named).ok_or(FaultsErrorKind::Operation)?;
        let digits = count.bytes().all(|byte| byte.is_ascii_digit());
        let count = count.parse().ok().filter(|count| digits && *count > 0).ok_or(FaultsErrorKind::Count)?;
        let (effect, _) = *EFFECTS.iter().find(|(_, name)| *name == effect).ok_or(FaultsErrorKind::Effect)?;
        if effect == Effect::Short && operation != Operation::Write {
            return Err(FaultsErrorKind::ShortOnlyForWrites);
        }
        Ok(Point { operation, count, effect })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[track_caller]
        fn check_refused(text: &str, expected: &str) {
            assert_eq!(text.parse::<Faults>().unwrap_err().to_string(), format!("HOST_FAULTS: {expected}"));
        }

        #[test]
        fn an_item_without_three_parts_is_refused() {
            let form = "is not of the form operation:count:effect, e.g. rename:2:kill";
            check_refused("rename:2", &format!("`rename:2` {form}"));
            check_refused("rename:2:kill:now", &format!("`rename:2:kill:now` {form}"));
            check_refused("rename:2:kill,", &format!("`` {form}"));
            check_refused(",", &format!("`` {form}"));
        }

        #[test]
        fn an_unknown_operation_is_refused_and_the_known_ones_are_named() {
            check_refused(
                "move:1:kill",
                "`move:1:kill` names no operation; there are mkdir, create, write, fsync, rename, fsync-folder and remove",
            );
        }

        #[test]
        fn a_count_is_digits_from_one_on() {
            for count in ["0", "", "-1", "+1", "x", "1.5", "99999999999999999999"] {
                let item = format!("write:{count}:eio");
                check_refused(&item, &format!("`{item}` counts from 1 on, in digits"));
            }
        }

        #[test]
        fn an_unknown_effect_is_refused_and_the_known_ones_are_named() {
            check_refused(
                "write:1:EIO",
                "`write:1:EIO` names no effect; there are kill, short, enospc, edquot, eio, eperm, eacces, ebusy, erofs \
                 and eexist",
            );
        }

        #[test]
        fn only_a_write_can_be_short() {
            check_refused("rename:1:short", "`rename:1:short` is short, which only a write can be");
        }

        #[test]
        fn two_effects_for_one_operation_are_refused() {
            check_refused("write:1:eio,write:1:kill", "`write:1:kill` is the second effect for one operation");
        }

        #[cfg(unix)]
        #[test]
        fn a_variable_that_is_no_text_is_refused() {
            use std::os::unix::ffi::OsStrExt;
            assert!(Faults::from_os_str(OsStr::from_bytes(b"write:1:\xff")).is_err());
        }

        #[test]
        fn every_operation_and_effect_is_told_in_the_texts() {
            let texts = format!("{} {}", FaultsErrorKind::Operation, FaultsErrorKind::Effect);
            let words: Vec<&str> = texts.split([' ', ',']).collect();
            let names = OPERATIONS.iter().map(|(_, name)| name).chain(EFFECTS.iter().map(|(_, name)| name));
            for name in names {
                assert!(words.contains(name), "{name}");
            }
        }

        #[test]
        fn each_operation_stands_at_its_own_number() {
            for (place, (operation, _)) in OPERATIONS.iter().enumerate() {
                assert_eq!(*operation as usize, place);
            }
        }

        #[test]
        fn the_chosen_operation_fails_and_no_other() {
            let faults: Faults = "write:2:enospc,fsync:1:eio".parse().unwrap();
            assert_eq!(faults.before_write(10).unwrap(), 10);
            assert_eq!(faults.before_write(10).unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert_eq!(faults.before_write(10).unwrap(), 10);
            assert!(faults.before(Operation::Rename).is_ok());
            assert!(faults.before(Operation::Sync).is_err());
            assert!(faults.before(Operation::Sync).is_ok());
        }

        #[test]
        fn clones_count_together() {
            let faults: Faults = "rename:2:eperm".parse().unwrap();
            faults.clone().before(Operation::Rename).unwrap();
            assert_eq!(faults.before(Operation::Rename).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            assert_eq!(faults.count(Operation::Rename), 2);
        }

        #[test]
        fn a_short_write_takes_half_and_never_nothing() {
            let faults: Faults = "write:1:short,write:2:short".parse().unwrap();
            assert_eq!(faults.before_write(11).unwrap(), 6);
            assert_eq!(faults.before_write(1).unwrap(), 1);
        }

        #[test]
        fn after_a_simulated_kill_nothing_works_any_more() {
            let faults = "rename:1:kill".parse::<Faults>().unwrap().simulated();
            assert!(faults.before(Operation::Remove).is_ok());
            assert!(faults.before(Operation::Rename).is_err());
            assert!(faults.before(Operation::Remove).is_err());
        }
    }
}
