//! Programs that the host runs for an organ: which it may, in which environment, and never through a shell.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `run` | a program from start to end |
//! | `kept` | programs that are kept and answer line by line |
//! | `child` | a started program: its end, and that of all it started |
//! | `drain` | what it prints, read as fast as it comes and kept up to a limit |

pub(super) mod child;
pub(super) mod drain;
mod kept;
pub(super) mod run;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use plugin_api::Failure;
use plugin_api::organ;

use super::{Outside, failure};
use kept::Handles;

/// Variables of the host that programs get: where programs are, whose they are, language, time zone, temporary files.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TMPDIR",
];
/// What programs need beside these on Windows.
#[cfg(windows)]
const OF_THE_SYSTEM: &[&str] = &["SystemRoot", "USERPROFILE", "PATHEXT", "TEMP", "TMP", "COMSPEC"];
#[cfg(not(windows))]
const OF_THE_SYSTEM: &[&str] = &[];

/// The programs of a session.
#[derive(Debug)]
pub(super) struct Programs {
    allowed: organ::Programs,
    environment: BTreeMap<String, String>,
    outside: Outside,
    /// Where the names in use were found; a name is looked for once.
    found: Mutex<BTreeMap<String, PathBuf>>,
    handles: Handles,
}

/// What is started.
struct Wanted {
    program: String,
    args: Vec<String>,
    folder: Option<String>,
    environment: BTreeMap<String, String>,
}

impl Programs {
    pub(super) fn new(allowed: organ::Programs, environment: BTreeMap<String, String>, outside: Outside) -> Self {
        Self { allowed, environment, outside, found: Mutex::default(), handles: Handles::default() }
    }

    /// Kills the programs that are kept.
    pub(super) fn end(&self) {
        self.handles.end();
    }

    /// A command that may be started, without its three streams.
    fn command(&self, wanted: &Wanted) -> Result<Command, Failure> {
        self.judge_environment(&wanted.environment)?;
        let mut command = plain(&self.path(&wanted.program)?, &self.outside);
        command.args(&wanted.args).envs(&self.environment).envs(&wanted.environment);
        if let Some(folder) = &wanted.folder {
            command.current_dir(folder);
        }
        Ok(command)
    }

    fn path(&self, program: &str) -> Result<PathBuf, Failure> {
        match &self.allowed {
            organ::Programs::Named(names) if is_bare(program) && names.iter().any(|name| name == program) => {}
            organ::Programs::Named(names) => {
                let remedy = "list its name under needs.programs of the declaration";
                return Err(failure::not_granted(format!("program {program:?}"), names, remedy));
            }
            organ::Programs::Any if Path::new(program).is_absolute() => return Ok(PathBuf::from(program)),
            organ::Programs::Any if is_bare(program) => {}
            organ::Programs::Any => {
                let text = format!("{program:?} is neither a name nor an absolute path; give one of these");
                return Err(Failure::new("program_not_found", text));
            }
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = found.get(program) {
            return Ok(path.clone());
        }
        let path = find(program, &self.outside)?;
        found.insert(program.to_owned(), path.clone());
        Ok(path)
    }

    /// An organ with a list of programs may not choose other code by a variable.
    fn judge_environment(&self, wanted: &BTreeMap<String, String>) -> Result<(), Failure> {
        let chooses_code = |name: &str| name == "PATH" || name.starts_with("LD_") || name.starts_with("DYLD_");
        for (name, value) in wanted {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(failure::invalid(format!("{name:?} cannot be set: it or its value is malformed")));
            }
            let is_free = matches!(self.allowed, organ::Programs::Any) || !chooses_code(name);
            if !is_free || name == child::MARKER {
                let listed = ["variables other than PATH, LD_* and HOST_PROGRAM".to_owned()];
                return Err(failure::not_granted(format!("setting the variable {name}"), &listed, "leave it out"));
            }
        }
        Ok(())
    }
}

/// A command whose environment holds nothing but what programs get of the host.
pub(super) fn plain(path: &Path, outside: &Outside) -> Command {
    let mut command = Command::new(path);
    command.env_clear();
    for name in INHERITED.iter().chain(OF_THE_SYSTEM) {
        if let Some(value) = (outside.variable)(name) {
            command.env(name, value);
        }
    }
    command
}

/// Where a program of this name is. Relative folders in `PATH` are passed over.
pub(super) fn find(name: &str, outside: &Outside) -> Result<PathBuf, Failure> {
    let path = (outside.variable)("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let names = spellings(name);
    let places = folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    places.into_iter().find(|place| is_program(place)).ok_or_else(|| {
        let text = format!("no program {name} in PATH ({}); install it", path.display());
        Failure::new("program_not_found", text)
    })
}

/// One plain name.
pub(super) fn is_bare(program: &str) -> bool {
    !program.contains(['/', '\\', '\0']) && Path::new(program).file_name() == Some(OsStr::new(program))
}

#[cfg(windows)]
fn spellings(name: &str) -> Vec<String> {
    vec![name.to_owned(), format!("{name}.exe"), format!("{name}.com")]
}

#[cfg(not(windows))]
fn spellings(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

fn unstartable(program: &str, error: &io::Error) -> Failure {
    let text = format!("{program} could not be started: {error}; check the file, its permissions and the folder");
    Failure::new("program_unstartable", text)
}

#[cfg(all(test, unix))]
mod tests;
