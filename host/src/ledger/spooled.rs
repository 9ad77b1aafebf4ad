//! An observation that waits in a spool: validated in full, whichever ledger it is of (L 12, N17).

use plugin_api::Value;
use plugin_api::rules::time::Timestamp;

use super::admit::admit;
use super::envelope;
use super::fatal::FatalError;
use super::observation::{Defaults, draft};
use super::record::ObservationId;
use super::shape::Shape;

/// A valid observation of a spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spooled {
    /// Its ledger.
    pub ledger: String,
    /// Its id.
    pub id: ObservationId,
    /// When it was observed.
    pub observed_at: Timestamp,
}

/// Checks the text of a spool file against the kind that it names.
///
/// # Errors
/// What is wrong with it, as reason and detail.
pub fn check(text: &str, shapes: &[Shape<'_>]) -> Result<Spooled, FatalError> {
    let senseless = |detail: String| FatalError { code: "invalid_record".to_owned(), detail };
    let document = envelope::parse(text)?;
    let ledger = document.value.get("ledger").and_then(Value::as_text);
    let ledger = ledger.ok_or_else(|| senseless("it names no ledger".to_owned()))?;
    let shape = shapes.iter().find(|shape| shape.ledger() == ledger);
    let shape = shape.ok_or_else(|| senseless(format!("no plugin serves its ledger {ledger:?}")))?;
    if document.value.get("observation_id").is_none_or(Value::is_null) {
        return Err(senseless("it has no observation_id".to_owned()));
    }
    let draft = draft(&document.value, &Defaults::default(), shape)?;
    let mut judged = admit(vec![draft], shape)?;
    let admitted = judged.pop().ok_or_else(|| senseless("there is no verdict on it".to_owned()))??;
    Ok(Spooled { ledger: ledger.to_owned(), id: admitted.id, observed_at: admitted.observation.observed_at })
}
