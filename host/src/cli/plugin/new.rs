//! `host plugin new`: a plugin crate to start from.

use std::path::Path;

use plugin_api::rules::text::printable;

use crate::cli::outcome::{CommandError, Outcome};
use crate::cli::ui::Ui;
use crate::plugins::pins::Role;
use crate::plugins::scaffold::{NewError, library_name, write};
use crate::reasons::Fatal;
use crate::store::{Guard, GuardError};

/// Writes the crate `name` into a folder of that name below `folder`.
pub(super) fn run(role: Role, name: &str, folder: &Path, ui: &Ui) -> Result<Outcome, CommandError> {
    let target = folder.join(name);
    // Sources belong into a repository; what machines share is no place for them either.
    match Guard::from_env().check(&target) {
        Ok(_) | Err(GuardError::Repository(_)) => {}
        Err(error) => return Err(error.code().of(&error).into()),
    }
    write(&target, role, name).map_err(|error| {
        let code = match error {
            NewError::Name { .. } => Fatal::MissingInput,
            NewError::Exists(_) | NewError::Write { .. } => Fatal::WriteFailed,
            NewError::Contract(_) => Fatal::PluginFailed,
        };
        code.of(&error)
    })?;
    let library = library_name(name);
    ui.data(&printable_lines(&format!(
        "NEW {role} {name} in {}\n\nNext:\n  cd {}\n  cargo test\n  cargo build --release\n  host plugin test target/release/{library}\n  host plugin add target/release/{library}\n",
        target.display(),
        target.display(),
    )))?;
    Ok(Outcome::OK)
}

fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line).into_owned() + "\n").collect()
}
