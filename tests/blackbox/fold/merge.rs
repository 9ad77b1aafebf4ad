//! Which observation wins a field, and what is said about it (L 8, D1, N2, N12, N13, N14, N23).

use host_tests::{Export, Message, Observation, World};
use serde_json::{Value, json};

fn hours(value: u64, time: &str) -> Observation {
    Observation::issue(1).field("eat_hours", value).at(time)
}

#[test]
fn the_newest_observation_wins_and_the_history_says_why() {
    let world = World::new();
    let export = Export::full().with(hours(2, "2026-09-17T20:00:00Z")).with(hours(1, "2026-09-17T19:00:00Z"));
    world.debt().fold(&export).succeeds();
    let row = world.debt().row("o/r#1");
    assert_eq!(row["fields"]["eat_hours"], json!(2.0));
    let history = row["history"]["eat_hours"].as_array().unwrap();
    let told: Vec<_> = history.iter().map(|entry| json!([entry["value"], entry["applied"], entry["reason"]])).collect();
    assert_eq!(told, [json!([1.0, false, "superseded"]), json!([2.0, true, "applied"])]);
}

#[test]
fn times_are_compared_as_instants_not_as_texts() {
    // time-rs/time#404: `.10` is before `.9`, and a fraction is after none.
    let world = World::new();
    let export = Export::full().with(hours(2, "2026-09-17T19:00:00.5Z")).with(hours(1, "2026-09-17T19:00:00Z"));
    world.debt().fold(&export).succeeds();
    assert_eq!(world.debt().row("o/r#1")["fields"]["eat_hours"], json!(2.0));
    assert_eq!(world.debt().row("o/r#1")["last_observed_at"], "2026-09-17T19:00:00.500000Z");
    let events = &world.debt().snapshot()["checkpoint"]["events"];
    assert_eq!(events["newest_observed_at"], "2026-09-17T19:00:00.500000Z");
    assert_eq!(world.debt().fold_json()["high_water"]["observed_at"], "2026-09-17T19:00:00.500000Z");
    let world = World::new();
    let export = Export::full().with(hours(2, "2026-09-17T19:00:00.9Z")).with(hours(1, "2026-09-17T19:00:00.10Z"));
    world.debt().fold(&export).succeeds();
    assert_eq!(world.debt().row("o/r#1")["fields"]["eat_hours"], json!(2.0));
}

#[test]
fn at_one_instant_the_actor_decides_then_the_id_in_every_order() {
    // CBaquero/delta-enabled-crdts#7: the same winner whatever the order.
    let at = |value: u64, actor: &str| Message::from(hours(value, "2026-09-17T19:00:00Z").by(actor));
    let messages = [at(1, "a"), at(2, "c"), at(3, "b")];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let world = World::new();
        world.debt().fold(&Export::full().with_all(order.map(|index: usize| messages[index].clone()))).succeeds();
        assert_eq!(world.debt().row("o/r#1")["fields"]["eat_hours"], json!(2.0));
    }
}

#[test]
fn a_tie_with_another_value_is_a_conflict_that_shows_both() {
    let world = World::new();
    let at = |value: u64, actor: &str| hours(value, "2026-09-17T19:00:00Z").by(actor);
    let out = world.debt().fold(&Export::full().with(at(1, "a")).with(at(2, "b"))).succeeds();
    assert_eq!(out.warning("equal_time_conflict"), Some("equal_time_conflict: 1 field(s)"));
    let fold = world.debt().fold_json();
    let conflict = &fold["conflicts"][0];
    assert_eq!(conflict["key"], "o/r#1");
    assert_eq!(conflict["field"], "eat_hours");
    assert_eq!(conflict["observed_at"], "2026-09-17T19:00:00Z");
    let history = world.debt().row("o/r#1")["history"]["eat_hours"].clone();
    assert_eq!(conflict["winner"], history[1]["observation_id"]);
    let mut contenders: Vec<_> = conflict["contenders"].as_array().unwrap().iter().map(Value::to_string).collect();
    contenders.sort();
    let shown = |entry: &Value, actor: &str, value: f64| {
        json!({"observation_id": entry["observation_id"], "actor": actor, "value": value}).to_string()
    };
    let mut expected = vec![shown(&history[0], "a", 1.0), shown(&history[1], "b", 2.0)];
    expected.sort();
    assert_eq!(contenders, expected);
    assert_eq!(world.debt().snapshot()["warnings"], json!([]));
}

#[test]
fn equal_values_at_one_instant_are_no_conflict() {
    let world = World::new();
    let at = |actor: &str| hours(1, "2026-09-17T19:00:00Z").by(actor);
    let out = world.debt().fold(&Export::full().with(at("a")).with(at("b"))).succeeds();
    assert_eq!(out.warning("equal_time_conflict"), None);
    assert_eq!(world.debt().fold_json()["conflicts"], json!([]));
}

#[test]
fn a_tie_below_the_winner_is_no_conflict() {
    let world = World::new();
    let export = Export::full()
        .with(hours(1, "2026-09-17T19:00:00Z").by("a"))
        .with(hours(2, "2026-09-17T19:00:00Z").by("b"))
        .with(hours(3, "2026-09-17T19:00:01Z"));
    assert_eq!(world.debt().fold(&export).succeeds().warning("equal_time_conflict"), None);
}

#[test]
fn an_edited_baseline_row_without_a_newer_time_is_a_conflict() {
    let world = World::new();
    let baseline = |value: u64| {
        let row = json!({"entity": {"repo": "o/r", "issue": 1}, "fields": {"eat_hours": value}});
        let header = json!({"schema": "debt-ledger-baseline/v1", "ledger": "issue-debt",
            "generated_at": "2026-09-17T19:00:00Z", "rows": [row]});
        world.write("state/issue-debt/baseline.json", header.to_string())
    };
    baseline(1);
    world.debt().run("reduce", ["--no-events"]).succeeds();
    baseline(2);
    let out = world.debt().run("reduce", ["--no-events"]).succeeds();
    assert_eq!(out.warning("equal_time_conflict"), Some("equal_time_conflict: 1 field(s)"));
}

#[test]
fn a_late_old_observation_regresses_nothing() {
    let world = World::new();
    world.debt().fold(&Export::full().with(hours(2, "2026-09-17T20:00:00Z"))).succeeds();
    world.debt().fold(&Export::tail().with(hours(1, "2026-09-17T19:00:00Z"))).succeeds();
    assert_eq!(world.debt().row("o/r#1")["fields"]["eat_hours"], json!(2.0));
    assert_eq!(world.debt().row("o/r#1")["history"]["eat_hours"].as_array().unwrap().len(), 2);
}

#[test]
fn a_copy_of_an_observation_counts_once() {
    let world = World::new();
    let one = hours(1, "2026-09-17T19:00:00Z");
    world.debt().fold(&Export::full().with(Message::from(&one).id("a")).with(Message::from(&one).id("b"))).succeeds();
    let row = world.debt().row("o/r#1");
    assert_eq!(row["contributions"], 1);
    assert_eq!(row["provenance"]["eat_hours"]["message_id"], "b");
    assert_eq!(row["history"]["eat_hours"].as_array().unwrap().len(), 1);
}

#[test]
fn another_observation_under_a_known_id_is_rejected() {
    let world = World::new();
    world.debt().fold(&Export::full().with(hours(1, "2026-09-17T19:00:00Z"))).succeeds();
    let id = world.debt().row("o/r#1")["provenance"]["eat_hours"]["observation_id"].clone();
    let file = world.debt().path("snapshots/snapshot.json");
    let forged = world.read(&world.debt().file("snapshots/snapshot.json"));
    let other = hours(2, "2026-09-17T20:00:00Z");
    world.debt().fold(&Export::tail().with(&other)).succeeds();
    let others = world.debt().row("o/r#1")["provenance"]["eat_hours"]["observation_id"].clone();
    std::fs::write(file, forged.replace(id.as_str().unwrap(), others.as_str().unwrap())).unwrap();
    world.debt().fold(&Export::tail().with(&other)).succeeds();
    assert_eq!(world.debt().reasons(), ["observation_id_mismatch"]);
    assert_eq!(world.debt().row("o/r#1")["fields"]["eat_hours"], json!(1.0));
}

#[test]
fn a_closed_row_that_a_later_word_opens_is_listed() {
    let world = World::new();
    let state = |value: &str, time: &str| Observation::issue(1).field("state_class", value).at(time);
    let closed = state("closed", "2026-09-17T19:00:00Z").key("confidence", "high");
    let out = world.debt().fold(&Export::full().with(closed)).succeeds();
    assert_eq!(out.warning("reopened"), None);
    assert_eq!(world.debt().row("o/r#1")["historical"], true);
    let doubt = state("unknown", "2026-09-17T19:00:01Z").key("confidence", "low");
    let out = world.debt().fold(&Export::tail().with(doubt)).succeeds();
    assert_eq!(out.warning("reopened"), Some("reopened: 1 row(s)"));
    assert_eq!(world.debt().fold_json()["reopened"], json!(["o/r#1"]));
    assert_eq!(world.debt().row("o/r#1")["historical"], false);
}

#[test]
fn evidence_about_a_pull_request_of_another_repository_is_about_the_issue() {
    let check = |evidence: &str, reasons: &[&str]| {
        let world = World::new();
        let observation = Observation::issue(7).field("eat_hours", 1).key("evidence", evidence);
        world.debt().fold(&Export::full().with(observation)).succeeds();
        assert_eq!(world.debt().reasons(), reasons, "{evidence}");
    };
    check("https://github.com/o/r/pull/7", &["entity_is_pr"]);
    check("https://github.com/O/R/pull/7/files", &["entity_is_pr"]);
    check("see /pull/7x", &["entity_is_pr"]);
    check("https://github.com/other/repo/pull/7", &[]);
    check("https://github.com/o/r/pull/70", &[]);
    check("https://github.com/o/r/pull/07", &[]);
    check("https://github.com/other/repo/pull/7 https://github.com/o/r/pull/7", &["entity_is_pr"]);
}

#[test]
fn the_history_keeps_the_newest_entries_up_to_the_cap() {
    let world = World::new();
    world.write("state/config.json", r#"{"history_max_entries_per_field":2}"#);
    let export = (0..5).fold(Export::full(), |export, n| export.with(hours(n, &format!("2026-09-17T19:00:0{n}Z"))));
    world.debt().fold(&export).succeeds();
    let row = world.debt().row("o/r#1");
    let values: Vec<_> = row["history"]["eat_hours"].as_array().unwrap().iter().map(|entry| &entry["value"]).collect();
    assert_eq!(values, [&json!(3.0), &json!(4.0)]);
    assert_eq!(row["diagnostics"]["history_truncated"]["eat_hours"], 3);
}

#[test]
fn a_row_is_stale_after_72_hours_and_not_on_the_boundary() {
    for (now, stale) in [("2026-09-20T19:00:00Z", false), ("2026-09-20T19:00:00.000001Z", true)] {
        let world = World::at(now);
        let message = Message::from(hours(1, "2026-09-17T19:00:00Z")).at("2026-09-17T19:00:00Z");
        world.debt().fold(&Export::full().with(message)).succeeds();
        assert_eq!(world.debt().row("o/r#1")["stale"], stale, "{now}");
        assert_eq!(world.debt().snapshot()["counts"]["stale"], u64::from(stale));
    }
}

#[test]
fn a_full_fold_keeps_rows_that_the_journal_no_longer_mentions() {
    let world = World::new();
    world.debt().fold(&Export::full().with(hours(1, "2026-09-17T19:00:00Z"))).succeeds();
    world.debt().fold(&Export::full()).succeeds();
    assert_eq!(world.debt().keys(), ["o/r#1"]);
}

#[test]
fn without_events_and_checkpoint_an_empty_snapshot_is_written() {
    let world = World::new();
    let out = world.debt().run("reduce", ["--no-events"]).succeeds();
    assert!(out.stdout().starts_with("WROTE 0 row(s), 0 rejection(s) under "), "{out}");
    let checkpoint = &world.debt().snapshot()["checkpoint"];
    let empty = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";
    assert_eq!(checkpoint["state_digest"], empty);
    assert_eq!(
        checkpoint["window"],
        json!({"kind": "full", "archives": [], "messages": 0, "ignored": 0, "path": null})
    );
    assert_eq!(world.debt().summary()["eat_hours"]["total"], json!(0));
}

#[test]
fn two_holders_at_one_instant_are_both_shown() {
    // jaylfc/taOS#2988: an overlap is a conflict, not a silent choice.
    let world = World::new();
    let held = |holder: &str| Observation::gpu(0).by(holder).field("state", "held").field("holder", holder);
    let out = world.gpu().fold(&Export::full().with(held("a:x")).with(held("b:y"))).succeeds();
    assert_eq!(out.warning("equal_time_conflict"), Some("equal_time_conflict: 1 field(s)"));
    assert_eq!(world.gpu().fold_json()["conflicts"][0]["contenders"].as_array().unwrap().len(), 2);
}

#[test]
fn an_older_release_does_not_end_a_newer_hold() {
    // jaylfc/taOS#1992
    let world = World::new();
    let state = |value: &str, time: &str| Observation::gpu(0).field("state", value).at(time);
    let export =
        Export::full().with(state("held", "2026-09-17T20:00:00Z")).with(state("released", "2026-09-17T19:00:00Z"));
    world.gpu().fold(&export).succeeds();
    assert_eq!(world.gpu().row("m#gpu0")["fields"]["state"], "held");
    assert_eq!(world.gpu().row("m#gpu0")["historical"], false);
}

#[test]
fn repositories_that_differ_in_case_are_two_rows() {
    // woodpecker-ci/woodpecker#854: the key is the text as written; nothing is merged by guessing.
    let world = World::new();
    let about = |repo: &str| Observation::about(json!({"repo": repo, "issue": 15})).field("eat_hours", 1);
    world.debt().fold(&Export::full().with(about("Jsboige/CoursIA")).with(about("jsboige/coursia"))).succeeds();
    assert_eq!(world.debt().keys(), ["Jsboige/CoursIA#15", "jsboige/coursia#15"]);
}

#[test]
fn an_observation_of_a_later_version_is_refused_by_name() {
    // ToposInstitute/CatColab#652
    let world = World::new();
    let later = hours(1, "2026-09-17T19:00:00Z").key("schema", "debt-ledger-observation/v2");
    world.debt().fold(&Export::full().with(later)).succeeds();
    assert_eq!(world.debt().reasons(), ["unsupported_schema_version"]);
    let detail = world.debt().snapshot()["rejections"][0]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("debt-ledger-observation/v2"), "{detail}");
}
