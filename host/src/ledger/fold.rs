//! The fold: baseline, prior snapshot and journal in, rows and their checkpoint out.
//!
//! Reads no clock, file or environment: equal inputs give equal bytes.

use std::sync::atomic::{AtomicUsize, Ordering};

use plugin_api::json::Document;
use plugin_api::rules::counter;
use plugin_api::rules::time::Timestamp;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde_json::value::RawValue;

use super::baseline;
use super::checkpoint::{self, OnDamage, Prior};
use super::config::Config;
use super::export::{self, Export, Window, WindowKind};
use super::fatal::FatalError;
use super::highwater::HighWater;
use super::merge::{FoldedRow, Limits, Rows, merge, refuse_impostors};
use super::message::{ActorDiffers, Judgement, Rules, judge};
use super::outer::{CHUNK, Items};
use super::prior_doc::PriorDoc;
use super::rebuild::owned;
use super::record::{Label, ObservationId, Record, Rejection, Source};
use super::records::Records;
use super::shape::Shape;
use super::stream::{ExportDoc, JudgedChunk};
use super::summary::Head;
use crate::reasons::Fatal;

/// What a fold reads, already parsed as far as JSON goes.
pub struct Inputs<'i, 'a> {
    /// The prior snapshot, if there is one.
    pub prior: Option<PriorDoc<'a>>,
    /// The export, or none at all (`--no-events`).
    pub export: Option<ExportDoc<'a>>,
    /// The baseline, if there is one.
    pub baseline: Option<&'i Document<'a>>,
    /// High-water mark of the prior fold.json.
    pub high_water: Option<HighWater>,
    /// The configuration.
    pub config: &'i Config,
    /// Time, clock skew and strictness.
    pub rules: Rules,
    /// Whether an export that declares no window is taken for a full one.
    pub window_full: bool,
    /// What is done with a damaged prior snapshot.
    pub on_damage: OnDamage,
    /// Told how many messages have been judged.
    pub progress: &'i (dyn Fn(usize) + Sync),
}

/// What a fold came to.
#[derive(Debug)]
pub struct Folded {
    /// The time of the fold.
    pub now: Timestamp,
    /// Dashboard of the ledger.
    pub workspace: String,
    /// The rows.
    pub rows: Rows,
    /// Refused messages, in message order.
    pub rejections: Vec<Rejection>,
    /// The two warnings that the reference knows: they stand in the snapshot and in the status.
    pub warnings: Vec<String>,
    /// Our own warnings: stderr and fold.json.
    pub notices: Vec<String>,
    /// Whether something of the prior snapshot was dropped.
    pub salvaged: bool,
    /// What the export covers.
    pub window: Window,
    /// Messages that are prose.
    pub ignored: usize,
    /// The counters and marks of the checkpoint.
    pub events: Events,
    /// Distinct row keys of the baseline.
    pub baseline_rows: usize,
    /// Distinct row keys of the prior snapshot.
    pub checkpoint_rows: usize,
    /// Accepted observations whose actor is not the author.
    pub differs: Vec<ActorDiffers>,
    /// Keys live now whose prior row was historical (N2).
    pub reopened: Vec<String>,
    /// The mark that never goes back (D9).
    pub high_water: HighWater,
}

/// `checkpoint.events` of the snapshot, and the number of journal records of this fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Journal records of this fold.
    pub journal_records: usize,
    /// All journal records so far, replays counted again.
    pub consumed_total: i64,
    /// Journal records that the prior snapshot knew.
    pub replayed: usize,
    /// Newest time among this journal's records.
    pub newest_observed_at: Option<Timestamp>,
    /// The message that brought the newest record.
    pub newest_message_id: Option<String>,
    /// Refused observations of this fold.
    pub rejected: usize,
    /// Ids of this journal, then of the prior ones, as far as they are kept.
    pub recent_ids: Vec<String>,
}

/// Folds.
///
/// # Errors
/// The fatal codes of L 13 from `CHECKPOINT_LEDGER_MISMATCH` to `MISSING_CHECKPOINT`, in their order; `PLUGIN_FAILED`.
pub fn fold(mut inputs: Inputs<'_, '_>, shape: &Shape<'_>) -> Result<Folded, FatalError> {
    let prior = inputs.prior.take().map(|doc| check_prior(doc, shape, inputs.on_damage)).transpose()?;
    let (export, judged) = match inputs.export.take() {
        Some(ExportDoc { outer, judged }) => (export::adapt(outer, shape.ledger(), inputs.window_full)?, judged),
        None => (Export::none(), Vec::new()),
    };
    let baseline = match inputs.baseline {
        Some(document) => baseline::records(document, &inputs.rules, shape)?,
        None => Vec::new(),
    };
    let had_prior = prior.is_some();
    if export.window.kind == WindowKind::Incremental && !had_prior {
        let detail = "the export covers only a tail and there is no prior snapshot; fold a full export first";
        return Err(Fatal::MissingCheckpoint.with(detail));
    }
    let mut prior = prior.unwrap_or_default();
    let mut records = Records::default();
    records.append(baseline);
    records.append_all(std::mem::take(&mut prior.records));
    let judgement = match &export.messages {
        Items::Raw(messages) => collect(judge_all(messages, &inputs, shape)?, &mut records),
        Items::Streamed { list, .. } => collect(of_list(judged, *list)?, &mut records),
    };

    let salvaged = !prior.salvaged.is_empty();
    let mut notices = inputs.config.warnings.clone();
    notices.append(&mut prior.salvaged);
    notices.extend(export.warnings);
    notices.extend(judgement.split.iter().map(split_notice));

    let impostors = refuse_impostors(&mut records);
    let mut rejections = judgement.rejections;
    rejections.extend(impostors);
    let events = events(&records, &prior, rejections.len(), inputs.config.recent_max);

    let (warnings, high_water) = judge_age(&events, &prior, inputs.high_water, &mut notices);
    note_gap(&export.window, &records, &prior, &mut notices);

    let baseline_rows = distinct_keys(&records, &Source::Baseline);
    let checkpoint_rows = distinct_keys(&records, &Source::Checkpoint);
    let limits = Limits {
        history_cap: inputs.config.history_cap,
        stale_before: inputs.rules.now.plus_micros(-inputs.config.stale_after),
    };
    let rows = merge(records, &limits, shape);
    let reopened = reopened(&rows, &prior);
    note_counts(&rows, judgement.differs.len(), reopened.len(), &mut notices);
    Ok(Folded {
        now: inputs.rules.now,
        workspace: inputs.config.workspace.clone(),
        rows,
        rejections,
        warnings,
        notices,
        salvaged,
        window: export.window,
        ignored: judgement.ignored,
        events,
        baseline_rows,
        checkpoint_rows,
        differs: judgement.differs,
        reopened,
        high_water,
    })
}

fn split_notice(label: &Label) -> String {
    format!("split_envelope: {label} is the first part of an envelope that was cut on its way; post it again, shorter")
}

fn check_prior(doc: PriorDoc<'_>, shape: &Shape<'_>, on_damage: OnDamage) -> Result<Prior, FatalError> {
    checkpoint::check_ledger(&doc.root, shape.ledger())?;
    checkpoint::check(doc, shape, on_damage)
}

fn judge_all(messages: &[&RawValue], inputs: &Inputs<'_, '_>, shape: &Shape<'_>) -> Result<Vec<Judgement>, FatalError> {
    let done = AtomicUsize::new(0);
    let judged = messages.par_chunks(CHUNK).enumerate().map(|(chunk, messages)| {
        let judgement = judge(messages, chunk * CHUNK, &inputs.rules, shape);
        (inputs.progress)(done.fetch_add(messages.len(), Ordering::Relaxed) + messages.len());
        judgement
    });
    Ok(judged.collect::<Result<_, _>>()?)
}

/// What the messages of one streamed list came to, in their order.
fn of_list(judged: Vec<JudgedChunk>, list: usize) -> Result<Vec<Judgement>, FatalError> {
    let mut judged: Vec<JudgedChunk> = judged.into_iter().filter(|chunk| chunk.list == list).collect();
    judged.sort_unstable_by_key(|chunk| chunk.first);
    Ok(judged.into_iter().map(|chunk| chunk.judgement).collect::<Result<_, _>>()?)
}

/// One judgement out of many; the records go behind those that are there.
fn collect(judged: Vec<Judgement>, records: &mut Records) -> Judgement {
    let mut all = Judgement::default();
    for judgement in judged {
        all.extend(judgement, records);
    }
    all
}

fn journal(records: &Records) -> impl Iterator<Item = &Record> {
    records.iter().filter(|record| matches!(record.source, Source::Journal(_)))
}

fn events(records: &Records, prior: &Prior, rejected: usize, recent_max: usize) -> Events {
    let known = known_ids(prior);
    let mut events = Events { rejected, ..Events::default() };
    let mut newest: Option<&Record> = None;
    let mut newest_with_id: Option<&Record> = None;
    let mut seen = FxHashSet::default();
    for record in journal(records) {
        events.journal_records += 1;
        events.replayed += usize::from(known.contains(&record.id));
        if events.recent_ids.len() < recent_max && seen.insert(record.id) {
            events.recent_ids.push(record.id.to_string());
        }
        // Strictly greater: of equal ones the earlier message stays.
        let newer = |than: Option<&Record>| than.is_none_or(|than| record.rank() > than.rank());
        if newer(newest) {
            newest = Some(record);
        }
        if record.message_id.is_some() && newer(newest_with_id) {
            newest_with_id = Some(record);
        }
    }
    let fresh: FxHashSet<String> = events.recent_ids.iter().cloned().collect();
    let room = recent_max.saturating_sub(events.recent_ids.len());
    let mut earlier = FxHashSet::default();
    let kept = prior.recent_ids.iter().filter(|id| !fresh.contains(*id) && earlier.insert(id.as_str()));
    events.recent_ids.extend(kept.take(room).cloned());
    events.consumed_total =
        prior.consumed_total.saturating_add(i64::try_from(events.journal_records).unwrap_or(i64::MAX));
    events.newest_observed_at = newest.map(|record| record.observed_at);
    events.newest_message_id = newest_with_id.and_then(|record| record.message_id.as_deref()).map(str::to_owned);
    events
}

/// The two warnings of the reference, and the mark that never goes back (D9).
fn judge_age(
    events: &Events,
    prior: &Prior,
    stored: Option<HighWater>,
    notices: &mut Vec<String>,
) -> (Vec<String>, HighWater) {
    let mut warnings = Vec::new();
    if prior.newest_unreadable {
        warnings.push("checkpoint_newest_unreadable: ignored for ordering".to_owned());
    }
    if let (Some(newest), Some((folded, text))) = (events.newest_observed_at, &prior.newest_observed_at)
        && newest < *folded
    {
        warnings.push(format!(
            "export_older_than_checkpoint: newest event {newest} is older than the folded checkpoint {text}; \
             older observations lose on observed_at and cannot regress state"
        ));
    }
    let checkpoint = HighWater {
        observed_at: prior.newest_observed_at.as_ref().map(|(instant, _)| *instant),
        message_id: prior.newest_message_id.clone(),
    };
    let mark = stored.unwrap_or_default().or_later(checkpoint);
    if let (Some(newest), Some(highest)) = (events.newest_observed_at, mark.observed_at)
        && newest < highest
    {
        notices.push(format!(
            "export_older_than_high_water: newest event {newest} is older than {highest}, the newest ever folded"
        ));
    }
    let journal = HighWater { observed_at: events.newest_observed_at, message_id: events.newest_message_id.clone() };
    (warnings, mark.or_later(journal))
}

fn note_gap(window: &Window, records: &Records, prior: &Prior, notices: &mut Vec<String>) {
    if window.kind != WindowKind::Incremental || prior.recent_ids.is_empty() {
        return;
    }
    let known = known_ids(prior);
    let mut tail = journal(records).peekable();
    if tail.peek().is_some() && tail.all(|record| !known.contains(&record.id)) {
        notices.push(
            "possible_gap: the tail holds none of the observations that the checkpoint consumed last; \
             messages between the two may be missing, export a longer tail"
                .to_owned(),
        );
    }
}

fn known_ids(prior: &Prior) -> FxHashSet<ObservationId> {
    prior.recent_ids.iter().filter_map(|id| ObservationId::parse(id)).collect()
}

fn distinct_keys(records: &Records, source: &Source) -> usize {
    let of_source = records.iter().filter(|record| record.source == *source);
    of_source.map(|record| record.identity.key.as_ref()).collect::<FxHashSet<&str>>().len()
}

fn reopened(rows: &Rows, prior: &Prior) -> Vec<String> {
    let live = rows.rows.iter().filter(|row| !row.historical).map(|row| rows.key(row));
    live.filter(|key| prior.historical.contains(*key)).map(str::to_owned).collect()
}

fn note_counts(rows: &Rows, differs: usize, reopened: usize, notices: &mut Vec<String>) {
    let contested: usize = rows.rows.iter().map(contested_fields).sum();
    for (count, code, what) in [
        (differs, "actor_differs_from_author", "observation(s)"),
        (reopened, "reopened", "row(s)"),
        (contested, "equal_time_conflict", "field(s)"),
    ] {
        if count > 0 {
            notices.push(format!("{code}: {count} {what}"));
        }
    }
}

fn contested_fields(row: &FoldedRow) -> usize {
    row.fields.iter().filter(|field| !field.contested.is_empty()).count()
}

impl Folded {
    /// What stands around the rows in summary and status.
    #[must_use]
    pub fn head(&self) -> Head {
        let reasons = self.rejections.iter().map(|rejection| rejection.reason.as_str());
        let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Head {
            workspace: self.workspace.clone(),
            generated_at: self.now.to_string(),
            window: self.window.clone(),
            ignored: self.ignored,
            rejections: owned(counter::count(reasons)),
            replayed: signed(self.events.replayed),
            consumed_total: self.events.consumed_total,
            journal_records: signed(self.events.journal_records),
            warnings: self.warnings.clone(),
        }
    }
}
