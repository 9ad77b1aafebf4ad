//! A call of a verb: what was typed, checked by the host against the declaration.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::kind::Failure;

/// Values by declared name: text, integer, `true` or `false`, JSON, or a list of them. Absent when neither given nor
/// defaulted; a flag is always there.
pub type Arguments = BTreeMap<String, Json>;

/// A call of a verb.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    /// Declared name of the verb; empty for the main one.
    pub verb: String,
    /// What was typed.
    pub arguments: Arguments,
    /// Values of the declared environment variables that are set.
    pub environment: BTreeMap<String, String>,
}

impl Call {
    /// The text of argument `name`, if given.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Json::as_str)
    }

    /// The integer of argument `name`, if given.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.arguments.get(name).and_then(Json::as_i64)
    }

    /// Whether flag `name` was given.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.arguments.get(name).and_then(Json::as_bool).unwrap_or(false)
    }

    /// The texts of argument `name`, which may be given several times.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.arguments.get(name).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    }

    /// All arguments as a type of the organ's own.
    ///
    /// # Errors
    /// Code `invalid_arguments` when the type does not belong to the declaration.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let object = Json::Object(self.arguments.clone().into_iter().collect());
        serde_json::from_value(object).map_err(|error| Failure::new("invalid_arguments", error.to_string()))
    }
}
