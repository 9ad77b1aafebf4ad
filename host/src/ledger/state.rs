//! Where the state of the ledgers lies (L 1, L 10.2).

use std::path::{Path, PathBuf};

use super::fatal::FatalError;
use crate::env;
use crate::reasons::Fatal;
use crate::store::lock::FOLD_LOCK;
use crate::store::state::state_base;

/// The snapshot's file name.
pub const SNAPSHOT: &str = "snapshot.json";
/// The summary's file name.
pub const SUMMARY: &str = "summary.json";
/// The status's file name.
pub const STATUS: &str = "status.md";
/// The fold file's name, and the suffix of the one beside a snapshot that lies elsewhere.
pub const FOLD: &str = "fold.json";

/// The state directory of all ledgers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir {
    root: PathBuf,
}

impl StateDir {
    /// The first that applies: the flag, the variable, the base folder of the system, the home folder.
    ///
    /// # Errors
    /// `MISSING_INPUT` when there is no home folder either.
    pub fn choose(flag: Option<&Path>) -> Result<Self, FatalError> {
        if let Some(flag) = flag {
            return Ok(Self { root: flag.to_owned() });
        }
        if let Some(root) = env::get(env::LEDGER_STATE_DIR) {
            return Ok(Self { root: root.into() });
        }
        let base = state_base().ok_or_else(|| Fatal::MissingInput.with("no home folder is known; give --state-dir"))?;
        Ok(Self { root: base.join("CoursIA").join("debt-ledgers") })
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `config.json`, of all ledgers.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.root.join("config.json")
    }

    /// The folder of one ledger.
    #[must_use]
    pub fn ledger(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The baseline of one ledger.
    #[must_use]
    pub fn baseline(&self, name: &str) -> PathBuf {
        self.ledger(name).join("baseline.json")
    }

    /// The schema file of one ledger.
    #[must_use]
    pub fn schema(&self, name: &str) -> PathBuf {
        self.ledger(name).join("schema.json")
    }

    /// The spool of one ledger.
    #[must_use]
    pub fn spool(&self, name: &str) -> PathBuf {
        self.ledger(name).join("spool")
    }

    /// The lock of one ledger's folder.
    #[must_use]
    pub fn lock(&self, name: &str) -> PathBuf {
        self.ledger(name).join(FOLD_LOCK)
    }

    /// The folder of the artifacts of one ledger.
    #[must_use]
    pub fn snapshots(&self, name: &str) -> PathBuf {
        self.ledger(name).join("snapshots")
    }

    /// The snapshot of one ledger.
    #[must_use]
    pub fn snapshot(&self, name: &str) -> PathBuf {
        self.snapshots(name).join(SNAPSHOT)
    }
}

/// The fold file of a snapshot that is sent elsewhere: `<snapshot>.fold.json` (DECISIONS 6.6).
#[must_use]
pub fn fold_file_elsewhere(snapshot: &Path) -> PathBuf {
    let mut named = snapshot.as_os_str().to_owned();
    named.push(".");
    named.push(FOLD);
    PathBuf::from(named)
}

/// Where the fold file of a snapshot may lie: `fold.json` beside one that is called `snapshot.json`, or the one that a
/// fold leaves beside a snapshot elsewhere. Both may be there, when one state directory was the output of another.
#[must_use]
pub fn fold_files_of(snapshot: &Path) -> Vec<PathBuf> {
    let elsewhere = fold_file_elsewhere(snapshot);
    if snapshot.file_name().is_some_and(|name| name == SNAPSHOT) {
        vec![snapshot.with_file_name(FOLD), elsewhere]
    } else {
        vec![elsewhere]
    }
}
