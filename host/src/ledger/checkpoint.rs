//! The checkpoint contract (L 7, D5): a prior snapshot is believed only when every part of it is what a fold writes.

use plugin_api::rules::time::Timestamp;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::digest::StateDigest;
use super::fatal::FatalError;
use super::outer::Outer;
use super::prior_doc::PriorDoc;
use super::record::ObservationId;
use super::records::Records;
use super::rowcheck::{Damage, Run};
use super::shape::Shape;
use crate::reasons::Fatal;

/// Schema id of a snapshot.
pub const SNAPSHOT_SCHEMA: &str = "debt-ledger-snapshot/v1";
/// Schema id of the checkpoint inside a snapshot.
pub const CHECKPOINT_SCHEMA: &str = "debt-ledger-checkpoint/v1";
/// Where a snapshot counts.
const COUNTERS: [&[&str]; 13] = [
    &["counts", "total"],
    &["counts", "live"],
    &["counts", "historical"],
    &["counts", "incomplete"],
    &["counts", "stale"],
    &["checkpoint", "window", "messages"],
    &["checkpoint", "window", "ignored"],
    &["checkpoint", "events", "consumed_total"],
    &["checkpoint", "events", "replayed"],
    &["checkpoint", "events", "rejected"],
    &["checkpoint", "folded", "baseline_rows"],
    &["checkpoint", "folded", "checkpoint_rows"],
    &["checkpoint", "folded", "journal_records"],
];

/// What is done with a prior snapshot that is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Refuse it.
    Refuse,
    /// Keep what is sound, and say what was dropped.
    Salvage,
}

/// A prior snapshot that may be folded.
#[derive(Debug, Default)]
pub struct Prior {
    /// One record for each history entry, rows and entries in stored order.
    pub records: Records,
    /// Number of its rows.
    pub rows: usize,
    /// Keys of its historical rows.
    pub historical: FxHashSet<Box<str>>,
    /// Observations consumed so far.
    pub consumed_total: i64,
    /// Newest time of its journal, as an instant and as stored.
    pub newest_observed_at: Option<(Timestamp, String)>,
    /// Message of the newest observation of its journal.
    pub newest_message_id: Option<String>,
    /// Ids that its journals brought lately.
    pub recent_ids: Vec<String>,
    /// Digest of its state.
    pub state_digest: String,
    /// What was dropped; empty unless salvaged.
    pub salvaged: Vec<String>,
    /// Whether the newest time could not be read, which only a salvage gets past.
    pub newest_unreadable: bool,
}

/// Refuses the snapshot of another ledger.
///
/// # Errors
/// `CHECKPOINT_LEDGER_MISMATCH`.
pub fn check_ledger(root: &Outer<'_>, ledger: &str) -> Result<(), FatalError> {
    match root.get("ledger") {
        None => Ok(()),
        Some(found) if found.is_null() || found.as_text() == Some(ledger) => Ok(()),
        Some(found) => {
            let found = found.as_text().map_or_else(|| "not a string".to_owned(), |text| format!("{text:?}"));
            Err(Fatal::CheckpointLedgerMismatch
                .with(format!("the prior snapshot is of ledger {found}, this is {ledger:?}")))
        }
    }
}

/// Checks every part of a prior snapshot.
///
/// # Errors
/// `CORRUPT_CHECKPOINT`, naming row key and field; `PLUGIN_FAILED`.
pub fn check(doc: PriorDoc<'_>, shape: &Shape<'_>, on_damage: OnDamage) -> Result<Prior, FatalError> {
    let PriorDoc { root, rows } = doc;
    let rows = check_root(&root, rows, shape.ledger())?;
    let runs: Vec<Run> = rows.into_iter().collect::<Result<_, _>>()?;
    let mut prior = Prior { state_digest: stored_digest(&runs), ..Prior::default() };
    let mut damage = Damages { on_damage, found: Vec::new() };
    let mut keys: FxHashMap<Box<str>, usize> = FxHashMap::default();
    for (index, mut row) in runs.into_iter().flat_map(|run| run.rows).enumerate() {
        row.name_by_index(index);
        for found in row.damage {
            damage.note(found)?;
        }
        let Some(key) = row.key else { continue };
        if let Some(earlier) = keys.insert(key.clone(), index) {
            damage.note(Damage::row(&key, format!("rows[{earlier}] and rows[{index}] have one key")))?;
            continue;
        }
        if row.records.is_empty() {
            continue;
        }
        prior.rows += 1;
        if row.historical {
            prior.historical.insert(key);
        }
        prior.records.append(row.records);
    }
    drop_strangers(&mut prior, &mut damage, shape)?;
    check_tail(&root, &mut prior, &mut damage)?;
    prior.salvaged = damage.found;
    Ok(prior)
}

/// Entries of one observation in several rows: an observation is about one entity, so those of later rows are damage.
fn drop_strangers(prior: &mut Prior, damage: &mut Damages, shape: &Shape<'_>) -> Result<(), FatalError> {
    let mut by_id: Vec<(ObservationId, u32)> =
        prior.records.indexed().map(|(index, record)| (record.id, index)).collect();
    by_id.par_sort_unstable();
    let mut bad = Vec::new();
    for copies in by_id.chunk_by(|left, right| left.0 == right.0) {
        let key = |index: u32| &prior.records.get(index).identity.key;
        let first = copies[0].1;
        bad.extend(copies.iter().filter(|copy| key(copy.1) != key(first)).map(|copy| (copy.1, first)));
    }
    if bad.is_empty() {
        return Ok(());
    }
    bad.sort_unstable();
    for (index, first) in &bad {
        let record = prior.records.get(*index);
        let field = record.fields.first().map_or("", |(field, _)| shape.field_name(usize::from(*field)));
        let what = format!("{} stands in row {:?} too", record.id, prior.records.get(*first).identity.key);
        damage.note(Damage::entry(&record.identity.key, field, what))?;
    }
    let bad: Vec<u32> = bad.into_iter().map(|(index, _)| index).collect();
    prior.records.remove(&bad);
    Ok(())
}

/// The rows, when the rest is what a fold writes.
fn check_root<R>(root: &Outer<'_>, rows: Option<R>, ledger: &str) -> Result<R, FatalError> {
    // A salvage keeps rows; where there are none to be found, it cannot help.
    let corrupt = |what: String| {
        let way_out = "nothing of it can be salvaged: restore the file, or move it away and fold a full export";
        Err(Fatal::CorruptCheckpoint.with(format!("{what}; {way_out}")))
    };
    if !matches!(root, Outer::Object(_)) {
        return corrupt("the prior snapshot is not an object".to_owned());
    }
    let text = |path: &[&str]| root.at(path).and_then(Outer::as_text);
    for (path, wanted) in [
        (&["schema"][..], SNAPSHOT_SCHEMA),
        (&["ledger"], ledger),
        (&["checkpoint", "schema"], CHECKPOINT_SCHEMA),
        (&["checkpoint", "ledger"], ledger),
    ] {
        if text(path) != Some(wanted) {
            return corrupt(format!("{} of the prior snapshot is not {wanted:?}", path.join(".")));
        }
    }
    match rows {
        Some(rows) => Ok(rows),
        None => corrupt("rows of the prior snapshot is not a list".to_owned()),
    }
}

struct Damages {
    on_damage: OnDamage,
    found: Vec<String>,
}

impl Damages {
    fn note(&mut self, damage: Damage) -> Result<(), FatalError> {
        match self.on_damage {
            OnDamage::Refuse => Err(Fatal::CorruptCheckpoint.with(damage.to_string())),
            OnDamage::Salvage => {
                self.found.push(damage.warning());
                Ok(())
            }
        }
    }
}

/// The digest of the rows as they are stored, whether or not they are sound.
fn stored_digest(runs: &[Run]) -> String {
    let mut digest = StateDigest::default();
    for run in runs.iter().filter(|run| !run.rows.is_empty()) {
        digest.add(&run.digest_text);
    }
    digest.finish()
}

/// The digest, the counters and the stamps.
fn check_tail(root: &Outer<'_>, prior: &mut Prior, damage: &mut Damages) -> Result<(), FatalError> {
    let stored = root.at(&["checkpoint", "state_digest"]).and_then(Outer::as_text).unwrap_or_default();
    if stored != prior.state_digest {
        let what = format!("is {stored:?}, the rows' is {:?}", prior.state_digest);
        damage.note(Damage::part("checkpoint.state_digest", what))?;
    }
    for path in COUNTERS {
        if counter(root.at(path)).is_none() {
            damage.note(Damage::part(&path.join("."), "is not a count".to_owned()))?;
        }
    }
    prior.consumed_total = counter(root.at(&["checkpoint", "events", "consumed_total"])).unwrap_or_default();
    for path in [&["generated_at"][..], &["checkpoint", "folded_at"]] {
        let stamp = root.at(path).and_then(Outer::as_text).map(Timestamp::parse);
        if !matches!(stamp, Some(Ok(_))) {
            damage.note(Damage::part(&path.join("."), "is not a time".to_owned()))?;
        }
    }
    check_newest(root, prior, damage)?;
    check_recent(root, prior, damage)
}

fn check_newest(root: &Outer<'_>, prior: &mut Prior, damage: &mut Damages) -> Result<(), FatalError> {
    let newest = root.at(&["checkpoint", "events", "newest_observed_at"]);
    match newest
        .map(|newest| (newest.is_null(), newest.as_text().and_then(|text| Some((Timestamp::parse(text).ok()?, text)))))
    {
        Some((true, _)) => {}
        Some((false, Some((instant, text)))) => prior.newest_observed_at = Some((instant, text.to_owned())),
        Some((false, None)) | None => {
            prior.newest_unreadable = true;
            damage.note(Damage::part("checkpoint.events.newest_observed_at", "is not a time".to_owned()))?;
        }
    }
    match root.at(&["checkpoint", "events", "newest_message_id"]) {
        Some(id) if id.is_null() => {}
        Some(id) if id.as_text().is_some() => prior.newest_message_id = id.as_text().map(str::to_owned),
        Some(_) | None => {
            damage.note(Damage::part("checkpoint.events.newest_message_id", "is not a string".to_owned()))?;
        }
    }
    Ok(())
}

fn check_recent(root: &Outer<'_>, prior: &mut Prior, damage: &mut Damages) -> Result<(), FatalError> {
    const PATH: &str = "checkpoint.events.observation_ids_recent";
    let Some(Outer::List(ids)) = root.at(&["checkpoint", "events", "observation_ids_recent"]) else {
        return damage.note(Damage::part(PATH, "is not a list".to_owned()));
    };
    for raw in ids.raw() {
        let id: Option<String> = serde_json::from_str(raw.get()).ok();
        match id.filter(|id| ObservationId::parse(id).is_some()) {
            Some(id) => prior.recent_ids.push(id),
            None => damage.note(Damage::part(PATH, format!("holds {}", raw.get())))?,
        }
    }
    Ok(())
}

fn counter(found: Option<&Outer<'_>>) -> Option<i64> {
    match found? {
        Outer::Scalar(Some(value)) => value.as_integer().filter(|count| *count >= 0),
        Outer::Scalar(None) | Outer::Object(_) | Outer::List(_) | Outer::Deep => None,
    }
}
