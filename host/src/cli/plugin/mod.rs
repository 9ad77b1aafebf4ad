//! `host plugin`: what the operator does about plugins. Only `test` runs a plugin's code.

mod change;
mod info;
mod list;
mod new;
mod test;
mod verify;

use std::path::PathBuf;

use super::args::{Global, PluginVerb};
use super::outcome::{CommandError, Outcome};
use super::ui::Ui;
use crate::ledger::fatal::FatalError;
use crate::plugins::SearchPath;
use crate::plugins::installed::Taken;
use crate::reasons::Fatal;

/// Runs a verb.
pub(super) fn run(verb: PluginVerb, global: &Global, ui: &Ui) -> Result<Outcome, CommandError> {
    match verb {
        PluginVerb::List { json } => list::run(global, json, ui),
        PluginVerb::Info { plugin, json } => info::run(&plugin, global, json, ui),
        PluginVerb::Add { file, replace } => {
            change::add(&file, if replace { Taken::Replace } else { Taken::Refuse }, global, ui)
        }
        PluginVerb::Remove { name } => change::remove(&name, global, ui),
        PluginVerb::New { role, name, dir } => new::run(role.into(), &name, &dir, ui),
        PluginVerb::Test { file, name, check, json } => {
            test::run(&file, name.as_deref().zip(check.as_deref()), json, ui)
        }
        PluginVerb::Verify { name, json } => verify::run(name.as_deref(), global, json, ui),
    }
}

/// The folder of the plugins that were added.
fn user_folder(global: &Global) -> Result<PathBuf, FatalError> {
    let path = SearchPath::of_process(&global.plugin_dir);
    let missing = || Fatal::MissingInput.with("there is no data directory: set HOME or XDG_DATA_HOME");
    path.user().map(PathBuf::from).ok_or_else(missing)
}
