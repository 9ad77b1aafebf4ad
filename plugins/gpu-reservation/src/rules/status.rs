//! The kind's lines of `status.md` (L 9.6).

use plugin_api::StatusText;
use plugin_api::rules::counter;
use plugin_api::rules::text::{is_space, printable};

use super::reservation::{Reservation, State};
use super::summary::Summary;

/// Three lines on the ledger, then at most `max_rows` live rows: the first to end first, open ends last, then by key.
pub(super) fn status(summary: &Summary<'_>, stale: u64, max_rows: usize) -> StatusText {
    let (holders, stale_holds) = (summary.holders.len(), summary.stale_holds.len());
    let head = vec![
        format!("state: {}", counter::line(&summary.state)),
        format!("held_by_machine: {}", counter::line(&summary.held_by_machine)),
        format!("holders: {holders} | stale holds {stale_holds} | stale rows {stale}"),
    ];
    let mut ranked: Vec<_> = summary.live.iter().collect();
    // Instants and not texts (D1): `.500000Z` sorts before `Z` of the same second. Stable, so equal ends stay in key
    // order.
    ranked.sort_by_key(|row| (row.expected_end.is_none(), row.expected_end));
    StatusText { head, rows: ranked.into_iter().take(max_rows).map(line).collect() }
}

fn line(row: &Reservation<'_>) -> String {
    let state = row.state.map_or("?", State::word);
    let holder = row.holder.unwrap_or("?");
    let end = row.expected_end.map_or_else(|| "?".to_owned(), |end| end.to_string());
    // The only free text of the page (N20); the rest is made of words, lanes and times.
    let workload = printable(row.workload.unwrap_or_default());
    let line = format!("  {} {state} holder {holder} -> {end} {workload}", row.key);
    line.trim_end_matches(is_space).to_owned()
}

#[cfg(test)]
mod tests {
    use plugin_api::LedgerKind;

    use crate::rules::GpuReservation;
    use crate::rules::testing::with_ledger;

    #[track_caller]
    fn check(rows: &str, max_rows: usize, expected: &[&str]) {
        with_ledger(rows, |ledger| {
            let status = GpuReservation.status(ledger, max_rows).expect("readable rows");
            assert_eq!([status.head, status.rows].concat(), expected);
        });
    }

    /// The lines of the rows alone.
    #[track_caller]
    fn check_rows(rows: &str, expected: &[&str]) {
        with_ledger(rows, |ledger| {
            assert_eq!(GpuReservation.status(ledger, 12).expect("readable rows").rows, expected);
        });
    }

    #[test]
    fn an_empty_ledger_has_dashes() {
        check("[]", 12, &["state: -", "held_by_machine: -", "holders: 0 | stale holds 0 | stale rows 0"]);
    }

    #[test]
    fn the_head_counts_live_rows_and_the_rows_are_cut() {
        let rows = r##"[{"key":"a#gpu0","stale":true,"fields":{"state":"held","holder":"m:w"}},
            {"key":"a#gpu1","fields":{"state":"stale","holder":"m:w"}},
            {"key":"a#gpu2","stale":true,"fields":{"state":"released"}}]"##;
        let head = ["state: held 1, stale 1", "held_by_machine: a 1", "holders: 1 | stale holds 1 | stale rows 1"];
        check(rows, 0, &head);
        check(rows, 1, &[&head[..], &["  a#gpu0 held holder m:w -> ?"]].concat());
    }

    #[test]
    fn rows_stand_by_end_then_key_and_open_ends_last() {
        check_rows(
            r##"[{"key":"a#gpu0","fields":{"workload":"no end"}},
                {"key":"a#gpu1","fields":{"state":"held","expected_end":"2026-09-17T20:00:00Z"}},
                {"key":"a#gpu2","fields":{"state":"held","holder":"m:w","expected_end":"2026-09-17T19:00:00Z"}},
                {"key":"a#gpu3","fields":{"expected_end":"2026-09-17T19:00:00Z","workload":"PPO walk"}}]"##,
            &[
                "  a#gpu2 held holder m:w -> 2026-09-17T19:00:00Z",
                "  a#gpu3 ? holder ? -> 2026-09-17T19:00:00Z PPO walk",
                "  a#gpu1 held holder ? -> 2026-09-17T20:00:00Z",
                "  a#gpu0 ? holder ? -> ? no end",
            ],
        );
    }

    #[test]
    fn ends_are_compared_as_instants() {
        check_rows(
            r##"[{"key":"a#gpu0","fields":{"expected_end":"2026-09-17T19:00:00.500000Z"}},
                {"key":"a#gpu1","fields":{"expected_end":"2026-09-17T19:00:00Z"}}]"##,
            &["  a#gpu1 ? holder ? -> 2026-09-17T19:00:00Z", "  a#gpu0 ? holder ? -> 2026-09-17T19:00:00.500000Z"],
        );
    }

    #[test]
    fn control_and_bidirectional_characters_of_a_workload_are_shown_by_number() {
        check_rows(
            r##"[{"key":"a#gpu0","fields":{"workload":"a\u001b[2Jb\u202ec"}}]"##,
            &["  a#gpu0 ? holder ? -> ? a\\u{1b}[2Jb\\u{202e}c"],
        );
    }

    #[test]
    fn an_unreadable_row_stops_the_status() {
        with_ledger(r##"[{"key":"a#gpu0","fields":{"expected_end":"soon"}}]"##, |ledger| {
            assert_eq!(GpuReservation.status(ledger, 12).expect_err("no rank").code, "unreadable_row");
        });
    }
}
