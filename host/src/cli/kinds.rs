//! Which kinds there are, opened from their plugins.

use super::args::Global;
use super::explain::OwnReason;
use super::ui::Ui;
use crate::ledger::fatal::FatalError;
use crate::ledger::kind::Kind as _;
use crate::plugins::pins::Role;
use crate::plugins::{
    Claim, FoundOrgan, LoadedKind, PluginError, Registry, SearchPath, Standing, Unpinned, find_organ, open_kind,
};
use crate::reasons;

/// Kinds that stand first wherever kinds are listed (L 1); the others follow by name.
const FIRST: [&str; 2] = ["issue-debt", "gpu-reservation"];

/// The plugins on the search path of this process, and on which terms they are loaded.
pub(super) struct Kinds<'u> {
    registry: Registry,
    unpinned: Unpinned,
    ui: &'u Ui,
}

/// The plugins on the search path of this process.
pub(super) fn registry(global: &Global) -> Registry {
    Registry::discover(&SearchPath::of_process(&global.plugin_dir))
}

impl<'u> Kinds<'u> {
    /// What there is, on the terms of the flags.
    pub(super) fn find(global: &Global, ui: &'u Ui) -> Self {
        let unpinned = if global.allow_unpinned { Unpinned::Allow } else { Unpinned::Refuse };
        Self { registry: registry(global), unpinned, ui }
    }

    /// What there is.
    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The kind of this name. One that is not pinned is a warning.
    pub(super) fn open(&self, name: &str) -> Result<LoadedKind, FatalError> {
        let opened = open_kind(&self.registry, name, self.unpinned).map_err(|error| refused(&error))?;
        if *opened.standing == Standing::Unpinned {
            let file = opened.file.display();
            self.ui
                .warn_at_end(format!("plugin_unpinned: {name} at {file} is not pinned; its code was run all the same"));
        }
        let declared = opened.kind.declaration();
        tracing::info!(kind = %declared.name, version = %declared.version, "plugin loaded");
        Ok(opened.kind)
    }

    /// The organ of this name, ready for workers. One that is not pinned is a warning.
    pub(super) fn find_organ(&self, name: &str) -> Result<FoundOrgan<'_>, FatalError> {
        let found = find_organ(&self.registry, name, self.unpinned).map_err(|error| refused(&error))?;
        if *found.standing == Standing::Unpinned {
            let file = found.file.display();
            self.ui
                .warn_at_end(format!("plugin_unpinned: {name} at {file} is not pinned; its code was run all the same"));
        }
        Ok(found)
    }

    /// What the plugin that serves `name` is for; `None` when nobody serves it, or nobody can tell.
    pub(super) fn role(&self, name: &str) -> Option<Role> {
        self.registry.claimant(name).ok().and_then(|claimant| claimant.entry.role())
    }

    /// Names of the kinds that there are, as far as manifests tell, in listing order.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = self.served(Role::Kind);
        let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
        names.sort_by_key(|name| (rank(name), *name));
        names
    }

    /// Names of the plugins of a role, as far as manifests tell, as they were found.
    pub(super) fn served(&self, role: Role) -> Vec<&str> {
        let entries = self.registry.entries().iter().filter(|entry| entry.role() == Some(role));
        let served = entries.flat_map(|entry| &entry.names).filter(|served| served.claim == Claim::Holds);
        served.map(|served| served.name.as_str()).collect()
    }

    /// Every kind that can be opened, in listing order. One that cannot is a warning: it blocks no other.
    pub(super) fn open_all(&self) -> (Vec<LoadedKind>, Vec<String>) {
        let mut kinds = Vec::new();
        let mut warnings = Vec::new();
        for name in self.names() {
            match self.open(name) {
                Ok(kind) => kinds.push(kind),
                Err(error) => warnings.push(format!("plugin_skipped: {error}")),
            }
        }
        (kinds, warnings)
    }
}

fn refused(error: &PluginError) -> FatalError {
    error.code().of(error)
}

/// The reasons that the kinds declare. Plugins are only loaded when the host does not know the code itself.
pub(super) fn own_reasons(global: &Global, ui: &Ui, code: Option<&str>) -> Vec<OwnReason> {
    if code.is_some_and(|code| reasons::explain(code).is_some()) {
        return Vec::new();
    }
    let (kinds, _) = Kinds::find(global, ui).open_all();
    let of_kind = |kind: &LoadedKind| {
        let declaration = kind.declaration();
        let own = declaration.reasons.iter().cloned();
        own.map(|reason| OwnReason { kind: declaration.name.clone(), reason }).collect::<Vec<_>>()
    };
    kinds.iter().flat_map(of_kind).collect()
}
