//! Observations in another lane's name (D8).

use host_tests::{Export, Message, Observation, World};
use serde_json::json;

/// An observation about issue `number` by `po-1:w`, in a message by `author`.
fn by(number: u64, author: serde_json::Value) -> Message {
    Message::from(Observation::issue(number).field("eat_hours", 1)).key("author", author)
}

#[test]
fn another_lanes_word_is_accepted_counted_and_listed() {
    let world = World::new();
    let export = Export::full().with(by(1, json!("po-1:w"))).with(by(2, json!("po-2:x")).id("m2"));
    let out = world.debt().fold(&export).succeeds();
    let warning = "actor_differs_from_author: 1 observation(s)";
    assert_eq!(out.warnings(), [warning]);
    assert_eq!(world.debt().row("o/r#2")["provenance"]["eat_hours"]["actor"], "po-1:w");
    let fold = world.debt().fold_json();
    assert_eq!(fold["warnings"], json!([warning]));
    let item = &fold["actor_differs"]["items"][0];
    assert_eq!(fold["actor_differs"]["count"], 1);
    assert!(item["source"].as_str().unwrap().ends_with("message[1] id=m2"), "{item}");
    assert_eq!((&item["actor"], &item["author"]), (&json!("po-1:w"), &json!("po-2:x")));
    assert_eq!(world.debt().snapshot()["warnings"], json!([]));
    assert!(!world.debt().status().contains("warn:"));
}

#[test]
fn the_strict_mode_rejects_it() {
    let world = World::new();
    let export = Export::full().with(by(1, json!("po-1:w"))).with(by(2, json!("po-2:x")));
    world.debt().fold_with(&export, ["--strict-author"]).succeeds();
    assert_eq!(world.debt().reasons(), ["actor_differs_from_author"]);
    assert_eq!(world.debt().keys(), ["o/r#1"]);
}

#[test]
fn blanks_around_the_author_do_not_differ() {
    let world = World::new();
    let export =
        Export::full().with(by(1, json!(" po-1:w "))).with(by(2, json!({"machineId": "po-1", "workspace": " w"})));
    assert_eq!(world.debt().fold_with(&export, ["--strict-author"]).succeeds().warnings(), [""; 0]);
    assert_eq!(world.debt().reasons(), [""; 0]);
}

#[test]
fn an_envelope_without_an_actor_and_a_message_without_an_author_do_not_differ() {
    let world = World::new();
    let silent = Message::from(Observation::issue(1).field("eat_hours", 1).without("actor"));
    let export = Export::full().with(silent).with(by(2, json!(null))).with(by(3, json!(" "))).with(by(4, json!({})));
    assert_eq!(world.debt().fold(&export).succeeds().warnings(), [""; 0]);
    assert_eq!(world.debt().fold_json()["actor_differs"], json!({"count": 0, "items": []}));
}

#[test]
fn the_list_ends_after_100_and_the_count_does_not() {
    let world = World::new();
    let export = Export::full().with_all((1..=103).map(|number| by(number, json!("po-2:x"))));
    let out = world.debt().fold(&export).succeeds();
    assert_eq!(out.warnings(), ["actor_differs_from_author: 103 observation(s)"]);
    let differs = &world.debt().fold_json()["actor_differs"];
    assert_eq!(differs["count"], 103);
    assert_eq!(differs["items"].as_array().unwrap().len(), 100);
}

#[test]
fn another_fault_is_named_before_the_author() {
    let world = World::new();
    let faulty = Observation::issue(1).field("eat_hours", 1).key("observation_id", "obs-x");
    let export = Export::full().with(Message::from(faulty).key("author", "po-2:x"));
    world.debt().fold_with(&export, ["--strict-author"]).succeeds();
    assert_eq!(world.debt().reasons(), ["observation_id_mismatch"]);
}
