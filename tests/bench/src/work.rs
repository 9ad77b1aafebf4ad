//! What the floor works on, in memory before the clock starts.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::FloorError;

/// What stands before the JSON text in a message that carries an observation (L 4).
const PREFIX: &str = "[OBS] ";
/// The files that a fold writes and hashes (L 9).
const ARTIFACTS: [&str; 3] = ["snapshot.json", "summary.json", "status.md"];

/// The bytes of one fold.
#[derive(Debug)]
pub(crate) struct Work {
    /// Files that a fold has to read and parse: the export, and the prior snapshot if there was one.
    pub(crate) inputs: Vec<PathBuf>,
    /// One text for each accepted observation.
    ///
    /// The text as posted, and not the canonical one (L 3), which only the validation yields: canonical texts drop
    /// the blanks and add `head_transition`, which is within a few bytes of the same length.
    pub(crate) accepted: Vec<String>,
    /// What `state_digest` is the SHA-256 of (L 8), byte for byte.
    pub(crate) digest_text: String,
    /// Name and bytes of each artifact, in the order of writing.
    pub(crate) artifacts: Vec<(&'static str, Vec<u8>)>,
}

impl Work {
    /// Reads the inputs of a fold and the artifacts it wrote.
    ///
    /// # Errors
    /// [`FloorError`] when a file is missing, has another shape, or does not belong to the others.
    pub(crate) fn prepare(events: &Path, prior: Option<&Path>, artifacts: &Path) -> Result<Self, FloorError> {
        let export: Export = parse(events)?;
        let snapshot: Snapshot = parse(&artifacts.join(ARTIFACTS[0]))?;
        let digest_text = digest_text(&snapshot)?;
        let accepted = accepted(export, &snapshot.rejections)?;
        let inputs = std::iter::once(events).chain(prior).map(Path::to_path_buf).collect();
        let artifacts = ARTIFACTS
            .iter()
            .map(|name| Ok((*name, read(&artifacts.join(name))?)))
            .collect::<Result<_, FloorError>>()?;
        Ok(Self { inputs, accepted, digest_text, artifacts })
    }
}

#[derive(Deserialize)]
struct Export {
    data: ExportData,
}

#[derive(Deserialize)]
struct ExportData {
    intercom: Intercom,
}

#[derive(Deserialize)]
struct Intercom {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

#[derive(Deserialize)]
struct Snapshot {
    rows: Vec<SnapshotRow>,
    rejections: Vec<Rejection>,
    checkpoint: Checkpoint,
}

#[derive(Deserialize)]
struct SnapshotRow {
    key: String,
    historical: bool,
    fields: Map<String, Value>,
}

#[derive(Deserialize)]
struct Rejection {
    source: String,
}

#[derive(Deserialize)]
struct Checkpoint {
    state_digest: String,
}

/// Reads a file whole.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, FloorError> {
    fs::read(path).map_err(|source| FloorError::Read { path: path.to_path_buf(), source })
}

fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, FloorError> {
    serde_json::from_slice(&read(path)?).map_err(|source| FloorError::Parse { path: path.to_path_buf(), source })
}

/// The texts of the messages that carry an observation and were not rejected, in message order.
fn accepted(export: Export, rejections: &[Rejection]) -> Result<Vec<String>, FloorError> {
    let messages = export.data.intercom.messages;
    let rejected = rejections
        .iter()
        .map(|rejection| {
            message_index(&rejection.source)
                .filter(|index| *index < messages.len())
                .ok_or_else(|| FloorError::Rejection { label: rejection.source.clone() })
        })
        .collect::<Result<HashSet<usize>, FloorError>>()?;
    Ok(messages
        .into_iter()
        .enumerate()
        .filter(|(index, _)| !rejected.contains(index))
        .filter_map(|(_, message)| message.content.strip_prefix(PREFIX).map(str::to_owned))
        .collect())
}

/// The index in a label such as `message[17] id=msg-00000017` (L 5).
fn message_index(label: &str) -> Option<usize> {
    label.strip_prefix("message[")?.split_once(']')?.0.parse().ok()
}

/// The canonical JSON of `{key, fields, historical}` of all rows, proved by the digest that the snapshot states.
fn digest_text(snapshot: &Snapshot) -> Result<String, FloorError> {
    let rows = snapshot.rows.iter().map(|row| {
        let mut value = Value::Object(Map::from_iter([
            ("key".to_owned(), Value::from(row.key.clone())),
            ("fields".to_owned(), Value::Object(row.fields.clone())),
            ("historical".to_owned(), Value::from(row.historical)),
        ]));
        value.sort_all_objects();
        value
    });
    let text = Value::Array(rows.collect()).to_string();
    let found = hex(&Sha256::digest(&text));
    if found == snapshot.checkpoint.state_digest {
        Ok(text)
    } else {
        Err(FloorError::Digest { found, stated: snapshot.checkpoint.state_digest.clone() })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(rows: &str, digest: &str) -> Snapshot {
        let text = format!(r#"{{"rows":{rows},"rejections":[],"checkpoint":{{"state_digest":"{digest}"}}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    fn check_accepted(contents: &[&str], rejected: &[&str], expected: Result<&[&str], &str>) {
        let messages = contents.iter().map(|content| Message { content: (*content).to_owned() }).collect();
        let export = Export { data: ExportData { intercom: Intercom { messages } } };
        let rejections: Vec<_> = rejected.iter().map(|label| Rejection { source: (*label).to_owned() }).collect();
        match (accepted(export, &rejections), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(FloorError::Rejection { label }), Err(expected)) => assert_eq!(label, expected),
            (found, expected) => panic!("{found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn prose_is_not_hashed() {
        check_accepted(&["[LEDGER] nothing", "[OBS] {1}"], &[], Ok(&["{1}"]));
    }

    #[test]
    fn a_rejected_message_is_not_hashed() {
        check_accepted(&["[OBS] {1}", "[OBS] {2}"], &["message[0] id=msg-00000000"], Ok(&["{2}"]));
    }

    #[test]
    fn a_label_without_an_index_is_an_error() {
        check_accepted(&["[OBS] {1}"], &["baseline"], Err("baseline"));
    }

    #[test]
    fn a_label_beyond_the_export_is_an_error() {
        check_accepted(&["[OBS] {1}"], &["message[1]"], Err("message[1]"));
    }

    #[track_caller]
    fn check_digest_text(rows: &str, digest: &str, expected: &str) {
        assert_eq!(digest_text(&snapshot(rows, digest)).unwrap(), expected);
    }

    #[test]
    fn the_digest_text_of_no_rows_is_the_one_of_the_specification() {
        // L 8.
        check_digest_text("[]", "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945", "[]");
    }

    #[test]
    fn the_digest_text_has_sorted_keys_at_every_level() {
        check_digest_text(
            r#"[{"key":"o/r#1","historical":false,"fields":{"followup":{"kind":"waiver","a":1},"eat_hours":4.0}}]"#,
            "3f6b8bdb47a7385a6de2a9f5605ec701348ac9cff2576a017f64b3b9900c361a",
            r#"[{"fields":{"eat_hours":4.0,"followup":{"a":1,"kind":"waiver"}},"historical":false,"key":"o/r#1"}]"#,
        );
    }

    #[test]
    fn rows_that_do_not_hash_to_the_stated_digest_are_an_error() {
        let found = digest_text(&snapshot("[]", "00")).unwrap_err();
        assert!(matches!(found, FloorError::Digest { .. }), "{found:?}");
    }
}
