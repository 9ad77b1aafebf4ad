//! A folder with chosen plugins, and a log that everything is written to.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use host::plugins::{Folder, LoadedKind, Origin, PluginError, Registry, SearchPath, Trust, Unpinned, open_kind};
use plugin_api::contract;
use tempfile::TempDir;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use crate::build;
use crate::contracts::{next_major, next_minor};

/// A folder of plugins that goes with the test.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    /// The folder with these test plugins, freshly built.
    pub(crate) fn with(plugins: &[&str]) -> Self {
        lines();
        let world = Self { folder: TempDir::new().expect("a temporary folder") };
        for plugin in plugins {
            world.add(&build::plugin(plugin), &file_name(plugin));
        }
        world
    }

    /// Copies a library into the folder.
    pub(crate) fn add(&self, library: &Path, name: &str) -> PathBuf {
        let file = self.path().join(name);
        fs::copy(library, &file).expect("copied");
        file
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let file = self.path().join(name);
        #[expect(clippy::disallowed_methods, reason = "a fake library, not a file of the host")]
        fs::write(&file, bytes).expect("written");
        file
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What is found in the folder.
    pub(crate) fn registry(&self) -> Registry {
        Registry::discover(&search(&[self.path()]))
    }

    /// Opens a kind.
    pub(crate) fn open(&self, name: &str) -> Result<LoadedKind, PluginError> {
        open_kind(&self.registry(), name, Unpinned::Allow).map(|opened| opened.kind)
    }

    /// Opens a kind that must be fine.
    #[track_caller]
    pub(crate) fn kind(&self, name: &str) -> LoadedKind {
        self.open(name).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A text without what differs between machines and versions.
pub(crate) fn redacted(text: &str, world: &World) -> String {
    let folder = world.path().to_str().expect("UTF-8");
    text.replace(folder, "$DIR")
        .replace(contract::RUSTC, "$RUSTC")
        .replace(&next_major().to_string(), "$MAJOR")
        .replace(&next_minor().to_string(), "$NEWER")
        .replace(contract::VERSION, "$HOST")
}

/// Name of a plugin's library.
pub(crate) fn file_name(plugin: &str) -> String {
    format!("{}test_plugin_{plugin}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// A search path of these folders.
pub(crate) fn search(folders: &[&Path]) -> SearchPath {
    let folder = |path: &&Path| Folder { path: (*path).to_owned(), origin: Origin::Flag, trust: Trust::Word };
    SearchPath { folders: folders.iter().map(folder).collect() }
}

/// Everything logged so far by any test of this process, a line for each event: level, target, fields in order.
pub(crate) fn lines() -> Vec<String> {
    static LINES: OnceLock<&'static Mutex<Vec<String>>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let lines: &'static Mutex<Vec<String>> = Box::leak(Box::default());
        let filter = tracing_subscriber::filter::LevelFilter::DEBUG;
        let subscriber = tracing_subscriber::registry().with(Capture(lines)).with(filter);
        tracing::subscriber::set_global_default(subscriber).expect("the only subscriber of this process");
        lines
    });
    lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

struct Capture(&'static Mutex<Vec<String>>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Capture {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut line = Line(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut line);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.0);
    }
}

struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, " {field}={value}");
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}
