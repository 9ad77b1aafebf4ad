//! `check-pending`: may this lane run now (D10, L 10.3, N21)? Every doubt says no.

use host_tests::{Export, Observation, Out, World};
use serde_json::json;

/// A hold of `m#gpu0` by `a:x` from 10 to 12 o'clock.
fn hold() -> Observation {
    Observation::gpu(0)
        .at("2026-09-29T09:00:00Z")
        .field("state", "held")
        .field("holder", "a:x")
        .field("started_at", "2026-09-30T10:00:00Z")
        .field("expected_end", "2026-09-30T12:00:00Z")
}

/// A world at `now` in which these observations were folded.
fn world(observations: &[Observation], now: &str) -> World {
    let world = World::new();
    world.gpu().fold(&Export::full().with_all(observations)).succeeds();
    world.later(now)
}

fn ask(world: &World, flags: &[&str]) -> Out {
    world.gpu().command("check-pending", ["--entity", "m#gpu0"]).args(flags).run()
}

/// Asks with these flags; `verdict` must come with `exit`, on one line with the entity and a reason.
#[track_caller]
fn check(observations: &[Observation], now: &str, flags: &[&str], expected: (&str, i32)) {
    let world = world(observations, now);
    let out = ask(&world, flags);
    let (verdict, exit) = expected;
    let start = format!("{verdict}  m#gpu0  ");
    assert!(out.stdout().starts_with(&start) && out.stdout().len() > start.len() + 1, "{out}");
    assert_eq!(out.stdout().lines().count(), 1, "{out}");
    assert_eq!(out.code(), exit, "{out}");
}

const MINE: [&str; 2] = ["--my-lane", "a:x"];
const INSIDE: &str = "2026-09-30T11:00:00Z";

#[test]
fn my_hold_lets_me_run_from_its_start_to_its_end() {
    check(&[hold()], "2026-09-30T09:59:59.999999Z", &MINE, ("HOLD", 1));
    check(&[hold()], "2026-09-30T10:00:00Z", &MINE, ("OK_TO_RUN", 0));
    check(&[hold()], INSIDE, &MINE, ("OK_TO_RUN", 0));
    check(&[hold()], "2026-09-30T12:00:00Z", &MINE, ("OK_TO_RUN", 0));
    check(&[hold()], "2026-09-30T12:00:00.000001Z", &MINE, ("OVERDUE", 2));
}

#[test]
fn a_hold_of_another_lane_or_an_unnamed_one_holds_me() {
    check(&[hold()], INSIDE, &["--my-lane", "b:y"], ("HOLD", 1));
    check(&[hold()], INSIDE, &["--my-lane", "a"], ("HOLD", 1));
    check(&[hold()], INSIDE, &[], ("HOLD", 1));
    let nobody = Observation::gpu(0).field("state", "held");
    check(&[nobody], INSIDE, &MINE, ("HOLD", 1));
}

#[test]
fn an_overdue_hold_is_overdue_for_everyone() {
    // russellb/canhazgpu#41: by a second, an hour or a month.
    for now in ["2026-09-30T12:00:01Z", "2026-09-30T13:00:00Z", "2026-10-30T12:00:00Z"] {
        check(&[hold()], now, &["--my-lane", "b:y"], ("OVERDUE", 2));
    }
}

#[test]
fn a_hold_without_an_end_or_a_start_is_open_there() {
    let open = Observation::gpu(0).field("state", "held").field("holder", "a:x");
    check(&[open], INSIDE, &MINE, ("OK_TO_RUN", 0));
}

#[test]
fn a_newer_word_about_something_else_leaves_the_hold() {
    let workload = Observation::gpu(0).at("2026-09-29T10:00:00Z").field("workload", "PPO");
    let world = world(&[hold(), workload], INSIDE);
    assert_eq!(ask(&world, &MINE).code(), 0);
    assert_eq!(ask(&world, &["--my-lane", "b:y"]).code(), 1);
}

#[test]
fn posting_the_hold_again_does_not_move_its_end() {
    // SouthpawIN/turbofit#35: a robot that says held again is no evidence that anyone holds it.
    let again = hold().at("2026-09-29T23:00:00Z").key("evidence", "robot");
    check(&[hold(), again], "2026-09-30T12:00:01Z", &MINE, ("OVERDUE", 2));
}

#[test]
fn released_and_stale_devices_say_so() {
    check(&[Observation::gpu(0).field("state", "released")], INSIDE, &MINE, ("RELEASED", 0));
    check(&[Observation::gpu(0).field("state", "stale")], INSIDE, &MINE, ("STALE", 2));
}

#[test]
fn a_row_without_a_state_holds() {
    check(&[Observation::gpu(0).field("workload", "PPO")], INSIDE, &MINE, ("HOLD", 1));
}

#[test]
fn an_unheard_of_device_has_no_observation() {
    check(&[Observation::gpu(1).field("state", "held")], INSIDE, &MINE, ("NO_OBS", 0));
    let world = World::new();
    let out = ask(&world, &MINE).succeeds();
    assert!(out.stdout().starts_with("NO_OBS  m#gpu0  "), "{out}");
}

#[test]
fn with_require_hold_only_a_hold_of_mine_is_0() {
    let with = |flags: &[&'static str]| [flags, &["--require-hold"]].concat();
    check(&[hold()], INSIDE, &with(&MINE), ("OK_TO_RUN", 0));
    check(&[Observation::gpu(0).field("state", "released")], INSIDE, &with(&MINE), ("RELEASED", 1));
    check(&[Observation::gpu(1).field("state", "held")], INSIDE, &with(&MINE), ("NO_OBS", 1));
    assert_eq!(ask(&World::new(), &with(&MINE)).code(), 1);
    check(&[hold()], INSIDE, &with(&["--my-lane", "b:y"]), ("HOLD", 1));
}

#[test]
fn json_is_one_line_with_four_keys() {
    let world = world(&[hold()], INSIDE);
    let out = ask(&world, &["--my-lane", "a:x", "--json"]).succeeds();
    assert!(out.stdout().starts_with(r#"{"verdict": "OK_TO_RUN", "reason": ""#), "{out}");
    assert!(out.stdout().ends_with(concat!(r#", "entity": "m#gpu0", "now": "2026-09-30T11:00:00Z"}"#, "\n")), "{out}");
    let keys: Vec<_> = out.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["verdict", "reason", "entity", "now"]);
}

#[test]
fn the_spelling_with_an_underscore_is_the_same_verb() {
    let world = world(&[hold()], INSIDE);
    let out = world.gpu().run("check_pending", ["--entity", "m#gpu0", "--my-lane", "a:x"]).succeeds();
    assert_eq!(out.stdout(), ask(&world, &MINE).stdout());
}

#[test]
fn the_entity_is_stripped_and_otherwise_strict() {
    let world = world(&[hold()], INSIDE);
    let out = world.gpu().run("check-pending", ["--entity", " m#gpu0 ", "--my-lane", "a:x"]);
    assert_eq!(out.code(), 0, "{out}");
    for entity in ["m#GPU0", "m # gpu0", "m#0", "m", "", "m#gpu", "m#gpu0x"] {
        let out = world.gpu().run("check-pending", ["--entity", entity]);
        assert_eq!((out.code(), out.stdout()), (2, ""), "{entity}\n{out}");
        assert_eq!(out.first_error_code(), "entity_mismatch", "{entity}");
    }
}

#[test]
fn a_damaged_snapshot_is_fatal() {
    let world = world(&[hold()], INSIDE);
    let mut snapshot = world.gpu().snapshot();
    snapshot["rows"][0]["fields"]["holder"] = json!("b:y");
    world.write(&world.gpu().file("snapshots/snapshot.json"), snapshot.to_string());
    ask(&world, &["--my-lane", "b:y"]).refused("CORRUPT_CHECKPOINT");
    world.write(&world.gpu().file("snapshots/snapshot.json"), "{");
    ask(&world, &MINE).refused("INVALID_JSON");
}

#[test]
fn a_snapshot_may_be_named_anywhere_and_must_then_exist() {
    let world = world(&[hold()], INSIDE);
    world.folder("repository/.git");
    let snapshot = world.gpu().snapshot();
    let elsewhere = world.write("repository/s.json", snapshot.to_string());
    assert_eq!(ask(&world, &["--my-lane", "a:x", "--snapshot", &elsewhere]).code(), 0);
    let nowhere = world.path("nowhere.json");
    // N6: a file that was named and is not there is a mistake, not an unheard-of device.
    ask(&world, &["--my-lane", "a:x", "--snapshot", &nowhere]).refused("UNREADABLE_INPUT");
}

#[test]
fn the_ledger_of_issues_has_no_such_verb() {
    let world = World::new();
    world.debt().run("check-pending", ["--entity", "o/r#1"]).misused();
}

#[test]
fn asking_changes_nothing() {
    let world = world(&[hold()], INSIDE);
    let before = world.stored();
    assert_eq!(ask(&world, &MINE).code(), 0);
    assert_eq!(world.stored(), before);
}
