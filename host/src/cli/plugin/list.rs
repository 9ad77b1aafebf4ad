//! `host plugin list`: a row for each name of each plugin file.

use comfy_table::{ContentArrangement, Table, presets};
use plugin_api::Value;
use plugin_api::rules::text::printable;

use crate::cli::args::Global;
use crate::cli::kinds;
use crate::cli::outcome::{CommandError, Outcome};
use crate::cli::ui::Ui;
use crate::plugins::pins::Role;
use crate::plugins::{Claim, Entry, Registry, Served, Standing, State, StoreCopy};

/// What stands where nothing is known.
const UNKNOWN: &str = "-";
/// End of the page: listing stays quick, so it believes what it has not read.
const NOT_HASHED: &str = "Nothing was hashed and no plugin code was run; `host plugin verify` compares the pins.\n";

/// Runs it.
pub(super) fn run(global: &Global, json: bool, ui: &Ui) -> Result<Outcome, CommandError> {
    let registry = kinds::registry(global);
    let rows: Vec<Row<'_>> = registry.entries().iter().flat_map(Row::of).collect();
    if json {
        let list = Value::List(rows.iter().map(Row::value).collect());
        ui.json(&Value::object([("hashed", Value::Bool(false)), ("plugins", list)]))?;
    } else {
        ui.data(&page(&rows, &registry))?;
    }
    ui.warn(&warnings(&registry));
    Ok(Outcome::OK)
}

/// What the list may lack: folders that cannot be read, and a lock file that cannot.
fn warnings(registry: &Registry) -> Vec<String> {
    let folders = registry.searched().iter().filter_map(|searched| {
        let error = searched.unreadable.as_ref().filter(|error| error.kind() != std::io::ErrorKind::NotFound)?;
        Some(format!("plugin_folder_unreadable: {}: {error}", searched.folder.path.display()))
    });
    let pins = registry.broken_pins().map(|error| format!("plugin_pins_unreadable: {error}"));
    folders.chain(pins).collect()
}

/// A name of a file; a file without names has one row too.
struct Row<'e> {
    entry: &'e Entry,
    served: Option<&'e Served>,
}

impl<'e> Row<'e> {
    fn of(entry: &'e Entry) -> Vec<Self> {
        if entry.names.is_empty() {
            return vec![Self { entry, served: None }];
        }
        entry.names.iter().map(|served| Self { entry, served: Some(served) }).collect()
    }

    fn name(&self) -> &'e str {
        self.served.map_or(UNKNOWN, |served| &served.name)
    }

    fn role(&self) -> Option<Role> {
        self.served.and_then(|_| self.entry.role())
    }

    /// Version, contract and compiler: of the file, else of its pin.
    fn built(&self) -> [&'e str; 3] {
        match (self.entry.state.inspected(), &self.entry.standing) {
            (Some(inspected), _) => {
                let manifest = &inspected.manifest;
                [&manifest.version, &manifest.contract, &manifest.rustc]
            }
            (None, Standing::Pinned(pin, _)) => [&pin.version, &pin.contract, UNKNOWN],
            (None, Standing::AsTheBinary | Standing::Unpinned) => [UNKNOWN; 3],
        }
    }

    fn value(&self) -> Value<'static> {
        let [version, contract, compiler] = self.built();
        let known = |text: &str| if text == UNKNOWN { Value::Null } else { Value::string(text) };
        Value::object([
            ("role", self.role().map_or(Value::Null, |role| Value::string(role.to_string()))),
            ("name", known(self.name())),
            ("version", known(version)),
            ("contract", known(contract)),
            ("compiler", known(compiler)),
            ("path", Value::string(self.entry.file.to_string_lossy())),
            ("pin", Value::string(pin_word(&self.entry.standing))),
            ("state", Value::string(state_words(self.entry, self.served))),
        ])
    }
}

/// What is known of the pin without hashing.
pub(super) fn pin_word(standing: &Standing) -> &'static str {
    match standing {
        Standing::AsTheBinary => "trusted",
        Standing::Pinned(_, StoreCopy::SameSize) => "pinned",
        Standing::Pinned(_, StoreCopy::OtherSize) => "altered",
        Standing::Pinned(_, StoreCopy::Missing) => "missing",
        Standing::Unpinned => "unpinned",
    }
}

/// Whether a name can be used, and if not, why.
fn state_words(entry: &Entry, served: Option<&Served>) -> String {
    let claim = served.map_or(&Claim::Holds, |served| &served.claim);
    match (&entry.state, claim) {
        (State::Broken(error), _) => format!("broken: {error}"),
        (State::Incompatible(_, why), _) => format!("incompatible: {why}"),
        (State::Fits(_), Claim::Shadowed(by)) => format!("shadowed by {}", by.display()),
        (State::Fits(_), Claim::Ambiguous(with)) => format!("ambiguous with {}", with.display()),
        (State::Fits(_), Claim::Holds) => "ok".to_owned(),
    }
}

fn page(rows: &[Row<'_>], registry: &Registry) -> String {
    if rows.is_empty() {
        let folders = registry.searched().iter().map(|searched| format!("  {}\n", searched.folder.path.display()));
        return format!("No plugin was found. Searched, and more with --plugin-dir:\n{}", folders.collect::<String>());
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["role", "name", "version", "contract", "compiler", "pin", "path", "state"]);
    for row in rows {
        let [version, contract, compiler] = row.built();
        let role = row.role().map_or_else(|| UNKNOWN.to_owned(), |role| role.to_string());
        let state = state_words(row.entry, row.served);
        let file = row.entry.file.to_string_lossy();
        let cells =
            [&role, row.name(), version, contract, short(compiler), pin_word(&row.entry.standing), &file, &state];
        table.add_row(cells.map(|cell| printable(cell).into_owned()));
    }
    let mut page: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    page.push_str(NOT_HASHED);
    page
}

/// A compiler without its commit: `rustc 1.95.0`.
fn short(compiler: &str) -> &str {
    compiler.split_once(" (").map_or(compiler, |(name, _)| name)
}
