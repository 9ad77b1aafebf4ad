//! `spool --status` (L 10.3, L 12, N17).

use host_tests::{Observation, Out, World};
use serde_json::json;

/// Appends an observation about issue `number` into the spool.
#[track_caller]
fn spool(world: &World, number: u64, time: &str) {
    let file = world.write("observation.json", Observation::issue(number).field("eat_hours", 1).at(time).text());
    world.debt().run("append", ["--observation-file", &file, "--spool"]).succeeds();
}

fn status(world: &World) -> Out {
    world.debt().run("spool", ["--status"])
}

fn initialised() -> World {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    world
}

#[test]
fn without_any_spool_folder_the_tree_is_uninitialised() {
    let world = World::new();
    status(&world).refused("UNINITIALISED_STATE_DIR");
}

#[test]
fn an_empty_spool_has_nothing_pending_in_either_ledger() {
    let expected = "issue-debt: pending=0 oldest_observed_at=-\ngpu-reservation: pending=0 oldest_observed_at=-\n";
    assert_eq!(status(&initialised()).succeeds().stdout(), expected);
}

#[test]
fn pending_observations_are_counted_with_the_oldest_instant() {
    let world = initialised();
    spool(&world, 1, "2026-09-17T19:00:00.5Z");
    spool(&world, 2, "2026-09-17T19:00:00Z");
    spool(&world, 3, "2026-09-18T19:00:00Z");
    let out = status(&world).succeeds();
    assert_eq!(out.stdout().lines().next(), Some("issue-debt: pending=3 oldest_observed_at=2026-09-17T19:00:00Z"));
}

#[test]
fn superseded_files_are_not_pending_and_hidden_ones_are() {
    let world = initialised();
    spool(&world, 1, "2026-09-17T19:00:00Z");
    let line = world.debt().run("append", ["--observation-file", &world.path("observation.json")]).succeeds();
    world.write("state/issue-debt/spool/.superseded-x.json", "not even JSON");
    world.write("state/issue-debt/spool/notes.txt", "not even JSON");
    world.write("state/issue-debt/spool/.hidden.json", line.stdout());
    let out = status(&world).succeeds();
    assert!(out.stdout().starts_with("issue-debt: pending=2 "), "{out}");
}

#[test]
fn the_prefix_is_optional_in_a_file() {
    let world = initialised();
    spool(&world, 1, "2026-09-17T19:00:00Z");
    let out = world.debt().run("append", ["--observation-file", &world.path("observation.json")]).succeeds();
    let bare = out.stdout().strip_prefix("[OBS] ").unwrap().to_owned();
    world.write("state/issue-debt/spool/bare.json", bare);
    assert!(status(&world).succeeds().stdout().starts_with("issue-debt: pending=2 "));
}

#[test]
fn a_file_that_is_no_valid_observation_is_named() {
    let id = "obs-0000000000000000";
    let good = Observation::issue(1).field("eat_hours", 1).key("ledger", "issue-debt");
    let cases = [
        String::new(),
        "[OBS]".to_owned(),
        "{".to_owned(),
        "[]".to_owned(),
        good.text(),
        good.clone().key("observation_id", id).text(),
        good.clone().key("ledger", json!([])).key("observation_id", id).text(),
        good.clone().key("ledger", "unheard-of").key("observation_id", id).text(),
        good.clone().key("fields", json!({})).key("observation_id", id).text(),
    ];
    for text in cases {
        let world = initialised();
        world.write("state/issue-debt/spool/bad.json", &text);
        let out = status(&world).refused("INVALID_SPOOL");
        assert!(out.stderr().contains("bad.json"), "{text}\n{out}");
    }
}

#[test]
fn an_envelope_in_the_spool_of_another_ledger_is_counted_and_warned_about() {
    let world = initialised();
    world.gpu().run("init", ["--apply"]).succeeds();
    let file = world.write("observation.json", Observation::gpu(0).field("state", "held").text());
    let line = world.gpu().run("append", ["--observation-file", &file]).succeeds();
    let path = world.write("state/issue-debt/spool/x.json", line.stdout());
    let out = status(&world).succeeds();
    assert_eq!(out.warnings().len(), 1, "{out}");
    assert!(out.warnings()[0].starts_with(&format!("spool_misfiled: {path}")), "{out}");
    let expected = "issue-debt: pending=0 oldest_observed_at=-\ngpu-reservation: pending=1 oldest_observed_at=2026-09-17T19:00:00Z\n";
    assert_eq!(out.stdout(), expected);
}

#[test]
fn another_folder_may_hold_both_ledgers_and_need_not_exist() {
    let world = World::new();
    let folder = world.path("outbox");
    let out = world.debt().run("spool", ["--status", "--out-dir", &folder]).succeeds();
    assert!(out.stdout().starts_with("issue-debt: pending=0 "), "{out}");
    let debt = world.write("debt.json", Observation::issue(1).field("eat_hours", 1).text());
    let gpu = world.write("gpu.json", Observation::gpu(0).field("state", "held").text());
    world.debt().run("append", ["--observation-file", &debt, "--out-dir", &folder]).succeeds();
    world.gpu().run("append", ["--observation-file", &gpu, "--out-dir", &folder]).succeeds();
    let out = world.gpu().run("spool", ["--status", "--out-dir", &folder]).succeeds();
    assert_eq!(out.warnings(), [""; 0]);
    let counts: Vec<_> = out.stdout().lines().map(|line| line.split(" oldest").next().unwrap_or_default()).collect();
    assert_eq!(counts, ["issue-debt: pending=1", "gpu-reservation: pending=1"]);
}

#[test]
fn reading_the_spool_changes_nothing() {
    let world = initialised();
    spool(&world, 1, "2026-09-17T19:00:00Z");
    let before = world.stored();
    status(&world).succeeds();
    assert_eq!(world.stored(), before);
}
