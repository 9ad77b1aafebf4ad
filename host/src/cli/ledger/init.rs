//! `init`: the local state of a ledger (L 10.3). A dry run unless `--apply`.

use std::fmt::Write as _;
use std::path::PathBuf;

use plugin_api::KindDeclaration;
use plugin_api::rules::time::Timestamp;

use super::Context;
use crate::cli::args::InitArgs;
use crate::cli::outcome::{CommandError, Outcome};
use crate::clock;
use crate::ledger::calls;
use crate::ledger::fatal::FatalError;
use crate::ledger::kind::Kind as _;
use crate::ledger::reduce::{now, read_config};
use crate::ledger::schema::{baseline_text, config_text, schema_text};
use crate::ledger::state::StateDir;
use crate::store::files::create_folders;
use crate::store::{Guard, Guarded, Mode, replace};

/// Runs it.
pub(super) fn run(context: &Context<'_, '_>, args: &InitArgs) -> Result<Outcome, CommandError> {
    let ledger = context.shape.ledger();
    let state = StateDir::choose(args.place.state_dir.as_deref())?;
    let guard = Guard::from_env();
    guard.check(state.root()).map_err(|error| error.code().of(&error))?;
    let now = now(args.clock.now.as_deref(), &clock::now)?;
    let config = read_config(&state, context.shape)?;
    let places = Places::new(&state, ledger);
    let root = state.root().display();
    let ending = if args.apply {
        apply(context, &guard, &places, &config.workspace, now)?;
        format!("APPLIED: local state tree at {root}")
    } else {
        format!("DRY-RUN: would create {} path(s) under {root} (pass --apply)", places.all().len())
    };
    let mut text = format!("# {ledger} -> dashboard {}\n", config.workspace);
    for (name, call) in [
        ("append_observation", calls::append_observation(&config.workspace)),
        ("read_journal", calls::read_journal(&config.workspace)),
        ("write_snapshot", calls::write_snapshot(&config.workspace)),
    ] {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "#   {name}: {call}");
    }
    text.push_str(&ending);
    text.push('\n');
    for path in places.all() {
        let _ = writeln!(text, "  {}", path.display());
    }
    context.ui.data(&text)?;
    context.ui.warn(&config.warnings);
    Ok(Outcome::OK)
}

/// The paths of a ledger's state.
struct Places {
    config: PathBuf,
    ledger: PathBuf,
    spool: PathBuf,
    snapshots: PathBuf,
    baseline: PathBuf,
    schema: PathBuf,
}

impl Places {
    fn new(state: &StateDir, ledger: &str) -> Self {
        Self {
            config: state.config(),
            ledger: state.ledger(ledger),
            spool: state.spool(ledger),
            snapshots: state.snapshots(ledger),
            baseline: state.baseline(ledger),
            schema: state.schema(ledger),
        }
    }

    /// In the order in which they are listed.
    fn all(&self) -> [&PathBuf; 6] {
        [&self.config, &self.ledger, &self.spool, &self.snapshots, &self.baseline, &self.schema]
    }
}

/// Folders first; configuration and baseline only where there are none; the schema always.
fn apply(
    context: &Context<'_, '_>,
    guard: &Guard,
    places: &Places,
    workspace: &str,
    now: Timestamp,
) -> Result<(), FatalError> {
    let check = |path: &PathBuf| guard.check(path).map_err(|error| error.code().of(&error));
    let (kinds, warnings) = context.kinds.open_all();
    context.ui.warn(&warnings);
    let kinds: Vec<&KindDeclaration> = kinds.iter().map(|kind| kind.declaration()).collect();
    for folder in [&places.ledger, &places.spool, &places.snapshots] {
        create_folders(context.disk, &check(folder)?).map_err(|error| error.code().of(&error))?;
    }
    write_if_absent(context, &check(&places.config)?, &config_text(&kinds))?;
    write_if_absent(context, &check(&places.baseline)?, &baseline_text(context.shape.ledger(), now))?;
    let schema = schema_text(context.shape.declaration(), workspace, &kinds, now);
    write(context, &check(&places.schema)?, &schema)
}

fn write_if_absent(context: &Context<'_, '_>, target: &Guarded, text: &str) -> Result<(), FatalError> {
    if target.path().exists() { Ok(()) } else { write(context, target, text) }
}

fn write(context: &Context<'_, '_>, target: &Guarded, text: &str) -> Result<(), FatalError> {
    replace(context.disk, target, Mode::Default, text.as_bytes()).map_err(|error| error.code().of(&error))
}
