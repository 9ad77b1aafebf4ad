//! `verify`: recomputes every digest and id of a ledger's stored state (DECISIONS 6.7). Changes nothing.

use std::path::Path;

use plugin_api::rules::time::Timestamp;

use super::baseline;
use super::config::Config;
use super::fatal::FatalError;
use super::message::Rules;
use super::rebuild::Rebuilt;
use super::reduce::{optional, parse_snapshot};
use super::repair::StoredFold;
use super::rowmarks;
use super::shape::Shape;
use super::spooled;
use super::state::StateDir;
use crate::store::spool::{Listing, list, read};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is: a file name, a row, a digest.
    pub subject: String,
    /// What is wrong; `None` when it is sound.
    pub fault: Option<String>,
}

/// Looks at everything.
///
/// `shapes` are all kinds that there are, `shape` is the ledger's own.
///
/// # Errors
/// `UNREADABLE_INPUT` when a file that exists cannot be read; a file that is wrong is a [`Check`].
pub fn verify(
    state: &StateDir,
    shape: &Shape<'_>,
    shapes: &[Shape<'_>],
    config: &Config,
) -> Result<Vec<Check>, FatalError> {
    let mut checks = Vec::new();
    let path = state.snapshot(shape.ledger());
    let text = optional(false, &path)?;
    let stored = StoredFold::read(&path, shape.ledger(), text.as_deref());
    if let Some(text) = &text {
        checks.extend(check_snapshot(&path, text, &stored, shape, config));
    } else {
        checks.push(sound(format!("{}: not there, nothing was folded yet", path.display())));
    }
    check_artifacts(&stored, &mut checks);
    check_baseline(&state.baseline(shape.ledger()), shape, &mut checks)?;
    check_spool(&state.spool(shape.ledger()), shapes, &mut checks);
    Ok(checks)
}

fn check_snapshot(path: &Path, text: &str, stored: &StoredFold, shape: &Shape<'_>, config: &Config) -> Vec<Check> {
    let rebuilt = parse_snapshot(path, text).and_then(|doc| Rebuilt::new(&doc, shape, config, None));
    let fault = match &rebuilt {
        Err(error) => Some(error.to_string()),
        Ok(rebuilt) if rebuilt.state_digest != rebuilt.stored_digest => {
            Some(format!("folded alone it gives {}, it stores {}", rebuilt.state_digest, rebuilt.stored_digest))
        }
        Ok(rebuilt) => stored
            .file()
            .filter(|file| file.state_digest != rebuilt.state_digest)
            .map(|file| format!("its state digest is {}, fold.json says {}", rebuilt.state_digest, file.state_digest)),
    };
    let mut checks = vec![Check { subject: "state digest and every history entry".to_owned(), fault }];
    if stored.is_torn() {
        let marks = stored.file().map(|file| file.row_marks.as_slice()).unwrap_or_default();
        checks.extend(
            rowmarks::differing(text, marks).into_iter().map(|(row, fault)| Check { subject: row, fault: Some(fault) }),
        );
    }
    checks
}

fn check_artifacts(stored: &StoredFold, checks: &mut Vec<Check>) {
    let Some(file) = stored.file() else {
        let fault = stored.is_torn().then(|| stored.notices().join("; "));
        let subject =
            format!("{}: {}", stored.path().display(), if fault.is_some() { "unreadable" } else { "not there" });
        checks.push(Check { subject, fault });
        return;
    };
    for (name, digest) in &file.artifacts {
        let torn = stored.torn().contains(name);
        let fault = torn.then(|| format!("its SHA-256 is not {digest}, or it is gone"));
        checks.push(Check { subject: name.clone(), fault });
    }
}

fn check_baseline(path: &Path, shape: &Shape<'_>, checks: &mut Vec<Check>) -> Result<(), FatalError> {
    let Some(text) = optional(false, path)? else { return Ok(()) };
    // No row of a baseline is judged by its age here: verify asks whether it is sound, not whether it is timely.
    let rules = Rules { now: Timestamp::MAX, skew: None, strict_author: false };
    let records = baseline::read(&text).and_then(|document| baseline::records(&document, &rules, shape));
    checks.push(Check { subject: "baseline.json".to_owned(), fault: records.err().map(|error| error.to_string()) });
    Ok(())
}

/// Every spool file: valid in full, its id the digest of its content, its name the id.
fn check_spool(folder: &Path, shapes: &[Shape<'_>], checks: &mut Vec<Check>) {
    let files = match list(folder) {
        Ok(Listing::NoFolder) => return,
        Ok(Listing::Files(files)) => files,
        Err(error) => {
            checks.push(Check { subject: folder.display().to_string(), fault: Some(error.to_string()) });
            return;
        }
    };
    for file in files {
        let fault = spool_fault(&file, shapes);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        checks.push(Check { subject: format!("spool/{name}"), fault });
    }
}

fn spool_fault(file: &Path, shapes: &[Shape<'_>]) -> Option<String> {
    let found = match read(file) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    let Ok(text) = String::from_utf8(found.bytes) else { return Some("it is not UTF-8 text".to_owned()) };
    match spooled::check(&text, shapes) {
        Err(error) => Some(error.to_string()),
        Ok(spooled) => {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (stem != spooled.id.to_string()).then(|| format!("its content is of {}", spooled.id))
        }
    }
}

fn sound(subject: String) -> Check {
    Check { subject, fault: None }
}
