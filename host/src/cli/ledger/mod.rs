//! `host run <ledger> <verb>`: the verbs that every ledger has, and those that its kind declares.

mod append;
mod history;
mod init;
mod outputs;
mod read;
mod reduce;
mod show;
mod spool;
mod verb;
mod verify;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser};
use plugin_api::KindDeclaration;

use super::args::{Cli, Global, LedgerVerb};
use super::kinds::Kinds;
use super::organ;
use super::outcome::{CommandError, Outcome};
use super::ui::Ui;
use crate::ledger::kind::Kind as _;
use crate::ledger::shape::Shape;
use crate::plugins::pins::Role;
use crate::reasons::Fatal;
use crate::store::Disk;

/// The command line behind `host run <ledger>`.
#[derive(Debug, Parser)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
struct LedgerCli {
    #[command(flatten)]
    _global: Global,
    #[command(subcommand)]
    verb: LedgerVerb,
}

/// What a verb works with.
struct Context<'c, 'k> {
    shape: &'c Shape<'k>,
    kinds: &'c Kinds<'c>,
    disk: &'c Disk,
    ui: &'c Ui,
}

/// Runs a verb of the ledger `name`.
pub(super) fn run(name: Option<&str>, args: &[OsString], global: &Global, ui: &Ui) -> Result<Outcome, CommandError> {
    let kinds = Kinds::find(global, ui);
    let Some(name) = name else {
        return if args.is_empty() { Err(usage(&kinds).into()) } else { help(&kinds, ui) };
    };
    if kinds.role(name) == Some(Role::Organ) {
        return organ::run(name, args, &kinds, ui);
    }
    let kind = kinds.open(name)?;
    let shape = Shape::new(&kind);
    let disk = Disk::from_env().map_err(|error| Fatal::WriteFailed.of(&error))?;
    let context = Context { shape: &shape, kinds: &kinds, disk: &disk, ui };
    let command = command(kind.declaration());
    let program = format!("host run {}", kind.declaration().name);
    let matches = command.try_get_matches_from(std::iter::once(program.into()).chain(args.iter().cloned()))?;
    dispatch(&context, &matches).map_err(|error| with_own_remedy(error, kind.declaration()))
}

fn dispatch(context: &Context<'_, '_>, matches: &ArgMatches) -> Result<Outcome, CommandError> {
    if let Some((verb, arguments)) = matches.subcommand()
        && let Some(declared) = context.shape.declaration().verbs.iter().find(|declared| declared.name == verb)
    {
        return verb::run(context, declared, arguments);
    }
    match LedgerCli::from_arg_matches(matches)?.verb {
        LedgerVerb::Init(args) => init::run(context, &args),
        LedgerVerb::Append(args) => append::run(context, &args),
        LedgerVerb::Reduce(args) => reduce::run(context, &args),
        LedgerVerb::Spool(args) => spool::run(context, &args),
        LedgerVerb::Show(args) => show::run(context, &args),
        LedgerVerb::History(args) => history::run(context, &args),
        LedgerVerb::Verify(args) => verify::run(context, &args),
    }
}

/// A reason that the kind declares is told with the kind's own remedy.
fn with_own_remedy(error: CommandError, kind: &KindDeclaration) -> CommandError {
    let CommandError::Fatal(fatal) = error else { return error };
    match kind.reasons.iter().find(|reason| reason.code == fatal.code) {
        Some(reason) => CommandError::Own { error: fatal, remedy: reason.remedy.clone() },
        None => CommandError::Fatal(fatal),
    }
}

/// The verbs of the host and of the kind, with their help.
fn command(kind: &KindDeclaration) -> clap::Command {
    let own = kind.verbs.iter().map(verb::command);
    LedgerCli::command()
        .name(format!("host run {}", kind.name))
        .bin_name(format!("host run {}", kind.name))
        .about(kind.description.clone())
        .version(kind.version.clone())
        .subcommands(own)
}

/// `host run --help`: the flags, and which ledgers there are.
fn help(kinds: &Kinds<'_>, ui: &Ui) -> Result<Outcome, CommandError> {
    ui.page(&run_command().after_long_help(found(kinds)).render_long_help().ansi().to_string())?;
    Ok(Outcome::OK)
}

/// `host run` without a name.
fn usage(kinds: &Kinds<'_>) -> clap::Error {
    let message = format!("name a ledger and a verb, or an organ\n\n{}", found(kinds));
    run_command().error(clap::error::ErrorKind::MissingRequiredArgument, message)
}

/// `run` as a command of its own, its usage still that of the whole.
fn run_command() -> clap::Command {
    let mut cli = Cli::command();
    cli.build();
    cli.find_subcommand("run").cloned().unwrap_or(cli)
}

/// Which ledgers can be run, as far as manifests tell, and how to go on.
fn found(kinds: &Kinds<'_>) -> String {
    let (names, organs) = (kinds.names(), kinds.served(Role::Organ));
    if names.is_empty() && organs.is_empty() {
        let folders =
            kinds.registry().searched().iter().map(|searched| format!("  {}\n", searched.folder.path.display()));
        let folders: String = folders.collect();
        return format!("No ledger and no organ was found. Searched, and more with --plugin-dir:\n{folders}");
    }
    let list = |names: Vec<&str>| names.iter().map(|name| format!("  {name}\n")).collect::<String>();
    let mut text = String::new();
    if !names.is_empty() {
        text.push_str(&format!("Ledgers found:\n{}\n", list(names)));
    }
    if !organs.is_empty() {
        text.push_str(&format!("Organs found:\n{}\n", list(organs)));
    }
    text + "Verbs of one: host run <name> --help\nFlags of one: host run <name> <verb> --help\n"
}
