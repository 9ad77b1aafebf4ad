//! What an organ keeps from run to run: a file for each key, replaced whole if it is still that of the revision read.
//!
//! The files lie at `<state>/organs/o-<organ>/s-<scope>/k-<key>.json`. A removed key keeps its file and its revision, so
//! that one that was read before can never be taken for one that was written after.

use std::path::{Path, PathBuf};

use plugin_api::Failure;
use plugin_api::organ::services::{StateGet, StatePut, StateValue};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::bounds::Bounds;
use super::failure;
use super::key::file_name;
use super::lock::acquire;
use super::{Outside, file};
use crate::store::files::{self, InputErrorKind};
use crate::store::{Guard, Guarded, Mode, replace};

/// Number of the format of the files.
const FORMAT: u32 = 1;
/// Longest value in bytes of JSON: 8 MiB.
const MOST: usize = 8 << 20;
/// How long another write of the same key is waited for: 10 s.
const PATIENCE_MS: u64 = 10_000;

/// A file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: u32,
    organ: String,
    scope: String,
    key: String,
    revision: u64,
    value: Json,
    /// SHA-256 of the value's JSON text: what was cut or overwritten is noticed.
    sha256: String,
}

/// What an organ keeps.
#[derive(Debug)]
pub(super) struct States {
    organ: String,
    folder: PathBuf,
    guard: Guard,
    outside: Outside,
}

impl States {
    pub(super) fn new(organ: &str, state: &Path, shared: Option<PathBuf>, outside: Outside) -> Self {
        let folder = state.join("organs").join(file_name("o", organ));
        Self { organ: organ.to_owned(), folder, guard: Guard::new(shared), outside }
    }

    pub(super) fn get(&self, request: &StateGet) -> Result<StateValue, Failure> {
        let at = At { scope: &request.scope, key: &request.key };
        self.read(at, &self.file(at)?)
    }

    pub(super) fn put(&self, request: StatePut, bounds: &Bounds<'_>) -> Result<StateValue, Failure> {
        let at = At { scope: &request.scope, key: &request.key };
        let file = self.file(at)?;
        let text = request.value.to_string();
        if text.len() > MOST {
            return Err(failure::too_large(at.shown(), MOST as u64, "keep less, or in several keys"));
        }
        let _lock = acquire(&file, &self.outside, &bounds.narrowed(Some(PATIENCE_MS)))
            .map_err(|error| error.failure("state_locked", &at.shown()))?;
        let there = self.read(at, &file)?.revision;
        if there != request.revision {
            let text = format!(
                "{} is at revision {there}, not at {}: another wrote in between; read it again and decide anew",
                at.shown(),
                request.revision
            );
            return Err(Failure::new("conflict", text));
        }
        let kept = Kept {
            format: FORMAT,
            organ: self.organ.clone(),
            scope: request.scope.clone(),
            key: request.key.clone(),
            revision: there + 1,
            value: request.value,
            sha256: digest(&text),
        };
        self.write(&file, &kept)?;
        Ok(StateValue { value: kept.value, revision: kept.revision })
    }

    fn write(&self, file: &Guarded, kept: &Kept) -> Result<(), Failure> {
        let mut bytes =
            serde_json::to_vec(kept).map_err(|error| Failure::new("state_unwritable", error.to_string()))?;
        bytes.push(b'\n');
        replace(&self.outside.disk, file, Mode::Private, &bytes).map_err(|error| {
            let text = format!("{}; read the key again before writing", failure::chain(&error));
            Failure::new("state_unwritable", text)
        })
    }

    fn file(&self, at: At<'_>) -> Result<Guarded, Failure> {
        let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if at.key.is_empty() || !at.key.bytes().all(is_key) {
            return Err(failure::invalid(format!("{:?} is no key: write letters, digits, . _ -", at.key)));
        }
        let mut name = file_name("k", at.key);
        name.push_str(".json");
        self.guard.check(self.folder.join(file_name("s", at.scope)).join(name)).map_err(|error| {
            let text = format!("{}; choose another folder with --host-state-dir", failure::chain(&error));
            Failure::new("state_unwritable", text)
        })
    }

    /// What is kept. A file that is there and makes no sense is a failure, never nothing.
    fn read(&self, at: At<'_>, file: &Guarded) -> Result<StateValue, Failure> {
        let path = file.path();
        let damaged = |why: String| {
            let text = format!(
                "{} at {} cannot be used: {why}; restore the file, or remove it if nothing in it is needed",
                at.shown(),
                path.display()
            );
            Failure::new("state_damaged", text)
        };
        let text = match files::read_text(path) {
            Err(error) if matches!(error.kind, InputErrorKind::Absent) => return Ok(StateValue::default()),
            result => result.map_err(|error| damaged(failure::chain(&error)))?,
        };
        let kept: Kept = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if kept.format != FORMAT {
            return Err(damaged(format!("it is of format {}, this host reads {FORMAT}", kept.format)));
        }
        if (kept.organ.as_str(), kept.scope.as_str(), kept.key.as_str()) != (self.organ.as_str(), at.scope, at.key) {
            return Err(damaged(format!("it belongs to {}, {:?}, {}", kept.organ, kept.scope, kept.key)));
        }
        if kept.revision == 0 || kept.sha256 != digest(&kept.value.to_string()) {
            return Err(damaged("its value is not the one that was written".to_owned()));
        }
        Ok(StateValue { value: kept.value, revision: kept.revision })
    }
}

/// Scope and key.
#[derive(Clone, Copy)]
struct At<'r> {
    scope: &'r str,
    key: &'r str,
}

impl At<'_> {
    fn shown(self) -> String {
        format!("the state {} of scope {:?}", self.key, self.scope)
    }
}

fn digest(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    file::base16(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plugins::services::testing::{self, Free};
    use crate::store::Disk;
    use crate::store::testing::{Home, put};

    fn states(home: &Home) -> States {
        States::new("organ", &home.at("host"), None, testing::outside())
    }

    fn get(states: &States, scope: &str, key: &str) -> Result<(Json, u64), String> {
        let answer = states.get(&StateGet { scope: scope.into(), key: key.into() });
        answer.map(|kept| (kept.value, kept.revision)).map_err(|failure| failure.code)
    }

    fn write(states: &States, key: &str, value: Json, revision: u64) -> Result<u64, Failure> {
        let request = StatePut { scope: "o/r".into(), key: key.into(), value, revision };
        states.put(request, &Free::new().bounds()).map(|kept| kept.revision)
    }

    #[test]
    fn what_is_written_is_read_with_its_revision() {
        let home = Home::new();
        let states = states(&home);
        assert_eq!(get(&states, "o/r", "k"), Ok((Json::Null, 0)));
        assert_eq!(write(&states, "k", json!({"b": 1.0, "a": [1, "é"]}), 0), Ok(1));
        assert_eq!(write(&states, "k", json!(2), 1), Ok(2));
        assert_eq!(get(&self::states(&home), "o/r", "k"), Ok((json!(2), 2)));
        assert_eq!(get(&states, "o/R", "k"), Ok((Json::Null, 0)));
        assert_eq!(get(&states, "", "k"), Ok((Json::Null, 0)));
    }

    #[test]
    fn an_old_revision_is_a_conflict_that_names_the_new_one() {
        let home = Home::new();
        let states = states(&home);
        assert_eq!(write(&states, "k", json!(1), 0), Ok(1));
        let failure = write(&states, "k", json!(2), 0).unwrap_err();
        assert_eq!(failure.code, "conflict");
        assert!(failure.message.contains("is at revision 1, not at 0"), "{}", failure.message);
        assert_eq!(get(&states, "o/r", "k"), Ok((json!(1), 1)));
    }

    #[test]
    fn a_removed_key_reads_as_null_and_its_revision_goes_on() {
        let home = Home::new();
        let states = states(&home);
        write(&states, "k", json!(1), 0).unwrap();
        assert_eq!(write(&states, "k", Json::Null, 1), Ok(2));
        assert_eq!(get(&states, "o/r", "k"), Ok((Json::Null, 2)));
        assert_eq!(write(&states, "k", json!(1), 2), Ok(3));
        assert_eq!(write(&states, "k", json!(9), 1).unwrap_err().code, "conflict");
    }

    #[test]
    fn a_damaged_file_is_a_failure_and_never_empty_nor_overwritten() {
        let home = Home::new();
        let states = states(&home);
        write(&states, "k", json!("value"), 0).unwrap();
        let path = home.at("host/organs/o-organ/s-o%2Fr/k-k.json");
        let whole = std::fs::read(&path).unwrap();
        let other = String::from_utf8(whole.clone()).unwrap().replace("\"value\":\"value\"", "\"value\":\"valve\"");
        let newer = String::from_utf8(whole.clone()).unwrap().replace("\"format\":1", "\"format\":2");
        for bytes in [&b""[..], &whole[..whole.len() / 2], b"\xff", b"{}", other.as_bytes(), newer.as_bytes()] {
            put(&path, bytes);
            assert_eq!(get(&states, "o/r", "k"), Err("state_damaged".into()));
            assert_eq!(write(&states, "k", json!(1), 0).unwrap_err().code, "state_damaged");
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn keys_are_plain_and_any_scope_will_do() {
        let home = Home::new();
        let states = states(&home);
        for key in ["", "a/b", "ä", " "] {
            assert_eq!(get(&states, "", key), Err("invalid_request".into()), "{key:?}");
        }
        for scope in ["..", "../../x", "/", ".git", "con", &"x".repeat(3000)] {
            assert_eq!(get(&states, scope, ".."), Ok((Json::Null, 0)), "{scope:?}");
        }
    }

    #[test]
    fn of_many_writers_of_one_revision_exactly_one_wins() {
        let home = Home::new();
        for revision in 0..5 {
            let wins = std::thread::scope(|scope| {
                let writers: Vec<_> = (0..4)
                    .map(|writer| {
                        scope.spawn({
                            let home = &home;
                            move || write(&states(home), "k", json!(writer), revision)
                        })
                    })
                    .collect();
                writers.into_iter().filter(|_| true).map(|writer| writer.join().unwrap()).filter(Result::is_ok).count()
            });
            assert_eq!(wins, 1);
        }
        assert_eq!(get(&states(&home), "o/r", "k").unwrap().1, 5);
    }

    #[test]
    fn a_write_that_the_disk_refuses_leaves_what_was_there() {
        let home = Home::new();
        write(&states(&home), "k", json!(1), 0).unwrap();
        let mut broken = states(&home);
        broken.outside.disk = Disk::with_faults("fsync:1:eio".parse().unwrap());
        assert_eq!(write(&broken, "k", json!(2), 1).unwrap_err().code, "state_unwritable");
        assert_eq!(get(&states(&home), "o/r", "k"), Ok((json!(1), 1)));
    }

    #[test]
    fn in_a_repository_nothing_is_kept() {
        let home = Home::new();
        std::fs::create_dir_all(home.at("host/.git")).unwrap();
        assert_eq!(write(&states(&home), "k", json!(1), 0).unwrap_err().code, "state_unwritable");
    }
}
