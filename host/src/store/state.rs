//! The folder below which state of this machine and user lies.

use std::path::{Path, PathBuf};

use crate::env;

/// The folder of the host's own state: the flag, its variable, else the base folder of the system (DECISIONS 1.6).
/// `None` when there is no home folder either.
#[must_use]
pub fn state_folder(flag: Option<&Path>) -> Option<PathBuf> {
    flag.map(Path::to_owned).or_else(|| env::get(env::STATE_DIR).map(PathBuf::from)).or_else(state_base)
}

/// The base folder of the system: `LOCALAPPDATA`, `XDG_STATE_HOME`, `~/.local/state`.
#[must_use]
pub fn state_base() -> Option<PathBuf> {
    let base = env::get(env::LOCAL_APP_DATA).or_else(|| env::get(env::XDG_STATE_HOME)).map(PathBuf::from);
    base.or_else(|| std::env::home_dir().map(|home| home.join(".local").join("state")))
}
