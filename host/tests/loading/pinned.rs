//! Pinned plugins in one process: what is loaded is what is pinned now.

use std::fs;
use std::path::Path;

use host::clock;
use host::ledger::kind::Kind as _;
use host::plugins::installed::{Installed, Taken};
use host::plugins::{Folder, Origin, PluginError, Registry, SearchPath, Trust, Unpinned, open_kind};
use host::store::{Disk, Guard};

use crate::build;
use crate::world::World;

const OLD: &str = "Which slot of a shelf holds what";
const NEW: &str = "WHICH SLOT OF A SHELF HOLDS WHAT";

/// Adds a library to the plugins in `folder`.
fn add(folder: &Path, library: &Path) {
    let installed = Installed::open(Disk::default(), &Guard::new(None), folder).expect("a folder");
    installed.add(library, Taken::Replace, &clock::now).expect("a plugin");
}

/// The description of the shelf, as loaded code gives it.
fn description(folder: &Path) -> Result<String, PluginError> {
    let folder = Folder { path: folder.to_owned(), origin: Origin::User, trust: Trust::Pins };
    let registry = Registry::discover(&SearchPath { folders: vec![folder] });
    let opened = open_kind(&registry, "shelf", Unpinned::Refuse)?;
    Ok(opened.kind.declaration().description.clone())
}

/// Another build of the shelf.
fn other(world: &World) -> std::path::PathBuf {
    let mut bytes = fs::read(build::plugin("shelf")).expect("the library");
    let windows = bytes.windows(OLD.len()).enumerate();
    let places: Vec<usize> = windows.filter(|(_, window)| *window == OLD.as_bytes()).map(|(place, _)| place).collect();
    assert!(!places.is_empty(), "the text is in the file");
    for place in places {
        bytes[place..place + NEW.len()].copy_from_slice(NEW.as_bytes());
    }
    world.write("other.so", &bytes)
}

#[test]
fn a_replaced_plugin_is_never_the_old_code_of_the_same_process() {
    let (world, from) = (World::with(&[]), World::with(&[]));
    add(world.path(), &build::plugin("shelf"));
    assert_eq!(description(world.path()).expect("loaded"), OLD);
    add(world.path(), &other(&from));
    assert_eq!(description(world.path()).expect("loaded"), NEW);
    add(world.path(), &build::plugin("shelf"));
    assert_eq!(description(world.path()).expect("loaded"), OLD);
}

#[test]
fn a_copy_that_is_swapped_between_two_loads_is_neither_the_old_nor_the_new_code() {
    let (world, from) = (World::with(&[]), World::with(&[]));
    add(world.path(), &build::plugin("shelf"));
    assert_eq!(description(world.path()).expect("loaded"), OLD);
    let store = fs::read_dir(world.path().join("store")).expect("the store").next().expect("a copy");
    fs::copy(other(&from), store.expect("a copy").path()).expect("copied");
    let error = description(world.path()).map(drop).expect_err("altered");
    assert_eq!(error.code().code(), "PLUGIN_ALTERED", "{error}");
}
