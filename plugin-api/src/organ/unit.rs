//! A unit of work, and its answer.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::declaration::Effect;
use crate::kind::Failure;

/// The units of a run, in the order in which they should run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// Units.
    pub units: Vec<Unit>,
    /// What a person should know before anything runs, a line each: stderr.
    pub notes: Vec<String>,
}

/// One `run` call of an organ (DECISIONS 1.1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unit {
    /// Unique in its plan, e.g. `pr-17`.
    pub id: String,
    /// The organ that works on it; in what [`super::Organ::plan`] lists, empty means itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub organ: String,
    /// What it is about. Opaque to the host.
    pub input: Json,
    /// Units that must be accepted before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// What it does to the world.
    pub effect: Effect,
    /// Paths that it may read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<String>,
    /// Files by path, as they were when the plan was frozen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub frozen: BTreeMap<String, String>,
    /// Paths of `frozen` for which the answer may bring new texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub editable: Vec<String>,
    /// Organs that judge the answer; none when `judge` says how.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// How it is judged without checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Judge>,
    /// External event that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Requirements that it may report as not met.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Its deadline in seconds; the organ's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<u32>,
}

impl Unit {
    /// A unit about `input`.
    ///
    /// # Errors
    /// Code `invalid_answer` when the input has no form in JSON.
    pub fn new(id: impl Into<String>, effect: Effect, input: &impl Serialize) -> Result<Self, Failure> {
        let input = serde_json::to_value(input).map_err(|error| Failure::new("invalid_answer", error.to_string()))?;
        Ok(Self { id: id.into(), effect, input, judge: Some(Judge::Contract), ..Self::default() })
    }

    /// The input as a type of the organ's own.
    ///
    /// # Errors
    /// Code `invalid_input`, with the place that does not fit.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        T::deserialize(&self.input)
            .map_err(|error| Failure::new("invalid_input", format!("the input of unit {}: {error}", self.id)))
    }
}

/// Who judges an answer that no check judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// The host: it is accepted when it fits the declared result and every intent is settled.
    Contract,
}

/// The answer to a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What became of it.
    pub outcome: Outcome,
    /// The result, as declared.
    #[serde(default)]
    pub value: Json,
    /// New texts of `editable` files, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Why, for a person: one sentence; empty when the outcome says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The requirement that is not met, with [`Outcome::DependencyFailure`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
}

/// What became of a unit, in the organ's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The work is done.
    Done,
    /// It was measured, and the answer is no.
    Failed,
    /// It could not be measured: neither yes nor no.
    Unreadable,
    /// A declared requirement is not met.
    DependencyFailure,
}

impl Answer {
    /// The work is done, with this result.
    ///
    /// # Errors
    /// Code `invalid_answer` when the value has no form in JSON.
    pub fn done(value: &impl Serialize) -> Result<Self, Failure> {
        Self::with(Outcome::Done, value, "")
    }

    /// It was measured, and the answer is no.
    ///
    /// # Errors
    /// Code `invalid_answer` when the value has no form in JSON.
    pub fn failed(value: &impl Serialize, message: impl Into<String>) -> Result<Self, Failure> {
        Self::with(Outcome::Failed, value, message)
    }

    /// It could not be measured.
    ///
    /// # Errors
    /// Code `invalid_answer` when the value has no form in JSON.
    pub fn unreadable(value: &impl Serialize, message: impl Into<String>) -> Result<Self, Failure> {
        Self::with(Outcome::Unreadable, value, message)
    }

    /// A declared requirement is not met; the caller decides what follows.
    #[must_use]
    pub fn dependency_failure(requirement: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::DependencyFailure,
            value: Json::Null,
            files: BTreeMap::new(),
            message: message.into(),
            requirement: Some(requirement.into()),
        }
    }

    fn with(outcome: Outcome, value: &impl Serialize, message: impl Into<String>) -> Result<Self, Failure> {
        let value = serde_json::to_value(value).map_err(|error| Failure::new("invalid_answer", error.to_string()))?;
        Ok(Self { outcome, value, files: BTreeMap::new(), message: message.into(), requirement: None })
    }
}
