//! `host plugin`: what the operator does about plugins. Nothing here runs a plugin's code.

mod info;
mod list;

use super::args::{Global, PluginVerb};
use super::outcome::{CommandError, Outcome};
use super::ui::Ui;

/// Runs a verb.
pub(super) fn run(verb: PluginVerb, global: &Global, ui: &Ui) -> Result<Outcome, CommandError> {
    match verb {
        PluginVerb::List { json } => list::run(global, json, ui),
        PluginVerb::Info { plugin, json } => info::run(&plugin, global, json, ui),
    }
}
