//! Which kinds there are, opened from their plugins.

use super::args::Global;
use super::explain::OwnReason;
use crate::ledger::fatal::FatalError;
use crate::ledger::kind::Kind as _;
use crate::plugins::{Claim, LoadedKind, PluginError, Registry, SearchPath, open_kind};
use crate::reasons;

/// Kinds that stand first wherever kinds are listed (L 1); the others follow by name.
const FIRST: [&str; 2] = ["issue-debt", "gpu-reservation"];

/// The plugins on the search path of this process.
pub(super) fn registry(global: &Global) -> Registry {
    Registry::discover(&SearchPath::of_process(&global.plugin_dir))
}

/// The kind of this name.
pub(super) fn open(registry: &Registry, name: &str) -> Result<LoadedKind, FatalError> {
    let kind = open_kind(registry, name).map_err(|error| refused(&error))?;
    let declared = kind.declaration();
    tracing::info!(kind = %declared.name, version = %declared.version, "plugin loaded");
    Ok(kind)
}

fn refused(error: &PluginError) -> FatalError {
    error.code().of(error)
}

/// Names of the kinds that there are, as far as manifests tell, in listing order.
pub(super) fn names(registry: &Registry) -> Vec<&str> {
    let served = registry.entries().iter().flat_map(|entry| &entry.names);
    let mut names: Vec<&str> =
        served.filter(|served| served.claim == Claim::Holds).map(|served| served.name.as_str()).collect();
    let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    names.sort_by_key(|name| (rank(name), *name));
    names
}

/// Every kind that can be opened, in listing order. One that cannot is a warning: it blocks no other.
pub(super) fn open_all(registry: &Registry) -> (Vec<LoadedKind>, Vec<String>) {
    let mut kinds = Vec::new();
    let mut warnings = Vec::new();
    for name in names(registry) {
        match open(registry, name) {
            Ok(kind) => kinds.push(kind),
            Err(error) => warnings.push(format!("plugin_skipped: {error}")),
        }
    }
    (kinds, warnings)
}

/// The reasons that the kinds declare. Plugins are only loaded when the host does not know the code itself.
pub(super) fn own_reasons(global: &Global, code: Option<&str>) -> Vec<OwnReason> {
    if code.is_some_and(|code| reasons::explain(code).is_some()) {
        return Vec::new();
    }
    let (kinds, _) = open_all(&registry(global));
    let of_kind = |kind: &LoadedKind| {
        let declaration = kind.declaration();
        let own = declaration.reasons.iter().cloned();
        own.map(|reason| OwnReason { kind: declaration.name.clone(), reason }).collect::<Vec<_>>()
    };
    kinds.iter().flat_map(of_kind).collect()
}
