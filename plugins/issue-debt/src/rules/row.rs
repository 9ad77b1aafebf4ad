//! A folded row, read once into types.

use plugin_api::{Failure, Row, Value};

use super::declaration::{CLOSEABILITY, DEPENDENCIES, EAT_HOURS, FOLLOWUP, REMAINING_ATOMIC_PRS, STATE_CLASS, UNKNOWN};
use super::values::{DependencyKind, FollowupKind, Word};

/// What a live row owes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Debt<'r> {
    /// Row key.
    pub(super) key: &'r str,
    /// Where the issue stands.
    pub(super) state_class: Option<&'r str>,
    /// Whether it can be closed.
    pub(super) closeability: Option<&'r str>,
    /// Pull requests still to be merged, 0 when never observed; never negative.
    pub(super) prs: i64,
    /// Hours still to be worked, 0.0 when never observed; finite, never negative, no negative zero.
    pub(super) hours: f64,
    /// Kinds of what it waits for, in stored order.
    pub(super) dependencies: Vec<DependencyKind>,
}

impl<'r> Debt<'r> {
    /// Reads a row.
    ///
    /// # Errors
    /// `unreadable_row` when a value is not of its declared type: a total over such rows would be wrong without a word.
    pub(super) fn read(row: &'r Row<'r>) -> Result<Self, Failure> {
        Ok(Self {
            key: row.key,
            state_class: row.read(STATE_CLASS, Value::as_text)?,
            closeability: row.read(CLOSEABILITY, Value::as_text)?,
            prs: row.read(REMAINING_ATOMIC_PRS, prs)?.unwrap_or(0),
            // Adding 0.0 turns a stored -0.0 into 0.0.
            hours: row.read(EAT_HOURS, hours)?.unwrap_or(0.0) + 0.0,
            dependencies: row.read(DEPENDENCIES, dependencies)?.unwrap_or_default(),
        })
    }

    /// The class under which the row is totalled.
    pub(super) fn class(&self) -> &'r str {
        self.state_class.unwrap_or(UNKNOWN)
    }
}

/// The follow-up of a row, historical or not: `None` when nobody ever observed it, kind none when null was observed.
///
/// # Errors
/// `unreadable_row` when the value is neither null nor an object of a known kind.
pub(super) fn followup(row: &Row<'_>) -> Result<Option<FollowupKind>, Failure> {
    row.read(
        FOLLOWUP,
        |value| {
            if value.is_null() { Some(FollowupKind::None) } else { FollowupKind::read(value.get("kind")?) }
        },
    )
}

fn prs(value: &Value<'_>) -> Option<i64> {
    value.as_integer().filter(|prs| *prs >= 0)
}

fn hours(value: &Value<'_>) -> Option<f64> {
    value.as_float().filter(|hours| hours.is_finite() && *hours >= 0.0)
}

fn dependencies(value: &Value<'_>) -> Option<Vec<DependencyKind>> {
    value.as_list()?.iter().map(|item| DependencyKind::read(item.get("kind")?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::with_ledger;

    /// Reads one row with `fields`; `Err` is the message of the failure.
    #[track_caller]
    fn check(fields: &str, expected: Result<(i64, f64, usize), &str>) {
        with_ledger(&format!(r##"[{{"key":"o/r#7","fields":{fields}}}]"##), |ledger| {
            let debt = ledger.rows.iter().map(Debt::read).next().expect("one row");
            let got = debt.map(|debt| (debt.prs, debt.hours, debt.dependencies.len()));
            assert_eq!(got.as_ref().map_err(|failure| failure.message.as_str()).copied(), expected);
        });
    }

    #[test]
    fn absent_numbers_are_zero() {
        check("{}", Ok((0, 0.0, 0)));
    }

    #[test]
    fn negative_zero_is_zero() {
        with_ledger(r##"[{"key":"o/r#7","fields":{"eat_hours":-0.0}}]"##, |ledger| {
            let debt = Debt::read(&ledger.rows[0]).expect("readable");
            assert!(debt.hours.is_sign_positive());
        });
    }

    #[test]
    fn a_value_of_another_type_stops_the_fold_by_name() {
        let message = |field, found| format!("row o/r#7: {field} holds {found}, which its type does not allow");
        for (field, json, shown) in [
            ("state_class", "7", "7"),
            ("closeability", "null", "null"),
            ("remaining_atomic_prs", "1.0", "1.0"),
            ("remaining_atomic_prs", "-1", "-1"),
            ("eat_hours", "4", "4"),
            ("eat_hours", "-0.5", "-0.5"),
            ("dependencies", r#"[{"number":7}]"#, "a list"),
            ("dependencies", r#"{"kind":"pr"}"#, "an object"),
        ] {
            check(&format!(r#"{{"{field}":{json}}}"#), Err(&message(field, shown)));
        }
    }

    #[test]
    fn a_followup_is_missing_none_or_of_a_kind() {
        let rows = r##"[{"key":"o/r#1","fields":{}},{"key":"o/r#2","fields":{"followup":null}},
            {"key":"o/r#3","fields":{"followup":{"kind":"waiver","reason":"x"}}},
            {"key":"o/r#4","fields":{"followup":{"kind":"x"}}},{"key":"o/r#5","fields":{"followup":[]}}]"##;
        with_ledger(rows, |ledger| {
            let kinds: Vec<_> = ledger.rows.iter().map(|row| followup(row).map_err(|failure| failure.code)).collect();
            let unreadable = || Err("unreadable_row".to_owned());
            let (none, waiver) = (Ok(Some(FollowupKind::None)), Ok(Some(FollowupKind::Waiver)));
            assert_eq!(kinds, [Ok(None), none, waiver, unreadable(), unreadable()]);
        });
    }
}
