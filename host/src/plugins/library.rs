//! A plugin's file, read once: the bytes that are hashed are the bytes that are judged.

use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use super::compat::built_unknown;
use super::manifest::{InspectError, Inspected, inspect_in};
use super::pins::Fingerprint;
use crate::reasons::Fatal;

/// The whole library.
#[derive(Clone, Debug)]
pub struct Library {
    /// Where it was read.
    pub file: PathBuf,
    /// All of it.
    pub bytes: Vec<u8>,
    /// Its digest.
    pub sha256: Fingerprint,
    /// What it says of itself.
    pub inspected: Inspected,
}

/// A file that is no plugin, or cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why} ({})", file.display(), built_unknown())]
pub struct LibraryError {
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub why: InspectError,
}

impl LibraryError {
    /// The code under which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        Fatal::PluginUnreadable
    }
}

impl Library {
    /// Reads a plugin.
    ///
    /// # Errors
    /// [`LibraryError`] when it cannot be read, or has no manifest.
    pub fn read(file: &Path) -> Result<Self, LibraryError> {
        read(file).map_err(|why| LibraryError { file: file.to_owned(), why })
    }

    /// Its length in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }
}

fn read(file: &Path) -> Result<Library, InspectError> {
    // A pipe would be waited for, and a device has no end.
    if !fs::metadata(file).map_err(InspectError::Unreadable)?.is_file() {
        return Err(InspectError::Unreadable(io::Error::other("it is no regular file")));
    }
    let bytes = fs::read(file).map_err(InspectError::Unreadable)?;
    let sha256 = Fingerprint::of(bytes.as_slice()).map_err(InspectError::Unreadable)?;
    let inspected = inspect_in(Cursor::new(&bytes))?.ok_or(InspectError::NoManifest)?;
    Ok(Library { file: file.to_owned(), bytes, sha256, inspected })
}
