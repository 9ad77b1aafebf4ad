//! The timed part.

use std::{
    fs::File,
    hint::black_box,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use serde::de::IgnoredAny;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    error::FloorError,
    work::{Work, read},
};

/// How long each part took, on one thread.
#[derive(Debug)]
pub(crate) struct Times {
    parse: Duration,
    hash: Duration,
    write: Duration,
}

impl Times {
    /// The times in seconds and the sizes they belong to, as one JSON line.
    pub(crate) fn line(&self, work: &Work) -> String {
        json!({
            "total_s": (self.parse + self.hash + self.write).as_secs_f64(),
            "parse_s": self.parse.as_secs_f64(),
            "hash_s": self.hash.as_secs_f64(),
            "write_s": self.write.as_secs_f64(),
            "accepted": work.accepted.len(),
            "accepted_bytes": work.accepted.iter().map(String::len).sum::<usize>(),
            "digest_bytes": work.digest_text.len(),
            "artifact_bytes": work.artifacts.iter().map(|(_, bytes)| bytes.len()).sum::<usize>(),
        })
        .to_string()
    }
}

/// Does the work once: parse into nothing, hash, write and fsync.
///
/// # Errors
/// [`FloorError`] when an input cannot be read or parsed, or an output cannot be written.
pub(crate) fn measure(work: &Work, out: &Path) -> Result<Times, FloorError> {
    let started = Instant::now();
    for path in &work.inputs {
        parse_into_nothing(path)?;
    }
    let parsed = Instant::now();
    for text in &work.accepted {
        hash(text.as_bytes());
    }
    hash(work.digest_text.as_bytes());
    for (_, bytes) in &work.artifacts {
        hash(bytes);
    }
    let hashed = Instant::now();
    for (name, bytes) in &work.artifacts {
        write_durably(&out.join(name), bytes)?;
    }
    let written = Instant::now();
    Ok(Times { parse: parsed - started, hash: hashed - parsed, write: written - hashed })
}

fn parse_into_nothing(path: &Path) -> Result<(), FloorError> {
    let bytes = read(path)?;
    let nothing: IgnoredAny =
        serde_json::from_slice(&bytes).map_err(|source| FloorError::Parse { path: path.to_path_buf(), source })?;
    black_box(nothing);
    Ok(())
}

fn hash(bytes: &[u8]) {
    black_box(Sha256::digest(black_box(bytes)));
}

fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), FloorError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|source| FloorError::Write { path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn work(folder: &Path, input: &str) -> Work {
        let path = folder.join("export.json");
        write_durably(&path, input.as_bytes()).unwrap();
        Work {
            inputs: vec![path],
            accepted: vec!["{}".to_owned()],
            digest_text: "[]".to_owned(),
            artifacts: vec![("snapshot.json", b"{}\n".to_vec()), ("status.md", b"[LEDGER]\n".to_vec())],
        }
    }

    #[test]
    fn the_floor_leaves_the_artifacts_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        measure(&work(folder.path(), "{}"), folder.path()).unwrap();
        assert_eq!(std::fs::read(folder.path().join("snapshot.json")).unwrap(), b"{}\n");
        assert_eq!(std::fs::read(folder.path().join("status.md")).unwrap(), b"[LEDGER]\n");
    }

    #[test]
    fn the_line_states_the_sizes() {
        let folder = tempfile::tempdir().unwrap();
        let work = work(folder.path(), "{}");
        let line = measure(&work, folder.path()).unwrap().line(&work);
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["accepted"], 1);
        assert_eq!(line["digest_bytes"], 2);
        assert_eq!(line["artifact_bytes"], 12);
        let parts = ["parse_s", "hash_s", "write_s"].iter().map(|part| line[*part].as_f64().unwrap()).sum::<f64>();
        assert!((line["total_s"].as_f64().unwrap() - parts).abs() < 1e-6, "{line}");
    }

    #[track_caller]
    fn check_error(input: &str, out: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let error = measure(&work(folder.path(), input), &folder.path().join(out)).unwrap_err();
        assert!(error.with_causes().contains(expected), "{}", error.with_causes());
    }

    #[test]
    fn a_torn_input_is_an_error_that_names_the_place() {
        check_error(r#"{"data":"#, "", "line 1 column 8");
    }

    #[test]
    fn a_missing_output_folder_is_an_error_that_names_the_file() {
        check_error("{}", "absent", &PathBuf::from("absent").join("snapshot.json").display().to_string());
    }
}
