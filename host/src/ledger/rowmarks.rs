//! Marks of rows: 64 bits for the text of each row in `snapshot.json`, so that damage is named by its row.
//!
//! The SHA-256 of the file proves that something changed; the marks only tell where (kurrent-io/KurrentDB#1653). They
//! are not made to withstand somebody who forges them.

use std::collections::{HashMap, HashSet};

use plugin_api::Value;
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

/// The mark of a row's text, from its opening to its closing brace.
#[must_use]
pub fn mark(row: &str) -> u64 {
    xxh3_64(row.as_bytes())
}

/// Marks by row key, as `fold.json` stores them.
#[must_use]
pub fn value<'k>(marks: impl Iterator<Item = (&'k str, u64)>) -> Value<'k> {
    Value::object(marks.map(|(key, mark)| (key, Value::from(format!("{mark:016x}")))))
}

/// Reads them back; what cannot be read is left out.
#[must_use]
pub fn read(stored: Option<&Value<'_>>) -> Vec<(String, u64)> {
    let entries = stored.and_then(Value::as_object).unwrap_or_default();
    let mark = |value: &Value<'_>| u64::from_str_radix(value.as_text()?, 16).ok();
    entries.iter().filter_map(|(key, value)| Some((key.clone().into_owned(), mark(value)?))).collect()
}

/// Marks of the rows of a snapshot's text, in file order; none when it is no snapshot.
#[must_use]
pub fn of_snapshot(text: &str) -> Vec<(String, u64)> {
    let Ok(outer) = serde_json::from_str::<Rows<'_>>(text) else { return Vec::new() };
    outer.rows.iter().map(|raw| (key(raw).unwrap_or_default(), mark(raw.get()))).collect()
}

/// Rows of a snapshot's text that differ from their marks: each by its key, with what is wrong.
#[must_use]
pub fn differing(snapshot: &str, marks: &[(String, u64)]) -> Vec<(String, String)> {
    let found = of_snapshot(snapshot);
    if marks.is_empty() || found.is_empty() {
        return Vec::new();
    }
    let by_key: HashMap<&str, u64> = found.iter().map(|(key, mark)| (key.as_str(), *mark)).collect();
    let texts: HashSet<u64> = found.iter().map(|(_, mark)| *mark).collect();
    let known: HashSet<&str> = marks.iter().map(|(key, _)| key.as_str()).collect();
    let mut faults = Vec::new();
    for (key, stored) in marks {
        match by_key.get(key.as_str()) {
            Some(mark) if mark == stored => {}
            Some(_) => faults.push((format!("row {key}"), "its text is not what the fold wrote".to_owned())),
            None if texts.contains(stored) => {}
            None => faults.push((format!("row {key}"), "it is gone, or has another key now".to_owned())),
        }
    }
    for (index, (key, _)) in found.iter().enumerate() {
        if !known.contains(key.as_str()) {
            faults.push((format!("rows[{index}] {key:?}"), "the fold wrote no such row".to_owned()));
        }
    }
    let order = found.iter().map(|(key, _)| key).eq(marks.iter().map(|(key, _)| key));
    if faults.is_empty() && !order {
        faults.push(("rows".to_owned(), "they stand in another order, or one stands twice".to_owned()));
    }
    faults
}

#[derive(Deserialize)]
struct Rows<'a> {
    #[serde(borrow)]
    rows: Vec<&'a RawValue>,
}

fn key(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Key {
        key: String,
    }
    serde_json::from_str::<Key>(raw.get()).ok().map(|row| row.key)
}
