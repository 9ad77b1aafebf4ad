//! Summary and status made again from a stored snapshot: what a fold that was cut short left undone, and what `verify`
//! compares (D7).

use plugin_api::LedgerView;
use plugin_api::rules::counter;
use plugin_api::rules::time::Timestamp;
use serde::Deserialize;

use super::checkpoint::{OnDamage, Prior, check, check_ledger};
use super::config::Config;
use super::digest::state_digest;
use super::export::{Window, WindowKind};
use super::fatal::FatalError;
use super::merge::{Limits, Rows, merge};
use super::outer::Outer;
use super::prior_doc::PriorDoc;
use super::shape::Shape;
use super::snapshot_doc::SnapshotDoc;
use super::status::status_text;
use super::summary::{Head, summary_text};
use super::view::View;

/// A stored snapshot that passed every check, folded alone.
#[derive(Debug)]
pub struct Rebuilt {
    /// Its rows. `stale` is as of the time of its fold.
    pub rows: Rows,
    /// What stands around its rows.
    pub head: Head,
    /// The digest that it stores.
    pub stored_digest: String,
    /// Newest time of its journal, as an instant and as stored.
    pub newest: Option<(Timestamp, String)>,
    /// Message of the newest observation of its journal.
    pub newest_message_id: Option<String>,
    /// The digest of the rows when they are folded without any journal; a sound snapshot reproduces its own.
    pub state_digest: String,
}

impl Rebuilt {
    /// Checks and folds a stored snapshot. `stale` is judged at `now`, or at the time of its own fold.
    ///
    /// # Errors
    /// `CHECKPOINT_LEDGER_MISMATCH`, `CORRUPT_CHECKPOINT`, `PLUGIN_FAILED`.
    pub fn new(
        doc: &SnapshotDoc<'_>,
        shape: &Shape<'_>,
        config: &Config,
        now: Option<Timestamp>,
    ) -> Result<Self, FatalError> {
        check_ledger(&doc.root, shape.ledger())?;
        let prior = check(PriorDoc::check(doc, shape), shape, OnDamage::Refuse)?;
        let head = head(&doc.root, &prior);
        let now = now.or_else(|| Timestamp::parse(&head.generated_at).ok()).unwrap_or(Timestamp::MAX);
        // The stored histories are cut already; another cap must not cut them again.
        let limits = Limits { history_cap: usize::MAX, stale_before: now.plus_micros(-config.stale_after) };
        let rows = merge(prior.records, &limits, shape);
        Ok(Self {
            state_digest: state_digest(&rows, shape),
            rows,
            head,
            stored_digest: prior.state_digest,
            newest: prior.newest_observed_at,
            newest_message_id: prior.newest_message_id,
        })
    }

    /// `summary.json` and `status.md` of this snapshot.
    ///
    /// # Errors
    /// `PLUGIN_FAILED`.
    pub fn texts(&self, shape: &Shape<'_>, config: &Config) -> Result<(String, String), FatalError> {
        let view = View::new(&self.rows, shape);
        let ledger = LedgerView { rows: &view.rows(), counts: self.rows.counts() };
        let summary = summary_text(&self.head, &ledger, shape)?;
        let status = status_text(&self.head, &ledger, shape, config.status_max_rows)?;
        Ok((summary, status))
    }
}

fn head(root: &Outer<'_>, prior: &Prior) -> Head {
    let text = |path: &[&str]| root.at(path).and_then(Outer::as_text).unwrap_or_default().to_owned();
    let number = |path: &[&str]| match root.at(path) {
        Some(Outer::Scalar(Some(value))) => value.as_integer().unwrap_or_default(),
        Some(Outer::Scalar(None) | Outer::Object(_) | Outer::List(_) | Outer::Deep) | None => 0,
    };
    let size = |path: &[&str]| usize::try_from(number(path)).unwrap_or_default();
    let at = |key: &str| size(&["checkpoint", "window", key]);
    let path = root.at(&["checkpoint", "window", "path"]).and_then(Outer::as_text).map(str::to_owned);
    let kind =
        if text(&["checkpoint", "window", "kind"]) == "full" { WindowKind::Full } else { WindowKind::Incremental };
    let reasons: Vec<String> =
        list(root.get("rejections")).map(|rejection: StoredRejection| rejection.reason).collect();
    Head {
        workspace: text(&["workspace"]),
        generated_at: text(&["generated_at"]),
        window: Window { kind, archives: Vec::new(), messages: at("messages"), path },
        ignored: at("ignored"),
        rejections: owned(counter::count(reasons.iter().map(String::as_str))),
        replayed: number(&["checkpoint", "events", "replayed"]),
        consumed_total: prior.consumed_total,
        journal_records: number(&["checkpoint", "folded", "journal_records"]),
        warnings: list(root.get("warnings")).collect(),
    }
}

/// Counted names, owned.
#[must_use]
pub fn owned(counts: Vec<(&str, u64)>) -> Vec<(String, u64)> {
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

#[derive(Deserialize)]
struct StoredRejection {
    reason: String,
}

fn list<'a, T: Deserialize<'a>>(outer: Option<&Outer<'a>>) -> impl Iterator<Item = T> {
    let items = match outer {
        Some(Outer::List(items)) => items.raw().to_vec(),
        Some(Outer::Scalar(_) | Outer::Object(_) | Outer::Deep) | None => Vec::new(),
    };
    items.into_iter().filter_map(|raw| serde_json::from_str(raw.get()).ok())
}
