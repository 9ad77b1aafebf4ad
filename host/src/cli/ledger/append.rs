//! `append`: checks an observation and prints the line to post (L 10.3). Writes only where it is told to (D12).

use std::path::{Path, PathBuf};

use plugin_api::Value;
use plugin_api::json::{self, Document, Layout};
use plugin_api::rules::time::Timestamp;

use super::Context;
use crate::cli::args::AppendArgs;
use crate::cli::outcome::{CommandError, Outcome};
use crate::ledger::admit::admit;
use crate::ledger::canonical::{ENVELOPE_PREFIX, envelope_line};
use crate::ledger::config::Config;
use crate::ledger::fatal::FatalError;
use crate::ledger::message::Rules;
use crate::ledger::observation::{Defaults, draft};
use crate::ledger::record::ObservationId;
use crate::ledger::reduce::{now, read_config, read_input, read_stdin};
use crate::ledger::state::StateDir;
use crate::ledger::{calls, entity_arg, envelope};
use crate::reasons::Fatal;
use crate::store::{Created, Guard, Guarded, Mode, replace, spool};
use crate::{clock, env};

/// Longest line that the known transport does not split (N18), in bytes.
const LONGEST: usize = 4096;
/// Default of `--actor` when the environment names none.
const ACTOR: &str = "ai-01";
/// The file that stands for stdin.
const STDIN: &str = "-";
/// Default of `--evidence`.
const EVIDENCE: &str = "manual append";

/// Runs it.
pub(super) fn run(context: &Context<'_, '_>, args: &AppendArgs) -> Result<Outcome, CommandError> {
    let state = StateDir::choose(args.place.state_dir.as_deref())?;
    let output = Output::check(context, args, &state)?;
    let now = now(args.clock.now.as_deref(), &clock::now)?;
    let source = Source::read(context, args, now)?;
    let config = read_config(&state, context.shape)?;
    let checked = source.document().and_then(|document| check(context, &document, now, &config));
    let (id, line) = checked.map_err(|error| source.name(error))?;
    if line.len() > LONGEST {
        let detail = format!("the envelope of {id} has {} bytes, the transport splits beyond {LONGEST}", line.len());
        return Err(Fatal::EnvelopeTooLong.with(detail).into());
    }
    let written = if args.dry_run { None } else { output.write(context, id, &line)? };
    if args.quiet {
        return Ok(Outcome::OK);
    }
    let call = calls::append_observation(&config.workspace);
    let data = if args.json { described(context, id, &line, &config.workspace, &call) } else { line };
    context.ui.data(&format!("{data}\n"))?;
    context.ui.warn(&config.warnings);
    context.ui.warn(&source.warnings(args));
    if let Some((path, created)) = written {
        let what = match created {
            Created::New => "new",
            Created::Identical => "already present, idempotent no-op",
            Created::Repaired => "repaired, the file there had other bytes",
        };
        context.ui.note(&format!("# spooled {id} -> {} ({what})", path.display()));
    }
    context.ui.note(&format!("# post it with: {call}"));
    Ok(Outcome::OK)
}

/// The observation as text.
enum Source {
    File(PathBuf, String),
    Flags(String),
}

impl Source {
    fn read(context: &Context<'_, '_>, args: &AppendArgs, now: Timestamp) -> Result<Self, FatalError> {
        if let Some(path) = &args.observation_file {
            return Ok(if path.as_os_str() == STDIN {
                Self::File("stdin".into(), read_stdin()?)
            } else {
                Self::File(path.clone(), read_input(path)?)
            });
        }
        let (Some(entity), Some(fields)) = (&args.entity, &args.fields_json) else {
            return Err(Fatal::MissingInput.with("give --observation-file, or --entity with --fields-json"));
        };
        let entity = entity_arg::parse(entity, context.shape.declaration())?;
        let invalid = |what: String| Fatal::InvalidJson.with(format!("--fields-json: {what}"));
        // Checked here, so that the error names the flag; kept as text, so that what JSON allows and an envelope
        // does not is still seen.
        let document = json::read(fields).map_err(|error| invalid(error.to_string()))?;
        if document.value.as_object().is_none() {
            return Err(invalid(format!("it is {}, not an object", document.value.kind())));
        }
        let configured = env::get(env::LEDGER_ACTOR).map(|actor| actor.to_string_lossy().into_owned());
        let actor = args.actor.clone().or(configured).unwrap_or_else(|| ACTOR.to_owned());
        let observed_at = args.observed_at.clone().filter(|at| !at.is_empty()).unwrap_or_else(|| now.to_string());
        let mut observation = vec![
            ("entity", entity),
            ("fields", document.value),
            ("actor", Value::from(actor)),
            ("observed_at", Value::from(observed_at)),
            ("confidence", Value::from(args.confidence.as_deref().unwrap_or("medium"))),
            ("evidence", Value::from(args.evidence.as_deref().unwrap_or(EVIDENCE))),
        ];
        observation.extend(args.note.as_deref().map(|note| ("note", Value::from(note))));
        Ok(Self::Flags(json::text(&Value::object(observation), Layout::Compact)))
    }

    /// The observation as JSON; what an envelope must not hold is refused as in an envelope.
    fn document(&self) -> Result<Document<'_>, FatalError> {
        let (Self::File(_, text) | Self::Flags(text)) = self;
        let document = json::read(text).map_err(|error| Fatal::InvalidJson.with(error.to_string()))?;
        if document.value.as_object().is_some() {
            envelope::check(&document)?;
        }
        Ok(document)
    }

    /// A refusal of what stands in a file names the file.
    fn name(&self, error: FatalError) -> FatalError {
        match self {
            Self::File(path, _) => error.in_file(path),
            Self::Flags(_) => error,
        }
    }

    /// A file says everything itself: flags that would say something else are named.
    fn warnings(&self, args: &AppendArgs) -> Vec<String> {
        let Self::File(path, _) = self else { return Vec::new() };
        let given = [
            ("--entity", args.entity.is_some()),
            ("--fields-json", args.fields_json.is_some()),
            ("--actor", args.actor.is_some()),
            ("--observed-at", args.observed_at.is_some()),
            ("--confidence", args.confidence.is_some()),
            ("--evidence", args.evidence.is_some()),
            ("--note", args.note.is_some()),
        ];
        let ignored: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
        if ignored.is_empty() {
            return Vec::new();
        }
        vec![format!("flags_ignored: {}: {} says everything", ignored.join(", "), path.display())]
    }
}

fn check(
    context: &Context<'_, '_>,
    document: &Document<'_>,
    now: Timestamp,
    config: &Config,
) -> Result<(ObservationId, String), FatalError> {
    let rules = Rules { now, skew: config.skew, strict_author: false };
    let defaults = Defaults { latest: rules.latest(None), ..Defaults::default() };
    let draft = draft(&document.value, &defaults, context.shape)?;
    let mut judged = admit(vec![draft], context.shape)?;
    let admitted = judged.pop().ok_or_else(|| Fatal::PluginFailed.with("no verdict on the observation"))??;
    let line = envelope_line(&admitted.observation, admitted.id, context.shape);
    Ok((admitted.id, line))
}

/// Where the line goes, judged by the guard before anything is read.
enum Output {
    Nowhere,
    File(Guarded),
    Folder(Guarded),
    Spool(Guarded),
}

impl Output {
    fn check(context: &Context<'_, '_>, args: &AppendArgs, state: &StateDir) -> Result<Self, FatalError> {
        let guard = Guard::from_env();
        let check = |path: &Path| guard.check(path).map_err(|error| error.code().of(&error));
        check(state.root())?;
        match (&args.out, &args.out_dir, args.spool) {
            (Some(file), _, _) => check(file).map(Self::File),
            (None, Some(folder), _) => check(folder).map(Self::Folder),
            (None, None, true) => check(&state.spool(context.shape.ledger())).map(Self::Spool),
            (None, None, false) => Ok(Self::Nowhere),
        }
    }

    fn write(
        &self,
        context: &Context<'_, '_>,
        id: ObservationId,
        line: &str,
    ) -> Result<Option<(PathBuf, Created)>, FatalError> {
        let folder = match self {
            Self::Nowhere => return Ok(None),
            Self::File(file) => {
                replace(context.disk, file, Mode::Private, format!("{line}\n").as_bytes())
                    .map_err(|error| error.code().of(&error))?;
                return Ok(Some((file.path().to_owned(), Created::New)));
            }
            Self::Folder(folder) => folder,
            Self::Spool(folder) if folder.path().is_dir() => folder,
            Self::Spool(folder) => {
                let detail = format!("{} does not exist", folder.path().display());
                return Err(Fatal::UninitialisedStateDir.with(detail));
            }
        };
        let written =
            spool::write(context.disk, folder, &id.to_string(), line).map_err(|error| error.code().of(&error))?;
        Ok(Some(written))
    }
}

fn described(context: &Context<'_, '_>, id: ObservationId, line: &str, workspace: &str, call: &str) -> String {
    let described = Value::object([
        ("observation_id", Value::from(id.to_string())),
        ("ledger", Value::from(context.shape.ledger())),
        ("workspace", Value::from(workspace)),
        ("format", Value::from("json")),
        ("content_prefix", Value::from(ENVELOPE_PREFIX)),
        ("content", Value::from(line)),
        ("mcp_call", Value::from(call)),
    ]);
    json::text(&described, Layout::Pretty(0))
}
