//! Whatever one message holds is at worst a rejection, and never changes another row (D2, D3, D6, N1, N8).

use host_tests::{Export, Message, Observation, World};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn honest(number: u64) -> Observation {
    let entity = json!({"repo": "honest/rows", "issue": number});
    Observation::about(entity).field("eat_hours", number).field("state_class", "open-blocked")
}

fn hostile() -> Observation {
    Observation::issue(900).field("eat_hours", 4).field("dependencies", json!([5, {"kind": "external"}]))
}

/// Fields and history values of the honest rows.
fn honest_rows(world: &World) -> Vec<Value> {
    let ids = |row: &Value| {
        let history = row["history"].as_object().into_iter().flatten();
        history.map(|(field, entries)| json!([field, entries[0]["observation_id"]])).collect::<Vec<_>>()
    };
    (1..=2)
        .map(|number| world.debt().row(&format!("honest/rows#{number}")))
        .map(|row| json!([row["key"], row["fields"], row["historical"], ids(&row)]))
        .collect()
}

/// The honest rows after a fold with these messages (JSON texts) between them, and the reasons.
fn fold_among_honest(messages: &[String]) -> (Vec<Value>, Vec<String>) {
    let world = World::new();
    let export = Export::full().with(honest(1));
    let export = messages.iter().fold(export, |export, message| export.with_raw(message));
    world.debt().fold(&export.with(honest(2))).succeeds();
    (honest_rows(&world), world.debt().reasons())
}

/// A message whose content is this text.
fn saying(content: &str) -> String {
    Message::new(content).json().to_string()
}

#[track_caller]
fn check(message: String, reason: &str) {
    let messages = [message];
    let (rows, reasons) = fold_among_honest(&messages);
    assert_eq!(reasons, [reason], "{}", messages[0]);
    assert_eq!(rows, fold_among_honest(&[]).0);
}

#[test]
fn numbers_that_are_no_json_are_unparsable() {
    let text = hostile().line();
    for number in ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"] {
        check(saying(&text.replacen(":4,", &format!(":{number},"), 1)), "unparsable_envelope");
        check(saying(&text.replacen("[5,", &format!("[{number},"), 1)), "unparsable_envelope");
    }
}

#[test]
fn a_float_that_overflows_in_an_object_content_is_unparsable_too() {
    check(Message::new(hostile().json()).json().to_string().replacen(":4,", ":1e400,", 1), "unparsable_envelope");
}

#[test]
fn a_key_that_stands_twice_at_any_depth_is_a_duplicate_key() {
    let text = hostile().text();
    for (from, to) in [
        (r#""actor":"po-1:w""#, r#""actor":"po-1:w","actor":"po-1:w""#),
        (r#""repo":"o/r""#, r#""repo":"o/r","r\u0065po":"o/r""#),
        (r#""eat_hours":4"#, r#""eat_hours":4,"eat_hours":4"#),
        (r#"{"kind":"external"}"#, r#"{"kind":"external","kind":"issue"}"#),
    ] {
        let twice = text.replacen(from, to, 1);
        assert_ne!(twice, text);
        check(saying(&format!("[OBS] {twice}")), "duplicate_key");
        check(Message::new("C").json().to_string().replacen("\"C\"", &twice, 1), "duplicate_key");
    }
    assert_eq!(fold_among_honest(&[saying(&hostile().line())]).1, [""; 0]);
}

#[test]
fn a_key_that_stands_twice_in_the_message_itself_is_a_duplicate_key() {
    let message = Message::from(hostile()).json().to_string();
    check(message.replacen('{', r#"{"content":"x","#, 1), "duplicate_key");
    check(message.replacen('{', r#"{"ts":1,"ts":2,"#, 1), "duplicate_key");
}

#[test]
fn an_integer_beyond_64_bits_is_an_invalid_value_wherever_it_stands() {
    let long = "9".repeat(5000);
    for number in ["9223372036854775808", "-9223372036854775809", long.as_str()] {
        let text = hostile().line();
        check(saying(&text.replacen(":4,", &format!(":{number},"), 1)), "invalid_field_value");
        check(saying(&text.replacen(":900", &format!(":{number}"), 1)), "invalid_field_value");
        check(saying(&text.replacen("[5,", &format!("[{number},"), 1)), "invalid_field_value");
    }
    let device = Observation::gpu(5).field("state", "held");
    let world = World::new();
    let line = device.line().replacen(":5}", ":9223372036854775808}", 1);
    world.gpu().fold(&Export::full().with(Message::new(line)).with(device)).succeeds();
    assert_eq!(world.gpu().reasons(), ["invalid_field_value"]);
    assert_eq!(world.gpu().keys(), ["m#gpu5"]);
}

#[test]
fn a_lone_surrogate_is_unparsable_wherever_it_stands() {
    let in_text = hostile().key("evidence", "E").line().replacen("\"E\"", r#""\ud800""#, 1);
    check(saying(&in_text), "unparsable_envelope");
    let in_object = Message::new(hostile().key("evidence", "E").json()).json().to_string();
    check(in_object.replacen("\"E\"", r#""\udc00\ud800""#, 1), "unparsable_envelope");
    let in_content = Message::new("[OBS] E").json().to_string();
    check(in_content.replacen("[OBS] E", r"[OBS] \ud800", 1), "unparsable_envelope");
}

#[test]
fn a_surrogate_pair_is_one_letter() {
    let text = hostile().key("evidence", "E").line().replacen("\"E\"", r#""\ud83d\ude00""#, 1);
    let (rows, reasons) = fold_among_honest(&[saying(&text)]);
    assert_eq!((rows, reasons), (fold_among_honest(&[]).0, Vec::new()));
}

#[test]
fn depth_128_is_read_and_129_is_unparsable() {
    let nested = |depth: usize| {
        // The envelope and its fields are two containers of the depth.
        let inner = format!("{}{}", "[".repeat(depth - 2), "]".repeat(depth - 2));
        saying(&hostile().line().replacen(":4,", &format!(":{inner},"), 1))
    };
    check(nested(128), "invalid_field_value");
    check(nested(129), "unparsable_envelope");
    check(nested(100_000), "unparsable_envelope");
}

#[test]
fn hours_beyond_a_float_are_invalid() {
    let text = hostile().line().replacen(":4,", &format!(":1{},", "0".repeat(400)), 1);
    check(saying(&text), "invalid_field_value");
}

#[test]
fn a_huge_pull_request_number_does_no_harm() {
    let evidence = format!("https://github.com/o/r/pull/{}", "9".repeat(5000));
    let (rows, reasons) = fold_among_honest(&[saying(&hostile().key("evidence", evidence).line())]);
    assert_eq!((rows, reasons), (fold_among_honest(&[]).0, Vec::new()));
}

#[test]
fn years_before_1000_are_padded_and_accepted() {
    let world = World::new();
    world
        .debt()
        .fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1).at("0001-01-01T00:00:00Z")))
        .succeeds();
    assert_eq!(world.debt().row("o/r#1")["last_observed_at"], "0001-01-01T00:00:00Z");
    world.debt().fold(&Export::tail()).succeeds();
    assert_eq!(world.debt().keys(), ["o/r#1"]);
}

#[test]
fn a_rejection_names_what_it_is_about() {
    let world = World::new();
    world.debt().fold(&Export::full().with(Observation::issue(1).field("typo_field", 1))).succeeds();
    let detail = world.debt().snapshot()["rejections"][0]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("typo_field"), "{detail}");
}

/// One edit of a text: cut a piece out, put something in, or double a piece.
fn edited() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just(String::new()),
        Just("\"".to_owned()),
        Just("{".to_owned()),
        Just("]".to_owned()),
        Just(r"\ud800".to_owned()),
        Just("null".to_owned()),
        Just("1e999".to_owned()),
        Just("-0".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("[[[[[[[[".to_owned()),
        Just("\u{202e}\u{0}".to_owned()),
        any::<String>(),
    ];
    let start = prop_oneof![Just(hostile().line()), Just(hostile().text()), Just("[OBS] ".to_owned())];
    (start, vec((any::<Index>(), any::<Index>(), pieces), 1..4)).prop_map(|(start, edits)| {
        edits.into_iter().fold(start, |text, (from, length, piece)| {
            let letters: Vec<char> = text.chars().collect();
            let from = from.index(letters.len() + 1);
            let to = (from + length.index(6)).min(letters.len());
            letters[..from].iter().copied().chain(piece.chars()).chain(letters[to..].iter().copied()).collect()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_message_changes_the_rows_of_others(contents in vec(edited(), 1..20)) {
        let messages: Vec<_> = contents.iter().map(|content| saying(content)).collect();
        prop_assert_eq!(fold_among_honest(&messages).0, fold_among_honest(&[]).0);
    }
}
