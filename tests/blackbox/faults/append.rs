//! Appends and inits that are cut short.

use host_tests::{HostCommand, Out, World, tree};

use super::at_each;

const NAME: &str = "obs-0cb15eebe26dd713.json";

fn append() -> (World, HostCommand) {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let flags = ["--entity", "o/r#7", "--fields-json", r#"{"eat_hours":4}"#, "--actor", "po-1:w", "--spool"];
    let command = world.debt().command("append", flags);
    (world, command.args(["--observed-at", "2026-09-17T19:00:00Z", "--evidence", "gh issue view 7"]))
}

/// The spool holds the whole file or nothing that counts, and the same append succeeds afterwards.
#[track_caller]
fn check_append(world: &World, out: &Out) {
    let status = world.debt().run("spool", ["--status"]).succeeds();
    let pending = ["issue-debt: pending=0 ", "issue-debt: pending=1 "];
    assert!(pending.iter().any(|start| status.stdout().starts_with(start)), "{out}\n{status}");
    let again = ["--entity", "o/r#7", "--fields-json", r#"{"eat_hours":4}"#, "--actor", "po-1:w", "--spool"];
    let command = world.debt().command("append", again);
    command.args(["--observed-at", "2026-09-17T19:00:00Z", "--evidence", "gh issue view 7"]).run().succeeds();
    let line = world.read(&world.debt().file(&format!("spool/{NAME}")));
    assert!(line.starts_with("[OBS] {") && line.ends_with("}\n"), "{line}");
    let status = world.debt().run("spool", ["--status"]).succeeds();
    assert!(status.stdout().starts_with("issue-debt: pending=1 "), "{status}");
}

#[test]
fn an_append_cut_short_anywhere_leaves_a_whole_file_or_none() {
    for (operation, effect) in [
        ("create", "kill"),
        ("write", "kill"),
        ("fsync", "kill"),
        ("rename", "kill"),
        ("create", "enospc"),
        ("write", "enospc"),
        ("fsync", "eio"),
    ] {
        at_each(operation, effect, append, check_append);
    }
}

#[test]
fn an_append_that_fails_leaves_no_temporary_file() {
    for (operation, effect) in [("write", "enospc"), ("fsync", "eio")] {
        at_each(operation, effect, append, |world, out| {
            let names: Vec<_> = tree(world.debt().path("spool")).into_keys().collect();
            assert!(names.is_empty() || names == [NAME], "{names:?}\n{out}");
        });
    }
}

#[test]
fn an_init_cut_short_anywhere_is_finished_by_the_next() {
    let whole = World::new();
    whole.debt().run("init", ["--apply"]).succeeds();
    let expected: Vec<_> = tree(whole.state()).into_iter().collect();
    let init = || {
        let world = World::new();
        let command = world.debt().command("init", ["--apply"]);
        (world, command)
    };
    for (operation, effect) in [("create", "kill"), ("write", "kill"), ("rename", "kill"), ("write", "enospc")] {
        at_each(operation, effect, init, |world, out| {
            world.debt().run("init", ["--apply"]).succeeds();
            let found: Vec<_> = world
                .stored()
                .into_iter()
                .filter(|(name, _)| expected.iter().any(|(known, _)| known == name))
                .collect();
            assert_eq!(found, expected, "{out}");
        });
    }
}
