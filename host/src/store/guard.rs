//! Path guard: nothing is written in the tree that machines share, nor in a git repository (L 11, DECISIONS 6.8).
//!
//! Every function that writes asks for a [`Guarded`], which only [`Guard::check`] makes. So an unguarded write does not
//! compile, and what is written is the very path that was judged.
//!
//! The judgement is about the moment of the check. A folder that somebody swaps for a link afterwards is not noticed:
//! the guard protects against mistakes, and against an attacker file permissions must.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::resolve::{self, Probe, RealProbe, ResolveError};
use crate::env;
use crate::reasons::Fatal;

/// Judges paths that are to be written.
#[derive(Clone, Debug)]
pub struct Guard {
    shared: Option<Arc<Path>>,
}

impl Guard {
    /// The guard of this process: the shared tree is the one that `ROOSYNC_SHARED_PATH` names.
    #[must_use]
    pub fn from_env() -> Self {
        Self::new(env::get(env::SHARED_PATH).map(PathBuf::from))
    }

    /// A guard with this shared tree, which need not exist. A relative one starts in the current folder.
    #[must_use]
    pub fn new(shared: Option<PathBuf>) -> Self {
        Self { shared: shared.map(Arc::from) }
    }

    /// Judges a path, which need not exist. The shared tree is looked at before repositories (L 11).
    ///
    /// # Errors
    /// [`GuardError`] when the path is refused, or when nobody can say where it leads.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<Guarded, GuardError> {
        self.check_with(&RealProbe, path.as_ref())
    }

    fn check_with(&self, probe: &dyn Probe, path: &Path) -> Result<Guarded, GuardError> {
        let resolved = resolve::resolve(probe, path)?;
        let unclear = |kind| GuardError::Unresolved(ResolveError { path: path.to_owned(), kind });
        if let Some(shared) = &self.shared {
            let root = resolve::resolve(probe, shared).map_err(GuardError::SharedUnresolved)?;
            if resolve::lies_in(probe, &root, &resolved).map_err(unclear)? {
                return Err(GuardError::Shared(Box::new(Refused { path: path.to_owned(), resolved, root })));
            }
        }
        match resolve::repository(probe, &resolved).map_err(unclear)? {
            Some(root) => Err(GuardError::Repository(Box::new(Refused { path: path.to_owned(), resolved, root }))),
            None => Ok(Guarded { path: resolved, guard: self.clone() }),
        }
    }
}

/// Proof that a path may be written. Holds where the path really leads.
#[derive(Clone, Debug)]
pub struct Guarded {
    path: PathBuf,
    guard: Guard,
}

impl Guarded {
    /// The absolute path, without links and `..`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of an entry of this folder, judged again: the entry may be a link that leads elsewhere.
    ///
    /// # Errors
    /// [`GuardError`] when `name` is not one plain name, or where it leads is refused.
    pub fn join(&self, name: impl AsRef<OsStr>) -> Result<Self, GuardError> {
        let name = Path::new(name.as_ref());
        let mut components = name.components();
        match (components.next(), components.next()) {
            (Some(Component::Normal(only)), None) if only == name.as_os_str() => self.guard.check(self.path.join(only)),
            (Some(_) | None, _) => Err(GuardError::NotAName { folder: self.path.clone(), name: name.to_owned() }),
        }
    }

    /// The path beside this one whose name has `suffix` added: `<out>.lock` beside `<out>`.
    ///
    /// # Errors
    /// [`GuardError`] when this path has no name, or where the other leads is refused.
    pub fn with_suffix(&self, suffix: &str) -> Result<Self, GuardError> {
        let unnamed = || GuardError::NotAName { folder: self.path.clone(), name: suffix.into() };
        let mut name = self.path.file_name().ok_or_else(unnamed)?.to_owned();
        name.push(suffix);
        self.guard.check(self.path.with_file_name(name))
    }

    /// The folder that holds this path, `None` for a root. No second check is needed: what is refused for a folder is
    /// refused for all below it.
    #[must_use]
    pub fn folder(&self) -> Option<Self> {
        self.path.parent().map(|parent| Self { path: parent.to_owned(), guard: self.guard.clone() })
    }
}

/// A path that is refused, and why.
#[derive(Debug)]
pub struct Refused {
    /// The path as given.
    pub path: PathBuf,
    /// Where it leads.
    pub resolved: PathBuf,
    /// The tree that it lies in.
    pub root: PathBuf,
}

/// A path that may not be written.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// At or below the tree that machines share.
    #[error(
        "{} (which is {}) lies in the shared tree {}",
        .0.path.display(), .0.resolved.display(), .0.root.display()
    )]
    Shared(Box<Refused>),
    /// In a git repository or work tree.
    #[error(
        "{} (which is {}) lies in the git repository {}",
        .0.path.display(), .0.resolved.display(), .0.root.display()
    )]
    Repository(Box<Refused>),
    /// Nobody can say where the shared tree lies, so no path is known to be outside of it.
    #[error("the shared tree that ROOSYNC_SHARED_PATH names cannot be found")]
    SharedUnresolved(#[source] ResolveError),
    /// Nobody can say where the path leads.
    #[error(transparent)]
    Unresolved(#[from] ResolveError),
    /// Something other than one name was to be joined to a folder.
    #[error("{} is not the name of one entry of {}", name.display(), folder.display())]
    NotAName {
        /// The folder.
        folder: PathBuf,
        /// What is no name.
        name: PathBuf,
    },
}

impl GuardError {
    /// The code with which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self {
            Self::Shared(_) | Self::SharedUnresolved(_) => Fatal::SharedPathRefused,
            Self::Repository(_) => Fatal::RepoPathRefused,
            Self::Unresolved(_) | Self::NotAName { .. } => Fatal::WriteFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A home with `shared`, `sh`, `repo/.git`, `work/.git` (a file), `bare` and `plain`.
    struct World {
        home: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let world = Self { home: tempfile::tempdir().unwrap() };
            for folder in ["shared/deep", "plain", "repo/.git", "work", "bare/objects", "bare/refs"] {
                fs::create_dir_all(world.at(folder)).unwrap();
            }
            for file in ["work/.git", "bare/HEAD"] {
                fs::File::create(world.at(file)).unwrap();
            }
            world
        }

        fn at(&self, name: &str) -> PathBuf {
            self.home.path().canonicalize().unwrap().join(name)
        }

        fn guard(&self) -> Guard {
            Guard::new(Some(self.at("shared")))
        }

        #[track_caller]
        fn check(&self, name: &str, expected: Result<&str, Fatal>) {
            self.check_by(&self.guard(), name, expected);
        }

        #[track_caller]
        fn check_by(&self, guard: &Guard, name: &str, expected: Result<&str, Fatal>) {
            let answer = guard.check(self.at(name)).map(|guarded| guarded.path().to_owned());
            assert_eq!(answer.map_err(|error| error.code()), expected.map(|name| self.at(name)));
        }
    }

    #[test]
    fn a_plain_path_is_allowed_and_need_not_exist() {
        World::new().check("plain", Ok("plain"));
        World::new().check("plain/a/b/c", Ok("plain/a/b/c"));
    }

    #[test]
    fn the_shared_tree_is_refused_and_all_below() {
        World::new().check("shared", Err(Fatal::SharedPathRefused));
        World::new().check("shared/deep/new/file", Err(Fatal::SharedPathRefused));
    }

    #[test]
    fn a_sibling_with_the_same_prefix_is_allowed() {
        World::new().check("shared2/a", Ok("shared2/a"));
    }

    #[test]
    fn a_way_round_by_dots_is_refused() {
        World::new().check("plain/missing/../../shared/a", Err(Fatal::SharedPathRefused));
    }

    #[test]
    fn a_way_out_by_dots_is_allowed() {
        World::new().check("shared/deep/../../plain/a", Ok("plain/a"));
    }

    #[test]
    fn repositories_of_each_shape_are_refused() {
        World::new().check("repo/a/b", Err(Fatal::RepoPathRefused));
        World::new().check("repo/.git/a", Err(Fatal::RepoPathRefused));
        World::new().check("work/a", Err(Fatal::RepoPathRefused));
        World::new().check("bare/a", Err(Fatal::RepoPathRefused));
    }

    #[test]
    fn a_shared_tree_that_is_a_repository_is_refused_as_shared() {
        let world = World::new();
        fs::create_dir(world.at("shared/.git")).unwrap();
        world.check("shared/a", Err(Fatal::SharedPathRefused));
    }

    #[test]
    fn without_a_shared_tree_only_repositories_are_refused() {
        let (world, guard) = (World::new(), Guard::new(None));
        world.check_by(&guard, "shared/a", Ok("shared/a"));
        world.check_by(&guard, "repo/a", Err(Fatal::RepoPathRefused));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_above_a_path_that_does_not_exist_is_followed() {
        let world = World::new();
        std::os::unix::fs::symlink(world.at("shared/deep"), world.at("plain/l")).unwrap();
        world.check("plain/l/new/file", Err(Fatal::SharedPathRefused));
    }

    #[cfg(unix)]
    #[test]
    fn a_dangling_link_is_judged_by_its_target() {
        let world = World::new();
        std::os::unix::fs::symlink("../shared/not-yet", world.at("plain/l")).unwrap();
        std::os::unix::fs::symlink("../plain/not-yet", world.at("repo/l")).unwrap();
        world.check("plain/l", Err(Fatal::SharedPathRefused));
        world.check("repo/l", Ok("plain/not-yet"));
    }

    #[cfg(unix)]
    #[test]
    fn a_shared_tree_given_by_a_link_is_refused_under_both_names() {
        let world = World::new();
        std::os::unix::fs::symlink(world.at("shared"), world.at("s")).unwrap();
        let guard = Guard::new(Some(world.at("s")));
        world.check_by(&guard, "shared/a", Err(Fatal::SharedPathRefused));
        world.check_by(&guard, "s/a", Err(Fatal::SharedPathRefused));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_allowed_while_nobody_knows_where_the_shared_tree_lies() {
        let world = World::new();
        std::os::unix::fs::symlink("circle", world.at("circle")).unwrap();
        let guard = Guard::new(Some(world.at("circle")));
        world.check_by(&guard, "plain/a", Err(Fatal::SharedPathRefused));
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_are_refused_as_not_writable() {
        let world = World::new();
        std::os::unix::fs::symlink("circle", world.at("circle")).unwrap();
        world.check("circle/a", Err(Fatal::WriteFailed));
    }

    #[test]
    fn a_relative_path_is_judged_in_the_current_folder() {
        let current = std::env::current_dir().unwrap();
        let guard = Guard::new(Some(current));
        assert_eq!(guard.check("some/new/file").unwrap_err().code(), Fatal::SharedPathRefused);
    }

    #[test]
    fn a_refusal_names_the_path_where_it_leads_and_the_tree() {
        let world = World::new();
        let error = world.guard().check(world.at("plain/../shared/a")).unwrap_err();
        let at = |name: &str| world.at(name).display().to_string();
        assert_eq!(
            error.to_string(),
            format!(
                "{}/../shared/a (which is {}) lies in the shared tree {}",
                at("plain"),
                at("shared/a"),
                at("shared")
            )
        );
    }

    #[test]
    fn a_joined_name_is_one_plain_name() {
        let world = World::new();
        let plain = world.guard().check(world.at("plain")).unwrap();
        assert_eq!(plain.join("a.json").unwrap().path(), world.at("plain/a.json"));
        for name in ["", ".", "..", "a/b", "/a", "a/"] {
            assert!(matches!(plain.join(name), Err(GuardError::NotAName { .. })), "{name:?}");
        }
        assert_eq!(plain.join(".git").unwrap_err().code(), Fatal::RepoPathRefused);
    }

    #[cfg(unix)]
    #[test]
    fn a_joined_name_that_is_a_link_is_judged_again() {
        let world = World::new();
        let plain = world.guard().check(world.at("plain")).unwrap();
        std::os::unix::fs::symlink(world.at("shared"), world.at("plain/snapshots")).unwrap();
        assert_eq!(plain.join("snapshots").unwrap_err().code(), Fatal::SharedPathRefused);
    }

    #[test]
    fn a_suffix_makes_a_neighbour_and_the_folder_is_the_parent() {
        let world = World::new();
        let out = world.guard().check(world.at("plain/out.json")).unwrap();
        assert_eq!(out.with_suffix(".lock").unwrap().path(), world.at("plain/out.json.lock"));
        assert_eq!(out.folder().unwrap().path(), world.at("plain"));
    }
}
