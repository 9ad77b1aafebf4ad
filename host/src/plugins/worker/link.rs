//! The host's end of a channel: what the worker sends is taken in by a thread of its own, questions are answered by one
//! each.

use std::io::{self, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use abi_stable::std_types::RStr;
use plugin_api::Failure;
use plugin_api::ffi::FfiEvent;
use plugin_api::guard::guard;
use serde_json::value::RawValue;

use super::capture::FLOOD;
use super::frames::{self, Broken};
use super::protocol::{Ready, Replied, ToHost, ToWorker};
use crate::plugins::log::replay;
use crate::plugins::services::{Asked, Cancel, Services};

/// Questions of one worker that are answered at the same time.
const QUESTIONS: usize = 32;

/// What whoever waits for a worker is told.
pub(super) enum Event {
    /// It is ready.
    Ready(Box<Ready>),
    /// It could not load the plugin.
    Refused(Failure),
    /// A call ended.
    Answer {
        /// Number of the call.
        id: u64,
        /// Its end.
        result: Replied,
    },
    /// Nothing more will come.
    Broken(Broken),
    /// It printed or logged too much.
    Flood,
    /// Somebody wishes that the call with this number ends.
    CancelAsked(u64),
}

/// What the threads of one worker share.
pub(super) struct Link {
    channel: Mutex<UnixStream>,
    current: Mutex<Option<Current>>,
    services: Arc<dyn Services>,
    questions: AtomicUsize,
    /// Bytes that were logged during the current call.
    logged: AtomicU64,
    events: Sender<Event>,
    /// Name of the plugin's package.
    plugin: String,
}

/// The call that is being made.
#[derive(Clone, Debug)]
pub(super) struct Current {
    /// Its number.
    pub(super) id: u64,
    /// When it must be over.
    pub(super) deadline: Option<Instant>,
    /// Asked when the call is over for whatever reason, so that nobody goes on working for it.
    pub(super) over: Cancel,
    /// Whether the organ looked at the wish.
    pub(super) seen: bool,
}

impl Link {
    pub(super) fn new(channel: UnixStream, services: Arc<dyn Services>, events: Sender<Event>, plugin: &str) -> Self {
        Self {
            channel: Mutex::new(channel),
            current: Mutex::new(None),
            services,
            questions: AtomicUsize::new(0),
            logged: AtomicU64::new(0),
            events,
            plugin: plugin.to_owned(),
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// See [`frames::bytes`]; a worker that does not read for a while counts as gone.
    pub(super) fn send(&self, message: &ToWorker) -> io::Result<()> {
        let bytes = frames::bytes(message)?;
        lock(&self.channel).write_all(&bytes)
    }

    /// Lets the worker know that nothing more comes: it ends.
    pub(super) fn close(&self) {
        let _ = lock(&self.channel).shutdown(std::net::Shutdown::Write);
    }

    /// A call begins.
    pub(super) fn begin(&self, current: Current) {
        self.logged.store(0, Ordering::Relaxed);
        *lock(&self.current) = Some(current);
    }

    /// The call should end: the worker is told, and what is being answered for it ends.
    pub(super) fn cancel(&self, id: u64) {
        if let Some(current) = lock(&self.current).as_ref() {
            current.over.ask();
        }
        if let Err(error) = self.send(&ToWorker::Cancel { id }) {
            tracing::debug!(%error, "a wish to end did not reach the worker");
        }
    }

    /// The call is over. Whether the organ looked at a wish that it ends.
    pub(super) fn over(&self) -> bool {
        let ended = lock(&self.current).take();
        ended.is_some_and(|current| {
            current.over.ask();
            current.seen
        })
    }

    /// Tells whoever waits for the worker.
    pub(super) fn tell(&self, event: Event) {
        // Nobody waits any more: the worker is being dropped.
        let _ = self.events.send(event);
    }

    /// Takes in what the worker sends, to the end.
    pub(super) fn listen(self: &Arc<Self>, mut from: impl Read) {
        loop {
            match frames::read(&mut from) {
                Ok(message) => self.take(message),
                Err(broken) => return self.tell(Event::Broken(broken)),
            }
        }
    }

    fn take(self: &Arc<Self>, message: ToHost) {
        match message {
            ToHost::Ready(ready) => self.tell(Event::Ready(ready)),
            ToHost::Refused { code, message } => self.tell(Event::Refused(Failure { code, message })),
            ToHost::Answer { id, result } => self.tell(Event::Answer { id, result }),
            ToHost::Ask { id, during, service, request } => self.ask(Question { id, during, service, request }),
            ToHost::CancelSeen { id } => {
                if let Some(current) = lock(&self.current).as_mut().filter(|current| current.id == id) {
                    current.seen = true;
                }
            }
            ToHost::Log { level, target, message, fields } => self.log(level, &target, &message, fields.get()),
        }
    }

    fn ask(self: &Arc<Self>, question: Question) {
        let current = lock(&self.current).clone().filter(|current| current.id == question.during);
        let Some(current) = current else {
            return self.reply(&question, Err(Failure::new("call_over", "the call is over")));
        };
        if current.over.is_asked() {
            return self.reply(&question, Err(Failure::new("cancelled", "the unit was cancelled")));
        }
        if self.questions.fetch_add(1, Ordering::AcqRel) >= QUESTIONS {
            self.questions.fetch_sub(1, Ordering::AcqRel);
            let text = format!("{QUESTIONS} questions are being answered; ask fewer at the same time");
            return self.reply(&question, Err(Failure::new("too_many_questions", text)));
        }
        let (link, number, during) = (Arc::clone(self), question.id, question.during);
        let answering = move || {
            let reply = link.answer(&question, &current);
            link.questions.fetch_sub(1, Ordering::AcqRel);
            link.reply(&question, reply);
        };
        let started = std::thread::Builder::new().name("worker-question".to_owned()).spawn(answering);
        if let Err(error) = started {
            self.questions.fetch_sub(1, Ordering::AcqRel);
            let question = Question { id: number, during, service: String::new(), request: Box::default() };
            self.reply(&question, Err(Failure::new("host_failed", format!("no thread for the answer: {error}"))));
        }
    }

    fn answer(&self, question: &Question, current: &Current) -> Result<Box<RawValue>, Failure> {
        let asked = Asked {
            service: &question.service,
            request: question.request.get(),
            deadline: current.deadline,
            cancel: &current.over,
        };
        // A panic of a service is that question's failure and not the end of the worker.
        let text = guard(|| self.services.answer(&asked))?;
        RawValue::from_string(text)
            .map_err(|error| Failure::new("host_failed", format!("no JSON was answered: {error}")))
    }

    /// Sends an answer, unless its call is over meanwhile.
    fn reply(&self, question: &Question, reply: Result<Box<RawValue>, Failure>) {
        let is_late = lock(&self.current).as_ref().is_none_or(|current| current.id != question.during);
        if is_late && reply.is_ok() {
            return;
        }
        let send = |result| self.send(&ToWorker::Reply { id: question.id, result });
        let mut sent = send(reply.into());
        if let Err(error) = &sent
            && error.kind() == io::ErrorKind::FileTooLarge
        {
            sent = send(Err(Failure::new("too_large", error.to_string())).into());
        }
        if let Err(error) = sent {
            // The reader sees the end of the channel too, and tells.
            tracing::debug!(%error, "an answer did not reach the worker");
        }
    }

    fn log(&self, level: u32, target: &str, message: &str, fields: &str) {
        let length = u64::try_from(target.len() + message.len() + fields.len()).unwrap_or(u64::MAX);
        if self.logged.fetch_add(length, Ordering::Relaxed) > FLOOD {
            return self.tell(Event::Flood);
        }
        let event = FfiEvent {
            plugin: RStr::from(self.plugin.as_str()),
            level,
            target: RStr::from(target),
            message: RStr::from(message),
            fields: RStr::from(fields),
        };
        if let Err(failure) = replay(&event) {
            tracing::debug!(plugin = self.plugin, "an event of a worker is lost: {}", failure.message);
        }
    }
}

/// A question of the worker.
struct Question {
    id: u64,
    during: u64,
    service: String,
    request: Box<RawValue>,
}

impl From<Result<Box<RawValue>, Failure>> for Replied {
    fn from(result: Result<Box<RawValue>, Failure>) -> Self {
        match result {
            Ok(value) => Self::Ok(value),
            Err(failure) => Self::Err { code: failure.code, message: failure.message },
        }
    }
}

impl From<Replied> for Result<Box<RawValue>, Failure> {
    fn from(replied: Replied) -> Self {
        match replied {
            Replied::Ok(value) => Ok(value),
            Replied::Err { code, message } => Err(Failure { code, message }),
        }
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A channel that also ends with the worker. A process that the worker left behind may hold a copy of the worker's end,
/// and would keep the channel open.
pub(super) struct UntilEnd {
    channel: UnixStream,
    #[cfg(target_os = "linux")]
    process: Option<std::os::fd::OwnedFd>,
}

impl UntilEnd {
    #[cfg(target_os = "linux")]
    pub(super) fn new(channel: UnixStream, pid: rustix::process::Pid) -> Self {
        let process = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty());
        if let Err(error) = &process {
            tracing::debug!(%error, "the end of a worker is only seen when its channel is closed");
        }
        Self { channel, process: process.ok() }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new(channel: UnixStream, _: rustix::process::Pid) -> Self {
        Self { channel }
    }

    /// Waits until there is something to read. False when nothing will come.
    #[cfg(target_os = "linux")]
    fn wait(&self) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, poll};
        let Some(process) = &self.process else { return Ok(true) };
        let mut waited = [PollFd::new(&self.channel, PollFlags::IN), PollFd::new(process, PollFlags::IN)];
        poll(&mut waited, None)?;
        // What was sent before the end is read first.
        Ok(!waited[0].revents().is_empty() || waited[1].revents().is_empty())
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "elsewhere it has something to do")]
    fn wait(&self) -> io::Result<bool> {
        Ok(true)
    }
}

impl Read for UntilEnd {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.wait()? { self.channel.read(bytes) } else { Ok(0) }
    }
}
