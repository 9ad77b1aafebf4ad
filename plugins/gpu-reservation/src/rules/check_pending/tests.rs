use std::collections::BTreeMap;

use plugin_api::LedgerKind;
use plugin_api::json::{Layout, text};
use proptest::prelude::*;

use super::*;
use crate::rules::GpuReservation;
use crate::rules::testing::{any_fields, with_ledger};

const HOLD: &str = concat!(
    r#"{"state":"held","holder":"po-1:tool","workload":"PPO","#,
    r#""started_at":"2026-09-17T18:00:00Z","expected_end":"2026-09-17T22:00:00Z"}"#
);
const OWN: &[(&str, &str)] = &[("entity", "m#gpu0"), ("my-lane", "po-1:tool")];

/// Asks with `arguments` at `now`; `fields` are those of row `m#gpu0`, `None` for no snapshot.
fn ask(fields: Option<&str>, now: &str, arguments: &[(&str, &str)]) -> VerbAnswer {
    let rows = fields.map(|fields| format!(r##"[{{"key":"m#gpu0","fields":{fields}}}]"##));
    let arguments: BTreeMap<_, _> =
        arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let now = Timestamp::parse(now).expect(now);
    with_ledger(rows.as_deref().unwrap_or("[]"), |ledger| {
        let rows = rows.as_ref().map(|_| ledger.rows);
        GpuReservation.verb(&VerbCall { verb: "check-pending", arguments, rows, now }).expect("an answer")
    })
}

/// The printed line and the exit code.
#[track_caller]
fn answered(answer: VerbAnswer) -> (String, u8) {
    match answer {
        VerbAnswer::Answer { exit, text, .. } => (text, exit),
        VerbAnswer::Refused { refusal, .. } => panic!("refused: {refusal:?}"),
    }
}

/// At 19:00, inside of [`HOLD`]'s window.
#[track_caller]
fn check(fields: &str, arguments: &[(&str, &str)], expected: (&str, u8)) {
    check_at(fields, "2026-09-17T19:00:00Z", arguments, expected);
}

#[track_caller]
fn check_at(fields: &str, now: &str, arguments: &[(&str, &str)], (line, exit): (&str, u8)) {
    assert_eq!(answered(ask(Some(fields), now, arguments)), (line.to_owned(), exit));
}

#[test]
fn without_a_snapshot_nothing_was_observed() {
    let line = "NO_OBS  m#gpu0  there is no snapshot, so nobody was ever seen holding it";
    assert_eq!(answered(ask(None, "2026-09-17T19:00:00Z", OWN)), (line.to_owned(), 0));
}

#[test]
fn without_a_row_nothing_was_observed() {
    check(HOLD, &[("entity", "m#gpu1")], ("NO_OBS  m#gpu1  nobody was ever seen holding it", 0));
    let line = "HOLD  M#gpu0  only m#gpu0 was ever seen; use its spelling if it is the same device";
    check(HOLD, &[("entity", "M#gpu0")], (line, 1));
}

#[test]
fn a_released_device_is_free_whatever_else_is_known() {
    let fields = r#"{"state":"released","holder":"m:w","expected_end":"2026-09-01T00:00:00Z"}"#;
    check(fields, OWN, ("RELEASED  m#gpu0  it was released", 0));
    check(r#"{"state":"released"}"#, &[("entity", "m#gpu0")], ("RELEASED  m#gpu0  it was released", 0));
}

#[test]
fn a_stale_hold_refuses_even_its_own_holder() {
    let fields = r#"{"state":"stale","holder":"po-1:tool"}"#;
    check(fields, OWN, ("STALE  m#gpu0  the hold of po-1:tool is stale", 2));
    check(r#"{"state":"stale"}"#, OWN, ("STALE  m#gpu0  the hold of an unknown lane is stale", 2));
}

#[test]
fn a_device_without_a_state_is_held_even_past_its_end() {
    let fields = r#"{"holder":"po-1:tool","expected_end":"2026-09-01T00:00:00Z"}"#;
    check(fields, OWN, ("HOLD  m#gpu0  its state was never observed", 1));
}

#[test]
fn the_own_hold_in_its_window_may_run() {
    check(HOLD, OWN, ("OK_TO_RUN  m#gpu0  held by po-1:tool until 2026-09-17T22:00:00Z", 0));
    check(
        r#"{"state":"held","holder":"po-1:tool"}"#,
        OWN,
        ("OK_TO_RUN  m#gpu0  held by po-1:tool until an unknown time", 0),
    );
}

#[test]
fn a_hold_of_another_lane_refuses() {
    let line = "HOLD  m#gpu0  held by po-1:tool, not by po-2:tool";
    check(HOLD, &[("entity", "m#gpu0"), ("my-lane", "po-2:tool")], (line, 1));
}

#[test]
fn a_lane_is_compared_whole_and_with_its_case() {
    for lane in ["po-1", "po-1:Tool", "PO-1:tool", "po-1:tool2"] {
        let line = format!("HOLD  m#gpu0  held by po-1:tool, not by {lane}");
        check(HOLD, &[("entity", "m#gpu0"), ("my-lane", lane)], (&line, 1));
    }
}

#[test]
fn blanks_around_the_own_lane_are_cut() {
    let arguments = [("entity", "m#gpu0"), ("my-lane", " po-1:tool\t")];
    check(HOLD, &arguments, ("OK_TO_RUN  m#gpu0  held by po-1:tool until 2026-09-17T22:00:00Z", 0));
}

#[test]
fn without_a_lane_every_hold_is_somebody_elses() {
    check(HOLD, &[("entity", "m#gpu0")], ("HOLD  m#gpu0  held by po-1:tool; --my-lane was not given", 1));
}

#[test]
fn a_hold_of_an_unknown_holder_refuses() {
    check(r#"{"state":"held"}"#, OWN, ("HOLD  m#gpu0  held by an unknown lane, not by po-1:tool", 1));
    let line = "HOLD  m#gpu0  held by an unknown lane; --my-lane was not given";
    check(r#"{"state":"held"}"#, &[("entity", "m#gpu0")], (line, 1));
}

// russellb/canhazgpu#41, SouthpawIN/turbofit#35 (public case 39): the boundary is stated and pinned.
#[test]
fn a_hold_ends_one_microsecond_after_its_end() {
    let in_time = "OK_TO_RUN  m#gpu0  held by po-1:tool until 2026-09-17T22:00:00Z";
    check_at(HOLD, "2026-09-17T22:00:00Z", OWN, (in_time, 0));
    let late = "OVERDUE  m#gpu0  the hold of po-1:tool was expected to end at 2026-09-17T22:00:00Z";
    check_at(HOLD, "2026-09-17T22:00:00.000001Z", OWN, (late, 2));
}

#[test]
fn a_hold_starts_exactly_at_its_start() {
    let in_time = "OK_TO_RUN  m#gpu0  held by po-1:tool until 2026-09-17T22:00:00Z";
    check_at(HOLD, "2026-09-17T18:00:00Z", OWN, (in_time, 0));
    let early = "HOLD  m#gpu0  held by po-1:tool, but not before 2026-09-17T18:00:00Z";
    check_at(HOLD, "2026-09-17T17:59:59.999999Z", OWN, (early, 1));
}

#[test]
fn a_fraction_of_a_second_is_compared_as_an_instant() {
    let fields = r#"{"state":"held","holder":"po-1:tool","expected_end":"2026-09-17T22:00:00.500000Z"}"#;
    let line = "OK_TO_RUN  m#gpu0  held by po-1:tool until 2026-09-17T22:00:00.500000Z";
    check_at(fields, "2026-09-17T22:00:00.5Z", OWN, (line, 0));
    let late = "OVERDUE  m#gpu0  the hold of po-1:tool was expected to end at 2026-09-17T22:00:00.500000Z";
    check_at(fields, "2026-09-17T22:00:01Z", OWN, (late, 2));
}

#[test]
fn an_overdue_hold_says_so_to_every_lane() {
    let fields = r#"{"state":"held","expected_end":"2026-09-17T18:00:00Z"}"#;
    let line = "OVERDUE  m#gpu0  the hold of an unknown lane was expected to end at 2026-09-17T18:00:00Z";
    check(fields, OWN, (line, 2));
    check(fields, &[("entity", "m#gpu0")], (line, 2));
}

#[test]
fn overdue_stands_before_not_started() {
    let fields = concat!(
        r#"{"state":"held","holder":"po-1:tool","#,
        r#""started_at":"2026-09-18T00:00:00Z","expected_end":"2026-09-17T18:00:00Z"}"#
    );
    let line = "OVERDUE  m#gpu0  the hold of po-1:tool was expected to end at 2026-09-17T18:00:00Z";
    check(fields, OWN, (line, 2));
}

#[test]
fn a_field_that_cannot_be_read_is_a_hold_by_name() {
    for (field, json) in [
        ("state", r#""Released""#),
        ("state", "null"),
        ("holder", "7"),
        ("expected_end", r#""never""#),
        ("expected_end", "9999999999"),
        ("started_at", "null"),
    ] {
        let fields = format!(r#"{{"holder":"po-1:tool","state":"held","{field}":{json}}}"#);
        // The last of two equal keys must not win by accident: keep one.
        let fields = match field {
            "state" => fields.replacen(r#""state":"held","#, "", 1),
            "holder" => fields.replacen(r#""holder":"po-1:tool","#, "", 1),
            _ => fields,
        };
        let line = format!("HOLD  m#gpu0  row m#gpu0: {field} holds {json}, which its type does not allow");
        check(&fields, OWN, (&line, 1));
    }
}

#[test]
fn a_released_row_with_an_unreadable_field_is_a_hold() {
    let line = "HOLD  m#gpu0  row m#gpu0: holder holds 7, which its type does not allow";
    check(r#"{"state":"released","holder":7}"#, OWN, (line, 1));
}

#[test]
fn with_require_hold_only_the_own_hold_exits_with_zero() {
    let arguments = [OWN, &[("require-hold", "")]].concat();
    check(HOLD, &arguments, ("OK_TO_RUN  m#gpu0  held by po-1:tool until 2026-09-17T22:00:00Z", 0));
    check(r#"{"state":"released"}"#, &arguments, ("RELEASED  m#gpu0  it was released", 1));
    check(r#"{"state":"stale"}"#, &arguments, ("STALE  m#gpu0  the hold of an unknown lane is stale", 2));
    check("{}", &arguments, ("HOLD  m#gpu0  its state was never observed", 1));
    let line = "NO_OBS  m#gpu0  there is no snapshot, so nobody was ever seen holding it";
    assert_eq!(answered(ask(None, "2026-09-17T19:00:00Z", &arguments)), (line.to_owned(), 1));
}

#[test]
fn the_entity_is_stripped_and_printed_as_given() {
    check(HOLD, &[("entity", " m#gpu0\n")], ("HOLD   m#gpu0\\u{a}  held by po-1:tool; --my-lane was not given", 1));
}

#[test]
fn leading_zeros_mean_the_same_device() {
    check(HOLD, &[("entity", "m#gpu000")], ("HOLD  m#gpu000  held by po-1:tool; --my-lane was not given", 1));
}

#[test]
fn json_has_four_keys_in_order() {
    match ask(Some(HOLD), "2026-09-17T19:00:00.5Z", OWN) {
        VerbAnswer::Answer { json, .. } => assert_eq!(
            text(&json, Layout::Spaced),
            concat!(
                r#"{"verdict": "OK_TO_RUN", "reason": "held by po-1:tool until 2026-09-17T22:00:00Z", "#,
                r##""entity": "m#gpu0", "now": "2026-09-17T19:00:00.500000Z"}"##
            )
        ),
        VerbAnswer::Refused { refusal, .. } => panic!("refused: {refusal:?}"),
    }
}

#[track_caller]
fn refused(arguments: &[(&str, &str)], code: &str, detail: &str) {
    let refusal = Refusal { code: code.to_owned(), detail: detail.to_owned() };
    assert_eq!(ask(Some(HOLD), "2026-09-17T19:00:00Z", arguments), VerbAnswer::Refused { exit: 2, refusal });
}

#[test]
fn an_entity_of_another_form_is_refused() {
    for entity in [
        "",
        "m",
        "m#gpu",
        "m#0",
        "m#GPU0",
        "m # gpu0",
        "m#gpu 0",
        "m#gpu0x",
        "m#gpu-1",
        "m#gpu+1",
        "#gpu0",
        "é#gpu0",
        "m#gpu0#gpu1",
        "o/r#7",
        "m#gpu9223372036854775808",
        "m#gpu\u{663}",
    ] {
        let detail =
            format!("--entity \"{entity}\" is no device; write <machine>#gpu<n> in lower case, e.g. po-1#gpu0");
        refused(&[("entity", entity), ("my-lane", "po-1:tool")], "entity_mismatch", &detail);
    }
}

#[test]
fn an_absent_entity_is_refused() {
    let detail = "--entity \"\" is no device; write <machine>#gpu<n> in lower case, e.g. po-1#gpu0";
    refused(&[("my-lane", "po-1:tool")], "entity_mismatch", detail);
}

#[test]
fn a_lane_that_is_none_is_refused_by_name() {
    for lane in ["", " ", "two words", "a:b:c", ":tool", "po-1:", "é"] {
        let detail = format!(
            "--my-lane \"{lane}\" is no lane; write machine or machine:workspace (ASCII letters, digits, . _ -)"
        );
        refused(&[("entity", "m#gpu0"), ("my-lane", lane)], "invalid_field_value", &detail);
    }
}

#[test]
fn another_verb_is_a_failure() {
    let now = Timestamp::from_micros(0);
    let call = VerbCall { verb: "release", arguments: BTreeMap::new(), rows: None, now };
    assert_eq!(GpuReservation.verb(&call).expect_err("no such verb").code, "unknown_verb");
}

#[test]
fn the_readme_lists_every_verdict_with_its_exit_codes() {
    let readme = include_str!("../../../README.md");
    let all = [Verdict::NoObs, Verdict::Released, Verdict::Stale, Verdict::Hold, Verdict::Overdue, Verdict::OkToRun];
    for verdict in all {
        let cells =
            format!("| `{}` | {} | {} |", verdict.word(), verdict.exit(Demand::Free), verdict.exit(Demand::OwnHold));
        assert!(readme.contains(&cells), "README.md lacks {cells}");
    }
}

proptest! {
    // The reference says OK_TO_RUN to every lane on a normal hold (D10); ours says it to the holder, in the window.
    #[test]
    fn ok_to_run_is_only_ever_said_to_the_holder_in_its_window(
        fields in any_fields(), hour in 0..24, lane in prop::sample::select(vec!["po-1:tool", "po-2"]),
    ) {
        let now = format!("2026-09-17T{hour:02}:00:00Z");
        let arguments = [("entity", "m#gpu0"), ("my-lane", lane), ("require-hold", "")];
        let (line, exit) = answered(ask(Some(&fields), &now, &arguments));
        let document = plugin_api::json::read(&fields).expect("fields are JSON");
        let field = |name: &str| document.value.get(name).and_then(Value::as_text);
        // All times of the strategy are whole hours of one day, so their texts compare as they do.
        let started = field("started_at").is_none_or(|start| *start <= *now);
        let in_time = field("expected_end").is_none_or(|end| *now <= *end);
        let may = field("state") == Some("held") && field("holder") == Some(lane) && started && in_time;
        prop_assert!(may || exit != 0, "{line}");
        prop_assert_eq!(exit == 0, line.starts_with("OK_TO_RUN  "));
    }
}
