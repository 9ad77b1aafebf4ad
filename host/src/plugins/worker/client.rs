//! A worker as the host holds it: calls with a limit, each ending in an answer or a [`Loss`].

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use plugin_api::Failure;
use plugin_api::organ::{Call, Ended, Finish, Opening, OrganDeclaration, Plan, Unit};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::capture::{Capture, FLOOD};
use super::frames::Broken;
use super::hello;
use super::link::{Current, Event, Link, UntilEnd};
use super::loss::Loss;
use super::process::{Process, nonce};
use super::protocol::{Calling, Confinement, Hello, PROTOCOL, Ready, ToWorker};
use super::spec::{CallLimit, Identity, MEMORY, OPEN_FILES, Printed, Ran, WorkerSpec};
use crate::plugins::log::max_level;
use crate::plugins::services::{Cancel, Services};

/// How long a worker may leave the host's frames unread.
const UNREAD: Duration = Duration::from_secs(5);
/// How long a process that closed its channel may take to be gone.
const GOING: Duration = Duration::from_secs(2);

/// A process that runs an organ.
pub struct Worker {
    process: Process,
    link: Arc<Link>,
    events: Receiver<Event>,
    tell: std::sync::mpsc::Sender<Event>,
    capture: Capture,
    ready: Ready,
    identity: Identity,
    organ: String,
    grace: Duration,
    next: u64,
    gone: Option<Loss>,
}

/// Why a call should end before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Deadline,
    Cancel,
}

impl Worker {
    /// Starts a worker, and waits until it has loaded the plugin.
    ///
    /// # Errors
    /// [`Loss`]; nothing is left of it then.
    pub fn start(spec: &WorkerSpec, services: Arc<dyn Services>) -> Result<Self, Loss> {
        let system = |error: std::io::Error| Loss::NotStarted(error.to_string());
        let (ours, theirs) = UnixStream::pair().map_err(system)?;
        ours.set_write_timeout(Some(UNREAD)).map_err(system)?;
        let nonce = nonce().map_err(system)?;
        let program = match &spec.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(system)?,
        };
        let features = services.features();
        let (tell, events) = channel();
        let (process, out, err) = Process::start(&program, &nonce, OwnedFd::from(theirs)).map_err(system)?;
        let flood = tell.clone();
        let capture = Capture::start(out, err, move || drop(flood.send(Event::Flood))).map_err(system)?;
        let reader = UntilEnd::new(ours.try_clone().map_err(system)?, process.pid());
        let greeting = ours.try_clone().map_err(system)?;
        let package = &spec.image.inspected().manifest.package;
        let link = Arc::new(Link::new(ours, services, tell.clone(), package));
        let listening = Arc::clone(&link);
        let thread = std::thread::Builder::new().name("worker-channel".to_owned());
        thread.spawn(move || listening.listen(reader)).map_err(system)?;
        let identity = Identity { pid: process.id(), nonce: nonce.clone(), sha256: spec.sha256.clone() };
        let ready = Ready::unknown();
        let (organ, grace) = (spec.organ.clone(), spec.grace);
        let mut worker =
            Self { process, link, events, tell, capture, ready, identity, organ, grace, next: 1, gone: None };
        // A worker that is gone already says why itself.
        let sent = hello::send(&greeting, &ToWorker::Hello(greet(spec, nonce, features)), descriptor(spec));
        if let Err(error) = sent {
            tracing::debug!(%error, "the greeting did not reach the worker");
        }
        worker.ready = worker.handshake(spec.handshake)?;
        Ok(worker)
    }

    /// What the organ declares.
    #[must_use]
    pub fn declaration(&self) -> &OrganDeclaration {
        &self.ready.declaration
    }

    /// Who it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How far the system confines it.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        &self.ready.confinement
    }

    /// Whether it can be asked: it was not lost, and its process has not ended.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.gone.is_none() && !self.process.has_ended()
    }

    /// Lists the units of a call.
    ///
    /// # Errors
    /// [`Loss`]
    pub fn plan(&mut self, call: &Call, limit: &CallLimit<'_>) -> Result<Plan, Loss> {
        self.ask(Calling::Plan(call.clone()), limit)
    }

    /// What a run came to.
    ///
    /// # Errors
    /// [`Loss`]
    pub fn finish(&mut self, ended: &Ended, limit: &CallLimit<'_>) -> Result<Finish, Loss> {
        self.ask(Calling::Finish(ended.clone()), limit)
    }

    /// Opens its session.
    ///
    /// # Errors
    /// [`Loss`]
    pub fn open(&mut self, opening: &Opening, limit: &CallLimit<'_>) -> Result<(), Loss> {
        self.call(Calling::Open(opening.clone()), limit).map(|_| ())
    }

    /// Runs a unit in its session.
    pub fn run(&mut self, unit: &Unit, limit: &CallLimit<'_>) -> Ran {
        let start = Instant::now();
        let result = self.ask(Calling::Run(Box::new(unit.clone())), limit);
        Ran { result, printed: self.capture.take(), elapsed: start.elapsed() }
    }

    /// Closes its session.
    ///
    /// # Errors
    /// [`Loss`]
    pub fn close_session(&mut self, limit: &CallLimit<'_>) -> Result<(), Loss> {
        self.call(Calling::Close, limit).map(|_| ())
    }

    /// Lets it end, and ends it when it does not. Gives what was printed since the last unit.
    #[must_use]
    pub fn stop(mut self) -> Printed {
        self.link.close();
        // When it does not end by itself, dropping it kills it.
        let _ = self.process.wait(self.grace);
        self.process.kill();
        self.capture.take()
    }

    fn handshake(&mut self, time: Duration) -> Result<Ready, Loss> {
        match self.events.recv_timeout(time) {
            Ok(Event::Ready(ready)) if ready.protocol != PROTOCOL || ready.nonce != self.identity.nonce => {
                Err(self.end(Loss::Protocol("its greeting is not that of this start".to_owned())))
            }
            Ok(Event::Ready(ready)) if ready.sha256 != self.identity.sha256 => {
                Err(self.end(Loss::Protocol(format!("it loaded {}", ready.sha256))))
            }
            Ok(Event::Ready(ready)) => Ok(*ready),
            Ok(Event::Refused(failure)) => Err(self.end(Loss::Refused(failure))),
            Ok(Event::Broken(broken)) => Err(self.broken(broken)),
            Ok(Event::Flood) => Err(self.end(Loss::Flood(FLOOD))),
            Ok(Event::Answer { .. } | Event::CancelAsked(_)) => {
                Err(self.end(Loss::Protocol("it answers before it is ready".to_owned())))
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(self.end(Loss::Deadline(time))),
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, calling: Calling, limit: &CallLimit<'_>) -> Result<T, Loss> {
        let raw = self.call(calling, limit)?;
        serde_json::from_str(raw.get()).map_err(|error| self.end(Loss::Protocol(error.to_string())))
    }

    /// Makes one call.
    fn call(&mut self, call: Calling, limit: &CallLimit<'_>) -> Result<Box<RawValue>, Loss> {
        if let Some(gone) = &self.gone {
            return Err(gone.clone());
        }
        if limit.cancel.is_asked() {
            return Err(Loss::Cancelled { seen: false });
        }
        let id = self.next;
        self.next += 1;
        let remaining = limit.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let remaining_ms = remaining.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self.link.begin(Current { id, deadline: limit.deadline, over: Cancel::new(), seen: false });
        if let Err(error) = self.link.send(&ToWorker::Call { id, remaining_ms, call }) {
            if error.kind() == std::io::ErrorKind::FileTooLarge {
                self.link.over();
                return Err(Loss::Failed(Failure::new("too_large", error.to_string())));
            }
            tracing::debug!(%error, "a call did not reach the worker");
        }
        let tell = self.tell.clone();
        let _told = limit.cancel.when_asked(move || drop(tell.send(Event::CancelAsked(id))));
        self.wait(id, limit, remaining.unwrap_or_default())
    }

    /// Waits for the end of call `id`, which was given `time`.
    fn wait(&mut self, id: u64, limit: &CallLimit<'_>, time: Duration) -> Result<Box<RawValue>, Loss> {
        let mut ending: Option<(Ending, Instant)> = None;
        loop {
            let until = ending.map_or(limit.deadline, |(_, until)| Some(until));
            let event = match until {
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.events.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Answer { id: answered, result }) if answered == id => {
                    let seen = self.link.over();
                    return match ending {
                        None => Result::from(result).map_err(Loss::Failed),
                        Some((ending, _)) => Err(ended(ending, time, seen)),
                    };
                }
                Ok(Event::CancelAsked(asked)) => {
                    if asked == id && ending.is_none() {
                        ending = Some((Ending::Cancel, Instant::now() + self.grace));
                        self.link.cancel(id);
                    }
                }
                Ok(Event::Broken(broken)) => return Err(self.broken(broken)),
                Ok(Event::Flood) => return Err(self.end(Loss::Flood(FLOOD))),
                Ok(Event::Answer { .. } | Event::Ready(_) | Event::Refused(_)) => {
                    return Err(self.end(Loss::Protocol("it answers what it was not asked".to_owned())));
                }
                Err(_) => match ending {
                    None => {
                        ending = Some((Ending::Deadline, Instant::now() + self.grace));
                        self.link.cancel(id);
                    }
                    Some((ending, _)) => {
                        let seen = self.link.over();
                        return Err(self.end(ended(ending, time, seen)));
                    }
                },
            }
        }
    }

    /// Nothing more comes from it.
    fn broken(&mut self, broken: Broken) -> Loss {
        let going = self.process.wait(GOING);
        let status = self.process.kill();
        let loss = match (broken, status) {
            (Broken::Half(got, of), _) => Loss::HalfFrame { got, of },
            (Broken::TooLarge(bytes), _) => Loss::TooLarge(bytes),
            (Broken::Garbled(why), _) => Loss::Protocol(why),
            (Broken::Closed, Some(status)) if going => self.exited(status),
            (Broken::Closed, _) => Loss::Protocol("it closed its channel and went on".to_owned()),
        };
        self.end(loss)
    }

    fn exited(&self, status: ExitStatus) -> Loss {
        let organ = self.organ.clone();
        match (status.signal(), status.code()) {
            (Some(signal), _) => Loss::Crashed { organ, signal, core: status.core_dumped() },
            (None, code) => Loss::Exited { organ, code: code.unwrap_or_default() },
        }
    }

    /// It is lost, and all that it started ends.
    fn end(&mut self, loss: Loss) -> Loss {
        self.link.over();
        self.process.kill();
        self.gone.get_or_insert(loss).clone()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.link.over();
        self.process.kill();
    }
}

fn ended(ending: Ending, time: Duration, seen: bool) -> Loss {
    match ending {
        Ending::Deadline => Loss::Deadline(time),
        Ending::Cancel => Loss::Cancelled { seen },
    }
}

fn greet(spec: &WorkerSpec, nonce: String, features: Vec<String>) -> Hello {
    Hello {
        protocol: PROTOCOL,
        nonce,
        organ: spec.organ.clone(),
        file: spec.image.file().to_string_lossy().into_owned(),
        sha256: spec.sha256.clone(),
        visible: spec.visible.clone(),
        memory: spec.memory.unwrap_or(MEMORY),
        open_files: spec.open_files.unwrap_or(OPEN_FILES),
        max_level: max_level(),
        features,
    }
}

#[cfg(target_os = "linux")]
fn descriptor(spec: &WorkerSpec) -> Option<std::os::fd::BorrowedFd<'_>> {
    spec.image.descriptor()
}

#[cfg(not(target_os = "linux"))]
fn descriptor(_: &WorkerSpec) -> Option<std::os::fd::BorrowedFd<'_>> {
    None
}
