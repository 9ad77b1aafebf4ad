//! `show`: the live rows for a person, or as JSON for a program. What is overdue or stale stands out.

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use plugin_api::json::{Layout, text};
use plugin_api::rules::text::printable;
use plugin_api::rules::time::Timestamp;
use plugin_api::{Row, Value};

use super::Context;
use super::read::{self, Snapshot};
use crate::cli::args::ShowArgs;
use crate::cli::outcome::{CommandError, Outcome};
use crate::clock;
use crate::ledger::reduce::now;
use crate::ledger::view::View;

/// Runs it.
pub(super) fn run(context: &Context<'_, '_>, args: &ShowArgs) -> Result<Outcome, CommandError> {
    let now = now(args.clock.now.as_deref(), &clock::now)?;
    let snapshot = Snapshot::require(context, &args.from)?;
    let rebuilt = read::rows(context, &snapshot, &args.from, now)?;
    let view = View::new(&rebuilt.rows, context.shape);
    let rows = view.rows();
    let due = context.shape.declaration().due.as_deref();
    let shown: Vec<Shown<'_>> = rows
        .iter()
        .filter(|row| args.all || !row.historical)
        .map(|row| Shown { row, overdue: due.is_some_and(|due| is_overdue(row, due, now)) })
        .collect();
    if args.json {
        let list = Value::List(shown.iter().map(Shown::value).collect());
        context.ui.json(&list)?;
        return Ok(Outcome::OK);
    }
    let counts = rebuilt.rows.counts();
    let overdue = shown.iter().filter(|shown| shown.overdue).count();
    let folded_at = &rebuilt.head.generated_at;
    let mut page = table(context, &shown);
    page.push_str(&format!(
        "{} live, {} historical, {} stale, {overdue} overdue | folded at {folded_at}\n",
        counts.live, counts.historical, counts.stale
    ));
    context.ui.page(&page)?;
    Ok(Outcome::OK)
}

struct Shown<'r> {
    row: &'r Row<'r>,
    overdue: bool,
}

/// A live row whose due time lies strictly before now.
fn is_overdue(row: &Row<'_>, due: &str, now: Timestamp) -> bool {
    let due = row.text(due).and_then(|text| Timestamp::parse(text).ok());
    !row.historical && due.is_some_and(|due| due < now)
}

impl Shown<'_> {
    fn mark(&self) -> &'static str {
        match (self.row.historical, self.overdue, self.row.stale) {
            (true, _, _) => "historical",
            (false, true, true) => "OVERDUE, stale",
            (false, true, false) => "OVERDUE",
            (false, false, true) => "stale",
            (false, false, false) => "",
        }
    }

    fn style(&self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match (self.row.historical, self.overdue, self.row.stale) {
            (true, _, _) => Style::new().dimmed(),
            (false, true, _) => color(AnsiColor::Red),
            (false, false, true) => color(AnsiColor::Yellow),
            (false, false, false) => Style::new(),
        }
    }

    fn value(&self) -> Value<'_> {
        let fields = self.row.fields.iter().map(|(name, value)| (*name, value.borrowed()));
        Value::object([
            ("key", Value::from(self.row.key)),
            ("historical", Value::Bool(self.row.historical)),
            ("stale", Value::Bool(self.row.stale)),
            ("overdue", Value::Bool(self.overdue)),
            ("last_observed_at", Value::from(self.row.last_observed_at)),
            ("fields", Value::object(fields)),
        ])
    }
}

/// One line a row; lines that stand out are coloured as a whole.
fn table(context: &Context<'_, '_>, shown: &[Shown<'_>]) -> String {
    if shown.is_empty() {
        return "no live rows\n".to_owned();
    }
    let names: Vec<&str> = context.shape.declaration().fields.iter().map(|field| field.name.as_str()).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["row"].iter().chain(&names).chain(&["observed", ""]));
    for row in shown {
        let fields = names.iter().map(|name| row.row.get(name).map_or_else(|| "-".to_owned(), short));
        let cells = [row.row.key.to_owned()].into_iter().chain(fields);
        let cells = cells.chain([row.row.last_observed_at.to_owned(), row.mark().to_owned()]);
        table.add_row(cells.map(|cell| printable(&cell).into_owned()));
    }
    let mut page = String::new();
    let styles = std::iter::once(Style::new().bold()).chain(shown.iter().map(Shown::style));
    for (line, style) in table.lines().zip(styles) {
        page.push_str(&format!("{style}{}{style:#}\n", line.trim_end()));
    }
    page
}

/// A value as a cell shows it: text as it is, a list by its members, an object by its parts.
fn short(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.clone().into_owned(),
        Value::Null => "none".to_owned(),
        Value::List(items) if items.is_empty() => "none".to_owned(),
        Value::List(items) => items.iter().map(short).collect::<Vec<_>>().join(", "),
        Value::Object(entries) => {
            let present = entries.iter().filter(|(_, value)| !value.is_null());
            present.map(|(_, value)| short(value)).collect::<Vec<_>>().join(" ")
        }
        Value::Bool(_) | Value::Integer(_) | Value::BigInteger(_) | Value::Float(_) => text(value, Layout::Compact),
    }
}
