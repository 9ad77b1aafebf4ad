//! The services of one session: which question goes where.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plugin_api::Failure;
use plugin_api::organ::Needs;
use plugin_api::organ::services::{
    ClockNow, Done, FileList, FileRead, LockRelease, LockTake, Now, OutputWrite, ProgramClose, ProgramExchange,
    ProgramOpen, ProgramRun, Request, Sleep, StateGet, StatePut,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bounds::{self, Bounds};
use super::file::Files;
use super::lock::Locks;
use super::output::Outputs;
use super::program::Programs;
use super::state::States;
use super::{Asked, Outside, Services, failure};

/// Services of this host, by the names under which the handshake announces them.
pub const FEATURES: [&str; 9] = ["clock", "sleep", "cancel", "log", "program", "file", "output", "state", "lock"];

/// What one session is allowed.
#[derive(Clone, Debug)]
pub struct Grants {
    /// Name of the organ; its state is kept under it.
    pub organ: String,
    /// What its declaration lists.
    pub needs: Needs,
    /// Values of the declared variables that are set; its programs get them.
    pub environment: BTreeMap<String, String>,
    /// Files and folders that it may read.
    pub visible: Vec<PathBuf>,
    /// Files that it may write, and folders in which it may.
    pub outputs: Vec<PathBuf>,
    /// Folder for what organs keep, and for their locks: `<state>/host`.
    pub state: PathBuf,
    /// The tree that machines share, where nothing is written.
    pub shared: Option<PathBuf>,
}

/// The services of one session.
///
/// A question that waits (`sleep`) ends with its [`Cancel`](super::Cancel); one about programs and locks ends
/// with the session as well.
#[derive(Debug)]
pub struct HostServices {
    outside: Outside,
    files: Files,
    outputs: Outputs,
    states: States,
    locks: Locks,
    programs: Programs,
    over: AtomicBool,
}

impl HostServices {
    /// Services that answer for what was granted, and for nothing else.
    #[must_use]
    pub fn new(grants: Grants, outside: Outside) -> Self {
        Self {
            files: Files::new(grants.visible),
            outputs: Outputs::new(grants.outputs, grants.shared.clone(), outside.clone()),
            states: States::new(&grants.organ, &grants.state, grants.shared.clone(), outside.clone()),
            locks: Locks::new(&grants.state, grants.shared, outside.clone()),
            programs: Programs::new(grants.needs.programs, grants.environment, outside.clone()),
            outside,
            over: AtomicBool::new(false),
        }
    }

    fn now(&self) -> Now {
        Now { micros: (self.outside.now)().micros() }
    }

    fn sleep(&self, request: &Sleep, bounds: &Bounds<'_>) -> Result<Done, Failure> {
        let wanted = Duration::from_millis(request.ms);
        let possible = bounds.at_most(wanted);
        if (self.outside.wait)(possible, bounds.cancel()) || bounds.is_cancelled() {
            return Err(bounds::cancelled());
        }
        if possible < wanted { Err(bounds::deadline()) } else { Ok(Done {}) }
    }
}

impl Services for HostServices {
    fn answer(&self, asked: &Asked<'_>) -> Result<String, Failure> {
        let bounds = Bounds::new(asked, &self.over);
        bounds.check()?;
        match asked.service {
            ClockNow::SERVICE => on(asked, |_: ClockNow| Ok(self.now())),
            Sleep::SERVICE => on(asked, |request| self.sleep(&request, &bounds)),
            ProgramRun::SERVICE => on(asked, |request| self.programs.run(request, &bounds)),
            ProgramOpen::SERVICE => on(asked, |request| self.programs.open(request, &bounds)),
            ProgramExchange::SERVICE => on(asked, |request| self.programs.exchange(request, &bounds)),
            ProgramClose::SERVICE => on(asked, |request: ProgramClose| self.programs.close(&request, &bounds)),
            FileRead::SERVICE => on(asked, |request: FileRead| self.files.read(&request)),
            FileList::SERVICE => on(asked, |request: FileList| self.files.list(&request)),
            OutputWrite::SERVICE => on(asked, |request: OutputWrite| self.outputs.write(&request)),
            StateGet::SERVICE => on(asked, |request: StateGet| self.states.get(&request)),
            StatePut::SERVICE => on(asked, |request| self.states.put(request, &bounds)),
            LockTake::SERVICE => on(asked, |request: LockTake| self.locks.take(&request, &bounds)),
            LockRelease::SERVICE => on(asked, |request: LockRelease| self.locks.release(&request)),
            other => Err(unknown(other)),
        }
    }

    fn features(&self) -> Vec<String> {
        FEATURES.map(str::to_owned).into()
    }

    fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.programs.end();
        self.locks.end();
    }
}

impl Drop for HostServices {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads the question, answers it, and writes the answer.
fn on<R>(asked: &Asked<'_>, answer: impl FnOnce(R) -> Result<R::Reply, Failure>) -> Result<String, Failure>
where
    R: Request + DeserializeOwned,
    R::Reply: Serialize,
{
    let request = serde_json::from_str(asked.request)
        .map_err(|error| failure::invalid(format!("the request to {} makes no sense: {error}", asked.service)))?;
    let reply = answer(request)?;
    serde_json::to_string(&reply).map_err(|error| Failure::new("invalid_answer", error.to_string()))
}

fn unknown(service: &str) -> Failure {
    let text = format!("this host has no service {service}; it has {}; install a newer host", FEATURES.join(", "));
    Failure::new("unknown_service", text)
}
