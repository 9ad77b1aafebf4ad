//! `reduce` from end to end: guards, lock, reads, fold, writes. The fold itself is [`super::fold`].

use std::path::{Path, PathBuf};
use std::time::Instant;

use plugin_api::LedgerView;
use plugin_api::json::ReadError;
use plugin_api::rules::time::Timestamp;

use super::baseline;
use super::checkpoint::OnDamage;
use super::config::Config;
use super::fatal::FatalError;
use super::fold::{Folded, Inputs, fold};
use super::message::Rules;
use super::repair::{Repair, StoredFold, repair};
use super::shape::Shape;
use super::snapshot_doc::SnapshotDoc;
use super::state::StateDir;
use super::status::status_text;
use super::stream;
use super::summary::summary_text;
use super::view::View;
use super::writer::{FoldResult, Targets, Writer};
use crate::reasons::Fatal;
use crate::store::Disk;
use crate::store::files::{InputError, InputErrorKind, read_text};

/// What to fold, and where to.
#[derive(Clone, Debug)]
pub struct Request {
    /// The state directory.
    pub state: StateDir,
    /// The export.
    pub events: Option<PathBuf>,
    /// Fold without an export.
    pub no_events: bool,
    /// A prior snapshot that must exist.
    pub snapshot: Option<PathBuf>,
    /// A baseline that must exist.
    pub baseline: Option<PathBuf>,
    /// Where the artifacts go.
    pub outputs: Outputs,
    /// Take an undeclared window for a full one.
    pub window_full: bool,
    /// What is done with a damaged prior snapshot.
    pub on_damage: OnDamage,
    /// Refuse actors that are not the author.
    pub strict_author: bool,
    /// The time of the fold as typed; the clock when absent.
    pub now: Option<String>,
}

/// Where the artifacts go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// Nowhere: a dry run.
    Nothing,
    /// To files; `None` is the default place.
    Files {
        /// The snapshot.
        snapshot: Option<PathBuf>,
        /// The summary; `Err` when it is not wanted.
        summary: Wanted,
        /// The status.
        status: Wanted,
    },
}

/// Whether an artifact is wanted, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Not at all.
    No,
    /// At its default place.
    Default,
    /// There.
    At(PathBuf),
}

/// A fold, with its texts.
#[derive(Debug)]
pub struct Reduced {
    /// What the fold came to.
    pub folded: Folded,
    /// The two artifacts that are printed too.
    pub texts: Texts,
}

/// The artifacts that the kind has a part in.
#[derive(Debug)]
pub struct Texts {
    /// `summary.json`
    pub summary: String,
    /// `status.md`
    pub status: String,
}

/// The clock, and who is told how far the fold is.
pub struct Surroundings<'s> {
    /// Writes files.
    pub disk: &'s Disk,
    /// The wall clock.
    pub clock: &'s (dyn Fn() -> Timestamp + Sync),
    /// Told how many messages have been judged.
    pub progress: &'s (dyn Fn(usize) + Sync),
}

/// Folds as asked.
///
/// # Errors
/// The fatal codes of L 13 in our order, and `WRITE_FAILED`; nothing was replaced then, or the next fold repairs it.
pub fn reduce(request: &Request, shape: &Shape<'_>, around: &Surroundings<'_>) -> Result<Reduced, FatalError> {
    let targets = Targets::check(request, shape.ledger())?;
    let now = now(request.now.as_deref(), around.clock)?;
    if request.events.is_none() && !request.no_events {
        return Err(Fatal::MissingInput.with("give the journal's export with --events, or --no-events"));
    }
    let writer = match targets {
        Some(targets) => Some(Writer::lock(targets, around, now)?),
        None => None,
    };
    fold_files(request, shape, around, now, writer.as_ref())
}

/// Reads, folds and writes. Each file is read and parsed before the next, which is the order of their fatal codes.
fn fold_files(
    request: &Request,
    shape: &Shape<'_>,
    around: &Surroundings<'_>,
    now: Timestamp,
    writer: Option<&Writer>,
) -> Result<Reduced, FatalError> {
    let phases = Phases::start();
    let ledger = shape.ledger();
    let prior_path = request.snapshot.clone().unwrap_or_else(|| request.state.snapshot(ledger));
    let prior_text = optional(request.snapshot.is_some(), &prior_path)?;
    let (prior, stored) = rayon::join(
        || prior_text.as_deref().map(|text| parse_snapshot(&prior_path, text)).transpose(),
        || StoredFold::read(&prior_path, ledger, prior_text.as_deref()),
    );
    let prior = prior?;
    phases.done("prior snapshot read");
    // Needed to judge while reading; a fault in it is reported in its turn, behind those of export and baseline.
    let config = read_config(&request.state, shape);
    let skew = config.as_ref().map_or(None, |config| config.skew);
    let rules = Rules { now, skew, strict_author: request.strict_author };
    let events_text = request.events.as_deref().map(read_input).transpose()?;
    let export = match (request.events.as_deref(), events_text.as_deref()) {
        (Some(path), Some(text)) => {
            Some(stream::read(text, &rules, shape, around.progress).map_err(|error| invalid_json(path, &error))?)
        }
        (Some(_) | None, _) => None,
    };
    let baseline_path = request.baseline.clone().unwrap_or_else(|| request.state.baseline(ledger));
    let baseline_text = optional(request.baseline.is_some(), &baseline_path)?;
    let baseline = baseline_text.as_deref().map(baseline::read).transpose()?;
    let config = config?;

    phases.done("inputs read");
    let mut notices = stored.notices().to_vec();
    if let Some(writer) = writer {
        notices.extend(writer.swept().iter().cloned());
    }
    if let (Some(doc), Some(snapshot_text), true) = (&prior, prior_text.as_deref(), stored.is_torn()) {
        let with = Repair { shape, config: &config, writer, snapshot_text, around };
        notices.extend(repair(doc, &stored, request.on_damage, &with)?);
    }
    let inputs = Inputs {
        prior: prior.as_ref(),
        export,
        baseline: baseline.as_ref(),
        high_water: stored.high_water().cloned(),
        config: &config,
        rules,
        window_full: request.window_full,
        on_damage: request.on_damage,
        progress: around.progress,
    };
    let mut folded = fold(inputs, shape)?;
    folded.notices.splice(0..0, notices);
    if let (Some(writer), Some(text)) = (writer, prior_text.as_deref().filter(|_| folded.salvaged)) {
        writer.keep_damaged(&prior_path, text, around)?;
    }
    phases.done("folded");
    // The rows hold all that is still needed; what they were made from is larger than what is written now.
    drop(prior);
    drop((prior_text, events_text));
    let texts = || Texts::new(&folded, shape, config.status_max_rows);
    let generation = stored.generation() + 1;
    let texts = match writer {
        None => texts()?,
        Some(writer) => writer.write(&FoldResult { folded: &folded, generation, shape, around }, texts)?,
    };
    phases.done("artifacts made");
    Ok(Reduced { folded, texts })
}

/// Logs how long each phase of a fold took (`-vv`).
struct Phases {
    start: Instant,
}

impl Phases {
    fn start() -> Self {
        Self { start: Instant::now() }
    }

    fn done(&self, phase: &str) {
        tracing::debug!(ms = self.start.elapsed().as_millis(), "{phase}");
    }
}

impl Texts {
    fn new(folded: &Folded, shape: &Shape<'_>, status_max_rows: usize) -> Result<Self, FatalError> {
        let view = View::new(&folded.rows, shape);
        let ledger = LedgerView { rows: &view.rows(), counts: folded.rows.counts() };
        let head = folded.head();
        let (summary, status) =
            rayon::join(|| summary_text(&head, &ledger, shape), || status_text(&head, &ledger, shape, status_max_rows));
        Ok(Self { summary: summary?, status: status? })
    }
}

/// The configuration of the state directory, or the defaults.
///
/// # Errors
/// `UNREADABLE_INPUT`, `INVALID_JSON`.
pub fn read_config(state: &StateDir, shape: &Shape<'_>) -> Result<Config, FatalError> {
    match optional(false, &state.config())? {
        Some(text) => Config::read(&text, shape.declaration()),
        None => Ok(Config::defaults(shape.declaration())),
    }
}

/// The text of a file that need not be there, unless it was named (N6).
///
/// # Errors
/// `UNREADABLE_INPUT`, `INVALID_JSON`.
pub fn optional(named: bool, path: &Path) -> Result<Option<String>, FatalError> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(InputError { kind: InputErrorKind::Absent, .. }) if !named => Ok(None),
        Err(error) => Err(error.code().of(&error)),
    }
}

/// The text of a file that must be there.
///
/// # Errors
/// `UNREADABLE_INPUT`, `INVALID_JSON`.
pub fn read_input(path: &Path) -> Result<String, FatalError> {
    read_text(path).map_err(|error| error.code().of(&error))
}

/// Parses a snapshot.
///
/// # Errors
/// `INVALID_JSON`.
pub fn parse_snapshot<'a>(path: &Path, text: &'a str) -> Result<SnapshotDoc<'a>, FatalError> {
    SnapshotDoc::read(text).map_err(|error| invalid_json(path, &error))
}

fn invalid_json(path: &Path, error: &ReadError) -> FatalError {
    Fatal::InvalidJson.with(format!("{}: {error}", path.display()))
}

/// The time of the command: as typed, else the clock's.
///
/// # Errors
/// One of the timestamp reasons.
pub fn now(typed: Option<&str>, clock: &(dyn Fn() -> Timestamp + Sync)) -> Result<Timestamp, FatalError> {
    let Some(typed) = typed else { return Ok(clock()) };
    Timestamp::parse(typed)
        .map_err(|error| FatalError { code: error.code().to_owned(), detail: format!("--now {typed:?} {error}") })
}
