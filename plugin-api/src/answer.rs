//! Asks a kind and puts its answers into the form in which they cross: JSON text, and one verdict for each custom value.
//!
//! The adapter of a loaded kind and the host's linked-in kind share this, so that both mean the same.

use crate::declaration::KindDeclaration;
use crate::json::{self, Layout, Value};
use crate::kind::{Entity, Failure, LedgerKind, LedgerView, ObservationView, Refusal, VerbAnswer, VerbCall};

/// An observation of a batch, wherever it is kept.
pub trait Observed<'a> {
    /// Printed entity values in declared order.
    fn entity(&self) -> impl ExactSizeIterator<Item = &'a str>;
    /// Actor, stripped.
    fn actor(&self) -> &'a str;
    /// Evidence, collapsed.
    fn evidence(&self) -> &'a str;
    /// Time as rendered.
    fn observed_at(&self) -> &'a str;
}

/// A custom value of a batch, wherever it is kept.
pub trait Custom<'a> {
    /// Index of its observation.
    fn observation(&self) -> usize;
    /// Index of its field among the declared ones.
    fn field(&self) -> usize;
    /// The value as JSON text.
    fn value(&self) -> &'a str;
}

/// The answer to a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Refused observations, ascending by index.
    pub refused: Vec<(usize, Refusal)>,
    /// For each custom value the normalised JSON text, or why it is refused.
    pub customs: Vec<Result<String, Refusal>>,
}

/// Checks each observation, if the kind asks for that, and normalises each custom value.
///
/// # Errors
/// Code `invalid_call` when an index or a value of the batch makes no sense; `invalid_answer` when a refusal has no code.
pub fn judge<'a, K: LedgerKind>(
    kind: &K,
    declaration: &'a KindDeclaration,
    observations: &[impl Observed<'a>],
    customs: &[impl Custom<'a>],
) -> Result<Judged, Failure> {
    let mut judged = Judged { refused: Vec::new(), customs: Vec::with_capacity(customs.len()) };
    if declaration.checks_observations {
        for (index, observation) in observations.iter().enumerate() {
            if let Err(refusal) = kind.check(&view(observation, declaration)?) {
                judged.refused.push((index, coded(refusal)?));
            }
        }
    }
    // Values of one observation stand together as a rule: its entity is put together once.
    let mut current: Option<(usize, Entity<'a>)> = None;
    for custom in customs {
        let index = custom.observation();
        let entity = match current.take() {
            Some((of, entity)) if of == index => entity,
            Some(_) | None => entity(observations.get(index).ok_or_else(|| out_of_range(index))?, declaration)?,
        };
        judged.customs.push(normalise(kind, declaration, custom, &entity)?);
        current = Some((index, entity));
    }
    Ok(judged)
}

fn normalise<'a, K: LedgerKind>(
    kind: &K,
    declaration: &KindDeclaration,
    custom: &impl Custom<'a>,
    entity: &Entity<'_>,
) -> Result<Result<String, Refusal>, Failure> {
    let field = declaration.fields.get(custom.field()).ok_or_else(|| out_of_range(custom.field()))?;
    let document = json::read(custom.value())
        .map_err(|error| Failure::new("invalid_call", format!("the value of {} is not JSON: {error}", field.name)))?;
    match kind.normalise(&field.name, &document.value, entity) {
        Ok(value) => Ok(Ok(json::text(&value, Layout::Compact))),
        Err(refusal) => coded(refusal).map(Err),
    }
}

fn view<'a>(observation: &impl Observed<'a>, declaration: &'a KindDeclaration) -> Result<ObservationView<'a>, Failure> {
    Ok(ObservationView {
        entity: entity(observation, declaration)?,
        actor: observation.actor(),
        evidence: observation.evidence(),
        observed_at: observation.observed_at(),
    })
}

fn entity<'a>(observation: &impl Observed<'a>, declaration: &'a KindDeclaration) -> Result<Entity<'a>, Failure> {
    named(observation.entity(), declaration)
}

/// Gives the values of an entity their keys.
pub(crate) fn named<'a>(
    values: impl ExactSizeIterator<Item = &'a str>,
    declaration: &'a KindDeclaration,
) -> Result<Entity<'a>, Failure> {
    let keys = &declaration.entity.keys;
    if values.len() != keys.len() {
        let message = format!("an entity has {} values, the kind declares {} keys", values.len(), keys.len());
        return Err(Failure::new("invalid_call", message));
    }
    Ok(Entity { keys: keys.iter().map(|key| key.name.as_str()).zip(values).collect() })
}

fn coded(refusal: Refusal) -> Result<Refusal, Failure> {
    if refusal.code.is_empty() {
        return Err(Failure::new(
            "invalid_answer",
            format!("a refusal has no code; its detail is: {}", refusal.detail),
        ));
    }
    Ok(refusal)
}

fn out_of_range(index: usize) -> Failure {
    Failure::new("invalid_call", format!("index {index} is out of range"))
}

/// The kind's part of `summary.json`: a JSON object in printed order.
///
/// # Errors
/// The kind's failure.
pub fn summary<K: LedgerKind>(kind: &K, ledger: &LedgerView<'_>) -> Result<String, Failure> {
    Ok(json::text(&Value::object(kind.summary(ledger)?), Layout::Compact))
}

/// The kind's lines of `status.md`: a JSON object with the lists `head` and `rows`.
///
/// # Errors
/// The kind's failure.
pub fn status<K: LedgerKind>(kind: &K, ledger: &LedgerView<'_>, max_rows: usize) -> Result<String, Failure> {
    let status = kind.status(ledger, max_rows)?;
    let list = |lines: Vec<String>| Value::List(lines.into_iter().map(Value::from).collect());
    Ok(json::text(&Value::object([("head", list(status.head)), ("rows", list(status.rows))]), Layout::Compact))
}

/// The answer of a verb: a JSON object with `exit`, and either `text` and `json`, or `code` and `detail`.
///
/// # Errors
/// The kind's failure.
pub fn verb<K: LedgerKind>(kind: &K, call: &VerbCall<'_>) -> Result<String, Failure> {
    let answer = match kind.verb(call)? {
        VerbAnswer::Answer { exit, text, json } => {
            Value::object([("exit", Value::integer(exit)), ("text", Value::from(text)), ("json", json)])
        }
        VerbAnswer::Refused { exit, refusal } => Value::object([
            ("exit", Value::integer(exit)),
            ("code", Value::from(refusal.code)),
            ("detail", Value::from(refusal.detail)),
        ]),
    };
    Ok(json::text(&answer, Layout::Compact))
}
