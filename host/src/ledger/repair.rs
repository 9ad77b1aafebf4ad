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
use super::state::{SNAPSHOT, STATUS, SUMMARY, fold_files_of};
use super::writer::Writer;

/// The fold file beside the prior snapshot, compared with what lies beside it.
#[derive(Debug, Default)]
pub struct StoredFold {
    path: PathBuf,
    is_there: bool,
    file: Option<FoldFile>,
    /// Names whose digests do not match, or that are gone.
    torn: Vec<String>,
    notices: Vec<String>,
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

impl StoredFold {
    /// Reads and compares. A tree that the reference made has no fold file, and nothing to compare. Of two fold files
    /// the one that knows this snapshot counts.
    #[must_use]
    pub fn read(snapshot: &Path, ledger: &str, snapshot_text: Option<&str>) -> Self {
        let mut first: Option<Self> = None;
        for path in fold_files_of(snapshot) {
            let stored = Self::read_one(path, snapshot, ledger, snapshot_text);
            if stored.knows(snapshot) {
                return stored;
            }
            if first.as_ref().is_none_or(|first| !first.is_there && stored.is_there) {
                first = Some(stored);
            }
        }
        first.unwrap_or_default()
    }

    fn read_one(path: PathBuf, snapshot: &Path, ledger: &str, snapshot_text: Option<&str>) -> Self {
        let mut stored = Self { path, ..Self::default() };
        let name = stored.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = match optional(false, &stored.path) {
            Ok(None) => return stored,
            Ok(Some(text)) => FoldFile::read(&text, ledger),
            Err(error) => Err(error.detail),
        };
        stored.is_there = true;
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

    /// Whether it lists this snapshot with the digest that it has.
    fn knows(&self, snapshot: &Path) -> bool {
        let name = snapshot.file_name().unwrap_or_default().to_string_lossy();
        self.file.as_ref().is_some_and(|file| file.digest(&name).is_some())
            && !self.torn.iter().any(|torn| *torn == name)
    }

    fn compare(&mut self, file: &FoldFile, snapshot: &Path, snapshot_text: Option<&str>) {
        let folder = self.path.parent().unwrap_or(Path::new("")).to_owned();
        for (name, expected) in &file.artifacts {
            let path = folder.join(name);
            let found = match snapshot_text {
                Some(text) if path == snapshot => Some(digest(text.as_bytes())),
                // A fold file may come from anywhere: only a plain file is read because it says so.
                Some(_) | None if path.is_file() => std::fs::read(&path).ok().map(|bytes| digest(&bytes)),
                Some(_) | None => None,
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

    /// Whether the last fold wrote a snapshot to where the prior one is looked for.
    #[must_use]
    pub fn lists_snapshot(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.digest(SNAPSHOT).is_some())
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

/// Makes summary, status and fold file again from the snapshot. Returns the warnings that say so.
///
/// # Errors
/// `CORRUPT_CHECKPOINT` when the snapshot is no truth either and is not to be salvaged; `WRITE_FAILED`.
pub fn repair(
    doc: &SnapshotDoc<'_>,
    stored: &StoredFold,
    on_damage: OnDamage,
    with: &Repair<'_, '_>,
) -> Result<Vec<String>, FatalError> {
    let (outside, own): (Vec<&str>, Vec<&str>) =
        stored.torn().iter().map(String::as_str).partition(|name| Path::new(name).is_absolute());
    let mut notices = Vec::new();
    if !outside.is_empty() {
        let names = outside.join(", ");
        notices.push(format!("artifacts_torn: {names} of an earlier fold; left alone, they lie outside of the ledger"));
    }
    if own.is_empty() {
        return Ok(notices);
    }
    let names = own.join(", ");
    let Some(writer) = with.writer else {
        notices.push(format!("artifacts_torn: {names} of the last fold; the next fold that writes repairs them"));
        return Ok(notices);
    };
    if !writer.owns(stored.path()) {
        let folder = stored.path().parent().unwrap_or(stored.path()).display();
        notices.push(format!("artifacts_torn: {names} in {folder}; left alone, this fold only reads there"));
        return Ok(notices);
    }
    let rebuilt = match (Rebuilt::new(doc, with.shape, with.config, None), on_damage) {
        (Ok(rebuilt), _) => rebuilt,
        (Err(error), OnDamage::Refuse) => return Err(error),
        // The fold itself tells what it drops.
        (Err(_), OnDamage::Salvage) => return Ok(notices),
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
    notices.push(notice);
    Ok(notices)
}
