//! What is loaded: the bytes that were added, and nothing that nobody answers for.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;

use host_tests::{Out, World, artifacts};

use super::{USER, add, changed, library, put};

/// The text of the shelf that tells two builds apart, and that of the other build.
const OLD: &str = "Which slot of a shelf holds what";
const NEW: &str = "WHICH SLOT OF A SHELF HOLDS WHAT";

/// Another build of the shelf, of the same length.
fn other_shelf() -> Vec<u8> {
    changed(library("shelf"), OLD, NEW)
}

/// `host run shelf --help` shows the description, which only loaded code gives.
fn ask(world: &World, flags: &[&str]) -> Out {
    world.command(["run", "shelf", "--help"]).args(flags).run()
}

#[track_caller]
fn check_altered(world: &World) {
    let out = ask(world, &[]).refused("PLUGIN_ALTERED");
    assert!(!out.stderr().contains(OLD) && !out.stderr().contains(NEW), "{out}");
    let allowed = ask(world, &["--allow-unpinned"]).refused("PLUGIN_ALTERED");
    assert_eq!(allowed.warnings().len(), 0, "{allowed}");
}

#[test]
fn what_was_added_runs_as_it_was_added() {
    let world = World::new();
    add(&world, &library("shelf"), &[]);
    world.write("downloads/plugin.so", other_shelf());
    let out = ask(&world, &[]).succeeds();
    assert!(out.stdout().contains(OLD) && out.stderr().is_empty(), "{out}");
    let fields = ["--entity", "m#slot1", "--fields-json", r#"{"state":"full"}"#, "--evidence", "seen", "--dry-run"];
    let line = world.command(["run", "shelf", "append"]).args(fields).run().succeeds();
    assert!(line.stdout().starts_with("[OBS] "), "{line}");
}

#[test]
fn an_altered_copy_is_refused_with_both_digests() {
    let world = World::new();
    let copy = add(&world, &library("shelf"), &[]);
    fs::write(&copy, other_shelf()).unwrap();
    check_altered(&world);
    let verified = world.host(["plugin", "verify", "--json"]);
    assert_eq!(verified.first_error_code(), "PLUGIN_ALTERED");
    let fault = verified.json()[0]["fault"].as_str().unwrap().to_owned();
    let out = ask(&world, &[]).refused("PLUGIN_ALTERED");
    assert!(out.stderr().contains(&format!("plugin shelf at {copy}: {fault}")), "{fault}\n{out}");
    assert!(out.stderr().contains("--replace"), "it says what to do:\n{out}");
}

#[test]
fn a_copy_that_another_file_took_the_place_of_is_refused() {
    let world = World::new();
    let copy = add(&world, &library("shelf"), &[]);
    let other = world.write("other.so", other_shelf());
    fs::rename(other, &copy).unwrap();
    check_altered(&world);
}

#[test]
fn a_copy_that_was_cut_emptied_or_removed_is_refused() {
    let world = World::new();
    let copy = add(&world, &library("shelf"), &[]);
    let whole = library("shelf");
    for length in [whole.len() - 1, whole.len() / 2, 0] {
        fs::write(&copy, &whole[..length]).unwrap();
        check_altered(&world);
    }
    fs::remove_file(&copy).unwrap();
    check_altered(&world);
}

#[test]
fn an_altered_copy_takes_no_other_name_and_is_mended_by_adding_again() {
    let world = World::new();
    let copy = add(&world, &library("shelf"), &[]);
    fs::write(&copy, library("garden")).unwrap();
    check_altered(&world);
    let _other = world.host(["run", "garden", "--help"]).refused("PLUGIN_NOT_FOUND");
    add(&world, &library("shelf"), &[]);
    assert!(ask(&world, &[]).succeeds().stdout().contains(OLD));
}

#[test]
fn a_replaced_plugin_is_the_new_code() {
    let world = World::new();
    add(&world, &library("shelf"), &[]);
    add(&world, &other_shelf(), &["--replace"]);
    let out = ask(&world, &[]).succeeds();
    assert!(out.stdout().contains(NEW) && !out.stdout().contains(OLD), "{out}");
}

#[test]
fn what_nobody_pinned_is_refused_with_the_way_out() {
    let world = World::new();
    for place in ["plugins/shelf".to_owned(), format!("{USER}/shelf")] {
        let path = put(&world, &place, "shelf");
        let out = ask(&world, &["--plugin-dir", &world.path("plugins")]).refused("PLUGIN_UNPINNED");
        assert!(out.stderr().contains(&format!("`host plugin add {path}` pins it")), "{out}");
        assert!(out.stderr().contains("--allow-unpinned"), "{out}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn what_nobody_pinned_runs_when_that_is_allowed_and_says_so_once() {
    let world = World::new();
    let path = put(&world, "plugins/shelf", "shelf");
    let folder = world.path("plugins");
    for arguments in [
        vec!["--allow-unpinned", "run", "shelf", "init", "--apply"],
        vec!["run", "shelf", "init", "--apply", "--allow-unpinned"],
    ] {
        let command = world.command(arguments).env("HOST_PLUGIN_DIR", &folder);
        let out = command.args(["--state-dir", &world.state()]).run().succeeds();
        let expected = format!("plugin_unpinned: shelf at {path} is not pinned; its code was run all the same");
        assert_eq!(out.warnings(), [expected.as_str()]);
    }
}

#[test]
fn the_warning_follows_the_error_of_a_refused_command() {
    let world = World::new();
    put(&world, "plugins/shelf", "shelf");
    let arguments = ["run", "shelf", "append", "--entity", "nonsense", "--fields-json", "{}", "--allow-unpinned"];
    let out = world.command(arguments).args(["--plugin-dir", &world.path("plugins")]).run().refused("INVALID_ENTITY");
    assert!(out.warning("plugin_unpinned").is_some(), "{out}");
}

#[test]
fn one_that_nobody_pinned_stands_in_the_way_of_no_other() {
    let world = World::new();
    put(&world, "plugins/shelf", "shelf");
    let arguments = ["run", "issue-debt", "init", "--apply", "--state-dir", &world.state()];
    let out = world.command(arguments).env("HOST_PLUGIN_DIR", &world.path("plugins")).run().succeeds();
    assert!(out.warning("plugin_skipped").is_some_and(|text| text.contains("PLUGIN_UNPINNED")), "{out}");
}

#[test]
fn a_name_of_the_binary_that_somebody_shadows_unpinned_is_refused() {
    let world = World::new();
    let bytes = fs::read(artifacts::host().with_file_name(format!("{DLL_PREFIX}host_issue_debt{DLL_SUFFIX}"))).unwrap();
    let path = world.write("plugins/debt.so", bytes);
    let command = world.command(["run", "issue-debt", "--help"]).env("HOST_PLUGIN_DIR", &world.path("plugins"));
    let out = command.run().refused("PLUGIN_UNPINNED");
    assert!(out.stderr().contains(&path), "{out}");
}

/// The system's loader tells what it maps: the sealed copy, and not the file in the store.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn a_pinned_plugin_is_loaded_from_the_sealed_copy() {
    let world = World::new();
    add(&world, &library("shelf"), &[]);
    let out = world.command(["run", "shelf", "--help"]).env("LD_DEBUG", "files").run().succeeds();
    assert!(out.stderr().contains("calling init: /proc/self/fd/"), "{out}");
    assert!(!out.stderr().contains("/store/"), "{out}");
}
