//! What a run may do: from the organ's declaration, and from what the operator typed.

use std::path::{Path, PathBuf};

use plugin_api::organ::{Argument, ArgumentType, Call, Needs, OrganDeclaration};
use serde_json::Value as Json;

use crate::env;
use crate::ledger::fatal::FatalError;
use crate::plugins::services::Grants;
use crate::reasons::Fatal;
use crate::store::state::state_folder;

/// Makes paths of `call` absolute, fills in its environment, and says what the run may do.
pub(super) fn grant(organ: &OrganDeclaration, call: &mut Call, state_dir: Option<&Path>) -> Result<Grants, FatalError> {
    let declared = organ.verb(&call.verb).map(|verb| verb.arguments.as_slice()).unwrap_or_default();
    let mut visible = Vec::new();
    let mut outputs = Vec::new();
    for argument in declared {
        let into = match argument.kind {
            ArgumentType::Input => &mut visible,
            ArgumentType::Output => &mut outputs,
            ArgumentType::Text
            | ArgumentType::Flag
            | ArgumentType::Integer { .. }
            | ArgumentType::Choice(_)
            | ArgumentType::Duration
            | ArgumentType::Json => continue,
        };
        paths(argument, call, into)?;
    }
    for name in &organ.needs.environment {
        if let Some(value) = env::get(&name.name) {
            let value = value.into_string().map_err(|_| {
                Fatal::UnreadableInput.with(format!("variable {} is not UTF-8; set it to text, or unset it", name.name))
            })?;
            call.environment.insert(name.name.clone(), value);
        }
    }
    let state =
        state_folder(state_dir).ok_or_else(|| Fatal::MissingInput.with("no home folder is known; give --state-dir"))?;
    Ok(Grants {
        organ: organ.name.clone(),
        needs: organ.needs.clone(),
        environment: call.environment.clone(),
        visible,
        outputs,
        state: state.join("host"),
        shared: env::get(env::SHARED_PATH).map(PathBuf::from),
    })
}

/// What the host grants, in one word that is the same for the same grants.
pub(super) fn authority(needs: &Needs) -> String {
    serde_json::to_string(needs).unwrap_or_else(|error| format!("unreadable: {error}"))
}

fn paths(argument: &Argument, call: &mut Call, into: &mut Vec<PathBuf>) -> Result<(), FatalError> {
    let Some(value) = call.arguments.get_mut(&argument.name) else { return Ok(()) };
    let mut absolute = |value: &mut Json| {
        let Some(typed) = value.as_str() else { return Ok(()) };
        let path = std::path::absolute(typed)
            .map_err(|error| Fatal::UnreadableInput.with(format!("--{} {typed:?}: {error}", argument.name)))?;
        let text = path.to_str().ok_or_else(|| {
            Fatal::UnreadableInput.with(format!("--{} {}: the path is not UTF-8", argument.name, path.display()))
        })?;
        *value = Json::String(text.to_owned());
        into.push(path);
        Ok(())
    };
    if let Json::Array(values) = value { values.iter_mut().try_for_each(absolute) } else { absolute(value) }
}
