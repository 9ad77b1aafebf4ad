//! What `append` refuses, with which code, and which of two faults it names (L 2.2, L 10.3, D2 to D6).

use host_tests::{Observation, Out, World};
use serde_json::json;

use super::append;

/// Appends the bytes as an observation file of the ledger of issues.
fn from_file(bytes: impl AsRef<[u8]>) -> Out {
    let world = World::new();
    let file = world.write("observation.json", bytes);
    world.debt().run("append", ["--observation-file", &file])
}

#[track_caller]
fn check(observation: &Observation, code: &str) {
    drop(from_file(observation.text()).refused(code));
}

fn good() -> Observation {
    Observation::issue(7).field("eat_hours", 4)
}

#[test]
fn nothing_to_append_is_missing_input() {
    let world = World::new();
    world.debt().run("append", [""; 0]).refused("MISSING_INPUT");
    world.debt().run("append", ["--entity", "o/r#7"]).refused("MISSING_INPUT");
    world.debt().run("append", ["--fields-json", "{}"]).refused("MISSING_INPUT");
}

#[test]
fn a_file_that_is_not_there_is_unreadable_input_and_named() {
    let world = World::new();
    let out =
        world.debt().run("append", ["--observation-file", &world.path("nowhere.json")]).refused("UNREADABLE_INPUT");
    assert!(out.stderr().contains("nowhere.json"), "{out}");
}

#[test]
fn a_file_that_is_not_json_is_refused() {
    let line = good().line();
    let cases: [&[u8]; 9] = [
        b"",
        b"{",
        b"{} {}",
        b"\xef\xbb\xbf{}",
        b"{\"evidence\":\"\xff\"}",
        b"{\"evidence\":NaN}",
        b"{\"fields\":{\"eat_hours\":-Infinity}}",
        b"{\"fields\":{\"eat_hours\":1e400}}",
        line.as_bytes(),
    ];
    for case in cases {
        from_file(case).refused("INVALID_JSON");
    }
}

#[test]
fn a_lone_surrogate_is_no_json_text() {
    let text = good().key("evidence", "E").text().replace("\"E\"", r#""\ud800""#);
    let out = from_file(text);
    assert_eq!(out.code(), 1);
    assert!(["INVALID_JSON", "unparsable_envelope"].contains(&out.first_error_code()), "{out}");
}

#[test]
fn depth_128_is_read_and_129_is_not() {
    let nested = |depth: usize| {
        let inner = format!("{}{}", "[".repeat(depth - 2), "]".repeat(depth - 2));
        good().text().replace(r#"{"eat_hours":4}"#, &format!(r#"{{"eat_hours":{inner}}}"#))
    };
    from_file(nested(128)).refused("invalid_field_value");
    let out = from_file(nested(129));
    assert_eq!(out.code(), 1);
    assert!(["INVALID_JSON", "unparsable_envelope"].contains(&out.first_error_code()), "{out}");
}

#[test]
fn fields_that_are_not_an_object_are_invalid_json() {
    let world = World::new();
    for fields in ["", "{", "[]", "null", "4", r#"{"eat_hours":NaN}"#, r#"{"eat_hours":1e400}"#] {
        world.debt().run("append", ["--entity", "o/r#7", "--fields-json", fields]).refused("INVALID_JSON");
    }
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let text = good().text();
    for (from, to) in [
        (r#""actor":"po-1:w""#, r#""actor":"po-1:w","actor":"po-1:w""#),
        (r#""repo":"o/r""#, r#""repo":"o/r","repo":"o/x""#),
        (r#""eat_hours":4"#, r#""eat_hours":4,"eat_hours":5"#),
    ] {
        let twice = text.replacen(from, to, 1);
        assert_ne!(twice, text);
        from_file(twice).refused("duplicate_key");
    }
    let world = World::new();
    let twice = r#"{"eat_hours":4,"eat_hours":5}"#;
    let out = world.debt().run("append", ["--entity", "o/r#7", "--fields-json", twice]);
    assert_eq!(out.code(), 1);
    assert!(["duplicate_key", "INVALID_JSON"].contains(&out.first_error_code()), "{out}");
}

#[test]
fn an_integer_beyond_64_bits_is_refused_wherever_it_stands() {
    let big = "9223372036854775808";
    let cases = [
        good().text().replacen(":4}", &format!(":{big}}}"), 1),
        good().text().replacen(r#""issue":7"#, &format!(r#""issue":{big}"#), 1),
        good().key("note", 5).text().replacen(r#""note":5"#, &format!(r#""note":{big}"#), 1),
    ];
    for text in cases {
        assert!(text.contains(big));
        from_file(text).refused("invalid_field_value");
    }
}

#[test]
fn the_largest_64_bit_integer_is_kept_exactly() {
    let out = from_file(Observation::issue(7).field("remaining_atomic_prs", i64::MAX).text()).succeeds();
    assert!(out.stdout().contains(r#""remaining_atomic_prs":9223372036854775807"#), "{out}");
}

#[test]
fn minus_zero_is_an_integer() {
    let text = Observation::issue(7).field("remaining_atomic_prs", 1).text().replace(":1}", ":-0}");
    let out = from_file(text).succeeds();
    assert!(out.stdout().contains(r#""remaining_atomic_prs":0}"#), "{out}");
}

#[test]
fn a_time_in_the_future_is_refused_beyond_the_allowed_skew() {
    let world = World::at("2026-10-01T00:00:00Z");
    append(world.debt(), &["--observed-at", "2026-10-01T00:15:00Z"]).succeeds();
    append(world.debt(), &["--observed-at", "2026-10-01T00:15:00.000001Z"]).refused("future_timestamp");
    world.write("state/config.json", r#"{"max_clock_skew_minutes":null}"#);
    append(world.debt(), &["--observed-at", "2099-01-01T00:00:00Z"]).succeeds();
}

#[test]
fn now_must_be_a_time() {
    let world = World::new();
    for (now, code) in [
        ("yesterday", "invalid_timestamp"),
        ("2026-10-01T00:00:00", "naive_timestamp"),
        ("2026-10-01T00:00:00+02:00", "non_utc_timestamp"),
    ] {
        let state = world.state();
        let flags = ["run", "issue-debt", "append", "--state-dir", &state, "--now", now, "--entity", "o/r#7"];
        world.command(flags).args(["--fields-json", r#"{"eat_hours":4}"#]).run().refused(code);
    }
}

#[test]
fn each_check_has_its_reason() {
    check(&good().key("schema", "debt-ledger-observation/v2"), "unsupported_schema_version");
    check(&good().key("surprise", 1), "unknown_key");
    check(&good().key("ledger", "gpu-reservation"), "ledger_mismatch");
    check(&good().by("two words"), "missing_actor");
    check(&good().key("actor", json!(null)), "missing_actor");
    check(&good().at("yesterday"), "invalid_timestamp");
    check(&good().at("2026-13-01T00:00:00"), "naive_timestamp");
    check(&good().at("2026-02-30T00:00:00+02:00"), "non_utc_timestamp");
    check(&good().key("confidence", "High"), "invalid_confidence");
    check(&good().key("evidence", " \u{1f} "), "missing_evidence");
    check(&good().key("entity", json!({"repo": "o/r"})), "entity_mismatch");
    check(&good().key("evidence", "https://github.com/o/r/pull/7"), "entity_is_pr");
    check(&good().key("fields", json!({})), "invalid_record");
    check(&good().field("typo", 1), "unknown_field");
    check(&good().field("state_class", "Closed"), "invalid_field_value");
    check(&good().key("head_transition", json!(null)), "invalid_record");
    check(&good().key("note", " "), "invalid_field_value");
    check(&good().key("message_id", 5), "invalid_field_value");
    check(&good().key("observation_id", "obs-0000000000000000"), "observation_id_mismatch");
}

#[test]
fn the_first_check_that_fails_is_the_one_named() {
    type Fault = (&'static str, fn(Observation) -> Observation);
    let faults: [Fault; 12] = [
        ("unknown_key", |good| good.key("surprise", 1)),
        ("unsupported_schema_version", |good| good.key("schema", "v2")),
        ("ledger_mismatch", |good| good.key("ledger", "other")),
        ("missing_actor", |good| good.by("two words")),
        ("invalid_timestamp", |good| good.at("yesterday")),
        ("invalid_confidence", |good| good.key("confidence", "certain")),
        ("missing_evidence", |good| good.key("evidence", "")),
        ("entity_mismatch", |good| good.key("entity", json!({}))),
        ("unknown_field", |good| good.field("typo", 1)),
        ("invalid_field_value", |good| good.field("eat_hours", "x")),
        ("invalid_record", |good| good.key("head_transition", 1)),
        ("observation_id_mismatch", |good| good.key("observation_id", "obs-x")),
    ];
    for pair in faults.windows(2) {
        let [(first, one), (_, other)] = pair else { continue };
        check(&other(one(good())), first);
    }
}

#[test]
fn a_value_that_is_not_a_field_type_names_the_field() {
    let out = from_file(good().field("remaining_atomic_prs", 1.0).text()).refused("invalid_field_value");
    assert!(out.stderr().contains("remaining_atomic_prs"), "{out}");
}

#[test]
fn a_bad_entity_is_named_before_bad_fields() {
    let world = World::new();
    world.debt().run("append", ["--entity", "nonsense", "--fields-json", "{"]).refused("INVALID_ENTITY");
}

#[test]
fn bad_fields_are_named_before_a_bad_observation() {
    let world = World::new();
    let flags = ["--entity", "o/r#7", "--fields-json", "{", "--confidence", "certain"];
    world.debt().run("append", flags).refused("INVALID_JSON");
}

#[test]
fn a_bad_observation_is_named_before_a_missing_spool() {
    let world = World::new();
    append(world.debt(), &["--confidence", "certain", "--spool"]).refused("invalid_confidence");
}

#[test]
fn a_refusal_of_what_stands_in_a_file_names_the_file() {
    let world = World::new();
    for (text, code) in [("5", "invalid_record"), (r#"{"x":1}"#, "unknown_key"), ("{", "INVALID_JSON")] {
        let file = world.write("observation.json", text);
        let out = world.debt().run("append", ["--observation-file", &file]).refused(code);
        assert!(out.stderr().contains(&file), "{out}");
    }
}
