//! The frames between host and worker.
//!
//! A frame is its length, four bytes with the least first, and that many bytes of JSON: one of [`ToWorker`] or
//! [`ToHost`]. The first frame of each side says which protocol it speaks; on Linux the host's first frame carries the
//! descriptor of the sealed plugin. A worker makes one call at a time and may ask many questions during it.

use plugin_api::organ::{Call, Ended, Opening, OrganDeclaration, Unit};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Number of this protocol. Host and worker are the same binary, so there is no other to speak; a difference means that
/// the binary was replaced while the host ran.
pub const PROTOCOL: u32 = 1;
/// Most bytes of one frame.
pub const MAX_FRAME: u32 = 64 << 20;

/// What the host sends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToWorker {
    /// The first frame.
    Hello(Hello),
    /// A call. Answered by [`ToHost::Answer`] with the same number.
    Call {
        /// Its number, ascending from 1.
        id: u64,
        /// How long it may take, in milliseconds; none without a deadline.
        remaining_ms: Option<u64>,
        /// What is called.
        call: Calling,
    },
    /// The answer to a question.
    Reply {
        /// Number of the question.
        id: u64,
        /// The answer.
        result: Replied,
    },
    /// The call with this number should end.
    Cancel {
        /// Its number.
        id: u64,
    },
}

/// What a worker is told before it loads anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`]
    pub protocol: u32,
    /// What tells this start from every other: 32 hex digits.
    pub nonce: String,
    /// Name of the organ.
    pub organ: String,
    /// Path of the plugin, for messages, and for loading where no descriptor is sent.
    pub file: String,
    /// SHA-256 that the plugin must have.
    pub sha256: String,
    /// Paths that it may read.
    pub visible: Vec<String>,
    /// Address space in bytes.
    pub memory: u64,
    /// Open files.
    pub open_files: u64,
    /// Most verbose level that the host listens to, as in [`plugin_api::ffi::HostApi::max_level`].
    pub max_level: u32,
    /// Services that the host has.
    pub features: Vec<String>,
}

/// What can be called.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calling {
    /// [`plugin_api::organ::Organ::plan`]
    Plan(Call),
    /// [`plugin_api::organ::Organ::open`]
    Open(Opening),
    /// [`plugin_api::organ::Session::run`]
    Run(Box<Unit>),
    /// [`plugin_api::organ::Session::close`]
    Close,
    /// [`plugin_api::organ::Organ::finish`]
    Finish(Ended),
}

/// An answer to a question, or to a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replied {
    /// It was answered.
    Ok(Box<RawValue>),
    /// It failed.
    Err {
        /// Stable code.
        code: String,
        /// What went wrong.
        message: String,
    },
}

/// What a worker sends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToHost {
    /// The first frame: the plugin is loaded.
    Ready(Box<Ready>),
    /// The first frame: it is not.
    Refused {
        /// Stable code.
        code: String,
        /// Why.
        message: String,
    },
    /// The end of a call.
    Answer {
        /// Its number.
        id: u64,
        /// A [`plugin_api::organ::Plan`], [`plugin_api::organ::Answer`], [`plugin_api::organ::Finish`], or null.
        result: Replied,
    },
    /// A question.
    Ask {
        /// Its number, ascending from 1.
        id: u64,
        /// Number of the call during which it is asked.
        during: u64,
        /// Name of the service.
        service: String,
        /// The request.
        request: Box<RawValue>,
    },
    /// The organ looked at the wish that this call ends.
    CancelSeen {
        /// Number of the call.
        id: u64,
    },
    /// An event of the plugin's log.
    Log {
        /// As in [`plugin_api::ffi::FfiEvent::level`].
        level: u32,
        /// The event's target.
        target: String,
        /// Its message.
        message: String,
        /// Its other fields: a JSON object.
        fields: Box<RawValue>,
    },
}

/// A worker that is ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// [`PROTOCOL`]
    pub protocol: u32,
    /// That of the [`Hello`].
    pub nonce: String,
    /// Version of the contract that the plugin was built for.
    pub contract: String,
    /// SHA-256 of what was loaded.
    pub sha256: String,
    /// What the organ declares.
    pub declaration: OrganDeclaration,
    /// How far the system confines this worker.
    pub confinement: Confinement,
}

impl Ready {
    /// What is known before a worker has said anything.
    pub(super) fn unknown() -> Self {
        Self {
            protocol: 0,
            nonce: String::new(),
            contract: String::new(),
            sha256: String::new(),
            declaration: OrganDeclaration::default(),
            confinement: Confinement::default(),
        }
    }
}

/// How far the system confines a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Whether it reads files only where it is allowed to, and writes none.
    pub files: bool,
    /// Whether it can open no TCP connection and listen on no port.
    pub tcp: bool,
    /// Whether it can signal no process outside.
    pub signals: bool,
    /// What the kernel cannot do, for a person; empty when it can do everything.
    pub missing: String,
}
