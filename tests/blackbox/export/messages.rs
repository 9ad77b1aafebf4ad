//! How one message becomes an observation: label, author, time, content, prose (L 4, L 5).

use host_tests::{Export, Message, Observation, World};
use serde_json::{Value, json};

fn good() -> Observation {
    Observation::issue(1).field("eat_hours", 1)
}

/// Folds one message; the provenance of its field when it was accepted, else the reason.
fn provenance(message: &Message) -> Result<Value, String> {
    let world = World::new();
    world.debt().fold(&Export::full().with(message.clone())).succeeds();
    match world.debt().reasons().pop() {
        Some(reason) => Err(reason),
        None => Ok(world.debt().row("o/r#1")["provenance"]["eat_hours"].clone()),
    }
}

#[track_caller]
fn label(message: &Message, expected: &str) {
    assert_eq!(provenance(message).unwrap()["source"], format!("journal:{expected}"));
}

#[track_caller]
fn actor(author: Value, expected: Result<&str, &str>) {
    let message = Message::from(good().without("actor")).key("author", author);
    let found = provenance(&message).map(|provenance| provenance["actor"].as_str().unwrap().to_owned());
    assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned));
}

#[test]
fn a_label_is_the_index_and_the_id_if_there_is_one() {
    let message = || Message::from(good().key("message_id", "own"));
    label(&message(), "message[0]");
    label(&message().id("m 1"), "message[0] id=m 1");
    label(&message().key("id", 5), "message[0] id=5");
    label(&message().key("id", 1.5), "message[0] id=1.5");
    label(&message().key("id", true), "message[0] id=True");
    label(&message().key("id", json!(["a", 1])), r#"message[0] id=["a",1]"#);
    for nothing in [json!(0), json!(false), json!([]), json!({}), json!(null), json!("")] {
        label(&message().key("id", nothing), "message[0]");
    }
}

#[test]
fn a_rejection_is_labelled_without_the_journal_prefix() {
    let world = World::new();
    let bad = good().key("confidence", "certain");
    world.debt().fold(&Export::full().with(good()).with(Message::from(&bad).id("x")).with(&bad)).succeeds();
    let expected = [("message[1] id=x", "invalid_confidence"), ("message[2]", "invalid_confidence")];
    assert_eq!(world.debt().rejections(), expected.map(|(source, reason)| (source.to_owned(), reason.to_owned())));
}

#[test]
fn the_first_id_key_that_is_present_wins() {
    let message = || Message::from(good()).key("uuid", "u").key("id", "i");
    label(&message(), "message[0] id=i");
    label(&message().key("message_id", "m"), "message[0] id=m");
    label(&message().key("message_id", "m").key("messageId", "M"), "message[0] id=M");
    label(&message().key("id", ""), "message[0] id=u");
}

#[test]
fn the_id_of_the_message_is_kept_unless_the_envelope_says_otherwise() {
    let id = |message: Message| provenance(&message).map(|provenance| provenance["message_id"].clone());
    assert_eq!(id(Message::from(good()).id(" m  1 ")), Ok(json!("m 1")));
    assert_eq!(id(Message::from(good()).key("id", 0)), Ok(json!("0")));
    assert_eq!(id(Message::from(good().key("message_id", "own")).id("m")), Ok(json!("own")));
    assert_eq!(id(Message::from(good().key("message_id", Value::Null)).id("m")), Ok(Value::Null));
    assert_eq!(id(Message::from(good()).id(" ")), Err("invalid_field_value".to_owned()));
}

#[test]
fn the_time_of_the_message_is_the_default_of_the_observation() {
    let time = |message: Message| provenance(&message).map(|provenance| provenance["observed_at"].clone());
    let message = || Message::from(good().without("observed_at")).without("timestamp");
    for key in ["createdAt", "created_at", "observedAt", "observed_at", "timestamp", "ts"] {
        let found = time(message().key(key, "2026-09-17 19:00:00.50+00:00"));
        assert_eq!(found, Ok(json!("2026-09-17T19:00:00.500000Z")), "{key}");
    }
    assert_eq!(
        time(message().key("ts", "2026-09-17T19:00:00Z").key("createdAt", "x")),
        Err("invalid_timestamp".to_owned())
    );
    assert_eq!(time(message().key("ts", 1_758_135_600)), Err("invalid_timestamp".to_owned()));
    assert_eq!(time(message()), Err("invalid_timestamp".to_owned()));
}

#[test]
fn the_content_is_under_the_first_of_four_keys() {
    let message = || Message::new("").without("content");
    let line = good().line();
    for key in ["content", "body", "message", "text"] {
        assert!(provenance(&message().key(key, line.as_str())).is_ok(), "{key}");
    }
    let hidden = message().key("text", line.as_str()).key("content", "[OBS]");
    assert_eq!(provenance(&hidden), Err("unparsable_envelope".to_owned()));
    assert!(provenance(&message().key("text", line.as_str()).key("content", "")).is_ok());
    assert_eq!(provenance(&message()), Err("unparsable_envelope".to_owned()));
}

#[test]
fn a_message_that_is_no_object_is_an_invalid_record() {
    let world = World::new();
    let export = json!({"window": {"kind": "full"}, "messages": [1, "text", null, [], Message::from(good()).json()]});
    world.debt().fold(&Export::of(&export)).succeeds();
    assert_eq!(world.debt().reasons(), ["invalid_record"; 4]);
    assert_eq!(world.debt().keys(), ["o/r#1"]);
}

#[test]
fn an_author_is_a_text_or_the_parts_of_a_lane() {
    actor(json!(" po-1:w "), Ok("po-1:w"));
    actor(json!({"machineId": " po-1 ", "workspace": " w "}), Ok("po-1:w"));
    actor(json!({"machine_id": "a", "workspaceId": "b"}), Ok("a:b"));
    actor(json!({"machine": "a", "workspace_id": "b"}), Ok("a:b"));
    actor(json!({"host": "a", "lane": "b"}), Ok("a:b"));
    actor(json!({"machineId": " ", "machine": "a", "workspace": "w"}), Ok("a:w"));
    actor(json!({"machineId": "a", "login": "b"}), Ok("b"));
    actor(json!({"login": 5, "name": "n", "id": "i"}), Ok("n"));
    actor(json!({"lane": "a:b", "login": "c"}), Ok("a:b"));
    actor(json!({"id": "i"}), Ok("i"));
}

#[test]
fn an_author_that_names_nobody_leaves_the_actor_missing() {
    for author in [json!(" "), json!(5), json!([]), json!({}), json!({"machineId": "a"}), json!("n n")] {
        actor(author, Err("missing_actor"));
    }
    actor(json!({"machineId": "m", "lane": "a:b"}), Err("missing_actor"));
}

#[test]
fn the_first_author_key_that_is_present_wins() {
    let message = || Message::from(good().without("actor")).without("author");
    for key in ["author", "actor", "lane", "from", "sender"] {
        assert_eq!(provenance(&message().key(key, "a")).unwrap()["actor"], "a", "{key}");
    }
    assert_eq!(provenance(&message().key("sender", "s").key("actor", "a")).unwrap()["actor"], "a");
    assert_eq!(provenance(&message().key("sender", "s").key("actor", " ")), Err("missing_actor".to_owned()));
}

#[test]
fn prose_is_counted_and_never_rejected() {
    let world = World::new();
    let prose = [
        json!("hello"),
        json!(" "),
        json!("[1,2]"),
        json!("[obs] {}"),
        json!("\u{feff}[OBS] {}"),
        json!(5),
        json!(true),
        json!([1]),
        json!("say [OBS] {}"),
    ];
    let export = Export::full().with(good()).with_all(prose.iter().cloned().map(Message::new));
    world.debt().fold(&export).succeeds();
    assert_eq!(world.debt().reasons(), [""; 0]);
    let window = &world.debt().snapshot()["checkpoint"]["window"];
    assert_eq!((&window["messages"], &window["ignored"]), (&json!(10), &json!(9)));
    assert_eq!(world.debt().summary()["window"]["ignored"], 9);
}

#[test]
fn an_envelope_may_be_a_line_bare_json_or_an_object() {
    for content in [
        json!(good().line()),
        json!(format!(" \n{}\n", good().text())),
        json!(format!("[OBS]{}", good().text())),
        good().json(),
    ] {
        assert!(provenance(&Message::new(content.clone())).is_ok(), "{content}");
    }
}

#[test]
fn what_begins_like_an_observation_and_is_none_is_rejected() {
    let texts = ["[OBS]", "[OBS] ", "[OBS]x", "{broken", "[OBS] [1]", "[OBS] {} {}", "[OBS] null"];
    for text in texts.map(str::to_owned).into_iter().chain([format!("[OBS] {}", good().line())]) {
        assert_eq!(provenance(&Message::new(text.as_str())), Err("unparsable_envelope".to_owned()), "{text}");
    }
}

#[test]
fn a_sender_may_escape_what_it_likes() {
    let line = good().line().replace("po-1", r"po\u002d1").replace("o/r", r"o\/r");
    let plain = provenance(&Message::new(good().line())).unwrap();
    assert_eq!(provenance(&Message::new(line)).unwrap()["observation_id"], plain["observation_id"]);
}

#[test]
fn the_first_part_of_a_split_line_is_prose_with_a_warning() {
    let world = World::new();
    let split = Message::new(format!("**[PART 1/2]**\n{}", good().line())).id("m1");
    let out = world.debt().fold(&Export::full().with(split).with(Message::new("**[PART 2/2]** rest"))).succeeds();
    assert_eq!(out.warnings().len(), 1, "{out}");
    assert!(out.warnings()[0].starts_with("split_envelope: message[0] id=m1"), "{out}");
    assert_eq!(world.debt().snapshot()["checkpoint"]["window"]["ignored"], 2);
    assert_eq!(world.debt().reasons(), [""; 0]);
}
