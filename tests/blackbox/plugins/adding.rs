//! `host plugin add`, `remove` and `verify`: what is copied, pinned, refused, forgotten.

use std::env::consts::DLL_SUFFIX;
use std::fs;

use host_tests::{World, tree};
use sha2::{Digest as _, Sha256};

use super::{USER, add, changed, library, listed, put};

/// Name of the lock file in a world.
fn lock() -> String {
    format!("{USER}/plugins.lock.json")
}

/// The files of the folder: the pins and a copy for each. Notes about who took the lock are left out.
fn added(world: &World) -> Vec<String> {
    let files = tree(world.path(USER)).into_keys();
    files.filter(|name| !name.ends_with('/') && !name.ends_with(".lock")).collect()
}

#[test]
fn what_was_added_is_copied_pinned_and_listed() {
    let world = World::new();
    let bytes = library("garden");
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let copy = add(&world, &bytes, &[]);
    assert!(fs::read(&copy).unwrap() == bytes, "the copy differs");
    let pins = world.read_json(&lock());
    assert_eq!(pins["format"], 1);
    let expected = serde_json::json!({
        "sha256": digest, "size": bytes.len(), "role": "kind", "names": ["garden", "pond"],
        "package": "test-plugin-garden", "version": "0.1.0", "contract": "1.0.0",
        "source": world.path("downloads/plugin.so"),
    });
    assert_eq!(pins["plugins"], serde_json::json!([expected]));
    for name in ["garden", "pond"] {
        let row = listed(&world, &[], name, &copy);
        assert_eq!((&row["pin"], &row["state"]), (&"pinned".into(), &"ok".into()));
    }
}

#[test]
fn the_same_library_again_changes_nothing() {
    let world = World::new();
    add(&world, &library("shelf"), &[]);
    let before = world.read(&lock());
    add(&world, &library("shelf"), &[]);
    assert_eq!((world.read(&lock()), added(&world).len()), (before, 2));
}

#[test]
fn a_name_that_is_taken_is_refused_unless_it_is_to_be_replaced() {
    let world = World::new();
    let old = add(&world, &library("shelf"), &[]);
    let other = changed(library("shelf"), "Which slot of a shelf", "WHICH slot of a shelf");
    let file = world.write("downloads/other.so", &other);
    let out = world.host(["plugin", "add", &file]).refused("PLUGIN_TAKEN");
    assert!(out.stderr().contains("shelf is served by test-plugin-shelf 0.1.0, added from "), "{out}");
    let new = add(&world, &other, &["--replace"]);
    assert!(old != new && fs::read(&new).unwrap() == other);
    assert!(!fs::exists(&old).unwrap(), "the old copy is left");
    assert_eq!(world.read_json(&lock())["plugins"].as_array().unwrap().len(), 1);
}

#[track_caller]
fn check_refused(bytes: &[u8], code: &str, words: &str) {
    let world = World::new();
    let file = world.write("bad.so", bytes);
    let out = world.host(["plugin", "add", &file]).refused(code);
    assert!(out.stderr().contains(words) && out.stderr().contains(&file), "{out}");
    assert!(!fs::exists(world.path(USER)).unwrap(), "something was written");
}

#[test]
fn what_is_broken_or_does_not_fit_is_refused_and_nothing_is_written() {
    let shelf = library("shelf");
    check_refused(b"text", "PLUGIN_UNREADABLE", "not a whole library");
    check_refused(&shelf[..shelf.len() / 2], "PLUGIN_UNREADABLE", "not a whole library");
    let other = changed(shelf.clone(), r#""contract":"1.0.0""#, r#""contract":"2.0.0""#);
    check_refused(&other, "PLUGIN_INCOMPATIBLE", "this host speaks 1.0.0");
    let nameless = changed(shelf, r#""kinds":["shelf"]"#, r#""kinds":[       ]"#);
    check_refused(&nameless, "PLUGIN_UNREADABLE", "its manifest lists no name");
}

#[test]
fn a_file_that_does_not_exist_is_refused_by_name() {
    let out = World::new().host(["plugin", "add", "none.so"]).refused("PLUGIN_UNREADABLE");
    assert!(out.stderr().contains("none.so"), "{out}");
}

#[test]
fn a_file_that_was_put_there_by_hand_is_not_made_ambiguous() {
    let world = World::new();
    let by_hand = put(&world, &format!("{USER}/by_hand"), "shelf");
    let out = world.host(["plugin", "add", &by_hand, "--replace"]).refused("PLUGIN_AMBIGUOUS");
    assert!(out.stderr().contains(&by_hand) && out.stderr().contains("move it elsewhere"), "{out}");
}

#[test]
fn a_name_pinned_and_by_hand_in_one_folder_is_ambiguous() {
    let world = World::new();
    let copy = add(&world, &library("shelf"), &[]);
    let by_hand = put(&world, &format!("{USER}/by_hand"), "shelf");
    assert_eq!(listed(&world, &[], "shelf", &copy)["state"], format!("ambiguous with {by_hand}"));
    let _run = world.host(["run", "shelf", "--help"]).refused("PLUGIN_AMBIGUOUS");
}

#[test]
fn one_name_removes_the_plugin_with_all_its_names() {
    let world = World::new();
    add(&world, &library("garden"), &[]);
    add(&world, &library("shelf"), &[]);
    let out = world.host(["plugin", "remove", "pond"]).succeeds();
    assert!(out.stdout().contains("REMOVED garden, pond"), "{out}");
    assert_eq!(added(&world).len(), 2);
    let _gone = world.host(["run", "garden", "--help"]).refused("PLUGIN_NOT_FOUND");
    let again = world.host(["plugin", "remove", "garden"]).refused("PLUGIN_NOT_FOUND");
    assert!(again.stderr().contains("added were shelf"), "{again}");
}

#[test]
fn verify_names_what_differs() {
    let world = World::new();
    let _none = world.host(["plugin", "verify"]).succeeds();
    let shelf = add(&world, &library("shelf"), &[]);
    let garden = add(&world, &library("garden"), &[]);
    assert_eq!(world.host(["plugin", "verify"]).succeeds().stdout().matches("ok  ").count(), 2);
    fs::write(&shelf, changed(library("shelf"), "Which slot of a shelf", "WHICH slot of a shelf")).unwrap();
    let out = world.host(["plugin", "verify"]);
    assert_eq!((out.code(), out.first_error_code()), (1, "PLUGIN_ALTERED"));
    assert!(out.stdout().contains(&format!("BAD  shelf {shelf}: its SHA-256 is ")), "{out}");
    assert!(out.stdout().contains(&format!("ok   garden, pond {garden}\n")), "{out}");
    let _sound = world.host(["plugin", "verify", "pond"]).succeeds();
    fs::remove_file(&shelf).unwrap();
    let gone = world.host(["plugin", "verify", "shelf", "--json"]);
    assert_eq!((gone.code(), &gone.json()[0]["ok"]), (1, &false.into()));
    assert_eq!(listed(&world, &[], "shelf", &shelf)["pin"], "missing");
}

#[test]
fn a_copy_of_another_length_is_seen_without_hashing() {
    let world = World::new();
    let copy = add(&world, &library("shelf"), &[]);
    fs::write(&copy, library("garden")).unwrap();
    assert_eq!(listed(&world, &[], "shelf", &copy)["pin"], "altered");
}

#[test]
fn a_broken_lock_file_stops_every_change_by_name_and_is_left_alone() {
    let world = World::new();
    let path = world.write(&lock(), "{}");
    let file = world.write(&format!("shelf{DLL_SUFFIX}"), library("shelf"));
    for arguments in [vec!["add", &file, "--replace"], vec!["remove", "shelf"], vec!["verify"]] {
        let out = world.command(["plugin"]).args(arguments).run().refused("PLUGIN_PINS_UNREADABLE");
        assert!(out.stderr().contains(&path), "{out}");
    }
    assert_eq!(world.read(&lock()), "{}");
}

#[test]
fn plugins_that_are_added_at_once_are_all_pinned() {
    let world = World::new();
    let files = ["shelf", "garden", "panics", "opening"].map(|name| put(&world, &format!("from/{name}"), name));
    let running: Vec<_> = files.iter().map(|file| world.command(["plugin", "add", file]).start()).collect();
    for one in running {
        one.finish().succeeds();
    }
    assert_eq!(world.read_json(&lock())["plugins"].as_array().unwrap().len(), 4);
    assert_eq!(world.host(["plugin", "verify"]).succeeds().stdout().lines().count(), 4);
}

#[test]
fn a_folder_in_a_repository_is_not_written() {
    let world = World::new();
    world.folder("home/.git");
    let file = put(&world, "shelf", "shelf");
    let _out = world.host(["plugin", "add", &file]).refused("REPO_PATH_REFUSED");
    assert!(!fs::exists(world.path(USER)).unwrap());
}
