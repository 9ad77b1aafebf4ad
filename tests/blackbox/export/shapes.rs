//! Where the journal stands in an export, and what is not an export (L 5 rule 4, N4, N5, N7, N8, N19).

use host_tests::{Checked, Export, Message, Observation, World};
use serde_json::{Value, json};

use super::{full, message, window};

/// The path under which the messages of `export`, declared full, are found.
fn path(export: Value) -> Result<String, String> {
    let mut export = export;
    export["window"] = json!({"kind": "full"});
    window(&export, &[]).map(|window| window["path"].as_str().unwrap().to_owned())
}

#[track_caller]
fn check(export: Value, expected: Result<&str, &str>) {
    assert_eq!(path(export), expected.map(str::to_owned).map_err(str::to_owned));
}

/// Folds a small journal, then `export`; the state must be the one before.
#[track_caller]
fn refused_and_untouched(export: &Export, code: &str) -> Checked {
    let world = World::new();
    world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
    let before = world.stored();
    let out = world.debt().fold(export).refused(code);
    assert_eq!(world.stored(), before);
    out
}

#[test]
fn the_journal_may_stand_under_six_keys() {
    for key in ["messages", "entries", "events", "items", "journal", "content"] {
        check(json!({key: [message()]}), Ok(key));
    }
}

#[test]
fn of_two_lists_in_one_object_the_key_decides_not_the_order() {
    check(json!({"content": [], "items": [], "entries": [message()]}), Ok("entries"));
}

#[test]
fn the_journal_is_looked_for_in_breadth() {
    check(json!({"data": {"intercom": {"messages": [message()]}}}), Ok("data.intercom.messages"));
    check(json!({"a": {"b": {"messages": []}}, "c": {"content": [message()]}}), Ok("c.content"));
    check(json!({"a": {"b": {"c": {"messages": [message()]}}}}), Ok("a.b.c.messages"));
    check(json!({"a": {"b": {"c": {"d": {"messages": []}}}}}), Err("UNSUPPORTED_EXPORT_SHAPE"));
}

#[test]
fn lists_are_not_searched() {
    check(json!({"a": [{"messages": []}]}), Err("UNSUPPORTED_EXPORT_SHAPE"));
}

#[test]
fn an_export_without_a_list_is_refused() {
    check(json!({"messages": {}}), Err("UNSUPPORTED_EXPORT_SHAPE"));
    check(json!({}), Err("UNSUPPORTED_EXPORT_SHAPE"));
}

#[test]
fn a_root_that_is_no_container_is_refused() {
    for root in ["null", "1", "\"text\"", "true"] {
        refused_and_untouched(&Export::raw(root), "UNSUPPORTED_EXPORT_SHAPE");
    }
}

#[test]
fn a_bare_list_is_a_journal() {
    let world = World::new();
    world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
    world.debt().fold(&Export::of(&json!([message()]))).succeeds();
    let mut expected = full("<list>");
    expected["kind"] = json!("incremental");
    assert_eq!(world.debt().snapshot()["checkpoint"]["window"], expected);
}

#[test]
fn a_list_that_hides_another_one_is_warned_about() {
    let world = World::new();
    let export = json!({"window": {"kind": "full"}, "items": [], "data": {"intercom": {"messages": [message()]}}});
    let out = world.debt().fold(&Export::of(&export)).succeeds();
    let warning = out.warning("ambiguous_export").unwrap_or_else(|| panic!("{out}")).to_owned();
    assert!(warning.contains("items") && warning.contains("data.intercom.messages"), "{warning}");
    assert_eq!(world.debt().snapshot()["checkpoint"]["window"]["path"], "items");
    assert_eq!(world.debt().snapshot()["warnings"], json!([]));
    assert!(world.debt().fold_json()["warnings"].as_array().unwrap().contains(&json!(warning)));
}

#[test]
fn one_list_is_not_ambiguous() {
    let world = World::new();
    let out = world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
    assert_eq!(out.warnings(), [""; 0]);
}

#[test]
fn a_torn_file_is_refused_whole_wherever_it_is_torn() {
    let world = World::new();
    world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
    let before = world.stored();
    let text = Export::full().with(Observation::issue(2).field("eat_hours", 1)).with(Message::new("prose")).text();
    for cut in (0..text.len()).step_by(17) {
        world.debt().fold(&Export::raw(&text[..cut])).refused("INVALID_JSON");
    }
    assert_eq!(world.stored(), before);
}

#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    let world = World::new();
    let mut bytes = Export::full().with(Message::new("prose")).text().into_bytes();
    let place = bytes.windows(5).position(|window| window == b"prose").unwrap();
    bytes[place] = 0xff;
    let file = world.write("export.json", bytes);
    world.debt().run("reduce", ["--events", &file]).refused("INVALID_JSON");
}

#[test]
fn a_byte_order_mark_text_behind_the_value_and_numbers_that_are_none_are_refused() {
    let good = Export::full().with(Observation::issue(1).field("eat_hours", 1)).text();
    for text in [
        format!("\u{feff}{good}"),
        format!("{good} {{}}"),
        good.replacen('{', r#"{"x":NaN,"#, 1),
        good.replacen('{', r#"{"x":-Infinity,"#, 1),
        good.replacen('{', "{\"x\":\"a\u{1}\",", 1),
    ] {
        refused_and_untouched(&Export::raw(text), "INVALID_JSON");
    }
}

#[test]
fn a_number_too_large_for_a_float_is_refused_outside_of_messages() {
    let good = Export::full().with(Observation::issue(1).field("eat_hours", 1)).text();
    for member in [
        r#""x":1e400"#,
        r#""x":{"y":-1e400}"#,
        r#""x":[0,{"y":1e400}]"#,
        r#""x":{"a":{"b":{"c":{"d":[1e400]}}}}"#,
        r#""items":[1e400]"#,
        r#""data":{"messages":[1e400]}"#,
        r#""x":"\ud800","y":1e400"#,
    ] {
        let out = refused_and_untouched(&Export::raw(good.replacen('{', &format!("{{{member},"), 1)), "INVALID_JSON");
        assert!(out.stderr().contains("export.json") && out.stderr().contains("1e400"), "{out}");
    }
}

#[test]
fn a_number_too_large_for_a_float_inside_a_message_rejects_that_message() {
    let world = World::new();
    let good = Observation::issue(1).field("eat_hours", 1);
    let export = Export::full().with(&good).with_raw(r#"{"content":"[OBS] {}","x":1e400}"#).with_raw("1e400");
    world.debt().fold(&export).succeeds();
    assert_eq!(world.debt().keys(), ["o/r#1"]);
    assert_eq!(world.debt().rejections().len(), 2);
}

#[test]
fn a_refusal_names_the_file() {
    let out = refused_and_untouched(&Export::raw("{"), "INVALID_JSON");
    assert!(out.stderr().contains("export.json"), "{out}");
}

#[test]
fn a_key_that_stands_twice_around_the_messages_is_refused() {
    let list = format!("[{}]", message());
    for text in [
        format!(r#"{{"window":{{"kind":"full"}},"messages":{list},"messages":[]}}"#),
        format!(r#"{{"window":{{"kind":"full","kind":"full"}},"messages":{list}}}"#),
        format!(r#"{{"data":{{"x":1,"x":1,"messages":{list}}},"window":{{"kind":"full"}}}}"#),
    ] {
        refused_and_untouched(&Export::raw(text), "INVALID_JSON");
    }
}

#[test]
fn a_full_window_shorter_than_the_journal_says_is_warned_about() {
    let world = World::new();
    let mut export =
        json!({"window": {"kind": "full"}, "data": {"intercom": {"totalMessages": 3, "messages": [message()]}}});
    let out = world.debt().fold_with(&Export::of(&export), ["--dry-run"]).succeeds();
    assert!(out.warning("full_window_contradicted").is_some(), "{out}");
    export["data"]["intercom"]["totalMessages"] = json!(1);
    let out = world.debt().fold_with(&Export::of(&export), ["--dry-run"]).succeeds();
    assert_eq!(out.warnings(), [""; 0]);
}

#[test]
fn a_tail_that_does_not_touch_the_checkpoint_may_hide_a_gap() {
    // sigstore/rekor-monitor#41: a tail that starts after what was folded is not silently taken for the next one.
    let world = World::new();
    let at = |number, time| Observation::issue(number).field("eat_hours", 1).at(time);
    let (one, two, three) =
        (at(1, "2026-09-17T19:00:00Z"), at(2, "2026-09-17T20:00:00Z"), at(3, "2026-09-17T21:00:00Z"));
    world.debt().fold(&Export::full().with(&one)).succeeds();
    let touching = world.debt().fold(&Export::tail().with(&one).with(&two)).succeeds();
    assert_eq!(touching.warning("possible_gap"), None);
    let apart = world.debt().fold(&Export::tail().with(&three)).succeeds();
    assert!(apart.warning("possible_gap").is_some(), "{apart}");
    let empty = world.debt().fold(&Export::tail()).succeeds();
    assert_eq!(empty.warning("possible_gap"), None);
}

#[test]
fn an_unreadable_export_is_named() {
    let world = World::new();
    let out = world.debt().run("reduce", ["--events", &world.path("nowhere.json")]).refused("UNREADABLE_INPUT");
    assert!(out.stderr().contains("nowhere.json"), "{out}");
    let out = world.debt().run("reduce", ["--events", &world.folder("folder")]).refused("UNREADABLE_INPUT");
    assert!(out.stderr().contains("folder"), "{out}");
}
