//! `host plugin info`: what a file says of itself, its digest, and whether it fits.

use std::path::{Path, PathBuf};

use plugin_api::Value;
use plugin_api::rules::text::printable;

use super::list::pin_word;
use crate::cli::args::Global;
use crate::cli::kinds;
use crate::cli::outcome::{CommandError, Outcome};
use crate::cli::ui::Ui;
use crate::ledger::fatal::FatalError;
use crate::plugins::compat::{self, Built};
use crate::plugins::facts::{Facts, facts};
use crate::plugins::library::Library;
use crate::plugins::manifest::Manifest;
use crate::plugins::pins::Fingerprint;
use crate::plugins::{Registry, Standing};
use crate::reasons::Fatal;

/// Runs it. A plugin that does not fit is shown all the same, then refused.
pub(super) fn run(plugin: &str, global: &Global, json: bool, ui: &Ui) -> Result<Outcome, CommandError> {
    let registry = kinds::registry(global);
    let file = file_of(plugin, &registry)?;
    let library = Library::read(&file).map_err(|error| error.code().of(&error))?;
    let manifest = &library.inspected.manifest;
    let facts = facts(&library.bytes, &manifest.symbol)
        .map_err(|error| Fatal::PluginUnreadable.with(format!("{}: {error}", file.display())))?;
    let verdict = compat::fits(manifest);
    let words = verdict.as_ref().map_or_else(ToString::to_string, |()| fits_words(manifest));
    let standing = registry.entries().iter().find(|entry| entry.file == file).map(|entry| &entry.standing);
    let shown = Shown { library: &library, facts: &facts, pin: pin_words(standing, &library.sha256), verdict: &words };
    if json {
        ui.json(&Value::object(shown.lines()))?;
    } else {
        ui.data(&text(&shown.lines()))?;
    }
    match verdict {
        Ok(()) => Ok(Outcome::OK),
        Err(why) => {
            Err(Fatal::PluginIncompatible.with(format!("{}: {why} ({})", file.display(), Built::of(manifest))).into())
        }
    }
}

/// The file that is meant. No name of a kind has a dot or a separator.
fn file_of(plugin: &str, registry: &Registry) -> Result<PathBuf, FatalError> {
    let given = Path::new(plugin);
    if plugin.contains('.') || given.components().count() > 1 {
        return Ok(given.canonicalize().unwrap_or_else(|_| given.to_owned()));
    }
    match registry.claimant(plugin) {
        Ok(claimant) => Ok(claimant.entry.file.clone()),
        Err(error) => Err(error.code().of(&error)),
    }
}

fn fits_words(manifest: &Manifest) -> String {
    format!("fits: built for contract {}, this host speaks {}", manifest.contract, plugin_api::contract::VERSION)
}

/// Here the bytes are read anyway, so the pin is compared.
fn pin_words(standing: Option<&Standing>, found: &Fingerprint) -> String {
    match standing {
        Some(Standing::Pinned(pin, _)) if pin.sha256 == *found => "pinned, and the SHA-256 is that of the pin".into(),
        Some(Standing::Pinned(pin, _)) => format!("altered: pinned is SHA-256 {}", pin.sha256),
        Some(other) => pin_word(other).to_owned(),
        None => "unpinned".to_owned(),
    }
}

struct Shown<'s> {
    library: &'s Library,
    facts: &'s Facts,
    pin: String,
    verdict: &'s str,
}

impl Shown<'_> {
    /// Keys as in the manifest, in the order in which they are read.
    fn lines(&self) -> Vec<(&'static str, Value<'_>)> {
        let (library, facts) = (self.library, self.facts);
        let manifest = &library.inspected.manifest;
        let list = |texts: &[String]| Value::List(texts.iter().map(|text| Value::string(text.as_str())).collect());
        vec![
            ("file", Value::string(library.file.to_string_lossy())),
            ("size", Value::integer(library.size())),
            ("sha256", Value::string(library.sha256.to_string())),
            ("pin", Value::from(self.pin.as_str())),
            ("role", Value::string(manifest.role().to_string())),
            ("names", list(manifest.names())),
            ("package", Value::from(manifest.package.as_str())),
            ("version", Value::from(manifest.version.as_str())),
            ("contract", Value::from(manifest.contract.as_str())),
            ("abi", Value::from(manifest.abi.as_str())),
            ("compiler", Value::from(manifest.rustc.as_str())),
            ("target", Value::from(manifest.target.as_str())),
            ("profile", Value::from(manifest.profile.as_str())),
            ("panic", Value::from(manifest.panic.as_str())),
            ("symbol", Value::from(manifest.symbol.as_str())),
            ("symbol_exported", Value::Bool(facts.exports_root)),
            ("format", Value::from(facts.format.as_str())),
            ("machine", Value::from(facts.machine.as_str())),
            ("needed", list(&facts.needed)),
            ("build_id", facts.build_id.as_deref().map_or(Value::Null, Value::from)),
            ("debug_info", Value::Bool(facts.debug_info)),
            ("static_tls", Value::Bool(library.inspected.static_tls)),
            ("verdict", Value::from(self.verdict)),
        ]
    }
}

/// One fact a line.
fn text(lines: &[(&str, Value<'_>)]) -> String {
    let line = |(key, value): &(&str, Value<'_>)| {
        let words = match value {
            Value::Text(text) => text.to_string(),
            Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
            Value::List(items) => items.iter().filter_map(Value::as_text).collect::<Vec<_>>().join(", "),
            Value::Integer(number) => number.to_string(),
            Value::Null | Value::BigInteger(_) | Value::Float(_) | Value::Object(_) => "-".to_owned(),
        };
        format!("{:<16} {}\n", key.replace('_', " "), printable(&words))
    };
    lines.iter().map(line).collect()
}
