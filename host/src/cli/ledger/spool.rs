//! `spool --status`: what waits to be posted, for every ledger (L 12).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use plugin_api::rules::time::Timestamp;

use super::Context;
use crate::cli::args::SpoolArgs;
use crate::cli::outcome::{CommandError, Outcome};
use crate::clock;
use crate::ledger::fatal::FatalError;
use crate::ledger::kind::Kind as _;
use crate::ledger::reduce::now;
use crate::ledger::shape::Shape;
use crate::ledger::spooled::{self, Spooled};
use crate::ledger::state::StateDir;
use crate::reasons::Fatal;
use crate::store::spool::{Listing, list, read};

/// Runs it.
pub(super) fn run(context: &Context<'_, '_>, args: &SpoolArgs) -> Result<Outcome, CommandError> {
    // Common to the reference's verbs, so it is accepted; nothing here depends on the time.
    now(args.clock.now.as_deref(), &clock::now)?;
    let (kinds, mut warnings) = context.kinds.open_all();
    let shapes: Vec<Shape<'_>> = kinds.iter().map(|kind| Shape::new(kind)).collect();
    let found = match &args.out_dir {
        Some(folder) => match list(folder).map_err(|error| error.code().of(&error))? {
            Listing::NoFolder => Vec::new(),
            Listing::Files(files) => check_all(&files, &shapes)?,
        },
        None => own_spools(args, &shapes, &mut warnings)?,
    };
    let mut text = String::new();
    for kind in &kinds {
        let name = &kind.declaration().name;
        let (pending, oldest) = found.iter().filter(|spooled| spooled.ledger == *name).fold(
            (0_usize, None::<Timestamp>),
            |(pending, oldest), spooled| {
                (pending + 1, Some(oldest.map_or(spooled.observed_at, |oldest| oldest.min(spooled.observed_at))))
            },
        );
        let oldest = oldest.map_or_else(|| "-".to_owned(), |oldest| oldest.to_string());
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{name}: pending={pending} oldest_observed_at={oldest}");
    }
    context.ui.data(&text)?;
    context.ui.warn(&warnings);
    Ok(Outcome::OK)
}

/// Every ledger's own spool; observations that lie in another ledger's are counted and named.
fn own_spools(args: &SpoolArgs, shapes: &[Shape<'_>], warnings: &mut Vec<String>) -> Result<Vec<Spooled>, FatalError> {
    let state = StateDir::choose(args.place.state_dir.as_deref())?;
    let mut folders: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for shape in shapes {
        match list(&state.spool(shape.ledger())).map_err(|error| error.code().of(&error))? {
            Listing::NoFolder => {}
            Listing::Files(files) => {
                folders.insert(shape.ledger(), files);
            }
        }
    }
    if folders.is_empty() {
        let detail = format!("no ledger has a spool under {}", state.root().display());
        return Err(Fatal::UninitialisedStateDir.with(detail));
    }
    let mut found = Vec::new();
    for (ledger, files) in folders {
        let checked = check_all(&files, shapes)?;
        for (file, spooled) in files.iter().zip(&checked) {
            if spooled.ledger != ledger {
                warnings.push(format!("spool_misfiled: {}: it is of {}", file.display(), spooled.ledger));
            }
        }
        found.extend(checked);
    }
    Ok(found)
}

fn check_all(files: &[PathBuf], shapes: &[Shape<'_>]) -> Result<Vec<Spooled>, FatalError> {
    files.iter().map(|file| check_file(file, shapes)).collect()
}

/// Reads and checks one file of a spool.
///
/// # Errors
/// `INVALID_SPOOL`, naming the file.
pub(super) fn check_file(file: &Path, shapes: &[Shape<'_>]) -> Result<Spooled, FatalError> {
    let invalid = |why: String| Fatal::InvalidSpool.with(format!("{}: {why}", file.display()));
    let found = read(file).map_err(|error| error.code().of(&error))?;
    let text = String::from_utf8(found.bytes).map_err(|_| invalid("it is not UTF-8 text".to_owned()))?;
    spooled::check(&text, shapes).map_err(|error| invalid(error.to_string()))
}
