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
/// The same span for the clock skew.
const MOST_MINUTES: f64 = MOST_HOURS * 60.0;

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
        let document = json::read(text).map_err(|error| Fatal::InvalidJson.with(format!("config: {error}")))?;
        if let Some(key) = document.duplicate {
            return Err(Fatal::InvalidJson.with(format!("config: key {key:?} stands twice in one object")));
        }
        let mut config = Self::defaults(kind);
        match &document.value {
            Value::Object(_) => config.apply(&document.value, kind),
            Value::Null => {}
            Value::List(items) if items.is_empty() => {}
            other => config.warnings.push(ignored("the root", other)),
        }
        Ok(config)
    }

    fn apply(&mut self, root: &Value<'_>, kind: &KindDeclaration) {
        let workspace = root.get("ledgers").and_then(|ledgers| ledgers.get(&kind.name)?.get("workspace")?.as_text());
        if let Some(workspace) = workspace.filter(|workspace| !workspace.is_empty()) {
            workspace.clone_into(&mut self.workspace);
        }
        let Self { history_cap, recent_max, status_max_rows, stale_after, skew, warnings, .. } = self;
        let mut set = |key: &str, store: &mut dyn FnMut(&Value<'_>) -> Option<()>| {
            if let Some(value) = root.get(key)
                && store(value).is_none()
            {
                warnings.push(ignored(key, value));
            }
        };
        set("history_max_entries_per_field", &mut |value| Some(*history_cap = count(value, 1)?));
        set("observation_ids_recent_max", &mut |value| Some(*recent_max = count(value, 0)?));
        set("status_max_rows", &mut |value| Some(*status_max_rows = count(value, 0)?));
        set("stale_observation_hours", &mut |value| {
            Some(*stale_after = micros(number(value, MOST_HOURS)?, MICROS_PER_HOUR))
        });
        set("max_clock_skew_minutes", &mut |value| {
            *skew = if value.is_null() { None } else { Some(micros(number(value, MOST_MINUTES)?, MICROS_PER_MINUTE)) };
            Some(())
        });
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

#[expect(clippy::cast_possible_truncation, reason = "within ten years of microseconds, far below 2^63")]
fn micros(number: f64, unit: f64) -> i64 {
    (number * unit).round() as i64
}
