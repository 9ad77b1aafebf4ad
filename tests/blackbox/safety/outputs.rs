//! Every flag that names a file or folder to write.

use host_tests::{HostCommand, World, tree};

use super::places::{FORBIDDEN, Place, build, guarded};

/// A command with one output flag; the second part says whether the flag names a folder.
type Output = (fn(&World) -> HostCommand, &'static [&'static str]);

fn append(world: &World) -> HostCommand {
    world.debt().command("append", ["--entity", "o/r#1", "--fields-json", r#"{"eat_hours":1}"#])
}

fn reduce(world: &World) -> HostCommand {
    world.debt().command("reduce", ["--no-events"])
}

const OUTPUTS: [Output; 7] = [
    (append, &["--out"]),
    (append, &["--out-dir"]),
    (append, &["--dry-run", "--out"]),
    (append, &["--quiet", "--out-dir"]),
    (reduce, &["--out"]),
    (reduce, &["--summary-out"]),
    (reduce, &["--status-out"]),
];

#[track_caller]
fn refused(world: &World, place: Place, output: Output) {
    let (command, flags) = output;
    let command = command(world).args(flags).args([place.argument(world, "x.json")]);
    let out = guarded(world, command).run();
    assert_eq!(out.code(), 1, "{} {flags:?}\n{out}", place.what);
    out.refused(place.code);
}

#[test]
fn no_output_goes_into_a_forbidden_place_and_nothing_is_made_at_all() {
    let world = World::new();
    build(&world);
    let before = tree(world.path(""));
    for place in FORBIDDEN {
        for output in OUTPUTS {
            refused(&world, place, output);
        }
    }
    assert_eq!(tree(world.path("")), before);
}

#[test]
fn an_output_that_is_itself_a_link_into_a_forbidden_place_is_refused() {
    let world = World::new();
    build(&world);
    std::os::unix::fs::symlink(world.path("shared/x.json"), world.path("free/link.json")).unwrap();
    for (command, flags) in OUTPUTS {
        let command = command(&world).args(flags).args([world.path("free/link.json")]);
        guarded(&world, command).run().refused("SHARED_PATH_REFUSED");
    }
}

#[test]
fn an_output_that_is_switched_off_is_not_looked_at() {
    let world = World::new();
    build(&world);
    let shared = world.path("shared/x");
    for flags in [
        ["--no-summary", "--summary-out"],
        ["--no-status", "--status-out"],
        ["--dry-run", "--out"],
        ["--stdout", "--out"],
    ] {
        let command = reduce(&world).args(flags).args([&shared]);
        guarded(&world, command).run().succeeds();
    }
    assert_eq!(tree(world.path("shared")).into_keys().collect::<Vec<_>>(), ["sub/"]);
}

#[test]
fn inputs_are_not_guarded() {
    let world = World::new();
    build(&world);
    let export = world.write("shared/export.json", r#"{"window":{"kind":"full"},"messages":[]}"#);
    guarded(&world, world.debt().command("reduce", ["--events", &export])).run().succeeds();
    let text = r#"{"actor":"a","observed_at":"2026-09-17T19:00:00Z","evidence":"e","entity":{"repo":"o/r","issue":7},"fields":{"eat_hours":4}}"#;
    let file = world.write("repository/observation.json", text);
    guarded(&world, world.debt().command("append", ["--observation-file", &file])).run().succeeds();
}
