//! One ledger of a world: its verbs and the files they leave.

use serde_json::Value;

use crate::journal::Export;
use crate::out::Out;
use crate::process::HostCommand;
use crate::world::World;

/// A ledger of a [`World`].
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'world> {
    world: &'world World,
    name: &'static str,
}

impl<'world> Ledger<'world> {
    pub(crate) fn new(world: &'world World, name: &'static str) -> Self {
        Self { world, name }
    }

    /// A verb in this world's state directory and at its time, not yet started.
    #[must_use]
    pub fn command<A: AsRef<str>>(&self, verb: &str, arguments: impl IntoIterator<Item = A>) -> HostCommand {
        self.world.verb(self.name, verb).args(arguments)
    }

    /// Runs a verb in this world's state directory and at its time.
    #[track_caller]
    pub fn run<A: AsRef<str>>(&self, verb: &str, arguments: impl IntoIterator<Item = A>) -> Out {
        self.command(verb, arguments).run()
    }

    /// Writes `export` to a file and folds it.
    #[track_caller]
    pub fn fold(&self, export: &Export) -> Out {
        self.fold_with(export, [""; 0])
    }

    /// Writes `export` to a file and folds it with more flags.
    #[track_caller]
    pub fn fold_with<A: AsRef<str>>(&self, export: &Export, flags: impl IntoIterator<Item = A>) -> Out {
        self.fold_command(export).args(flags).run()
    }

    /// Writes `export` to a file; the command that folds it.
    #[must_use]
    #[track_caller]
    pub fn fold_command(&self, export: &Export) -> HostCommand {
        let path = self.world.write("export.json", export.text());
        self.command("reduce", ["--events", &path])
    }

    /// `<state>/<ledger>/<name>` relative to the world.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        format!("state/{}/{name}", self.name)
    }

    /// The path of `<state>/<ledger>/<name>`.
    #[must_use]
    pub fn path(&self, name: &str) -> String {
        self.world.path(&self.file(name))
    }

    /// The snapshot as it stands.
    #[must_use]
    #[track_caller]
    pub fn snapshot(&self) -> Value {
        self.world.read_json(&self.file("snapshots/snapshot.json"))
    }

    /// The summary as it stands.
    #[must_use]
    #[track_caller]
    pub fn summary(&self) -> Value {
        self.world.read_json(&self.file("snapshots/summary.json"))
    }

    /// The status text as it stands.
    #[must_use]
    #[track_caller]
    pub fn status(&self) -> String {
        self.world.read(&self.file("snapshots/status.md"))
    }

    /// What the host adds to the three artifacts.
    #[must_use]
    #[track_caller]
    pub fn fold_json(&self) -> Value {
        self.world.read_json(&self.file("snapshots/fold.json"))
    }

    /// The row with this key.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    #[track_caller]
    pub fn row(&self, key: &str) -> Value {
        let snapshot = self.snapshot();
        let mut rows = snapshot["rows"].as_array().into_iter().flatten();
        rows.find(|row| row["key"] == key).cloned().unwrap_or_else(|| panic!("no row {key}"))
    }

    /// Keys of all rows, in order.
    #[must_use]
    #[track_caller]
    pub fn keys(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let rows = snapshot["rows"].as_array().into_iter().flatten();
        rows.map(|row| row["key"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// `(source, reason)` of each rejection of the last fold, in order.
    #[must_use]
    #[track_caller]
    pub fn rejections(&self) -> Vec<(String, String)> {
        let snapshot = self.snapshot();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rejections = snapshot["rejections"].as_array().into_iter().flatten();
        rejections.map(|rejection| (text(&rejection["source"]), text(&rejection["reason"]))).collect()
    }

    /// Reasons of the rejections of the last fold, in order.
    #[must_use]
    #[track_caller]
    pub fn reasons(&self) -> Vec<String> {
        self.rejections().into_iter().map(|(_, reason)| reason).collect()
    }
}
