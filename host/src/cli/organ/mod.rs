//! `host run <organ>`: the command line that the organ declares, its run, and what it came to.

mod command;
mod grants;
mod watch;

use std::ffi::OsString;
use std::sync::Arc;

use plugin_api::organ::OrganDeclaration;
use plugin_api::rules::text::printable;

use self::command::Flags;
use self::watch::Shown;
use super::kinds::Kinds;
use super::outcome::{CommandError, Outcome};
use super::ui::Ui;
use crate::ledger::fatal::FatalError;
use crate::plugins::declare_organ::{faults, lacking};
use crate::plugins::services::{Cancel, Deferred, HostServices, Outside, Services as _};
use crate::plugins::worker::{Worker, WorkerSpec};
use crate::reasons::Fatal;
use crate::store::Disk;
use crate::supervisor::run::{Job, run as run_job};

/// Exit code when the host itself failed, above those of every organ (DECISIONS 1.4).
pub(super) const HOST_FAILED: u8 = 70;

/// Runs a verb of the organ `name`.
pub(super) fn run(name: &str, args: &[OsString], kinds: &Kinds<'_>, ui: &Ui) -> Result<Outcome, CommandError> {
    let opened = kinds.find_organ(name).map_err(failed)?;
    let services = Arc::new(Deferred::default());
    let spec = WorkerSpec::new(Arc::new(opened.image), opened.name);
    let mut control = Worker::start(&spec, services.clone()).map_err(|loss| lost(&loss))?;
    let organ = control.declaration().clone();
    check(&organ, &services.features())?;
    let program = format!("host run {}", organ.name);
    let words = std::iter::once(program.into()).chain(args.iter().cloned());
    let matches = command::command(&organ).try_get_matches_from(words)?;
    let (mut call, flags) = command::call(&organ, &matches);
    let granted = grants::grant(&organ, &mut call, flags.state_dir.as_deref()).map_err(failed)?;
    let visible = granted.visible.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let authority = grants::authority(&organ.needs);
    let disk = Disk::from_env().map_err(|error| failed(Fatal::WriteFailed.of(&error)))?;
    services.set(HostServices::new(granted, Outside::real(disk)));
    let cancel = Cancel::new();
    end_on_signal(&cancel)?;
    let job = Job {
        spec,
        services: services.clone(),
        declaration: &organ,
        call,
        authority,
        visible,
        session_bound: flags.session_bound,
        cancel: &cancel,
    };
    let outcome = run_job(&job, &mut control, &Shown { ui });
    services.end();
    let (_, finish) = outcome.map_err(|error| CommandError::Verb {
        exit: HOST_FAILED,
        error: FatalError { code: error.code().to_owned(), detail: error.to_string() },
    })?;
    show(ui, &flags, &finish)?;
    Ok(Outcome(finish.exit))
}

/// What cannot be run is refused before anything of it is asked.
fn check(organ: &OrganDeclaration, features: &[String]) -> Result<(), CommandError> {
    let faults = faults(organ);
    if !faults.is_empty() {
        let detail = format!("the declaration of organ {} makes no sense: {}", organ.name, faults.join("; "));
        return Err(failed(Fatal::PluginFailed.with(detail)));
    }
    let lacking = lacking(organ, features);
    if lacking.is_empty() {
        return Ok(());
    }
    let detail =
        format!("organ {} needs the service {}, which this host does not have", organ.name, lacking.join(", "));
    Err(failed(Fatal::PluginIncompatible.with(detail)))
}

/// The first interrupt asks the run to end, so that what was started is told; the second ends the host at once, and the
/// workers with it.
fn end_on_signal(cancel: &Cancel) -> Result<(), CommandError> {
    let cancel = cancel.clone();
    let asked = ctrlc::set_handler(move || {
        if cancel.is_asked() {
            std::process::exit(130);
        }
        cancel.ask();
    });
    asked.map_err(|error| failed(Fatal::PluginFailed.of(&error)))
}

fn show(ui: &Ui, flags: &Flags, finish: &plugin_api::organ::Finish) -> Result<(), CommandError> {
    if flags.json {
        let text = serde_json::to_string(&finish.json).map_err(|error| failed(Fatal::PluginFailed.of(&error)))?;
        return ui.json_text(&text);
    }
    if finish.page.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = finish.page.lines().map(printable).collect();
    ui.data(&format!("{}\n", lines.join("\n")))
}

fn lost(loss: &crate::plugins::worker::loss::Loss) -> CommandError {
    failed(FatalError { code: loss.code().to_owned(), detail: loss.to_string() })
}

fn failed(error: FatalError) -> CommandError {
    CommandError::Verb { exit: HOST_FAILED, error }
}
