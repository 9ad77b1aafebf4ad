//! Files that are replaced whole or not at all (L 12).
//!
//! A temporary file beside the target is written and synced, then renamed, then the folder is synced. A crash at any
//! point leaves the old file or the new one. [`Staging`] and [`Staged`] split this in two, so that several files can be
//! written first and renamed in order afterwards ([`commit_all`]).

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::disk::{Disk, Mode, Step, WriteError};
use super::files;
use super::guard::Guarded;
use super::lock::FoldLock;
use super::platform;
use super::temps::Temporary;

/// Bytes after which the system is asked to start writing: 4 MB. Measured on 79 MB in 1 MB chunks (ext4): the sync at
/// the end then waits 2 ms and not 25 ms, and the pages stay cached. A thread that syncs meanwhile gains the same, but
/// makes the count of syncs depend on time and takes errors away from the last one.
const WRITE_BACK: u64 = 4 * 1024 * 1024;

/// Tries to create a file that others keep creating and removing, before giving up.
const CREATE_ROUNDS: u32 = 8;

/// A file that is being written under a temporary name. Give it large chunks: each `write` is one of the system's.
///
/// Dropped, it disappears; only [`Staging::finish`] and then [`Staged::commit`] replace the target.
#[derive(Debug)]
pub struct Staging {
    disk: Disk,
    target: Guarded,
    /// Before the temporary name, because fields are dropped in this order and a file is closed before it is removed.
    file: File,
    temporary: Temporary,
    digest: Option<Sha256>,
    length: u64,
    /// Up to where the system was asked to write out.
    advised: u64,
    /// A write failed, so the content has a hole.
    is_broken: bool,
}

impl Staging {
    /// Starts a file; folders that are missing above it are created.
    ///
    /// # Errors
    /// [`WriteError`] when a folder or the temporary file cannot be created.
    pub fn begin(disk: &Disk, target: &Guarded, mode: Mode) -> Result<Self, WriteError> {
        if let Some(folder) = target.folder() {
            files::create_folders(disk, &folder)?;
        }
        if target.path().is_dir() {
            // The rename would say so too, but of several files the earlier ones would be replaced by then.
            return Err(WriteError::at(Step::PutInPlace, target.path())(io::ErrorKind::IsADirectory.into()));
        }
        let created = Temporary::create(disk, target.path(), mode);
        let (temporary, file) = created.map_err(WriteError::at(Step::CreateTemporary, target.path()))?;
        Ok(Self {
            disk: disk.clone(),
            target: target.clone(),
            file,
            temporary,
            digest: None,
            length: 0,
            advised: 0,
            is_broken: false,
        })
    }

    /// Computes the SHA-256 of what is written from now on. Costs about 1 ms a MB; leave it out to hash elsewhere.
    #[must_use]
    pub fn with_sha256(self) -> Self {
        Self { digest: Some(Sha256::new()), ..self }
    }

    /// Writes all of `bytes`, with an error that names the target.
    ///
    /// # Errors
    /// [`WriteError`] when the system takes no more.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_all(bytes).map_err(WriteError::at(Step::Write, self.target.path()))
    }

    /// Syncs the file, which keeps its temporary name.
    ///
    /// # Errors
    /// [`WriteError`] when it cannot be synced, or when an earlier write failed and was not heeded.
    pub fn finish(self) -> Result<Staged, WriteError> {
        let path = self.target.path();
        if self.is_broken {
            return Err(WriteError::at(Step::Write, path)(io::Error::other("an earlier write had failed")));
        }
        self.disk.sync(&self.file).map_err(WriteError::at(Step::Sync, path))?;
        Ok(Staged {
            disk: self.disk,
            target: self.target,
            temporary: self.temporary,
            sha256: self.digest.map(|digest| digest.finalize().into()),
            length: self.length,
        })
    }
}

impl Write for Staging {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.disk.write(&mut self.file, bytes).inspect_err(|error| {
            self.is_broken |= error.kind() != io::ErrorKind::Interrupted;
        })?;
        if let Some(digest) = &mut self.digest {
            digest.update(bytes.get(..written).unwrap_or(bytes));
        }
        self.length += u64::try_from(written).map_err(io::Error::other)?;
        if self.length - self.advised >= WRITE_BACK {
            platform::start_write_back(&self.file, self.advised, self.length);
            self.advised = self.length;
        }
        Ok(written)
    }

    /// Nothing is kept back; syncing is [`Staging::finish`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is written and synced, and still has its temporary name. Dropped, it disappears.
#[derive(Debug)]
pub struct Staged {
    disk: Disk,
    target: Guarded,
    temporary: Temporary,
    sha256: Option<[u8; 32]>,
    length: u64,
}

/// What came of putting a file at a name that had to be free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    Here,
    NameTaken,
}

impl Staged {
    /// SHA-256 of the whole file, if it was asked for.
    #[must_use]
    pub fn sha256(&self) -> Option<[u8; 32]> {
        self.sha256
    }

    /// Length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The file that will be replaced.
    #[must_use]
    pub fn target(&self) -> &Guarded {
        &self.target
    }

    /// Replaces the target and makes that durable.
    ///
    /// # Errors
    /// [`WriteError`]; only at [`Step::SyncFolder`] the new file already stands.
    pub fn commit(self) -> Result<(), WriteError> {
        let (disk, target) = (self.disk.clone(), self.target.clone());
        self.rename()?;
        sync_folder_of(&disk, target.path())
    }

    fn rename(self) -> Result<(), WriteError> {
        let path = self.target.path();
        self.disk.rename(self.temporary.path(), path).map_err(WriteError::at(Step::PutInPlace, path))?;
        self.temporary.keep();
        Ok(())
    }

    fn rename_new(self) -> Result<Placed, WriteError> {
        let path = self.target.path();
        match self.disk.rename_new(self.temporary.path(), path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Placed::NameTaken),
            result => result.map_err(WriteError::at(Step::PutInPlace, path))?,
        }
        self.temporary.keep();
        Ok(Placed::Here)
    }
}

/// Replaces several files in this order, then makes all of it durable at once. At an error the rest disappears, and
/// what was already renamed stays: the next fold sees by `fold.json`, which comes last, and repairs (D7).
///
/// # Errors
/// [`WriteError`] of the first file that could not be replaced, or of a folder that could not be synced.
pub fn commit_all(_lock: &FoldLock, staged: Vec<Staged>) -> Result<(), WriteError> {
    let mut folders: Vec<(Disk, Guarded)> = Vec::new();
    for file in staged {
        let (disk, target) = (file.disk.clone(), file.target.clone());
        file.rename()?;
        if folders.iter().all(|(_, other)| other.path().parent() != target.path().parent()) {
            folders.push((disk, target));
        }
    }
    folders.iter().try_for_each(|(disk, target)| sync_folder_of(disk, target.path()))
}

fn sync_folder_of(disk: &Disk, path: &Path) -> Result<(), WriteError> {
    let folder = path.parent().unwrap_or(path);
    disk.sync_folder(folder).map_err(WriteError::at(Step::SyncFolder, folder))
}

/// Replaces a file by these bytes, whole or not at all.
///
/// # Errors
/// [`WriteError`]; only at [`Step::SyncFolder`] the new file already stands.
pub fn replace(disk: &Disk, target: &Guarded, mode: Mode, bytes: &[u8]) -> Result<(), WriteError> {
    let mut staging = Staging::begin(disk, target, mode)?;
    staging.put(bytes)?;
    staging.finish()?.commit()
}

/// What [`create_exclusive`] found and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// The file was not there and now is.
    New,
    /// It was there with the same bytes.
    Identical,
    /// It was there with other bytes, which were replaced (N17): a file that a crash had cut short.
    Repaired,
}

/// Creates a file; one that is there with the same bytes is left alone, one with other bytes is repaired.
///
/// Two processes that create the same file at once both succeed, and exactly one of them is told [`Created::New`].
///
/// # Errors
/// [`WriteError`] when the file cannot be looked at or written.
pub fn create_exclusive(disk: &Disk, target: &Guarded, mode: Mode, bytes: &[u8]) -> Result<Created, WriteError> {
    for _ in 0..CREATE_ROUNDS {
        match existing(target.path(), bytes)? {
            Existing::Same => {
                // Whoever made it may not have come to this.
                sync_folder_of(disk, target.path())?;
                return Ok(Created::Identical);
            }
            Existing::Other => {
                replace(disk, target, mode, bytes)?;
                return Ok(Created::Repaired);
            }
            Existing::None => {}
        }
        let mut staging = Staging::begin(disk, target, mode)?;
        staging.put(bytes)?;
        match staging.finish()?.rename_new()? {
            Placed::Here => {
                sync_folder_of(disk, target.path())?;
                return Ok(Created::New);
            }
            Placed::NameTaken => {}
        }
    }
    Err(WriteError::at(Step::PutInPlace, target.path())(io::ErrorKind::AlreadyExists.into()))
}

enum Existing {
    None,
    Same,
    Other,
}

fn existing(path: &Path, bytes: &[u8]) -> Result<Existing, WriteError> {
    match std::fs::read(path) {
        Ok(found) if found == bytes => Ok(Existing::Same),
        Ok(_) => Ok(Existing::Other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Existing::None),
        Err(error) => Err(WriteError::at(Step::Inspect, path)(error)),
    }
}

#[cfg(test)]
mod tests;
