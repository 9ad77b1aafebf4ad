//! Folds texts without files, and reads what of a snapshot is state.

use host::ledger::baseline;
use host::ledger::checkpoint::OnDamage;
use host::ledger::config::Config;
use host::ledger::digest::state_digest;
use host::ledger::fatal::FatalError;
use host::ledger::fold::{Folded, Inputs, fold};
use host::ledger::kind::Kind;
use host::ledger::message::Rules;
use host::ledger::prior_doc::{Cut, PriorDoc};
use host::ledger::shape::Shape;
use host::ledger::snapshot::SnapshotText;
use host::ledger::stream;
use plugin_api::rules::time::Timestamp;
use serde_json::Value;

/// A ledger to fold, with a history cap.
pub(crate) struct Ledger<'k> {
    pub(crate) shape: Shape<'k>,
    pub(crate) config: Config,
}

impl<'k> Ledger<'k> {
    pub(crate) fn new(kind: &'k dyn Kind, cap: usize) -> Self {
        let config = Config { history_cap: cap, ..Config::defaults(kind.declaration()) };
        Self { shape: Shape::new(kind), config }
    }

    /// Folds an export onto a snapshot and a baseline.
    pub(crate) fn fold(&self, prior: Option<&str>, export: &str, base: Option<&str>) -> Result<Folded, FatalError> {
        let cut = prior.and_then(Cut::find);
        let prior = prior.map(|text| PriorDoc::read(text, cut.as_ref(), &self.shape).expect("a snapshot"));
        let baseline = base.map(|text| baseline::read(text).expect("a baseline"));
        let rules = Rules { now: now(), skew: self.config.skew, strict_author: false };
        let inputs = Inputs {
            prior,
            export: Some(stream::read(export, &rules, &self.shape, &|_| {}).expect("an export")),
            baseline: baseline.as_ref(),
            high_water: None,
            config: &self.config,
            rules,
            window_full: false,
            on_damage: OnDamage::Refuse,
            progress: &|_| {},
        };
        fold(inputs, &self.shape)
    }

    /// The text of `snapshot.json`.
    pub(crate) fn text(&self, folded: &Folded) -> String {
        let text = SnapshotText::new(folded, &self.shape);
        let mut out = String::new();
        text.head(&mut out);
        for row in 0..folded.rows.rows.len() {
            text.row(row, &mut out);
        }
        text.tail(&state_digest(&folded.rows, &self.shape), &mut out);
        out
    }

    /// Folds, and gives the text of the snapshot.
    pub(crate) fn snapshot(&self, prior: Option<&str>, export: &str) -> String {
        self.text(&self.fold(prior, export, None).expect("a fold"))
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-10-01T00:00:00Z").expect("a time")
}

/// What of a snapshot is state: everything that must not depend on how the journal was cut.
pub(crate) fn state(snapshot: &str) -> Value {
    let mut root: Value = serde_json::from_str(snapshot).expect("JSON");
    let rows = root["rows"].as_array_mut().expect("rows");
    for row in rows.iter_mut() {
        let row = row.as_object_mut().expect("a row");
        row.remove("provenance");
        row.remove("contributions");
        row.remove("diagnostics");
        for entries in row["history"].as_object_mut().expect("history").values_mut() {
            for entry in entries.as_array_mut().expect("entries") {
                let entry = entry.as_object_mut().expect("an entry");
                entry.remove("source");
                entry.remove("message_id");
            }
        }
    }
    serde_json::json!({ "rows": rows.clone(), "digest": root["checkpoint"]["state_digest"] })
}
