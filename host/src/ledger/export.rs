//! The export adapter: what an export declares, and where its messages are (L 5).
//!
//! The outer levels are read in one walk that keeps each message as raw text. A string that is no text (a lone
//! surrogate) makes that walk fail; the slower walk over raw values then tells whether the file is broken or only a
//! string that nobody needs.

use std::collections::VecDeque;

use plugin_api::Value;
use plugin_api::json::{self, Layout, ReadError};

use super::fatal::FatalError;
use super::outer::{Items, Outer};
use super::overflow;
use crate::reasons::Fatal;

/// Schema id of an export.
pub const EXPORT_SCHEMA: &str = "debt-ledger-journal-export/v1";
/// Keys under which a list is the journal, in the order in which they are tried.
pub(super) const LIST_KEYS: [&str; 6] = ["messages", "entries", "events", "items", "journal", "content"];
/// Objects at this level (root = 0) are looked at, but not into.
pub(super) const DEEPEST: usize = 3;

/// What an export covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// The whole journal: a checkpoint is optional.
    Full,
    /// A tail: a checkpoint is mandatory.
    Incremental,
}

impl WindowKind {
    /// The printed word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Incremental => "incremental",
        }
    }
}

/// The window as the checkpoint records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// What it covers.
    pub kind: WindowKind,
    /// Names of the archives that were read along.
    pub archives: Vec<String>,
    /// Length of the message list.
    pub messages: usize,
    /// Where the list was found; `None` without an export.
    pub path: Option<String>,
}

/// An export, its messages still as text.
#[derive(Debug)]
pub struct Export<'a> {
    /// What it covers.
    pub window: Window,
    /// The messages in order.
    pub messages: Items<'a>,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

impl Export<'_> {
    /// No export at all (`--no-events`): a full window without messages.
    #[must_use]
    pub fn none() -> Self {
        let window = Window { kind: WindowKind::Full, archives: Vec::new(), messages: 0, path: None };
        Self { window, messages: Items::Raw(Vec::new()), warnings: Vec::new() }
    }
}

/// Reads what an export declares.
///
/// # Errors
/// One of the export's fatal codes, in the order of L 5.
pub fn adapt<'a>(outer: Outer<'a>, ledger: &str, window_full: bool) -> Result<Export<'a>, FatalError> {
    check_root(&outer, ledger)?;
    let declared = declared(&outer, &["window"]);
    let (kind, archives) = if window_full && !matches!(declared, Some(Outer::Object(_))) {
        (WindowKind::Full, Vec::new())
    } else {
        window(declared)?
    };
    let total = total_messages(&outer);
    let mut lists = candidates(&outer).into_iter();
    let (path, messages) = lists.next().ok_or_else(|| {
        let keys = LIST_KEYS.join(", ");
        let detail = format!("no list of messages under {keys}, in no object down to level {DEEPEST}");
        Fatal::UnsupportedExportShape.with(detail)
    })?;
    let is_wrapped = window_full && matches!(outer, Outer::List(_));
    let path = if is_wrapped { "messages".to_owned() } else { path.trim_start_matches('.').to_owned() };
    let mut warnings = Vec::new();
    let others: Vec<String> = lists.map(|(path, _)| path).collect();
    if !others.is_empty() {
        warnings
            .push(format!("ambiguous_export: the messages were taken from {path}; other lists: {}", others.join(", ")));
    }
    if let Some(total) = total.filter(|total| kind == WindowKind::Full && i128::from(*total) > messages.len() as i128) {
        warnings.push(format!(
            "full_window_contradicted: the export declares {total} messages and holds {}; what is missing is not folded",
            messages.len()
        ));
    }
    let window = Window { kind, archives, messages: messages.len(), path: Some(path) };
    Ok(Export { window, messages: messages.clone(), warnings })
}

/// Reads the text of an export into its outer levels, all messages as raw text.
///
/// # Errors
/// [`ReadError`] when it is not JSON; when a key is repeated or a float overflows outside of any message.
pub fn read_outer(text: &str) -> Result<Outer<'_>, ReadError> {
    let outer = Outer::read(text, DEEPEST)?;
    check_unread(&outer)?;
    Ok(outer)
}

/// Looks for floats that overflow in lists that nobody reads: all but the journal.
///
/// # Errors
/// [`ReadError`] naming the number.
pub fn check_unread(outer: &Outer<'_>) -> Result<(), ReadError> {
    let journal = candidates(outer).first().map(|(_, items)| std::ptr::from_ref(*items));
    let unread = outer.lists().into_iter().filter(|(_, items)| Some(std::ptr::from_ref(*items)) != journal);
    unread.flat_map(|(_, items)| items.raw()).try_for_each(|raw| overflow::check(raw.get()))
}

fn check_root(outer: &Outer<'_>, ledger: &str) -> Result<(), FatalError> {
    if !matches!(outer, Outer::Object(_)) {
        return Ok(());
    }
    let differs = |key: &str, wanted: &str| match outer.get(key) {
        None => None,
        Some(found) if found.is_null() || found.as_text() == Some(wanted) => None,
        Some(found) => Some(found.shown()),
    };
    if let Some(found) = differs("schema", EXPORT_SCHEMA) {
        return Err(
            Fatal::UnsupportedExportSchema.with(format!("schema is {found}, this host reads {EXPORT_SCHEMA:?}"))
        );
    }
    if let Some(found) = differs("ledger", ledger) {
        return Err(Fatal::ExportLedgerMismatch.with(format!("the export is of ledger {found}, this is {ledger:?}")));
    }
    if let Some(found) = declared(outer, &["format", "content_format"]).filter(|found| found.as_text() != Some("json"))
    {
        return Err(Fatal::UnsupportedExportFormat.with(format!("format is {}, not \"json\"", found.shown())));
    }
    Ok(())
}

/// A declaration at the root or in its `data` object: the first present value wins, whatever its type.
fn declared<'o, 'a>(outer: &'o Outer<'a>, keys: &[&str]) -> Option<&'o Outer<'a>> {
    let data = outer.get("data").filter(|data| matches!(data, Outer::Object(_)));
    [Some(outer), data].into_iter().flatten().find_map(|object| {
        keys.iter().find_map(|key| object.get(key).filter(|value| !value.is_null() && value.as_text() != Some("")))
    })
}

fn window(declared: Option<&Outer<'_>>) -> Result<(WindowKind, Vec<String>), FatalError> {
    let Some(window @ Outer::Object(_)) = declared else { return Ok((WindowKind::Incremental, Vec::new())) };
    let kind = match window.get("kind") {
        None => WindowKind::Incremental,
        Some(kind) if kind.as_text() == Some("full") => WindowKind::Full,
        Some(kind) if kind.as_text() == Some("incremental") => WindowKind::Incremental,
        Some(kind) => {
            let detail = format!("window.kind is {}, not \"full\" or \"incremental\"", kind.shown());
            return Err(Fatal::UnsupportedWindowKind.with(detail));
        }
    };
    let refused =
        |found: String| Fatal::UnsupportedWindowKind.with(format!("window.archives is {found}, not a list of names"));
    let archives = match window.get("archives") {
        None => Vec::new(),
        Some(archives) if archives.is_empty() => Vec::new(),
        Some(Outer::List(items)) => {
            let names = items.raw().iter().map(|raw| match json::read_raw(raw) {
                Ok(json::Document { value: Value::Text(name), .. }) => Ok(name.into_owned()),
                Ok(_) | Err(_) => {
                    Err(refused(format!("a list with {}", raw.get().chars().take(40).collect::<String>())))
                }
            });
            names.collect::<Result<_, _>>()?
        }
        Some(other) => return Err(refused(other.shown())),
    };
    Ok((kind, archives))
}

fn total_messages(outer: &Outer<'_>) -> Option<i64> {
    match outer.get("data")?.get("intercom")?.get("totalMessages")? {
        Outer::Scalar(Some(value)) => value.as_integer(),
        Outer::Scalar(None) | Outer::Object(_) | Outer::List(_) | Outer::Deep => None,
    }
}

type List<'o, 'a> = (String, &'o Items<'a>);

/// Lists that may hold the messages, breadth first over objects; the first is the journal. The further ones may be the
/// one that was meant (N7).
fn candidates<'o, 'a>(outer: &'o Outer<'a>) -> Vec<List<'o, 'a>> {
    let mut found = Vec::new();
    let mut queue = VecDeque::new();
    match outer {
        Outer::List(items) => found.push(("<list>".to_owned(), items)),
        Outer::Object(entries) => queue.push_back((String::new(), 0, entries)),
        Outer::Scalar(_) | Outer::Deep => {}
    }
    while let Some((path, level, entries)) = queue.pop_front() {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let mut lists: [Option<List<'o, 'a>>; LIST_KEYS.len()] = Default::default();
        for (key, value) in entries {
            match value {
                Outer::List(items) => {
                    if let Some(rank) = LIST_KEYS.iter().position(|list_key| list_key == key) {
                        lists[rank] = Some((below(key), items));
                    }
                }
                Outer::Object(entries) if level < DEEPEST => queue.push_back((below(key), level + 1, entries)),
                Outer::Object(_) | Outer::Scalar(_) | Outer::Deep => {}
            }
        }
        found.extend(lists.into_iter().flatten());
    }
    found
}

impl Outer<'_> {
    fn shown(&self) -> String {
        match self {
            Outer::Scalar(Some(value)) => super::values::shown(value),
            Outer::Scalar(None) => "a string that is no text".to_owned(),
            Outer::List(_) => "a list".to_owned(),
            Outer::Object(_) | Outer::Deep => "an object".to_owned(),
        }
    }

    /// null, "", 0, false, {} or [].
    fn is_empty(&self) -> bool {
        match self {
            Outer::Object(entries) => entries.is_empty(),
            Outer::List(items) => items.is_empty(),
            Outer::Scalar(Some(Value::Float(number))) => *number == 0.0,
            Outer::Scalar(Some(value)) => {
                matches!(json::text(value, Layout::Compact).as_str(), "null" | "\"\"" | "0" | "false")
            }
            Outer::Scalar(None) | Outer::Deep => false,
        }
    }
}
