//! Which plugins there are. Reads manifests; runs no plugin code.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::compat::{self, Incompatible, Spoken};
use super::manifest::{InspectError, Inspected, inspect};
use super::search::{Folder, Origin, SearchPath};
use crate::reasons::Fatal;

/// Everything that was found on a search path.
#[derive(Debug)]
pub struct Registry {
    searched: Vec<Searched>,
    entries: Vec<Entry>,
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
    /// Whether it can be loaded, as far as reading can tell.
    pub state: State,
    /// The names it serves; none when its manifest cannot be read.
    pub names: Vec<Served>,
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

/// Why a name leads to no plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No file claims the name.
    #[error("no plugin serves {name}; there {}; searched {}", known_names(known), listed(searched))]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// The names that are served.
        known: Vec<String>,
        /// The folders that were searched.
        searched: Vec<PathBuf>,
    },
    /// Two files of one folder claim it.
    #[error("{name} is served by both {} and {}; remove one of them", first.display(), second.display())]
    Ambiguous {
        /// The name that was asked for.
        name: String,
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// The file that should serve it cannot be read.
    #[error("plugin {name} at {}: {why}", file.display())]
    Unreadable {
        /// The name that was asked for.
        name: String,
        /// The file; it is called like the plugin.
        file: PathBuf,
        /// Text of the [`InspectError`].
        why: String,
    },
    /// It was built for another host.
    #[error("plugin {name} at {}: {why}", file.display())]
    Incompatible {
        /// The name that was asked for.
        name: String,
        /// The file.
        file: PathBuf,
        /// What does not fit.
        why: Box<Incompatible>,
    },
}

fn known_names(known: &[String]) -> String {
    if known.is_empty() { "is none at all".to_owned() } else { format!("is {}", known.join(", ")) }
}

fn listed(folders: &[PathBuf]) -> String {
    let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    if folders.is_empty() { "nothing".to_owned() } else { folders.join(", ") }
}

impl FindError {
    /// The code under which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self {
            Self::NotFound { .. } => Fatal::PluginNotFound,
            Self::Ambiguous { .. } => Fatal::PluginAmbiguous,
            Self::Unreadable { .. } => Fatal::PluginUnreadable,
            Self::Incompatible { .. } => Fatal::PluginIncompatible,
        }
    }
}

impl Registry {
    /// Looks through the folders of `path` in order. A file that cannot be read is an entry with its error.
    #[must_use]
    pub fn discover(path: &SearchPath) -> Self {
        let mut registry = Self { searched: Vec::new(), entries: Vec::new() };
        let mut claims = Claims::default();
        for (number, folder) in path.folders.iter().enumerate() {
            let unreadable = match libraries(&folder.path) {
                Ok(files) => {
                    let found = files.into_iter().filter_map(|file| Entry::read(file, folder.origin));
                    for entry in found {
                        registry.entries.push(entry);
                        claims.settle(number, &mut registry.entries);
                    }
                    None
                }
                Err(error) => Some(error),
            };
            registry.searched.push(Searched { folder: folder.clone(), unreadable });
        }
        registry
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
        let wanted = folded(name);
        let claimed = self
            .entries
            .iter()
            .flat_map(|entry| entry.names.iter().map(move |served| (entry, served)))
            .find(|(_, served)| folded(&served.name) == wanted);
        let Some((entry, served)) = claimed else { return Err(self.missing(name, &wanted)) };
        if let Claim::Ambiguous(other) = &served.claim {
            let (first, second) = (entry.file.clone(), other.clone());
            return Err(FindError::Ambiguous { name: served.name.clone(), first, second });
        }
        match &entry.state {
            State::Fits(inspected) => Ok(Found { entry, inspected, name: &served.name }),
            State::Incompatible(_, why) => Err(FindError::Incompatible {
                name: served.name.clone(),
                file: entry.file.clone(),
                why: Box::new(why.clone()),
            }),
            State::Broken(error) => Err(unreadable(&served.name, entry, error)),
        }
    }

    /// No manifest has the name: either a file that cannot be read is called like it, or there is no such plugin.
    fn missing(&self, name: &str, wanted: &str) -> FindError {
        for entry in &self.entries {
            if let State::Broken(error) = &entry.state
                && entry.is_called(wanted)
            {
                return unreadable(name, entry, error);
            }
        }
        let known = self.entries.iter().flat_map(|entry| &entry.names).filter(|served| served.claim == Claim::Holds);
        FindError::NotFound {
            name: name.to_owned(),
            known: known.map(|served| served.name.clone()).collect(),
            searched: self.searched.iter().map(|searched| searched.folder.path.clone()).collect(),
        }
    }
}

fn unreadable(name: &str, entry: &Entry, error: &InspectError) -> FindError {
    FindError::Unreadable { name: name.to_owned(), file: entry.file.clone(), why: error.to_string() }
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
    fn read(file: PathBuf, origin: Origin) -> Option<Self> {
        let inspected = match inspect(&file) {
            Ok(Some(inspected)) => inspected,
            Ok(None) => {
                if origin != Origin::Binary {
                    tracing::debug!(file = %file.display(), "not a plugin: the library has no manifest");
                }
                return None;
            }
            Err(error) => return Some(Self { file, origin, state: State::Broken(error), names: Vec::new() }),
        };
        let names = inspected.manifest.kinds.iter();
        let names = names.map(|name| Served { name: name.clone(), claim: Claim::Holds }).collect();
        let verdict = Spoken::here().and_then(|host| compat::check(&host, &inspected.manifest));
        let state = match verdict {
            Ok(()) => State::Fits(inspected),
            Err(why) => State::Incompatible(inspected, why),
        };
        Some(Self { file, origin, state, names })
    }

    /// Whether the file's name is that of a plugin: `issue_debt` fits `libhost_issue_debt.so`.
    fn is_called(&self, wanted: &str) -> bool {
        let stem = self.file.file_stem().map(|stem| folded(&stem.to_string_lossy())).unwrap_or_default();
        let stem = stem.strip_prefix("lib").unwrap_or(&stem);
        stem == wanted || stem.strip_suffix(wanted).is_some_and(|before| before.ends_with('-'))
    }
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

fn folded(name: &str) -> String {
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
