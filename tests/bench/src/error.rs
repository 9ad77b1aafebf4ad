//! Why the floor could not be measured.

use std::{error::Error, io, path::PathBuf};

/// A floor that could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FloorError {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written and brought to the disk.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not JSON, or not the JSON that the bench works on.
    #[error("{} is not what the bench expects (an export of tests/tools/gen_export.py, a snapshot of the host)", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A rejection that names no message of the export.
    #[error("the rejection `{label}` in the snapshot names no message: was the snapshot folded from another export?")]
    Rejection {
        /// The rejection's source, as the snapshot has it.
        label: String,
    },
    /// The rows of the snapshot do not hash to the digest that stands beside them.
    #[error(
        "the rows of the snapshot hash to {found}, its state_digest is {stated}: the digest text is not the host's"
    )]
    Digest {
        /// What the prepared text hashes to.
        found: String,
        /// What the snapshot states.
        stated: String,
    },
}

impl FloorError {
    /// The error and its causes on one line.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}
