//! Whole input files, and folders for outputs.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use plugin_api::rules::time::Timestamp;

use super::disk::{Disk, Step, WriteError};
use super::guard::Guarded;
use super::platform;
use crate::reasons::Fatal;

/// An input file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", path.display())]
pub struct InputError {
    /// The file as named.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub kind: InputErrorKind,
}

/// Why an input file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InputErrorKind {
    /// Nothing is there.
    #[error("it does not exist")]
    Absent,
    /// It is a folder.
    #[error("it is a folder")]
    Folder,
    /// The system refused.
    #[error("the system refused")]
    Refused(#[source] io::Error),
    /// Its bytes are no UTF-8 text (N5).
    #[error("it is not UTF-8 text: the byte at offset {offset} starts no character")]
    NotUtf8 {
        /// Offset of the first such byte, from 0.
        offset: usize,
    },
}

impl InputError {
    fn from_io(path: &Path, error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::NotFound {
            InputErrorKind::Absent
        } else if path.is_dir() {
            // Opening a folder is refused in a way of its own on each system.
            InputErrorKind::Folder
        } else {
            InputErrorKind::Refused(error)
        };
        Self { path: path.to_owned(), kind }
    }

    /// The code with which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self.kind {
            InputErrorKind::Absent | InputErrorKind::Folder | InputErrorKind::Refused(_) => Fatal::UnreadableInput,
            InputErrorKind::NotUtf8 { .. } => Fatal::InvalidJson,
        }
    }
}

/// The text of a whole file.
///
/// # Errors
/// [`InputError`] when it cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, InputError> {
    let bytes = read_bytes(path).map_err(|error| InputError::from_io(path, error))?;
    utf8(path, bytes)
}

/// Size from which a file is read by two threads: 8 MB. Most of the time goes into fresh memory, which both then make.
const LARGE: usize = 8 * 1024 * 1024;

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    let length = usize::try_from(found.len()).ok().filter(|length| found.is_file() && *length >= LARGE);
    match length.map(|length| read_in_halves(&file, length)) {
        Some(Ok(bytes)) if usize::try_from(file.metadata()?.len()).is_ok_and(|now| now == bytes.len()) => Ok(bytes),
        // Small, no plain file, or it changes while it is read: one thread, until its end.
        Some(_) | None => std::fs::read(path),
    }
}

fn read_in_halves(file: &File, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let (front, back) = bytes.split_at_mut(length / 2);
    let behind = u64::try_from(front.len()).map_err(io::Error::other)?;
    std::thread::scope(|scope| {
        let other = scope.spawn(move || platform::read_exact_at(file, back, behind));
        let own = platform::read_exact_at(file, front, 0);
        own.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(bytes)
}

/// The text of the whole standard input.
///
/// # Errors
/// [`InputError`] when it cannot be read or is not UTF-8.
pub fn read_stdin() -> Result<String, InputError> {
    let name = Path::new("stdin");
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| InputError { path: name.to_owned(), kind: InputErrorKind::Refused(error) })?;
    utf8(name, bytes)
}

fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        InputError { path: path.to_owned(), kind: InputErrorKind::NotUtf8 { offset } }
    })
}

/// Creates a folder and what is missing above it (0755), each name durable before the next one is made.
///
/// # Errors
/// [`WriteError`] when a folder cannot be created, or something else has its name.
pub fn create_folders(disk: &Disk, folder: &Guarded) -> Result<(), WriteError> {
    let mut missing = Vec::new();
    for at in folder.path().ancestors() {
        if is_folder(at).map_err(WriteError::at(Step::CreateFolder, at))? {
            break;
        }
        missing.push(at);
    }
    missing.into_iter().rev().try_for_each(|at| create_one(disk, at))
}

/// Removes a file and makes that durable; one that is gone already is as good.
///
/// # Errors
/// [`WriteError`] when it stays.
pub fn remove(disk: &Disk, target: &Guarded) -> Result<(), WriteError> {
    let path = target.path();
    match disk.remove(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        result => result.map_err(WriteError::at(Step::Remove, path))?,
    }
    let folder = path.parent().unwrap_or(path);
    disk.sync_folder(folder).map_err(WriteError::at(Step::SyncFolder, folder))
}

fn create_one(disk: &Disk, folder: &Path) -> Result<(), WriteError> {
    if let Err(error) = disk.create_folder(folder) {
        // When another process was faster it is the folder that we want.
        let is_there = error.kind() == io::ErrorKind::AlreadyExists && is_folder(folder).unwrap_or(false);
        if !is_there {
            return Err(WriteError::at(Step::CreateFolder, folder)(error));
        }
    }
    let parent = folder.parent().unwrap_or(folder);
    disk.sync_folder(parent).map_err(WriteError::at(Step::SyncFolder, parent))
}

/// False when nothing is there; an error when it is something else than a folder.
fn is_folder(path: &Path) -> io::Result<bool> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// When a file was last changed.
///
/// # Errors
/// When the system does not keep such a time.
pub fn modified(found: &Metadata) -> io::Result<Timestamp> {
    found.modified().map(timestamp)
}

fn timestamp(time: SystemTime) -> Timestamp {
    let micros = |duration: std::time::Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(match time.duration_since(UNIX_EPOCH) {
        Ok(since) => micros(since),
        Err(before) => micros(before.duration()).saturating_neg(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::store::testing::{Home, put};

    #[track_caller]
    fn check_read(bytes: &[u8], expected: Result<&str, &str>) {
        let home = Home::new();
        put(&home.at("in"), bytes);
        let answer = read_text(&home.at("in")).map_err(|error| error.kind.to_string());
        assert_eq!(answer, expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn text_is_read_whole() {
        check_read("héllo\n".as_bytes(), Ok("héllo\n"));
        check_read(b"", Ok(""));
    }

    #[test]
    fn a_large_file_is_read_whole_and_in_order() {
        let text: String = (0..1_200_000).map(|number| format!("{number:07}\n")).collect();
        check_read(text.as_bytes(), Ok(&text));
        let cut = &text[..text.len() - 1];
        check_read(cut.as_bytes(), Ok(cut));
    }

    #[test]
    fn the_first_byte_that_is_no_text_is_named() {
        check_read(b"abc\xff", Err("it is not UTF-8 text: the byte at offset 3 starts no character"));
        check_read(b"{\"a\":\"\xc3", Err("it is not UTF-8 text: the byte at offset 6 starts no character"));
    }

    #[test]
    fn a_file_is_removed_and_one_that_is_gone_is_no_error() {
        let home = Home::new();
        put(&home.at("a"), b"x");
        let target = crate::store::Guard::new(None).check(home.at("a")).unwrap();
        for _ in 0..2 {
            remove(&Disk::default(), &target).unwrap();
            assert!(!home.at("a").exists());
        }
    }

    #[track_caller]
    fn check_code(path: &Path, code: Fatal, text: &str) {
        let error = read_text(path).unwrap_err();
        assert_eq!((error.code(), error.kind.to_string()), (code, text.to_owned()));
        assert_eq!(error.to_string(), format!("cannot read {}", path.display()));
    }

    #[test]
    fn an_absent_file_and_a_folder_are_unreadable() {
        let home = Home::new();
        check_code(&home.at("none"), Fatal::UnreadableInput, "it does not exist");
        check_code(&home.at(""), Fatal::UnreadableInput, "it is a folder");
    }

    #[test]
    fn bytes_that_are_no_text_are_invalid_json() {
        let home = Home::new();
        put(&home.at("in"), b"\xff");
        assert_eq!(read_text(&home.at("in")).unwrap_err().code(), Fatal::InvalidJson);
    }

    #[test]
    fn a_name_below_a_file_is_unreadable() {
        let home = Home::new();
        put(&home.at("in"), b"x");
        assert_eq!(read_text(&home.at("in/a")).unwrap_err().code(), Fatal::UnreadableInput);
    }

    #[test]
    fn folders_are_created_down_to_the_last() {
        let home = Home::new();
        create_folders(&Disk::default(), &home.guarded("a/b/c")).unwrap();
        create_folders(&Disk::default(), &home.guarded("a/b/c")).unwrap();
        assert!(home.at("a/b/c").is_dir());
    }

    #[test]
    fn each_new_folder_is_made_durable_in_its_parent() {
        let home = Home::new();
        let disk = Disk::with_faults("fsync-folder:2:eio".parse().unwrap());
        let error = create_folders(&disk, &home.guarded("a/b/c")).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot sync the folder {}", home.at("a").display()));
        assert!(home.at("a/b").is_dir() && !home.at("a/b/c").exists());
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let home = Home::new();
        put(&home.at("a"), b"x");
        let error = create_folders(&Disk::default(), &home.guarded("a")).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot create the folder {}", home.at("a").display()));
        assert_eq!(error.code(), Fatal::WriteFailed);
        assert!(create_folders(&Disk::default(), &home.guarded("a/b")).is_err());
    }

    #[test]
    fn a_folder_that_another_made_meanwhile_is_taken() {
        let home = Home::new();
        fs::create_dir(home.at("a")).unwrap();
        put(&home.at("b"), b"x");
        assert!(create_one(&Disk::default(), &home.at("a")).is_ok());
        assert!(create_one(&Disk::default(), &home.at("b")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn folders_are_open_to_readers() {
        use std::os::unix::fs::PermissionsExt;
        let home = Home::new();
        create_folders(&Disk::default(), &home.guarded("a")).unwrap();
        let mode = home.at("a").metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o700, 0o700);
        assert_eq!(mode & 0o022, 0);
    }

    #[test]
    fn times_before_and_after_1970_are_told() {
        assert_eq!(timestamp(UNIX_EPOCH + Duration::from_millis(1500)).to_string(), "1970-01-01T00:00:01.500000Z");
        assert_eq!(timestamp(UNIX_EPOCH - Duration::from_secs(1)).to_string(), "1969-12-31T23:59:59Z");
    }
}
