//! The compatibility rule, as far as it can be told without loading: a pure function of what host and plugin say.
//!
//! The whole rule is the table in `plugin-api/README.md`, "Which plugins a host loads". Each of its rows names the test
//! that holds it; the layouts are compared in [`super::load`].

use std::fmt;

use plugin_api::contract;
use semver::Version;

use super::manifest::Manifest;

/// What a host speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Version of the contract.
    pub contract: Version,
    /// How things cross.
    pub abi: &'static str,
    /// Target triple.
    pub target: &'static str,
}

/// Why a plugin does not fit; each text says what the plugin has, what the host has, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incompatible {
    /// Not a version at all.
    #[error("it was built for contract {0:?}, which is not a version; build it again with host-plugin-api")]
    NoVersion(String),
    /// Another major.
    #[error("it was built for contract {plugin}, this host speaks {host}; {}", remedy(plugin, host))]
    Major {
        /// Contract of the plugin.
        plugin: Version,
        /// Contract of the host.
        host: Version,
    },
    /// A pre-release on either side.
    #[error(
        "it was built for contract {plugin}, this host speaks {host}, and a pre-release fits only itself; \
         build it for {host}"
    )]
    PreRelease {
        /// Contract of the plugin.
        plugin: Version,
        /// Contract of the host.
        host: Version,
    },
    /// Another way to cross.
    #[error("it crosses by {plugin}, this host by {host}; build it with a host-plugin-api that has {host}")]
    Abi {
        /// Crossing of the plugin.
        plugin: String,
        /// Crossing of the host.
        host: &'static str,
    },
    /// Another system or C library.
    #[error("it was built for {plugin}, this host for {host}; build it for {host}")]
    Target {
        /// Target of the plugin.
        plugin: String,
        /// Target of the host.
        host: &'static str,
    },
    /// The plugin cannot catch its own panics.
    #[error("it was built with panic = {0:?}, so its first panic would end the host; build it with panic = \"unwind\"")]
    Panic(String),
}

fn remedy(plugin: &Version, host: &Version) -> String {
    if plugin.major > host.major {
        format!("install a host that speaks {}, or build the plugin for {}", plugin.major, host.major)
    } else {
        format!("build the plugin for {}", host.major)
    }
}

impl Spoken {
    /// What this host speaks.
    ///
    /// # Errors
    /// [`Incompatible::NoVersion`] when this build of the contract has no valid version.
    pub fn here() -> Result<Self, Incompatible> {
        Ok(Self { contract: version(contract::VERSION)?, abi: contract::ABI, target: contract::TARGET })
    }
}

/// Reads a version of the contract.
///
/// # Errors
/// [`Incompatible::NoVersion`].
pub fn version(text: &str) -> Result<Version, Incompatible> {
    Version::parse(text).map_err(|_| Incompatible::NoVersion(text.to_owned()))
}

/// Whether `host` may try to load a plugin with this manifest. First what no other version could mend.
///
/// # Errors
/// [`Incompatible`], the first that applies.
pub fn check(host: &Spoken, manifest: &Manifest) -> Result<(), Incompatible> {
    if manifest.target != host.target {
        return Err(Incompatible::Target { plugin: manifest.target.clone(), host: host.target });
    }
    if manifest.abi != host.abi {
        return Err(Incompatible::Abi { plugin: manifest.abi.clone(), host: host.abi });
    }
    check_versions(&host.contract, &version(&manifest.contract)?)?;
    if manifest.panic != "unwind" {
        return Err(Incompatible::Panic(manifest.panic.clone()));
    }
    Ok(())
}

/// Whether this host may try to load a plugin with this manifest.
///
/// # Errors
/// [`Incompatible`], the first that applies.
pub fn fits(manifest: &Manifest) -> Result<(), Incompatible> {
    check(&Spoken::here()?, manifest)
}

/// What a plugin was built for, and what this host speaks: the end of every refusal of a plugin that says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    package: String,
    contract: String,
    rustc: String,
}

impl Built {
    /// As the manifest says.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        let (package, contract, rustc) = (&manifest.package, &manifest.contract, &manifest.rustc);
        Self { package: package.clone(), contract: contract.clone(), rustc: rustc.clone() }
    }
}

impl fmt::Display for Built {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { package, contract, rustc } = self;
        let spoken = contract::VERSION;
        write!(formatter, "package {package}, built for contract {contract} by {rustc}; this host speaks {spoken}")
    }
}

/// The same for a file that does not say what it was built for.
pub(super) fn built_unknown() -> String {
    format!("what it was built for cannot be told; this host speaks {}", contract::VERSION)
}

fn check_versions(host: &Version, plugin: &Version) -> Result<(), Incompatible> {
    if host.major != plugin.major {
        return Err(Incompatible::Major { plugin: plugin.clone(), host: host.clone() });
    }
    if !(host.pre.is_empty() && plugin.pre.is_empty()) && host != plugin {
        return Err(Incompatible::PreRelease { plugin: plugin.clone(), host: host.clone() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            manifest: 1,
            abi: "abi_stable-0.11".to_owned(),
            contract: "1.2.0".to_owned(),
            package: "p".to_owned(),
            version: "0.1.0".to_owned(),
            rustc: "rustc 1.95.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            profile: "debug".to_owned(),
            panic: "unwind".to_owned(),
            symbol: "s".to_owned(),
            kinds: vec!["a".to_owned()],
            organs: Vec::new(),
        }
    }

    #[track_caller]
    fn check_manifest(change: impl FnOnce(&mut Manifest), expected: &str) {
        let host =
            Spoken { contract: Version::new(1, 2, 0), abi: "abi_stable-0.11", target: "x86_64-unknown-linux-gnu" };
        let mut manifest = manifest();
        change(&mut manifest);
        let found = check(&host, &manifest).map_or_else(|refusal| refusal.to_string(), |()| "loads".to_owned());
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn check_contract(host: &str, plugin: &str, loads: bool) {
        let (host, plugin) = (version(host).unwrap(), version(plugin).unwrap());
        assert_eq!(check_versions(&host, &plugin).is_ok(), loads);
    }

    #[test]
    fn the_same_contract_loads() {
        check_manifest(|_| (), "loads");
    }

    #[test]
    fn an_older_and_a_newer_minor_load() {
        check_contract("1.2.0", "1.1.9", true);
        check_contract("1.2.0", "1.3.0", true);
    }

    #[test]
    fn a_newer_major_is_refused_with_both_ways_out() {
        check_manifest(
            |manifest| manifest.contract = "2.0.0".to_owned(),
            "it was built for contract 2.0.0, this host speaks 1.2.0; install a host that speaks 2, or build the plugin for 1",
        );
    }

    #[test]
    fn an_older_major_must_be_built_again() {
        check_manifest(
            |manifest| manifest.contract = "0.9.0".to_owned(),
            "it was built for contract 0.9.0, this host speaks 1.2.0; build the plugin for 1",
        );
    }

    #[test]
    fn a_pre_release_fits_only_itself() {
        check_contract("1.2.0", "1.2.0-rc.1", false);
        check_contract("1.2.0-rc.1", "1.2.0", false);
        check_contract("1.2.0-rc.1", "1.2.0-rc.2", false);
        check_contract("1.2.0-rc.1", "1.2.0-rc.1", true);
    }

    #[test]
    fn a_contract_that_is_no_version_is_refused() {
        check_manifest(
            |manifest| manifest.contract = "new".to_owned(),
            "it was built for contract \"new\", which is not a version; build it again with host-plugin-api",
        );
    }

    #[test]
    fn another_crossing_is_refused() {
        check_manifest(
            |manifest| manifest.abi = "raw-1".to_owned(),
            "it crosses by raw-1, this host by abi_stable-0.11; build it with a host-plugin-api that has abi_stable-0.11",
        );
    }

    #[test]
    fn another_c_library_is_refused() {
        check_manifest(
            |manifest| manifest.target = "x86_64-unknown-linux-musl".to_owned(),
            "it was built for x86_64-unknown-linux-musl, this host for x86_64-unknown-linux-gnu; \
             build it for x86_64-unknown-linux-gnu",
        );
    }

    #[test]
    fn a_plugin_that_aborts_is_refused() {
        check_manifest(
            |manifest| manifest.panic = "abort".to_owned(),
            "it was built with panic = \"abort\", so its first panic would end the host; build it with panic = \"unwind\"",
        );
    }

    #[test]
    fn another_compiler_and_profile_load() {
        check_manifest(|manifest| manifest.rustc = "rustc 1.97.0-nightly".to_owned(), "loads");
        check_manifest(|manifest| manifest.profile = "release".to_owned(), "loads");
    }
}
