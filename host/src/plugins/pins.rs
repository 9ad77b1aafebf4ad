//! Pins: which plugins the operator added, and the SHA-256 that each had then (DECISIONS 7.3).
//!
//! They stand in `plugins.lock.json` in the user's folder of plugins. The libraries lie beside it in `store/`, each under
//! the SHA-256 of its bytes: no other bytes ever have its name, and replacing a plugin touches no file that may be in
//! use. So the lock file alone says what is installed, and a crash leaves at most a copy that nobody names.
//!
//! May not: write.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::discover::folded;
use crate::ledger::digest::hex;

/// The file that holds the pins.
pub const LOCK_FILE: &str = "plugins.lock.json";
/// The folder beside it that holds the libraries.
pub const STORE: &str = "store";
/// Number of the lock file's format.
const FORMAT: u32 = 1;

/// SHA-256 of a library, 64 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Reads to the end.
    ///
    /// # Errors
    /// What the reader says.
    pub fn of(mut source: impl Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut chunk = vec![0; 256 * 1024];
        loop {
            match source.read(&mut chunk) {
                Ok(0) => return Ok(Self(hex(&hasher.finalize()))),
                Ok(length) => hasher.update(chunk.get(..length).unwrap_or(&chunk)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 64 && text.bytes().all(is_digit) {
            Ok(Self(text))
        } else {
            Err(format!("{text:?} is not 64 lower-case hex digits"))
        }
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a plugin is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It serves kinds of ledgers.
    Kind,
    /// It serves organs: jobs.
    Organ,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("kind"),
            Self::Organ => f.write_str("organ"),
        }
    }
}

/// A plugin that was added. Only names and digest decide anything; the rest tells a person what was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// SHA-256 of the library; its copy in the store is named after it.
    pub sha256: Fingerprint,
    /// Length of the library in bytes.
    pub size: u64,
    /// What it is for.
    pub role: Role,
    /// The names it serves.
    pub names: Vec<String>,
    /// Name of its package.
    pub package: String,
    /// Version of its package.
    pub version: String,
    /// Version of the contract that it was built for.
    pub contract: String,
    /// The file that it was copied from.
    pub source: String,
}

impl Pin {
    /// Name of the copy in the store.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}{}", self.sha256, std::env::consts::DLL_SUFFIX)
    }

    /// Whether it serves `name`; `-` and `_` are the same in it.
    #[must_use]
    pub fn serves(&self, name: &str) -> bool {
        self.names.iter().any(|own| folded(own) == folded(name))
    }
}

/// All pins of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// In the order in which they were added.
    pub list: Vec<Pin>,
}

/// The lock file as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: u32,
    plugins: Vec<Pin>,
}

/// A lock file that cannot be read. Nobody knows then which plugins are pinned.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", path.display())]
pub struct PinsError {
    /// The lock file.
    pub path: PathBuf,
    /// Why.
    pub kind: PinsErrorKind,
}

/// Why a lock file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PinsErrorKind {
    /// The file system refused.
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// No JSON, or not of this shape.
    #[error("it is not what `host plugin add` writes: {0}")]
    Garbled(#[source] serde_json::Error),
    /// A format of a later host.
    #[error("it has format {0}, this host reads format 1; install a newer host")]
    Format(u32),
}

impl Pins {
    /// The pins of `folder`; none when it has no lock file.
    ///
    /// # Errors
    /// [`PinsError`] when there is one that cannot be read.
    pub fn read(folder: &Path) -> Result<Self, PinsError> {
        let path = folder.join(LOCK_FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            result => result.map_err(PinsErrorKind::Unreadable),
        };
        text.and_then(|text| Self::parse(&text)).map_err(|kind| PinsError { path, kind })
    }

    fn parse(text: &str) -> Result<Self, PinsErrorKind> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        // The number first, so that a later format is named as one, whatever else it changed.
        let Format { format } = serde_json::from_str(text).map_err(PinsErrorKind::Garbled)?;
        if format != FORMAT {
            return Err(PinsErrorKind::Format(format));
        }
        let stored: Stored = serde_json::from_str(text).map_err(PinsErrorKind::Garbled)?;
        Ok(Self { list: stored.plugins })
    }

    /// The text of the lock file.
    ///
    /// # Errors
    /// When a text cannot be written as JSON.
    pub fn text(self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(&Stored { format: FORMAT, plugins: self.list })?;
        text.push('\n');
        Ok(text)
    }
}

/// Where the copy of a pinned plugin lies.
#[must_use]
pub fn copy_of(folder: &Path, pin: &Pin) -> PathBuf {
    folder.join(STORE).join(pin.file_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin() -> Pin {
        Pin {
            sha256: Fingerprint::of(&b"x"[..]).unwrap(),
            size: 1,
            role: Role::Kind,
            names: vec!["a-b".to_owned()],
            package: "p".to_owned(),
            version: "0.1.0".to_owned(),
            contract: "1.0.0".to_owned(),
            source: "/p.so".to_owned(),
        }
    }

    #[track_caller]
    fn check(change: (&str, &str), expected: &str) {
        let text = Pins { list: vec![pin()] }.text().unwrap();
        assert!(text.contains(change.0), "{text}");
        let found = match Pins::parse(&text.replacen(change.0, change.1, 1)) {
            Ok(pins) => pins.list[0].names.join(","),
            Err(error) => error.to_string(),
        };
        assert!(found.starts_with(expected), "{found}");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let pins = Pins { list: vec![pin()] };
        assert_eq!(Pins::parse(&pins.clone().text().unwrap()).unwrap(), pins);
    }

    #[test]
    fn the_digest_is_that_of_the_bytes() {
        assert_eq!(pin().sha256.to_string(), "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
    }

    #[test]
    fn a_digest_that_would_lead_out_of_the_store_is_refused() {
        check(("2d711642", "../../.."), "it is not what `host plugin add` writes: \"../../..b7");
        check(("2d711642", "2D711642"), "it is not what");
        check(("2d711642", ""), "it is not what");
    }

    #[test]
    fn a_key_that_nobody_knows_is_refused() {
        check(("\"size\"", "\"length\""), "it is not what `host plugin add` writes: unknown field `length`");
    }

    #[test]
    fn a_later_format_is_named_even_when_nothing_else_is_known_of_it() {
        let error = Pins::parse("{\"format\":2,\"later\":[]}").unwrap_err().to_string();
        assert_eq!(error, "it has format 2, this host reads format 1; install a newer host");
    }

    #[test]
    fn a_name_is_served_with_dashes_and_underscores_alike() {
        assert!(pin().serves("a_b") && pin().serves("a-b") && !pin().serves("ab"));
    }

    #[test]
    fn without_a_lock_file_nothing_is_pinned() {
        assert_eq!(Pins::read(tempfile::tempdir().unwrap().path()).unwrap(), Pins::default());
    }
}
