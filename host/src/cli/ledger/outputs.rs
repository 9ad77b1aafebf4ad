//! Outputs of `reduce` that would destroy each other, an input, or what the fold keeps beside them: a usage error.
//!
//! Two artifacts at one path would both be written, and the later one would silently take the place of the state.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use crate::cli::args::ReduceArgs;
use crate::ledger::state::{FOLD, STATUS, SUMMARY, StateDir, fold_file_elsewhere};
use crate::store::resolve::{RealProbe, resolve};

/// A file of the fold and what it is called in a message.
struct Named {
    what: String,
    path: PathBuf,
}

/// Compares every output that will be written with every other file of the fold.
///
/// # Errors
/// A usage error that names both.
pub(super) fn check(args: &ReduceArgs, state: &StateDir, ledger: &str) -> Result<(), clap::Error> {
    if args.dry_run || args.stdout {
        return Ok(());
    }
    let mut others = inputs(args, state, ledger);
    for (what, path, replaces_prior) in outputs(args, state, ledger) {
        let output = Named::new(what, &path);
        let clash = others.iter().find(|other| other.path == output.path);
        if let Some(other) = clash.filter(|other| !(replaces_prior && other.what == PRIOR)) {
            let message = format!("{} and {} are one file: {}\n", output.what, other.what, output.path.display());
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
        others.push(output);
    }
    Ok(())
}

/// What the prior snapshot is called. The new snapshot may take its place, and usually does.
const PRIOR: &str = "the prior snapshot";

impl Named {
    fn new(what: &str, path: &Path) -> Self {
        // A path that leads nowhere clashes with none; the guard will say what is wrong with it.
        Self { what: what.to_owned(), path: resolve(&RealProbe, path).unwrap_or_else(|_| path.to_owned()) }
    }
}

fn inputs(args: &ReduceArgs, state: &StateDir, ledger: &str) -> Vec<Named> {
    let or = |flag: &Option<PathBuf>, default: PathBuf| flag.clone().unwrap_or(default);
    let mut inputs = vec![
        Named::new(PRIOR, &or(&args.snapshot, state.snapshot(ledger))),
        Named::new("the baseline", &or(&args.baseline, state.baseline(ledger))),
        Named::new("the configuration", &state.config()),
        Named::new("the schema", &state.schema(ledger)),
        Named::new("the ledger's lock", &state.lock(ledger)),
    ];
    inputs.extend(args.events.iter().map(|events| Named::new("--events", events)));
    inputs
}

/// What is written, by flag or by default, and whether it may take the prior snapshot's place.
fn outputs(args: &ReduceArgs, state: &StateDir, ledger: &str) -> Vec<(&'static str, PathBuf, bool)> {
    let default = |name: &str| state.snapshots(ledger).join(name);
    let mut outputs = match &args.out {
        Some(out) => vec![("--out", out.clone(), true), ("its fold file", fold_file_elsewhere(out), false)],
        None => vec![("the snapshot", state.snapshot(ledger), true), ("the fold file", default(FOLD), false)],
    };
    let mut add = |is_off: bool, flag: &'static str, path: &Option<PathBuf>, name: &str| {
        if !is_off {
            outputs.push((flag, path.clone().unwrap_or_else(|| default(name)), false));
        }
    };
    add(args.no_summary, "--summary-out", &args.summary_out, SUMMARY);
    add(args.no_status, "--status-out", &args.status_out, STATUS);
    outputs
}
