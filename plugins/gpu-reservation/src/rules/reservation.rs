//! A folded row, read once into types.

use plugin_api::rules::text::is_lane;
use plugin_api::rules::time::Timestamp;
use plugin_api::{Failure, Row, Value};

use super::declaration::{EXPECTED_END, HOLDER, MACHINE, STARTED_AT, STATE, WORKLOAD};

/// Whether a device is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Somebody holds it.
    Held,
    /// Nobody holds it; the row is historical.
    Released,
    /// It is held, and whoever looked found no sign of life of the holder.
    Stale,
}

impl State {
    /// Every state, in declared order.
    pub(super) const ALL: [Self; 3] = [Self::Held, Self::Released, Self::Stale];

    /// The word in observations and artifacts.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Released => "released",
            Self::Stale => "stale",
        }
    }

    fn read(value: &Value<'_>) -> Option<Self> {
        let text = value.as_text()?;
        Self::ALL.into_iter().find(|state| state.word() == text)
    }
}

/// One device. A field is `None` when nobody ever observed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservation<'r> {
    /// Row key.
    pub(super) key: &'r str,
    /// Machine of the device.
    pub(super) machine: &'r str,
    /// Whether it is held.
    pub(super) state: Option<State>,
    /// The lane that holds it; a valid one.
    pub(super) holder: Option<&'r str>,
    /// What it is held for.
    pub(super) workload: Option<&'r str>,
    /// Start of the hold.
    pub(super) started_at: Option<Timestamp>,
    /// End of the hold.
    pub(super) expected_end: Option<Timestamp>,
}

impl<'r> Reservation<'r> {
    /// Reads a row.
    ///
    /// # Errors
    /// `unreadable_row` when a value is not of its declared type, so that it never counts as one that was not observed.
    pub(super) fn read(row: &'r Row<'r>) -> Result<Self, Failure> {
        Ok(Self {
            key: row.key,
            machine: row.entity.text(MACHINE),
            state: row.read(STATE, State::read)?,
            holder: row.read(HOLDER, |value| value.as_text().filter(|holder| is_lane(holder)))?,
            workload: row.read(WORKLOAD, Value::as_text)?,
            started_at: row.read(STARTED_AT, time)?,
            expected_end: row.read(EXPECTED_END, time)?,
        })
    }
}

fn time(value: &Value<'_>) -> Option<Timestamp> {
    Timestamp::parse(value.as_text()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::with_ledger;

    /// `expected` is the message of the failure to read a row with `fields`.
    #[track_caller]
    fn unreadable(fields: &str, expected: &str) {
        with_ledger(&format!(r##"[{{"key":"m#gpu0","fields":{fields}}}]"##), |ledger| {
            let failure = Reservation::read(&ledger.rows[0]).expect_err(fields);
            assert_eq!((failure.code.as_str(), failure.message.as_str()), ("unreadable_row", expected));
        });
    }

    #[test]
    fn nothing_observed_is_nothing_known() {
        with_ledger(r##"[{"key":"m#gpu0","fields":{}}]"##, |ledger| {
            let expected = Reservation {
                key: "m#gpu0",
                machine: "m",
                state: None,
                holder: None,
                workload: None,
                started_at: None,
                expected_end: None,
            };
            assert_eq!(Reservation::read(&ledger.rows[0]), Ok(expected));
        });
    }

    #[test]
    fn a_value_of_another_type_is_named() {
        for (field, json) in [
            ("state", r#""Held""#),
            ("state", "null"),
            ("holder", "7"),
            ("holder", r#"" m:w""#),
            ("holder", r#""""#),
            ("workload", "true"),
            ("started_at", "0"),
            ("started_at", r#""soon""#),
            ("expected_end", r#""2026-09-17T19:00:00""#),
            ("expected_end", "null"),
        ] {
            let fields = format!(r#"{{"{field}":{json}}}"#);
            unreadable(&fields, &format!("row m#gpu0: {field} holds {json}, which its type does not allow"));
        }
    }
}
