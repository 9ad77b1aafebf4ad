//! The baseline (L 6, N6, N8).

use host_tests::{Export, Observation, Out, World};
use serde_json::{Value, json};

fn header() -> Value {
    json!({"schema": "debt-ledger-baseline/v1", "ledger": "issue-debt", "generated_at": "2026-09-01T00:00:00Z"})
}

fn row() -> Value {
    json!({"entity": {"repo": "o/r", "issue": 1}, "fields": {"eat_hours": 1}})
}

/// Folds a baseline and nothing else.
fn fold(world: &World, baseline: &str) -> Out {
    world.write("state/issue-debt/baseline.json", baseline);
    world.debt().run("reduce", ["--no-events"])
}

#[track_caller]
fn check(edit: &[(&str, Value)], expected: Result<(), &str>) {
    let mut baseline = header();
    for (key, value) in edit {
        baseline[*key] = value.clone();
    }
    let out = fold(&World::new(), &baseline.to_string());
    match expected {
        Ok(()) => drop(out.succeeds()),
        Err(code) => drop(out.refused(code)),
    }
}

#[test]
fn rows_take_what_they_leave_out_from_the_header() {
    let world = World::new();
    let mut baseline = header();
    baseline["rows"] = json!([row()]);
    fold(&world, &baseline.to_string()).succeeds();
    let provenance = world.debt().row("o/r#1")["provenance"]["eat_hours"].clone();
    assert_eq!(provenance["source"], "baseline");
    assert_eq!(provenance["actor"], "baseline");
    assert_eq!(provenance["confidence"], "medium");
    assert_eq!(provenance["evidence"], "baseline");
    assert_eq!(provenance["observed_at"], "2026-09-01T00:00:00Z");
    baseline["actor"] = json!("ai-01");
    baseline["confidence"] = json!("high");
    baseline["evidence"] = json!("read");
    baseline["rows"][0]["observed_at"] = json!("2026-09-02T00:00:00Z");
    let world = World::new();
    fold(&world, &baseline.to_string()).succeeds();
    let provenance = world.debt().row("o/r#1")["provenance"]["eat_hours"].clone();
    assert_eq!((&provenance["actor"], &provenance["confidence"]), (&json!("ai-01"), &json!("high")));
    assert_eq!((&provenance["evidence"], &provenance["observed_at"]), (&json!("read"), &json!("2026-09-02T00:00:00Z")));
    assert_eq!(world.debt().snapshot()["checkpoint"]["folded"]["baseline_rows"], 1);
}

#[test]
fn the_header_is_checked() {
    check(&[], Ok(()));
    check(&[("schema", json!("v9"))], Err("UNSUPPORTED_BASELINE_SCHEMA"));
    check(&[("schema", json!(null))], Err("UNSUPPORTED_BASELINE_SCHEMA"));
    check(&[("ledger", json!("gpu-reservation"))], Err("BASELINE_LEDGER_MISMATCH"));
    check(&[("ledger", json!(null))], Err("BASELINE_LEDGER_MISMATCH"));
    check(&[("generated_at", json!("2026-09-01"))], Err("INVALID_BASELINE"));
    check(&[("generated_at", json!(null))], Err("INVALID_BASELINE"));
    check(&[("rows", json!({}))], Err("INVALID_BASELINE"));
    check(&[("rows", json!("x"))], Err("INVALID_BASELINE"));
    check(&[("rows", json!([]))], Ok(()));
}

#[test]
fn a_root_that_is_no_object_is_invalid() {
    for root in ["[]", "1", "\"x\""] {
        fold(&World::new(), root).refused("INVALID_BASELINE");
    }
}

#[test]
fn the_first_bad_row_is_named_with_its_reason() {
    let world = World::new();
    let mut baseline = header();
    baseline["rows"] = json!([row(), row(), row()]);
    baseline["rows"][1]["fields"]["typo"] = json!(1);
    baseline["rows"][2]["confidence"] = json!("certain");
    let out = fold(&world, &baseline.to_string()).refused("INVALID_BASELINE");
    assert!(out.stderr().contains("baseline.rows[1]") && out.stderr().contains("unknown_field"), "{out}");
}

#[test]
fn an_unreadable_baseline_is_refused() {
    let world = World::new();
    fold(&world, "{").refused("INVALID_JSON");
    let twice = header().to_string().replacen('{', r#"{"rows":[],"rows":[],"#, 1);
    fold(&world, &twice).refused("INVALID_JSON");
}

#[test]
fn a_baseline_that_is_not_json_is_named_by_its_path() {
    let world = World::new();
    let out = fold(&world, "{").refused("INVALID_JSON");
    assert!(out.stderr().contains(&world.path("state/issue-debt/baseline.json")), "{out}");
}

#[test]
fn a_baseline_named_by_flag_is_read_and_must_exist() {
    let world = World::new();
    let mut baseline = header();
    baseline["rows"] = json!([row()]);
    let file = world.write("elsewhere.json", baseline.to_string());
    world.debt().run("reduce", ["--no-events", "--baseline", &file]).succeeds();
    assert_eq!(world.debt().keys(), ["o/r#1"]);
    let out =
        world.debt().run("reduce", ["--no-events", "--baseline", &world.path("nowhere")]).refused("UNREADABLE_INPUT");
    assert!(out.stderr().contains("nowhere"), "{out}");
}

#[test]
fn the_journal_beats_an_older_baseline_and_not_a_newer_one() {
    for (time, expected) in [("2026-08-31T00:00:00Z", 1.0), ("2026-09-02T00:00:00Z", 5.0)] {
        let world = World::new();
        let mut baseline = header();
        baseline["rows"] = json!([row()]);
        world.write("state/issue-debt/baseline.json", baseline.to_string());
        world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 5).at(time))).succeeds();
        assert_eq!(world.debt().row("o/r#1")["fields"]["eat_hours"], json!(expected), "{time}");
    }
}

#[test]
fn a_baseline_row_that_clashes_with_the_checkpoint_is_rejected_and_what_was_folded_stays() {
    let world = World::new();
    let seen = |hours: u64, time: &str| {
        json!({"entity": {"repo": "o/r", "issue": 1}, "observed_at": time,
        "fields": {"eat_hours": hours}})
    };
    let mut baseline = header();
    baseline["rows"] = json!([seen(1, "2026-09-02T00:00:00Z"), seen(2, "2026-09-03T00:00:00Z")]);
    fold(&world, &baseline.to_string()).succeeds();
    let mut snapshot = world.debt().snapshot();
    snapshot["rows"][0]["history"]["eat_hours"][0]["value"] = json!(7.0);
    world.write("state/issue-debt/snapshots/snapshot.json", snapshot.to_string());
    fold(&world, &baseline.to_string()).succeeds();
    assert_eq!(world.debt().rejections(), [("baseline".to_owned(), "observation_id_mismatch".to_owned())]);
    assert_eq!(world.debt().row("o/r#1")["history"]["eat_hours"][0]["value"], 7.0);
}
