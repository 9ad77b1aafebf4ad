//! Configuration values that make no sense are named and replaced by the default (N9, L 10.1).

use host_tests::{Export, Observation, Out, World};
use serde_json::json;

fn fold(world: &World, config: &str) -> Out {
    world.write("state/config.json", config);
    let hours = |value: u64, time: &str| Observation::issue(1).field("eat_hours", value).at(time);
    world.debt().fold(&Export::full().with(hours(1, "2026-09-17T19:00:00Z")).with(hours(2, "2026-09-17T20:00:00Z")))
}

#[track_caller]
fn ignored(key: &str, value: &str) {
    let world = World::new();
    let out = fold(&world, &format!(r#"{{"{key}":{value}}}"#)).succeeds();
    assert_eq!(out.warnings().len(), 1, "{out}");
    assert!(out.warnings()[0].starts_with(&format!("config_value_ignored: {key}")), "{out}");
    assert_eq!(world.debt().fold_json()["warnings"], json!(out.warnings()));
    assert_eq!(world.debt().row("o/r#1")["history"]["eat_hours"].as_array().unwrap().len(), 2);
}

#[track_caller]
fn accepted(config: &str) {
    let world = World::new();
    assert_eq!(fold(&world, config).succeeds().warnings(), [""; 0], "{config}");
}

#[test]
fn a_history_cap_is_an_integer_above_0() {
    for value in ["0", "-1", "null", "\"5\"", "[]", "true", "1.5", "99999999999999999999"] {
        ignored("history_max_entries_per_field", value);
    }
    accepted(r#"{"history_max_entries_per_field":1}"#);
}

#[test]
fn the_other_counts_are_integers_from_0() {
    for key in ["observation_ids_recent_max", "status_max_rows"] {
        for value in ["-1", "null", "\"5\"", "1.5", "{}"] {
            ignored(key, value);
        }
        accepted(&format!(r#"{{"{key}":0}}"#));
    }
}

#[test]
fn hours_may_be_fractional_and_have_an_upper_bound() {
    for value in ["-1", "87600.5", "1e9", "null", "\"72\""] {
        ignored("stale_observation_hours", value);
    }
    accepted(r#"{"stale_observation_hours":0.5}"#);
    accepted(r#"{"stale_observation_hours":87600}"#);
}

#[test]
fn the_skew_may_be_fractional_or_null() {
    for value in ["-1", "\"15\"", "[]", "true"] {
        ignored("max_clock_skew_minutes", value);
    }
    accepted(r#"{"max_clock_skew_minutes":null}"#);
    accepted(r#"{"max_clock_skew_minutes":0.5}"#);
    accepted(r#"{"max_clock_skew_minutes":1e300}"#);
    accepted(r#"{"max_clock_skew_minutes":9223372036854775807}"#);
}

#[test]
fn a_root_that_is_no_object_gives_the_defaults_with_a_warning() {
    for root in ["5", "\"x\"", "[1]", "true"] {
        let out = fold(&World::new(), root).succeeds();
        assert!(out.warning("config_value_ignored").is_some(), "{root}: {out}");
    }
    for root in ["null", "{}", "[]"] {
        accepted(root);
    }
}

#[test]
fn a_configuration_that_is_not_json_is_refused() {
    for text in ["", "{", r#"{"status_max_rows":NaN}"#, r#"{"a":1,"a":2}"#] {
        fold(&World::new(), text).refused("INVALID_JSON");
    }
}

#[test]
fn a_configuration_that_is_not_json_is_named_by_its_path() {
    let world = World::new();
    let out = fold(&world, "{").refused("INVALID_JSON");
    assert!(out.stderr().contains(&world.path("state/config.json")), "{out}");
}

#[test]
fn the_workspace_is_the_configured_one_or_the_built_in_one() {
    let check = |config: &str, expected: &str| {
        let world = World::new();
        fold(&world, config).succeeds();
        assert_eq!(world.debt().snapshot()["workspace"], expected, "{config}");
    };
    check(r#"{"ledgers":{"issue-debt":{"workspace":"mine"}}}"#, "mine");
    for config in [
        r#"{"ledgers":5}"#,
        r#"{"ledgers":{"issue-debt":5}}"#,
        r#"{"ledgers":{"issue-debt":{"workspace":""}}}"#,
        r#"{"ledgers":{"issue-debt":{"workspace":5}}}"#,
        r#"{"ledgers":{"issue-debt":{}}}"#,
        r#"{"unknown":1}"#,
    ] {
        check(config, "CoursIA-issue-debt-ledger");
    }
}
