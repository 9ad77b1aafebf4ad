//! The state directory of every verb that may write.

use host_tests::{World, tree};

use super::places::{FORBIDDEN, FREE, Place, build, guarded};

const NOW: [&str; 2] = ["--now", "2026-10-01T00:00:00Z"];

/// Verbs with the flags that make them do something.
const VERBS: [&[&str]; 9] = [
    &["init"],
    &["init", "--apply"],
    &["append", "--entity", "o/r#1", "--fields-json", r#"{"eat_hours":1}"#],
    &["append", "--entity", "o/r#1", "--fields-json", r#"{"eat_hours":1}"#, "--dry-run"],
    &["append", "--entity", "o/r#1", "--fields-json", r#"{"eat_hours":1}"#, "--spool"],
    &["append", "--entity", "o/r#1", "--fields-json", r#"{"eat_hours":1}"#, "--quiet"],
    &["reduce", "--no-events"],
    &["reduce", "--no-events", "--dry-run"],
    &["reduce", "--no-events", "--stdout"],
];

#[track_caller]
fn refused(world: &World, place: Place, verb: &[&str]) {
    let state = place.argument(world, "");
    let command = world.command(["run", "issue-debt"]).args(verb).args(["--state-dir", &state]).args(NOW);
    let out = guarded(world, command).run();
    assert_eq!(out.code(), 1, "{}\n{out}", place.what);
    out.refused(place.code);
}

#[test]
fn no_verb_works_in_a_forbidden_place_and_none_makes_anything_there() {
    let world = World::new();
    build(&world);
    let before = tree(world.path(""));
    for place in FORBIDDEN {
        for verb in VERBS {
            refused(&world, place, verb);
        }
    }
    assert_eq!(tree(world.path("")), before);
}

#[test]
fn a_place_that_only_looks_forbidden_is_free() {
    let world = World::new();
    build(&world);
    for path in FREE {
        let state = format!("{}/{path}", world.path(""));
        let command = world.command(["run", "issue-debt", "init", "--apply", "--state-dir", &state]).args(NOW);
        guarded(&world, command).run().succeeds();
        assert!(tree(&state).contains_key("issue-debt/schema.json"), "{path}");
    }
}

#[test]
fn the_shared_folder_itself_may_be_named_through_a_link() {
    let world = World::new();
    build(&world);
    let flags = ["run", "issue-debt", "init", "--state-dir", &world.path("shared/x")];
    let command = guarded(&world, world.command(flags)).env("ROOSYNC_SHARED_PATH", &world.path("link-to-link"));
    command.run().refused("SHARED_PATH_REFUSED");
}

#[test]
fn an_empty_or_absent_variable_names_no_folder() {
    let world = World::new();
    build(&world);
    let flags = ["run", "issue-debt", "init", "--state-dir", &world.path("shared/x")];
    guarded(&world, world.command(flags)).env("ROOSYNC_SHARED_PATH", "").run().succeeds();
    guarded(&world, world.command(flags)).without_env("ROOSYNC_SHARED_PATH").run().succeeds();
}

#[test]
fn a_state_directory_from_the_environment_is_guarded_too() {
    let world = World::new();
    build(&world);
    for (name, value) in
        [("COURSIA_LEDGER_STATE_DIR", "shared/x"), ("XDG_STATE_HOME", "repository"), ("HOME", "repository")]
    {
        let command = guarded(&world, world.command(["run", "issue-debt", "init"])).env(name, &world.path(value));
        let out = command.run();
        let code = if value.starts_with("shared") { "SHARED_PATH_REFUSED" } else { "REPO_PATH_REFUSED" };
        out.refused(code);
    }
}

#[test]
fn reading_verbs_are_not_guarded() {
    let world = World::new();
    build(&world);
    world.debt().run("reduce", ["--no-events"]).succeeds();
    host_tests::copy_tree(world.state(), world.path("repository/state"));
    let state = world.path("repository/state");
    for verb in ["show", "verify"] {
        let command = world.command(["run", "issue-debt", verb, "--state-dir", &state]);
        guarded(&world, command).run().succeeds();
    }
}
