//! The sealed world of one test: a temporary folder, a fixed time, an empty environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::ledger::Ledger;
use crate::out::Out;
use crate::process::HostCommand;
use crate::tree::tree;

/// A folder of its own with `home/` and `work/` (the current folder), and `state/`, which only the host creates.
///
/// Paths are texts: the folder's name is ASCII, and a test puts them straight into arguments.
#[derive(Debug)]
pub struct World {
    folder: TempDir,
    now: String,
}

impl World {
    /// A new world in which it is midnight of 1 October 2026, UTC.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        Self::at("2026-10-01T00:00:00Z")
    }

    /// A new world at another time.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    #[must_use]
    #[track_caller]
    pub fn at(now: &str) -> Self {
        let made = tempfile::Builder::new().prefix("host-tests-").tempdir();
        let folder = made.unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let world = Self { folder, now: now.to_owned() };
        world.folder("home");
        world.folder("work");
        world
    }

    /// The same world at another time.
    #[must_use]
    pub fn later(mut self, now: &str) -> Self {
        now.clone_into(&mut self.now);
        self
    }

    /// The path of `name` in this world; `""` is the world's own folder.
    #[must_use]
    pub fn path(&self, name: &str) -> String {
        let root = self.folder.path().canonicalize().unwrap_or_else(|_| self.folder.path().to_owned());
        if name.is_empty() { root } else { root.join(name) }.to_string_lossy().into_owned()
    }

    /// The state directory, which the host creates when it must.
    #[must_use]
    pub fn state(&self) -> String {
        self.path("state")
    }

    /// Makes a folder and gives its path.
    ///
    /// # Panics
    /// When it cannot be made.
    #[track_caller]
    pub fn folder(&self, name: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        path
    }

    /// Writes a file, with its folders, and gives its path.
    ///
    /// # Panics
    /// When it cannot be written.
    #[track_caller]
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        if let Some(parent) = Path::new(&path).parent() {
            fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        fs::write(&path, content).unwrap_or_else(|error| panic!("{path}: {error}"));
        path
    }

    /// Reads a file as text.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Reads a file as JSON.
    ///
    /// # Panics
    /// When it cannot be read or is no JSON.
    #[must_use]
    #[track_caller]
    pub fn read_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The files of the state directory with their bytes, for comparing. Whoever took a lock leaves a note in its file:
    /// the content of lock files says nothing (D7).
    #[must_use]
    pub fn stored(&self) -> BTreeMap<String, Vec<u8>> {
        let files = tree(self.state()).into_iter();
        files.map(|(name, bytes)| if name.ends_with(".lock") { (name, Vec::new()) } else { (name, bytes) }).collect()
    }

    /// The ledger of issues.
    #[must_use]
    pub fn debt(&self) -> Ledger<'_> {
        Ledger::new(self, "issue-debt")
    }

    /// The ledger of devices.
    #[must_use]
    pub fn gpu(&self) -> Ledger<'_> {
        Ledger::new(self, "gpu-reservation")
    }

    /// The host with exactly these arguments.
    #[track_caller]
    pub fn host<A: AsRef<str>>(&self, arguments: impl IntoIterator<Item = A>) -> Out {
        self.command(arguments).run()
    }

    /// The host with exactly these arguments, not yet started.
    #[must_use]
    pub fn command<A: AsRef<str>>(&self, arguments: impl IntoIterator<Item = A>) -> HostCommand {
        let environment = BTreeMap::from([("HOME".to_owned(), self.path("home"))]);
        HostCommand::new(Vec::new(), environment, self.path("work")).args(arguments)
    }

    /// `host run <ledger> <verb>` in this world's state directory and, where the verb asks for a time, at its time.
    #[must_use]
    pub(crate) fn verb(&self, ledger: &str, verb: &str) -> HostCommand {
        let command = self.command(["run", ledger, verb, "--state-dir", &self.state()]);
        if ["history", "verify"].contains(&verb) { command } else { command.args(["--now", &self.now]) }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}
