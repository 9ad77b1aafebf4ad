//! `init`: what it announces, what it makes, what it leaves alone (L 10.1, L 10.3, L 10.4, D11).

use std::collections::BTreeSet;
use std::fs;

use host_tests::{Export, Message, Observation, World};
use serde_json::{Value, json};

/// Every rejection reason, spelled out (L 10.4 with D11).
const REASONS: [&str; 19] = [
    "actor_differs_from_author",
    "duplicate_key",
    "entity_is_pr",
    "entity_mismatch",
    "future_timestamp",
    "invalid_confidence",
    "invalid_field_value",
    "invalid_record",
    "invalid_timestamp",
    "ledger_mismatch",
    "missing_actor",
    "missing_evidence",
    "naive_timestamp",
    "non_utc_timestamp",
    "observation_id_mismatch",
    "unknown_field",
    "unknown_key",
    "unparsable_envelope",
    "unsupported_schema_version",
];

#[track_caller]
fn check_announcement(ledger: &str, workspace: &str) {
    let world = World::new();
    let state = world.state();
    let out = world.host(["run", ledger, "init", "--state-dir", &state]).succeeds();
    let expected = format!(
        r##"# {ledger} -> dashboard {workspace}
#   append_observation: roosync_dashboard(action:"append", type:"workspace", workspace:"{workspace}", content:"[OBS] {{...}}")
#   read_journal: roosync_dashboard(action:"read", type:"workspace", workspace:"{workspace}", section:"all")
#   write_snapshot: roosync_dashboard(action:"update", type:"workspace", workspace:"{workspace}", section:"status", content:"<snapshots/status.md>")   # ai-01 ONLY
DRY-RUN: would create 6 path(s) under {state} (pass --apply)
  {state}/config.json
  {state}/{ledger}
  {state}/{ledger}/spool
  {state}/{ledger}/snapshots
  {state}/{ledger}/baseline.json
  {state}/{ledger}/schema.json
"##
    );
    assert_eq!(out.stdout(), expected);
    assert!(!fs::exists(&state).unwrap(), "a dry run makes nothing");
}

#[test]
fn a_dry_run_for_issues_announces_the_calls_and_paths_and_makes_nothing() {
    check_announcement("issue-debt", "CoursIA-issue-debt-ledger");
}

#[test]
fn a_dry_run_for_devices_announces_the_calls_and_paths_and_makes_nothing() {
    check_announcement("gpu-reservation", "CoursIA-gpu-reservation-ledger");
}

#[test]
fn apply_makes_exactly_the_announced_paths() {
    let world = World::new();
    let out = world.debt().run("init", ["--apply"]).succeeds();
    assert!(out.stdout().contains(&format!("\nAPPLIED: local state tree at {}\n", world.state())), "{out}");
    let made: Vec<_> = world.stored().into_keys().collect();
    let expected = [
        "config.json",
        "issue-debt/",
        "issue-debt/baseline.json",
        "issue-debt/schema.json",
        "issue-debt/snapshots/",
        "issue-debt/spool/",
    ];
    assert_eq!(made, expected);
}

#[test]
fn both_ledgers_share_one_state_directory() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let config = world.read("state/config.json");
    world.gpu().run("init", ["--apply"]).succeeds();
    assert_eq!(world.read("state/config.json"), config);
    assert_eq!(world.read_json("state/gpu-reservation/baseline.json")["ledger"], "gpu-reservation");
    assert_eq!(world.read_json("state/issue-debt/baseline.json")["ledger"], "issue-debt");
}

#[test]
fn apply_twice_changes_nothing() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let before = world.stored();
    world.debt().run("init", ["--apply"]).succeeds();
    assert_eq!(world.stored(), before);
}

#[test]
fn a_configuration_and_a_baseline_that_exist_are_kept_and_the_schema_is_written_anew() {
    let world = World::new();
    world.write("state/config.json", "{\"mine\": true}");
    world.write("state/issue-debt/baseline.json", "hand-written");
    world.write("state/issue-debt/schema.json", "old");
    world.debt().run("init", ["--apply"]).succeeds();
    assert_eq!(world.read("state/config.json"), "{\"mine\": true}");
    assert_eq!(world.read("state/issue-debt/baseline.json"), "hand-written");
    assert_eq!(world.read_json("state/issue-debt/schema.json")["schema"], "debt-ledger-schema/v1");
}

#[test]
fn the_seeds_are_the_defaults_in_order() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let expected = r#"{
  "schema": "debt-ledger-config/v1",
  "ledgers": {
    "issue-debt": {
      "workspace": "CoursIA-issue-debt-ledger",
      "snapshot_section": "status"
    },
    "gpu-reservation": {
      "workspace": "CoursIA-gpu-reservation-ledger",
      "snapshot_section": "status"
    }
  },
  "history_max_entries_per_field": 25,
  "observation_ids_recent_max": 200,
  "status_max_rows": 12,
  "stale_observation_hours": 72,
  "max_clock_skew_minutes": 15
}
"#;
    assert_eq!(world.read("state/config.json"), expected);
    let expected = r#"{
  "schema": "debt-ledger-baseline/v1",
  "generated_at": "2026-10-01T00:00:00Z",
  "actor": "baseline",
  "confidence": "medium",
  "evidence": "hand-authored baseline",
  "rows": [],
  "ledger": "issue-debt"
}
"#;
    assert_eq!(world.read("state/issue-debt/baseline.json"), expected);
}

#[test]
fn the_seeds_are_good_inputs_of_a_fold() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let out = world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
    assert_eq!(out.warnings(), [""; 0]);
    assert_eq!(world.debt().keys(), ["o/r#1"]);
}

#[test]
fn the_schema_describes_both_ledgers() {
    let world = World::new();
    world.gpu().run("init", ["--apply"]).succeeds();
    let schema = world.read_json("state/gpu-reservation/schema.json");
    let keys: Vec<_> = schema.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "schema",
        "generated_by",
        "envelopes",
        "transport",
        "ledgers",
        "observation_keys",
        "confidence_levels",
        "rejection_reasons",
        "generated_at",
        "ledger",
        "dashboard_calls",
    ];
    assert_eq!(keys, expected);
    let ledgers: Vec<_> = schema["ledgers"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(ledgers, ["issue-debt", "gpu-reservation"]);
    assert_eq!(schema["ledger"], "gpu-reservation");
    assert_eq!(schema["generated_at"], "2026-10-01T00:00:00Z");
    assert_eq!(schema["confidence_levels"], json!(["low", "medium", "high"]));
    assert_eq!(schema["transport"]["kind"], "roosync_dashboard_journal");
    assert_eq!(schema["transport"]["envelope_prefix"], "[OBS]");
    assert_eq!(schema["envelopes"]["journal_export"], "debt-ledger-journal-export/v1");
    let observation_keys = json!([
        "actor",
        "confidence",
        "entity",
        "evidence",
        "fields",
        "head_transition",
        "ledger",
        "message_id",
        "note",
        "observation_id",
        "observed_at",
        "schema"
    ]);
    assert_eq!(schema["observation_keys"], observation_keys);
}

#[test]
fn the_schema_describes_the_rows_of_each_ledger() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let schema = world.read_json("state/issue-debt/schema.json");
    let (debt, gpu) = (&schema["ledgers"]["issue-debt"], &schema["ledgers"]["gpu-reservation"]);
    assert_eq!(debt["workspace"], "CoursIA-issue-debt-ledger");
    assert_eq!(debt["entity_keys"], json!(["repo", "issue"]));
    assert_eq!(debt["row_key"], "owner/repo#N");
    assert_eq!(debt["terminal_values"], json!({"state_class": ["closed"]}));
    assert_eq!(gpu["entity_keys"], json!(["machine", "gpu_index"]));
    assert_eq!(gpu["row_key"], "<machine>#gpu<n>");
    assert_eq!(gpu["terminal_values"], json!({"state": ["released"]}));
    let fields = |ledger: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        ledger["fields"].as_array().unwrap().iter().map(|field| (text(&field["name"]), text(&field["kind"]))).collect()
    };
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
    };
    let expected = owned(&[
        ("state_class", "enum"),
        ("closeability", "enum"),
        ("remaining_atomic_prs", "int"),
        ("eat_hours", "hours"),
        ("dependencies", "dependencies"),
        ("followup", "followup"),
    ]);
    assert_eq!(fields(debt), expected);
    let expected = owned(&[
        ("state", "enum"),
        ("holder", "lane"),
        ("workload", "text"),
        ("started_at", "utc-timestamp"),
        ("expected_end", "utc-timestamp"),
        ("issue", "issue-ref"),
    ]);
    assert_eq!(fields(gpu), expected);
    assert_eq!(gpu["fields"][0]["values"], json!(["held", "released", "stale"]));
}

/// Rejections of one strict fold in which each message breaks another rule.
fn provoked() -> BTreeSet<String> {
    let good = || Observation::issue(7).field("eat_hours", 4);
    let bad = [
        good().key("schema", "v2"),
        good().key("surprise", 1),
        good().key("ledger", "gpu-reservation"),
        good().key("actor", Value::Null),
        good().at("yesterday"),
        good().at("2026-09-17T19:00:00"),
        good().at("2026-09-17T19:00:00+02:00"),
        good().at("2099-01-01T00:00:00Z"),
        good().key("confidence", "certain"),
        good().key("evidence", ""),
        good().key("entity", json!({})),
        good().key("evidence", "/pull/7"),
        good().key("fields", json!({})),
        good().field("typo", 1),
        good().field("eat_hours", "x"),
        good().key("observation_id", "obs-x"),
        good().by("po-2:w"),
    ];
    let export = Export::full()
        .with_all(&bad)
        .with(Message::new("[OBS] {"))
        .with(Message::new(r#"[OBS] {"actor":"a","actor":"b"}"#));
    let world = World::new();
    world.debt().fold_with(&export, ["--strict-author"]).succeeds();
    world.debt().reasons().into_iter().collect()
}

#[test]
fn the_schema_lists_every_reason_that_can_be_provoked_and_no_other() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let schema = world.read_json("state/issue-debt/schema.json");
    let reasons = schema["rejection_reasons"].as_array().unwrap();
    let listed: BTreeSet<_> = reasons.iter().map(|reason| reason.as_str().unwrap().to_owned()).collect();
    assert_eq!(listed.len(), reasons.len(), "a reason stands twice");
    assert_eq!(listed, REASONS.map(str::to_owned).into());
    assert_eq!(provoked(), listed);
}

#[test]
fn the_state_directory_is_the_flag_then_the_variable_then_the_bases() {
    let world = World::new();
    let check = |variables: &[(&str, &str)], expected: &str| {
        let mut command = world.command(["run", "issue-debt", "init"]);
        for (name, value) in variables {
            command = command.env(name, &if value.is_empty() { String::new() } else { world.path(value) });
        }
        let out = command.run().succeeds();
        assert!(out.stdout().contains(&format!("under {} (pass", world.path(expected))), "{out}");
    };
    check(&[], "home/.local/state/CoursIA/debt-ledgers");
    check(&[("XDG_STATE_HOME", "xdg")], "xdg/CoursIA/debt-ledgers");
    check(&[("XDG_STATE_HOME", "xdg"), ("LOCALAPPDATA", "app")], "app/CoursIA/debt-ledgers");
    check(&[("LOCALAPPDATA", "app"), ("COURSIA_LEDGER_STATE_DIR", "own")], "own");
    check(&[("COURSIA_LEDGER_STATE_DIR", ""), ("XDG_STATE_HOME", "")], "home/.local/state/CoursIA/debt-ledgers");
}
