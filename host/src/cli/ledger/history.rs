//! `history`: who said what about one row, when, from what evidence, and what won.

use plugin_api::json::{Layout, text};
use plugin_api::rules::text::printable;
use plugin_api::{KindDeclaration, Value};

use super::Context;
use super::read::Snapshot;
use crate::cli::args::HistoryArgs;
use crate::cli::outcome::{CommandError, Outcome};
use crate::ledger::entity_arg;
use crate::ledger::fatal::FatalError;
use crate::ledger::rebuild::Rebuilt;
use crate::ledger::reduce::{parse_snapshot, read_config};
use crate::ledger::shape::Shape;
use crate::ledger::snapshot_doc::{EntryDoc, RowDoc};
use crate::ledger::state::StateDir;
use crate::reasons::Fatal;

/// Runs it.
pub(super) fn run(context: &Context<'_, '_>, args: &HistoryArgs) -> Result<Outcome, CommandError> {
    let snapshot = Snapshot::require(context, &args.from)?;
    let doc = parse_snapshot(&snapshot.path, &snapshot.text)?;
    // The whole snapshot is judged first: a history out of a damaged file proves nothing.
    let config = read_config(&StateDir::choose(args.from.place.state_dir.as_deref())?, context.shape)?;
    Rebuilt::new(&doc, context.shape, &config, None).map_err(|error| error.in_file(&snapshot.path))?;
    let key = row_key(&args.key, context.shape)?;
    let rows = doc.rows.as_deref().unwrap_or_default();
    let row = rows.iter().find(|row| row.key.as_deref() == Ok(key.as_str()));
    let row = row.ok_or_else(|| Fatal::UnknownRow.with(format!("{key} is not in {}", snapshot.path.display())))?;
    let fields = wanted(row, args.field.as_deref(), context.shape.declaration())?;
    if args.json {
        let list = fields
            .iter()
            .map(|(field, entries)| (*field, Value::List(entries.iter().map(|entry| value(entry)).collect())));
        let object = Value::object([("key", Value::from(key.as_str())), ("history", Value::object(list))]);
        context.ui.json(&object)?;
        return Ok(Outcome::OK);
    }
    let mut page = format!("{}\n", printable(&key));
    for (field, entries) in &fields {
        page.push_str(&format!("\n{field}\n"));
        for entry in entries.iter().rev() {
            page.push_str(&lines(entry));
        }
    }
    context.ui.data(&page)?;
    Ok(Outcome::OK)
}

/// The key as stored: what was typed, in the grammar of `--entity`.
fn row_key(typed: &str, shape: &Shape<'_>) -> Result<String, FatalError> {
    let entity = entity_arg::parse(typed, shape.declaration())?;
    let values = shape.entity_keys().filter_map(|(name, _)| entity.get(name).cloned());
    Ok(shape.identity(values).key.into_string())
}

type Field<'d> = (&'d str, Vec<&'d EntryDoc<'d>>);

fn wanted<'d>(row: &'d RowDoc<'d>, field: Option<&str>, kind: &KindDeclaration) -> Result<Vec<Field<'d>>, FatalError> {
    if let Some(field) = field
        && kind.fields.iter().all(|declared| declared.name != field)
    {
        let names: Vec<&str> = kind.fields.iter().map(|declared| declared.name.as_str()).collect();
        return Err(Fatal::UnknownRow.with(format!("{} has no field {field}; it has {}", kind.name, names.join(", "))));
    }
    let all = row.history.iter().filter(|(name, _)| field.is_none_or(|field| field == name));
    Ok(all
        .map(|(name, entries)| (name.as_ref(), entries.iter().filter_map(|entry| entry.as_ref().ok()).collect()))
        .collect())
}

fn lines(entry: &EntryDoc<'_>) -> String {
    let mark = if entry.applied { "*" } else { " " };
    let from = entry.message_id.as_ref().map_or_else(String::new, |id| format!(" message {id}"));
    format!(
        "{mark} {}  {}  {}\n    by {} ({}) from {}{}\n    {}\n",
        entry.observed_at,
        printable(&text(&entry.value, Layout::Compact)),
        if entry.applied { "(won)" } else { "(superseded)" },
        printable(&entry.actor),
        entry.confidence,
        printable(&entry.source),
        printable(&from),
        printable(&entry.evidence),
    )
}

fn value<'d>(entry: &'d EntryDoc<'_>) -> Value<'d> {
    let text = |text: &'d str| Value::from(text);
    let message_id = entry.message_id.as_deref().map_or(Value::Null, text);
    Value::object([
        ("value", entry.value.borrowed()),
        ("observed_at", text(&entry.observed_at)),
        ("actor", text(&entry.actor)),
        ("confidence", text(&entry.confidence)),
        ("evidence", text(&entry.evidence)),
        ("observation_id", text(&entry.observation_id)),
        ("source", text(&entry.source)),
        ("message_id", message_id),
        ("applied", Value::Bool(entry.applied)),
    ])
}
