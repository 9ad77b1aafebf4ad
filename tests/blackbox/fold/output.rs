//! What `reduce` prints and writes, and where (L 10.3, N6, N22).

use std::fs::{self, File};

use host_tests::{Export, Message, Observation, World, tree};
use serde_json::json;

fn export() -> Export {
    Export::full().with(Observation::issue(1).field("eat_hours", 1)).with(Message::new("[OBS]"))
}

fn names(world: &World, folder: &str) -> Vec<String> {
    tree(world.path(folder)).into_keys().collect()
}

#[test]
fn a_fold_writes_the_four_files_and_prints_the_status() {
    let world = World::new();
    let out = world.debt().fold(&export()).succeeds();
    let first = format!("WROTE 1 row(s), 1 rejection(s) under {}/issue-debt\n", world.state());
    assert_eq!(out.stdout(), format!("{first}{}", world.debt().status()));
    let expected = [
        "issue-debt/",
        "issue-debt/.fold.lock",
        "issue-debt/snapshots/",
        "issue-debt/snapshots/fold.json",
        "issue-debt/snapshots/snapshot.json",
        "issue-debt/snapshots/status.md",
        "issue-debt/snapshots/summary.json",
    ];
    assert_eq!(names(&world, "state"), expected);
}

#[test]
fn a_dry_run_prints_the_status_and_makes_nothing() {
    let world = World::new();
    let dry = world.debt().fold_with(&export(), ["--dry-run"]).succeeds();
    assert!(!fs::exists(world.state()).unwrap());
    let first = format!("DRY-RUN: 1 row(s), 1 rejection(s), nothing written (state dir {})\n", world.state());
    world.debt().fold(&export()).succeeds();
    assert_eq!(dry.stdout(), format!("{first}{}", world.debt().status()));
}

#[test]
fn stdout_prints_summary_and_status_and_makes_nothing() {
    let world = World::new();
    for flags in [vec!["--stdout"], vec!["--stdout", "--dry-run"]] {
        let out = world.debt().fold_with(&export(), flags).succeeds();
        assert!(!fs::exists(world.state()).unwrap());
        let other = World::new();
        other.debt().fold(&export()).succeeds();
        let summary = other.read(&other.debt().file("snapshots/summary.json"));
        assert_eq!(out.stdout(), format!("{summary}{}", other.debt().status()));
    }
}

#[test]
fn a_dry_run_warns_too() {
    let world = World::new();
    let export =
        Export::full().with(Message::from(Observation::issue(1).field("eat_hours", 1)).key("author", "po-2:x"));
    let out = world.debt().fold_with(&export, ["--dry-run"]).succeeds();
    assert_eq!(out.warnings(), ["actor_differs_from_author: 1 observation(s)"]);
}

#[test]
fn rejections_fail_the_command_only_when_asked_and_after_writing() {
    let world = World::new();
    world.debt().fold(&export()).succeeds();
    let out = world.debt().fold_with(&export(), ["--fail-on-rejections"]);
    assert_eq!(out.code(), 1);
    assert!(out.stderr().lines().any(|line| line == "FAIL: 1 observation(s) rejected"), "{out}");
    assert!(out.stdout().starts_with("WROTE 1 row(s), 1 rejection(s)"), "{out}");
    assert_eq!(world.debt().fold_json()["generation"], 2);
    let clean = Export::full().with(Observation::issue(1).field("eat_hours", 1));
    world.debt().fold_with(&clean, ["--fail-on-rejections"]).succeeds();
}

#[test]
fn an_artifact_that_is_switched_off_is_left_as_it_was() {
    let world = World::new();
    world.debt().fold(&export()).succeeds();
    let before = tree(world.path("state/issue-debt/snapshots"));
    let more = Export::full().with(Observation::issue(2).field("eat_hours", 1));
    world.debt().fold_with(&more, ["--no-summary", "--no-status"]).succeeds();
    let after = tree(world.path("state/issue-debt/snapshots"));
    assert_eq!(after["summary.json"], before["summary.json"]);
    assert_eq!(after["status.md"], before["status.md"]);
    assert_ne!(after["snapshot.json"], before["snapshot.json"]);
    assert_eq!(world.debt().keys(), ["o/r#1", "o/r#2"]);
    // A file that was left out on purpose is no damage.
    let out = world.debt().fold(&more).succeeds();
    assert_eq!(out.warning("artifacts_repaired"), None);
    assert_eq!(world.debt().summary()["rows"]["total"], 2);
}

#[test]
fn outputs_elsewhere_leave_the_default_place_alone() {
    let world = World::new();
    world.debt().fold(&export()).succeeds();
    let before = tree(world.path("state/issue-debt/snapshots"));
    let (snapshot, summary, status) = (world.path("o/s.json"), world.path("o/deep/sum.json"), world.path("o/st.md"));
    let flags = ["--out", &snapshot, "--summary-out", &summary, "--status-out", &status];
    let more = Export::full().with(Observation::issue(2).field("eat_hours", 1));
    world.debt().fold_with(&more, flags).succeeds();
    assert_eq!(tree(world.path("state/issue-debt/snapshots")), before);
    assert_eq!(world.read_json("o/s.json")["rows"].as_array().unwrap().len(), 2);
    assert_eq!(world.read_json("o/deep/sum.json")["rows"]["total"], 2);
    assert!(world.read("o/st.md").starts_with("[LEDGER] issue-debt @ "));
    let fold = world.read_json("o/s.json.fold.json");
    assert_eq!(fold["schema"], "debt-ledger-fold/v1");
    assert_eq!(fold["generation"], 2, "the prior is the one beside the snapshot that was read");
}

#[test]
fn a_snapshot_named_by_flag_is_read_and_never_written() {
    let world = World::new();
    world.debt().fold_with(&export(), ["--out", &world.path("elsewhere.json")]).succeeds();
    let before = world.read("elsewhere.json");
    let tail = Export::tail().with(Observation::issue(2).field("eat_hours", 1));
    world.debt().fold_with(&tail, ["--snapshot", &world.path("elsewhere.json")]).succeeds();
    assert_eq!(world.read("elsewhere.json"), before);
    assert_eq!(world.debt().keys(), ["o/r#1", "o/r#2"]);
}

#[test]
fn a_snapshot_named_by_flag_must_exist() {
    let world = World::new();
    let out = world.debt().fold_with(&export(), ["--snapshot", &world.path("nowhere")]).refused("UNREADABLE_INPUT");
    assert!(out.stderr().contains("nowhere"), "{out}");
    assert!(!fs::exists(world.debt().path("snapshots")).unwrap());
}

#[test]
fn two_state_directories_with_one_output_wait_for_each_other() {
    let world = World::new();
    let out = world.path("o/s.json");
    world.folder("o");
    let lock = File::create(world.path("o/s.json.lock")).unwrap();
    lock.lock().unwrap();
    let mut fold = world.debt().fold_command(&export()).args(["--out", &out]).start();
    fold.wait_until_open(&world.path("o/s.json.lock"));
    assert!(!fs::exists(&out).unwrap());
    lock.unlock().unwrap();
    fold.finish().succeeds();
    assert!(fs::exists(&out).unwrap());
}

#[test]
fn events_win_over_no_events() {
    let world = World::new();
    world.debt().fold_with(&export(), ["--no-events"]).succeeds();
    assert_eq!(world.debt().keys(), ["o/r#1"]);
}

#[test]
fn the_artifacts_are_the_same_wherever_they_are_written() {
    let one = World::new();
    one.debt().fold(&export()).succeeds();
    let two = World::new();
    two.debt().fold_with(&export(), ["--out", &two.path("x")]).succeeds();
    assert_eq!(two.read("x"), one.read("state/issue-debt/snapshots/snapshot.json"));
}

#[test]
fn the_row_of_a_snapshot_has_its_keys_in_order() {
    let world = World::new();
    world.debt().fold(&export()).succeeds();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let snapshot = world.debt().snapshot();
    assert_eq!(keys(&snapshot), "schema ledger workspace generated_at counts rows rejections warnings checkpoint");
    let row = &snapshot["rows"][0];
    let expected = "key ledger entity historical fields provenance history missing_fields last_observed_at contributions \
                    diagnostics stale";
    assert_eq!(keys(row), expected);
    assert_eq!(
        row["missing_fields"],
        json!(["closeability", "dependencies", "followup", "remaining_atomic_prs", "state_class"])
    );
}

#[test]
fn the_default_place_by_another_name_is_the_default_place() {
    let world = World::new();
    world.debt().fold(&export()).succeeds();
    let state = world.state();
    std::os::unix::fs::symlink(&state, world.path("link")).unwrap();
    for spelled in [
        world.debt().path("snapshots/snapshot.json"),
        world.path("link/issue-debt/snapshots/snapshot.json"),
        "../state/issue-debt/spool/../snapshots/snapshot.json".to_owned(),
    ] {
        world.debt().fold_with(&export(), ["--out", &spelled]).succeeds();
        world.debt().run("verify", [""; 0]).succeeds();
    }
    let out = world.debt().fold(&export()).succeeds();
    assert_eq!(out.warnings(), [""; 0]);
    assert_eq!(world.debt().fold_json()["generation"], 5);
    let names: Vec<_> = tree(world.debt().path("snapshots")).into_keys().collect();
    assert_eq!(names, ["fold.json", "snapshot.json", "status.md", "summary.json"]);
}

#[test]
fn a_snapshot_that_another_state_directory_wrote_here_is_followed_up() {
    let world = World::new();
    world.debt().fold(&export()).succeeds();
    let other = world.path("other");
    let file = world.write("e.json", export().text());
    let out = ["--out", &world.debt().path("snapshots/snapshot.json")];
    let fold =
        ["run", "issue-debt", "reduce", "--events", &file, "--now", "2026-10-01T00:00:00Z", "--state-dir", &other];
    world.command(fold).args(out).run().succeeds();
    for generation in [2, 3] {
        let out = world.debt().fold(&export()).succeeds();
        assert_eq!(out.warnings(), [""; 0]);
        assert_eq!(world.debt().fold_json()["generation"], generation);
    }
    world.debt().run("verify", [""; 0]).succeeds();
}

#[test]
fn an_artifact_elsewhere_that_was_changed_is_told_and_left_alone() {
    let world = World::new();
    world.debt().fold_with(&export(), ["--summary-out", &world.path("o/sum.json")]).succeeds();
    world.write("o/sum.json", "mine");
    for flags in [&["--dry-run"][..], &[]] {
        let out = world.debt().fold_with(&export(), flags).succeeds();
        assert!(out.warning("artifacts_torn").is_some_and(|warning| warning.contains("o/sum.json")), "{out}");
        assert_eq!(out.warning("artifacts_repaired"), None, "{out}");
        assert_eq!(world.read("o/sum.json"), "mine");
    }
}

#[test]
fn two_files_of_one_fold_are_never_one() {
    #[track_caller]
    fn check(flags: &[&str]) {
        let world = World::new();
        world.debt().run("init", ["--apply"]).succeeds();
        world.debt().fold(&export()).succeeds();
        std::os::unix::fs::symlink(world.state(), world.path("link")).unwrap();
        let before = tree(world.path(""));
        let flags = flags.iter().map(|flag| flag.replace("WORLD", &world.path("")));
        let out = world.debt().fold_with(&export(), flags).misused();
        assert!(out.stderr().contains("one file"), "{out}");
        assert_eq!(tree(world.path("")), before);
    }
    check(&["--out", "WORLD/x", "--summary-out", "WORLD/x"]);
    check(&["--out", "WORLD/x", "--status-out", "WORLD/home/../x"]);
    check(&["--summary-out", "WORLD/x", "--status-out", "../x"]);
    check(&["--out", "WORLD/x", "--status-out", "WORLD/x.fold.json"]);
    check(&["--summary-out", "WORLD/state/issue-debt/snapshots/snapshot.json"]);
    check(&["--status-out", "WORLD/link/issue-debt/snapshots/fold.json"]);
    check(&["--status-out", "WORLD/state/issue-debt/.fold.lock"]);
    check(&["--summary-out", "WORLD/state/config.json"]);
    check(&["--summary-out", "WORLD/state/issue-debt/baseline.json"]);
    check(&["--out", "WORLD/export.json"]);
}

#[test]
fn an_output_that_is_switched_off_clashes_with_none() {
    let world = World::new();
    let (one, flags) = (world.path("x"), ["--no-summary", "--summary-out"]);
    world.debt().fold_with(&export(), ["--out", &one].into_iter().chain(flags).chain([one.as_str()])).succeeds();
    assert!(world.read("x").contains("debt-ledger-snapshot/v1"));
    world.debt().fold_with(&export(), ["--dry-run", "--out", &one, "--status-out", &one]).succeeds();
}

#[test]
fn the_prior_snapshot_may_be_replaced_where_it_lies() {
    let world = World::new();
    let one = world.path("x");
    world.debt().fold_with(&export(), ["--out", &one]).succeeds();
    let tail = Export::tail().with(Observation::issue(2).field("eat_hours", 1));
    world.debt().fold_with(&tail, ["--snapshot", &one, "--out", &one]).succeeds();
    assert_eq!(world.read_json("x")["rows"].as_array().unwrap().len(), 2);
    assert_eq!(world.read_json("x.fold.json")["generation"], 2);
}

#[test]
fn a_folder_in_the_place_of_one_artifact_keeps_all_of_them_as_they_were() {
    for name in ["snapshot.json", "summary.json", "status.md", "fold.json"] {
        let world = World::new();
        world.debt().fold(&export()).succeeds();
        let place = world.debt().path(&format!("snapshots/{name}"));
        fs::remove_file(&place).unwrap();
        world.write(&world.debt().file(&format!("snapshots/{name}/x")), "");
        let before = world.stored();
        let out = world.debt().fold(&export());
        assert_eq!(out.code(), 1, "{out}");
        assert!(out.stderr().contains(&place), "{out}");
        assert_eq!(world.stored(), before, "{name}");
    }
}
