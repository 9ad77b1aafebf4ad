//! Files that an organ may read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plugin_api::Failure;
use plugin_api::organ::services::{FileEntry, FileList, FileNames, FileRead, FileText};
use sha2::{Digest as _, Sha256};

use super::failure;
use crate::store::resolve::{self, RealProbe};

/// Length that is read when the request names none: 16 MiB.
const USUAL: u64 = 16 << 20;
/// Most that is ever read: 32 MiB, because an answer must fit a frame of the worker's protocol.
pub(super) const MOST: u64 = 32 << 20;
/// Most entries of a folder.
const MOST_ENTRIES: usize = 100_000;

/// Files that an organ may read.
#[derive(Debug)]
pub(super) struct Files {
    visible: Vec<PathBuf>,
}

impl Files {
    pub(super) fn new(visible: Vec<PathBuf>) -> Self {
        Self { visible }
    }

    pub(super) fn read(&self, request: &FileRead) -> Result<FileText, Failure> {
        let path = self.visible(&request.path)?;
        let limit = limit(request.max_bytes);
        let bytes = read(&path, limit).map_err(|error| unreadable(&request.path, &error))?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
            return Err(failure::too_large(&request.path, limit, "read it with a larger max_bytes, at most 32 MiB"));
        }
        let sha256 = base16(&Sha256::digest(&bytes));
        let (text, base64) = text_or_base64(bytes);
        Ok(FileText { text, base64, sha256 })
    }

    pub(super) fn list(&self, request: &FileList) -> Result<FileNames, Failure> {
        let path = self.visible(&request.path)?;
        let failed = |error: io::Error| unreadable(&request.path, &error);
        let mut entries = Vec::new();
        for entry in path.read_dir().map_err(failed)? {
            if entries.len() == MOST_ENTRIES {
                let text = format!("{} has more than {MOST_ENTRIES} entries; list a smaller folder", request.path);
                return Err(Failure::new("too_large", text));
            }
            let entry = entry.map_err(failed)?;
            // A link stands for itself: what it leads to may not be visible.
            let Some(found) = absent_is_none(entry.metadata()).map_err(failed)? else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push(FileEntry { name, folder: found.is_dir(), bytes: found.len() });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(FileNames { entries })
    }

    /// Where a path leads, if the organ may look there. Whether something is there is not told otherwise.
    fn visible(&self, path: &str) -> Result<PathBuf, Failure> {
        let refused = |why: String| {
            let listed: Vec<_> = self.visible.iter().map(|root| root.display().to_string()).collect();
            let allowed = if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") };
            let text = format!("{path} {why}; visible is {allowed}; name it as an input of the run");
            Failure::new("not_visible", text)
        };
        let resolved =
            resolve::resolve(&RealProbe, Path::new(path)).map_err(|error| refused(failure::chain(&error)))?;
        if lies_below(&self.visible, &resolved) { Ok(resolved) } else { Err(refused("is not visible".to_owned())) }
    }
}

/// Whether a resolved path is one of these or lies below one. A root of which nobody can say where it leads holds nothing.
fn lies_below(roots: &[PathBuf], path: &Path) -> bool {
    roots.iter().any(|root| {
        resolve::resolve(&RealProbe, root)
            .is_ok_and(|root| resolve::lies_in(&RealProbe, &root, path).is_ok_and(|inside| inside))
    })
}

fn limit(asked: u64) -> u64 {
    if asked == 0 { USUAL } else { asked.min(MOST) }
}

/// The bytes of a plain file, one more than `limit` at most.
fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The path was resolved, so a link at its end was put there afterwards and is not followed; a pipe must not hold us.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    Ok(rustix::fs::open(path, flags, Mode::empty()).map(File::from)?)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn absent_is_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

fn unreadable(path: &str, error: &io::Error) -> Failure {
    let (code, remedy) = if error.kind() == io::ErrorKind::NotFound {
        ("absent", "check the path")
    } else {
        ("unreadable", "check the path and its permissions")
    };
    Failure::new(code, format!("cannot read {path}: {error}; {remedy}"))
}

/// Bytes as text, or in base64 when they are none.
pub(super) fn text_or_base64(bytes: Vec<u8>) -> (String, Option<String>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => (String::new(), Some(STANDARD.encode(error.as_bytes()))),
    }
}

/// Bytes in lower-case hex digits.
pub(super) fn base16(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::testing::{Home, put};

    fn home() -> (Home, Files) {
        let home = Home::new();
        fs::create_dir_all(home.at("in/sub")).unwrap();
        put(&home.at("in/a.txt"), b"text\n");
        put(&home.at("in/b.bin"), b"\xff\x00");
        put(&home.at("secret"), b"s");
        let files = Files::new(vec![home.at("in")]);
        (home, files)
    }

    fn read_at(home: &Home, files: &Files, name: &str, max_bytes: u64) -> Result<FileText, Failure> {
        files.read(&FileRead { path: home.at(name).display().to_string(), max_bytes })
    }

    #[test]
    fn a_file_is_read_as_text_or_base64_with_its_digest() {
        let (home, files) = home();
        let text = read_at(&home, &files, "in/a.txt", 0).unwrap();
        assert_eq!((text.text.as_str(), text.base64), ("text\n", None));
        assert_eq!(text.sha256, "b9e68e1bea3e5b19ca6b2f98b73a54b73daafaa250484902e09982e07a12e733");
        let binary = read_at(&home, &files, "in/b.bin", 0).unwrap();
        assert_eq!((binary.text.as_str(), binary.base64.as_deref()), ("", Some("/wA=")));
    }

    #[track_caller]
    fn check(name: &str, max_bytes: u64, code: &str) {
        let (home, files) = home();
        let failure = read_at(&home, &files, name, max_bytes).unwrap_err();
        assert_eq!(failure.code, code, "{}", failure.message);
    }

    #[test]
    fn what_is_outside_is_not_visible_whether_it_is_there_or_not() {
        check("secret", 0, "not_visible");
        check("nothing", 0, "not_visible");
        check("in/../secret", 0, "not_visible");
        check("in2", 0, "not_visible");
    }

    #[test]
    fn what_cannot_be_read_is_told_apart() {
        check("in/nothing", 0, "absent");
        check("in/sub", 0, "unreadable");
        check("in/a.txt", 4, "too_large");
    }

    #[test]
    fn a_file_of_just_the_limit_is_read() {
        let (home, files) = home();
        assert_eq!(read_at(&home, &files, "in/a.txt", 5).unwrap().text, "text\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_is_not_visible_and_one_inside_is() {
        let (home, files) = home();
        std::os::unix::fs::symlink(home.at("secret"), home.at("in/out")).unwrap();
        std::os::unix::fs::symlink("a.txt", home.at("in/inside")).unwrap();
        assert_eq!(read_at(&home, &files, "in/out", 0).unwrap_err().code, "not_visible");
        assert_eq!(read_at(&home, &files, "in/inside", 0).unwrap().text, "text\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_refused_at_once() {
        let (home, files) = home();
        let made = std::process::Command::new("mkfifo").arg(home.at("in/pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(read_at(&home, &files, "in/pipe", 0).unwrap_err().code, "unreadable");
    }

    #[test]
    fn a_folder_is_listed_by_name_and_outside_is_not() {
        let (home, files) = home();
        let list = |name: &str| files.list(&FileList { path: home.at(name).display().to_string() });
        let entries = list("in").unwrap().entries;
        let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.folder)).collect();
        assert_eq!(names, [("a.txt", false), ("b.bin", false), ("sub", true)]);
        assert_eq!(entries[0].bytes, 5);
        assert_eq!(list("").unwrap_err().code, "not_visible");
        assert_eq!(list("in/none").unwrap_err().code, "absent");
    }

    #[test]
    fn nothing_is_visible_where_nothing_was_granted() {
        let home = Home::new();
        put(&home.at("a"), b"x");
        let failure = read_at(&home, &Files::new(Vec::new()), "a", 0).unwrap_err();
        assert!(failure.message.contains("visible is nothing"), "{}", failure.message);
    }
}
