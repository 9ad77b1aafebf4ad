//! The user's plugins: added, removed, compared with their pins (DECISIONS 7.3).
//!
//! A library is copied into the store first and pinned afterwards; a pin goes first and its copy afterwards. So each pin
//! has its copy at every moment, and whoever is killed in between leaves a copy that nobody names.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use plugin_api::rules::time::Timestamp;

use super::compat::{self, Built, Incompatible};
use super::discover::{Registry, folded};
use super::library::{Library, LibraryError};
use super::pins::{Fingerprint, LOCK_FILE, Pin, Pins, PinsError, STORE, copy_of};
use super::search::{Folder, Origin, SearchPath, Trust};
use crate::reasons::Fatal;
use crate::store::lock::PATIENCE;
use crate::store::{
    Disk, Guard, GuardError, Guarded, LockError, Mode, OutputLock, WriteError, create_exclusive, files, replace,
};

/// The user's folder of plugins, to be changed.
#[derive(Clone, Debug)]
pub struct Installed {
    disk: Disk,
    folder: Guarded,
}

/// What to do when a name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Refuse.
    Refuse,
    /// The new plugin takes the place of each one that was added and serves one of its names.
    Replace,
}

/// What came of adding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The new pin.
    pub pin: Pin,
    /// Its copy.
    pub file: PathBuf,
    /// The pins whose place it took.
    pub replaced: Vec<Pin>,
    /// Copies that nobody names any more and that could not be removed, with the reason. They only cost space.
    pub left: Vec<String>,
}

/// What came of removing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The pin that was.
    pub pin: Pin,
    /// See [`Added::left`].
    pub left: Vec<String>,
}

/// Why nothing was added or removed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The file is no plugin.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// It was built for another host.
    #[error("{}: {why} ({built})", file.display())]
    Incompatible {
        /// The file.
        file: PathBuf,
        /// What does not fit.
        why: Incompatible,
        /// What it was built for.
        built: Box<Built>,
    },
    /// Its manifest lists no name, so nothing could ever be asked of it.
    #[error("{}: its manifest lists no name; name its kinds or organs in the export_plugin! macro", .0.display())]
    Nameless(PathBuf),
    /// Another plugin that was added serves one of its names.
    #[error("{name} is served by {package} {version}, added from {source_file}")]
    Taken {
        /// The name.
        name: String,
        /// Package of the other one.
        package: String,
        /// Its version.
        version: String,
        /// Where it was added from.
        source_file: String,
    },
    /// A file that was put into the folder by hand serves one of its names: both together would be ambiguous.
    #[error(
        "{name} is served by {}, which lies in the folder of the added plugins and was not added; move it elsewhere",
        by.display()
    )]
    ByHand {
        /// The name.
        name: String,
        /// The file.
        by: PathBuf,
    },
    /// No plugin of this name was added.
    #[error("no plugin was added that serves {name}; {}", added(names))]
    NotAdded {
        /// The name.
        name: String,
        /// The names of those that were.
        names: Vec<String>,
    },
    /// Nobody knows what is pinned.
    #[error(transparent)]
    Pins(#[from] PinsError),
    /// The lock file's text cannot be made.
    #[error("the lock file cannot be written as JSON")]
    Text(#[source] serde_json::Error),
    /// Another process changes the folder.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Nothing may be written there.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The system refused.
    #[error(transparent)]
    Write(#[from] WriteError),
}

fn added(names: &[String]) -> String {
    if names.is_empty() { "none was added".to_owned() } else { format!("added were {}", names.join(", ")) }
}

impl InstallError {
    /// The code under which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self {
            Self::Library(error) => error.code(),
            Self::Incompatible { .. } => Fatal::PluginIncompatible,
            Self::Nameless(_) => Fatal::PluginUnreadable,
            Self::Taken { .. } => Fatal::PluginTaken,
            Self::ByHand { .. } => Fatal::PluginAmbiguous,
            Self::NotAdded { .. } => Fatal::PluginNotFound,
            Self::Pins(_) => Fatal::PluginPinsUnreadable,
            Self::Text(_) => Fatal::WriteFailed,
            Self::Lock(error) => error.code(),
            Self::Guard(error) => error.code(),
            Self::Write(error) => error.code(),
        }
    }
}

impl Installed {
    /// The folder at `path`, which need not exist.
    ///
    /// # Errors
    /// [`GuardError`] when nothing may be written there.
    pub fn open(disk: Disk, guard: &Guard, path: &Path) -> Result<Self, GuardError> {
        Ok(Self { disk, folder: guard.check(path)? })
    }

    /// Copies a plugin into the store and pins it. The bytes that are judged are those that are copied.
    ///
    /// # Errors
    /// [`InstallError`]; before [`InstallError::Write`] nothing was changed.
    pub fn add(&self, file: &Path, taken: Taken, now: &dyn Fn() -> Timestamp) -> Result<Added, InstallError> {
        let library = Library::read(file)?;
        compat::fits(&library.inspected.manifest).map_err(|why| {
            let built = Box::new(Built::of(&library.inspected.manifest));
            InstallError::Incompatible { file: file.to_owned(), why, built }
        })?;
        let pin = pin(&library);
        if pin.names.is_empty() {
            return Err(InstallError::Nameless(file.to_owned()));
        }
        self.refuse_by_hand(&pin)?;
        let _lock = self.lock(now)?;
        let pins = Pins::read(self.folder.path())?;
        let (replaced, mut kept): (Vec<Pin>, Vec<Pin>) = pins.list.into_iter().partition(|other| clash(other, &pin));
        // The very same library again is no conflict, and repairs its copy.
        if taken == Taken::Refuse
            && let Some(other) = replaced.iter().find(|other| other.sha256 != pin.sha256)
        {
            return Err(taken_by(other, &pin));
        }
        let copy = self.folder.join(STORE)?.join(pin.file_name())?;
        create_exclusive(&self.disk, &copy, Mode::Default, &library.bytes)?;
        kept.push(pin.clone());
        self.write(Pins { list: kept })?;
        let replaced: Vec<Pin> = replaced.into_iter().filter(|other| other.sha256 != pin.sha256).collect();
        let left = replaced.iter().filter_map(|other| self.remove_copy(other)).collect();
        Ok(Added { file: copy_of(self.folder.path(), &pin), pin, replaced, left })
    }

    /// Forgets the plugin that serves `name`, with all its names, and removes its copy.
    ///
    /// # Errors
    /// [`InstallError`]; nothing was changed.
    pub fn remove(&self, name: &str, now: &dyn Fn() -> Timestamp) -> Result<Removed, InstallError> {
        // Looked at without the lock first: whoever has nothing to remove should leave no folder behind.
        find(&Pins::read(self.folder.path())?, name)?;
        let _lock = self.lock(now)?;
        let mut pins = Pins::read(self.folder.path())?;
        let pin = pins.list.remove(find(&pins, name)?);
        self.write(pins)?;
        let left = self.remove_copy(&pin).into_iter().collect();
        Ok(Removed { pin, left })
    }

    fn lock(&self, now: &dyn Fn() -> Timestamp) -> Result<OutputLock, InstallError> {
        Ok(OutputLock::acquire(&self.disk, &[&self.folder.join(LOCK_FILE)?], PATIENCE, now)?)
    }

    fn write(&self, pins: Pins) -> Result<(), InstallError> {
        let text = pins.text().map_err(InstallError::Text)?;
        Ok(replace(&self.disk, &self.folder.join(LOCK_FILE)?, Mode::Default, text.as_bytes())?)
    }

    /// A file that somebody put beside the store. The registry finds it as any other.
    fn refuse_by_hand(&self, pin: &Pin) -> Result<(), InstallError> {
        let folder = Folder { path: self.folder.path().to_owned(), origin: Origin::User, trust: Trust::Word };
        let registry = Registry::discover(&SearchPath { folders: vec![folder] });
        for entry in registry.entries() {
            if let Some(served) = entry.names.iter().find(|served| pin.serves(&served.name)) {
                return Err(InstallError::ByHand { name: served.name.clone(), by: entry.file.clone() });
            }
        }
        Ok(())
    }

    /// Removes the copy of a pin that is no more; the reason when it cannot.
    fn remove_copy(&self, pin: &Pin) -> Option<String> {
        let copy = self.folder.join(STORE).and_then(|store| store.join(pin.file_name()));
        let removed = copy.map_err(WriteError::from).and_then(|copy| files::remove(&self.disk, &copy));
        removed.err().map(|error| format!("{}: {error}", copy_of(self.folder.path(), pin).display()))
    }
}

fn pin(library: &Library) -> Pin {
    let manifest = &library.inspected.manifest;
    let source = std::path::absolute(&library.file).unwrap_or_else(|_| library.file.clone());
    Pin {
        sha256: library.sha256.clone(),
        size: library.size(),
        role: manifest.role(),
        names: manifest.names().to_vec(),
        package: manifest.package.clone(),
        version: manifest.version.clone(),
        contract: manifest.contract.clone(),
        source: source.to_string_lossy().into_owned(),
    }
}

fn clash(one: &Pin, other: &Pin) -> bool {
    one.names.iter().any(|name| other.serves(name))
}

fn taken_by(other: &Pin, pin: &Pin) -> InstallError {
    let name = pin.names.iter().find(|name| other.serves(name));
    InstallError::Taken {
        name: name.cloned().unwrap_or_default(),
        package: other.package.clone(),
        version: other.version.clone(),
        source_file: other.source.clone(),
    }
}

/// Place of the pin that serves `name`.
fn find(pins: &Pins, name: &str) -> Result<usize, InstallError> {
    pins.list.iter().position(|pin| pin.serves(name)).ok_or_else(|| InstallError::NotAdded {
        name: folded(name),
        names: pins.list.iter().flat_map(|pin| &pin.names).cloned().collect(),
    })
}

/// A pin that was compared with its copy.
#[derive(Debug)]
pub struct Compared {
    /// The pin.
    pub pin: Pin,
    /// Its copy.
    pub file: PathBuf,
    /// What differs.
    pub fault: Option<Difference>,
}

/// How a copy differs from its pin.
#[derive(Debug, thiserror::Error)]
pub enum Difference {
    /// Other bytes.
    #[error("its SHA-256 is {found}, pinned is {pinned}")]
    Altered {
        /// What it is.
        found: Fingerprint,
        /// What it was.
        pinned: Fingerprint,
    },
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
}

/// Hashes the copy of each pin in `folder`, or of the one that serves `name`.
///
/// # Errors
/// [`InstallError::NotAdded`], [`InstallError::Pins`].
pub fn compare(folder: &Path, name: Option<&str>) -> Result<Vec<Compared>, InstallError> {
    let mut pins = Pins::read(folder)?;
    if let Some(name) = name {
        pins.list = vec![pins.list.swap_remove(find(&pins, name)?)];
    }
    let compared = pins.list.into_iter().map(|pin| {
        let file = copy_of(folder, &pin);
        let fault = match File::open(&file).and_then(Fingerprint::of) {
            Ok(found) if found == pin.sha256 => None,
            Ok(found) => Some(Difference::Altered { found, pinned: pin.sha256.clone() }),
            Err(error) => Some(Difference::Unreadable(error)),
        };
        Compared { pin, file, fault }
    });
    Ok(compared.collect())
}
