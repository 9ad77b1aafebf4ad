//! The disk as the store changes it: each operation once, with its fault point.
//!
//! The operations take bare paths and stay inside the store; what others call asks for a
//! [`Guarded`](super::guard::Guarded) path.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::faults::{Faults, FaultsError, Operation};
use super::guard::GuardError;
use super::platform;
use crate::reasons::Fatal;

/// Handle through which everything is written. Clones share their fault points.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    faults: Faults,
    retry: Retry,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Whoever the process's mask leaves: usually 0644.
    Default,
    /// The owner only: 0600 (N17).
    Private,
}

/// How often a rename that the system refuses for now is tried, and the pause after the first refusal; it doubles.
#[derive(Clone, Copy, Debug)]
struct Retry {
    attempts: u32,
    pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: platform::RENAME_ATTEMPTS, pause: Duration::from_millis(10) }
    }
}

impl Disk {
    /// The disk with the fault points of `HOST_FAULTS`, which only builds with the feature `faults` have.
    ///
    /// # Errors
    /// [`FaultsError`] when the variable is not well formed.
    pub fn from_env() -> Result<Self, FaultsError> {
        Faults::from_env().map(Self::with_faults)
    }

    /// The disk with these fault points.
    #[must_use]
    pub fn with_faults(faults: Faults) -> Self {
        Self { faults, retry: Retry::default() }
    }

    /// The disk with these fault points that tries a rename so often, without a pause.
    #[cfg(test)]
    pub(super) fn with_attempts(faults: Faults, attempts: u32) -> Self {
        Self { faults, retry: Retry { attempts, pause: Duration::ZERO } }
    }

    pub(super) fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.faults.before(Operation::CreateFolder)?;
        platform::create_folder(path)
    }

    pub(super) fn create_new(&self, path: &Path, mode: Mode) -> io::Result<File> {
        self.faults.before(Operation::Create)?;
        platform::create_new(path, mode)
    }

    pub(super) fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        let allowed = self.faults.before_write(bytes.len())?;
        file.write(bytes.get(..allowed).unwrap_or(bytes))
    }

    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        self.faults.before(Operation::Sync)?;
        file.sync_all()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that replaces a file")]
    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.retrying(|| std::fs::rename(from, to))
    }

    /// Fails with `AlreadyExists` when something has the new name.
    pub(super) fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.retrying(|| platform::rename_new(from, to))
    }

    fn retrying(&self, operation: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let mut pause = self.retry.pause;
        for _ in 1..self.retry.attempts {
            match self.faults.before(Operation::Rename).and_then(|()| operation()) {
                Err(error) if platform::is_busy(&error) => std::thread::sleep(pause),
                result => return result,
            }
            pause *= 2;
        }
        self.faults.before(Operation::Rename)?;
        operation()
    }

    pub(super) fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.faults.before(Operation::SyncFolder)?;
        platform::sync_folder(path)
    }

    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        self.faults.before(Operation::Remove)?;
        std::fs::remove_file(path)
    }
}

/// What was being done when writing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Create a folder.
    CreateFolder,
    /// Look at what is there.
    Inspect,
    /// Create the temporary file.
    CreateTemporary,
    /// Write bytes to it.
    Write,
    /// Sync it.
    Sync,
    /// Give it its name.
    PutInPlace,
    /// Make that name durable. The new file is visible by then.
    SyncFolder,
    /// Remove the file.
    Remove,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CreateFolder => "create the folder",
            Self::Inspect => "look at",
            Self::CreateTemporary => "create a temporary file beside",
            Self::Write => "write the temporary file of",
            Self::Sync => "sync the temporary file of",
            Self::PutInPlace => "put in place",
            Self::SyncFolder => "sync the folder",
            Self::Remove => "remove",
        })
    }
}

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refused a step. Until [`Step::SyncFolder`] what was there before is untouched.
    #[error("cannot {step} {}", path.display())]
    Refused {
        /// What was being done.
        step: Step,
        /// The file or folder that was to be written.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A path that had to be made from an allowed one is not allowed.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

impl WriteError {
    pub(super) fn at(step: Step, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Refused { step, path, source }
    }

    /// The code with which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self {
            Self::Refused { .. } => Fatal::WriteFailed,
            Self::Guard(error) => error.code(),
        }
    }
}
