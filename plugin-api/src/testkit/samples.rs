//! Values and rows that nobody should send, and that will come.

use crate::declaration::{EntityKeyType, FieldType, KindDeclaration};
use crate::json::Value;
use crate::kind::{Counts, Entity, LedgerView, Row};

/// Values for a custom field: of every type, at every edge. All of them are JSON texts.
#[must_use]
pub fn hostile_values() -> Vec<String> {
    let mut values: Vec<String> = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "1e308",
        "-0.0",
        "\"\"",
        "\" \"",
        "\"\\u0000\"",
        "\"\\u001b[31m\"",
        "\"\\ufeff\"",
        "\"\\u202e\"",
        "\"\\ud83d\\ude80\"",
        "\"a/b#1\"",
        "[]",
        "{}",
        "[null]",
        "[[]]",
        "[1,\"a\",{}]",
        "{\"\":null}",
        "{\"a\":{\"b\":[1]}}",
        "[\"a/b#1\",\"a/b#1\"]",
    ]
    .map(str::to_owned)
    .into();
    values.push(format!("\"{}\"", "x".repeat(1 << 20)));
    values.push(format!("{}1{}", "[".repeat(60), "]".repeat(60)));
    values
}

/// Names and texts of rows, which [`hostile_rows`] lends.
pub struct Rows {
    declaration: KindDeclaration,
    keys: Vec<String>,
    entities: Vec<Vec<String>>,
}

/// Rows of a kind with values of every type in every field, those that the fold would never let through too.
#[must_use]
pub fn hostile_rows(declaration: &KindDeclaration) -> Rows {
    let entity = |number: usize| {
        let keys = declaration.entity.keys.iter();
        keys.map(|key| match key.kind {
            EntityKeyType::Repo => format!("owner/name{number}"),
            EntityKeyType::Machine => format!("machine-{number}"),
            EntityKeyType::Positive | EntityKeyType::Index => (number + 1).to_string(),
        })
        .collect::<Vec<_>>()
    };
    let entities: Vec<Vec<String>> = (0..values(&FieldType::Text).len()).map(entity).collect();
    let keys = entities.iter().map(|values| values.join("#")).collect();
    Rows { declaration: declaration.clone(), keys, entities }
}

impl Rows {
    /// Gives the rows to `call`: all of them, sorted by key.
    pub fn lend<T>(&self, call: impl FnOnce(&LedgerView<'_>) -> T) -> T {
        let mut rows: Vec<Row<'_>> = (0..self.keys.len()).map(|number| self.row(number)).collect();
        rows.sort_by(|one, other| one.key.cmp(other.key));
        let count = |test: fn(&Row<'_>) -> bool| rows.iter().filter(|row| test(row)).count() as u64;
        let counts = Counts {
            total: rows.len() as u64,
            live: count(|row| !row.historical),
            historical: count(|row| row.historical),
            incomplete: count(|row| !row.historical && row.fields.is_empty()),
            stale: count(|row| row.stale),
        };
        call(&LedgerView { rows: &rows, counts })
    }

    fn row(&self, number: usize) -> Row<'_> {
        let names = self.declaration.entity.keys.iter().map(|key| key.name.as_str());
        let entity = Entity { keys: names.zip(self.entities[number].iter().map(String::as_str)).collect() };
        // Row 0 has no field at all; in the others field f has the value of number + f.
        let fields = self.declaration.fields.iter().enumerate().filter(|_| number > 0);
        let fields = fields.map(|(index, field)| {
            let values = values(&field.kind);
            let place = (number + index) % values.len();
            let value = values.into_iter().nth(place).unwrap_or(Value::Null);
            (field.name.as_str(), value)
        });
        Row {
            key: &self.keys[number],
            entity,
            historical: number % 3 == 2,
            stale: number % 2 == 1 && number % 3 != 2,
            last_observed_at: "2026-01-01T00:00:00Z",
            fields: fields.collect(),
        }
    }
}

/// Values for a field: first those of its type, then those of every other.
fn values(kind: &FieldType) -> Vec<Value<'static>> {
    let own: Vec<Value<'static>> = match kind {
        FieldType::Enum(words) => words.iter().cloned().map(Value::from).collect(),
        FieldType::Bool => vec![Value::Bool(true), Value::Bool(false)],
        FieldType::Int => vec![Value::Integer(0), Value::Integer(i64::MAX)],
        FieldType::Hours => vec![Value::Float(0.5), Value::Float(1e300)],
        FieldType::Text | FieldType::Custom(_) => vec![Value::from("a text"), Value::from("\u{202e}\u{1b}[31m|\n")],
        FieldType::Lane => vec![Value::from("machine"), Value::from("machine:workspace")],
        FieldType::UtcTimestamp => vec![Value::from("2026-01-01T00:00:00Z"), Value::from("0001-01-01T00:00:00Z")],
        FieldType::IssueRef => vec![Value::from("owner/name#1")],
    };
    let every = [
        Value::Null,
        Value::Bool(true),
        Value::Integer(i64::MIN),
        Value::Float(-0.0),
        Value::from(""),
        Value::from("x".repeat(4096)),
        Value::List(vec![Value::Null]),
        Value::Object(vec![("".into(), Value::Integer(1))]),
    ];
    let mut values = own;
    values.truncate(2);
    values.extend(every);
    values
}
