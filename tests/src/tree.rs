//! Folders as values, so that a test can say what changed in one comparison.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every file at or below `folder` with its bytes, by path relative to it; folders stand with a final `/` and no bytes.
/// A folder that does not exist is empty.
#[must_use]
pub fn tree(folder: impl AsRef<Path>) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(folder.as_ref(), "", &mut found);
    found
}

/// Copies every file and folder below `from` into `to`.
///
/// # Panics
/// When a file cannot be written.
#[track_caller]
pub fn copy_tree(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let to = to.as_ref();
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    for (name, bytes) in tree(from) {
        let path = to.join(&name);
        let done = if name.ends_with('/') { fs::create_dir_all(&path) } else { fs::write(&path, bytes) };
        done.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
            found.insert(format!("{name}/"), Vec::new());
        } else {
            found.insert(name, fs::read(entry.path()).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_tree_is_the_same_tree() {
        let from = tempfile::tempdir().unwrap();
        fs::create_dir_all(from.path().join("a/empty")).unwrap();
        fs::write(from.path().join("a/x"), "1").unwrap();
        let to = tempfile::tempdir().unwrap();
        copy_tree(from.path(), to.path().join("copy"));
        let copied = tree(to.path().join("copy"));
        assert_eq!(copied, tree(from.path()));
        assert_eq!(copied.keys().collect::<Vec<_>>(), ["a/", "a/empty/", "a/x"]);
    }
}
