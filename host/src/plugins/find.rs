//! Why a name leads to no plugin that can be used.

use std::path::{Path, PathBuf};

use super::compat::{Built, Incompatible, built_unknown};
use super::manifest::{InspectError, Manifest};
use crate::reasons::Fatal;

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
    /// The lock file cannot be read, so nobody knows whether what it pins serves the name.
    #[error("nobody knows who serves {name}: {why}")]
    Pins {
        /// The name that was asked for.
        name: String,
        /// Text of the [`PinsError`](super::pins::PinsError).
        why: String,
    },
    /// The file that should serve it cannot be read.
    #[error("plugin {name} at {}: {why} ({})", file.display(), built_unknown())]
    Unreadable {
        /// The name that was asked for.
        name: String,
        /// The file; it is called like the plugin.
        file: PathBuf,
        /// Text of the [`InspectError`].
        why: String,
    },
    /// It was built for another host.
    #[error("plugin {name} at {}: {why} ({built})", file.display())]
    Incompatible {
        /// The name that was asked for.
        name: String,
        /// The file.
        file: PathBuf,
        /// What does not fit.
        why: Box<Incompatible>,
        /// What it was built for.
        built: Box<Built>,
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
            Self::Pins { .. } => Fatal::PluginPinsUnreadable,
            Self::Unreadable { .. } => Fatal::PluginUnreadable,
            Self::Incompatible { .. } => Fatal::PluginIncompatible,
        }
    }
}

/// Why `file` cannot serve `name`: it cannot be read.
pub(super) fn unreadable(name: &str, file: &Path, error: &InspectError) -> FindError {
    FindError::Unreadable { name: name.to_owned(), file: file.to_owned(), why: error.to_string() }
}

/// Why `file` cannot serve `name`: it was built for another host.
pub(super) fn incompatible(name: &str, file: &Path, manifest: &Manifest, why: Incompatible) -> FindError {
    let built = Box::new(Built::of(manifest));
    FindError::Incompatible { name: name.to_owned(), file: file.to_owned(), why: Box::new(why), built }
}
