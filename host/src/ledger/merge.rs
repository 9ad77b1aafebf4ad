//! The merge (L 8): records become rows. There is no precedence of sources: per field the newest observation wins.

use std::collections::BTreeSet;

use plugin_api::rules::time::Timestamp;
use plugin_api::{Counts, Value};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::observation::refusal;
use super::record::{ObservationId, Record, Rejection, Source};
use super::records::Records;
use super::shape::Shape;
use crate::reasons::Reason;

/// What the merge needs from configuration and clock.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// History entries kept for each field, at least 1.
    pub history_cap: usize,
    /// A row whose newest observation is strictly older is stale.
    pub stale_before: Timestamp,
}

/// The history of one field: indexes into the records, oldest first; the last one won.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldHistory {
    /// Kept entries; empty when nobody observed the field.
    pub entries: Vec<u32>,
    /// Entries beyond the cap.
    pub truncated: usize,
    /// Whether the winner shares its instant with another value.
    pub contested: Vec<u32>,
}

/// A folded row.
#[derive(Clone, Debug)]
pub struct FoldedRow {
    /// Index of the record whose identity the row has: its first.
    pub first: u32,
    /// One history for each declared field.
    pub fields: Vec<FieldHistory>,
    /// Whether the verdict field holds the terminal value.
    pub historical: bool,
    /// Whether the newest observation is too old.
    pub stale: bool,
    /// Newest instant of the row's records.
    pub last_observed_at: Timestamp,
    /// Distinct observation ids among the row's records.
    pub contributions: usize,
}

/// Rows sorted by key, over the records they point into.
#[derive(Debug, Default)]
pub struct Rows {
    /// All records, in the order baseline, checkpoint, journal.
    pub records: Records,
    /// The rows.
    pub rows: Vec<FoldedRow>,
}

impl Rows {
    /// The record with this index.
    #[must_use]
    pub fn record(&self, index: u32) -> &Record {
        self.records.get(index)
    }

    /// Row key.
    #[must_use]
    pub fn key(&self, row: &FoldedRow) -> &str {
        &self.record(row.first).identity.key
    }

    /// The record that won a field of a row.
    #[must_use]
    pub fn winner(&self, row: &FoldedRow, field: usize) -> Option<&Record> {
        row.fields[field].entries.last().map(|index| self.record(*index))
    }

    /// The value of a field of a row.
    #[must_use]
    pub fn value(&self, row: &FoldedRow, field: usize) -> Option<&Value<'static>> {
        self.winner(row, field).and_then(|record| record.value(field))
    }

    /// How many rows of each sort.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for row in &self.rows {
            counts.total += 1;
            if row.historical {
                counts.historical += 1;
                continue;
            }
            counts.live += 1;
            counts.incomplete += u64::from(row.fields.iter().any(|field| field.entries.is_empty()));
            counts.stale += u64::from(row.stale);
        }
        counts
    }
}

impl Record {
    /// The value that this record gives a field.
    #[must_use]
    pub fn value(&self, field: usize) -> Option<&Value<'static>> {
        self.fields.iter().find(|(index, _)| usize::from(*index) == field).map(|(_, value)| value)
    }
}

/// Refuses records of baseline and journal that share an id with another one but say something else (N14).
///
/// An id of 64 bits can be hit on purpose; the id of a checkpoint entry cannot be recomputed from it. Entries of the
/// checkpoint agree with each other (D5) and come first: what was folded once is not lost to a baseline edited later.
pub fn refuse_impostors(records: &mut Records) -> Vec<Rejection> {
    let mut ids: Vec<(ObservationId, u32)> = records.indexed().map(|(index, record)| (record.id, index)).collect();
    ids.par_sort_unstable();
    let copies = ids.chunk_by(|(left, _), (right, _)| left == right).filter(|copies| copies.len() > 1);
    let mut refused: Vec<(u32, &str)> = copies.flat_map(|copies| impostors(copies, records)).collect();
    refused.sort_unstable();
    let rejections = refused.iter().map(|(index, what)| {
        let record = records.get(*index);
        let detail = format!("{} was used before for another {what}", record.id);
        let refusal = refusal(Reason::ObservationIdMismatch, detail);
        let source = record.source.to_string();
        let source = source.strip_prefix("journal:").unwrap_or(&source).to_owned();
        Rejection { source, reason: refusal.code, detail: refusal.detail }
    });
    let rejections = rejections.collect();
    let refused: Vec<u32> = refused.into_iter().map(|(index, _)| index).collect();
    records.remove(&refused);
    rejections
}

/// Of records with one id, those of the checkpoint first, then in list order: those that differ from an earlier one that stands, and in what.
fn impostors(copies: &[(ObservationId, u32)], records: &Records) -> Vec<(u32, &'static str)> {
    let mut standing: SmallVec<[&Record; 4]> = SmallVec::new();
    let mut refused = Vec::new();
    let is_stored = |(_, index): &&(ObservationId, u32)| records.get(*index).source == Source::Checkpoint;
    let others = copies.iter().filter(|copy| !is_stored(copy));
    for (_, index) in copies.iter().filter(is_stored).chain(others) {
        let record = records.get(*index);
        if let Some(what) = standing.iter().find_map(|earlier| difference(earlier, record)) {
            refused.push((*index, what));
            continue;
        }
        // Copies that add no field need not be compared with: they agree with one that is.
        let known = |field: u8| standing.iter().any(|copy| copy.value(usize::from(field)).is_some());
        if !record.fields.iter().all(|(field, _)| known(*field)) {
            standing.push(record);
        }
    }
    refused
}

/// What a record says otherwise than an earlier one with the same id: its time, actor, entity or a value.
#[must_use]
pub fn difference(earlier: &Record, later: &Record) -> Option<&'static str> {
    if earlier.observed_at != later.observed_at {
        return Some("time");
    }
    if earlier.actor != later.actor {
        return Some("actor");
    }
    if earlier.identity.key != later.identity.key {
        return Some("entity");
    }
    let contradicts =
        |(field, value): &(u8, Value<'static>)| earlier.value(usize::from(*field)).is_some_and(|other| other != value);
    later.fields.iter().any(contradicts).then_some("value")
}

/// Folds records into rows.
#[must_use]
pub fn merge(records: Records, limits: &Limits, shape: &Shape<'_>) -> Rows {
    let groups = group(&records);
    let mut rows: Vec<FoldedRow> = groups.par_iter().map(|group| fold_row(group, &records, limits, shape)).collect();
    rows.par_sort_unstable_by(|left, right| {
        let key = |row: &FoldedRow| &records.get(row.first).identity.key;
        key(left).cmp(key(right))
    });
    Rows { records, rows }
}

/// Record indexes by row key, in list order.
fn group(records: &Records) -> Vec<Vec<u32>> {
    let mut rows: FxHashMap<&str, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (index, record) in records.indexed() {
        let row = *rows.entry(&record.identity.key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[row].push(index);
    }
    groups
}

fn fold_row(group: &[u32], records: &Records, limits: &Limits, shape: &Shape<'_>) -> FoldedRow {
    let record = |index: &u32| records.get(*index);
    // Later copies behind earlier ones of the same rank: the last of them is the one whose content stays.
    let mut sorted = group.to_vec();
    sorted.sort_by(|left, right| record(left).rank().cmp(&record(right).rank()).then(left.cmp(right)));
    let mut fields = vec![FieldHistory::default(); shape.field_count()];
    let mut ids: Vec<ObservationId> = Vec::with_capacity(sorted.len());
    for index in &sorted {
        ids.push(record(index).id);
        for (field, _) in &record(index).fields {
            let entries = &mut fields[usize::from(*field)].entries;
            match entries.last_mut() {
                Some(last) if record(last).id == record(index).id => *last = *index,
                Some(_) | None => entries.push(*index),
            }
        }
    }
    ids.sort_unstable();
    ids.dedup();
    for (field, history) in fields.iter_mut().enumerate() {
        history.contested = contested(&history.entries, field, records);
        history.truncated = history.entries.len().saturating_sub(limits.history_cap);
        history.entries.drain(..history.truncated);
    }
    let last_observed_at = sorted.last().map_or(Timestamp::MIN, |index| record(index).observed_at);
    let verdict = fields.get(shape.verdict()).and_then(|history| history.entries.last());
    let historical = verdict
        .and_then(|index| record(index).value(shape.verdict()))
        .is_some_and(|value| shape.is_terminal(shape.verdict(), value));
    FoldedRow {
        first: group.first().copied().unwrap_or_default(),
        fields,
        historical,
        stale: last_observed_at < limits.stale_before,
        last_observed_at,
        contributions: ids.len(),
    }
}

/// The entries of the winner's instant, when they do not all hold the winner's value (N13).
fn contested(entries: &[u32], field: usize, records: &Records) -> Vec<u32> {
    let Some(winner) = entries.last().map(|index| records.get(*index)) else { return Vec::new() };
    let same_instant = entries.iter().rev().take_while(|index| records.get(**index).observed_at == winner.observed_at);
    let contenders: Vec<u32> = same_instant.copied().collect();
    let differs = |index: &u32| records.get(*index).value(field) != winner.value(field);
    if contenders.iter().any(differs) { contenders.into_iter().rev().collect() } else { Vec::new() }
}

/// Names of the declared fields that a row lacks, sorted.
#[must_use]
pub fn missing_fields<'k>(row: &FoldedRow, shape: &Shape<'k>) -> Vec<&'k str> {
    let missing = shape.sorted_fields().iter().map(|index| usize::from(*index));
    missing.filter(|index| row.fields[*index].entries.is_empty()).map(|index| shape.field_name(index)).collect()
}

/// Sources of the winners of a row, sorted.
#[must_use]
pub fn winner_sources(row: &FoldedRow, rows: &Rows) -> BTreeSet<String> {
    (0..row.fields.len()).filter_map(|field| rows.winner(row, field)).map(|record| record.source.to_string()).collect()
}
