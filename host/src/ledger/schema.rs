//! The files that `init` seeds: `schema.json`, `config.json`, `baseline.json` (L 10.4).

use plugin_api::json::{Layout, write_value};
use plugin_api::rules::time::Timestamp;
use plugin_api::{KindDeclaration, Value};

use super::baseline::BASELINE_SCHEMA;
use super::calls;
use super::canonical::ENVELOPE_PREFIX;
use super::checkpoint::{CHECKPOINT_SCHEMA, SNAPSHOT_SCHEMA};
use super::config::CONFIG_SCHEMA;
use super::export::EXPORT_SCHEMA;
use super::observation::{OBSERVATION_KEYS, OBSERVATION_SCHEMA};
use super::record::Confidence;
use super::summary::SUMMARY_SCHEMA;
use crate::reasons::Reason;

/// Schema id of a schema file.
pub const SCHEMA_SCHEMA: &str = "debt-ledger-schema/v1";

/// `schema.json` of the ledger `own`, describing every kind in listing order.
#[must_use]
pub fn schema_text(own: &KindDeclaration, workspace: &str, kinds: &[&KindDeclaration], now: Timestamp) -> String {
    let envelopes = [
        ("observation", OBSERVATION_SCHEMA),
        ("journal_export", EXPORT_SCHEMA),
        ("snapshot", SNAPSHOT_SCHEMA),
        ("summary", SUMMARY_SCHEMA),
        ("checkpoint", CHECKPOINT_SCHEMA),
        ("baseline", BASELINE_SCHEMA),
        ("config", CONFIG_SCHEMA),
    ];
    let confidence = Confidence::ALL.iter().map(|level| level.as_str());
    let root = Value::object([
        ("schema", Value::from(SCHEMA_SCHEMA)),
        ("generated_by", Value::from("host run <ledger> init")),
        ("envelopes", Value::object(envelopes.map(|(name, id)| (name, Value::from(id))))),
        ("transport", transport()),
        ("ledgers", Value::object(kinds.iter().map(|kind| (kind.name.as_str(), described(kind))))),
        ("observation_keys", texts(OBSERVATION_KEYS)),
        ("confidence_levels", texts(confidence)),
        ("rejection_reasons", texts(rejection_reasons(kinds))),
        ("generated_at", Value::from(now.to_string())),
        ("ledger", Value::from(own.name.as_str())),
        (
            "dashboard_calls",
            Value::object([
                ("append_observation", Value::from(calls::append_observation(workspace))),
                ("read_journal", Value::from(calls::read_journal(workspace))),
                ("write_snapshot", Value::from(calls::write_snapshot(workspace))),
            ]),
        ),
    ]);
    pretty(&root)
}

/// `config.json` with every default, for all kinds in listing order.
#[must_use]
pub fn config_text(kinds: &[&KindDeclaration]) -> String {
    let ledgers = kinds.iter().map(|kind| {
        let entry = [("workspace", Value::from(kind.workspace.as_str())), ("snapshot_section", Value::from("status"))];
        (kind.name.as_str(), Value::object(entry))
    });
    pretty(&Value::object([
        ("schema", Value::from(CONFIG_SCHEMA)),
        ("ledgers", Value::object(ledgers)),
        ("history_max_entries_per_field", Value::Integer(25)),
        ("observation_ids_recent_max", Value::Integer(200)),
        ("status_max_rows", Value::Integer(12)),
        ("stale_observation_hours", Value::Integer(72)),
        ("max_clock_skew_minutes", Value::Integer(15)),
    ]))
}

/// An empty `baseline.json`.
#[must_use]
pub fn baseline_text(ledger: &str, now: Timestamp) -> String {
    pretty(&Value::object([
        ("schema", Value::from(BASELINE_SCHEMA)),
        ("generated_at", Value::from(now.to_string())),
        ("actor", Value::from("baseline")),
        ("confidence", Value::from("medium")),
        ("evidence", Value::from("hand-authored baseline")),
        ("rows", Value::List(Vec::new())),
        ("ledger", Value::from(ledger)),
    ]))
}

/// Every reason that a message can be rejected for: the host's, then the kinds' own (D11).
#[must_use]
pub fn rejection_reasons<'k>(kinds: &[&'k KindDeclaration]) -> Vec<&'k str> {
    let own = kinds.iter().flat_map(|kind| kind.reasons.iter().map(|reason| reason.code.as_str()));
    let mut reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    for code in own {
        if !reasons.contains(&code) {
            reasons.push(code);
        }
    }
    reasons
}

fn transport() -> Value<'static> {
    Value::object([
        ("kind", Value::from("roosync_dashboard_journal")),
        (
            "rule",
            Value::from(
                "one observation a message, on the dashboard of its ledger; the journal is append-only and the fold decides",
            ),
        ),
        ("envelope_prefix", Value::from(ENVELOPE_PREFIX)),
        (
            "windows",
            Value::object([
                (
                    "full",
                    Value::from("the export holds the whole journal; a prior snapshot is folded when there is one"),
                ),
                ("incremental", Value::from("the export holds a tail; a prior snapshot is mandatory")),
                ("absent", Value::from("taken for incremental, unless --window-full vouches for the export")),
            ]),
        ),
    ])
}

fn described(kind: &KindDeclaration) -> Value<'_> {
    let fields = kind.fields.iter().map(|field| {
        Value::object([
            ("name", Value::from(field.name.as_str())),
            ("kind", Value::from(field.kind.name())),
            ("values", texts(field.kind.values().iter().map(String::as_str))),
            ("description", Value::from(field.description.as_str())),
        ])
    });
    Value::object([
        ("workspace", Value::from(kind.workspace.as_str())),
        ("entity_keys", texts(kind.entity.keys.iter().map(|key| key.name.as_str()))),
        ("row_key", Value::from(kind.entity.printed.as_str())),
        ("terminal_values", Value::object([(kind.verdict.field.as_str(), texts([kind.verdict.terminal.as_str()]))])),
        ("fields", Value::List(fields.collect())),
    ])
}

fn texts<'t>(items: impl IntoIterator<Item = &'t str>) -> Value<'t> {
    Value::List(items.into_iter().map(Value::from).collect())
}

fn pretty(value: &Value<'_>) -> String {
    let mut out = String::new();
    write_value(&mut out, value, Layout::Pretty(0));
    out.push('\n');
    out
}
