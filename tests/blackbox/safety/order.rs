//! Which guard speaks first, and that guards speak before everything else (L 10.3, L 11, L 13).

use host_tests::{HostCommand, Out, World};

use super::Place;
use super::places::{FORBIDDEN, build, guarded};

fn run(world: &World, command: HostCommand) -> Out {
    guarded(world, command).run()
}

/// A world with the places and a repository inside the shared folder.
fn world() -> World {
    let world = World::new();
    build(&world);
    world.folder("shared/repository/.git");
    world
}

#[test]
fn a_repository_in_the_shared_folder_is_shared_first() {
    let world = world();
    let command = world.command(["run", "issue-debt", "init", "--state-dir", &world.path("shared/repository/x")]);
    run(&world, command).refused("SHARED_PATH_REFUSED");
}

#[test]
fn a_guard_speaks_before_the_inputs_are_looked_at() {
    let world = world();
    let state = world.path("repository/x");
    for rest in [
        vec!["append", "--observation-file", "/nowhere"],
        vec!["append"],
        vec!["append", "--entity", "nonsense", "--fields-json", "{"],
        vec!["reduce"],
        vec!["reduce", "--events", "/nowhere"],
        vec!["reduce", "--no-events", "--now", "nonsense"],
    ] {
        let command = world.command(["run", "issue-debt"]).args(rest).args(["--state-dir", &state]);
        run(&world, command).refused("REPO_PATH_REFUSED");
    }
}

#[test]
fn the_state_directory_is_guarded_before_the_outputs() {
    let world = world();
    let state = world.path("repository/x");
    let flags = ["run", "issue-debt", "reduce", "--no-events", "--state-dir", &state, "--out", &world.path("shared/x")];
    run(&world, world.command(flags)).refused("REPO_PATH_REFUSED");
}

#[test]
fn the_outputs_of_a_fold_are_guarded_in_the_order_out_summary_status() {
    let world = world();
    let (shared, repository) = (world.path("shared/x"), world.path("repository/x"));
    let check = |flags: [&str; 4], code: &str| {
        let command = world.debt().command("reduce", ["--events", "/nowhere"]).args(flags);
        run(&world, command).refused(code);
    };
    check(["--status-out", &shared, "--out", &repository], "REPO_PATH_REFUSED");
    check(["--summary-out", &repository, "--out", &shared], "SHARED_PATH_REFUSED");
    check(["--status-out", &shared, "--summary-out", &repository], "REPO_PATH_REFUSED");
}

#[test]
fn a_forbidden_output_is_named_before_a_bad_observation() {
    let world = world();
    let flags = ["--entity", "o/r#1", "--fields-json", r#"{"typo":1}"#, "--out", &world.path("shared/x")];
    run(&world, world.debt().command("append", flags)).refused("SHARED_PATH_REFUSED");
}

#[test]
fn a_refusal_names_the_path() {
    let world = world();
    for place in FORBIDDEN.into_iter().filter(|place: &Place| place.path.ends_with("/x")) {
        let state = place.argument(&world, "");
        let command = world.command(["run", "issue-debt", "init", "--state-dir", &state]);
        let out = run(&world, command).refused(place.code);
        let name = if place.code == "SHARED_PATH_REFUSED" { "shared" } else { "x" };
        assert!(out.stderr().contains(name), "{out}");
    }
}
