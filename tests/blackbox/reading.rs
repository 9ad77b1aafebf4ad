//! `show`, `history` and `verify`: the stored state for a person and for a program (issue point 3, DECISIONS 6.7).

use std::fs;

use host_tests::{Export, Message, Observation, World, tree};
use serde_json::json;

/// A ledger of devices: one hold in time, one overdue, one released.
fn devices() -> World {
    let world = World::new();
    let held = |index: u64, end: &str| {
        Observation::gpu(index)
            .at("2026-09-29T00:00:00Z")
            .field("state", "held")
            .field("holder", "a:x")
            .field("expected_end", end)
    };
    let export = Export::full()
        .with(held(0, "2026-10-02T00:00:00Z"))
        .with(held(1, "2026-09-30T00:00:00Z"))
        .with(Observation::gpu(2).at("2026-09-29T00:00:00Z").field("state", "released"));
    world.gpu().fold(&export).succeeds();
    world
}

/// A ledger of issues in which `o/r#1` was said to need 4, then 5 hours.
fn issues() -> World {
    let world = World::new();
    let said = |hours: u64, time: &str, actor: &str, evidence: &str| {
        let said = Observation::issue(1).field("eat_hours", hours).at(time).by(actor).key("evidence", evidence);
        Message::from(said).without("author")
    };
    let export = Export::full()
        .with(said(4, "2026-09-17T19:00:00Z", "po-1:w", "first look"))
        .with(said(5, "2026-09-18T19:00:00Z", "po-2:x", "second look").without("author"))
        .with(Observation::issue(1).field("state_class", "open-blocked"));
    world.debt().fold(&export).succeeds();
    world
}

#[test]
fn show_lists_the_live_rows_and_marks_the_overdue_one() {
    let out = devices().gpu().run("show", [""; 0]).succeeds();
    let line = |key: &str| out.stdout().lines().find(|line| line.contains(key)).map(str::to_lowercase);
    assert!(line("m#gpu1").is_some_and(|line| line.contains("overdue")), "{out}");
    assert!(line("m#gpu0").is_some_and(|line| !line.contains("overdue")), "{out}");
    assert_eq!(line("m#gpu2"), None, "{out}");
}

#[test]
fn show_marks_a_stale_row() {
    let world = World::new();
    let seen = |number: u64, time: &str| Observation::issue(number).field("eat_hours", 1).at(time);
    let export = Export::full().with(seen(1, "2026-09-01T00:00:00Z")).with(seen(2, "2026-09-30T00:00:00Z"));
    world.debt().fold(&export).succeeds();
    let out = world.debt().run("show", [""; 0]).succeeds();
    let line = |key: &str| out.stdout().lines().find(|line| line.contains(key)).map(str::to_lowercase);
    assert!(line("o/r#1").is_some_and(|line| line.contains("stale")), "{out}");
    assert!(line("o/r#2").is_some_and(|line| !line.contains("stale")), "{out}");
}

#[test]
fn show_as_json_is_for_a_program() {
    let json = devices().gpu().run("show", ["--json"]).succeeds().json();
    let text = json.to_string();
    assert!(text.contains("m#gpu0") && text.contains("m#gpu1"), "{text}");
    assert!(text.contains("2026-09-30T00:00:00Z"), "{text}");
}

#[test]
fn history_tells_who_said_what_when_from_what_evidence_and_what_won() {
    let out = issues().debt().run("history", ["o/r#1", "eat_hours"]).succeeds();
    for word in
        ["po-1:w", "po-2:x", "2026-09-17T19:00:00Z", "2026-09-18T19:00:00Z", "first look", "second look", "4", "5"]
    {
        assert!(out.stdout().contains(word), "{word}\n{out}");
    }
    assert!(!out.stdout().contains("state_class"), "{out}");
    let all = issues().debt().run("history", ["o/r#1"]).succeeds();
    assert!(all.stdout().contains("state_class") && all.stdout().contains("eat_hours"), "{all}");
}

#[test]
fn history_as_json_has_every_entry() {
    let json = issues().debt().run("history", ["o/r#1", "eat_hours", "--json"]).succeeds().json();
    let text = json.to_string();
    for word in ["po-1:w", "po-2:x", "first look", "second look"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    let applied = json["history"]["eat_hours"].as_array().unwrap().iter().map(|entry| entry["applied"].clone());
    assert_eq!(applied.collect::<Vec<_>>(), [false, true]);
}

#[test]
fn history_of_an_unknown_row_or_field_is_refused_by_name() {
    let world = issues();
    for arguments in [vec!["o/r#2"], vec!["o/r#1", "no_such_field"]] {
        let out = world.debt().run("history", &arguments);
        assert!([1, 2].contains(&out.code()), "{out}");
        assert_eq!(out.stdout(), "");
        assert!(out.stderr().contains(arguments[arguments.len() - 1]), "{out}");
    }
}

#[test]
fn without_a_snapshot_there_is_nothing_to_read() {
    let world = World::new();
    world.debt().run("show", [""; 0]).refused("NO_SNAPSHOT");
    world.debt().run("history", ["o/r#1"]).refused("NO_SNAPSHOT");
    assert!(!fs::exists(world.state()).unwrap());
}

#[test]
fn reading_changes_nothing() {
    let world = issues();
    let before = world.stored();
    world.debt().run("show", [""; 0]).succeeds();
    world.debt().run("history", ["o/r#1"]).succeeds();
    world.debt().run("verify", [""; 0]).succeeds();
    assert_eq!(world.stored(), before);
}

#[test]
fn control_letters_of_a_lane_do_not_reach_the_terminal() {
    let world = World::new();
    let held =
        Observation::gpu(0).field("state", "held").field("workload", "a\u{7}b\u{202e}c").key("evidence", "e\u{7}f");
    world.gpu().fold(&Export::full().with(held)).succeeds();
    for arguments in [vec!["show"], vec!["history", "m#gpu0"]] {
        let out = world.gpu().run(arguments[0], &arguments[1..]).succeeds();
        assert!(!out.stdout().contains('\u{7}') && !out.stdout().contains('\u{202e}'), "{out}");
    }
}

/// Verifies a ledger after `damage`; exit 1, the code, and `named` somewhere in what is said.
#[track_caller]
fn verify_names(damage: impl Fn(&World), named: &str) {
    let world = issues();
    world.debt().run("init", ["--apply"]).succeeds();
    let file = world.write("observation.json", Observation::issue(9).field("eat_hours", 1).text());
    world.debt().run("append", ["--observation-file", &file, "--spool"]).succeeds();
    world.debt().run("verify", [""; 0]).succeeds();
    damage(&world);
    let out = world.debt().run("verify", [""; 0]);
    assert_eq!(out.code(), 1, "{out}");
    assert_eq!(out.first_error_code(), "VERIFY_FAILED", "{out}");
    assert!(format!("{}{}", out.stdout(), out.stderr()).contains(named), "{named} is not named\n{out}");
}

/// Appends a blank to a file of the ledger.
fn touch_content(world: &World, name: &str) {
    let text = world.read(&world.debt().file(name));
    world.write(&world.debt().file(name), format!("{text} "));
}

#[test]
fn verify_names_the_artifact_that_was_changed() {
    for name in ["snapshot.json", "summary.json", "status.md"] {
        verify_names(|world| touch_content(world, &format!("snapshots/{name}")), name);
    }
}

#[test]
fn verify_names_the_artifact_that_is_gone() {
    for name in ["snapshot.json", "summary.json", "status.md"] {
        verify_names(|world| fs::remove_file(world.debt().path(&format!("snapshots/{name}"))).unwrap(), name);
    }
}

#[test]
fn verify_names_the_row_whose_state_is_not_what_its_history_says() {
    let edit = |world: &World| {
        let mut snapshot = world.debt().snapshot();
        snapshot["rows"][0]["fields"]["eat_hours"] = json!(9.0);
        world.write(&world.debt().file("snapshots/snapshot.json"), snapshot.to_string());
    };
    verify_names(edit, "o/r#1");
}

#[test]
fn verify_names_the_spool_file_whose_id_is_wrong() {
    let name = |world: &World| tree(world.debt().path("spool")).into_keys().next().unwrap();
    let edit = |world: &World| {
        let file = world.debt().file(&format!("spool/{}", name(world)));
        let text = world.read(&file).replace("gh issue view", "gh issue list");
        world.write(&file, text);
    };
    verify_names(edit, "spool");
}

#[test]
fn verify_names_the_baseline_row_whose_id_is_wrong() {
    let edit = |world: &World| {
        let row = Observation::issue(1).field("eat_hours", 1).key("observation_id", "obs-0000000000000000").json();
        let baseline = json!({"schema": "debt-ledger-baseline/v1", "ledger": "issue-debt",
            "generated_at": "2026-09-01T00:00:00Z", "rows": [row]});
        world.write("state/issue-debt/baseline.json", baseline.to_string());
    };
    verify_names(edit, "baseline");
}

#[test]
fn verify_as_json_is_for_a_program() {
    let world = issues();
    let json = world.debt().run("verify", ["--json"]).succeeds().json();
    assert!(json.to_string().contains("status.md"), "{json}");
    touch_content(&world, "snapshots/status.md");
    let out = world.debt().run("verify", ["--json"]);
    assert_eq!(out.code(), 1, "{out}");
    assert!(out.json().to_string().contains("status.md"), "{out}");
}

#[test]
fn json_for_a_program_reaches_a_terminal_unharmed_and_means_the_same() {
    let world = World::new();
    let (workload, evidence) = ("a\u{7}b\u{202e}c\u{7f}\u{9b}31m", "e\u{1b}[31m\u{2066}f");
    let seen = Observation::gpu(0).field("state", "held").field("workload", workload).key("evidence", evidence);
    world.gpu().fold(&Export::full().with(seen)).succeeds();
    let harmless = |c: char| c == '\n' || !(c.is_control() || ['\u{202e}', '\u{2066}'].contains(&c));
    let show = world.gpu().run("show", ["--json"]).succeeds();
    assert!(show.stdout().chars().all(harmless), "{show}");
    assert_eq!(show.json()[0]["fields"]["workload"], workload);
    let history = world.gpu().run("history", ["m#gpu0", "workload", "--json"]).succeeds();
    assert!(history.stdout().chars().all(harmless), "{history}");
    assert_eq!(history.json()["history"]["workload"][0]["evidence"], evidence);
}
