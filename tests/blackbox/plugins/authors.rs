//! What an author does: a new plugin out of tree, its own tests, the conformance suite, a pin, a run.

use std::path::{Path, PathBuf};
use std::process::Command;

use host_tests::{World, artifacts};

/// Builds that several tests share; each plugin has a name of its own, so that none meets the library of another.
fn target() -> PathBuf {
    artifacts::target().join("authors")
}

/// Runs cargo in a crate that the host wrote. What it depends on was fetched for this workspace already.
#[track_caller]
fn cargo(folder: &str, arguments: &[&str]) {
    let out = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--offline")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    assert!(out.status.success(), "cargo {arguments:?}\n{}", String::from_utf8_lossy(&out.stderr));
}

/// A new plugin, built; its folder and its library.
#[track_caller]
fn made(world: &World, role: &str, name: &str) -> (String, String) {
    let out = world.host(["plugin", "new", role, name]).succeeds();
    let folder = world.path(&format!("work/{name}"));
    assert!(out.stdout().starts_with(&format!("NEW {role} {name} in ")), "{out}");
    // The versions of this workspace's lock are those that are surely at hand.
    std::fs::copy(artifacts::repository().join("Cargo.lock"), Path::new(&folder).join("Cargo.lock")).unwrap();
    cargo(&folder, &["test", "--quiet"]);
    cargo(&folder, &["build", "--quiet"]);
    let library = format!("lib{}.so", name.replace('-', "_"));
    (folder, target().join("debug").join(library).to_string_lossy().into_owned())
}

#[test]
fn a_new_kind_builds_conforms_is_pinned_and_folds() {
    let world = World::new();
    let (_, library) = made(&world, "kind", "author-kind");
    let out = world.host(["plugin", "test", &library]).succeeds();
    assert!(out.stdout().ends_with("10 checks, 0 failed\n"), "{out}");
    world.host(["plugin", "add", &library]).succeeds();
    let fields = r#"{"state":"open","hours":2}"#;
    let state = world.path("state");
    world.host(["run", "author-kind", "init", "--apply", "--state-dir", &state]).succeeds();
    let append = ["run", "author-kind", "append", "--entity", "m-1#7", "--fields-json", fields, "--state-dir", &state];
    let append = append.into_iter().chain(["--observed-at", "2026-10-01T00:00:00Z"]);
    let line = world.host(append).succeeds().stdout().to_owned();
    let message = serde_json::json!({
        "id": "1", "author": { "machineId": "m-1", "workspace": "w" },
        "timestamp": "2026-10-01T00:00:00Z", "content": line.trim(),
    });
    let export = serde_json::json!({ "messages": [message] });
    let events = world.write("export.json", export.to_string());
    world
        .host(["run", "author-kind", "reduce", "--events", &events, "--window-full", "--state-dir", &state])
        .succeeds();
    let shown = world.host(["run", "author-kind", "show", "--state-dir", &state]).succeeds();
    assert!(shown.stdout().contains("m-1#7") && shown.stdout().contains("open"), "{shown}");
}

#[test]
fn a_new_organ_builds_conforms_is_pinned_and_runs() {
    let world = World::new();
    let (_, library) = made(&world, "organ", "author-organ");
    let out = world.host(["plugin", "test", &library]).succeeds();
    assert!(out.stdout().ends_with("12 checks, 0 failed\n"), "{out}");
    world.host(["plugin", "add", &library]).succeeds();
    let greet = |name: &str| world.host(["run", "author-organ", name]).succeeds().stdout().to_owned();
    assert_eq!(greet("world"), "Hello world, you are number 1\n");
    assert_eq!(greet("moon"), "Hello moon, you are number 2\n");
    let help = world.host(["run", "author-organ", "--help"]).succeeds();
    assert!(help.stdout().contains("Whom to greet") && help.stdout().contains("Exit codes:"), "{help}");
}

#[test]
fn a_name_that_is_none_and_a_folder_that_is_there_are_refused() {
    let world = World::new();
    let out = world.host(["plugin", "new", "kind", "Disk_Room"]).refused("MISSING_INPUT");
    assert!(out.stderr().contains("\"Disk_Room\" is not a name for a plugin: lower-case letters first"), "{out}");
    world.folder("work/disk-room");
    let out = world.host(["plugin", "new", "kind", "disk-room"]).refused("WRITE_FAILED");
    assert!(out.stderr().contains("disk-room exists already; choose another name, or another --dir"), "{out}");
    let shared = world.folder("shared");
    let out = world.command(["plugin", "new", "kind", "a", "--dir", &shared]).env("ROOSYNC_SHARED_PATH", &shared).run();
    out.refused("SHARED_PATH_REFUSED");
}

#[test]
fn a_plugin_that_does_not_conform_is_told_what_and_why() {
    let world = World::new();
    let library = world.write("panics.so", std::fs::read(artifacts::test_plugin("panics")).unwrap());
    let out = world.host(["plugin", "test", &library]);
    assert_eq!(out.code(), 1, "{out}");
    assert!(out.stdout().contains("FAIL  panics  empty-ledger: summary: panicked at "), "{out}");
    let out = world.host(["plugin", "test", &library, "--json"]);
    let checks = out.json()["checks"].as_array().unwrap().clone();
    let found = |name: &str, check: &str| {
        checks.iter().find(|one| one["name"] == name && one["check"] == check).unwrap()["passed"].clone()
    };
    assert_eq!((found("panics", "empty-ledger"), found("brittle", "judging-is-pure")), (false.into(), true.into()));
    let text = world.write("text.so", "no library");
    world.host(["plugin", "test", &text]).refused("PLUGIN_UNREADABLE");
}
