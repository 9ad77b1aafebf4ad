//! The crate that `plugins/README.md` writes step by step, taken from its blocks and built.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host_tests::{World, artifacts};

use super::document;

/// Builds the tutorial's ledger, runs its own tests, and puts the library into a folder of the world.
///
/// Its sources lie in the target folder and are only written when they differ, so that what was built stays built.
pub(super) fn build(world: &World, folder: &str) {
    let tutorial = document("plugins/README.md");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disk-room");
    fs::create_dir_all(place.join("src")).unwrap();
    write(&place.join("Cargo.toml"), &manifest(&blocks(&tutorial, "toml")));
    write(&place.join("src/lib.rs"), &blocks(&tutorial, "rust"));
    fs::write(place.join("Cargo.lock"), document("Cargo.lock")).unwrap();
    for command in ["test", "build"] {
        cargo(&place, command);
    }
    let library = format!("{DLL_PREFIX}disk_room{DLL_SUFFIX}");
    let to = Path::new(&world.folder(folder)).join(&library);
    fs::copy(target().join("debug").join(&library), to).unwrap();
}

fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap();
    }
}

/// The blocks of a language, in their order, as one file.
fn blocks(document: &str, language: &str) -> String {
    let opening = format!("```{language}\n");
    let found = document.split(&opening).skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let all = found.collect::<Vec<_>>().join("\n");
    assert_ne!(all, "", "there is no block of {language}");
    all
}

/// The manifest with the real path of the contract; a workspace of its own, because it lies below ours, with our
/// profiles, so that most of what it needs is built already.
fn manifest(shown: &str) -> String {
    let path = artifacts::repository().join("plugin-api");
    assert!(shown.contains("\"../host/plugin-api\""), "{shown}");
    let shown = shown.replace("../host/plugin-api", &path.to_string_lossy().replace('\\', "/"));
    let workspace = document("Cargo.toml");
    let profiles = workspace.find("[profile.").map_or("", |start| &workspace[start..]);
    format!("{shown}\n[workspace]\n\n{profiles}")
}

/// The folder that the tests themselves are built into.
fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

fn cargo(folder: &Path, command: &str) {
    let output = Command::new(env!("CARGO"))
        .args([command, "--offline", "--quiet", "--target-dir"])
        .arg(target())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "cargo {command}: {}", String::from_utf8_lossy(&printed));
}
