//! `summary.json` (L 9.2): the common head, then the kind's part.

use plugin_api::json::{Layout, write_value};
use plugin_api::{LedgerView, Value};

use super::export::Window;
use super::kind::KindFailure;
use super::shape::Shape;
use super::snapshot::{count, counts_value};

/// Schema id of a summary.
pub const SUMMARY_SCHEMA: &str = "debt-ledger-summary/v1";

/// What the head of the summary and of the status shows, from a fold or from a stored snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Dashboard of the ledger.
    pub workspace: String,
    /// Time of the fold, rendered.
    pub generated_at: String,
    /// What the export covered.
    pub window: Window,
    /// Messages that were prose.
    pub ignored: usize,
    /// Refused observations by reason: count descending, then name.
    pub rejections: Vec<(String, u64)>,
    /// Journal records that the checkpoint knew.
    pub replayed: i64,
    /// All journal records so far.
    pub consumed_total: i64,
    /// Journal records of this fold.
    pub journal_records: i64,
    /// The reference's warnings.
    pub warnings: Vec<String>,
}

/// The text of `summary.json`.
///
/// # Errors
/// [`KindFailure`] when the kind gave no usable answer.
pub fn summary_text(head: &Head, ledger: &LedgerView<'_>, shape: &Shape<'_>) -> Result<String, KindFailure> {
    let total: u64 = head.rejections.iter().map(|(_, count)| count).sum();
    let by_reason = head.rejections.iter().map(|(reason, count)| (reason.as_str(), Value::integer(*count)));
    let mut entries = vec![
        ("schema", Value::from(SUMMARY_SCHEMA)),
        ("ledger", Value::from(shape.ledger())),
        ("workspace", Value::from(head.workspace.as_str())),
        ("generated_at", Value::from(head.generated_at.as_str())),
        (
            "window",
            Value::object([
                ("kind", Value::from(head.window.kind.as_str())),
                ("messages", count(head.window.messages)),
                ("ignored", count(head.ignored)),
                ("path", head.window.path.as_deref().map_or(Value::Null, Value::from)),
            ]),
        ),
        ("rejections", Value::object([("total", Value::integer(total)), ("by_reason", Value::object(by_reason))])),
        ("replayed_observations", Value::Integer(head.replayed)),
        ("rows", counts_value(&ledger.counts)),
    ];
    let own = shape.kind().summary(ledger)?;
    entries.extend(own.iter().map(|(name, value)| (name.as_str(), value.borrowed())));
    let mut out = String::new();
    write_value(&mut out, &Value::object(entries), Layout::Pretty(0));
    out.push('\n');
    Ok(out)
}
