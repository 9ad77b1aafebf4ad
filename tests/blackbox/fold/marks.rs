//! What a fold remembers of the journals that it saw: the checkpoint's pair, the high-water mark, the generation (L 7,
//! L 8, D9), and that equal inputs give equal bytes.

use host_tests::{Export, Message, Observation, World, tree};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn seen(number: u64, time: &str) -> Message {
    Message::from(Observation::issue(number).field("eat_hours", number).at(time)).id(&format!("m{number}"))
}

fn pair(time: &str, id: &str) -> Value {
    json!({"observed_at": time, "message_id": id})
}

#[test]
fn the_high_water_mark_never_drops_and_an_older_tail_is_warned_about() {
    let world = World::new();
    world.debt().fold(&Export::full().with(seen(1, "2026-09-17T19:00:00Z"))).succeeds();
    world.debt().fold(&Export::tail().with(seen(2, "2026-09-17T20:00:00Z"))).succeeds();
    let high = pair("2026-09-17T20:00:00Z", "m2");
    assert_eq!(world.debt().fold_json()["high_water"], high);
    let older = world.debt().fold(&Export::tail().with(seen(3, "2026-09-17T18:00:00Z"))).succeeds();
    assert!(older.warning("export_older_than_checkpoint").is_some(), "{older}");
    assert_eq!(world.debt().fold_json()["high_water"], high);
    world.debt().fold(&Export::tail()).succeeds();
    assert_eq!(world.debt().fold_json()["high_water"], high);
    assert_eq!(world.debt().snapshot()["checkpoint"]["events"]["newest_observed_at"], Value::Null);
    // The reference's own warning is disarmed now; the mark is not.
    let out = world.debt().fold(&Export::tail().with(seen(4, "2026-09-17T19:30:00Z"))).succeeds();
    assert_eq!(out.warning("export_older_than_checkpoint"), None);
    let warning = out.warning("export_older_than_high_water").unwrap_or_else(|| panic!("{out}"));
    assert!(warning.contains("2026-09-17T19:30:00Z") && warning.contains("2026-09-17T20:00:00Z"), "{warning}");
    assert_eq!(world.debt().fold_json()["high_water"], high);
}

#[test]
fn an_older_export_has_the_warning_of_the_reference_in_snapshot_and_status() {
    let world = World::new();
    world.debt().fold(&Export::full().with(seen(1, "2026-09-17T19:00:00Z"))).succeeds();
    let out = world.debt().fold(&Export::tail().with(seen(2, "2026-09-17T18:00:00Z"))).succeeds();
    let text = "export_older_than_checkpoint: newest event 2026-09-17T18:00:00Z is older than the folded checkpoint \
                2026-09-17T19:00:00Z; older observations lose on observed_at and cannot regress state";
    assert!(out.warnings().contains(&text), "{out}");
    assert_eq!(world.debt().snapshot()["warnings"], json!([text]));
    assert!(world.debt().status().contains(&format!("\nwarn: {text}\n")));
}

#[test]
fn equally_new_is_not_older() {
    let world = World::new();
    world.debt().fold(&Export::full().with(seen(1, "2026-09-17T19:00:00Z"))).succeeds();
    let out = world.debt().fold(&Export::full().with(seen(1, "2026-09-17T19:00:00.000Z"))).succeeds();
    assert_eq!(out.warnings(), [""; 0]);
}

#[test]
fn a_tree_without_fold_json_starts_its_mark_from_the_checkpoint() {
    let world = World::new();
    world.debt().fold(&Export::full().with(seen(1, "2026-09-17T19:00:00Z"))).succeeds();
    std::fs::remove_file(world.debt().path("snapshots/fold.json")).unwrap();
    let out = world.debt().fold(&Export::tail().with(seen(2, "2026-09-17T18:00:00Z"))).succeeds();
    assert_eq!(out.warning("artifacts_repaired"), None);
    assert!(out.warning("export_older_than_high_water").is_some(), "{out}");
    assert_eq!(world.debt().fold_json()["high_water"], pair("2026-09-17T19:00:00Z", "m1"));
    assert_eq!(world.debt().fold_json()["generation"], 1);
}

#[test]
fn fold_json_has_its_keys_in_order_and_matches_the_artifacts() {
    let world = World::new();
    world.debt().fold(&Export::full().with(seen(1, "2026-09-17T19:00:00Z"))).succeeds();
    let fold = world.debt().fold_json();
    let keys: Vec<_> = fold.as_object().unwrap().keys().map(String::as_str).collect();
    // What the host adds of its own stands behind these.
    let expected = [
        "schema",
        "ledger",
        "generation",
        "generated_at",
        "state_digest",
        "artifacts",
        "warnings",
        "actor_differs",
        "conflicts",
        "reopened",
        "high_water",
    ];
    assert_eq!(keys[..expected.len()], expected);
    assert_eq!(fold["schema"], "debt-ledger-fold/v1");
    assert_eq!(fold["ledger"], "issue-debt");
    assert_eq!(fold["generated_at"], "2026-10-01T00:00:00Z");
    assert_eq!(fold["state_digest"], world.debt().snapshot()["checkpoint"]["state_digest"]);
    for name in ["snapshot.json", "summary.json", "status.md"] {
        let bytes = world.read(&world.debt().file(&format!("snapshots/{name}")));
        let digest: String = Sha256::digest(bytes.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(fold["artifacts"][name], digest, "{name}");
    }
}

#[test]
fn the_generation_counts_folds() {
    let world = World::new();
    for generation in 1..=3 {
        world.debt().fold(&Export::full().with(seen(1, "2026-09-17T19:00:00Z"))).succeeds();
        assert_eq!(world.debt().fold_json()["generation"], generation);
    }
}

#[test]
fn the_same_inputs_twice_give_the_same_bytes() {
    let fold = || {
        let world = World::new();
        let messages = (1..=40).map(|number| seen(number % 7 + 1, &format!("2026-09-17T19:00:{number:02}Z")));
        world.debt().fold(&Export::full().with_all(messages).with(Message::new("[OBS]"))).succeeds();
        world.debt().fold(&Export::tail().with(seen(9, "2026-09-18T19:00:00Z"))).succeeds();
        tree(world.path("state/issue-debt/snapshots"))
    };
    assert_eq!(fold(), fold());
}

#[test]
fn replayed_observations_are_counted_and_change_nothing() {
    let world = World::new();
    let export = Export::full().with(seen(1, "2026-09-17T19:00:00Z")).with(seen(2, "2026-09-17T20:00:00Z"));
    world.debt().fold(&export).succeeds();
    let digest = world.debt().snapshot()["checkpoint"]["state_digest"].clone();
    world.debt().fold(&export).succeeds();
    let checkpoint = &world.debt().snapshot()["checkpoint"];
    assert_eq!(checkpoint["state_digest"], digest);
    assert_eq!(checkpoint["events"]["replayed"], 2);
    assert_eq!(checkpoint["events"]["consumed_total"], 4);
    assert_eq!(world.debt().summary()["replayed_observations"], 2);
}
