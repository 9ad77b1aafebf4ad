//! `host plugin verify`: compares what was added with its pins.

use plugin_api::Value;
use plugin_api::rules::text::printable;

use crate::cli::args::Global;
use crate::cli::outcome::{CommandError, Outcome};
use crate::cli::ui::Ui;
use crate::plugins::installed::{Compared, compare};
use crate::reasons::Fatal;

/// Runs it.
pub(super) fn run(name: Option<&str>, global: &Global, json: bool, ui: &Ui) -> Result<Outcome, CommandError> {
    let folder = super::user_folder(global)?;
    let compared = compare(&folder, name).map_err(|error| error.code().of(&error))?;
    if json {
        ui.json(&Value::List(compared.iter().map(value).collect()))?;
    } else if compared.is_empty() {
        ui.data("No plugin was added.\n")?;
    } else {
        ui.data(&compared.iter().map(line).collect::<String>())?;
    }
    let faults: Vec<&str> = compared.iter().filter(|one| one.fault.is_some()).flat_map(names).collect();
    if faults.is_empty() {
        return Ok(Outcome::OK);
    }
    Err(Fatal::PluginAltered.with(format!("{} under {}", faults.join(", "), folder.display())).into())
}

fn names(compared: &Compared) -> impl Iterator<Item = &str> {
    compared.pin.names.iter().map(String::as_str)
}

fn line(compared: &Compared) -> String {
    let names = printable(&compared.pin.names.join(", ")).into_owned();
    let file = compared.file.to_string_lossy();
    match &compared.fault {
        None => format!("ok   {names} {}\n", printable(&file)),
        Some(fault) => format!("BAD  {names} {}: {}\n", printable(&file), printable(&fault.to_string())),
    }
}

fn value(compared: &Compared) -> Value<'static> {
    Value::object([
        ("names", Value::List(names(compared).map(Value::string).collect())),
        ("path", Value::string(compared.file.to_string_lossy())),
        ("sha256", Value::string(compared.pin.sha256.to_string())),
        ("ok", Value::Bool(compared.fault.is_none())),
        ("fault", compared.fault.as_ref().map_or(Value::Null, |fault| Value::string(fault.to_string()))),
    ])
}
