//! `host plugin list` and `host plugin info`: what a file says of itself, without running any of it.

use std::env::consts::DLL_SUFFIX;
use std::fs;

use host_tests::{World, artifacts};
use sha2::{Digest as _, Sha256};

use super::{USER, changed, library, listed, put};

/// Row of `shelf` at a place, with `--plugin-dir` for each of the folders.
#[track_caller]
fn check_state(folders: &[&str], bytes: &[u8], expected: &str) {
    let world = World::new();
    put(&world, "second/garden", "garden");
    let path = world.write(&format!("first/shelf{DLL_SUFFIX}"), bytes);
    let arguments: Vec<String> =
        folders.iter().flat_map(|folder| ["--plugin-dir".to_owned(), world.path(folder)]).collect();
    let out = world.command(["plugin", "list", "--json"]).args(&arguments).run().succeeds();
    let json = out.json();
    let row = json["plugins"].as_array().unwrap().iter().find(|row| row["path"] == path.as_str()).unwrap();
    let state = row["state"].as_str().unwrap();
    assert!(state.starts_with(expected), "{state}");
}

#[test]
fn the_plugins_beside_the_binary_are_listed_with_all_that_is_known() {
    let world = World::new();
    let beside = artifacts::host().parent().unwrap().canonicalize().unwrap();
    let file = format!("{}host_issue_debt{DLL_SUFFIX}", std::env::consts::DLL_PREFIX);
    let path = beside.join(file).to_string_lossy().into_owned();
    let row = listed(&world, &[], "issue-debt", &path);
    let words = ["role", "version", "contract", "pin", "state"].map(|key| row[key].as_str().unwrap());
    assert_eq!(words, ["kind", "0.1.0", "1.0.0", "trusted", "ok"]);
    assert!(row["compiler"].as_str().unwrap().starts_with("rustc "), "{row}");
}

#[test]
fn a_library_of_two_names_has_two_rows() {
    let world = World::new();
    let path = put(&world, "plugins/garden", "garden");
    for name in ["garden", "pond"] {
        let row = listed(&world, &["--plugin-dir", &world.path("plugins")], name, &path);
        assert_eq!((&row["state"], &row["pin"]), (&"ok".into(), &"unpinned".into()));
    }
}

#[test]
fn each_state_is_said_in_words() {
    let shelf = library("shelf");
    check_state(&["first"], &shelf, "ok");
    check_state(&["first"], &shelf[..shelf.len() / 2], "broken: the file is not a whole library");
    let other = changed(shelf.clone(), r#""contract":"1.0.0""#, r#""contract":"2.0.0""#);
    check_state(&["first"], &other, "incompatible: it was built for contract 2.0.0, this host speaks 1.0.0");
    let garden = library("garden");
    check_state(&["first", "second"], &garden, "ok");
    check_state(&["second", "first"], &garden, "shadowed by ");
}

#[test]
fn a_name_twice_in_one_folder_is_ambiguous_in_both_rows() {
    let world = World::new();
    let (one, two) = (put(&world, "plugins/a", "shelf"), put(&world, "plugins/b", "shelf"));
    for (path, other) in [(&one, &two), (&two, &one)] {
        let row = listed(&world, &["--plugin-dir", &world.path("plugins")], "shelf", path);
        assert_eq!(row["state"], format!("ambiguous with {other}"));
    }
}

#[test]
fn the_page_says_that_nothing_was_hashed() {
    let out = World::new().host(["plugin", "list"]).succeeds();
    assert!(out.stdout().contains("Nothing was hashed and no plugin code was run"), "{out}");
    assert!(out.stdout().contains("issue-debt") && out.stderr().is_empty(), "{out}");
}

/// The system's loader tells whom it loads: each library that is mapped has a line, and none else.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn listing_fifty_plugins_runs_none_of_their_code() {
    let world = World::new();
    let first = put(&world, "plugins/p0", "shelf");
    for number in 1..50 {
        fs::hard_link(&first, world.path(&format!("plugins/p{number}.so"))).unwrap();
    }
    let traced = |arguments: &[&str]| world.command(arguments).env("LD_DEBUG", "files").run();
    put(&world, "plugins/q", "garden");
    let folder = world.path("plugins");
    let loaded = traced(&["run", "garden", "--help", "--allow-unpinned", "--plugin-dir", &folder]).succeeds();
    assert!(loaded.stderr().contains("/q.so"), "the loader tells nothing:\n{loaded}");
    for arguments in [["plugin", "list"], ["plugin", "info"]] {
        let file = (arguments[1] == "info").then_some(first.as_str());
        let arguments: Vec<&str> = arguments.into_iter().chain(file).chain(["--plugin-dir", &folder]).collect();
        let out = traced(&arguments).succeeds();
        assert!(!out.stderr().contains(&folder) && !out.stderr().contains("/proc/self/fd"), "{out}");
        assert!(out.stdout().matches("shelf").count() >= if file.is_some() { 1 } else { 50 }, "{out}");
    }
}

#[test]
fn info_shows_the_digest_and_the_verdict_of_a_file_and_of_a_name() {
    let world = World::new();
    let path = put(&world, "plugins/shelf", "shelf");
    let digest: String = Sha256::digest(library("shelf")).iter().map(|byte| format!("{byte:02x}")).collect();
    for plugin in [path.as_str(), "shelf"] {
        let out = world.host(["plugin", "info", plugin, "--json", "--plugin-dir", &world.path("plugins")]).succeeds();
        let facts = out.json();
        assert_eq!(facts["sha256"], digest.as_str());
        assert_eq!(facts["names"], serde_json::json!(["shelf"]));
        assert_eq!(facts["verdict"], "fits: built for contract 1.0.0, this host speaks 1.0.0");
        assert_eq!(facts["symbol_exported"], true);
    }
}

#[test]
fn info_of_what_does_not_fit_shows_the_facts_and_is_refused() {
    let world = World::new();
    let other = changed(library("shelf"), r#""panic":"unwind""#, r#""panic":"abort.""#);
    let path = world.write("shelf.so", other);
    let out = world.host(["plugin", "info", &path]);
    assert_eq!((out.code(), out.first_error_code()), (1, "PLUGIN_INCOMPATIBLE"));
    assert!(out.stdout().contains("verdict          it was built with panic"), "{out}");
}

#[test]
fn info_of_what_is_no_plugin_is_refused() {
    let world = World::new();
    let path = world.write("text.so", "no library");
    let out = world.host(["plugin", "info", &path]).refused("PLUGIN_UNREADABLE");
    assert!(out.stderr().contains(&path), "{out}");
    let _named = world.host(["plugin", "info", "no-such-name"]).refused("PLUGIN_NOT_FOUND");
}

#[test]
fn a_broken_lock_file_is_named_and_what_may_be_shadowed_is_refused() {
    let world = World::new();
    let lock = world.write(&format!("{USER}/plugins.lock.json"), "{\"format\":1,");
    let list = world.host(["plugin", "list"]).succeeds();
    assert!(list.warning("plugin_pins_unreadable").is_some_and(|text| text.contains(&lock)), "{list}");
    let out = world.debt().run("verify", [""; 0]).refused("PLUGIN_PINS_UNREADABLE");
    assert!(out.stderr().contains(&lock), "{out}");
    let beside = artifacts::host().parent().unwrap().to_string_lossy().into_owned();
    world.host(["--plugin-dir", &beside, "run", "issue-debt", "init", "--state-dir", &world.state()]).succeeds();
}
