//! Where the built host and its plugins are.
//!
//! `cargo test` builds neither for another package (STYLE 3), so the tests look beside their own binary and refuse to
//! run against something older than the sources: a green run of an old host says nothing.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

/// The built host in a folder with the product's plugins and no other, checked once a process against its sources.
///
/// # Panics
/// When the host or a plugin is missing or older than its sources.
#[must_use]
#[track_caller]
pub fn host() -> &'static Path {
    static HOST: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match HOST.get_or_init(|| stage(&built()?)) {
        Ok(path) => path,
        Err(why) => panic!("{why}; run scripts/test, which builds what the tests need"),
    }
}

/// The library of the test plugin `name` of `tests/bad_plugins`.
///
/// # Panics
/// When it is missing or older than its sources.
#[must_use]
#[track_caller]
pub fn test_plugin(name: &str) -> PathBuf {
    let file = format!("{DLL_PREFIX}test_plugin_{name}{DLL_SUFFIX}");
    let sources = [format!("tests/bad_plugins/{name}/src"), "plugin-api/src".to_owned()];
    match profile().and_then(|profile| fresh(&profile.join(file), sources.iter().map(String::as_str))) {
        Ok(path) => path,
        Err(why) => panic!("{why}; run scripts/test, which builds what the tests need"),
    }
}

/// The root of the repository.
#[must_use]
pub fn repository() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}

/// The folder of all builds.
///
/// # Panics
/// When the test stands in none.
#[must_use]
#[track_caller]
pub fn target() -> PathBuf {
    match profile().map(|profile| profile.parent().map(Path::to_owned)) {
        Ok(Some(target)) => target,
        Ok(None) => panic!("the test stands in no target folder"),
        Err(why) => panic!("{why}"),
    }
}

/// An artifact's file and the folders whose sources go into it.
struct Artifact {
    file: String,
    sources: &'static [&'static str],
}

fn expected() -> [Artifact; 4] {
    let library = |name: &str| format!("{DLL_PREFIX}{name}{DLL_SUFFIX}");
    [
        Artifact { file: format!("host{}", std::env::consts::EXE_SUFFIX), sources: &["host/src", "plugin-api/src"] },
        Artifact { file: library("host_issue_debt"), sources: &["plugins/issue-debt/src", "plugin-api/src"] },
        Artifact { file: library("host_command"), sources: &["plugins/command/src", "plugin-api/src"] },
        Artifact { file: library("host_gpu_reservation"), sources: &["plugins/gpu-reservation/src", "plugin-api/src"] },
    ]
}

/// The folder of the build: `target/<profile>/deps/blackbox-..` stands one folder below it.
fn profile() -> Result<PathBuf, String> {
    let test = std::env::current_exe().map_err(|error| format!("the test does not know where it is: {error}"))?;
    let profile = test.ancestors().nth(2).ok_or_else(|| format!("{} is in no target folder", test.display()))?;
    Ok(profile.to_owned())
}

/// The folder of the build, in which every artifact is as new as its sources.
fn built() -> Result<PathBuf, String> {
    let profile = profile()?;
    for artifact in expected() {
        fresh(&profile.join(&artifact.file), artifact.sources.iter().copied())?;
    }
    Ok(profile)
}

/// The file at `path`, if it is as new as the sources in `folders`.
fn fresh<'f>(path: &Path, folders: impl IntoIterator<Item = &'f str>) -> Result<PathBuf, String> {
    let built = modified(path).ok_or_else(|| format!("{} is not built", path.display()))?;
    for folder in folders {
        if let Some(source) = newer_source(&repository().join(folder), built) {
            return Err(format!("{} is older than {}", path.display(), source.display()));
        }
    }
    Ok(path.to_owned())
}

/// Links the artifacts into a folder of their own, and gives the host there.
///
/// The folder of the build also holds the plugins of other tests, and the host lists every kind that lies beside it.
/// Several test processes do this at once: each link is made under another name and renamed.
fn stage(build: &Path) -> Result<PathBuf, String> {
    let folder = build.join("blackbox-host");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for artifact in expected() {
        let (from, to) = (build.join(&artifact.file), folder.join(&artifact.file));
        let fresh = folder.join(format!("{}.{}", artifact.file, std::process::id()));
        let linked = std::fs::hard_link(&from, &fresh).and_then(|()| std::fs::rename(&fresh, &to));
        linked.map_err(|error| format!("{} cannot be linked to {}: {error}", from.display(), to.display()))?;
        // Renaming a link onto a link of the same file leaves both.
        drop(std::fs::remove_file(&fresh));
    }
    Ok(folder.join(&expected()[0].file))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

/// A Rust source at or below `folder` that was changed after `built`.
fn newer_source(folder: &Path, built: SystemTime) -> Option<PathBuf> {
    std::fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path()).find_map(|path| {
        if path.is_dir() {
            newer_source(&path, built)
        } else {
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            (is_source && modified(&path).is_some_and(|changed| changed > built)).then_some(path)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_changed_after_the_build_is_found_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("x.rs"), "").unwrap();
        std::fs::write(deep.join("x.txt"), "").unwrap();
        assert_eq!(newer_source(folder.path(), SystemTime::UNIX_EPOCH), Some(deep.join("x.rs")));
        let changed = modified(&deep.join("x.rs")).unwrap();
        assert_eq!(newer_source(folder.path(), changed), None);
    }
}
