//! A temporary home for the tests of the store, and of what writes through it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::guard::{Guard, Guarded};

/// A temporary folder that the guard allows.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A path below, as the guard would spell it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The same, allowed.
    pub(crate) fn guarded(&self, name: &str) -> Guarded {
        Guard::new(None).check(self.at(name)).unwrap()
    }

    /// The names in the home, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Writes a file in place, as something other than the store would.
pub(crate) fn put(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

/// The text of a file, `None` when it is absent.
pub(crate) fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}
