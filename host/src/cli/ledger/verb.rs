//! A verb that the kind declares: the host parses and reads, the kind answers (DECISIONS 6.1).

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches};
use plugin_api::json::{Layout, text};
use plugin_api::rules::text::printable;
use plugin_api::{VerbAnswer, VerbArgument, VerbArgumentType, VerbCall, VerbDeclaration};

use super::Context;
use super::read::{self, Snapshot};
use crate::cli::args::{PlaceArgs, SnapshotArgs};
use crate::cli::outcome::{CommandError, Outcome};
use crate::clock;
use crate::ledger::fatal::FatalError;
use crate::ledger::reduce::now;
use crate::ledger::view::View;

/// The verb as a command: its own arguments, and the host's.
pub(super) fn command(declared: &VerbDeclaration) -> clap::Command {
    let own = declared.arguments.iter().map(|argument| {
        let arg = Arg::new(argument.name.clone()).long(argument.name.clone()).help(argument.help.clone());
        match argument.kind {
            VerbArgumentType::Text => {
                arg.value_name("TEXT").required(argument.required).allow_hyphen_values(true).action(ArgAction::Set)
            }
            VerbArgumentType::Flag => arg.action(ArgAction::SetTrue),
        }
    });
    let path = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).value_parser(clap::value_parser!(PathBuf))
    };
    let now = Arg::new("now").long("now").value_name("TIME").help("Take this UTC time for the present");
    let exit_codes = declared.exit_codes.join("\n  ");
    clap::Command::new(declared.name.clone())
        .aliases(declared.aliases.clone())
        .about(declared.help.clone())
        .after_help(if exit_codes.is_empty() { String::new() } else { format!("Exit codes:\n  {exit_codes}") })
        .args(own)
        .arg(path("state-dir", "DIR", "Folder of all ledgers' state"))
        .arg(path("snapshot", "FILE", "The snapshot [default: snapshots/snapshot.json of the ledger]"))
        .arg(now.allow_hyphen_values(true))
        .arg(Arg::new("json").long("json").help("Print one line of JSON").action(ArgAction::SetTrue))
}

/// Runs it.
pub(super) fn run(
    context: &Context<'_, '_>,
    declared: &VerbDeclaration,
    given: &ArgMatches,
) -> Result<Outcome, CommandError> {
    let path = |name: &str| given.get_one::<PathBuf>(name).cloned();
    let from = SnapshotArgs { snapshot: path("snapshot"), place: PlaceArgs { state_dir: path("state-dir") } };
    let now = now(given.get_one::<String>("now").map(String::as_str), &clock::now)?;
    let snapshot = Snapshot::find(context, &from)?;
    let loaded = snapshot.as_ref().map(|snapshot| read::rows(context, snapshot, &from, now)).transpose()?;
    let view = loaded.as_ref().map(|loaded| View::new(&loaded.rows, context.shape));
    let rows = view.as_ref().map(View::rows);
    let call = VerbCall { verb: &declared.name, arguments: arguments(declared, given), rows: rows.as_deref(), now };
    match context.shape.kind().verb(&call).map_err(FatalError::from)? {
        VerbAnswer::Answer { exit, text: shown, json } => {
            let line = if given.get_flag("json") { text(&json, Layout::Spaced) } else { printable_lines(&shown) };
            context.ui.data(&format!("{line}\n"))?;
            Ok(Outcome(exit))
        }
        VerbAnswer::Refused { exit, refusal } => Err(CommandError::Verb { exit, error: refusal.into() }),
    }
}

fn arguments(declared: &VerbDeclaration, given: &ArgMatches) -> BTreeMap<String, String> {
    let value = |argument: &VerbArgument| match argument.kind {
        VerbArgumentType::Text => given.get_one::<String>(&argument.name).cloned(),
        VerbArgumentType::Flag => given.get_flag(&argument.name).then(String::new),
    };
    declared.arguments.iter().filter_map(|argument| Some((argument.name.clone(), value(argument)?))).collect()
}

/// The kind's text with its own line feeds, every other control character shown by its number.
fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}
