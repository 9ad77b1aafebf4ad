//! A plugin that panics or lies is a typed failure that names kind and call; the host lives.

use std::collections::BTreeMap;
use std::process::Command;

use host::ledger::kind::{Batch, BatchCustom, BatchObservation, Kind, KindFailure};
use plugin_api::rules::time::Timestamp;
use plugin_api::{Counts, LedgerView, VerbCall};

use crate::world::{World, lines};

const LEDGER: LedgerView<'static> =
    LedgerView { rows: &[], counts: Counts { total: 0, live: 0, historical: 0, incomplete: 0, stale: 0 } };

fn observation(evidence: &str) -> BatchObservation<'_> {
    BatchObservation { entity: vec!["1"], actor: "me", evidence, observed_at: "2026-09-17T19:00:00Z" }
}

fn judge(kind: &dyn Kind, evidence: &str, value: Option<&str>) -> Result<(), KindFailure> {
    let customs = value.map(|value| BatchCustom { observation: 0, field: 1, value });
    let batch = Batch { observations: vec![observation(evidence)], customs: customs.into_iter().collect() };
    kind.judge(&batch).map(drop)
}

fn verb(kind: &dyn Kind) -> Result<(), KindFailure> {
    let call = VerbCall { verb: "ask", arguments: BTreeMap::new(), rows: None, now: Timestamp::from_micros(0) };
    kind.verb(&call).map(drop)
}

/// Asks the kind and compares kind, call, code and message; `..` stands for a place in a source file.
#[track_caller]
fn check(name: &str, ask: impl FnOnce(&dyn Kind) -> Result<(), KindFailure>, expected: &str) {
    let failure = ask(&World::with(&["panics"]).kind(name)).expect_err("it misbehaves").to_string();
    match expected.split_once("..") {
        Some((start, end)) => {
            assert!(failure.starts_with(start) && failure.ends_with(end), "{failure}");
            assert!(failure.contains("src/lib.rs:"), "no place: {failure}");
        }
        None => assert_eq!(failure, expected),
    }
}

#[test]
fn a_panic_in_check_names_plugin_call_place_and_text() {
    check(
        "panics",
        |kind| judge(kind, "check", None),
        "plugin panics failed in judge: panicked at ..: in check of me (panic)",
    );
}

#[test]
fn a_panic_in_normalise_is_a_failure_of_judge() {
    check(
        "panics",
        |kind| judge(kind, "fine", Some("1")),
        "plugin panics failed in judge: panicked at ..: in normalise of odd (panic)",
    );
}

#[test]
fn a_panic_in_summary_is_a_failure_of_summary() {
    check(
        "panics",
        |kind| kind.summary(&LEDGER).map(drop),
        "plugin panics failed in summary: panicked at ..: in summary (panic)",
    );
}

#[test]
fn a_panic_that_is_resumed_from_another_thread_is_a_failure_and_the_thread_is_in_the_log() {
    check(
        "panics",
        |kind| kind.status(&LEDGER, 1).map(drop),
        "plugin panics failed in status: panicked: in a thread of its own (panic)",
    );
    let logged = lines();
    let line = logged.iter().find(|line| line.contains("in a thread of its own")).expect("logged");
    assert!(
        line.starts_with("ERROR plugin message=in a thread of its own plugin=test-plugin-panics module=panic"),
        "{line}"
    );
    assert!(line.contains(r#"fields={"location":""#) && line.ends_with(r#"","thread":"unnamed"}"#), "{line}");
}

#[test]
fn a_panic_in_verb_is_a_failure_of_verb() {
    check("panics", verb, "plugin panics failed in verb: panicked at ..: in verb (panic)");
}

#[test]
fn after_a_panic_the_kind_still_answers() {
    let world = World::with(&["panics"]);
    let kind = world.kind("panics");
    assert!(judge(&kind, "check", None).is_err());
    assert_eq!(judge(&kind, "fine", None), Ok(()));
}

#[test]
fn a_panic_while_it_is_closed_does_not_end_the_host() {
    let world = World::with(&["panics"]);
    let kind = world.kind("brittle");
    kind.status(&LEDGER, 1).expect("a status");
    drop(kind);
    let logged = lines();
    let closing = logged.iter().find(|line| line.contains("the kind failed while it was closed")).expect("logged");
    assert!(closing.starts_with("WARN plugin") && closing.contains(": in drop"), "{closing}");
}

#[test]
fn a_failure_of_its_own_keeps_its_code() {
    check(
        "brittle",
        |kind| kind.summary(&LEDGER).map(drop),
        "plugin brittle failed in summary: cannot count (own_code)",
    );
}

#[test]
fn a_plugin_that_panics_while_it_is_made_is_not_loaded() {
    let error = World::with(&["opening"]).open("opening").map(drop).expect_err("it panics");
    assert_eq!(error.code().code(), "PLUGIN_FAILED");
    let text = error.to_string();
    assert!(
        text.contains("it failed in declarations: panicked at ") && text.contains("while it was made (panic)"),
        "{text}"
    );
}

#[test]
fn a_reason_that_nobody_declared_is_an_invalid_answer() {
    check(
        "liar",
        |kind| judge(kind, "unheard_of", None),
        "plugin liar failed in judge: unheard_of is a reason that neither the host nor the kind has; its detail: made up \
         (invalid_answer)",
    );
}

#[test]
fn a_refusal_without_a_code_is_an_invalid_answer() {
    check(
        "liar",
        |kind| judge(kind, "", None),
        "plugin liar failed in judge: a refusal has no code; its detail is: made up (invalid_answer)",
    );
}

#[test]
fn a_normalised_value_that_json_cannot_hold_is_an_invalid_answer() {
    check(
        "liar",
        |kind| judge(kind, "fine", Some("null")),
        "plugin liar failed in judge: the normalised value of odd is not JSON: expected value at line 1 column 1 \
         (invalid_answer)",
    );
}

#[test]
fn a_normalised_integer_that_does_not_fit_is_an_invalid_answer() {
    check(
        "liar",
        |kind| judge(kind, "fine", Some("1")),
        "plugin liar failed in judge: the normalised value of odd has the integer 18446744073709551615, which does not fit \
         64 bits (invalid_answer)",
    );
}

#[test]
fn a_summary_that_json_cannot_hold_is_an_invalid_answer() {
    check(
        "liar",
        |kind| kind.summary(&LEDGER).map(drop),
        "plugin liar failed in summary: the summary is not JSON: expected value at line 1 column 8 (invalid_answer)",
    );
}

#[test]
fn a_status_with_too_many_rows_is_an_invalid_answer() {
    check(
        "liar",
        |kind| kind.status(&LEDGER, 2).map(drop),
        "plugin liar failed in status: the status has 3 rows, 2 were asked for (invalid_answer)",
    );
}

#[test]
fn an_exit_code_of_the_host_is_an_invalid_answer() {
    check("liar", verb, "plugin liar failed in verb: the exit code is not one of 0 to 15 (invalid_answer)");
}

/// The panic hook of a plugin prints on the process' own stderr, past the capturing of tests: so a process is asked.
#[test]
fn a_panic_of_a_plugin_prints_nothing_by_itself() {
    let mut test = Command::new(std::env::current_exe().expect("this test"));
    test.args(["--exact", "misbehaves::a_panic_in_summary_is_a_failure_of_summary", "--nocapture"]);
    let output = test.output().expect("it runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("1 passed"), "{stdout}");
    assert!(!stderr.contains("in summary"), "{stderr}");
}
