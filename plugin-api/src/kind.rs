//! The trait of a ledger kind, and what it is given.
//!
//! Invariant: nothing here reads a clock, a file, the environment or the network, and no call keeps state. The host may
//! call from two threads at once, and in any batch size and order.

use std::collections::BTreeMap;

use crate::declaration::KindDeclaration;
use crate::json::{self, Value};
use crate::rules::time::Timestamp;

/// A ledger kind. The declaration does most of the work; the other methods are for what a declaration cannot say.
pub trait LedgerKind: Default + Send + Sync + 'static {
    /// The declaration's name. A constant beside it, so that the library's manifest lists the kind and a host finds it
    /// without running the plugin's code; [`crate::export_plugin!`] refuses to compile any other form than `a-b-2`.
    const NAME: &'static str;

    /// What this kind is. Must be the same at every call.
    fn declaration(&self) -> KindDeclaration;

    /// The extra check of an observation (L 2.2 number 10). Asked only when
    /// [`KindDeclaration::checks_observations`] is set; the entity is valid, the fields may not be.
    ///
    /// # Errors
    /// A [`Refusal`] with a code that the kind declares: the observation is rejected for it.
    fn check(&self, observation: &ObservationView<'_>) -> Result<(), Refusal> {
        let _ = observation;
        Ok(())
    }

    /// Checks and normalises a value of a custom field. Normalising a normalised value must give the same value.
    ///
    /// # Errors
    /// A [`Refusal`], by convention [`Refusal::invalid_value`]: the observation is rejected for it.
    fn normalise(&self, field: &str, value: &Value<'_>, entity: &Entity<'_>) -> Result<Value<'static>, Refusal> {
        let _ = (value, entity);
        Err(Refusal::invalid_value(format!("the kind has no custom field {field}")))
    }

    /// The kind's part of `summary.json`, after the common head and `rows`: keys and values in printed order.
    ///
    /// # Errors
    /// A [`Failure`] stops the fold; nothing is written.
    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure>;

    /// The kind's lines of `status.md`.
    ///
    /// # Errors
    /// A [`Failure`] stops the fold; nothing is written.
    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, Failure>;

    /// Answers one of the declared verbs.
    ///
    /// # Errors
    /// A [`Failure`] when the answer cannot be found; a negative answer is a [`VerbAnswer`] with its exit code.
    fn verb(&self, call: &VerbCall<'_>) -> Result<VerbAnswer, Failure> {
        Err(Failure::new("unknown_verb", format!("the kind has no verb {}", call.verb)))
    }
}

/// The entity of an observation or row: valid values in declared order, integers as digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity<'a> {
    /// `(key, printed value)` in declared order.
    pub keys: Vec<(&'a str, &'a str)>,
}

impl Entity<'_> {
    /// The value under `key`, or `""` when the kind declares no such key.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.keys.iter().find(|(name, _)| *name == key).map_or("", |(_, value)| value)
    }

    /// The integer under `key`; `None` when it is text or absent.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<i64> {
        self.text(key).parse().ok()
    }
}

/// What the extra check may look at.
#[derive(Clone, Debug)]
pub struct ObservationView<'a> {
    /// The entity.
    pub entity: Entity<'a>,
    /// Actor, stripped.
    pub actor: &'a str,
    /// Evidence, collapsed.
    pub evidence: &'a str,
    /// Time as rendered.
    pub observed_at: &'a str,
}

/// One folded row.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Row key.
    pub key: &'a str,
    /// The entity.
    pub entity: Entity<'a>,
    /// Whether the verdict field holds the terminal value.
    pub historical: bool,
    /// Whether the newest observation is older than the configured limit.
    pub stale: bool,
    /// Time of the newest observation, rendered.
    pub last_observed_at: &'a str,
    /// Fields that have a value, in declared order.
    pub fields: Vec<(&'a str, Value<'a>)>,
}

impl Row<'_> {
    /// The value of `field`, `None` when nobody ever observed it (a JSON null that was observed is `Some(Null)`).
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Value<'_>> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, value)| value)
    }

    /// The value of `field` as `convert` reads it; `None` when nobody ever observed it.
    ///
    /// For totals and gates, where a value that cannot be read must not count as one that was never observed.
    ///
    /// # Errors
    /// A [`Failure`] `unreadable_row` that names row, field and value, when `convert` gives nothing.
    pub fn read<'r, T>(
        &'r self,
        field: &str,
        convert: impl FnOnce(&'r Value<'r>) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let unreadable = || {
            let found = json::excerpt(value);
            Failure::new(
                "unreadable_row",
                format!("row {}: {field} holds {found}, which its type does not allow", self.key),
            )
        };
        convert(value).map(Some).ok_or_else(unreadable)
    }

    /// The text under `field`; `None` when absent or of another type.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.get(field).and_then(Value::as_text)
    }

    /// The integer under `field`; `None` when absent or of another type.
    #[must_use]
    pub fn integer(&self, field: &str) -> Option<i64> {
        self.get(field).and_then(Value::as_integer)
    }

    /// The float under `field`; `None` when absent or of another type.
    #[must_use]
    pub fn float(&self, field: &str) -> Option<f64> {
        self.get(field).and_then(Value::as_float)
    }
}

/// How many rows of each sort (`counts` of the snapshot).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All rows.
    pub total: u64,
    /// Rows that are not historical.
    pub live: u64,
    /// Rows whose verdict field holds the terminal value.
    pub historical: u64,
    /// Live rows with missing fields.
    pub incomplete: u64,
    /// Live rows whose newest observation is too old.
    pub stale: u64,
}

/// The rows of a ledger in key order.
#[derive(Clone, Debug)]
pub struct LedgerView<'a> {
    /// All rows, historical ones too, sorted by key.
    pub rows: &'a [Row<'a>],
    /// Their counts.
    pub counts: Counts,
}

impl<'a> LedgerView<'a> {
    /// Rows that are not historical, in key order.
    pub fn live(&self) -> impl Iterator<Item = &'a Row<'a>> {
        self.rows.iter().filter(|row| !row.historical)
    }
}

/// The kind's part of `status.md`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusText {
    /// Lines about the ledger as a whole.
    pub head: Vec<String>,
    /// One line for each of the first live rows by importance, at most `max_rows`.
    pub rows: Vec<String>,
}

/// A call of a declared verb.
#[derive(Clone, Debug)]
pub struct VerbCall<'a> {
    /// Declared name of the verb, whatever alias was typed.
    pub verb: &'a str,
    /// Given arguments by declared name; a flag that was given is `""`.
    pub arguments: BTreeMap<String, String>,
    /// Rows of the snapshot, `None` when there is no snapshot file.
    pub rows: Option<&'a [Row<'a>]>,
    /// The time of the call.
    pub now: Timestamp,
}

impl VerbCall<'_> {
    /// The text of argument `name`, if given.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// Whether flag `name` was given.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.arguments.contains_key(name)
    }
}

/// The answer of a verb.
#[derive(Clone, Debug, PartialEq)]
pub enum VerbAnswer {
    /// Printed on stdout, as `text` or, with `--json`, as one line of `json` with `, ` and `: ` separators.
    Answer {
        /// Exit code, 0 to 15.
        exit: u8,
        /// For a person, one line or more, no final newline.
        text: String,
        /// For a program; an object.
        json: Value<'static>,
    },
    /// Bad arguments: stderr `ERROR <code>: <detail>` and the exit code, nothing on stdout.
    Refused {
        /// Exit code, 1 to 15.
        exit: u8,
        /// Why.
        refusal: Refusal,
    },
}

/// Why something from outside is not acceptable: a stable code and a text for a person that names the offender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Reason code: one of the host's (L 2.2) or one that the kind declares.
    pub code: String,
    /// What was found and what was expected.
    pub detail: String,
}

impl Refusal {
    /// A refusal under `code`.
    #[must_use]
    pub fn new(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { code: code.into(), detail: detail.into() }
    }

    /// A refusal under `invalid_field_value`, the reason for a value that does not fit its field.
    #[must_use]
    pub fn invalid_value(detail: impl Into<String>) -> Self {
        Self::new("invalid_field_value", detail)
    }
}

/// Why a kind cannot answer at all: a fault of the plugin or of the data it was given, not of the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Stable code; `panic` is set by the guard.
    pub code: String,
    /// What went wrong, on which input.
    pub message: String,
}

impl Failure {
    /// A failure under `code`.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(field: &str, expected: Result<Option<i64>, &str>) {
        let row = Row {
            key: "o/r#7",
            entity: Entity { keys: vec![("repo", "o/r"), ("issue", "7")] },
            historical: false,
            stale: false,
            last_observed_at: "2026-09-17T19:00:00Z",
            fields: vec![("n", Value::Integer(3)), ("wrong", Value::from("three")), ("null", Value::Null)],
        };
        let got = row.read(field, Value::as_integer);
        assert_eq!(got.as_ref().map_err(|failure| failure.message.as_str()).copied(), expected);
        assert!(got.is_ok() || got.is_err_and(|failure| failure.code == "unreadable_row"));
    }

    #[test]
    fn a_field_is_known_absent_or_unreadable() {
        check("n", Ok(Some(3)));
        check("absent", Ok(None));
        check("wrong", Err(r#"row o/r#7: wrong holds "three", which its type does not allow"#));
        check("null", Err("row o/r#7: null holds null, which its type does not allow"));
    }
}
