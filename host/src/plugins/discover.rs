//! Which plugins there are. Reads manifests; runs no plugin code.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::compat::{self, Incompatible};
use super::find::{FindError, incompatible, unreadable};
use super::manifest::{InspectError, Inspected, inspect};
use super::pins::{Pin, Pins, PinsError, Role, copy_of};
use super::search::{Folder, Origin, SearchPath, Trust};

/// Everything that was found on a search path.
#[derive(Debug)]
pub struct Registry {
    searched: Vec<Searched>,
    entries: Vec<Entry>,
    /// Libraries without a manifest. Most have nothing to do with the host; one that is asked for by name had an author
    /// who forgot the macro.
    unmarked: Vec<PathBuf>,
    broken_pins: Option<BrokenPins>,
}

/// A lock file that cannot be read: whatever would be found after it may be shadowed by what it pins.
#[derive(Debug)]
struct BrokenPins {
    error: PinsError,
    /// How many entries had been found before.
    entries_before: usize,
}

/// A folder of the search path.
#[derive(Debug)]
pub struct Searched {
    /// The folder.
    pub folder: Folder,
    /// Why nothing was found in it, if it could not be listed. That it does not exist is the usual reason.
    pub unreadable: Option<io::Error>,
}

/// A file that is, or should be, a plugin.
#[derive(Debug)]
pub struct Entry {
    /// Absolute path.
    pub file: PathBuf,
    /// Why its folder was searched.
    pub origin: Origin,
    /// What lets it be loaded.
    pub standing: Standing,
    /// Whether it can be loaded, as far as reading can tell.
    pub state: State,
    /// The names it serves: those of its pin, else those of its manifest; none when that cannot be read.
    pub names: Vec<Served>,
}

/// What lets a plugin be loaded (DECISIONS 7.3, 7.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It lies in a folder of the binary.
    AsTheBinary,
    /// Its pin, if its bytes are those that were pinned. Discovery does not hash.
    Pinned(Pin, StoreCopy),
    /// Nothing but the operator's word.
    Unpinned,
}

/// What is known of the copy of a pinned plugin without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCopy {
    /// A file of the pinned length.
    SameSize,
    /// A file of another length: it was altered.
    OtherSize,
    /// No file.
    Missing,
}

/// Whether a file can be loaded.
#[derive(Debug)]
pub enum State {
    /// It fits this host.
    Fits(Inspected),
    /// It was built for another.
    Incompatible(Inspected, Incompatible),
    /// It cannot be read.
    Broken(InspectError),
}

/// A name, and what became of the claim to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The name as the manifest has it.
    pub name: String,
    /// Whether this file is the one that answers to it.
    pub claim: Claim,
}

/// What became of a claim to a name (DECISIONS 7.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The name is this file's.
    Holds,
    /// A file in an earlier folder has it.
    Shadowed(PathBuf),
    /// Another file of the same folder claims it too; nobody has it.
    Ambiguous(PathBuf),
}

impl Registry {
    /// Looks through the folders of `path` in order. A file that cannot be read is an entry with its error.
    #[must_use]
    pub fn discover(path: &SearchPath) -> Self {
        let mut registry = Self { searched: Vec::new(), entries: Vec::new(), unmarked: Vec::new(), broken_pins: None };
        let mut claims = Claims::default();
        for (number, folder) in path.folders.iter().enumerate() {
            if folder.trust == Trust::Pins {
                registry.add_pinned(number, folder, &mut claims);
            }
            let unreadable = match libraries(&folder.path) {
                Ok(files) => {
                    for file in files {
                        match Entry::read(&file, folder) {
                            Some(entry) => {
                                registry.entries.push(entry);
                                claims.settle(number, &mut registry.entries);
                            }
                            None => registry.unmarked.push(file),
                        }
                    }
                    None
                }
                Err(error) => Some(error),
            };
            registry.searched.push(Searched { folder: folder.clone(), unreadable });
        }
        registry
    }

    fn add_pinned(&mut self, number: usize, folder: &Folder, claims: &mut Claims) {
        match Pins::read(&folder.path) {
            Ok(pins) => {
                for pin in pins.list {
                    self.entries.push(Entry::pinned(folder, pin));
                    claims.settle(number, &mut self.entries);
                }
            }
            Err(error) => self.broken_pins = Some(BrokenPins { error, entries_before: self.entries.len() }),
        }
    }

    /// Why nobody knows what is pinned, if so.
    #[must_use]
    pub fn broken_pins(&self) -> Option<&PinsError> {
        self.broken_pins.as_ref().map(|broken| &broken.error)
    }

    /// Everything that was found: folders in the order of search, files by name.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The folders that were searched.
    #[must_use]
    pub fn searched(&self) -> &[Searched] {
        &self.searched
    }

    /// The plugin that serves `name`; `-` and `_` are the same in it.
    ///
    /// # Errors
    /// [`FindError`] when there is none, when two files claim the name, or when the one that does cannot be used.
    pub fn find(&self, name: &str) -> Result<Found<'_>, FindError> {
        let Claimant { entry, name } = self.claimant(name)?;
        Ok(Found { entry, inspected: entry.usable(name)?, name })
    }

    /// The file that serves `name`, whether it can be used or not.
    ///
    /// # Errors
    /// [`FindError`] when there is none, when two files claim the name, or when nobody knows.
    pub fn claimant(&self, name: &str) -> Result<Claimant<'_>, FindError> {
        let wanted = folded(name);
        let known = self.broken_pins.as_ref().map_or(self.entries.len(), |broken| broken.entries_before);
        let claimed = self
            .entries
            .iter()
            .take(known)
            .flat_map(|entry| entry.names.iter().map(move |served| (entry, served)))
            .find(|(_, served)| folded(&served.name) == wanted);
        let Some((entry, served)) = claimed else {
            return Err(match &self.broken_pins {
                Some(broken) => FindError::Pins { name: name.to_owned(), why: broken.error.to_string() },
                None => self.missing(name, &wanted),
            });
        };
        if let Claim::Ambiguous(other) = &served.claim {
            let (first, second) = (entry.file.clone(), other.clone());
            return Err(FindError::Ambiguous { name: served.name.clone(), first, second });
        }
        Ok(Claimant { entry, name: &served.name })
    }

    /// No manifest has the name: either a file that cannot be read is called like it, or there is no such plugin.
    fn missing(&self, name: &str, wanted: &str) -> FindError {
        for entry in &self.entries {
            if let State::Broken(error) = &entry.state
                && is_called(&entry.file, wanted)
            {
                return unreadable(name, &entry.file, error);
            }
        }
        if let Some(file) = self.unmarked.iter().find(|file| is_called(file, wanted)) {
            return unreadable(name, file, &InspectError::NoManifest);
        }
        let known = self.entries.iter().flat_map(|entry| &entry.names).filter(|served| served.claim == Claim::Holds);
        FindError::NotFound {
            name: name.to_owned(),
            known: known.map(|served| served.name.clone()).collect(),
            searched: self.searched.iter().map(|searched| searched.folder.path.clone()).collect(),
        }
    }
}

/// Who serves a name.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// Its entry.
    pub entry: &'a Entry,
    /// The name as the plugin has it.
    pub name: &'a str,
}

/// A plugin that can be loaded.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its entry.
    pub entry: &'a Entry,
    /// Its manifest.
    pub inspected: &'a Inspected,
    /// The name as the manifest has it.
    pub name: &'a str,
}

impl Entry {
    /// `None` when the file is a library that does not claim to be a plugin.
    fn read(file: &Path, folder: &Folder) -> Option<Self> {
        let origin = folder.origin;
        let standing = match folder.trust {
            Trust::AsTheBinary => Standing::AsTheBinary,
            Trust::Pins | Trust::Word => Standing::Unpinned,
        };
        let state = State::of(file);
        if matches!(state, State::Broken(InspectError::NoManifest)) {
            if origin != Origin::Binary {
                tracing::debug!(file = %file.display(), "not a plugin: the library has no manifest");
            }
            return None;
        }
        let names = state.inspected().map(|inspected| holding(inspected.manifest.names())).unwrap_or_default();
        Some(Self { file: file.to_owned(), origin, standing, state, names })
    }

    /// The copy of a pinned plugin. What the pin says of names is believed, not what the file says: it may be altered.
    fn pinned(folder: &Folder, pin: Pin) -> Self {
        let file = copy_of(&folder.path, &pin);
        let copy = match fs::metadata(&file) {
            Ok(found) if found.is_file() && found.len() == pin.size => StoreCopy::SameSize,
            Ok(_) => StoreCopy::OtherSize,
            Err(_) => StoreCopy::Missing,
        };
        let names = holding(&pin.names);
        let state = State::of(&file);
        Self { file, origin: folder.origin, standing: Standing::Pinned(pin, copy), state, names }
    }

    /// The manifest of a file that can be used.
    fn usable(&self, name: &str) -> Result<&Inspected, FindError> {
        match &self.state {
            State::Fits(inspected) => Ok(inspected),
            State::Incompatible(inspected, why) => {
                Err(incompatible(name, &self.file, &inspected.manifest, why.clone()))
            }
            State::Broken(error) => Err(unreadable(name, &self.file, error)),
        }
    }
}

/// Whether the file's name is that of a plugin: `issue_debt` fits `libhost_issue_debt.so`.
fn is_called(file: &Path, wanted: &str) -> bool {
    let stem = file.file_stem().map(|stem| folded(&stem.to_string_lossy())).unwrap_or_default();
    let stem = stem.strip_prefix("lib").unwrap_or(&stem);
    stem == wanted || stem.strip_suffix(wanted).is_some_and(|before| before.ends_with('-'))
}

impl Entry {
    /// What it is for: by its pin, else by its manifest; `None` when that cannot be read.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        match (&self.standing, self.state.inspected()) {
            (Standing::Pinned(pin, _), _) => Some(pin.role),
            (Standing::AsTheBinary | Standing::Unpinned, inspected) => inspected.map(|found| found.manifest.role()),
        }
    }
}

impl State {
    fn of(file: &Path) -> Self {
        match inspect(file) {
            Ok(Some(inspected)) => match compat::fits(&inspected.manifest) {
                Ok(()) => Self::Fits(inspected),
                Err(why) => Self::Incompatible(inspected, why),
            },
            Ok(None) => Self::Broken(InspectError::NoManifest),
            Err(error) => Self::Broken(error),
        }
    }

    /// What was read of the file, where it could be.
    #[must_use]
    pub fn inspected(&self) -> Option<&Inspected> {
        match self {
            Self::Fits(inspected) | Self::Incompatible(inspected, _) => Some(inspected),
            Self::Broken(_) => None,
        }
    }
}

/// These names, each held until another file is found that claims it.
fn holding(names: &[String]) -> Vec<Served> {
    names.iter().map(|name| Served { name: name.clone(), claim: Claim::Holds }).collect()
}

/// Who claimed a name first, by folded name.
#[derive(Default)]
struct Claims(HashMap<String, (usize, usize)>);

impl Claims {
    /// Settles the claims of the last of `entries`, which lies in folder `number`.
    fn settle(&mut self, number: usize, entries: &mut [Entry]) {
        let Some(last) = entries.len().checked_sub(1) else { return };
        for index in 0..entries[last].names.len() {
            let name = folded(&entries[last].names[index].name);
            let Some(&(folder, first)) = self.0.get(&name) else {
                self.0.insert(name, (number, last));
                continue;
            };
            let earlier = entries[first].file.clone();
            if folder != number {
                entries[last].names[index].claim = Claim::Shadowed(earlier);
                continue;
            }
            let later = entries[last].file.clone();
            for served in entries[first].names.iter_mut().filter(|served| folded(&served.name) == name) {
                served.claim = Claim::Ambiguous(later.clone());
            }
            entries[last].names[index].claim = Claim::Ambiguous(earlier);
        }
    }
}

/// A name with `_` as `-`.
pub(super) fn folded(name: &str) -> String {
    name.replace('_', "-")
}

/// Files of a folder that are called like a library of any system, by name.
fn libraries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let called_so =
            path.extension().is_some_and(|extension| ["so", "dylib", "dll"].iter().any(|one| extension == *one));
        if called_so && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
