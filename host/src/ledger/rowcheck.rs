//! The checks of stored rows (D5): entity and key, every history entry, and that the last entry is what the row shows.

use std::fmt;

use plugin_api::json::{self, Layout};
use plugin_api::rules::text::{collapse, is_blank, is_lane};
use plugin_api::rules::time::Timestamp;
use plugin_api::{FieldType, Value};
use rayon::prelude::*;
use smallvec::smallvec;

use super::admit::parse_answer;
use super::digest::write_row;
use super::kind::{Batch, BatchCustom, KindFailure};
use super::merge::difference;
use super::printed::Printed;
use super::record::{Confidence, Identity, ObservationId, Record, Source};
use super::shape::Shape;
use super::shown::{Origin, Shown};
use super::snapshot_doc::{EntryDoc, RowDoc};
use super::values::{entity_value, shown, typed_value};

/// Entries of one observation that are compared with each other: more than any kind has fields, few enough to do so.
const VOTERS: usize = 16;

/// Rows that are checked with one call of the kind.
const CHUNK: usize = 256;

/// What is wrong with a stored snapshot, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A row as a whole.
    Row {
        /// Its key as stored.
        key: String,
        /// What is wrong.
        what: String,
    },
    /// A history entry, or a field of a row.
    Entry {
        /// The row's key.
        key: String,
        /// The field.
        field: String,
        /// What is wrong.
        what: String,
    },
    /// Something outside of the rows.
    Part {
        /// Its path.
        path: String,
        /// What is wrong.
        what: String,
    },
}

impl Damage {
    /// Damage to a whole row.
    #[must_use]
    pub fn row(key: &str, what: String) -> Self {
        Self::Row { key: key.to_owned(), what }
    }

    /// Damage outside of the rows.
    #[must_use]
    pub fn part(path: &str, what: String) -> Self {
        Self::Part { path: path.to_owned(), what }
    }

    /// Damage to a history entry or a field.
    #[must_use]
    pub fn entry(key: &str, field: &str, what: impl Into<String>) -> Self {
        Self::Entry { key: key.to_owned(), field: field.to_owned(), what: what.into() }
    }

    /// The warning of a salvage.
    #[must_use]
    pub fn warning(&self) -> String {
        match self {
            Self::Row { key, what } => format!("salvaged_row: {key}: {what}"),
            Self::Entry { key, field, what } => format!("salvaged_entry: {key} {field}: {what}"),
            Self::Part { path, what } => format!("salvaged_part: {path} {what}"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row { key, what } => write!(f, "row {key:?}: {what}"),
            Self::Entry { key, field, what } => write!(f, "row {key:?}, field {field}: {what}"),
            Self::Part { path, what } => write!(f, "{path} {what}"),
        }
    }
}

/// A row after its checks. Only sound entries have become records.
#[derive(Debug)]
pub struct CheckedRow {
    /// The key, `None` when the row cannot be kept.
    pub key: Option<Box<str>>,
    /// Whether it was stored as historical.
    pub historical: bool,
    /// One record for each sound entry.
    pub records: Vec<Record>,
    /// What is wrong with it.
    pub damage: Vec<Damage>,
}

/// An entry whose plain parts are sound.
struct Candidate<'d> {
    row: usize,
    field: u8,
    place: usize,
    last: bool,
    doc: &'d EntryDoc<'d>,
    record: Record,
    custom: bool,
}

/// Rows that were checked together.
#[derive(Debug)]
pub struct Run {
    /// The rows, in file order.
    pub rows: Vec<CheckedRow>,
    /// The rows as they are stored, sound or not, as the state digest has them: joined by commas.
    pub digest_text: String,
}

impl Run {
    /// Checks rows with one call of the kind.
    ///
    /// # Errors
    /// [`KindFailure`] when the kind gave no usable answer.
    pub fn check(docs: &[RowDoc<'_>], shape: &Shape<'_>) -> Result<Self, KindFailure> {
        Ok(Self { rows: check_rows(docs, shape)?, digest_text: digest_text(docs) })
    }

    /// Checks all rows of a file, many at a time.
    #[must_use]
    pub fn check_all(docs: &[RowDoc<'_>], shape: &Shape<'_>) -> Vec<Result<Self, KindFailure>> {
        docs.par_chunks(CHUNK).map(|docs| Self::check(docs, shape)).collect()
    }
}

fn digest_text(docs: &[RowDoc<'_>]) -> String {
    let mut text = String::with_capacity(docs.len() * 512);
    for (index, doc) in docs.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let mut fields: Vec<(&str, &Value<'_>)> =
            doc.fields.iter().map(|(name, value)| (name.as_ref(), value)).collect();
        fields.sort_unstable_by_key(|(name, _)| *name);
        let key = doc.key.as_deref().unwrap_or_default();
        write_row(&mut text, key, fields.into_iter(), doc.historical == Ok(true));
    }
    text
}

fn check_rows(docs: &[RowDoc<'_>], shape: &Shape<'_>) -> Result<Vec<CheckedRow>, KindFailure> {
    let mut rows: Vec<CheckedRow> = Vec::with_capacity(docs.len());
    let entries = docs.iter().flat_map(|doc| &doc.history).map(|(_, entries)| entries.len()).sum();
    let mut candidates = Vec::with_capacity(entries);
    for (index, doc) in docs.iter().enumerate() {
        rows.push(check_plain(index, doc, shape, &mut candidates));
    }
    judge_customs(&mut candidates, &mut rows, shape)?;
    let mut candidates = candidates.into_iter().peekable();
    for (index, doc) in docs.iter().enumerate() {
        let mut own = std::iter::from_fn(|| candidates.next_if(|candidate| candidate.row == index)).collect();
        rows[index].drop_impostors(&mut own, shape);
        rows[index].settle(doc, own, shape);
    }
    Ok(rows)
}

fn check_plain<'d>(
    index: usize,
    doc: &'d RowDoc<'_>,
    shape: &Shape<'_>,
    candidates: &mut Vec<Candidate<'d>>,
) -> CheckedRow {
    let mut row = CheckedRow { key: None, historical: false, records: Vec::new(), damage: Vec::new() };
    let identity = match identity(doc, shape) {
        Ok(identity) => identity,
        Err(what) => {
            let key = doc.key.as_deref().unwrap_or_default().to_owned();
            row.damage.push(Damage::Row { key, what });
            return row;
        }
    };
    let key = &identity.key;
    let mut scratch = String::new();
    match &doc.historical {
        Ok(historical) => row.historical = *historical,
        Err(what) => row.damage.push(Damage::row(key, what.clone())),
    }
    for (name, entries) in &doc.history {
        let Some(field) = shape.field_index(name) else {
            row.damage.push(Damage::entry(key, name, "the kind declares no such field"));
            continue;
        };
        for (place, entry) in entries.iter().enumerate() {
            match entry
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|doc| Ok((doc, record(doc, field, &identity, shape, &mut scratch)?)))
            {
                Ok((doc, record)) => candidates.push(Candidate {
                    row: index,
                    field,
                    place,
                    last: place + 1 == entries.len(),
                    doc,
                    record,
                    custom: matches!(shape.field_type(usize::from(field)), FieldType::Custom(_)),
                }),
                Err(what) => row.damage.push(Damage::entry(key, name, format!("history[{place}]: {what}"))),
            }
        }
    }
    row.key = Some(identity.key);
    row
}

fn identity(doc: &RowDoc<'_>, shape: &Shape<'_>) -> Result<Identity, String> {
    let key = doc.key.as_ref().map_err(Clone::clone)?;
    let count = doc.entity.as_object().map_or(0, <[_]>::len);
    let mut values = Vec::with_capacity(count);
    for (name, kind) in shape.entity_keys() {
        let value = doc.entity.get(name).ok_or_else(|| format!("entity has no {name}"))?;
        let stored = entity_value(kind, value).filter(|stored| stored == value);
        values.push(stored.ok_or_else(|| format!("entity {name} is {}", shown(value)))?);
    }
    if count != values.len() {
        return Err("entity has a key that the kind does not have".to_owned());
    }
    let identity = shape.identity(values);
    if *identity.key == **key { Ok(identity) } else { Err(format!("its entity's key is {:?}", identity.key)) }
}

/// The record of an entry; a custom value is taken as it is and judged later.
fn record(
    doc: &EntryDoc<'_>,
    field: u8,
    identity: &Identity,
    shape: &Shape<'_>,
    scratch: &mut String,
) -> Result<Record, String> {
    let observed_at = Timestamp::parse(&doc.observed_at).map_err(|error| format!("observed_at {error}"))?;
    if observed_at.to_string() != doc.observed_at {
        return Err(format!("observed_at {:?} is not in its stored form", doc.observed_at));
    }
    if !is_lane(&doc.actor) {
        return Err(format!("actor is {:?}", doc.actor));
    }
    let confidence = Confidence::parse(&doc.confidence).ok_or_else(|| format!("confidence is {:?}", doc.confidence))?;
    if is_blank(&doc.evidence) || collapse(&doc.evidence) != doc.evidence {
        return Err("evidence is not in its stored form".to_owned());
    }
    let id = ObservationId::parse(&doc.observation_id)
        .ok_or_else(|| format!("observation_id is {:?}", doc.observation_id))?;
    let value = match shape.field_type(usize::from(field)) {
        FieldType::Custom(_) => doc.value.clone().into_owned(),
        FieldType::Enum(_)
        | FieldType::Bool
        | FieldType::Int
        | FieldType::Hours
        | FieldType::Text
        | FieldType::Lane
        | FieldType::UtcTimestamp
        | FieldType::IssueRef => typed_value(shape, field, &doc.value)
            .ok()
            .filter(|stored| same(stored, &doc.value))
            .ok_or_else(|| unsound(&doc.value))?,
    };
    let shown = Shown::new(
        &Origin {
            observed_at: &doc.observed_at,
            actor: &doc.actor,
            confidence,
            evidence: &doc.evidence,
            id,
            source: &Source::Checkpoint,
            message_id: None,
        },
        scratch,
    );
    Ok(Record {
        identity: identity.clone(),
        observed_at,
        actor: doc.actor.as_ref().into(),
        id,
        source: Source::Checkpoint,
        message_id: None,
        fields: smallvec![(field, value)],
        shown,
    })
}

fn unsound(value: &Value<'_>) -> String {
    format!("value {} is not one that a fold stores", shown(value))
}

/// Equal in text too, so that `-0.0` is not `0.0`.
fn same(stored: &Value<'_>, found: &Value<'_>) -> bool {
    stored == found
        && stored
            .as_float()
            .is_none_or(|float| found.as_float().is_some_and(|other| other.to_bits() == float.to_bits()))
}

/// Asks the kind for all custom values; those that it would store in another form are damage.
fn judge_customs(
    candidates: &mut Vec<Candidate<'_>>,
    rows: &mut [CheckedRow],
    shape: &Shape<'_>,
) -> Result<(), KindFailure> {
    let customs: Vec<&Candidate<'_>> = candidates.iter().filter(|candidate| candidate.custom).collect();
    if customs.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = customs.iter().map(|custom| json::text(&custom.doc.value, Layout::Compact)).collect();
    let mut printed = Printed::default();
    for custom in &customs {
        printed.add(&custom.record.identity, &custom.doc.observed_at);
    }
    let mut lender = printed.lend();
    let observations = customs
        .iter()
        .map(|custom| lender.observation(&custom.record.identity, &custom.doc.actor, &custom.doc.evidence));
    let observations = observations.collect();
    let values = customs.iter().zip(&texts).enumerate().map(|(observation, (custom, value))| BatchCustom {
        observation,
        field: usize::from(custom.field),
        value,
    });
    // The extra check is not asked again: only values are normalised anew (L 7), so what it says here is left aside.
    let judged = shape.kind().judge(&Batch { observations, customs: values.collect() })?;
    let mut unsound_at = Vec::with_capacity(texts.len());
    for ((answer, text), custom) in judged.customs.into_iter().zip(&texts).zip(&customs) {
        let sound = match answer {
            Ok(answer) => answer == *text || same(&parse_answer(&answer, shape)?, &custom.record.fields[0].1),
            Err(_) => false,
        };
        unsound_at.push(!sound);
    }
    let mut unsound_at = unsound_at.into_iter();
    candidates.retain(|candidate| {
        let bad = candidate.custom && unsound_at.next().unwrap_or(true);
        if bad {
            let what = format!("history[{}]: {}", candidate.place, unsound(&candidate.doc.value));
            let field = shape.field_name(usize::from(candidate.field));
            rows[candidate.row].damage.push(Damage::entry(&candidate.record.identity.key, field, what));
        }
        !bad
    });
    Ok(())
}

impl CheckedRow {
    /// A row without a readable key is named by its place in the file.
    pub fn name_by_index(&mut self, index: usize) {
        for damage in &mut self.damage {
            if let Damage::Row { key, .. } = damage
                && key.is_empty()
            {
                *key = format!("rows[{index}]");
            }
        }
    }

    /// Entries of one observation that disagree about its time, its actor or the value of one field: those that most of
    /// them contradict are damage, of as many the later ones. The fold would keep one and lose the rest (N14).
    fn drop_impostors(&mut self, candidates: &mut Vec<Candidate<'_>>, shape: &Shape<'_>) {
        let mut by_id: Vec<usize> = (0..candidates.len()).collect();
        by_id.sort_by_key(|index| candidates[*index].record.id);
        let mut bad = Vec::new();
        for copies in by_id.chunk_by(|left, right| candidates[*left].record.id == candidates[*right].record.id) {
            let clash = |left: usize, right: usize| difference(&candidates[left].record, &candidates[right].record);
            let voters = || copies.iter().take(VOTERS).copied();
            let against = |index: usize| voters().filter(|other| clash(index, *other).is_some()).count();
            let Some(trusted) = voters().min_by_key(|index| against(*index)) else { continue };
            bad.extend(copies.iter().filter_map(|index| Some((*index, trusted, clash(*index, trusted)?))));
        }
        if bad.is_empty() {
            return;
        }
        bad.sort_unstable();
        for (index, trusted, what) in &bad {
            let name = |index: usize| shape.field_name(usize::from(candidates[index].field));
            let (id, place) = (candidates[*index].record.id, candidates[*index].place);
            let what = format!("history[{place}]: {id} has another {what} in the history of {}", name(*trusted));
            self.damage.push(Damage::entry(&candidates[*index].record.identity.key, name(*index), what));
        }
        let mut bad = bad.iter().map(|(index, _, _)| *index).peekable();
        let mut index = 0;
        candidates.retain(|_| {
            index += 1;
            bad.next_if_eq(&(index - 1)).is_none()
        });
    }

    /// What remains once each entry was looked at by itself: order, `applied`, and the row's own fields.
    fn settle(&mut self, doc: &RowDoc<'_>, candidates: Vec<Candidate<'_>>, shape: &Shape<'_>) {
        let Some(key) = self.key.clone() else { return };
        let mut terminal = false;
        for (name, value) in &doc.fields {
            let field = shape.field_index(name);
            let last = candidates.iter().rfind(|candidate| Some(candidate.field) == field);
            match last {
                Some(last) if same(&last.record.fields[0].1, value) => {}
                Some(_) => self.damage.push(Damage::entry(&key, name, "the newest history entry has another value")),
                None => self.damage.push(Damage::entry(&key, name, "the field has no history")),
            }
            terminal |= field.is_some_and(|field| shape.is_terminal(usize::from(field), value));
        }
        if doc.historical == Ok(!terminal) {
            self.damage.push(Damage::row(&key, format!("historical is {}, its fields say {terminal}", !terminal)));
        }
        for pair in candidates.windows(2) {
            if pair[0].field == pair[1].field && pair[0].record.rank() >= pair[1].record.rank() {
                let what = format!("history[{}] is not newer than the entry before it", pair[1].place);
                self.damage.push(Damage::entry(&key, shape.field_name(usize::from(pair[1].field)), what));
            }
        }
        for candidate in &candidates {
            let field = shape.field_name(usize::from(candidate.field));
            if candidate.doc.applied != candidate.last {
                let what = format!("history[{}]: applied is {}", candidate.place, candidate.doc.applied);
                self.damage.push(Damage::entry(&key, field, what));
            }
            if candidate.last && doc.fields.iter().all(|(name, _)| name != field) {
                self.damage.push(Damage::entry(&key, field, "the field has history but no value"));
            }
        }
        self.records = candidates.into_iter().map(|candidate| candidate.record).collect();
        if self.records.is_empty() && self.damage.is_empty() {
            self.damage.push(Damage::row(&key, "it has no history".to_owned()));
        }
    }
}
