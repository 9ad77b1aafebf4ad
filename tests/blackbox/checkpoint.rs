//! A prior snapshot that is not what a fold wrote (D5, L 7, N8).

use std::fs;

use host_tests::{Checked, Export, Observation, World, tree};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A world whose ledger has two rows with two history entries each.
fn folded() -> World {
    let world = World::new();
    let seen = |number: u64, hours: u64, time: &str| {
        Observation::issue(number).field("eat_hours", hours).field("state_class", "open-blocked").at(time)
    };
    let export = Export::full()
        .with(seen(1, 1, "2026-09-17T19:00:00Z"))
        .with(seen(1, 2, "2026-09-17T20:00:00Z"))
        .with(seen(2, 3, "2026-09-17T19:00:00Z"))
        .with(seen(2, 4, "2026-09-17T20:00:00Z"));
    world.debt().fold(&export).succeeds();
    world
}

/// Replaces what stands at `pointer` in the snapshot; `None` removes it.
fn damage(world: &World, pointer: &str, value: Option<Value>) {
    let mut snapshot = world.debt().snapshot();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match (snapshot.pointer_mut(parent).unwrap(), value) {
        (Value::Object(parent), Some(value)) => drop(parent.insert(key.to_owned(), value)),
        (Value::Object(parent), None) => drop(parent.shift_remove(key)),
        (Value::Array(parent), Some(value)) => parent[key.parse::<usize>().unwrap()] = value,
        (parent, _) => panic!("{parent} holds no {key}"),
    }
    world.write(&world.debt().file("snapshots/snapshot.json"), snapshot.to_string());
}

/// Damages a folded ledger and folds an empty tail onto it; nothing may have changed.
#[track_caller]
fn refused(pointer: &str, value: Option<Value>, named: &[&str]) {
    let world = folded();
    damage(&world, pointer, value);
    let before = world.stored();
    let out = world.debt().fold(&Export::tail()).refused("CORRUPT_CHECKPOINT");
    for name in named {
        assert!(out.stderr().contains(name), "{pointer}: {name} is not named\n{out}");
    }
    assert_eq!(world.stored(), before);
}

#[test]
fn an_untouched_checkpoint_is_accepted() {
    let world = folded();
    assert_eq!(world.debt().fold(&Export::tail()).succeeds().warnings(), [""; 0]);
    assert_eq!(world.debt().keys(), ["o/r#1", "o/r#2"]);
}

#[test]
fn a_changed_field_is_named() {
    refused("/rows/1/fields/eat_hours", Some(json!(5.0)), &["o/r#2", "eat_hours"]);
    refused("/rows/0/fields/state_class", Some(json!("closed")), &["o/r#1", "state_class"]);
    refused("/rows/0/fields/eat_hours", None, &["o/r#1", "eat_hours"]);
    refused("/rows/0/fields", None, &["o/r#1"]);
}

#[test]
fn a_changed_history_value_is_named() {
    refused("/rows/1/history/eat_hours/1/value", Some(json!(5.0)), &["o/r#2", "eat_hours"]);
    refused("/rows/1/history/eat_hours/0/value", Some(json!(-3.0)), &["o/r#2", "eat_hours"]);
    refused("/rows/1/history/eat_hours/0/value", Some(json!(3)), &["o/r#2", "eat_hours"]);
    refused("/rows/1/history/state_class/0/value", Some(json!(" closed ")), &["o/r#2", "state_class"]);
}

#[test]
fn a_deleted_history_is_named() {
    refused("/rows/1/history/eat_hours", None, &["o/r#2", "eat_hours"]);
    refused("/rows/1/history/eat_hours", Some(json!([])), &["o/r#2", "eat_hours"]);
    refused("/rows/1/history/eat_hours", Some(json!(5)), &["o/r#2", "eat_hours"]);
    refused("/rows/1/history", None, &["o/r#2"]);
}

#[test]
fn a_history_entry_that_breaks_a_rule_is_named() {
    let entry = "/rows/1/history/eat_hours/0";
    for (key, value) in [
        ("observation_id", json!("obs-xyz")),
        ("observation_id", json!("obs-0CB15EEBE26DD713")),
        ("observation_id", Value::Null),
        ("observed_at", json!("2026-09-17T19:00:00")),
        ("observed_at", json!("2026-09-17T19:00:00.0Z")),
        ("actor", json!("two words")),
        ("confidence", json!("certain")),
        ("evidence", json!(" ")),
    ] {
        refused(&format!("{entry}/{key}"), Some(value), &["o/r#2", "eat_hours"]);
    }
    refused(&format!("{entry}/actor"), None, &["o/r#2", "eat_hours"]);
    refused(entry, Some(json!(5)), &["o/r#2", "eat_hours"]);
}

#[test]
fn entries_of_one_observation_that_disagree_are_named() {
    refused("/rows/1/history/eat_hours/1/observed_at", Some(json!("2026-09-17T20:00:01Z")), &["o/r#2", "eat_hours"]);
    refused("/rows/1/history/eat_hours/1/actor", Some(json!("po-2:x")), &["o/r#2", "eat_hours"]);
    let elsewhere = folded().debt().row("o/r#1")["history"]["eat_hours"][0]["observation_id"].clone();
    refused("/rows/1/history/eat_hours/0/observation_id", Some(elsewhere), &["o/r#2", "eat_hours", "o/r#1"]);
}

#[test]
fn salvage_drops_what_disagrees_with_the_other_entries_of_its_observation() {
    let (world, out) = salvaged("/rows/1/history/eat_hours/1/observed_at", Some(json!("2026-09-17T20:00:01Z")));
    assert!(out.warnings().iter().any(|warning| warning.starts_with("salvaged_entry: o/r#2 eat_hours: ")), "{out}");
    assert_eq!(world.debt().row("o/r#2")["fields"], json!({"state_class": "open-blocked", "eat_hours": 3.0}));
    assert_eq!(world.debt().keys(), ["o/r#1", "o/r#2", "o/r#3"]);
    assert_eq!(world.debt().reasons(), [""; 0]);
}

#[test]
fn of_entries_that_disagree_salvage_keeps_what_most_of_them_say() {
    let world = World::new();
    let one = Observation::issue(1).field("state_class", "deferred").field("eat_hours", 1);
    let one = one.field("remaining_atomic_prs", 2).field("closeability", "unknown");
    world.debt().fold(&Export::full().with(one)).succeeds();
    damage(&world, "/rows/0/history/state_class/0/actor", Some(json!("po-2:x")));
    let out = world.debt().fold_with(&Export::tail(), ["--salvage"]).succeeds();
    assert!(out.warnings().iter().any(|warning| warning.starts_with("salvaged_entry: o/r#1 state_class: ")), "{out}");
    let kept = json!({"closeability": "unknown", "remaining_atomic_prs": 2, "eat_hours": 1.0});
    assert_eq!(world.debt().row("o/r#1")["fields"], kept);
}

#[test]
fn salvage_drops_what_another_row_claims_too() {
    let elsewhere = folded().debt().row("o/r#1")["history"]["eat_hours"][0]["observation_id"].clone();
    let (world, out) = salvaged("/rows/1/history/eat_hours/0/observation_id", Some(elsewhere));
    assert!(out.warnings().iter().any(|warning| warning.starts_with("salvaged_entry: o/r#2 eat_hours: ")), "{out}");
    assert_eq!(world.debt().row("o/r#2")["history"]["eat_hours"].as_array().unwrap().len(), 1);
    assert_eq!(world.debt().row("o/r#1")["history"]["eat_hours"].as_array().unwrap().len(), 2);
}

#[test]
fn only_the_last_entry_is_the_applied_one() {
    refused("/rows/1/history/eat_hours/1/applied", Some(json!(false)), &["o/r#2", "eat_hours"]);
    refused("/rows/1/history/eat_hours/0/applied", Some(json!(true)), &["o/r#2", "eat_hours"]);
}

#[test]
fn a_row_is_what_its_key_says_and_stands_once() {
    refused("/rows/1/key", Some(json!("o/r#3")), &["o/r#3"]);
    refused("/rows/1/key", Some(json!("o/r#1")), &["o/r#1"]);
    refused("/rows/1/entity/issue", Some(json!(1)), &["o/r#2"]);
    refused("/rows/1/entity", None, &["o/r#2"]);
    let world = folded();
    let first = world.debt().row("o/r#1");
    damage(&world, "/rows/1", Some(first));
    let out = world.debt().fold(&Export::tail()).refused("CORRUPT_CHECKPOINT");
    assert!(out.stderr().contains("o/r#1"), "{out}");
}

#[test]
fn a_changed_digest_a_dropped_row_and_bad_counters_are_found() {
    let digest = "0".repeat(64);
    refused("/checkpoint/state_digest", Some(json!(digest)), &["state_digest"]);
    refused("/checkpoint/state_digest", None, &[]);
    refused("/rows", Some(json!([])), &[]);
    refused("/rows", Some(Value::Null), &["rows"]);
    refused("/rows", None, &["rows"]);
    refused("/rows/1", Some(json!(5)), &[]);
    refused("/schema", Some(json!("debt-ledger-snapshot/v2")), &["schema"]);
    refused("/checkpoint/events/consumed_total", Some(json!("4")), &["consumed_total"]);
    refused("/counts/total", Some(json!(2.0)), &["counts.total"]);
    refused("/checkpoint/window/messages", Some(json!(-1)), &["window.messages"]);
    refused("/checkpoint/events/newest_observed_at", Some(json!("yesterday")), &["newest_observed_at"]);
    refused("/checkpoint", None, &[]);
}

#[test]
fn an_empty_or_foreign_object_is_no_checkpoint() {
    for text in ["{}", "[]", "5", r#"{"schema":"package.json"}"#] {
        let world = World::new();
        world.write(&world.debt().file("snapshots/snapshot.json"), text);
        world.debt().fold(&Export::tail()).refused("CORRUPT_CHECKPOINT");
    }
    let world = World::new();
    world.gpu().fold(&Export::full().with(Observation::gpu(0).field("state", "held"))).succeeds();
    let snapshot = world.gpu().path("snapshots/snapshot.json");
    world.debt().fold_with(&Export::tail(), ["--snapshot", &snapshot]).refused("CHECKPOINT_LEDGER_MISMATCH");
}

#[test]
fn a_checkpoint_that_is_not_json_cannot_be_salvaged() {
    for text in ["", "{", "{\"rows\":[],\"rows\":[]}", "null null"] {
        let world = folded();
        world.write(&world.debt().file("snapshots/snapshot.json"), text);
        world.debt().fold_with(&Export::tail(), ["--salvage"]).refused("INVALID_JSON");
        assert_eq!(world.read(&world.debt().file("snapshots/snapshot.json")), text);
    }
}

#[test]
fn a_number_too_large_for_a_float_is_no_json_wherever_it_stands() {
    for (good, bad) in [
        (r#""contributions": 2"#, r#""contributions": 1e400"#),
        (r#""provenance": {"#, r#""provenance": {"x": [1e400],"#),
        (r#""replayed": 0"#, r#""replayed": 1e400"#),
        (r#""rejections": []"#, r#""rejections": [{"x": 1e400}]"#),
        (r#""value": 1.0"#, r#""value": 1e400"#),
    ] {
        let world = folded();
        let file = world.debt().file("snapshots/snapshot.json");
        let text = world.read(&file).replacen(good, bad, 1);
        assert!(text.contains("1e400"), "{good} is not in the snapshot");
        world.write(&file, text);
        let before = world.stored();
        let out = world.debt().fold(&Export::tail()).refused("INVALID_JSON");
        assert!(out.stderr().contains("snapshot.json"), "{out}");
        assert_eq!(world.stored(), before);
    }
}

/// Damages a folded ledger, folds a tail with `--salvage`, and demands the copy of the damaged file.
#[track_caller]
fn salvaged(pointer: &str, value: Option<Value>) -> (World, Checked) {
    let world = folded();
    damage(&world, pointer, value);
    let damaged = world.read(&world.debt().file("snapshots/snapshot.json"));
    let tail = Export::tail().with(Observation::issue(3).field("eat_hours", 9));
    let out = world.debt().fold_with(&tail, ["--salvage"]).succeeds();
    let digest: String = Sha256::digest(damaged.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let copy = world.debt().file(&format!("snapshots/snapshot.json.corrupt-{}", &digest[..12]));
    assert_eq!(world.read(&copy), damaged, "{out}");
    (world, out)
}

#[test]
fn salvage_drops_a_bad_entry_and_keeps_the_rest() {
    let (world, out) = salvaged("/rows/1/history/eat_hours/0/observation_id", Some(json!("x")));
    let warning = out.warning("salvaged_entry").unwrap_or_else(|| panic!("{out}")).to_owned();
    assert!(warning.starts_with("salvaged_entry: o/r#2 eat_hours"), "{warning}");
    assert_eq!(world.debt().keys(), ["o/r#1", "o/r#2", "o/r#3"]);
    assert_eq!(world.debt().row("o/r#2")["fields"]["eat_hours"], json!(4.0));
    assert_eq!(world.debt().row("o/r#2")["history"]["eat_hours"].as_array().unwrap().len(), 1);
    assert_eq!(world.debt().row("o/r#1")["history"]["eat_hours"].as_array().unwrap().len(), 2);
    let warnings = world.debt().fold_json()["warnings"].clone();
    assert!(warnings.as_array().unwrap().contains(&json!(warning)), "{warnings}");
}

#[test]
fn salvage_drops_a_bad_row_and_keeps_the_others() {
    let (world, out) = salvaged("/rows/1/entity", Some(json!({"repo": 5})));
    assert!(out.warnings().iter().any(|warning| warning.starts_with("salvaged_row: o/r#2")), "{out}");
    assert_eq!(world.debt().keys(), ["o/r#1", "o/r#3"]);
}

#[test]
fn salvage_takes_the_history_for_the_truth() {
    let (world, _) = salvaged("/rows/1/fields/eat_hours", Some(json!(5.0)));
    assert_eq!(world.debt().row("o/r#2")["fields"]["eat_hours"], json!(4.0));
    assert_eq!(world.debt().row("o/r#1")["fields"]["eat_hours"], json!(2.0));
}

#[test]
fn after_a_salvage_the_state_is_sound() {
    let (world, _) = salvaged("/checkpoint/state_digest", Some(json!("x")));
    assert_eq!(world.debt().keys(), ["o/r#1", "o/r#2", "o/r#3"]);
    world.debt().run("verify", [""; 0]).succeeds();
    assert_eq!(world.debt().fold(&Export::tail()).succeeds().warning("salvaged_entry"), None);
}

#[test]
fn salvage_of_a_sound_checkpoint_is_a_plain_fold() {
    let world = folded();
    assert_eq!(world.debt().fold_with(&Export::tail(), ["--salvage"]).succeeds().warnings(), [""; 0]);
    let names: Vec<_> = tree(world.debt().path("snapshots")).into_keys().collect();
    assert_eq!(names, ["fold.json", "snapshot.json", "status.md", "summary.json"]);
}

/// Rows without what a fold may add to them.
fn facts(world: &World) -> Vec<Value> {
    let snapshot = world.debt().snapshot();
    snapshot["rows"].as_array().unwrap().iter().map(|row| json!([row["key"], row["fields"]])).collect()
}

#[test]
fn salvage_of_a_snapshot_elsewhere_writes_nothing_there() {
    let world = folded();
    let text =
        world.read(&world.debt().file("snapshots/snapshot.json")).replace("\"applied\": true", "\"applied\": false");
    let elsewhere = world.write("else/prior.json", text);
    let before = tree(world.path("else"));
    world.debt().fold_with(&Export::tail(), ["--salvage", "--snapshot", &elsewhere]).succeeds();
    assert_eq!(tree(world.path("else")), before);
    let names: Vec<_> = tree(world.debt().path("snapshots")).into_keys().collect();
    assert!(names.iter().any(|name| name.starts_with("snapshot.json.corrupt-")), "{names:?}");
}

#[test]
fn a_refused_fold_repairs_nothing_and_the_next_one_does() {
    let world = folded();
    world.write(&world.debt().file("snapshots/summary.json"), "torn");
    let before = world.stored();
    world.debt().fold(&Export::raw("5")).refused("UNSUPPORTED_EXPORT_SHAPE");
    assert_eq!(world.stored(), before);
    let out = world.debt().fold(&Export::tail()).succeeds();
    assert!(out.warning("artifacts_repaired").is_some_and(|warning| warning.contains("summary.json")), "{out}");
}

#[test]
fn verify_finds_every_flipped_byte_of_a_snapshot() {
    // kurrent-io/KurrentDB#1653: one wrong bit anywhere is found.
    let world = World::new();
    world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
    let good = fs::read(world.debt().path("snapshots/snapshot.json")).unwrap();
    let copies: Vec<_> = (0..2).map(|_| World::new()).collect();
    std::thread::scope(|scope| {
        for (half, copy) in copies.iter().enumerate() {
            host_tests::copy_tree(world.state(), copy.state());
            let good = &good;
            scope.spawn(move || {
                for place in (half..good.len()).step_by(2) {
                    let mut bad = good.clone();
                    bad[place] ^= 1;
                    fs::write(copy.debt().path("snapshots/snapshot.json"), bad).unwrap();
                    let out = copy.debt().run("verify", [""; 0]);
                    assert_eq!(out.code(), 1, "byte {place}\n{out}");
                    let told = format!("{}{}", out.stdout(), out.stderr());
                    assert!(told.contains("snapshot.json"), "byte {place}\n{out}");
                }
            });
        }
    });
}

#[test]
fn a_fold_onto_a_flipped_byte_fails_or_keeps_every_fact_and_says_so() {
    let world = folded();
    let path = world.debt().path("snapshots/snapshot.json");
    let (good, before) = (fs::read(&path).unwrap(), world.stored());
    let expected = facts(&world);
    for place in (0..good.len()).step_by(41) {
        let copy = World::new();
        host_tests::copy_tree(world.state(), copy.state());
        let mut bad = good.clone();
        bad[place] ^= 1;
        fs::write(copy.debt().path("snapshots/snapshot.json"), &bad).unwrap();
        let out = copy.debt().fold(&Export::tail());
        if out.code() == 0 {
            assert_eq!(facts(&copy), expected, "byte {place}\n{out}");
            assert!(out.warning("artifacts_repaired").is_some(), "byte {place}\n{out}");
        } else {
            let code = out.first_error_code().to_owned();
            let known = ["CORRUPT_CHECKPOINT", "INVALID_JSON", "CHECKPOINT_LEDGER_MISMATCH"];
            assert!(known.contains(&code.as_str()), "byte {place}\n{out}");
            assert_eq!(fs::read(copy.debt().path("snapshots/snapshot.json")).unwrap(), bad, "byte {place}");
        }
    }
    assert_eq!(world.stored(), before);
}
