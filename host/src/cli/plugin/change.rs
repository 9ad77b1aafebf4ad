//! `host plugin add` and `host plugin remove`.

use std::path::Path;

use plugin_api::rules::text::printable;

use crate::cli::args::Global;
use crate::cli::outcome::{CommandError, Outcome};
use crate::cli::ui::Ui;
use crate::clock;
use crate::ledger::fatal::FatalError;
use crate::plugins::installed::{InstallError, Installed, Taken};
use crate::plugins::pins::Pin;
use crate::reasons::Fatal;
use crate::store::{Disk, Guard};

/// Adds a plugin.
pub(super) fn add(file: &Path, taken: Taken, global: &Global, ui: &Ui) -> Result<Outcome, CommandError> {
    let added = installed(global)?.add(file, taken, &clock::now).map_err(|error| refused(&error))?;
    let copy = added.file.to_string_lossy();
    let mut text =
        format!("ADDED {}\n  sha256 {}\n  copy   {}\n", named(&added.pin), added.pin.sha256, printable(&copy));
    for pin in &added.replaced {
        text.push_str(&format!("REPLACED {}\n  sha256 {}\n", named(pin), pin.sha256));
    }
    ui.data(&text)?;
    warn_of_left(&added.left, ui);
    Ok(Outcome::OK)
}

/// Removes a plugin that was added.
pub(super) fn remove(name: &str, global: &Global, ui: &Ui) -> Result<Outcome, CommandError> {
    let removed = installed(global)?.remove(name, &clock::now).map_err(|error| refused(&error))?;
    ui.data(&format!("REMOVED {}\n  sha256 {}\n", named(&removed.pin), removed.pin.sha256))?;
    warn_of_left(&removed.left, ui);
    Ok(Outcome::OK)
}

fn installed(global: &Global) -> Result<Installed, FatalError> {
    let folder = super::user_folder(global)?;
    let disk = Disk::from_env().map_err(|error| Fatal::WriteFailed.of(&error))?;
    Installed::open(disk, &Guard::from_env(), &folder).map_err(|error| error.code().of(&error))
}

fn refused(error: &InstallError) -> FatalError {
    error.code().of(error)
}

fn named(pin: &Pin) -> String {
    let text = format!("{} ({} {}, contract {})", pin.names.join(", "), pin.package, pin.version, pin.contract);
    printable(&text).into_owned()
}

fn warn_of_left(left: &[String], ui: &Ui) {
    let warnings: Vec<String> = left.iter().map(|why| format!("plugin_copy_left: {why}")).collect();
    ui.warn(&warnings);
}
