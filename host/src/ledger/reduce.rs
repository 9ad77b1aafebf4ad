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
use super::prior_doc::{Cut, PriorDoc};
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
use crate::store::files::{self, InputError, InputErrorKind, read_text};

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
    Run { request, shape, around, now, writer: writer.as_ref(), phases: Phases::start() }.fold_files()
}

/// A fold whose lock is held.
struct Run<'r, 'k> {
    request: &'r Request,
    shape: &'r Shape<'k>,
    around: &'r Surroundings<'r>,
    now: Timestamp,
    writer: Option<&'r Writer>,
    phases: Phases,
}

/// The prior snapshot as it was read, and what its fold file says of it.
struct PriorFile<'p> {
    path: &'p Path,
    text: Option<&'p str>,
    stored: StoredFold,
}

impl Run<'_, '_> {
    /// Reads, folds and writes. Each file is read and parsed before the next, which is the order of their fatal codes.
    fn fold_files(&self) -> Result<Reduced, FatalError> {
        let Self { request, shape, around, .. } = self;
        let prior_path = request.snapshot.clone().unwrap_or_else(|| request.state.snapshot(shape.ledger()));
        let prior_text = optional(request.snapshot.is_some(), &prior_path)?;
        let cut = prior_text.as_deref().and_then(Cut::find);
        let (prior, prior_doc) = self.read_prior(&prior_path, prior_text.as_deref(), cut.as_ref())?;
        // Needed to judge while reading; a fault in it is reported in its turn, behind those of export and baseline.
        let config = read_config(&request.state, shape);
        let skew = config.as_ref().map_or(None, |config| config.skew);
        let rules = Rules { now: self.now, skew, strict_author: request.strict_author };
        let events_text = request.events.as_deref().map(read_input).transpose()?;
        let export = match (request.events.as_deref(), events_text.as_deref()) {
            (Some(path), Some(text)) => {
                Some(stream::read(text, &rules, shape, around.progress).map_err(|error| invalid_json(path, &error))?)
            }
            (Some(_) | None, _) => None,
        };
        let baseline_path = request.baseline.clone().unwrap_or_else(|| request.state.baseline(shape.ledger()));
        let baseline_text = optional(request.baseline.is_some(), &baseline_path)?;
        let baseline = baseline_text.as_deref().map(baseline::read).transpose();
        let baseline = baseline.map_err(|error| error.in_file(&baseline_path))?;
        let config = config?;
        self.phases.done("inputs read");
        if request.events.is_none() && prior_doc.is_none() && prior.stored.lists_snapshot() {
            let detail = "the last fold wrote a snapshot and it is gone; restore it, or fold a full export";
            return Err(Fatal::MissingCheckpoint.with(detail).in_file(&prior_path));
        }
        let inputs = Inputs {
            prior: prior_doc,
            export,
            baseline: baseline.as_ref(),
            high_water: prior.stored.high_water().cloned(),
            config: &config,
            rules,
            window_full: request.window_full,
            on_damage: request.on_damage,
            progress: around.progress,
        };
        let files = Files { prior: &prior_path, export: request.events.as_deref(), baseline: &baseline_path };
        let mut folded = fold(inputs, shape).map_err(|error| files.name(error))?;
        self.phases.done("folded");
        log_fold(&folded);
        self.settle(&mut folded, &prior, &config)?;
        // The rows hold all that is still needed; what they were made from is larger than what is written now.
        let generation = prior.stored.generation().saturating_add(1);
        drop(prior);
        drop((prior_text, events_text));
        self.write(folded, generation, &config)
    }

    /// Reads the prior snapshot and checks its rows, while the fold file is compared with what lies beside it.
    fn read_prior<'p>(
        &self,
        path: &'p Path,
        text: Option<&'p str>,
        cut: Option<&'p Cut<'_>>,
    ) -> Result<(PriorFile<'p>, Option<PriorDoc<'p>>), FatalError> {
        let (doc, stored) = rayon::join(
            || text.map(|text| PriorDoc::read(text, cut, self.shape)).transpose(),
            || StoredFold::read(path, self.shape.ledger(), text),
        );
        let doc = doc.map_err(|error| invalid_snapshot(path, &error))?;
        self.phases.done("prior snapshot read");
        Ok((PriorFile { path, text, stored }, doc))
    }

    /// Repairs what the last fold left torn and keeps a copy of what is damaged, now that this fold is not refused.
    fn settle(&self, folded: &mut Folded, prior: &PriorFile<'_>, config: &Config) -> Result<(), FatalError> {
        let Self { request, shape, around, writer, .. } = *self;
        let PriorFile { path, text, stored } = prior;
        let mut notices = stored.notices().to_vec();
        notices.extend(writer.iter().flat_map(|writer| writer.swept()).cloned());
        let repaired = text.filter(|_| stored.is_torn()).map(|snapshot_text| {
            let doc = parse_snapshot(path, snapshot_text)?;
            repair(&doc, stored, request.on_damage, &Repair { shape, config, writer, snapshot_text, around })
        });
        notices.extend(repaired.transpose()?.unwrap_or_default());
        folded.notices.splice(0..0, notices);
        match (writer, text.filter(|_| folded.salvaged)) {
            (Some(writer), Some(text)) => writer.keep_damaged(text, around),
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// Makes summary and status, and writes everything unless this is a dry run.
    fn write(&self, folded: Folded, generation: i64, config: &Config) -> Result<Reduced, FatalError> {
        let Self { shape, around, writer, .. } = *self;
        let texts = || Texts::new(&folded, shape, config.status_max_rows);
        let texts = match writer {
            None => texts()?,
            Some(writer) => {
                let texts = writer.write(&FoldResult { folded: &folded, generation, shape, around }, texts)?;
                self.phases.done("artifacts written");
                tracing::info!(generation, snapshot = %writer.snapshot().display(), "artifacts written");
                texts
            }
        };
        Ok(Reduced { folded, texts })
    }
}

/// Logs what a fold came to (`-v`).
fn log_fold(folded: &Folded) {
    let (counts, window) = (folded.rows.counts(), &folded.window);
    tracing::info!(
        window = window.kind.as_str(),
        messages = window.messages,
        observations = folded.events.journal_records,
        rejected = folded.rejections.len(),
        ignored = folded.ignored,
        rows = counts.total,
        live = counts.live,
        "folded"
    );
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
    let path = state.config();
    match optional(false, &path)? {
        Some(text) => Config::read(&text, shape.declaration()).map_err(|error| error.in_file(&path)),
        None => Ok(Config::defaults(shape.declaration())),
    }
}

/// The text of a file that need not be there, unless it was named (N6).
///
/// # Errors
/// `UNREADABLE_INPUT`, `INVALID_JSON`.
pub fn optional(named: bool, path: &Path) -> Result<Option<String>, FatalError> {
    match read_text(path) {
        Ok(text) => {
            log_read(path, &text);
            Ok(Some(text))
        }
        Err(InputError { kind: InputErrorKind::Absent, .. }) if !named => {
            tracing::debug!(path = %path.display(), "not there");
            Ok(None)
        }
        Err(error) => Err(error.code().of(&error)),
    }
}

/// The text of a file that must be there.
///
/// # Errors
/// `UNREADABLE_INPUT`, `INVALID_JSON`.
pub fn read_input(path: &Path) -> Result<String, FatalError> {
    let text = read_text(path).map_err(|error| error.code().of(&error))?;
    log_read(path, &text);
    Ok(text)
}

/// The text of the standard input.
///
/// # Errors
/// `UNREADABLE_INPUT`, `INVALID_JSON`.
pub fn read_stdin() -> Result<String, FatalError> {
    let text = files::read_stdin().map_err(|error| error.code().of(&error))?;
    log_read(Path::new("stdin"), &text);
    Ok(text)
}

fn log_read(path: &Path, text: &str) {
    tracing::info!(path = %path.display(), bytes = text.len(), "read");
}

/// Parses a snapshot.
///
/// # Errors
/// `INVALID_JSON`.
pub fn parse_snapshot<'a>(path: &Path, text: &'a str) -> Result<SnapshotDoc<'a>, FatalError> {
    SnapshotDoc::read(text).map_err(|error| invalid_snapshot(path, &error))
}

fn invalid_snapshot(path: &Path, error: &ReadError) -> FatalError {
    let detail = format!("{error}; restore the snapshot, or move it away and fold a full export");
    Fatal::InvalidJson.with(detail).in_file(path)
}

fn invalid_json(path: &Path, error: &ReadError) -> FatalError {
    Fatal::InvalidJson.with(error.to_string()).in_file(path)
}

/// The files of a fold, which itself knows none: its errors are told with the one that they are about.
struct Files<'f> {
    prior: &'f Path,
    export: Option<&'f Path>,
    baseline: &'f Path,
}

impl Files<'_> {
    fn name(&self, error: FatalError) -> FatalError {
        const PRIOR: [Fatal; 3] = [Fatal::CheckpointLedgerMismatch, Fatal::CorruptCheckpoint, Fatal::MissingCheckpoint];
        const EXPORT: [Fatal; 5] = [
            Fatal::UnsupportedExportSchema,
            Fatal::ExportLedgerMismatch,
            Fatal::UnsupportedExportFormat,
            Fatal::UnsupportedWindowKind,
            Fatal::UnsupportedExportShape,
        ];
        const BASELINE: [Fatal; 3] =
            [Fatal::UnsupportedBaselineSchema, Fatal::BaselineLedgerMismatch, Fatal::InvalidBaseline];
        let is_one_of = |codes: &[Fatal]| codes.iter().any(|code| code.code() == error.code);
        let path = if is_one_of(&PRIOR) {
            Some(self.prior)
        } else if is_one_of(&EXPORT) {
            self.export
        } else if is_one_of(&BASELINE) {
            Some(self.baseline)
        } else {
            None
        };
        match path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }
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
