//! `config.json` (L 10.1), and which of its values are ignored because they make no sense (N9).

use plugin_api::json;
use plugin_api::{KindDeclaration, Value};

use super::fatal::FatalError;
use super::values::shown;
use crate::reasons::Fatal;

/// Schema id of the configuration.
pub const CONFIG_SCHEMA: &str = "debt-ledger-config/v1";
const MICROS_PER_MINUTE: f64 = 60e6;
const MICROS_PER_HOUR: f64 = 3_600e6;
/// Ten years: more is a mistake, and its microseconds still fit.
const MOST_HOURS: f64 = 87_600.0;

/// The configuration of one ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Dashboard of the ledger.
    pub workspace: String,
    /// History entries kept for each field.
    pub history_cap: usize,
    /// Ids kept in the checkpoint.
    pub recent_max: usize,
    /// Row lines in `status.md`.
    pub status_max_rows: usize,
    /// Age in microseconds beyond which a row is stale.
    pub stale_after: i64,
    /// Allowed clock skew in microseconds; `None` switches the check off (D4).
    pub skew: Option<i64>,
    /// What was ignored, as warnings.
    pub warnings: Vec<String>,
}

impl Config {
    /// The defaults for a kind.
    #[must_use]
    pub fn defaults(kind: &KindDeclaration) -> Self {
        Self {
            workspace: kind.workspace.clone(),
            history_cap: 25,
            recent_max: 200,
            status_max_rows: 12,
            stale_after: micros(72.0, MICROS_PER_HOUR),
            skew: Some(micros(15.0, MICROS_PER_MINUTE)),
            warnings: Vec::new(),
        }
    }

    /// Reads the text of `config.json`.
    ///
    /// # Errors
    /// `INVALID_JSON`, also for a repeated key (N8).
    pub fn read(text: &str, kind: &KindDeclaration) -> Result<Self, FatalError> {
        let document = json::read(text).map_err(|error| Fatal::InvalidJson.with(error.to_string()))?;
        if let Some(key) = document.duplicate {
            return Err(Fatal::InvalidJson.with(format!("key {key:?} stands twice in one object")));
        }
        let mut config = Self::defaults(kind);
        let root = &document.value;
        if root.as_object().is_some() {
            config.apply(root, kind);
        } else if !root.is_null() && root.as_list().is_none_or(|items| !items.is_empty()) {
            config.warnings.push(ignored("the root", root));
        }
        Ok(config)
    }

    fn apply(&mut self, root: &Value<'_>, kind: &KindDeclaration) {
        let workspace = root.get("ledgers").and_then(|ledgers| ledgers.get(&kind.name)?.get("workspace")?.as_text());
        if let Some(workspace) = workspace.filter(|workspace| !workspace.is_empty()) {
            workspace.clone_into(&mut self.workspace);
        }
        let mut read = Reader { root, warnings: &mut self.warnings };
        read.set("history_max_entries_per_field", &mut self.history_cap, |value| count(value, 1));
        read.set("observation_ids_recent_max", &mut self.recent_max, |value| count(value, 0));
        read.set("status_max_rows", &mut self.status_max_rows, |value| count(value, 0));
        read.set("stale_observation_hours", &mut self.stale_after, |value| {
            number(value, MOST_HOURS).map(|hours| micros(hours, MICROS_PER_HOUR))
        });
        read.set("max_clock_skew_minutes", &mut self.skew, |value| {
            let minutes = || number(value, f64::MAX).map(|minutes| Some(micros(minutes, MICROS_PER_MINUTE)));
            if value.is_null() { Some(None) } else { minutes() }
        });
    }
}

struct Reader<'r, 'v> {
    root: &'r Value<'v>,
    warnings: &'r mut Vec<String>,
}

impl Reader<'_, '_> {
    /// Sets a value that makes sense; one that does not is ignored with a warning.
    fn set<T>(&mut self, key: &str, slot: &mut T, read: impl FnOnce(&Value<'_>) -> Option<T>) {
        let Some(value) = self.root.get(key) else { return };
        match read(value) {
            Some(read) => *slot = read,
            None => self.warnings.push(ignored(key, value)),
        }
    }
}

fn ignored(key: &str, value: &Value<'_>) -> String {
    format!("config_value_ignored: {key} is {}; the default is used", shown(value))
}

fn count(value: &Value<'_>, least: usize) -> Option<usize> {
    usize::try_from(value.as_integer()?).ok().filter(|count| *count >= least)
}

fn number(value: &Value<'_>, most: f64) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64))?;
    (0.0..=most).contains(&number).then_some(number)
}

/// A skew of more than 2^63 microseconds is that much: no time is so late.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a float saturates")]
fn micros(number: f64, unit: f64) -> i64 {
    (number * unit).round() as i64
}
