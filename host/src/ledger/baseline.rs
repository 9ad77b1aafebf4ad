//! The baseline: seed observations written by hand (L 6).

use std::borrow::Cow;

use plugin_api::json::{self, Document};
use plugin_api::rules::time::Timestamp;
use plugin_api::{Refusal, Value};

use super::admit::admit;
use super::envelope;
use super::fatal::FatalError;
use super::message::Rules;
use super::observation::{Defaults, draft};
use super::record::{Record, Source};
use super::shape::Shape;
use super::values::shown;
use crate::reasons::Fatal;

/// Schema id of a baseline.
pub const BASELINE_SCHEMA: &str = "debt-ledger-baseline/v1";

/// Reads the text of a baseline as far as JSON goes.
///
/// # Errors
/// `INVALID_JSON`, also for a repeated key (N8).
pub fn read(text: &str) -> Result<Document<'_>, FatalError> {
    let document = json::read(text).map_err(|error| Fatal::InvalidJson.with(error.to_string()))?;
    match &document.duplicate {
        Some(key) => Err(Fatal::InvalidJson.with(format!("key {key:?} stands twice in one object"))),
        None => Ok(document),
    }
}

/// The records of a baseline, in row order.
///
/// # Errors
/// One of the baseline's fatal codes; the first bad row is named with its reason.
pub fn records(document: &Document<'_>, rules: &Rules, shape: &Shape<'_>) -> Result<Vec<Record>, FatalError> {
    let root = &document.value;
    if root.as_object().is_none() {
        return Err(Fatal::InvalidBaseline.with(format!("baseline is {}, not an object", root.kind())));
    }
    check_header(root, shape.ledger())?;
    let generated_at = root.get("generated_at").unwrap_or(&Value::Null);
    let header_time = generated_at
        .as_text()
        .map_or(Err("is not a string".to_owned()), |text| Timestamp::parse(text).map_err(|error| error.to_string()));
    if let Err(why) = header_time {
        return Err(Fatal::InvalidBaseline.with(format!("baseline.generated_at {} {why}", shown(generated_at))));
    }
    let rows = match root.get("rows") {
        None => &[],
        Some(Value::List(rows)) => rows.as_slice(),
        Some(other) => {
            return Err(Fatal::InvalidBaseline.with(format!("baseline.rows is {}, not a list", other.kind())));
        }
    };
    let (name, medium) = (Value::from("baseline"), Value::from("medium"));
    let header = |key, default| root.get(key).filter(|value| !value.is_null()).unwrap_or(default);
    let defaults = Defaults {
        actor: Some(header("actor", &name)),
        observed_at: Some(generated_at),
        confidence: Some(header("confidence", &medium)),
        evidence: Some(header("evidence", &name)),
        message_id: None,
        latest: rules.latest(None),
    };
    let refused = |index: usize, refusal: &Refusal| {
        Fatal::InvalidBaseline.with(format!("baseline.rows[{index}]: {}: {}", refusal.code, refusal.detail))
    };
    let drafts = rows.iter().enumerate().map(|(index, row)| {
        check_row(row).and_then(|()| draft(row, &defaults, shape)).map_err(|refusal| refused(index, &refusal))
    });
    let drafts: Vec<_> = drafts.collect::<Vec<_>>();
    // A later row may fail before an earlier one is asked of the kind: the kind judges what stands before it.
    let sound = drafts.iter().take_while(|draft| draft.is_ok()).count();
    let mut drafts = drafts.into_iter();
    let judged = admit(drafts.by_ref().take(sound).flatten().collect(), shape)?;
    let mut scratch = String::new();
    let records = judged.into_iter().enumerate().map(|(index, verdict)| {
        verdict
            .map(|admitted| admitted.into_record(Source::Baseline, &mut scratch))
            .map_err(|refusal| refused(index, &refusal))
    });
    let records = records.collect::<Result<Vec<_>, _>>()?;
    match drafts.next() {
        Some(Err(error)) => Err(error),
        Some(Ok(_)) | None => Ok(records),
    }
}

fn check_header(root: &Value<'_>, ledger: &str) -> Result<(), FatalError> {
    let text = |key| root.get(key).and_then(Value::as_text);
    let found = |key| root.get(key).map_or_else(|| "absent".to_owned(), shown);
    if text("schema") != Some(BASELINE_SCHEMA) {
        let detail = format!("baseline.schema is {}, this host reads {BASELINE_SCHEMA:?}", found("schema"));
        return Err(Fatal::UnsupportedBaselineSchema.with(detail));
    }
    if text("ledger") != Some(ledger) {
        return Err(
            Fatal::BaselineLedgerMismatch.with(format!("baseline.ledger is {}, this is {ledger:?}", found("ledger")))
        );
    }
    Ok(())
}

/// An integer outside i64 is refused here as in an envelope (D6); a repeated key was refused for the whole file.
fn check_row(row: &Value<'_>) -> Result<(), Refusal> {
    let Some(digits) = big_integer(row) else { return Ok(()) };
    envelope::check(&Document {
        value: Value::Object(Vec::new()),
        duplicate: None,
        big_integer: Some(digits.to_owned()),
    })
}

fn big_integer<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match value {
        Value::BigInteger(digits) => Some(digits),
        Value::List(items) => items.iter().find_map(big_integer),
        Value::Object(entries) => entries.iter().find_map(|(_, value): &(Cow<'_, str>, _)| big_integer(value)),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => None,
    }
}
