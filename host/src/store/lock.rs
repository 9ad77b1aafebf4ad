//! Locks: one fold at a time in a ledger's folder, one writer at a time of an output elsewhere (D7, N22).
//!
//! Advisory locks of the system on files that stay. The kernel frees them when their holder dies, so no lock is ever
//! judged by its age and no living holder is robbed. What stands in the file is only for the message of whoever waits
//! in vain.
//!
//! The lock is not inherited: its descriptor is closed when another program is started.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plugin_api::rules::time::Timestamp;

use super::disk::{Disk, WriteError};
use super::files;
use super::guard::{GuardError, Guarded};
use super::platform;
use crate::reasons::Fatal;

/// Longest wait for a lock: 10 s of monotonic time, then `LOCK_TIMEOUT` (D7).
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two tries: 25 ms.
const POLL: Duration = Duration::from_millis(25);
/// Age up to which the reference's lock file means that it is at work: 120 s (DECISIONS 6.6). It removes older ones.
const REFERENCE_AGE_MICROS: i64 = 120 * 1_000_000;
/// Most bytes read of a note about a holder; ours has 60 at most.
const NOTE_LENGTH: u64 = 100;

/// The lock's file in a ledger's folder.
pub const FOLD_LOCK: &str = ".fold.lock";
/// The file by which the reference reducer locks the same folder.
const REFERENCE_LOCK: &str = ".reduce.lock";
/// Added to the name of an output that lies elsewhere.
const OUTPUT_LOCK: &str = ".lock";

/// Proof that no other fold is at work in a ledger's folder. Freed when dropped.
#[derive(Debug)]
pub struct FoldLock {
    _file: File,
}

impl FoldLock {
    /// Takes the lock of a ledger's folder, which is created if need be; waits while the reference is at work there.
    ///
    /// `now` is the wall clock: it stamps the note about the holder and tells the age of the reference's file.
    ///
    /// # Errors
    /// [`LockError`] when the lock is not free within `patience` of monotonic time, or its file cannot be used.
    pub fn acquire(
        disk: &Disk,
        folder: &Guarded,
        patience: Duration,
        now: &dyn Fn() -> Timestamp,
    ) -> Result<Self, LockError> {
        files::create_folders(disk, folder)?;
        let wait = Wait::new(patience);
        let file = lock(&folder.join(FOLD_LOCK)?, &wait, now)?;
        // Looked at under our lock, so that of several waiting folds only one looks.
        wait_for_reference(&folder.path().join(REFERENCE_LOCK), &wait, now)?;
        Ok(Self { _file: file })
    }
}

/// Proof that no other process of ours writes these outputs, which lie outside of a ledger's folder (N22). Freed when
/// dropped.
#[derive(Debug)]
pub struct OutputLock {
    _files: Vec<File>,
}

impl OutputLock {
    /// Takes `<out>.lock` of each output, in the order of their paths, so that two that want the same outputs do not
    /// wait for each other. Their folders are created if need be.
    ///
    /// # Errors
    /// [`LockError`] when not all are free within `patience`, or a file cannot be used.
    pub fn acquire(
        disk: &Disk,
        outputs: &[&Guarded],
        patience: Duration,
        now: &dyn Fn() -> Timestamp,
    ) -> Result<Self, LockError> {
        let wait = Wait::new(patience);
        let mut outputs = outputs.to_vec();
        outputs.sort_by(|one, other| one.path().cmp(other.path()));
        outputs.dedup_by(|one, other| one.path() == other.path());
        let mut locked = Vec::new();
        for output in outputs {
            if let Some(folder) = output.folder() {
                files::create_folders(disk, &folder)?;
            }
            locked.push(lock(&output.with_suffix(OUTPUT_LOCK)?, &wait, now)?);
        }
        Ok(Self { _files: locked })
    }
}

/// A wait that ends.
struct Wait {
    start: Instant,
    patience: Duration,
}

impl Wait {
    fn new(patience: Duration) -> Self {
        Self { start: Instant::now(), patience }
    }

    /// Sleeps until the next try. When there is none, the error is how long we waited.
    fn pause(&self) -> Result<(), Duration> {
        let waited = self.start.elapsed();
        match self.patience.checked_sub(waited) {
            None | Some(Duration::ZERO) => Err(waited),
            Some(left) => {
                std::thread::sleep(left.min(POLL));
                Ok(())
            }
        }
    }
}

/// Tries until the lock on the file at `path` is ours, at least once.
fn lock(path: &Guarded, wait: &Wait, now: &dyn Fn() -> Timestamp) -> Result<File, LockError> {
    let path = path.path();
    let failed = |source| LockError::File { path: path.to_owned(), source };
    loop {
        let mut file = open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) if is_still_at(&file, path).map_err(failed)? => {
                leave_note(&mut file, path, now());
                return Ok(file);
            }
            // Somebody removed the file while we opened it: the next to come would lock another one.
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) => wait.pause().map_err(|waited| LockError::Held {
                path: path.to_owned(),
                waited,
                holder: Holder::read(&mut file),
            })?,
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    match path.metadata() {
        Ok(there) => Ok(platform::identity(&file.metadata()?) == platform::identity(&there)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes who holds the lock. For messages only, so a disk without space does not cost us the lock.
fn leave_note(file: &mut File, path: &Path, since: Timestamp) {
    let note = format!("pid {} since {since}\n", std::process::id());
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(note.as_bytes()));
    if let Err(error) = written {
        tracing::warn!(path = %path.display(), cause = %error, "note about the lock's holder not written");
    }
}

fn wait_for_reference(path: &Path, wait: &Wait, now: &dyn Fn() -> Timestamp) -> Result<(), LockError> {
    let failed = |source| LockError::File { path: path.to_owned(), source };
    loop {
        let since = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            result => result.and_then(|found| files::modified(&found)).map_err(failed)?,
        };
        if now().micros().saturating_sub(since.micros()) >= REFERENCE_AGE_MICROS {
            return Ok(());
        }
        wait.pause().map_err(|waited| LockError::Reference { path: path.to_owned(), waited, since })?;
    }
}

/// Who holds a lock, as far as its file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The process that left a note.
    Process {
        /// Its number.
        pid: u32,
        /// When it took the lock.
        since: Timestamp,
    },
    /// No note, or none of ours.
    Unknown,
}

impl Holder {
    fn read(file: &mut File) -> Self {
        let mut note = String::new();
        match file.take(NOTE_LENGTH).read_to_string(&mut note) {
            Ok(_) => Self::parse(&note),
            // A system may keep others from reading a locked file.
            Err(_) => Self::Unknown,
        }
    }

    fn parse(note: &str) -> Self {
        let parts = note.trim_end().strip_prefix("pid ").and_then(|rest| rest.split_once(" since "));
        let holder = parts.and_then(|(pid, since)| {
            Some(Self::Process { pid: pid.parse().ok()?, since: Timestamp::parse(since).ok()? })
        });
        holder.unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, since } => write!(f, "process {pid} since {since}"),
            Self::Unknown => f.write_str("an unknown process"),
        }
    }
}

/// A lock that was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("waited {:.1} s for {}, which is held by {holder}", waited.as_secs_f64(), path.display())]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
        /// Who holds it.
        holder: Holder,
    },
    /// The reference reducer is at work in the same folder.
    #[error(
        "waited {:.1} s for the reference reducer, whose lock {} is there since {since}",
        waited.as_secs_f64(), path.display()
    )]
    Reference {
        /// The reference's lock file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
        /// When the reference took it.
        since: Timestamp,
    },
    /// The lock's file cannot be used.
    #[error("cannot lock {}", path.display())]
    File {
        /// The lock's file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The lock's folder cannot be created.
    #[error(transparent)]
    Folder(#[from] WriteError),
    /// The lock's file lies where nothing may be written.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

impl LockError {
    /// The code with which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self {
            Self::Held { .. } | Self::Reference { .. } => Fatal::LockTimeout,
            Self::File { .. } => Fatal::WriteFailed,
            Self::Folder(error) => error.code(),
            Self::Guard(error) => error.code(),
        }
    }
}

#[cfg(test)]
mod tests;
