//! A fold that was cut short (D7): how it is seen, and how the next fold repairs it.
//!
//! The artifacts are replaced one by one and `fold.json` last. When its digests do not match the files beside it, the
//! snapshot is the truth, provided that it passes every check; summary and status are made from it again.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::checkpoint::OnDamage;
use super::config::Config;
use super::digest::hex;
use super::fatal::FatalError;
use super::foldfile::{FoldFile, FoldText};
use super::highwater::HighWater;
use super::rebuild::Rebuilt;
use super::reduce::{Surroundings, optional};
use super::rowmarks;
use super::shape::Shape;
use super::snapshot_doc::SnapshotDoc;
use super::state::{STATUS, SUMMARY, fold_file_of};
use super::writer::Writer;

/// The fold file beside the prior snapshot, compared with what lies beside it.
#[derive(Debug)]
pub struct StoredFold {
    path: PathBuf,
    file: Option<FoldFile>,
    /// Names whose digests do not match, or that are gone.
    torn: Vec<String>,
    notices: Vec<String>,
    snapshot_digest: Option<String>,
}

impl StoredFold {
    /// Reads and compares. A tree that the reference made has no fold file, and nothing to compare.
    #[must_use]
    pub fn read(snapshot: &Path, ledger: &str, snapshot_text: Option<&str>) -> Self {
        let path = fold_file_of(snapshot);
        let mut stored = Self { path, file: None, torn: Vec::new(), notices: Vec::new(), snapshot_digest: None };
        let name = stored.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = match optional(false, &stored.path) {
            Ok(None) => return stored,
            Ok(Some(text)) => FoldFile::read(&text, ledger),
            Err(error) => Err(error.detail),
        };
        match text {
            Ok(file) => {
                stored.compare(&file, snapshot, snapshot_text);
                stored.file = Some(file);
            }
            Err(why) => {
                stored.notices.push(format!(
                    "fold_file_unreadable: {}: {why}; generation and high-water mark start anew from the snapshot",
                    stored.path.display()
                ));
                stored.torn.push(name);
            }
        }
        if snapshot_text.is_none() && stored.is_torn() {
            let names = stored.torn.join(", ");
            stored
                .notices
                .push(format!("artifacts_missing: {names} of the last fold; there is no snapshot to repair from"));
        }
        stored
    }

    fn compare(&mut self, file: &FoldFile, snapshot: &Path, snapshot_text: Option<&str>) {
        let folder = self.path.parent().unwrap_or(Path::new("")).to_owned();
        for (name, expected) in &file.artifacts {
            let path = folder.join(name);
            let found = match snapshot_text {
                Some(text) if path == snapshot => {
                    let digest = hex(&Sha256::digest(text.as_bytes()));
                    self.snapshot_digest = Some(digest.clone());
                    Some(digest)
                }
                Some(_) | None => std::fs::read(&path).ok().map(|bytes| hex(&Sha256::digest(&bytes))),
            };
            if found.as_ref() != Some(expected) {
                self.torn.push(name.clone());
            }
        }
    }

    /// Whether the last fold was cut short, or somebody changed what it wrote.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        !self.torn.is_empty()
    }

    /// Names whose digests do not match.
    #[must_use]
    pub fn torn(&self) -> &[String] {
        &self.torn
    }

    /// The fold file, if it could be read.
    #[must_use]
    pub fn file(&self) -> Option<&FoldFile> {
        self.file.as_ref()
    }

    /// Where the fold file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is worth a warning.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Generation of the last fold, 0 before the first.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.file.as_ref().map_or(0, |file| file.generation)
    }

    /// High-water mark of the last fold.
    #[must_use]
    pub fn high_water(&self) -> Option<&HighWater> {
        self.file.as_ref().map(|file| &file.high_water)
    }
}

/// What a repair works with.
pub struct Repair<'r, 'k> {
    /// The kind.
    pub shape: &'r Shape<'k>,
    /// The configuration.
    pub config: &'r Config,
    /// Where it may write; `None` in a dry run.
    pub writer: Option<&'r Writer>,
    /// The text of the prior snapshot.
    pub snapshot_text: &'r str,
    /// Disk and clock.
    pub around: &'r Surroundings<'r>,
}

/// Makes summary, status and fold file again from the snapshot. Returns the warning that says so.
///
/// # Errors
/// `CORRUPT_CHECKPOINT` when the snapshot is no truth either and is not to be salvaged; `WRITE_FAILED`.
pub fn repair(
    doc: &SnapshotDoc<'_>,
    stored: &StoredFold,
    on_damage: OnDamage,
    with: &Repair<'_, '_>,
) -> Result<Option<String>, FatalError> {
    let names = stored.torn().join(", ");
    let Some(writer) = with.writer.filter(|writer| writer.owns(stored.path())) else {
        return Ok(Some(format!("artifacts_torn: {names} of the last fold; the next fold that writes repairs them")));
    };
    let rebuilt = match (Rebuilt::new(doc, with.shape, with.config, None), on_damage) {
        (Ok(rebuilt), _) => rebuilt,
        (Err(error), OnDamage::Refuse) => return Err(error),
        // The fold itself tells what it drops.
        (Err(_), OnDamage::Salvage) => return Ok(None),
    };
    let (summary, status) = rebuilt.texts(with.shape, with.config)?;
    let notice = format!("artifacts_repaired: {names}");
    let checkpoint = HighWater {
        observed_at: rebuilt.newest.as_ref().map(|(instant, _)| *instant),
        message_id: rebuilt.newest_message_id.clone(),
    };
    let high_water = stored.high_water().cloned().unwrap_or_default().or_later(checkpoint);
    let row_marks = rowmarks::of_snapshot(with.snapshot_text);
    let fold = FoldText {
        generation: stored.generation().max(1),
        generated_at: rebuilt.head.generated_at.clone(),
        state_digest: &rebuilt.state_digest,
        warnings: vec![&notice],
        differs: &[],
        rows: &rebuilt.rows,
        reopened: &[],
        high_water: &high_water,
        row_marks: row_marks.iter().map(|(key, mark)| (key.as_str(), *mark)).collect(),
    };
    writer.repair(&[(SUMMARY, &summary), (STATUS, &status)], stored, &fold, with)?;
    Ok(Some(notice))
}

impl StoredFold {
    /// Digest of the prior snapshot, where the fold file lists it.
    #[must_use]
    pub fn snapshot_digest(&self) -> Option<&str> {
        self.snapshot_digest.as_deref()
    }
}
