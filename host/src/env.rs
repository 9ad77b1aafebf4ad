//! Names of the environment variables that the host reads, and the one place that reads them.
//!
//! An empty variable counts as unset (L 10.2).

use std::ffi::OsString;

/// Folder that machines share. Every output path at or below it is refused.
pub const SHARED_PATH: &str = "ROOSYNC_SHARED_PATH";
/// State directory of the ledgers, below `--state-dir` in precedence.
pub const LEDGER_STATE_DIR: &str = "COURSIA_LEDGER_STATE_DIR";
/// Default of `append --actor`.
pub const LEDGER_ACTOR: &str = "COURSIA_LEDGER_ACTOR";
/// Folder of the host's own state, below `--state-dir` in precedence.
pub const STATE_DIR: &str = "HOST_STATE_DIR";
/// State base on Windows.
pub const LOCAL_APP_DATA: &str = "LOCALAPPDATA";
/// State base of the XDG rules.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// Data base of the XDG rules: plugins of the user.
pub const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
/// Home folder.
pub const HOME: &str = "HOME";
/// Folders to search for plugins, below `--plugin-dir` in precedence; separated like `PATH`.
pub const PLUGIN_DIR: &str = "HOST_PLUGIN_DIR";
/// Which logs are printed, in the words of tracing-subscriber; wins over `-v`.
pub const RUST_LOG: &str = "RUST_LOG";
/// Set and not empty: no colour.
pub const NO_COLOR: &str = "NO_COLOR";
/// Fault points, e.g. `rename:2:kill`; read only in builds with the `faults` feature.
pub const FAULTS: &str = "HOST_FAULTS";

/// The value of a variable, `None` when unset or empty.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn get(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
