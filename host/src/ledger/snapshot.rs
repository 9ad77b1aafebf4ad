//! `snapshot.json` (L 9.1), byte for byte as the reference writes it.
//!
//! The text is made in pieces, so that 79 MB of it need not stand in memory at once.

use plugin_api::Value;
use plugin_api::json::{Layout, write_text, write_value};

use super::checkpoint::{CHECKPOINT_SCHEMA, SNAPSHOT_SCHEMA};
use super::fold::Folded;
use super::merge::{FieldHistory, FoldedRow, missing_fields, winner_sources};
use super::record::Record;
use super::rowmarks::mark;
use super::shape::Shape;

/// Writes the snapshot of a fold.
pub struct SnapshotText<'f, 's, 'k> {
    folded: &'f Folded,
    shape: &'s Shape<'k>,
}

impl<'f, 's, 'k> SnapshotText<'f, 's, 'k> {
    /// The text of `folded`.
    #[must_use]
    pub fn new(folded: &'f Folded, shape: &'s Shape<'k>) -> Self {
        Self { folded, shape }
    }

    /// Everything before the first row.
    pub fn head(&self, out: &mut String) {
        let counts = self.folded.rows.counts();
        let head = Value::object([
            ("schema", Value::from(SNAPSHOT_SCHEMA)),
            ("ledger", Value::from(self.shape.ledger())),
            ("workspace", Value::from(self.folded.workspace.as_str())),
            ("generated_at", Value::from(self.folded.now.to_string())),
            ("counts", counts_value(&counts)),
        ]);
        out.push_str("{\n");
        write_members(out, &head);
        out.push_str(",\n  \"rows\": [");
    }

    /// Key and mark of the row with this index, whose text is appended.
    pub fn row(&self, index: usize, out: &mut String) -> (&'f str, u64) {
        let row = &self.folded.rows.rows[index];
        out.push_str(if index == 0 { "\n    " } else { ",\n    " });
        let start = out.len();
        out.push_str("{\n");
        self.members(row, out);
        out.push_str("\n    }");
        (self.folded.rows.key(row), mark(&out[start..]))
    }

    /// Everything behind the last row. `state_digest` is that of the rows.
    pub fn tail(&self, state_digest: &str, out: &mut String) {
        out.push_str(if self.folded.rows.rows.is_empty() { "],\n" } else { "\n  ],\n" });
        let rejections = self.folded.rejections.iter().map(|rejection| {
            Value::object([
                ("source", Value::from(rejection.source.as_str())),
                ("reason", Value::from(rejection.reason.as_str())),
                ("detail", Value::from(rejection.detail.as_str())),
            ])
        });
        let tail = Value::object([
            ("rejections", Value::List(rejections.collect())),
            ("warnings", texts(&self.folded.warnings)),
            ("checkpoint", self.checkpoint(state_digest)),
        ]);
        write_members(out, &tail);
        out.push_str("\n}\n");
    }

    fn checkpoint<'v>(&'v self, state_digest: &'v str) -> Value<'v> {
        let Folded { window, events, .. } = self.folded;
        let optional = |text: Option<&str>| text.map_or(Value::Null, Value::string);
        let newest = events.newest_observed_at.map(|instant| instant.to_string());
        Value::object([
            ("schema", Value::from(CHECKPOINT_SCHEMA)),
            ("ledger", Value::from(self.shape.ledger())),
            ("folded_at", Value::from(self.folded.now.to_string())),
            (
                "window",
                Value::object([
                    ("kind", Value::from(window.kind.as_str())),
                    ("archives", texts(&window.archives)),
                    ("messages", count(window.messages)),
                    ("ignored", count(self.folded.ignored)),
                    ("path", optional(window.path.as_deref())),
                ]),
            ),
            (
                "events",
                Value::object([
                    ("consumed_total", Value::Integer(events.consumed_total)),
                    ("replayed", count(events.replayed)),
                    ("newest_observed_at", optional(newest.as_deref())),
                    ("newest_message_id", optional(events.newest_message_id.as_deref())),
                    ("rejected", count(events.rejected)),
                    ("observation_ids_recent", texts(&events.recent_ids)),
                ]),
            ),
            (
                "folded",
                Value::object([
                    ("baseline_rows", count(self.folded.baseline_rows)),
                    ("checkpoint_rows", count(self.folded.checkpoint_rows)),
                    ("journal_records", count(events.journal_records)),
                ]),
            ),
            ("state_digest", Value::from(state_digest)),
        ])
    }

    fn members(&self, row: &FoldedRow, out: &mut String) {
        let rows = &self.folded.rows;
        out.push_str("      \"key\": ");
        write_text(out, rows.key(row));
        out.push_str(",\n      \"ledger\": ");
        write_text(out, self.shape.ledger());
        out.push_str(",\n      \"entity\": {");
        let entity = &rows.record(row.first).identity.entity;
        for (index, ((name, _), value)) in self.shape.entity_keys().zip(entity).enumerate() {
            open_member(out, index, "\n        ", name);
            write_value(out, value, Layout::Pretty(4));
        }
        out.push_str("\n      },\n      \"historical\": ");
        out.push_str(bool_text(row.historical));
        out.push_str(",\n      \"fields\": {");
        self.each_field(row, |index, name, field, _| {
            open_member(out, index, "\n        ", name);
            write_value(out, rows.value(row, field).unwrap_or(&Value::Null), Layout::Pretty(4));
        });
        out.push_str("\n      },\n      \"provenance\": {");
        self.each_field(row, |index, name, field, _| {
            open_member(out, index, "\n        ", name);
            out.push('{');
            if let Some(record) = rows.winner(row, field) {
                write_entry(out, record, field, 5, "\n          ");
            }
            out.push_str("\n        }");
        });
        out.push_str("\n      },\n      \"history\": {");
        self.each_field(row, |index, name, field, history| {
            open_member(out, index, "\n        ", name);
            self.history(history, field, out);
        });
        out.push_str("\n      },\n");
        self.row_tail(row, out);
    }

    fn each_field(&self, row: &FoldedRow, mut each: impl FnMut(usize, &str, usize, &FieldHistory)) {
        let present = row.fields.iter().enumerate().filter(|(_, history)| !history.entries.is_empty());
        for (index, (field, history)) in present.enumerate() {
            each(index, self.shape.field_name(field), field, history);
        }
    }

    fn history(&self, history: &FieldHistory, field: usize, out: &mut String) {
        out.push('[');
        let last = history.entries.len() - 1;
        for (place, index) in history.entries.iter().enumerate() {
            out.push_str(if place == 0 { "\n          {" } else { ",\n          {" });
            write_entry(out, self.folded.rows.record(*index), field, 6, "\n            ");
            out.push_str(if place == last {
                ",\n            \"applied\": true,\n            \"reason\": \"applied\"\n          }"
            } else {
                ",\n            \"applied\": false,\n            \"reason\": \"superseded\"\n          }"
            });
        }
        out.push_str("\n        ]");
    }

    fn row_tail(&self, row: &FoldedRow, out: &mut String) {
        let missing = missing_fields(row, self.shape);
        let sources = winner_sources(row, &self.folded.rows);
        let truncated = row.fields.iter().enumerate().filter(|(_, history)| history.truncated > 0);
        let truncated: Vec<_> =
            truncated.map(|(field, history)| (self.shape.field_name(field), count(history.truncated))).collect();
        let mut diagnostics = vec![
            ("rejected_observations", Value::Integer(0)),
            ("sources", Value::List(sources.iter().map(|source| Value::from(source.as_str())).collect())),
        ];
        if !truncated.is_empty() {
            diagnostics.push(("history_truncated", Value::object(truncated)));
        }
        let tail = Value::object([
            ("missing_fields", Value::List(missing.into_iter().map(Value::from).collect())),
            ("last_observed_at", Value::from(row.last_observed_at.to_string())),
            ("contributions", count(row.contributions)),
            ("diagnostics", Value::object(diagnostics)),
            ("stale", Value::Bool(row.stale)),
        ]);
        for (index, (name, value)) in tail.as_object().unwrap_or_default().iter().enumerate() {
            out.push_str(if index == 0 { "      " } else { ",\n      " });
            write_text(out, name);
            out.push_str(": ");
            write_value(out, value, Layout::Pretty(3));
        }
    }
}

/// The members of a provenance or history entry, without its braces.
fn write_entry(out: &mut String, record: &Record, field: usize, level: usize, line: &str) {
    out.push_str(line);
    out.push_str("\"value\": ");
    write_value(out, record.value(field).unwrap_or(&Value::Null), Layout::Pretty(level));
    out.push(',');
    record.shown.write_to(out, line);
}

fn open_member(out: &mut String, index: usize, line: &str, name: &str) {
    if index > 0 {
        out.push(',');
    }
    out.push_str(line);
    write_text(out, name);
    out.push_str(": ");
}

/// The members of an object at level 1, without its braces.
fn write_members(out: &mut String, object: &Value<'_>) {
    for (index, (name, value)) in object.as_object().unwrap_or_default().iter().enumerate() {
        out.push_str(if index == 0 { "  " } else { ",\n  " });
        write_text(out, name);
        out.push_str(": ");
        write_value(out, value, Layout::Pretty(1));
    }
}

/// `counts` of the snapshot, `rows` of the summary.
#[must_use]
pub fn counts_value(counts: &plugin_api::Counts) -> Value<'static> {
    Value::object([
        ("total", Value::integer(counts.total)),
        ("live", Value::integer(counts.live)),
        ("historical", Value::integer(counts.historical)),
        ("incomplete", Value::integer(counts.incomplete)),
        ("stale", Value::integer(counts.stale)),
    ])
}

/// A count as a value.
#[must_use]
pub fn count(number: usize) -> Value<'static> {
    Value::integer(i128::try_from(number).unwrap_or(i128::MAX))
}

fn texts(items: &[String]) -> Value<'_> {
    Value::List(items.iter().map(|text| Value::from(text.as_str())).collect())
}

fn bool_text(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}
