//! Observations ahead of their clock (D4). openfollowapp/openfollow#24: one fast clock must not freeze a field for ever.

use host_tests::{Export, Message, Observation, World};
use serde_json::{Value, json};

/// Folds one message sent at `sent` (none when empty) that observes at `observed`; the reasons. It is 1 October.
#[track_caller]
fn check(sent: &str, observed: &str, expected: &[&str]) {
    check_with_config("{}", sent, observed, expected);
}

#[track_caller]
fn check_with_config(config: &str, sent: &str, observed: &str, expected: &[&str]) {
    let world = World::new();
    world.write("state/config.json", config);
    let message = Message::from(Observation::issue(1).field("eat_hours", 1).at(observed));
    let message = if sent.is_empty() { message.without("timestamp") } else { message.at(sent) };
    world.debt().fold(&Export::full().with(message)).succeeds();
    assert_eq!(world.debt().reasons(), expected, "sent {sent}, observed {observed}, {config}");
}

#[test]
fn a_quarter_of_an_hour_ahead_of_the_message_passes_and_a_microsecond_more_does_not() {
    check("2026-09-20T12:00:00Z", "2026-09-20T12:15:00Z", &[]);
    check("2026-09-20T12:00:00Z", "2026-09-20T12:15:00.000001Z", &["future_timestamp"]);
    check("2026-09-20T12:00:00Z", "2036-09-20T12:00:00Z", &["future_timestamp"]);
}

#[test]
fn without_a_valid_message_time_now_is_the_base() {
    for sent in ["", "yesterday", "2026-09-20T12:00:00"] {
        check(sent, "2026-10-01T00:15:00Z", &[]);
        check(sent, "2026-10-01T00:15:00.000001Z", &["future_timestamp"]);
    }
}

#[test]
fn a_message_from_the_future_is_judged_by_now() {
    check("2099-01-01T00:00:00Z", "2099-01-01T00:00:00Z", &["future_timestamp"]);
    check("2099-01-01T00:00:00Z", "2026-10-01T00:15:00Z", &[]);
}

#[test]
fn the_allowed_skew_is_configured_and_may_be_switched_off() {
    let check = |config: &str, observed: &str, expected: &[&str]| {
        check_with_config(config, "2026-09-20T12:00:00Z", observed, expected);
    };
    check(r#"{"max_clock_skew_minutes":0}"#, "2026-09-20T12:00:00Z", &[]);
    check(r#"{"max_clock_skew_minutes":0}"#, "2026-09-20T12:00:00.000001Z", &["future_timestamp"]);
    check(r#"{"max_clock_skew_minutes":0.5}"#, "2026-09-20T12:00:30Z", &[]);
    check(r#"{"max_clock_skew_minutes":0.5}"#, "2026-09-20T12:00:31Z", &["future_timestamp"]);
    check(r#"{"max_clock_skew_minutes":null}"#, "2099-01-01T00:00:00Z", &[]);
}

#[test]
fn a_baseline_row_from_the_future_is_fatal() {
    let world = World::new();
    let baseline = |time: &str| {
        let row = json!({"entity": {"repo": "o/r", "issue": 1}, "fields": {"eat_hours": 1}, "observed_at": time});
        let header = json!({"schema": "debt-ledger-baseline/v1", "ledger": "issue-debt",
            "generated_at": "2026-09-17T19:00:00Z", "rows": [row]});
        world.write("state/issue-debt/baseline.json", header.to_string());
    };
    baseline("2026-10-01T00:15:00.000001Z");
    let out = world.debt().run("reduce", ["--no-events"]).refused("INVALID_BASELINE");
    assert!(out.stderr().contains("baseline.rows[0]") && out.stderr().contains("future_timestamp"), "{out}");
    baseline("2026-10-01T00:15:00Z");
    world.debt().run("reduce", ["--no-events"]).succeeds();
}

#[test]
fn what_a_checkpoint_holds_is_not_judged_again() {
    let world = World::new();
    world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
    let world = world.later("2026-01-01T00:00:00Z");
    world.debt().fold(&Export::tail()).succeeds();
    assert_eq!(world.debt().keys(), ["o/r#1"]);
}

#[test]
fn the_end_of_a_hold_may_lie_in_the_future() {
    let world = World::new();
    let held = Observation::gpu(0).field("state", "held").field("expected_end", "2099-01-01T00:00:00Z");
    world.gpu().fold(&Export::full().with(held.field("started_at", "2098-01-01T00:00:00Z"))).succeeds();
    assert_eq!(world.gpu().reasons(), [""; 0]);
}

#[test]
fn the_grammar_of_times_has_three_ways_to_fail() {
    // chronotope/humantime#75, time-rs/time#406 and their like.
    let cases = [
        ("2026-09-17T19:00:00Z", Ok("2026-09-17T19:00:00Z")),
        ("2026-09-17t19:00:00z", Ok("2026-09-17T19:00:00Z")),
        (" 2026-09-17 19:00:00-0000 ", Ok("2026-09-17T19:00:00Z")),
        ("2026-09-17T19:00:00.5+00:00", Ok("2026-09-17T19:00:00.500000Z")),
        ("2026-09-17T19:00:00.9999999Z", Ok("2026-09-17T19:00:00.999999Z")),
        ("2026-09-17T19:00:00.0000001Z", Ok("2026-09-17T19:00:00Z")),
        ("2024-02-29T00:00:00Z", Ok("2024-02-29T00:00:00Z")),
        ("2026-09-17T19:00:00", Err("naive_timestamp")),
        ("2026-13-01T00:00:00", Err("naive_timestamp")),
        ("2026-09-17T19:00:00+02:00", Err("non_utc_timestamp")),
        ("2026-02-30T00:00:00+02:00", Err("non_utc_timestamp")),
        ("2026-09-17T19:00:00.Z", Err("invalid_timestamp")),
        ("2026-09-17T19:00:00,5Z", Err("invalid_timestamp")),
        ("2026-09-17T19:00Z", Err("invalid_timestamp")),
        ("2026-09-17T19:00:00+00", Err("invalid_timestamp")),
        ("20260917T190000Z", Err("invalid_timestamp")),
        ("2026-02-29T00:00:00Z", Err("invalid_timestamp")),
        ("2016-12-31T23:59:60Z", Err("invalid_timestamp")),
        ("2020-01-01T24:00:00Z", Err("invalid_timestamp")),
        ("2020-01-01T23:60:00Z", Err("invalid_timestamp")),
        ("0000-01-01T00:00:00Z", Err("invalid_timestamp")),
        ("10000-01-01T00:00:00Z", Err("invalid_timestamp")),
        ("２０２６-09-17T19:00:00Z", Err("invalid_timestamp")),
        ("2026-09-17T19:00:00.٣Z", Err("invalid_timestamp")),
    ];
    let about = |index: usize| Observation::gpu(index as u64).field("state", "held");
    let world = World::new();
    let export = Export::full().with_all(cases.iter().enumerate().map(|(index, (time, _))| about(index).at(time)));
    world.gpu().fold(&export).succeeds();
    let rejections = world.gpu().rejections();
    for (index, (time, expected)) in cases.into_iter().enumerate() {
        let source = format!("message[{index}]");
        let reason = rejections.iter().find(|(found, _)| *found == source).map(|(_, reason)| reason.as_str());
        let found = match reason {
            Some(reason) => Err(Value::from(reason)),
            None => Ok(world.gpu().row(&format!("m#gpu{index}"))["last_observed_at"].clone()),
        };
        assert_eq!(found, expected.map(Value::from).map_err(Value::from), "{time}");
    }
}
