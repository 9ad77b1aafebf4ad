//! Reading a stored snapshot for the verbs that show it.

use std::path::PathBuf;

use plugin_api::rules::time::Timestamp;

use super::Context;
use crate::cli::args::SnapshotArgs;
use crate::ledger::fatal::FatalError;
use crate::ledger::rebuild::Rebuilt;
use crate::ledger::reduce::{optional, parse_snapshot, read_config};
use crate::ledger::state::StateDir;
use crate::reasons::Fatal;

/// A snapshot file as text.
pub(super) struct Snapshot {
    /// Where it lies.
    pub(super) path: PathBuf,
    /// Its text.
    pub(super) text: String,
}

impl Snapshot {
    /// The named file, which must exist, or the ledger's own, which need not.
    pub(super) fn find(context: &Context<'_, '_>, from: &SnapshotArgs) -> Result<Option<Self>, FatalError> {
        let path = match &from.snapshot {
            Some(path) => path.clone(),
            None => StateDir::choose(from.place.state_dir.as_deref())?.snapshot(context.shape.ledger()),
        };
        Ok(optional(from.snapshot.is_some(), &path)?.map(|text| Self { path, text }))
    }

    /// The same, for verbs that have nothing to say without one.
    pub(super) fn require(context: &Context<'_, '_>, from: &SnapshotArgs) -> Result<Self, FatalError> {
        let place = StateDir::choose(from.place.state_dir.as_deref())?.snapshot(context.shape.ledger());
        Self::find(context, from)?.ok_or_else(|| Fatal::NoSnapshot.with(format!("{} does not exist", place.display())))
    }
}

/// The rows of a snapshot that passes every check; stale as of `now`.
pub(super) fn rows(
    context: &Context<'_, '_>,
    snapshot: &Snapshot,
    from: &SnapshotArgs,
    now: Timestamp,
) -> Result<Rebuilt, FatalError> {
    let config = read_config(&StateDir::choose(from.place.state_dir.as_deref())?, context.shape)?;
    let doc = parse_snapshot(&snapshot.path, &snapshot.text)?;
    Rebuilt::new(&doc, context.shape, &config, Some(now)).map_err(|error| error.in_file(&snapshot.path))
}
