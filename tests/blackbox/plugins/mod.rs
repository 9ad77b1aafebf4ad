//! The operator's side of plugins: what is listed and shown, what is pinned, what is loaded (DECISIONS 7.3, 7.4).

mod adding;
mod authors;
mod listing;
mod loading;

use std::env::consts::DLL_SUFFIX;
use std::fs;

use host_tests::{World, artifacts};
use serde_json::Value;

/// Where the user's plugins lie in a world.
const USER: &str = "home/.local/share/host/plugins";

/// The bytes of a test plugin.
fn library(name: &str) -> Vec<u8> {
    fs::read(artifacts::test_plugin(name)).unwrap()
}

/// The same with a text changed to one of the same length.
fn changed(mut bytes: Vec<u8>, old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len(), "the file keeps its length");
    let windows = bytes.windows(old.len()).enumerate();
    let places: Vec<usize> = windows.filter(|(_, window)| *window == old.as_bytes()).map(|(place, _)| place).collect();
    assert!(!places.is_empty(), "{old} is not in the file");
    for place in places {
        bytes[place..place + new.len()].copy_from_slice(new.as_bytes());
    }
    bytes
}

/// Puts a test plugin at `place` in the world, and gives its path.
fn put(world: &World, place: &str, plugin: &str) -> String {
    world.write(&format!("{place}{DLL_SUFFIX}"), library(plugin))
}

/// Adds a test plugin, and gives the path of its copy.
#[track_caller]
fn add(world: &World, bytes: &[u8], flags: &[&str]) -> String {
    let file = world.write("downloads/plugin.so", bytes);
    let out = world.command(["plugin", "add", &file]).args(flags).run().succeeds();
    out.stdout().lines().find_map(|line| line.trim().strip_prefix("copy ")).unwrap().trim().to_owned()
}

/// The row of `name` at `path` in `host plugin list --json`.
#[track_caller]
fn listed(world: &World, arguments: &[&str], name: &str, path: &str) -> Value {
    let out = world.command(["plugin", "list", "--json"]).args(arguments).run().succeeds();
    let list = out.json();
    let rows = list["plugins"].as_array().unwrap().iter();
    let mut found = rows.filter(|row| row["name"] == name && row["path"] == path);
    let row = found.next().unwrap_or_else(|| panic!("no row for {name} at {path}:\n{out}")).clone();
    assert!(found.next().is_none(), "{out}");
    row
}
