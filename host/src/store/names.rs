//! Names of a path, compared the way the system compares them (L 11).
//!
//! Pure, so that the rules for Windows are tested everywhere.

use std::ffi::OsStr;
use std::path::Path;

/// Whose rules hold for the names of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Names are bytes; `/` separates.
    Posix,
    /// Names ignore case and trailing dots and blanks; `\` and `/` separate; `\\?\` may stand in front.
    Windows,
}

impl Style {
    /// The rules of the system that this host was built for.
    pub const NATIVE: Self = if cfg!(windows) { Self::Windows } else { Self::Posix };
}

/// Whether `path` is `root` or lies below it, by whole names: `/x/sh2` is not below `/x/sh`.
///
/// Both must be resolved: a `..` in them is a name like any other.
#[must_use]
pub fn contains(root: &Path, path: &Path, style: Style) -> bool {
    match style {
        Style::Posix => path.starts_with(root),
        Style::Windows => windows_names(path).starts_with(&windows_names(root)),
    }
}

/// Whether a name is git's own, in any case: on a volume that ignores case, `.GIT` is the same folder.
#[must_use]
pub fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

/// The names of a Windows path in one spelling. Names that cannot be told apart here are refused together.
fn windows_names(path: &Path) -> Vec<String> {
    let text = path.to_string_lossy().replace('/', "\\");
    let plain = text.strip_prefix(r"\\?\").or_else(|| text.strip_prefix(r"\\.\")).unwrap_or(&text);
    let plain = match plain.split_at_checked(4) {
        Some((marker, rest)) if marker.eq_ignore_ascii_case(r"UNC\") && plain.len() < text.len() => rest,
        Some(_) | None => plain,
    };
    plain
        .split('\\')
        .enumerate()
        .map(|(index, name)| windows_name(name, index))
        .filter(|name| !name.is_empty())
        .collect()
}

/// One name: without the stream that may follow a colon (the colon of a drive stays), trailing dots and blanks.
fn windows_name(name: &str, index: usize) -> String {
    let is_drive = index == 0 && name.len() == 2 && name.ends_with(':');
    let file = if is_drive { name } else { name.split(':').next().unwrap_or(name) };
    file.trim_end_matches(['.', ' ']).to_uppercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(style: Style, root: &str, path: &str, expected: bool) {
        assert_eq!(contains(Path::new(root), Path::new(path), style), expected);
    }

    #[test]
    fn the_root_itself_is_inside() {
        check(Style::Posix, "/x/sh", "/x/sh", true);
    }

    #[test]
    fn a_path_below_is_inside() {
        check(Style::Posix, "/x/sh", "/x/sh/a/b", true);
    }

    #[test]
    fn a_sibling_with_the_same_prefix_is_outside() {
        check(Style::Posix, "/x/sh", "/x/sh2", false);
        check(Style::Windows, r"C:\x\sh", r"C:\x\sh2", false);
    }

    #[test]
    fn the_parent_is_outside() {
        check(Style::Posix, "/x/sh", "/x", false);
        check(Style::Windows, r"C:\x\sh", r"C:\x", false);
    }

    #[test]
    fn posix_names_keep_their_case() {
        check(Style::Posix, "/x/Sh", "/x/sh/a", false);
    }

    #[test]
    fn windows_names_ignore_case() {
        check(Style::Windows, r"C:\Shared", r"c:\SHARED\a", true);
        check(Style::Windows, r"C:\Übung", r"C:\übung\a", true);
    }

    #[test]
    fn both_separators_of_windows_are_one() {
        check(Style::Windows, r"C:\shared", "C:/shared/a", true);
    }

    #[test]
    fn a_verbatim_prefix_changes_nothing() {
        check(Style::Windows, r"C:\shared", r"\\?\C:\shared\a", true);
        check(Style::Windows, r"\\?\C:\shared", r"C:\shared\a", true);
        check(Style::Windows, r"\\server\share", r"\\?\UNC\server\share\a", true);
    }

    #[test]
    fn a_folder_that_is_called_unc_is_no_prefix() {
        check(Style::Windows, r"UNC\a", r"a\b", false);
    }

    #[test]
    fn another_drive_or_server_is_outside() {
        check(Style::Windows, r"C:\shared", r"D:\shared\a", false);
        check(Style::Windows, r"\\one\share", r"\\two\share\a", false);
    }

    #[test]
    fn dots_blanks_and_streams_do_not_hide_a_windows_name() {
        check(Style::Windows, r"C:\shared", r"C:\shared. .\a", true);
        check(Style::Windows, r"C:\shared", r"C:\shared::$INDEX_ALLOCATION\a", true);
    }

    #[test]
    fn git_is_known_in_any_case() {
        assert!(is_git(OsStr::new(".git")) && is_git(OsStr::new(".GIT")));
        assert!(!is_git(OsStr::new("git")) && !is_git(OsStr::new(".github")));
    }

    proptest! {
        #[test]
        fn whatever_is_joined_to_a_root_lies_inside(
            root in "[a-zA-Z]{1,5}(/[a-zA-Z]{1,5}){0,3}",
            tail in "[a-z]{1,5}(/[a-z]{1,5}){0,3}",
        ) {
            let root = format!("/{root}");
            let path = format!("{root}/{tail}");
            for style in [Style::Posix, Style::Windows] {
                prop_assert!(contains(Path::new(&root), Path::new(&path), style));
                prop_assert!(!contains(Path::new(&path), Path::new(&root), style));
                let sibling = format!("{root}x");
                prop_assert!(!contains(Path::new(&sibling), Path::new(&path), style));
            }
        }
    }
}
