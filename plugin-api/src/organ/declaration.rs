//! What an organ says of itself. The host parses arguments, grants and limits from this alone.
//!
//! A declaration crosses once, as JSON text, when the plugin is loaded. Unknown keys are ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A job: its verbs, what it needs of the host, and what its answers look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrganDeclaration {
    /// Name on the command line, e.g. `merge_ready`.
    pub name: String,
    /// Version of the organ, for people (the contract's version is in the manifest).
    pub version: String,
    /// One sentence for `--help`.
    pub description: String,
    /// What `host run <organ>` does without a verb; its `name` is empty.
    pub main: OrganVerb,
    /// Verbs beside that one.
    pub verbs: Vec<OrganVerb>,
    /// What it may ask of the host.
    pub needs: Needs,
    /// What stands in the `value` of an answer. An answer that does not fit is not accepted.
    pub result: Vec<ResultField>,
    /// How often a supervisor runs it where nothing else is configured.
    pub cadence: Option<Cadence>,
    /// Its bounds.
    pub limits: Limits,
    /// Units that it must answer, each with the host's part of the conversation: documentation and conformance input.
    pub examples: Vec<UnitExample>,
}

impl OrganDeclaration {
    /// The verb of this name; `""` is the main one.
    #[must_use]
    pub fn verb(&self, name: &str) -> Option<&OrganVerb> {
        if name.is_empty() { Some(&self.main) } else { self.verbs.iter().find(|verb| verb.name == name) }
    }
}

/// A verb of an organ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrganVerb {
    /// Name on the command line; empty for the main one.
    pub name: String,
    /// One sentence for `--help`.
    pub help: String,
    /// The strongest effect that a unit of this verb has.
    pub effect: Effect,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// What its exit codes mean. Codes above 15 belong to the host.
    pub exit_codes: Vec<ExitCode>,
}

/// What a unit does to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Nothing but reading.
    #[default]
    ReadOnly,
    /// Writes files of its own, where nobody else looks before they are judged.
    IsolatedArtifact,
    /// Changes something that others see. An attempt of which the end is unclear is settled by reading, never run again.
    External,
}

impl Effect {
    /// The word in plans and journals.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::IsolatedArtifact => "isolated-artifact",
            Self::External => "external",
        }
    }
}

/// An argument of a verb: an option `--name`, or positional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Argument {
    /// Name without the two dashes.
    pub name: String,
    /// One sentence for `--help`.
    pub help: String,
    /// What its value must be.
    #[serde(rename = "type")]
    pub kind: ArgumentType,
    /// Whether leaving it out is a usage error.
    pub required: bool,
    /// Whether it may be given several times. Its value is then a list.
    pub multiple: bool,
    /// Whether it has no dashes. The last positional one may be `multiple`.
    pub positional: bool,
    /// Its value when it is left out, as it would be typed.
    pub default: Option<String>,
    /// Names of arguments of which exactly one must be given; the same list at each of them.
    pub one_of: Vec<String>,
}

/// Types of arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentType {
    /// Any text.
    #[default]
    Text,
    /// Takes no value: `true` or `false`.
    Flag,
    /// An integer between two bounds, both allowed.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// One of these words.
    Choice(Vec<String>),
    /// A duration as people write it, e.g. `90s`, `15m`, `2h`, `1d`; its value is in milliseconds.
    Duration,
    /// Path of a file or folder to read. The host lets the organ read there.
    Input,
    /// Path of a file to write. The host guards it, and lets the organ write there.
    Output,
    /// A JSON value.
    Json,
}

/// What an exit code of a verb means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitCode {
    /// 0 to 15.
    pub code: u8,
    /// Half a sentence.
    pub meaning: String,
}

/// What an organ may ask of the host. What is not listed is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Needs {
    /// Environment variables of which it is told the values.
    pub environment: Vec<EnvironmentName>,
    /// Where it sends requests.
    pub http: Vec<HttpBase>,
    /// Programs that it has run.
    pub programs: Programs,
    /// Services without which it cannot work, e.g. `http`, by the names of [`super::services::SERVICES`]. A host that lacks one
    /// refuses the organ before it runs.
    pub services: Vec<String>,
}

/// An environment variable. The host reads it, and gives its value with the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentName {
    /// Name.
    pub name: String,
    /// What it is for. A secret never belongs here: tokens stay in the host, see [`Authorization`].
    pub help: String,
}

/// A place that the organ sends requests to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpBase {
    /// Name by which requests refer to it, e.g. `api`.
    pub name: String,
    /// URL that every request starts with, e.g. `https://api.github.com`.
    pub base: String,
    /// Environment variable that replaces the base, e.g. `GITHUB_API_URL`.
    #[serde(default)]
    pub environment: Option<String>,
    /// How the host proves who asks.
    #[serde(default)]
    pub authorization: Option<Authorization>,
}

/// A token that the host adds to requests. The organ never sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authorization {
    /// Word before the token in the `Authorization` header, e.g. `Bearer`.
    pub scheme: String,
    /// Environment variables that may hold it, the first that is set wins.
    pub environment: Vec<String>,
    /// Program that prints it where no variable is set, e.g. `["gh", "auth", "token"]`; none when empty.
    #[serde(default)]
    pub program: Vec<String>,
    /// Whether a request goes out without a token when there is none.
    #[serde(default)]
    pub optional: bool,
}

/// Programs that the host runs for an organ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Programs {
    /// These, found in `PATH`.
    Named(Vec<String>),
    /// Whatever a unit names: for adapters. Listings say so.
    Any,
}

impl Default for Programs {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// A key of an answer's `value`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultField {
    /// Key.
    pub name: String,
    /// What stands there.
    #[serde(rename = "type")]
    pub kind: ResultType,
    /// Whether it may be absent or null.
    #[serde(default)]
    pub optional: bool,
}

/// Types in an answer's `value`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultType {
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Bool,
    /// A list.
    List,
    /// An object.
    Object,
    /// One of these strings.
    Choice(Vec<String>),
    /// Anything.
    Any,
}

/// How often a supervisor runs an organ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cadence {
    /// Seconds from one due time to the next.
    pub every_s: u32,
}

/// Bounds of an organ. Configuration may narrow and widen them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Deadline of a unit that names none, in seconds.
    pub unit_s: u32,
    /// Address space of the worker, in MiB.
    pub memory_mib: u32,
    /// Open files of the worker.
    pub open_files: u32,
    /// Units that one session may run.
    pub session_units: u32,
    /// How long one session may live, in seconds.
    pub session_s: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { unit_s: 600, memory_mib: 4096, open_files: 256, session_units: 100, session_s: 3600 }
    }
}

/// A unit that the organ must answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnitExample {
    /// What it shows.
    pub title: String,
    /// Verb, `""` for the main one.
    pub verb: String,
    /// Values of its arguments, as in [`super::Call::arguments`].
    pub arguments: BTreeMap<String, Json>,
    /// What the host answers, in this order.
    pub script: Vec<ScriptedReply>,
    /// Outcomes of the units that `plan` lists, in their order.
    pub outcomes: Vec<super::Outcome>,
    /// Exit code of `finish`.
    pub exit: u8,
}

/// One answer of a scripted host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptedReply {
    /// The service that must be asked, e.g. `program.run`.
    pub service: String,
    /// What the request must hold: every key here with this value.
    #[serde(default)]
    pub request: Json,
    /// The answer, or `{"code": .., "message": ..}` of a failure under the single key `failure`.
    pub reply: Json,
}
