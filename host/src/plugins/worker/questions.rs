//! The worker's end of its channel: calls come in, answers and questions go out.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plugin_api::Failure;
use plugin_api::organ::Ask;
use serde_json::value::RawValue;

use super::frames;
use super::protocol::{Calling, Replied, ToHost, ToWorker};

type Reply = Result<Box<RawValue>, Failure>;

/// What the threads of a worker share.
pub(super) struct Channel {
    to_host: Mutex<UnixStream>,
    waiting: Mutex<HashMap<u64, Sender<Reply>>>,
    next: AtomicU64,
    calls: Mutex<HashMap<u64, Arc<State>>>,
    features: Vec<String>,
}

/// A call that is being made.
struct State {
    id: u64,
    deadline: Option<Instant>,
    cancelled: AtomicBool,
    seen: AtomicBool,
}

/// A call that has come.
pub(super) struct Incoming {
    /// What is called.
    pub(super) calling: Calling,
    /// Its questions to the host.
    pub(super) questions: Questions,
}

/// The host, as the organ reaches it during one call.
pub(super) struct Questions {
    channel: Arc<Channel>,
    state: Arc<State>,
}

impl Channel {
    pub(super) fn new(to_host: UnixStream, features: Vec<String>) -> Self {
        Self {
            to_host: Mutex::new(to_host),
            waiting: Mutex::default(),
            next: AtomicU64::new(1),
            calls: Mutex::default(),
            features,
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// See [`frames::bytes`].
    pub(super) fn send(&self, message: &ToHost) -> io::Result<()> {
        let bytes = frames::bytes(message)?;
        lock(&self.to_host).write_all(&bytes)
    }

    /// Takes in what the host sends, until it is gone. Calls go to `calls`.
    pub(super) fn listen(self: &Arc<Self>, mut from: UnixStream, calls: &Sender<Incoming>) {
        while let Ok(message) = frames::read(&mut from) {
            match message {
                ToWorker::Call { id, remaining_ms, call } => {
                    let deadline = remaining_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
                    let state = State { id, deadline, cancelled: AtomicBool::new(false), seen: AtomicBool::new(false) };
                    let state = Arc::new(state);
                    lock(&self.calls).insert(id, Arc::clone(&state));
                    let questions = Questions { channel: Arc::clone(self), state };
                    if calls.send(Incoming { calling: call, questions }).is_err() {
                        return;
                    }
                }
                ToWorker::Reply { id, result } => {
                    if let Some(waiting) = lock(&self.waiting).remove(&id) {
                        // Whoever asked is gone.
                        let _ = waiting.send(result.into());
                    }
                }
                ToWorker::Cancel { id } => {
                    if let Some(state) = lock(&self.calls).get(&id) {
                        state.cancelled.store(true, Ordering::SeqCst);
                    }
                }
                ToWorker::Hello(_) => return,
            }
        }
    }
}

impl Questions {
    /// Number of the call.
    pub(super) fn id(&self) -> u64 {
        self.state.id
    }

    /// The call is over: what its threads ask from now on is refused by the host.
    pub(super) fn over(&self) {
        lock(&self.channel.calls).remove(&self.state.id);
    }

    fn pending(&self, service: &str, request: &str) -> Result<Receiver<Reply>, Failure> {
        let request = RawValue::from_string(request.to_owned())
            .map_err(|error| Failure::new("invalid_call", format!("the request to {service} is no JSON: {error}")))?;
        let id = self.channel.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = channel();
        lock(&self.channel.waiting).insert(id, sender);
        let message = ToHost::Ask { id, during: self.state.id, service: service.to_owned(), request };
        self.channel.send(&message).map_err(|error| {
            lock(&self.channel.waiting).remove(&id);
            Failure::new("too_large", format!("the request to {service} was not sent: {error}"))
        })?;
        Ok(receiver)
    }
}

impl Ask for Questions {
    fn ask(&self, service: &str, request: &str) -> Result<String, Failure> {
        if self.cancelled() {
            return Err(Failure::new("cancelled", "the unit was cancelled"));
        }
        if self.remaining_ms() == Some(0) {
            return Err(Failure::new("deadline", "the unit's deadline is over"));
        }
        let reply = self.pending(service, request)?.recv();
        // The host is gone, and this process is about to be.
        let reply = reply.map_err(|_| Failure::new("cancelled", "the host is gone"))??;
        Ok(Box::<str>::from(reply).into())
    }

    fn cancelled(&self) -> bool {
        let cancelled = self.state.cancelled.load(Ordering::SeqCst);
        if cancelled && !self.state.seen.swap(true, Ordering::SeqCst) {
            // A host that is gone needs no answer.
            let _ = self.channel.send(&ToHost::CancelSeen { id: self.state.id });
        }
        cancelled
    }

    fn remaining_ms(&self) -> Option<u64> {
        let left = self.state.deadline?.saturating_duration_since(Instant::now());
        Some(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
    }

    fn features(&self) -> Vec<String> {
        self.channel.features.clone()
    }
}

/// The end of a call as a frame.
pub(super) fn answer(id: u64, result: Result<String, Failure>) -> ToHost {
    let raw = result.and_then(|text| {
        RawValue::from_string(text).map_err(|error| Failure::new("invalid_answer", format!("it is no JSON: {error}")))
    });
    ToHost::Answer { id, result: Replied::from(raw) }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
