//! What can be asked of the host: requests and answers as they cross, JSON objects with these keys.
//!
//! Every service runs in the host's process. A failure has a stable code: `not_granted` when the declaration does not
//! list what was asked for, `cancelled`, `deadline`, `too_large`, `unknown_service`, and those named beside a request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Services of this contract, by the names under which the handshake announces them.
///
/// A request belongs to the service before its dot. Later minors add names; an organ that cannot do without one lists it
/// under [`Needs::services`](super::Needs::services).
pub const SERVICES: [&str; 10] =
    ["clock", "sleep", "cancel", "log", "http", "program", "file", "output", "state", "lock"];

macro_rules! service {
    ($(#[$doc:meta])* $request:ident, $name:literal, $reply:ty { $($body:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $request { $($body)* }

        impl Request for $request {
            const SERVICE: &'static str = $name;
            type Reply = $reply;
        }
    };
}

/// A question to the host.
pub trait Request: Serialize {
    /// Name of the service.
    const SERVICE: &'static str;
    /// What the host answers.
    type Reply: for<'de> Deserialize<'de>;
}

/// An answer without content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

service! {
    /// What time it is.
    ClockNow, "clock.now", Now {}
}

/// The time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// Microseconds since 1970, UTC.
    pub micros: i64,
}

service! {
    /// Waits. Fails with `cancelled` or `deadline` when the unit ends before.
    Sleep, "sleep", Done {
        /// Milliseconds.
        pub ms: u64,
    }
}

service! {
    /// Sends a request to one of the declared bases.
    ///
    /// The host adds the token, answers an unchanged resource out of its cache (`ETag`), and waits for `Retry-After`
    /// of a read as long as the unit's deadline allows. A request that is no read is sent once and never again.
    /// Fails with `http_unreachable` (nothing was sent, or nothing came back: for a write the end is unclear),
    /// `http_quota` (the quota is spent; the message says until when), `no_token`.
    HttpRequest, "http.request", HttpReply {
        /// `GET`, `POST`, `PUT`, `PATCH`, `DELETE`.
        pub method: String,
        /// Name of a declared base.
        pub base: String,
        /// What follows the base: path and query, beginning with `/`; or a whole URL below the base, as links in answers are.
        pub path: String,
        /// Headers beside those of the host. `Authorization`, `Host` and `Cookie` are refused.
        pub headers: BTreeMap<String, String>,
        /// Body.
        pub body: Option<String>,
        /// Whether a request of another method than `GET` is a read, e.g. a GraphQL query.
        pub read: bool,
        /// Largest answer in bytes; 16 MiB when 0.
        pub max_bytes: u64,
    }
}

/// An answer of a server, whatever its status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HttpReply {
    /// Status code. An answer out of the cache has that of the first time.
    pub status: u16,
    /// Headers by lower-case name; of one that came twice the values joined by `, `.
    pub headers: BTreeMap<String, String>,
    /// Body as text; empty when it is none.
    pub body: String,
    /// Body in base64 when it is not UTF-8.
    pub body_base64: Option<String>,
    /// Whether the server said that nothing changed.
    pub from_cache: bool,
}

service! {
    /// Runs a declared program to its end, without a shell. Its environment holds `PATH`, `HOME`, the language and time
    /// zone, the folder for temporary files, and the declared variables that are set.
    /// Fails with `program_not_found`, `program_unstartable`.
    ProgramRun, "program.run", ProgramEnd {
        /// Name or absolute path.
        pub program: String,
        /// Its arguments. No secret belongs here: others can read them.
        pub args: Vec<String>,
        /// What it reads from stdin; nothing when absent.
        pub stdin: Option<String>,
        /// Folder that it starts in; that of the host when absent.
        pub folder: Option<String>,
        /// Variables beside those of the host.
        pub environment: BTreeMap<String, String>,
        /// Its deadline; that of the unit when absent or later.
        pub deadline_ms: Option<u64>,
        /// Most bytes that are kept of each of its outputs; 1 MiB when 0. More is read and dropped.
        pub max_output: u64,
    }
}

/// A program that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramEnd {
    /// Exit code, if it exited.
    pub exit: Option<i32>,
    /// Number of the signal that ended it.
    pub signal: Option<i32>,
    /// Whether its deadline was over; it and everything it started was killed.
    pub deadline: bool,
    /// What it printed, as text; bytes that are no UTF-8 stand as U+FFFD.
    pub stdout: String,
    /// The same of stderr.
    pub stderr: String,
    /// Whether more was printed than was kept.
    pub truncated: bool,
    /// How long it ran, in milliseconds.
    pub ms: u64,
}

service! {
    /// Starts a program that is kept: it reads JSON lines from stdin and answers each with one line on stdout.
    ProgramOpen, "program.open", ProgramHandle {
        /// As in [`ProgramRun`].
        pub program: String,
        /// As in [`ProgramRun`].
        pub args: Vec<String>,
        /// As in [`ProgramRun`].
        pub folder: Option<String>,
        /// As in [`ProgramRun`].
        pub environment: BTreeMap<String, String>,
        /// Most bytes of one line; 16 MiB when 0.
        pub max_line: u64,
    }
}

/// A program that is kept. It is killed when the session ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramHandle {
    /// Its number.
    pub handle: u64,
}

service! {
    /// Sends a line to a kept program and waits for one line. A program that ended, printed half a line or more than is
    /// allowed, or is over its deadline fails with `program_lost` and is gone; the message says what became of it, and
    /// ends with the last of its stderr.
    ProgramExchange, "program.exchange", ProgramLine {
        /// The program.
        pub handle: u64,
        /// The line, without its end.
        pub line: String,
        /// As in [`ProgramRun`].
        pub deadline_ms: Option<u64>,
    }
}

/// A line of a kept program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramLine {
    /// The line, without its end.
    pub line: String,
    /// What it printed on stderr since the last exchange, the last 64 KiB of it.
    pub stderr: String,
}

service! {
    /// Closes stdin of a kept program and waits for its end.
    ProgramClose, "program.close", ProgramEnd {
        /// The program.
        pub handle: u64,
        /// How long it may take to end; 2 s when absent. It is killed then.
        pub deadline_ms: Option<u64>,
    }
}

service! {
    /// Reads a file that the organ may see. Fails with `not_visible`, `absent`, `unreadable`, `too_large`.
    FileRead, "file.read", FileText {
        /// Path.
        pub path: String,
        /// Largest length in bytes; 16 MiB when 0.
        pub max_bytes: u64,
    }
}

/// A file as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileText {
    /// The text; empty when it is none.
    pub text: String,
    /// The bytes in base64 when they are not UTF-8.
    pub base64: Option<String>,
    /// SHA-256 of the bytes.
    pub sha256: String,
}

service! {
    /// Lists a folder that the organ may see, sorted by name.
    FileList, "file.list", FileNames {
        /// Path.
        pub path: String,
    }
}

/// Names in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileNames {
    /// Entries by name.
    pub entries: Vec<FileEntry>,
}

/// An entry of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEntry {
    /// Its name; bytes that are no UTF-8 stand as U+FFFD.
    pub name: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// Its length in bytes.
    pub bytes: u64,
}

service! {
    /// Writes a whole file where the operator allowed it: the value of an argument of type `output`, or below it when
    /// it is a folder. Guarded as every output of the host. Fails with `not_granted`, `refused`, `unwritable`.
    OutputWrite, "output.write", Done {
        /// Path.
        pub path: String,
        /// Text.
        pub text: String,
    }
}

service! {
    /// Reads what the organ keeps under a key from run to run.
    StateGet, "state.get", StateValue {
        /// Repository that it is about, `owner/name`, or any other scope; empty for none.
        pub scope: String,
        /// Key: letters, digits, `.`, `_`, `-`.
        pub key: String,
    }
}

/// What is kept under a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateValue {
    /// The value; null when nothing is kept.
    pub value: Json,
    /// Its revision: 0 when nothing is kept, then one more with each write.
    pub revision: u64,
}

service! {
    /// Writes what is kept under a key, if it is still that of `revision`; durable before the answer. Fails with
    /// `conflict` when another wrote in between; the message says the revision that is there.
    StatePut, "state.put", StateValue {
        /// As in [`StateGet`].
        pub scope: String,
        /// As in [`StateGet`].
        pub key: String,
        /// The new value; null removes it.
        pub value: Json,
        /// The revision that was read.
        pub revision: u64,
    }
}

service! {
    /// Takes a lock of this name on this machine, and waits for it. Held until it is released or the session ends.
    /// Fails with `locked`; the message names the process that holds it and since when.
    LockTake, "lock.take", Done {
        /// Name: letters, digits, `.`, `_`, `-`, `/`.
        pub name: String,
        /// How long to wait, in milliseconds.
        pub wait_ms: u64,
    }
}

service! {
    /// Gives back a lock of this session.
    LockRelease, "lock.release", Done {
        /// Its name.
        pub name: String,
    }
}
