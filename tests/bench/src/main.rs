//! `fold_floor`: how fast a fold could be at best on this machine, on the same bytes (DECISIONS 6.11).
//!
//! A fold has to read its inputs, hash what it accepted and what it writes, and bring three files to the disk. This
//! program does exactly that and nothing else, so that the bench states a ratio and not only a time: a ratio holds on
//! a slow disk and on a fast one.
//!
//! What cannot be known before a fold (which messages are accepted, the bytes of the artifacts) is taken from a fold
//! that `host` has done, and prepared in [`work`] before the clock starts.

mod error;
mod floor;
mod work;

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;

use error::FloorError;
use work::Work;

/// Does the least work of a fold and prints its times as one JSON line.
#[derive(Debug, Parser)]
struct Arguments {
    /// The export that was folded.
    #[arg(long, value_name = "FILE")]
    events: PathBuf,
    /// The snapshot that was folded back in, if there was one.
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Folder with the snapshot.json, summary.json and status.md of that fold.
    #[arg(long, value_name = "DIR")]
    artifacts: PathBuf,
    /// Existing folder that the floor writes to, on the file system of the host's state.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("ERROR {}", error.with_causes());
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, FloorError> {
    let work = Work::prepare(&arguments.events, arguments.prior.as_deref(), &arguments.artifacts)?;
    let times = floor::measure(&work, &arguments.out)?;
    Ok(times.line(&work))
}
