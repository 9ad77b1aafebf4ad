//! The kind's parts of summary and status against artifacts of the reference, cut to what a kind is given and gives.

use plugin_api::json::{Layout, read, text};
use plugin_api::{LedgerKind, Value};

use super::GpuReservation;
use super::testing::with_ledger;

/// `fixture` holds the rows of a snapshot, `status_max_rows`, the kind's part of its summary, and the kind's lines of
/// its status.
#[track_caller]
fn check(fixture: &str) {
    let document = read(fixture).expect("the fixture is JSON");
    let part = |key: &str| document.value.get(key).expect(key);
    let max_rows = part("max_rows").as_integer().and_then(|rows| usize::try_from(rows).ok()).expect("a number");
    with_ledger(&text(part("rows"), Layout::Compact), |ledger| {
        let summary = Value::object(GpuReservation.summary(ledger).expect("readable rows"));
        assert_eq!(text(&summary, Layout::Pretty(0)), text(part("summary"), Layout::Pretty(0)));
        let status = GpuReservation.status(ledger, max_rows).expect("readable rows");
        let lines = [status.head, status.rows].concat().into_iter().map(Value::from).collect();
        assert_eq!(text(&Value::List(lines), Layout::Pretty(0)), text(part("status"), Layout::Pretty(0)));
    });
}

#[test]
fn four_live_rows_of_two_states_and_one_without() {
    check(include_str!("../../tests/fixtures/four-live-rows.json"));
}

#[test]
fn a_ledger_without_live_rows() {
    check(include_str!("../../tests/fixtures/all-released.json"));
}

#[test]
fn five_live_rows_and_none_shown() {
    check(include_str!("../../tests/fixtures/no-row-shown.json"));
}
