//! Paths on a made-up tree, and a comparison with the system's own answer on a real one.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// A tree in memory; the current folder is `/cwd`.
#[derive(Default)]
struct Tree {
    entries: HashMap<PathBuf, Entry>,
    forbidden: Vec<PathBuf>,
    identities: HashMap<PathBuf, Identity>,
}

impl Tree {
    fn folder(self, path: &str) -> Self {
        self.with(path, Entry::Folder)
    }

    fn file(self, path: &str) -> Self {
        self.with(path, Entry::Other)
    }

    fn link(self, path: &str, target: &str) -> Self {
        self.with(path, Entry::Link(target.into()))
    }

    fn with(mut self, path: &str, entry: Entry) -> Self {
        self.entries.insert(path.into(), entry);
        self
    }

    fn forbidden(mut self, path: &str) -> Self {
        self.forbidden.push(path.into());
        self
    }

    fn identity(mut self, path: &str, number: u64) -> Self {
        self.identities.insert(path.into(), Identity { device: 1, number });
        self
    }
}

impl Probe for Tree {
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        if path.as_os_str().is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Path::new("/cwd").join(path))
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        if self.forbidden.iter().any(|at| at == path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(self.entries.get(path).cloned().unwrap_or(Entry::Absent))
    }

    fn long_names(&self, path: PathBuf) -> io::Result<PathBuf> {
        Ok(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<Identity>> {
        Ok(self.identities.get(path).copied())
    }
}

#[track_caller]
fn check(tree: &Tree, path: &str, expected: &str) {
    assert_eq!(resolve(tree, Path::new(path)).unwrap(), Path::new(expected));
}

#[test]
fn a_relative_path_starts_in_the_current_folder() {
    check(&Tree::default(), "a/b", "/cwd/a/b");
}

#[test]
fn dots_are_dropped_and_nothing_is_above_the_root() {
    check(&Tree::default(), "/a/./b//c/", "/a/b/c");
    check(&Tree::default(), "/../../a", "/a");
}

#[test]
fn a_step_up_after_a_name_that_does_not_exist_takes_that_name_back() {
    check(&Tree::default(), "/a/missing/../b", "/a/b");
}

#[test]
fn a_step_up_after_a_link_goes_to_the_parent_of_its_target() {
    check(&Tree::default().link("/a/l", "/x/y"), "/a/l/../b", "/x/b");
}

#[test]
fn a_link_met_again_after_a_step_up_is_followed_again() {
    check(&Tree::default().link("/a/l", "/x"), "/a/missing/../l/b", "/x/b");
}

#[test]
fn a_relative_link_starts_in_its_own_folder() {
    check(&Tree::default().link("/a/l", "../x"), "/a/l/b", "/x/b");
}

#[test]
fn a_link_to_nothing_is_followed_to_where_it_would_be_created() {
    check(&Tree::default().link("/a/l", "/gone/away"), "/a/l", "/gone/away");
}

#[test]
fn a_link_to_a_link_is_followed_to_the_end() {
    check(&Tree::default().link("/a", "/b").link("/b", "/c"), "/a/x", "/c/x");
}

#[track_caller]
fn check_refused(tree: &Tree, path: &str, expected: &str) {
    let error = resolve(tree, Path::new(path)).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot tell where {path} leads"));
    assert_eq!(error.kind.to_string(), expected);
}

#[test]
fn links_in_a_circle_are_refused() {
    check_refused(&Tree::default().link("/a", "/b").link("/b", "/a"), "/a/x", "more than 40 links from /a on");
}

#[test]
fn a_link_to_itself_is_refused() {
    check_refused(&Tree::default().link("/a", "a"), "/a", "more than 40 links from /a on");
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let chain =
        |length: u32| (0..length).fold(Tree::default(), |tree, n| tree.link(&format!("/{n}"), &format!("/{}", n + 1)));
    check(&chain(40), "/0/x", "/40/x");
    check_refused(&chain(41), "/0/x", "more than 40 links from /40 on");
}

#[test]
fn a_name_that_cannot_be_examined_is_refused() {
    check_refused(&Tree::default().forbidden("/a/b"), "/a/b/c", "/a/b cannot be examined");
}

#[test]
fn an_empty_path_is_refused() {
    check_refused(&Tree::default(), "", "it cannot be made absolute");
}

#[track_caller]
fn check_repository(tree: &Tree, path: &str, expected: Option<&str>) {
    assert_eq!(repository(tree, Path::new(path)).unwrap(), expected.map(PathBuf::from));
}

#[test]
fn a_folder_with_git_is_a_repository_for_all_below() {
    let tree = Tree::default().folder("/r/.git");
    check_repository(&tree, "/r", Some("/r"));
    check_repository(&tree, "/r/a/b", Some("/r"));
    check_repository(&tree, "/s", None);
}

#[test]
fn the_git_file_of_a_work_tree_counts() {
    check_repository(&Tree::default().file("/w/.git"), "/w/a", Some("/w"));
}

#[test]
fn a_git_link_counts_wherever_it_leads() {
    check_repository(&Tree::default().link("/w/.git", "/gone"), "/w/a", Some("/w"));
}

#[test]
fn the_nearest_repository_is_named() {
    check_repository(&Tree::default().folder("/r/.git").file("/r/sub/.git"), "/r/sub/a", Some("/r/sub"));
}

#[test]
fn a_path_inside_git_is_refused_even_before_that_exists() {
    check_repository(&Tree::default(), "/r/.git/x", Some("/r/.git"));
}

#[test]
fn a_bare_repository_needs_all_three_of_its_parts() {
    let two = || Tree::default().file("/b/HEAD").folder("/b/objects");
    check_repository(&two(), "/b/x", None);
    check_repository(&two().file("/b/refs"), "/b/x", None);
    check_repository(&two().folder("/b/refs"), "/b/x", Some("/b"));
}

#[test]
fn a_folder_that_hides_whether_it_is_a_repository_is_refused() {
    let hidden = repository(&Tree::default().forbidden("/r/.git"), Path::new("/r/a")).unwrap_err();
    assert_eq!(hidden.to_string(), "/r/.git cannot be examined");
}

#[test]
fn the_same_folder_under_a_second_name_is_the_shared_tree() {
    let tree = Tree::default().identity("/shared", 7).identity("/mounted", 7).identity("/else", 8);
    let inside = |path: &str| lies_in(&tree, Path::new("/shared"), Path::new(path)).unwrap();
    assert!(inside("/mounted/a/b") && inside("/shared/a"));
    assert!(!inside("/else/a") && !inside("/absent"));
}

#[test]
fn an_absent_shared_tree_holds_nothing_but_its_own_names() {
    let inside = |path: &str| lies_in(&Tree::default(), Path::new("/shared"), Path::new(path)).unwrap();
    assert!(inside("/shared/a") && !inside("/a"));
}

/// A real tree: folders `a/b/c`, and links up, down and absolute.
#[cfg(unix)]
fn real_tree() -> tempfile::TempDir {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    std::fs::create_dir_all(at("a/b/c")).unwrap();
    std::fs::create_dir_all(at("d")).unwrap();
    symlink("../d", at("a/l")).unwrap();
    symlink(at("a/b"), at("d/m")).unwrap();
    symlink("..", at("a/b/n")).unwrap();
    home
}

#[cfg(unix)]
proptest! {
    #[test]
    fn what_exists_resolves_to_what_the_system_says(
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "l", "m", "n", "..", "."]), 0..8),
    ) {
        let home = real_tree();
        let path = names.iter().fold(home.path().to_owned(), |path, name| path.join(name));
        if let Ok(expected) = path.canonicalize() {
            prop_assert_eq!(resolve(&RealProbe, &path).unwrap(), expected);
        }
    }
}

#[test]
fn a_name_that_the_system_refuses_to_look_up_is_refused() {
    let long = Path::new("/").join("x".repeat(4096));
    assert!(matches!(resolve(&RealProbe, &long).unwrap_err().kind, ResolveErrorKind::Unexaminable { .. }));
    let nul = resolve(&RealProbe, Path::new("/tmp/a\0b")).unwrap_err();
    assert!(matches!(nul.kind, ResolveErrorKind::Unexaminable { .. }));
}
