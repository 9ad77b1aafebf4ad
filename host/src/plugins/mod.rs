//! Plugins: which there are, whether they fit, and how they are loaded.
//!
//! Listing runs no plugin code: [`Registry::discover`] reads the manifest section of each file and [`compat::check`]
//! compares it with what this host speaks. [`open_kind`] loads one plugin and gives the fold its kind.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`installed`] | adding, removing and comparing what is pinned |
//! | [`search`], [`discover`], [`find`] | which folders are searched, what is in them, who serves a name and why nobody does |
//! | [`scaffold`], [`conformance`] | a new plugin crate; the conformance suite on a library |
//! | [`manifest`], [`facts`], [`compat`] | what a file says of itself, and whether that fits |
//! | [`library`] | a file read once: its bytes, digest and manifest |
//! | [`pins`] | which plugins the operator added, and their SHA-256 |
//! | [`trust`], [`image`] | what lets a plugin be loaded; the bytes that are loaded are those that were hashed |
//! | [`load`] | the library in the process: the host's only unsafe code |
//! | [`worker`], [`services`] | organs in processes of their own, and what they may ask of the host |
//! | [`declare`], [`kind`] | whether a declaration makes sense; a loaded kind behind the fold's port |
//! | [`declare_organ`], [`arguments`] | whether an organ's declaration makes sense; the values of its arguments |
//!
//! May not: decide what a ledger means. Only [`installed`] writes, and through the store.

pub mod arguments;
pub mod compat;
pub mod conformance;
pub mod declare;
pub mod declare_organ;
pub mod discover;
mod explain;
pub mod facts;
pub mod find;
pub mod image;
pub mod installed;
pub mod kind;
pub mod library;
pub mod load;
mod log;
pub mod manifest;
pub mod pins;
pub mod scaffold;
pub mod search;
pub mod services;
pub mod trust;
pub mod worker;

use std::path::Path;

pub use discover::{Claim, Claimant, Entry, Found, Registry, Searched, Served, Standing, State, StoreCopy};
pub use find::FindError;
pub use image::ImageError;
pub use kind::LoadedKind;
pub use load::{LoadError, LoadErrorKind, Plugin};
pub use search::{Folder, Origin, Places, SearchPath, Trust};
pub use trust::{TrustError, TrustErrorKind, Unpinned};

use self::image::Image;
use crate::reasons::Fatal;

/// Why a name leads to no usable plugin.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// It was not found, or cannot be used.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It was found and is not trusted.
    #[error(transparent)]
    Trust(#[from] TrustError),
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
            Self::Trust(error) => error.code(),
            Self::Load(error) => error.code(),
        }
    }
}

impl From<ImageError> for PluginError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Find(error) => Self::Find(error),
            ImageError::Trust(error) => Self::Trust(error),
        }
    }
}

/// A kind that was opened, and what let its plugin be loaded.
pub struct Opened<'r> {
    /// The kind.
    pub kind: LoadedKind,
    /// What let its plugin be loaded.
    pub standing: &'r Standing,
    /// The plugin's file.
    pub file: &'r Path,
}

/// An organ that was found and may be loaded. None of its code was run.
pub struct FoundOrgan<'r> {
    /// Its plugin's bytes, for workers.
    pub image: Image,
    /// Its declared name.
    pub name: String,
    /// What lets its plugin be loaded.
    pub standing: &'r Standing,
    /// The plugin's file.
    pub file: &'r Path,
}

/// Finds the plugin that serves the organ `name`, and takes the bytes that workers load.
///
/// # Errors
/// [`PluginError`], with everything a person needs to mend it.
pub fn find_organ<'r>(registry: &'r Registry, name: &str, unpinned: Unpinned) -> Result<FoundOrgan<'r>, PluginError> {
    let Claimant { entry, name } = registry.claimant(name)?;
    let image = match (&entry.standing, unpinned) {
        (Standing::Pinned(pin, _), _) => Image::of_organ(&entry.file, Some(pin), name)?,
        (Standing::AsTheBinary, _) | (Standing::Unpinned, Unpinned::Allow) => {
            registry.find(name)?;
            Image::of_organ(&entry.file, None, name)?
        }
        (Standing::Unpinned, Unpinned::Refuse) => {
            // What does not fit is said first: a pin would not help.
            registry.find(name)?;
            let (file, kind) = (entry.file.clone(), TrustErrorKind::Unpinned(entry.file.clone()));
            return Err(TrustError { name: name.to_owned(), file, kind }.into());
        }
    };
    Ok(FoundOrgan { image, name: name.to_owned(), standing: &entry.standing, file: &entry.file })
}

/// Finds the plugin that serves `name`, loads it and opens the kind.
///
/// # Errors
/// [`PluginError`], with everything a person needs to mend it.
pub fn open_kind<'r>(registry: &'r Registry, name: &str, unpinned: Unpinned) -> Result<Opened<'r>, PluginError> {
    let Claimant { entry, name } = registry.claimant(name)?;
    let image = match (&entry.standing, unpinned) {
        (Standing::Pinned(pin, _), _) => Image::of_pinned(&entry.file, pin, name)?,
        (Standing::AsTheBinary, _) | (Standing::Unpinned, Unpinned::Allow) => {
            Image::of_file(&entry.file, registry.find(name)?.inspected)
        }
        (Standing::Unpinned, Unpinned::Refuse) => {
            // What does not fit is said first: a pin would not help.
            registry.find(name)?;
            let (file, kind) = (entry.file.clone(), TrustErrorKind::Unpinned(entry.file.clone()));
            return Err(TrustError { name: name.to_owned(), file, kind }.into());
        }
    };
    let plugin = Plugin::load(&image)?;
    let kind = LoadedKind::open(&plugin, name)?;
    Ok(Opened { kind, standing: &entry.standing, file: &entry.file })
}
