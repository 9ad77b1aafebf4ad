//! What a person reads, as it stands on the page: show, history, verify, explain, a refusal, a verb's help.

use host_tests::{Export, Message, Observation, World};

fn devices() -> World {
    let world = World::new();
    let held = |index: u64, seen: &str, end: &str| {
        Observation::gpu(index).at(seen).field("state", "held").field("holder", "a:x").field("expected_end", end)
    };
    let export = Export::full()
        .with(held(0, "2026-09-29T00:00:00Z", "2026-10-02T00:00:00Z").field("workload", "walk \u{202e}forward"))
        .with(held(1, "2026-09-29T00:00:00Z", "2026-09-30T00:00:00Z"))
        .with(held(2, "2026-09-01T00:00:00Z", "2026-10-09T00:00:00Z"))
        .with(Observation::gpu(3).at("2026-09-29T00:00:00Z").field("state", "released"));
    world.gpu().fold(&export).succeeds();
    world
}

fn issue() -> World {
    let world = World::new();
    let said = |hours: f64, time: &str, actor: &str| {
        Message::from(
            Observation::issue(7).field("eat_hours", hours).at(time).by(actor).key("evidence", "gh issue view 7"),
        )
        .without("author")
    };
    let export = Export::full()
        .with(said(4.0, "2026-09-17T19:00:00Z", "po-1:w").id("m-1"))
        .with(said(2.5, "2026-09-29T19:00:00Z", "po-2:x").id("m-2"));
    world.debt().fold(&export).succeeds();
    world
}

#[test]
fn show_marks_what_is_overdue_and_stale() {
    let out = devices().gpu().run("show", ["--all"]).succeeds();
    insta::assert_snapshot!(out.stdout(), @r"
     row     state     holder  workload              started_at  expected_end          issue  observed
     m#gpu0  held      a:x     walk \u{202e}forward  -           2026-10-02T00:00:00Z  -      2026-09-29T00:00:00Z
     m#gpu1  held      a:x     -                     -           2026-09-30T00:00:00Z  -      2026-09-29T00:00:00Z  OVERDUE
     m#gpu2  held      a:x     -                     -           2026-10-09T00:00:00Z  -      2026-09-01T00:00:00Z  stale
     m#gpu3  released  -       -                     -           -                     -      2026-09-29T00:00:00Z  historical
    3 live, 1 historical, 1 stale, 1 overdue | folded at 2026-10-01T00:00:00Z
    ");
}

#[test]
fn history_starts_with_what_won() {
    let out = issue().debt().run("history", ["o/r#7"]).succeeds();
    insta::assert_snapshot!(out.stdout(), @r"
    o/r#7

    eat_hours
    * 2026-09-29T19:00:00Z  2.5  (won)
        by po-2:x (medium) from journal:message[1] id=m-2 message m-2
        gh issue view 7
      2026-09-17T19:00:00Z  4.0  (superseded)
        by po-1:w (medium) from journal:message[0] id=m-1 message m-1
        gh issue view 7
    ");
}

#[test]
fn verify_names_what_is_sound_and_what_is_not() {
    let world = issue();
    insta::assert_snapshot!(world.debt().run("verify", [""; 0]).succeeds().stdout(), @r"
    ok   state digest and every history entry
    ok   snapshot.json
    ok   summary.json
    ok   status.md
    ");
    let path = world.debt().path("snapshots/snapshot.json");
    let stored = std::fs::read_to_string(&path).expect("the snapshot is there");
    std::fs::write(&path, stored.replacen("po-1:w", "po-9:w", 1)).expect("the snapshot is ours");
    let out = world.debt().run("verify", [""; 0]);
    assert_eq!((out.code(), out.first_error_code()), (1, "VERIFY_FAILED"));
    insta::assert_snapshot!(out.stdout(), @r"
    ok   state digest and every history entry
    BAD  row o/r#7: its text is not what the fold wrote
    BAD  snapshot.json: its SHA-256 is not d9a9ec220d0c05232f691e778b028b720ed20aafcf4d977b14a2f3176c944664, or it is gone
    ok   summary.json
    ok   status.md
    ");
}

#[test]
fn explain_says_what_a_code_means_and_what_to_do() {
    let world = World::new();
    insta::assert_snapshot!(world.host(["explain", "entity_is_pr"]).succeeds().stdout(), @r"
    entity_is_pr (rejection by issue-debt)
      The evidence links a pull request with the entity's own number, so the entity is no issue.
      Observe the issue that the pull request works on, or cite evidence about the issue itself.
    ");
    insta::assert_snapshot!(world.host(["explain", "MISSING_CHECKPOINT"]).succeeds().stdout(), @r"
    MISSING_CHECKPOINT (refusal)
      The export covers only a tail of the journal, and there is no prior snapshot to fold it onto.
      Fold a full export first (--window-full when the export is one and does not say so).
    ");
}

#[test]
fn a_refusal_names_the_code_the_input_and_the_way_out() {
    let world = World::new();
    let flags = ["--entity", "o/r#7", "--fields-json", r#"{"eat_hours":"4 h"}"#];
    insta::assert_snapshot!(world.debt().run("append", flags).refused("invalid_field_value").stderr(), @r#"
    ERROR invalid_field_value: field eat_hours is "4 h", not a number from 0
    help: Correct the value; schema.json says what the field takes.
    "#);
}

#[test]
fn a_verb_of_a_kind_has_its_help() {
    let out = World::new().gpu().run("check-pending", ["--help"]).succeeds();
    insta::assert_snapshot!(out.stdout(), @r"
    Say whether a lane may run on a device now

    Usage: host run gpu-reservation check-pending [OPTIONS] --entity <TEXT>

    Options:
          --entity <TEXT>
              The device, <machine>#gpu<n> in lower case

          --my-lane <TEXT>
              The lane that asks, machine or machine:workspace; without it every hold is somebody else's

          --require-hold
              Exit 0 only for OK_TO_RUN: a device that nobody holds is refused too

          --state-dir <DIR>
              Folder of all ledgers' state

          --snapshot <FILE>
              The snapshot [default: snapshots/snapshot.json of the ledger]

          --now <TIME>
              Take this UTC time for the present

          --json
              Print one line of JSON

      -h, --help
              Print help (see a summary with '-h')

    Options of every command:
          --plugin-dir <DIR>
              Search this folder for plugins before the usual ones; may be given several times

          --allow-unpinned
              Load plugins too that are neither pinned nor beside the binary, with a warning

          --color <WHEN>
              When to colour what a person reads; NO_COLOR is honoured

              Possible values:
              - auto:   On a terminal, unless NO_COLOR is set
              - always: Always
              - never:  Never
              
              [default: auto]

      -v, --verbose...
              Log more on stderr: -v informs, -vv debugs, -vvv traces; RUST_LOG says it in detail

    Exit codes:
      0  OK_TO_RUN; also NO_OBS and RELEASED, unless --require-hold is given
      1  HOLD; with --require-hold also NO_OBS and RELEASED; or the snapshot cannot be read
      2  STALE or OVERDUE; or --entity or --my-lane is not valid
    ");
}
