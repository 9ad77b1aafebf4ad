//! What the system lets a worker do, narrowed before the plugin is loaded.
//!
//! Landlock takes rights away for good: files are only read, below these paths; nothing is executed; no TCP connection is
//! made or taken; nothing outside is signalled. A kernel that cannot do a part of it does the rest, and the host is told.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::protocol::{Confinement, Hello};

/// What loading a library and running it takes: the system's libraries, the time zones, and its own descriptors.
const SYSTEM: [&str; 12] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/null",
    "/dev/urandom",
];
/// The newest version of which everything below is known.
const NEWEST: ABI = ABI::V6;

/// Caps memory and files, and narrows what this process may do from now on.
///
/// # Errors
/// The system refused a cap; a kernel that cannot confine is no error.
pub(super) fn confine(hello: &Hello) -> std::io::Result<Confinement> {
    cap(Resource::Core, 0)?;
    cap(Resource::As, used().saturating_add(hello.memory))?;
    cap(Resource::Nofile, hello.open_files)?;
    Ok(match restrict(&hello.visible) {
        Ok(status) => told(&status.landlock),
        Err(error) => Confinement { missing: format!("Landlock failed: {error}"), ..Confinement::default() },
    })
}

fn cap(resource: Resource, most: u64) -> std::io::Result<()> {
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    Ok(())
}

/// Address space that this process has already, in bytes; 0 when the system does not say.
fn used() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages.saturating_mul(u64::try_from(rustix::param::page_size()).unwrap_or(4096))
}

fn restrict(visible: &[String]) -> Result<RestrictionStatus, RulesetError> {
    let readable = SYSTEM.iter().copied().chain(visible.iter().map(String::as_str));
    // A path that is not there needs no rule.
    let there = readable.filter(|path| Path::new(path).exists());
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(there, AccessFs::ReadFile | AccessFs::ReadDir))?
        .restrict_self()
}

/// What the kernel's version of Landlock does.
fn told(status: &LandlockStatus) -> Confinement {
    let effective = match status {
        LandlockStatus::Available { effective_abi, .. } => *effective_abi as i32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    };
    let parts = [(1, "files"), (4, "TCP"), (6, "signals")];
    let missing: Vec<&str> = parts.iter().filter(|(since, _)| effective < *since).map(|(_, part)| *part).collect();
    let missing = match (effective, missing.is_empty()) {
        (_, true) => String::new(),
        (0, false) => {
            "this kernel has no Landlock, or it is off: the worker can read and write what its user can".into()
        }
        (_, false) => format!("this kernel's Landlock (version {effective}) does not cover {}", missing.join(" and ")),
    };
    Confinement { files: effective >= 1, tcp: effective >= 4, signals: effective >= 6, missing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: &LandlockStatus, covered: [bool; 3], missing: &str) {
        let told = told(status);
        assert_eq!(([told.files, told.tcp, told.signals], told.missing.as_str()), (covered, missing));
    }

    #[test]
    fn what_a_kernel_cannot_do_is_said() {
        let version = |effective_abi| LandlockStatus::Available { effective_abi, kernel_abi: None };
        check(&version(ABI::V6), [true; 3], "");
        check(
            &version(ABI::V3),
            [true, false, false],
            "this kernel's Landlock (version 3) does not cover TCP and signals",
        );
        let none = "this kernel has no Landlock, or it is off: the worker can read and write what its user can";
        check(&LandlockStatus::NotImplemented, [false; 3], none);
    }
}
