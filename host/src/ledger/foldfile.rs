//! `fold.json` (section 14 of L): what ours knows beyond the reference, and the commit marker of a fold.
//!
//! Written last. While its digests do not match the files beside it, the fold that wrote them was cut short.

use plugin_api::Value;
use plugin_api::json::{self, Layout, write_value};
use plugin_api::rules::time::Timestamp;

use super::highwater::HighWater;
use super::merge::{FoldedRow, Rows};
use super::message::ActorDiffers;
use super::rowmarks;
use super::shape::Shape;
use super::snapshot::count;

/// Schema id of a fold file.
pub const FOLD_SCHEMA: &str = "debt-ledger-fold/v1";
/// Differing authors that are listed; all are counted.
const MOST_DIFFERS: usize = 100;

/// What a later fold needs of an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldFile {
    /// How many folds wrote this state.
    pub generation: i64,
    /// Digest of its state.
    pub state_digest: String,
    /// SHA-256 in hex of each artifact, by file name.
    pub artifacts: Vec<(String, String)>,
    /// The newest observation ever folded.
    pub high_water: HighWater,
    /// Marks of the snapshot's rows, in their order.
    pub row_marks: Vec<(String, u64)>,
}

impl FoldFile {
    /// Reads the text of a fold file.
    ///
    /// # Errors
    /// What is wrong with it, in words. A fold file can be made anew, so nothing depends on it but the marks it keeps.
    pub fn read(text: &str, ledger: &str) -> Result<Self, String> {
        let document = json::read(text).map_err(|error| error.to_string())?;
        if let Some(key) = document.duplicate {
            return Err(format!("key {key:?} stands twice in one object"));
        }
        let root = document.value;
        for (key, wanted) in [("schema", FOLD_SCHEMA), ("ledger", ledger)] {
            if root.get(key).and_then(Value::as_text) != Some(wanted) {
                return Err(format!("{key} is not {wanted:?}"));
            }
        }
        let generation = root.get("generation").and_then(Value::as_integer).filter(|generation| *generation >= 1);
        let artifacts = root.get("artifacts").and_then(Value::as_object).ok_or("artifacts is not an object")?;
        let artifacts = artifacts.iter().map(|(name, digest)| {
            let digest = digest.as_text().ok_or_else(|| format!("artifacts.{name} is not a digest"))?;
            Ok((name.clone().into_owned(), digest.to_owned()))
        });
        let mark = root.get("high_water").ok_or("high_water is absent")?;
        let observed_at = match mark.get("observed_at") {
            None | Some(Value::Null) => None,
            Some(at) => Some(
                at.as_text().and_then(|at| Timestamp::parse(at).ok()).ok_or("high_water.observed_at is not a time")?,
            ),
        };
        Ok(Self {
            generation: generation.ok_or("generation is not a number from 1")?,
            state_digest: root.get("state_digest").and_then(Value::as_text).unwrap_or_default().to_owned(),
            artifacts: artifacts.collect::<Result<_, String>>()?,
            high_water: HighWater {
                observed_at,
                message_id: mark.get("message_id").and_then(Value::as_text).map(str::to_owned),
            },
            row_marks: rowmarks::read(root.get("rows")),
        })
    }

    /// The digest of an artifact.
    #[must_use]
    pub fn digest(&self, name: &str) -> Option<&str> {
        self.artifacts.iter().find(|(artifact, _)| artifact == name).map(|(_, digest)| digest.as_str())
    }
}

/// What a fold file says beside the digests of its artifacts.
pub struct FoldText<'f> {
    /// How many folds wrote this state.
    pub generation: i64,
    /// Time of the fold, rendered.
    pub generated_at: String,
    /// Digest of the state.
    pub state_digest: &'f str,
    /// Every warning of the fold.
    pub warnings: Vec<&'f str>,
    /// Accepted observations whose actor is not the author.
    pub differs: &'f [ActorDiffers],
    /// The rows, for their conflicts.
    pub rows: &'f Rows,
    /// Keys live now whose prior row was historical.
    pub reopened: &'f [String],
    /// The mark that never goes back.
    pub high_water: &'f HighWater,
    /// Marks of the snapshot's rows, in their order.
    pub row_marks: Vec<(&'f str, u64)>,
}

impl FoldText<'_> {
    /// The text of the file. `artifacts` are names and digests in hex.
    #[must_use]
    pub fn write(&self, artifacts: &[(String, String)], shape: &Shape<'_>) -> String {
        let digests = artifacts.iter().map(|(name, digest)| (name.as_str(), Value::from(digest.as_str())));
        let differs = self.differs.iter().take(MOST_DIFFERS).map(|differs| {
            Value::object([
                ("source", Value::from(differs.source.as_str())),
                ("actor", Value::from(differs.actor.as_str())),
                ("author", Value::from(differs.author.as_str())),
            ])
        });
        let root = Value::object([
            ("schema", Value::from(FOLD_SCHEMA)),
            ("ledger", Value::from(shape.ledger())),
            ("generation", Value::Integer(self.generation)),
            ("generated_at", Value::from(self.generated_at.as_str())),
            ("state_digest", Value::from(self.state_digest)),
            ("artifacts", Value::object(digests)),
            ("warnings", Value::List(self.warnings.iter().map(|text| Value::from(*text)).collect())),
            (
                "actor_differs",
                Value::object([("count", count(self.differs.len())), ("items", Value::List(differs.collect()))]),
            ),
            ("conflicts", Value::List(conflicts(self.rows, shape))),
            ("reopened", Value::List(self.reopened.iter().map(|key| Value::from(key.as_str())).collect())),
            ("high_water", high_water_value(self.high_water)),
            ("rows", rowmarks::value(self.row_marks.iter().copied())),
        ]);
        let mut out = String::new();
        write_value(&mut out, &root, Layout::Pretty(0));
        out.push('\n');
        out
    }
}

fn high_water_value(mark: &HighWater) -> Value<'static> {
    Value::object([
        ("observed_at", mark.observed_at.map_or(Value::Null, |instant| Value::string(instant.to_string()))),
        ("message_id", mark.message_id.as_deref().map_or(Value::Null, Value::string)),
    ])
}

/// Every field whose winner shares its instant with another value: both are shown (N13).
fn conflicts<'r>(rows: &'r Rows, shape: &'r Shape<'_>) -> Vec<Value<'r>> {
    let contested = rows.rows.iter().flat_map(|row| {
        let fields = row.fields.iter().enumerate().filter(|(_, history)| !history.contested.is_empty());
        fields.map(move |(field, _)| conflict(row, field, rows, shape))
    });
    contested.collect()
}

fn conflict<'r>(row: &FoldedRow, field: usize, rows: &'r Rows, shape: &'r Shape<'_>) -> Value<'r> {
    let records = row.fields[field].contested.iter().map(|index| rows.record(*index));
    let contenders = records.map(|record| {
        Value::object([
            ("observation_id", Value::from(record.id.to_string())),
            ("actor", Value::from(record.actor.as_ref())),
            ("value", record.value(field).map_or(Value::Null, Value::borrowed)),
        ])
    });
    let winner = rows.winner(row, field);
    Value::object([
        ("key", Value::string(rows.key(row))),
        ("field", Value::from(shape.field_name(field))),
        ("observed_at", winner.map_or(Value::Null, |winner| Value::from(winner.observed_at.to_string()))),
        ("winner", winner.map_or(Value::Null, |winner| Value::from(winner.id.to_string()))),
        ("contenders", Value::List(contenders.collect())),
    ])
}
