//! The live devices, and the kind's part of `summary.json` (L 9.4).

use std::collections::BTreeSet;

use plugin_api::rules::counter;
use plugin_api::{Failure, LedgerView, Value};

use super::declaration::STATE;
use super::reservation::{Reservation, State};

/// The ledger in numbers and names.
#[derive(Debug)]
pub(super) struct Summary<'r> {
    /// Live rows in key order.
    pub(super) live: Vec<Reservation<'r>>,
    /// Live rows by state, in counter order; rows without one are not counted.
    pub(super) state: Vec<(&'r str, u64)>,
    /// Live rows that are held by machine, by name.
    pub(super) held_by_machine: Vec<(&'r str, u64)>,
    /// Holders of live rows, whatever the state.
    pub(super) holders: BTreeSet<&'r str>,
    /// Keys of live rows whose hold is stale, sorted.
    pub(super) stale_holds: Vec<&'r str>,
}

impl<'r> Summary<'r> {
    /// Sums up the ledger.
    ///
    /// # Errors
    /// `unreadable_row` when a row holds a value that is not of its declared type.
    pub(super) fn of(ledger: &LedgerView<'r>) -> Result<Self, Failure> {
        let live = ledger.live().map(Reservation::read).collect::<Result<Vec<_>, _>>()?;
        let in_state = |state: State| live.iter().filter(move |row| row.state == Some(state));
        Ok(Self {
            state: counter::count(live.iter().filter_map(|row| row.state.map(State::word))),
            held_by_machine: counter::count_by_name(in_state(State::Held).map(|row| row.machine)),
            holders: live.iter().filter_map(|row| row.holder).collect(),
            stale_holds: in_state(State::Stale).map(|row| row.key).collect(),
            live,
        })
    }

    /// Keys and values after `rows`, in printed order.
    pub(super) fn json(&self) -> Vec<(String, Value<'static>)> {
        let parts = [
            (STATE, counter::object(&self.state)),
            ("held_by_machine", counter::object(&self.held_by_machine)),
            ("holders", Value::List(self.holders.iter().map(|holder| Value::string(*holder)).collect())),
            ("stale_holds", Value::List(self.stale_holds.iter().map(|key| Value::string(*key)).collect())),
        ];
        parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::LedgerKind;
    use plugin_api::json::{Layout, read, text};
    use proptest::prelude::*;

    use super::*;
    use crate::rules::GpuReservation;
    use crate::rules::testing::{any_fields, with_ledger};

    #[track_caller]
    fn check(rows: &str, expected: &str) {
        with_ledger(rows, |ledger| {
            let summary = Value::object(GpuReservation.summary(ledger).expect("readable rows"));
            assert_eq!(text(&summary, Layout::Compact), expected);
        });
    }

    #[test]
    fn an_empty_ledger_has_empty_parts() {
        check("[]", r#"{"state":{},"held_by_machine":{},"holders":[],"stale_holds":[]}"#);
    }

    #[test]
    fn states_stand_by_count_and_machines_by_name() {
        check(
            r##"[{"key":"b#gpu0","fields":{"state":"held"}},{"key":"b#gpu1","fields":{"state":"held"}},
                {"key":"a#gpu0","fields":{"state":"held"}},{"key":"c#gpu0","fields":{"state":"stale"}}]"##,
            r##"{"state":{"held":3,"stale":1},"held_by_machine":{"a":1,"b":2},"holders":[],"stale_holds":["c#gpu0"]}"##,
        );
    }

    #[test]
    fn holders_are_a_sorted_set_over_live_rows_of_any_state() {
        check(
            r##"[{"key":"a#gpu0","fields":{"state":"held","holder":"z"}},{"key":"a#gpu1","fields":{"holder":"m:w"}},
                {"key":"a#gpu2","fields":{"state":"stale","holder":"z"}},
                {"key":"a#gpu3","fields":{"state":"released","holder":"gone"}}]"##,
            r##"{"state":{"held":1,"stale":1},"held_by_machine":{"a":1},"holders":["m:w","z"],"stale_holds":["a#gpu2"]}"##,
        );
    }

    #[test]
    fn released_rows_are_not_counted() {
        check(
            r##"[{"key":"a#gpu0","fields":{"state":"released","holder":"m:w"}}]"##,
            r#"{"state":{},"held_by_machine":{},"holders":[],"stale_holds":[]}"#,
        );
    }

    proptest! {
        #[test]
        fn any_rows_give_a_readable_summary_or_a_named_failure(fields in prop::collection::vec(any_fields(), 0..6)) {
            let rows = fields.iter().zip(0..).map(|(fields, n)| format!(r##"{{"key":"m#gpu{n}","fields":{fields}}}"##));
            with_ledger(&format!("[{}]", rows.collect::<Vec<_>>().join(",")), |ledger| {
                match GpuReservation.summary(ledger) {
                    Ok(parts) => assert!(read(&text(&Value::object(parts), Layout::Compact)).is_ok()),
                    Err(failure) => assert_eq!(failure.code, "unreadable_row"),
                }
            });
        }
    }
}
