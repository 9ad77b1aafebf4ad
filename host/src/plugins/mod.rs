//! Plugins: which there are, whether they fit, and how they are loaded.
//!
//! Listing runs no plugin code: [`Registry::discover`] reads the manifest section of each file and [`compat::check`]
//! compares it with what this host speaks. [`open_kind`] loads one plugin and gives the fold its kind.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`installed`] | adding, removing and comparing what is pinned |
//! | [`search`], [`discover`] | which folders are searched, what is in them, who serves a name |
//! | [`manifest`], [`facts`], [`compat`] | what a file says of itself, and whether that fits |
//! | [`library`] | a file read once: its bytes, digest and manifest |
//! | [`pins`] | which plugins the operator added, and their SHA-256 |
//! | [`load`] | the library in the process: the host's only unsafe code |
//! | [`declare`], [`kind`] | whether a declaration makes sense; a loaded kind behind the fold's port |
//!
//! May not: decide what a ledger means. Only [`installed`] writes, and through the store.

pub mod compat;
pub mod declare;
pub mod discover;
mod explain;
pub mod facts;
pub mod installed;
pub mod kind;
pub mod library;
pub mod load;
mod log;
pub mod manifest;
pub mod pins;
pub mod search;

pub use discover::{Claim, Claimant, Entry, FindError, Found, Registry, Searched, Served, Standing, State, StoreCopy};
pub use kind::LoadedKind;
pub use load::{LoadError, LoadErrorKind, Plugin};
pub use search::{Folder, Origin, Places, SearchPath, Trust};

use crate::reasons::Fatal;

/// Why a name leads to no usable plugin.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// It was not found, or cannot be used.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It was found and cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl PluginError {
    /// The code under which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self {
            Self::Find(error) => error.code(),
            Self::Load(error) => error.code(),
        }
    }
}

/// Finds the plugin that serves `name`, loads it and opens the kind.
///
/// # Errors
/// [`PluginError`], with everything a person needs to mend it.
pub fn open_kind(registry: &Registry, name: &str) -> Result<LoadedKind, PluginError> {
    let found = registry.find(name)?;
    let plugin = Plugin::load(&found.entry.file, found.inspected)?;
    Ok(LoadedKind::open(&plugin, found.name)?)
}
