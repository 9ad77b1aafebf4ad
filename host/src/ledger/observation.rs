//! The checks of one observation that need no kind (L 2.2), in their order.
//!
//! Numbers 1 to 9 end the judgement at once. Of 11 to 16 the first failure is kept, because the kind's extra check
//! (number 10) and its custom values may fail earlier in the order; [`super::admit`] picks the winner.

use std::borrow::Cow;

use plugin_api::rules::text::{collapse, is_blank, is_lane, strip};
use plugin_api::rules::time::{Rendered, Timestamp};
use plugin_api::{EntityKeyType, FieldType, Refusal, Value};
use smallvec::SmallVec;

use super::record::{Confidence, FieldValues, Identity};
use super::shape::Shape;
use super::values::{entity_value, shown, typed_value};
use crate::reasons::Reason;

/// Schema id of an observation.
pub const OBSERVATION_SCHEMA: &str = "debt-ledger-observation/v1";

/// Keys that an observation may have, sorted as `schema.json` lists them.
pub const OBSERVATION_KEYS: [&str; 12] = [
    "actor",
    "confidence",
    "entity",
    "evidence",
    "fields",
    "head_transition",
    "ledger",
    "message_id",
    "note",
    "observation_id",
    "observed_at",
    "schema",
];

/// What stands in for keys that an observation leaves out, and until when it may be dated.
#[derive(Clone, Debug, Default)]
pub struct Defaults<'v> {
    /// For `actor`.
    pub actor: Option<&'v Value<'v>>,
    /// For `observed_at`.
    pub observed_at: Option<&'v Value<'v>>,
    /// For `confidence`; `medium` when there is none.
    pub confidence: Option<&'v Value<'v>>,
    /// For `evidence`.
    pub evidence: Option<&'v Value<'v>>,
    /// For `message_id`.
    pub message_id: Option<&'v Value<'v>>,
    /// Latest time that is not in the future (D4); `None` switches the check off.
    pub latest: Option<Timestamp>,
}

/// A valid observation. [`super::canonical`] writes it.
#[derive(Clone, Debug)]
pub struct Observation<'v> {
    /// The row.
    pub identity: Identity,
    /// When it was observed.
    pub observed_at: Timestamp,
    /// The same as text.
    pub rendered_at: Rendered,
    /// Who says so, stripped.
    pub actor: &'v str,
    /// How sure.
    pub confidence: Confidence,
    /// What it rests on, collapsed.
    pub evidence: Cow<'v, str>,
    /// Whether it moves the head.
    pub head_transition: bool,
    /// A remark, collapsed.
    pub note: Option<Cow<'v, str>>,
    /// Id of the message that brings it, collapsed.
    pub message_id: Option<Cow<'v, str>>,
    /// Values by declared index, in document order.
    pub fields: FieldValues,
}

/// An observation after the host's own checks.
#[derive(Debug)]
pub struct Draft<'v> {
    /// What is known; values of custom fields are still missing.
    pub observation: Observation<'v>,
    /// Custom values that the kind must judge.
    pub customs: SmallVec<[Custom<'v>; 2]>,
    /// The id that the envelope claims; `None` when absent or null.
    pub claimed_id: Option<&'v Value<'v>>,
    /// Whether the envelope itself names the actor.
    pub names_actor: bool,
    /// The first failure of the checks 11 to 16.
    pub failure: Option<Failure>,
}

/// A custom value, with its place among the fields of its observation.
#[derive(Debug)]
pub struct Custom<'v> {
    /// Place in document order.
    pub position: usize,
    /// Index of the declared field.
    pub field: u8,
    /// The value as found.
    pub value: &'v Value<'v>,
}

/// A failed check: its number in L 2.2, and inside number 13 the place of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Number and place; the lowest wins.
    pub at: (u8, usize),
    /// Why.
    pub refusal: Refusal,
}

/// Checks `value` as far as the host can.
///
/// # Errors
/// The refusal of the first failing check among 1 to 9.
pub fn draft<'v>(value: &'v Value<'v>, defaults: &Defaults<'v>, shape: &Shape<'_>) -> Result<Draft<'v>, Refusal> {
    let keys = Keys::read(value)?;
    check_schema(keys.schema)?;
    check_ledger(keys.ledger, shape.ledger())?;
    let actor = actor(keys.actor.or(defaults.actor))?;
    let observed_at = observed_at(keys.observed_at.or(defaults.observed_at), defaults.latest)?;
    let confidence = confidence(keys.confidence.or(defaults.confidence))?;
    let evidence = evidence(keys.evidence.or(defaults.evidence))?;
    let identity = identity(keys.entity, shape)?;
    let observation = Observation {
        identity,
        observed_at,
        rendered_at: observed_at.rendered(),
        actor,
        confidence,
        evidence,
        head_transition: false,
        note: None,
        message_id: None,
        fields: FieldValues::new(),
    };
    let mut draft = Draft {
        observation,
        customs: SmallVec::new(),
        claimed_id: keys.observation_id.filter(|id| !id.is_null()),
        names_actor: keys.actor.is_some(),
        failure: None,
    };
    draft.failure = draft.read_rest(&keys, defaults, shape).err();
    Ok(draft)
}

impl<'v> Draft<'v> {
    /// Checks 11 to 16.
    fn read_rest(&mut self, keys: &Keys<'v>, defaults: &Defaults<'v>, shape: &Shape<'_>) -> Result<(), Failure> {
        let fields = fields(keys.fields, shape).map_err(|(check, refusal)| Failure { at: (check, 0), refusal })?;
        for (position, (field, value)) in fields.into_iter().enumerate() {
            if let FieldType::Custom(_) = shape.field_type(usize::from(field)) {
                self.customs.push(Custom { position, field, value });
                continue;
            }
            let value = typed_value(shape, field, value).map_err(|refusal| Failure { at: (13, position), refusal })?;
            self.observation.fields.push((field, value));
        }
        let failure = |check, reason: Reason, detail| Failure { at: (check, 0), refusal: refusal(reason, detail) };
        self.observation.head_transition = match keys.head_transition {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                let detail = format!("head_transition is {}, not true or false", shown(other));
                return Err(failure(14, Reason::InvalidRecord, detail));
            }
        };
        self.observation.note =
            optional_text("note", keys.note).map_err(|detail| failure(15, Reason::InvalidFieldValue, detail))?;
        self.observation.message_id = optional_text("message_id", keys.message_id.or(defaults.message_id))
            .map_err(|detail| failure(16, Reason::InvalidFieldValue, detail))?;
        Ok(())
    }
}

/// The top-level values, sorted out in one walk.
#[derive(Default)]
struct Keys<'v> {
    schema: Option<&'v Value<'v>>,
    observation_id: Option<&'v Value<'v>>,
    ledger: Option<&'v Value<'v>>,
    actor: Option<&'v Value<'v>>,
    observed_at: Option<&'v Value<'v>>,
    confidence: Option<&'v Value<'v>>,
    evidence: Option<&'v Value<'v>>,
    entity: Option<&'v Value<'v>>,
    head_transition: Option<&'v Value<'v>>,
    fields: Option<&'v Value<'v>>,
    message_id: Option<&'v Value<'v>>,
    note: Option<&'v Value<'v>>,
}

impl<'v> Keys<'v> {
    /// Checks 1 and 2.
    fn read(value: &'v Value<'v>) -> Result<Self, Refusal> {
        let Some(entries) = value.as_object() else {
            return Err(refusal(Reason::InvalidRecord, format!("the observation is {}, not an object", value.kind())));
        };
        let mut keys = Self::default();
        for (key, value) in entries {
            let slot = match key.as_ref() {
                "schema" => &mut keys.schema,
                "observation_id" => &mut keys.observation_id,
                "ledger" => &mut keys.ledger,
                "actor" => &mut keys.actor,
                "observed_at" => &mut keys.observed_at,
                "confidence" => &mut keys.confidence,
                "evidence" => &mut keys.evidence,
                "entity" => &mut keys.entity,
                "head_transition" => &mut keys.head_transition,
                "fields" => &mut keys.fields,
                "message_id" => &mut keys.message_id,
                "note" => &mut keys.note,
                unknown => {
                    return Err(refusal(Reason::UnknownKey, format!("key {unknown:?} is not part of an observation")));
                }
            };
            *slot = Some(value);
        }
        Ok(keys)
    }
}

fn check_schema(schema: Option<&Value<'_>>) -> Result<(), Refusal> {
    match schema {
        None => Ok(()),
        Some(schema) if schema.as_text() == Some(OBSERVATION_SCHEMA) => Ok(()),
        Some(other) => {
            let detail = format!("schema is {}, this host reads {OBSERVATION_SCHEMA:?}", shown(other));
            Err(refusal(Reason::UnsupportedSchemaVersion, detail))
        }
    }
}

fn check_ledger(ledger: Option<&Value<'_>>, target: &str) -> Result<(), Refusal> {
    match ledger {
        None => Ok(()),
        Some(ledger) if ledger.as_text() == Some(target) => Ok(()),
        Some(other) => Err(refusal(Reason::LedgerMismatch, format!("ledger is {}, this is {target:?}", shown(other)))),
    }
}

fn actor<'v>(actor: Option<&'v Value<'v>>) -> Result<&'v str, Refusal> {
    let Some(value) = actor else {
        return Err(refusal(Reason::MissingActor, "no actor, and the message has no author"));
    };
    match value.as_text().map(strip) {
        Some(text) if is_lane(text) => Ok(text),
        Some(_) | None => {
            Err(refusal(Reason::MissingActor, format!("actor is {}, not machine or machine:workspace", shown(value))))
        }
    }
}

fn observed_at(observed_at: Option<&Value<'_>>, latest: Option<Timestamp>) -> Result<Timestamp, Refusal> {
    let Some(value) = observed_at else {
        return Err(refusal(Reason::InvalidTimestamp, "no observed_at, and the message has no time"));
    };
    let Some(text) = value.as_text() else {
        return Err(refusal(Reason::InvalidTimestamp, format!("observed_at is {}, not a string", shown(value))));
    };
    let instant = Timestamp::parse(text)
        .map_err(|error| Refusal::new(error.code(), format!("observed_at {} {error}", shown(value))))?;
    match latest {
        Some(latest) if instant > latest => Err(refusal(
            Reason::FutureTimestamp,
            format!("observed_at {instant} is later than {latest}, the message's time plus the allowed clock skew"),
        )),
        Some(_) | None => Ok(instant),
    }
}

fn confidence(confidence: Option<&Value<'_>>) -> Result<Confidence, Refusal> {
    let Some(value) = confidence else { return Ok(Confidence::Medium) };
    value.as_text().and_then(Confidence::parse).ok_or_else(|| {
        refusal(Reason::InvalidConfidence, format!("confidence is {}, not low, medium or high", shown(value)))
    })
}

fn evidence<'v>(evidence: Option<&'v Value<'v>>) -> Result<Cow<'v, str>, Refusal> {
    let Some(value) = evidence else { return Err(refusal(Reason::MissingEvidence, "no evidence")) };
    match value.as_text() {
        Some(text) if !is_blank(text) => Ok(collapse(text)),
        Some(_) | None => Err(refusal(
            Reason::MissingEvidence,
            format!("evidence is {}, not a text that says something", shown(value)),
        )),
    }
}

/// Check 9: exactly the kind's keys, unknown ones named before missing ones, then the values in declared order.
fn identity(entity: Option<&Value<'_>>, shape: &Shape<'_>) -> Result<Identity, Refusal> {
    let mismatch = |detail: String| refusal(Reason::EntityMismatch, detail);
    let Some(value) = entity else { return Err(mismatch("no entity".to_owned())) };
    let Some(entries) = value.as_object() else {
        return Err(mismatch(format!("entity is {}, not an object", shown(value))));
    };
    if let Some((unknown, _)) = entries.iter().find(|(key, _)| shape.entity_keys().all(|(name, _)| name != key)) {
        return Err(mismatch(format!("entity key {unknown:?} is not one of this kind's")));
    }
    let mut values: SmallVec<[Value<'static>; 2]> = SmallVec::new();
    for (name, _) in shape.entity_keys() {
        if value.get(name).is_none() {
            return Err(mismatch(format!("entity has no {name:?}")));
        }
    }
    for (name, kind) in shape.entity_keys() {
        values.push(entity_member(name, kind, value.get(name).unwrap_or(&Value::Null))?);
    }
    Ok(shape.identity(values))
}

fn entity_member(name: &str, kind: EntityKeyType, value: &Value<'_>) -> Result<Value<'static>, Refusal> {
    entity_value(kind, value).ok_or_else(|| {
        let wanted = match kind {
            EntityKeyType::Repo => "owner/name",
            EntityKeyType::Machine => "a machine name (ASCII letters, digits, . _ -)",
            EntityKeyType::Positive => "an integer above 0",
            EntityKeyType::Index => "an integer from 0",
        };
        refusal(Reason::EntityMismatch, format!("entity {name} is {}, not {wanted}", shown(value)))
    })
}

type Fields<'v> = SmallVec<[(u8, &'v Value<'v>); 6]>;

/// Checks 11 and 12: the fields by declared index, in document order.
fn fields<'v>(fields: Option<&'v Value<'v>>, shape: &Shape<'_>) -> Result<Fields<'v>, (u8, Refusal)> {
    let entries = match fields.and_then(Value::as_object) {
        Some(entries) if !entries.is_empty() => entries,
        Some(_) => return Err((11, refusal(Reason::InvalidRecord, "fields is empty"))),
        None => {
            let found = fields.map_or_else(|| "absent".to_owned(), shown);
            return Err((11, refusal(Reason::InvalidRecord, format!("fields is {found}, not an object"))));
        }
    };
    let index_of = |(name, value): &'v (Cow<'v, str>, Value<'v>)| match shape.field_index(name) {
        Some(index) => Ok((index, value)),
        None => Err((12, refusal(Reason::UnknownField, format!("field {name:?} is not one of {}'s", shape.ledger())))),
    };
    entries.iter().map(index_of).collect()
}

fn optional_text<'v>(name: &str, value: Option<&'v Value<'v>>) -> Result<Option<Cow<'v, str>>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) if !is_blank(text) => Ok(Some(collapse(text))),
        Some(other) => Err(format!("{name} is {}, not a text that says something", shown(other))),
    }
}

/// A refusal for one of the host's own reasons.
pub(super) fn refusal(reason: Reason, detail: impl Into<String>) -> Refusal {
    Refusal::new(reason.code(), detail)
}
