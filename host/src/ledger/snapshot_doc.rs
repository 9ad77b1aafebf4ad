//! A stored snapshot as it stands in its file, before anything in it is believed.
//!
//! The outer levels and then the rows are read; rows in parallel, each by a strict typed reader that accepts exactly
//! what a fold writes. A row that this reader refuses is read again as a plain value, which finds repeated keys and
//! keeps every part that has the right shape.

use std::borrow::Cow;

use plugin_api::Value;
use plugin_api::json::{self, BorrowedText, ReadError, Syntax};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outer::Outer;
use super::overflow::{self, Unread};

/// Level of the deepest object that is read outside of rows: `checkpoint.events`.
const DEEPEST: usize = 2;

/// What a fold writes between two rows.
const SEPARATOR: &str = ",\n    ";

/// A snapshot as read.
#[derive(Debug)]
pub struct SnapshotDoc<'a> {
    /// Everything but the rows' contents.
    pub root: Outer<'a>,
    /// The rows, in file order; `None` when `rows` is not a list.
    pub rows: Option<Vec<RowDoc<'a>>>,
}

/// A row as read; a part without the right shape is an error text.
#[derive(Debug)]
pub struct RowDoc<'a> {
    /// `key`
    pub key: Result<Cow<'a, str>, String>,
    /// `entity`
    pub entity: Value<'a>,
    /// `historical`
    pub historical: Result<bool, String>,
    /// `fields`
    pub fields: Vec<(Cow<'a, str>, Value<'a>)>,
    /// `history`
    pub history: Vec<FieldDoc<'a>>,
}

/// A field with its history entries, oldest first.
pub type FieldDoc<'a> = (Cow<'a, str>, Vec<Result<EntryDoc<'a>, String>>);

/// A history entry as read.
#[derive(Clone, Debug)]
pub struct EntryDoc<'a> {
    /// `value`
    pub value: Value<'a>,
    /// `observed_at`
    pub observed_at: Cow<'a, str>,
    /// `actor`
    pub actor: Cow<'a, str>,
    /// `confidence`
    pub confidence: Cow<'a, str>,
    /// `evidence`
    pub evidence: Cow<'a, str>,
    /// `observation_id`
    pub observation_id: Cow<'a, str>,
    /// `source`
    pub source: Cow<'a, str>,
    /// `message_id`, if any
    pub message_id: Option<Cow<'a, str>>,
    /// `applied`
    pub applied: bool,
}

impl<'a> SnapshotDoc<'a> {
    /// Reads the text of a snapshot.
    ///
    /// # Errors
    /// [`ReadError`] when it is not JSON, an object repeats a key, or a float overflows.
    pub fn read(text: &'a str) -> Result<Self, ReadError> {
        let root = read_frame(text)?;
        let rows = match root.get("rows") {
            Some(Outer::List(rows)) => Some(rows.raw().par_iter().map(|raw| read_row(raw)).collect::<Result<_, _>>()?),
            Some(Outer::Object(_) | Outer::Scalar(_) | Outer::Deep) | None => None,
        };
        Ok(Self { root, rows })
    }
}

/// Reads everything but the rows' contents.
///
/// # Errors
/// As [`SnapshotDoc::read`], outside of rows.
pub fn read_frame(text: &str) -> Result<Outer<'_>, ReadError> {
    let root = Outer::read(text, DEEPEST)?;
    let is_rows = |path: &str| path == "rows"; // Read by themselves.
    let unread = root.lists().into_iter().filter(|(path, _)| !is_rows(path));
    unread.flat_map(|(_, items)| items.raw()).try_for_each(|raw| overflow::check(raw.get()))?;
    Ok(root)
}

/// Reads rows that stand one behind the other, as a fold separates them. `None` when anything is refused.
#[must_use]
pub fn read_run(run: &str) -> Option<Vec<RowDoc<'_>>> {
    let mut rows = Vec::new();
    let mut rest = run;
    loop {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<RowWire<'_>>();
        let (row, length) = match stream.next()? {
            Ok(wire) => (wire.into_doc().ok()?, stream.byte_offset()),
            Err(_) => {
                let raw = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>().next()?.ok()?;
                (read_loose_row(raw).ok()?, raw.get().len())
            }
        };
        rows.push(row);
        rest = &rest[length..];
        if rest.is_empty() {
            return Some(rows);
        }
        rest = rest.strip_prefix(SEPARATOR)?;
    }
}

fn read_row(raw: &RawValue) -> Result<RowDoc<'_>, ReadError> {
    match serde_json::from_str::<RowWire<'_>>(raw.get()) {
        Ok(wire) => wire.into_doc(),
        Err(_) => read_loose_row(raw),
    }
}

/// Exactly what a fold writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowWire<'a> {
    #[serde(borrow)]
    key: BorrowedText<'a>,
    #[serde(rename = "ledger")]
    _ledger: Unread,
    #[serde(borrow)]
    entity: &'a RawValue,
    historical: bool,
    #[serde(borrow)]
    fields: json::Entries<'a, &'a RawValue>,
    #[serde(rename = "provenance")]
    _provenance: Unread,
    #[serde(borrow)]
    history: json::Entries<'a, Vec<EntryWire<'a>>>,
    #[serde(rename = "missing_fields")]
    _missing_fields: Unread,
    #[serde(rename = "last_observed_at")]
    _last_observed_at: Unread,
    #[serde(rename = "contributions")]
    _contributions: Unread,
    #[serde(rename = "diagnostics")]
    _diagnostics: Unread,
    #[serde(rename = "stale")]
    _stale: Unread,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryWire<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(borrow)]
    observed_at: BorrowedText<'a>,
    #[serde(borrow)]
    actor: BorrowedText<'a>,
    #[serde(borrow)]
    confidence: BorrowedText<'a>,
    #[serde(borrow)]
    evidence: BorrowedText<'a>,
    #[serde(borrow)]
    observation_id: BorrowedText<'a>,
    #[serde(borrow)]
    source: BorrowedText<'a>,
    #[serde(borrow, default)]
    message_id: Option<BorrowedText<'a>>,
    applied: bool,
    #[serde(rename = "reason")]
    _reason: Unread,
}

impl<'a> RowWire<'a> {
    fn into_doc(self) -> Result<RowDoc<'a>, ReadError> {
        let repeated = json::repeated_key(self.fields.0.iter().map(|(key, _)| key.as_ref()))
            .or_else(|| json::repeated_key(self.history.0.iter().map(|(key, _)| key.as_ref())));
        if let Some(key) = repeated {
            return Err(repeats(key));
        }
        let fields = self.fields.0.into_iter().map(|(key, raw)| Ok((key, value(raw)?)));
        let history = self.history.0.into_iter().map(|(field, entries)| {
            let entries = entries.into_iter().map(|entry| Ok(Ok(entry.into_doc()?)));
            Ok((field, entries.collect::<Result<_, ReadError>>()?))
        });
        Ok(RowDoc {
            key: Ok(self.key.0),
            entity: value(self.entity)?,
            historical: Ok(self.historical),
            fields: fields.collect::<Result<_, ReadError>>()?,
            history: history.collect::<Result<_, ReadError>>()?,
        })
    }
}

impl<'a> EntryWire<'a> {
    fn into_doc(self) -> Result<EntryDoc<'a>, ReadError> {
        Ok(EntryDoc {
            value: value(self.value)?,
            observed_at: self.observed_at.0,
            actor: self.actor.0,
            confidence: self.confidence.0,
            evidence: self.evidence.0,
            observation_id: self.observation_id.0,
            source: self.source.0,
            message_id: self.message_id.map(|text| text.0),
            applied: self.applied,
        })
    }
}

fn value(raw: &RawValue) -> Result<Value<'_>, ReadError> {
    let document = json::read_raw(raw)?;
    match document.duplicate {
        Some(key) => Err(repeats(&key)),
        None => Ok(document.value),
    }
}

fn repeats(key: &str) -> ReadError {
    ReadError::Syntax(Syntax(format!("key {key:?} stands twice in one object")))
}

fn read_loose_row(raw: &RawValue) -> Result<RowDoc<'_>, ReadError> {
    let mut row = value(raw)?;
    let missing = |name: &str| format!("{name} is absent");
    let key = match take(&mut row, "key") {
        Some(Value::Text(key)) => Ok(key),
        other => Err(other.map_or_else(|| missing("key"), |other| format!("key is {}, not a string", other.kind()))),
    };
    let historical = match take(&mut row, "historical") {
        Some(Value::Bool(flag)) => Ok(flag),
        other => Err(other.map_or_else(|| missing("historical"), |other| format!("historical is {}", other.kind()))),
    };
    let entity = take(&mut row, "entity").unwrap_or(Value::Null);
    let object = |value| if let Some(Value::Object(entries)) = value { entries } else { Vec::new() };
    let fields = object(take(&mut row, "fields"));
    let history = object(take(&mut row, "history")).into_iter().map(|(field, entries)| {
        let entries = if let Value::List(entries) = entries {
            entries.into_iter().map(loose_entry).collect()
        } else {
            vec![Err(format!("history is {}, not a list", entries.kind()))]
        };
        (field, entries)
    });
    let history = history.collect();
    Ok(RowDoc { key, entity, historical, fields, history })
}

fn loose_entry(mut entry: Value<'_>) -> Result<EntryDoc<'_>, String> {
    let mut text = |name: &str| match take(&mut entry, name) {
        Some(Value::Text(text)) => Ok(text),
        Some(other) => Err(format!("{name} is {}, not a string", other.kind())),
        None => Err(format!("{name} is absent")),
    };
    Ok(EntryDoc {
        observed_at: text("observed_at")?,
        actor: text("actor")?,
        confidence: text("confidence")?,
        evidence: text("evidence")?,
        observation_id: text("observation_id")?,
        source: text("source").unwrap_or_default(),
        message_id: text("message_id").ok(),
        applied: take(&mut entry, "applied").and_then(|flag| flag.as_bool()).ok_or("applied is not true or false")?,
        value: take(&mut entry, "value").ok_or("value is absent")?,
    })
}

/// Takes a value out of an object, leaving null.
fn take<'a>(object: &mut Value<'a>, key: &str) -> Option<Value<'a>> {
    let Value::Object(entries) = object else { return None };
    let (_, value) = entries.iter_mut().find(|(name, _)| name == key)?;
    Some(std::mem::replace(value, Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_run(run: &str, expected: Option<&[&str]>) {
        let found = read_run(run);
        let keys = found.as_ref().map(|rows| rows.iter().map(|row| row.key.as_deref().unwrap()).collect::<Vec<_>>());
        assert_eq!(keys.as_deref(), expected, "{run}");
    }

    #[test]
    fn rows_of_a_run_come_in_order() {
        check_run(r#"{"key":"a"}"#, Some(&["a"]));
        check_run("{\"key\":\"a\"},\n    {\"key\":\"b\"}", Some(&["a", "b"]));
    }

    #[test]
    fn a_run_that_holds_anything_else_is_left_to_the_whole_text() {
        for run in ["", "{", "{} ", "{},\n    ", "{},{}", "{}\n    {}", r#"{"a":1,"a":2}"#, r#"{"a":1e400}"#] {
            check_run(run, None);
        }
    }
}
