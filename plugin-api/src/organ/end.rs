//! What a run came to, and what is made of it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::call::Call;
use super::unit::Answer;
use crate::kind::Failure;

/// A run that is over, as `finish` is told of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ended {
    /// What was called.
    pub call: Call,
    /// Every planned unit once, in plan order.
    pub units: Vec<UnitEnd>,
}

/// How one unit ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitEnd {
    /// Its id.
    pub id: String,
    /// Its input.
    #[serde(default)]
    pub input: Json,
    /// The verdict.
    pub verdict: Verdict,
    /// Its answer, if it gave one.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// Why, where there is no answer or the answer was not accepted: a stable code, e.g. `worker_crashed`.
    #[serde(default)]
    pub code: Option<String>,
    /// The same for a person.
    #[serde(default)]
    pub detail: Option<String>,
}

/// The verdict over a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Done, and the answer is sound.
    Accepted,
    /// Measured, and the answer is no.
    Rejected,
    /// Neither: unreadable, crashed, too late.
    Undecidable,
    /// It never ran.
    NotDispatched,
}

/// What the organ makes of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finish {
    /// Exit code, 0 to 15, one of those that the verb declares.
    pub exit: u8,
    /// For a person: stdout, lines without a final newline.
    pub page: String,
    /// For a program: stdout with `--json`.
    pub json: Json,
}

impl Finish {
    /// An end with this exit code and page; `json` is what a program gets.
    ///
    /// # Errors
    /// Code `invalid_answer` when the value has no form in JSON.
    pub fn new(exit: u8, page: impl Into<String>, json: &impl Serialize) -> Result<Self, Failure> {
        let json = serde_json::to_value(json).map_err(|error| Failure::new("invalid_answer", error.to_string()))?;
        Ok(Self { exit, page: page.into(), json })
    }
}
