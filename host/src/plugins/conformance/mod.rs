//! `host plugin test`: the conformance suite on a library as it is.
//!
//! The checks of the contract's `testkit` run on the loaded library, and beside them those that need the host's own
//! rules. Each check belongs into a process of its own, because a library that does not conform may end it; the command
//! sees to that.

mod kind;
mod organ;

use std::path::Path;

use plugin_api::testkit::{KIND_CHECKS, ORGAN_CHECKS};

use super::image::Image;
use super::library::{Library, LibraryError};
use super::load::{LoadError, Plugin};
use super::pins::Role;
use super::{compat, compat::Incompatible};

/// A check, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Its name.
    pub name: &'static str,
    /// What it demands, half a sentence.
    pub demand: &'static str,
}

/// Why a library cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// It is no plugin.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// It does not fit this host.
    #[error("{0}")]
    Incompatible(#[from] Incompatible),
    /// It does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no such name, or no such check.
    #[error("the library has no {0}")]
    Unknown(String),
}

/// What can be measured of a library. Runs none of its code.
///
/// # Errors
/// [`TestError::Library`], [`TestError::Incompatible`].
pub fn subjects(file: &Path) -> Result<Vec<(Role, String)>, TestError> {
    let library = Library::read(file)?;
    compat::fits(&library.inspected.manifest)?;
    let manifest = &library.inspected.manifest;
    Ok(manifest.names().iter().map(|name| (manifest.role(), name.clone())).collect())
}

/// The checks for a role, in the order in which they are reported.
#[must_use]
pub fn demands(role: Role) -> Vec<Demand> {
    match role {
        Role::Kind => {
            let common = KIND_CHECKS.iter().map(|check| Demand { name: check.name, demand: check.demand });
            kind::CHECKS.iter().map(|check| Demand { name: check.name, demand: check.demand }).chain(common).collect()
        }
        Role::Organ => {
            let common = ORGAN_CHECKS.iter().map(|check| Demand { name: check.name, demand: check.demand });
            organ::CHECKS.iter().map(|check| Demand { name: check.name, demand: check.demand }).chain(common).collect()
        }
    }
}

/// Loads a library and makes one check of what it serves under `name`. Runs its code in this process.
///
/// # Errors
/// [`TestError`] when it cannot be measured. What the check found is the inner result.
pub fn run(file: &Path, name: &str, check: &str) -> Result<Result<(), String>, TestError> {
    let library = Library::read(file)?;
    compat::fits(&library.inspected.manifest)?;
    let plugin = Plugin::load(&Image::of_file(file, &library.inspected))?;
    match library.inspected.manifest.role() {
        Role::Kind => kind::run(&plugin, name, check),
        Role::Organ => organ::run(&plugin, name, check),
    }
}
