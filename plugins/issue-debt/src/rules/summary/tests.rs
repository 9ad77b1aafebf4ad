use plugin_api::json::{Layout, read, text};
use plugin_api::{LedgerKind, Value};
use proptest::prelude::*;

use crate::rules::IssueDebt;
use crate::rules::testing::{any_value, with_ledger};

fn printed(rows: &str) -> String {
    with_ledger(rows, |ledger| text(&Value::object(IssueDebt.summary(ledger).expect("readable rows")), Layout::Compact))
}

/// The value under `path` (keys joined by `.`) of the summary of `rows`.
#[track_caller]
fn check(rows: &str, path: &str, expected: &str) {
    let summary = printed(rows);
    let document = read(&summary).expect("the summary is JSON");
    let found = path.split('.').try_fold(&document.value, |value, key| value.get(key));
    assert_eq!(found.map(|value| text(value, Layout::Compact)).as_deref(), Some(expected), "{path} in {summary}");
}

/// One row for each list of fields, with ascending keys `o/r#1`, `o/r#2`.
fn rows(fields: &[&str]) -> String {
    let rows =
        fields.iter().zip(1..).map(|(fields, issue)| format!(r##"{{"key":"o/r#{issue}","fields":{{{fields}}}}}"##));
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

#[test]
fn without_rows_the_hours_are_the_integer_zero_and_no_row_is_the_greatest() {
    assert_eq!(
        printed("[]"),
        concat!(
            r#"{"state_class":{},"closeability":{},"closeable_now":[],"#,
            r#""remaining_atomic_prs":{"total":0,"by_state_class":{}},"#,
            r#""eat_hours":{"total":0,"by_state_class":{},"max_row":null},"#,
            r#""dependencies":{"rows_with_dependencies":0,"edges":0,"external_edges":0},"#,
            r#""followups":{"issue":0,"waiver":0,"none":0,"missing":0}}"#
        )
    );
}

#[test]
fn with_only_historical_rows_the_hours_are_the_integer_zero() {
    let rows = rows(&[r#""state_class":"closed","eat_hours":3.0,"remaining_atomic_prs":2"#]);
    check(&rows, "eat_hours", r#"{"total":0,"by_state_class":{},"max_row":null}"#);
    check(&rows, "remaining_atomic_prs", r#"{"total":0,"by_state_class":{}}"#);
}

#[test]
fn a_single_row_without_hours_is_the_greatest_at_zero() {
    let rows = rows(&[""]);
    check(
        &rows,
        "eat_hours",
        r##"{"total":0.0,"by_state_class":{"unknown":0.0},"max_row":{"key":"o/r#1","eat_hours":0.0}}"##,
    );
}

#[test]
fn negative_zero_hours_are_zero() {
    let rows = rows(&[r#""eat_hours":-0.0"#]);
    check(
        &rows,
        "eat_hours",
        r##"{"total":0.0,"by_state_class":{"unknown":0.0},"max_row":{"key":"o/r#1","eat_hours":0.0}}"##,
    );
}

#[test]
fn the_sum_of_a_class_is_rounded_after_each_addition() {
    // 0.1 + 0.2 + 0.005 is 0.305 with each sum rounded, and 0.30500000000000005 without: 0.3 and 0.31 in two decimals.
    let rows = rows(&[r#""eat_hours":0.1"#, r#""eat_hours":0.2"#, r#""eat_hours":0.005"#]);
    check(&rows, "eat_hours.by_state_class", r#"{"unknown":0.3}"#);
}

#[test]
fn the_total_adds_classes_in_order_of_first_appearance() {
    // (1e16 + 1.0) + 1.0 is 1e16, 1.0 + 1.0 + 1e16 is 10000000000000002.
    let (deferred, stale, blocked) = (
        r#""state_class":"deferred","eat_hours":1.0"#,
        r#""state_class":"open-stale","eat_hours":1.0"#,
        r#""state_class":"open-blocked","eat_hours":1e16"#,
    );
    check(&rows(&[deferred, stale, blocked]), "eat_hours.total", "1.0000000000000002e+16");
    check(&rows(&[blocked, stale, deferred]), "eat_hours.total", "1e+16");
}

#[test]
fn class_sums_print_two_decimals_and_the_greatest_row_all_of_its_own() {
    let rows = rows(&[r#""state_class":"deferred","eat_hours":2.675"#, r#""eat_hours":0.125"#]);
    check(&rows, "eat_hours.by_state_class", r#"{"deferred":2.67,"unknown":0.12}"#);
    check(&rows, "eat_hours.total", "2.8");
    check(&rows, "eat_hours.max_row", r##"{"key":"o/r#1","eat_hours":2.675}"##);
}

#[test]
fn a_sum_of_hours_beyond_the_greatest_float_stays_there() {
    let most = r#""eat_hours":1.7976931348623157e308"#;
    let rows = rows(&[most, most, r#""state_class":"deferred","eat_hours":1.7976931348623157e308"#]);
    check(
        &rows,
        "eat_hours.by_state_class",
        r#"{"deferred":1.7976931348623157e+308,"unknown":1.7976931348623157e+308}"#,
    );
    check(&rows, "eat_hours.total", "1.7976931348623157e+308");
}

#[test]
fn of_equal_hours_the_greatest_key_is_the_greatest_row() {
    let rows = rows(&[r#""eat_hours":2.0"#, r#""eat_hours":3.0"#, r#""eat_hours":3.0"#, ""]);
    check(&rows, "eat_hours.max_row.key", r##""o/r#3""##);
}

#[test]
fn pull_requests_are_summed_beyond_64_bits() {
    let most = r#""remaining_atomic_prs":9223372036854775807"#;
    let rows = rows(&[most, most, r#""state_class":"deferred","remaining_atomic_prs":9223372036854775807"#]);
    check(&rows, "remaining_atomic_prs.total", "27670116110564327421");
    check(
        &rows,
        "remaining_atomic_prs.by_state_class",
        r#"{"deferred":9223372036854775807,"unknown":18446744073709551614}"#,
    );
}

#[test]
fn a_row_without_a_class_is_totalled_as_unknown_but_not_counted() {
    let rows = rows(&[r#""remaining_atomic_prs":1"#, r#""state_class":"unknown","remaining_atomic_prs":2"#]);
    check(&rows, "remaining_atomic_prs.by_state_class", r#"{"unknown":3}"#);
    check(&rows, "state_class", r#"{"unknown":1}"#);
}

#[test]
fn counters_list_the_most_frequent_first_and_skip_historical_rows() {
    let rows = rows(&[
        r#""state_class":"open-stale","closeability":"unknown""#,
        r#""state_class":"deferred","closeability":"not-closeable""#,
        r#""state_class":"open-stale""#,
        r#""state_class":"closed","closeability":"not-closeable""#,
    ]);
    check(&rows, "state_class", r#"{"open-stale":2,"deferred":1}"#);
    check(&rows, "closeability", r#"{"not-closeable":1,"unknown":1}"#);
}

#[test]
fn only_live_rows_are_closeable_now() {
    let closeable = r#""closeability":"closeable-now""#;
    let rows = rows(&[closeable, r#""state_class":"closed","closeability":"closeable-now""#, closeable]);
    check(&rows, "closeable_now", r##"["o/r#1","o/r#3"]"##);
}

#[test]
fn dependencies_count_live_rows_edges_and_external_edges() {
    let external = r#"{"kind":"external","repo":"o/r","number":null,"note":null}"#;
    let issue = r#"{"kind":"issue","repo":"o/r","number":1,"note":null}"#;
    let rows = rows(&[
        &format!(r#""dependencies":[{external},{issue},{issue}]"#),
        r#""dependencies":[]"#,
        "",
        &format!(r#""dependencies":[{external}]"#),
        &format!(r#""state_class":"closed","dependencies":[{external}]"#),
    ]);
    check(&rows, "dependencies", r#"{"rows_with_dependencies":2,"edges":4,"external_edges":2}"#);
}

#[test]
fn followups_count_historical_rows_too() {
    let rows = rows(&[
        r#""followup":null"#,
        r#""followup":{"kind":"none"}"#,
        r#""followup":{"kind":"issue","repo":"o/r","number":3}"#,
        r#""state_class":"closed","followup":{"kind":"waiver","reason":"x"}"#,
        r#""state_class":"closed""#,
        "",
    ]);
    check(&rows, "followups", r#"{"issue":1,"waiver":1,"none":2,"missing":2}"#);
}

#[test]
fn an_unreadable_row_stops_the_summary() {
    with_ledger(&rows(&[r#""eat_hours":"4""#]), |ledger| {
        let failure = IssueDebt.summary(ledger).expect_err("a total over it would be wrong");
        assert_eq!(failure.message, r#"row o/r#1: eat_hours holds "4", which its type does not allow"#);
    });
}

/// Fields of any sort under the declared names, well typed more often than not.
fn any_fields() -> impl Strategy<Value = String> {
    let class = prop::sample::select(vec![r#""open-stale""#, r#""deferred""#, r#""closed""#, r#""unknown""#]);
    let hours = any::<f64>().prop_filter("finite", |hours| hours.is_finite()).prop_map(|hours| {
        let mut text = String::new();
        plugin_api::json::write_float(&mut text, hours.abs());
        text
    });
    let typed = (class, hours, 0..i64::MAX).prop_map(|(class, hours, prs)| {
        format!(r#""state_class":{class},"eat_hours":{hours},"remaining_atomic_prs":{prs}"#)
    });
    let names = ["state_class", "closeability", "remaining_atomic_prs", "eat_hours", "dependencies", "followup"];
    let hostile = (prop::sample::select(names.to_vec()), any_value())
        .prop_map(|(name, value)| format!(r#""{name}":{}"#, text(&value, Layout::Compact)));
    prop_oneof![4 => typed, 1 => hostile]
}

proptest! {
    #[test]
    fn any_rows_give_a_readable_summary_or_a_named_failure(fields in prop::collection::vec(any_fields(), 0..6)) {
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        with_ledger(&rows(&fields), |ledger| match IssueDebt.summary(ledger) {
            // An infinite total would print as `inf`, which is no JSON.
            Ok(parts) => assert!(read(&text(&Value::object(parts), Layout::Compact)).is_ok()),
            Err(failure) => assert_eq!(failure.code, "unreadable_row"),
        });
    }

    #[test]
    fn the_total_of_pull_requests_is_the_sum_of_all_live_rows(prs in prop::collection::vec(0..i64::MAX, 0..6)) {
        let fields: Vec<String> = prs.iter().zip(["open-stale", "deferred", "unknown"].iter().cycle())
            .map(|(prs, class)| format!(r#""state_class":"{class}","remaining_atomic_prs":{prs}"#)).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let sum: i128 = prs.iter().copied().map(i128::from).sum();
        check(&rows(&fields), "remaining_atomic_prs.total", &sum.to_string());
    }
}
