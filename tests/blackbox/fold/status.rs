//! `status.md` as a person reads it (L 9.5, L 9.6, D1, N20).

use host_tests::{Export, Message, Observation, World};

#[test]
fn issues_are_listed_by_hours() {
    let world = World::new();
    let issue = |number: u64, hours: f64| Observation::issue(number).field("eat_hours", hours);
    let export = Export::full()
        .with(issue(1, 2.5).field("state_class", "open-blocked").field("remaining_atomic_prs", 3))
        .with(issue(2, 40.0).field("closeability", "closeable-now"))
        .with(issue(3, 1.0).field("state_class", "closed"))
        .with(Message::new("[OBS]"));
    world.debt().fold(&export).succeeds();
    insta::assert_snapshot!(world.debt().status(), @r"
    [LEDGER] issue-debt @ 2026-10-01T00:00:00Z | events 3 (+3) | rows 2 live / 1 historical | window full
    eat_hours 42.50 | remaining_atomic_prs 3 | closeable-now 1 | stale rows 2
    state_class: open-blocked 1
    followups: issue 0, waiver 0, none 0, missing 3
      o/r#2 ? eat 40.00h prs 0 close closeable-now
      o/r#1 open-blocked eat 2.50h prs 3 close ?
    rejected: 1 observation(s)
    ");
}

#[test]
fn devices_are_listed_by_the_end_of_their_hold() {
    let world = World::new();
    let held = |index: u64, end: &str| Observation::gpu(index).field("state", "held").field("expected_end", end);
    let export = Export::full()
        .with(held(1, "2026-10-02T00:00:00.5Z").field("holder", "a:x").field("workload", "PPO  walk"))
        .with(held(2, "2026-10-02T00:00:00Z"))
        .with(Observation::gpu(0).field("workload", "idle"));
    world.gpu().fold(&export).succeeds();
    insta::assert_snapshot!(world.gpu().status(), @r"
    [LEDGER] gpu-reservation @ 2026-10-01T00:00:00Z | events 3 (+3) | rows 3 live / 0 historical | window full
    state: held 2
    held_by_machine: m 2
    holders: 1 | stale holds 0 | stale rows 3
      m#gpu2 held holder ? -> 2026-10-02T00:00:00Z
      m#gpu1 held holder a:x -> 2026-10-02T00:00:00.500000Z PPO walk
      m#gpu0 ? holder ? -> ? idle
    ");
}

#[test]
fn more_rows_than_the_limit_are_counted() {
    let world = World::new();
    let export = Export::full().with_all((1..=14).map(|number| Observation::issue(number).field("eat_hours", number)));
    world.debt().fold(&export).succeeds();
    let status = world.debt().status();
    assert_eq!(status.lines().filter(|line| line.starts_with("  o/r#")).count(), 12);
    assert!(status.ends_with("\n  ... 2 more live rows\n"), "{status}");
}

#[test]
fn control_and_bidirectional_letters_are_shown_as_numbers_in_the_status_only() {
    let world = World::new();
    let workload = "a\u{202e}b\u{7}c\u{2066}d\u{200f}e\u{9f}f\u{200b}g";
    let held = Observation::gpu(0).field("state", "held").field("workload", workload);
    world.gpu().fold(&Export::full().with(held)).succeeds();
    let status = world.gpu().status();
    let shown = "a\\u{202e}b\\u{7}c\\u{2066}d\\u{200f}e\\u{9f}f\u{200b}g";
    assert!(status.contains(shown), "{status}");
    assert_eq!(world.gpu().row("m#gpu0")["fields"]["workload"], workload);
}
