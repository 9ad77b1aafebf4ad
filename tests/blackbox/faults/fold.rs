//! Folds that are cut short: the old state or the new state is there, and the next fold says so and repairs.

use std::collections::BTreeMap;

use host_tests::{Export, HostCommand, Observation, Out, World, copy_tree, tree};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::at_each;

const ARTIFACTS: [&str; 3] = ["snapshot.json", "summary.json", "status.md"];

fn seen(number: u64) -> Observation {
    Observation::issue(number).field("eat_hours", number).field("state_class", "open-blocked")
}

/// What is folded at first.
fn first() -> Export {
    Export::full().with(seen(1)).with(seen(2))
}

/// What is folded when the fault strikes.
fn tail() -> Export {
    Export::tail().with(seen(2)).with(seen(3)).with(seen(1).at("2026-09-18T19:00:00Z").field("eat_hours", 9))
}

/// A state directory that a test copies, and what a fold of the tail makes of it.
pub(super) struct Case {
    prepared: World,
    old: BTreeMap<String, Vec<u8>>,
    new: BTreeMap<String, Vec<u8>>,
    facts: Value,
    export: Export,
}

/// Keys and fields of all rows.
fn facts(world: &World) -> Value {
    let snapshot = world.debt().snapshot();
    snapshot["rows"].as_array().unwrap().iter().map(|row| json!([row["key"], row["fields"]])).collect()
}

impl Case {
    /// Onto a state that an earlier fold left.
    pub(super) fn onto_a_state() -> Self {
        let prepared = World::new();
        prepared.debt().fold(&first()).succeeds();
        Self::new(prepared, tail())
    }

    /// Into a state directory that does not exist.
    pub(super) fn from_nothing() -> Self {
        Self::new(World::new(), first())
    }

    fn new(prepared: World, export: Export) -> Self {
        let whole = World::new();
        copy_tree(prepared.state(), whole.state());
        whole.debt().fold(&export).succeeds();
        let old = tree(prepared.path("state/issue-debt/snapshots"));
        let new = tree(whole.path("state/issue-debt/snapshots"));
        Self { old, new, facts: facts(&whole), prepared, export }
    }

    /// A fresh copy of the state, and the fold to disturb.
    pub(super) fn command(&self) -> (World, HostCommand) {
        let world = World::new();
        if std::fs::exists(self.prepared.state()).unwrap() {
            copy_tree(self.prepared.state(), world.state());
        }
        let command = world.debt().fold_command(&self.export);
        (world, command)
    }

    /// Demands that every artifact is the old one or the new one, and that the next fold repairs and loses nothing.
    #[track_caller]
    pub(super) fn check(&self, world: &World, out: &Out) {
        let found = tree(world.path("state/issue-debt/snapshots"));
        for name in ARTIFACTS {
            let (is, old, new) = (found.get(name), self.old.get(name), self.new.get(name));
            assert!(is == old || is == new, "{name} is neither the old nor the new one\n{out}");
        }
        let damaged = is_damaged(&found);
        let next = world.debt().fold(&self.export).succeeds();
        assert_eq!(next.warning("artifacts_repaired").is_some(), damaged, "{out}\n{next}");
        assert_eq!(facts(world), self.facts, "{out}\n{next}");
        self.check_is_tidy(world, &next);
        world.debt().run("verify", [""; 0]).succeeds();
    }

    /// Demands that nothing but the four files and the lock is left.
    #[track_caller]
    fn check_is_tidy(&self, world: &World, out: &Out) {
        let names: Vec<_> = world.stored().into_keys().collect();
        let expected = [
            "issue-debt/",
            "issue-debt/.fold.lock",
            "issue-debt/snapshots/",
            "issue-debt/snapshots/fold.json",
            "issue-debt/snapshots/snapshot.json",
            "issue-debt/snapshots/status.md",
            "issue-debt/snapshots/summary.json",
        ];
        assert_eq!(names, expected, "{out}");
    }

    /// Demands that a fold that failed, and was not killed, left no temporary file.
    #[track_caller]
    fn check_no_temporary(&self, world: &World, out: &Out) {
        for name in tree(world.path("state/issue-debt/snapshots")).into_keys() {
            assert!(name == "fold.json" || ARTIFACTS.contains(&name.as_str()), "{name} is left\n{out}");
        }
    }
}

/// Whether `fold.json` is there and an artifact is not the one that it names.
fn is_damaged(found: &BTreeMap<String, Vec<u8>>) -> bool {
    let Some(fold) = found.get("fold.json") else { return false };
    let fold: Value = serde_json::from_slice(fold).unwrap();
    ARTIFACTS.iter().any(|name| {
        let digest = found
            .get(*name)
            .map(|bytes| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        fold["artifacts"][*name] != json!(digest)
    })
}

/// Disturbs the fold at each operation; at least `least` of them must exist.
#[track_caller]
fn disturb(case: &Case, operation: &str, effect: &str, least: usize) {
    let count = at_each(
        operation,
        effect,
        || case.command(),
        |world, out| {
            if effect != "kill" {
                case.check_no_temporary(world, out);
            }
            case.check(world, out);
        },
    );
    assert!(count >= least, "only {count} operations of kind {operation}");
}

#[test]
fn a_fold_killed_before_any_rename_loses_nothing() {
    disturb(&Case::onto_a_state(), "rename", "kill", 4);
    disturb(&Case::from_nothing(), "rename", "kill", 4);
}

#[test]
fn a_fold_killed_before_any_write_loses_nothing() {
    disturb(&Case::onto_a_state(), "write", "kill", 4);
    disturb(&Case::from_nothing(), "write", "kill", 4);
}

#[test]
fn a_fold_killed_before_any_sync_loses_nothing() {
    disturb(&Case::onto_a_state(), "fsync", "kill", 4);
    disturb(&Case::onto_a_state(), "fsync-folder", "kill", 1);
}

#[test]
fn a_fold_killed_before_any_creation_loses_nothing() {
    disturb(&Case::onto_a_state(), "create", "kill", 4);
    disturb(&Case::from_nothing(), "mkdir", "kill", 1);
}

#[test]
fn a_disk_that_is_full_at_any_write_leaves_the_old_or_the_new_state() {
    disturb(&Case::onto_a_state(), "write", "enospc", 4);
    disturb(&Case::from_nothing(), "write", "enospc", 4);
}

#[test]
fn a_disk_that_is_full_at_any_creation_leaves_the_old_or_the_new_state() {
    disturb(&Case::onto_a_state(), "create", "enospc", 4);
    disturb(&Case::from_nothing(), "mkdir", "enospc", 1);
}

#[test]
fn a_disk_that_fails_at_any_sync_leaves_the_old_or_the_new_state() {
    disturb(&Case::onto_a_state(), "fsync", "eio", 4);
}

#[test]
fn a_rename_that_fails_leaves_the_old_or_the_new_state() {
    disturb(&Case::onto_a_state(), "rename", "eio", 4);
    disturb(&Case::onto_a_state(), "rename", "enospc", 4);
}

#[test]
fn a_short_write_is_finished() {
    let case = Case::onto_a_state();
    let (world, command) = case.command();
    command.env("HOST_FAULTS", "write:1:short,write:2:short,write:3:short").run().succeeds();
    assert_eq!(tree(world.path("state/issue-debt/snapshots")), case.new);
}

#[test]
fn a_refused_rename_is_named_and_the_old_state_stays() {
    // anthropics/claude-code#29217: another program holds the file.
    for effect in ["eperm", "eacces", "ebusy", "erofs"] {
        let case = Case::onto_a_state();
        let (world, command) = case.command();
        let out = command.env("HOST_FAULTS", &format!("rename:1:{effect}")).run().refused("WRITE_FAILED");
        assert!(out.stderr().contains("snapshot.json"), "{out}");
        assert_eq!(tree(world.path("state/issue-debt/snapshots")), case.old);
    }
}

#[test]
fn a_missing_artifact_is_rebuilt_from_the_snapshot_with_a_warning() {
    for name in ["summary.json", "status.md"] {
        let (world, command) = Case::onto_a_state().command();
        std::fs::remove_file(world.debt().path(&format!("snapshots/{name}"))).unwrap();
        let out = command.run().succeeds();
        assert!(out.warning("artifacts_repaired").is_some_and(|warning| warning.contains(name)), "{out}");
        assert!(world.debt().fold_json()["warnings"].to_string().contains("artifacts_repaired"));
    }
}

#[test]
fn the_high_water_mark_survives_a_repair() {
    let case = Case::onto_a_state();
    let (world, command) = case.command();
    // The snapshot is in place, its fold.json is not.
    assert!(command.env("HOST_FAULTS", "rename:4:kill").run().killed());
    world.debt().fold(&Export::tail()).succeeds();
    assert_eq!(world.debt().fold_json()["high_water"]["observed_at"], "2026-09-18T19:00:00Z");
}
