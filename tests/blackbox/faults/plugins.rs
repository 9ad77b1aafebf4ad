//! Plugins that are added and removed by a host that is cut short.

use std::fs;

use host_tests::{HostCommand, Out, World, artifacts};

use super::at_each;

/// A world in which one library is pinned and another one, of the same name, is about to take its place.
fn replacing() -> (World, HostCommand) {
    let world = World::new();
    let library = fs::read(artifacts::test_plugin("shelf")).unwrap();
    let old = world.write("old.so", &library);
    world.host(["plugin", "add", &old]).succeeds();
    // Bytes behind the end of a library are no part of it.
    let new = world.write("new.so", [library.as_slice(), b"another build"].concat());
    let command = world.command(["plugin", "add", &new, "--replace"]);
    (world, command)
}

fn removing() -> (World, HostCommand) {
    let (world, _) = replacing();
    let command = world.command(["plugin", "remove", "shelf"]);
    (world, command)
}

/// Whatever is pinned is there whole and runs, and the same can be done afterwards.
#[track_caller]
fn check(world: &World, out: &Out) {
    let verified = world.host(["plugin", "verify"]);
    assert_eq!(verified.code(), 0, "{out}\n{verified}");
    if verified.stdout().contains("shelf") {
        world.host(["run", "shelf", "--help"]).succeeds();
    }
    world.host(["plugin", "add", &world.path("new.so"), "--replace"]).succeeds();
    world.host(["run", "shelf", "--help"]).succeeds();
}

#[test]
fn a_replacement_cut_short_anywhere_leaves_the_old_plugin_or_the_new_one() {
    for (operation, effect) in [
        ("create", "kill"),
        ("write", "kill"),
        ("fsync", "kill"),
        ("rename", "kill"),
        ("remove", "kill"),
        ("write", "enospc"),
    ] {
        at_each(operation, effect, replacing, check);
    }
}

#[test]
fn a_removal_cut_short_anywhere_leaves_the_plugin_or_none() {
    for (operation, effect) in [("rename", "kill"), ("remove", "kill"), ("fsync", "eio")] {
        at_each(operation, effect, removing, check);
    }
}
