//! The kind's lines of `status.md` (L 9.5).
//!
//! Nothing shown here can hold a control or bidirectional character (N20): keys are made of word characters, the rest
//! are words of an enum and numbers.

use plugin_api::StatusText;
use plugin_api::rules::{counter, number};

use super::row::Debt;
use super::totals::Totals;

/// Three lines on the ledger, then at most `max_rows` live rows: most hours first, equal ones by key.
pub(super) fn status(totals: &Totals<'_>, stale: u64, max_rows: usize) -> StatusText {
    let hours = number::fixed(totals.hours().unwrap_or(0.0), 2);
    let (prs, closeable) = (totals.prs(), totals.closeable_now.len());
    let followups = totals.followups;
    let head = vec![
        format!("eat_hours {hours} | remaining_atomic_prs {prs} | closeable-now {closeable} | stale rows {stale}"),
        format!("state_class: {}", counter::line(&totals.state_class)),
        format!(
            "followups: issue {}, waiver {}, none {}, missing {}",
            followups.issue, followups.waiver, followups.none, followups.missing
        ),
    ];
    let mut ranked: Vec<_> = totals.live.iter().collect();
    // Stable, so rows of equal hours stay in key order.
    ranked.sort_by(|a, b| b.hours.total_cmp(&a.hours));
    StatusText { head, rows: ranked.into_iter().take(max_rows).map(row).collect() }
}

fn row(debt: &Debt<'_>) -> String {
    let state_class = debt.state_class.unwrap_or("?");
    let closeability = debt.closeability.unwrap_or("?");
    let hours = number::fixed(debt.hours, 2);
    format!("  {} {state_class} eat {hours}h prs {} close {closeability}", debt.key, debt.prs)
}

#[cfg(test)]
mod tests {
    use plugin_api::LedgerKind;

    use crate::rules::IssueDebt;
    use crate::rules::testing::with_ledger;

    #[track_caller]
    fn check(rows: &str, max_rows: usize, expected: &[&str]) {
        with_ledger(rows, |ledger| {
            let status = IssueDebt.status(ledger, max_rows).expect("readable rows");
            assert_eq!([status.head, status.rows].concat(), expected);
        });
    }

    #[test]
    fn an_empty_ledger_has_zeros_and_dashes() {
        check(
            "[]",
            12,
            &[
                "eat_hours 0.00 | remaining_atomic_prs 0 | closeable-now 0 | stale rows 0",
                "state_class: -",
                "followups: issue 0, waiver 0, none 0, missing 0",
            ],
        );
    }

    #[test]
    fn rows_stand_by_hours_then_key_and_say_what_is_not_known() {
        let rows = r##"[
            {"key":"o/r#1","fields":{"eat_hours":0.125,"followup":null}},
            {"key":"o/r#2","stale":true,"fields":{"state_class":"deferred","eat_hours":4.0,"remaining_atomic_prs":3}},
            {"key":"o/r#3","fields":{"state_class":"deferred","closeability":"closeable-now","eat_hours":4.0}},
            {"key":"o/r#4","stale":true,"fields":{"state_class":"closed","eat_hours":9.0}}]"##;
        check(
            rows,
            12,
            &[
                "eat_hours 8.12 | remaining_atomic_prs 3 | closeable-now 1 | stale rows 1",
                "state_class: deferred 2",
                "followups: issue 0, waiver 0, none 1, missing 3",
                "  o/r#2 deferred eat 4.00h prs 3 close ?",
                "  o/r#3 deferred eat 4.00h prs 0 close closeable-now",
                "  o/r#1 ? eat 0.12h prs 0 close ?",
            ],
        );
    }

    #[test]
    fn only_so_many_rows_are_listed() {
        let rows = r##"[{"key":"o/r#1","fields":{}},{"key":"o/r#2","fields":{"eat_hours":1.0}}]"##;
        let head = [
            "eat_hours 1.00 | remaining_atomic_prs 0 | closeable-now 0 | stale rows 0",
            "state_class: -",
            "followups: issue 0, waiver 0, none 0, missing 2",
        ];
        check(rows, 0, &head);
        check(rows, 1, &[&head[..], &["  o/r#2 ? eat 1.00h prs 0 close ?"]].concat());
    }

    #[test]
    fn huge_hours_print_all_digits() {
        check(
            r##"[{"key":"o/r#1","fields":{"eat_hours":1e16}}]"##,
            12,
            &[
                "eat_hours 10000000000000000.00 | remaining_atomic_prs 0 | closeable-now 0 | stale rows 0",
                "state_class: -",
                "followups: issue 0, waiver 0, none 0, missing 1",
                "  o/r#1 ? eat 10000000000000000.00h prs 0 close ?",
            ],
        );
    }
}
