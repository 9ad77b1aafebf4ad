//! What a worker is started with, and what its calls are given and give.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plugin_api::organ::Answer;

use super::loss::Loss;
use crate::plugins::image::Image;
use crate::plugins::services::Cancel;

/// Variable by which a worker knows that a host started it, and by which everything that it starts is known; its value
/// is the start's nonce.
pub const NONCE: &str = "HOST_WORKER";
/// Address space beyond what the host's own code takes, where the organ's declaration is not known yet.
pub const MEMORY: u64 = 8 << 30;
/// Open files, where the organ's declaration is not known yet.
pub const OPEN_FILES: u64 = 1024;
/// How long loading may take.
pub const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long a worker that was asked to end may go on.
pub const GRACE: Duration = Duration::from_secs(2);

/// What a worker is started with.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    /// The plugin: see [`Image::of_organ`].
    pub image: Arc<Image>,
    /// Name of the organ.
    pub organ: String,
    /// SHA-256 that the worker must find: 64 hex digits.
    pub sha256: String,
    /// Paths that it may read.
    pub visible: Vec<String>,
    /// Address space in bytes, beyond what the host's own code takes; [`MEMORY`] when nothing is said.
    pub memory: Option<u64>,
    /// Open files; [`OPEN_FILES`] when nothing is said.
    pub open_files: Option<u64>,
    /// How long loading may take.
    pub handshake: Duration,
    /// How long a call that should end may go on before the worker is killed.
    pub grace: Duration,
    /// The host's binary; the one that runs when nothing is said.
    pub program: Option<PathBuf>,
}

impl WorkerSpec {
    /// A worker for an organ of this plugin, with the usual bounds, that reads nothing of its own.
    #[must_use]
    pub fn new(image: Arc<Image>, organ: impl Into<String>) -> Self {
        let sha256 = image.sha256().map(ToString::to_string).unwrap_or_default();
        Self {
            image,
            organ: organ.into(),
            sha256,
            visible: Vec::new(),
            memory: None,
            open_files: None,
            handshake: HANDSHAKE,
            grace: GRACE,
            program: None,
        }
    }
}

/// Who a worker is: the host's own knowledge, never the worker's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// What tells this start from every other, process ids that are used again included: 32 hex digits.
    pub nonce: String,
    /// SHA-256 of the plugin: 64 hex digits.
    pub sha256: String,
}

/// What was printed. Where there was too much of it, its first and last part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// On stdout.
    pub stdout: String,
    /// On stderr.
    pub stderr: String,
    /// Bytes that were left out, of both.
    pub dropped: u64,
}

impl Printed {
    /// Adds what was printed later.
    pub fn add(&mut self, later: &Self) {
        self.stdout.push_str(&later.stdout);
        self.stderr.push_str(&later.stderr);
        self.dropped += later.dropped;
    }
}

/// What ends a call.
#[derive(Clone, Copy, Debug)]
pub struct CallLimit<'a> {
    /// When it must be over.
    pub deadline: Option<Instant>,
    /// The wish that it ends.
    pub cancel: &'a Cancel,
}

/// A unit that ran.
#[derive(Debug)]
pub struct Ran {
    /// Its answer.
    pub result: Result<Answer, Loss>,
    /// What was printed meanwhile.
    pub printed: Printed,
    /// How long it took.
    pub elapsed: Duration,
}
