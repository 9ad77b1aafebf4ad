//! Spool: observations that wait to be posted, one file each (L 12, N17).
//!
//! A folder and not one file, because two lanes may append in the same second and files of their own need no lock.
//!
//! May not: parse an observation, or know which ledger it belongs to.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use plugin_api::rules::time::Timestamp;

use super::atomic::{self, Created};
use super::disk::{Disk, Mode, WriteError};
use super::files;
use super::guard::Guarded;
use crate::reasons::Fatal;

/// Start of the names of observations that were replaced by hand. They are not pending.
const SUPERSEDED: &str = ".superseded-";

/// Writes `<folder>/<id>.json`: the line and a line feed, readable for the owner only. Missing folders are created.
///
/// # Errors
/// [`WriteError`] when the id is no plain name, its path is refused, or the file cannot be written.
pub fn write(disk: &Disk, folder: &Guarded, id: &str, line: &str) -> Result<(PathBuf, Created), WriteError> {
    let target = folder.join(format!("{id}.json"))?;
    let created = atomic::create_exclusive(disk, &target, Mode::Private, format!("{line}\n").as_bytes())?;
    Ok((target.path().to_owned(), created))
}

/// What a spool folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The folder does not exist.
    NoFolder,
    /// Its pending files, sorted by name.
    Files(Vec<PathBuf>),
}

/// Lists the pending files of a spool folder: every name that ends in `.json`, hidden ones too, without those that
/// start with `.superseded-`.
///
/// # Errors
/// [`SpoolError`] when the folder cannot be listed.
pub fn list(folder: &Path) -> Result<Listing, SpoolError> {
    let failed = |source| SpoolError { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Listing::NoFolder),
        result => result.map_err(failed)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.ends_with(b".json") && !bytes.starts_with(SUPERSEDED.as_bytes()) {
            files.push(folder.join(name));
        }
    }
    files.sort();
    Ok(Listing::Files(files))
}

/// One file of a spool as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFile {
    /// Its bytes: a torn or foreign file need not be text.
    pub bytes: Vec<u8>,
    /// When it was last changed; stands in for an observation's own time when that cannot be read.
    pub modified: Timestamp,
}

/// Reads one file of a spool.
///
/// # Errors
/// [`SpoolError`] when it cannot be read.
pub fn read(path: &Path) -> Result<SpoolFile, SpoolError> {
    read_open(path).map_err(|source| SpoolError { path: path.to_owned(), source })
}

fn read_open(path: &Path) -> io::Result<SpoolFile> {
    let mut file = File::open(path)?;
    let modified = files::modified(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(SpoolFile { bytes, modified })
}

/// A spool that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {} in the spool", path.display())]
pub struct SpoolError {
    /// The folder or file.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl SpoolError {
    /// The code with which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        Fatal::InvalidSpool
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::store::testing::{Home, put, text};

    #[test]
    fn an_observation_is_one_line_in_a_file_of_its_own() {
        let home = Home::new();
        let (path, created) = write(&Disk::default(), &home.guarded("new/spool"), "obs-1", "[OBS] {}").unwrap();
        assert_eq!((path.clone(), created), (home.at("new/spool/obs-1.json"), Created::New));
        assert_eq!(text(&path).unwrap(), "[OBS] {}\n");
    }

    #[test]
    fn the_same_observation_again_changes_nothing() {
        let home = Home::new();
        let append = || write(&Disk::default(), &home.guarded(""), "obs-1", "[OBS] {}").unwrap().1;
        assert_eq!((append(), append()), (Created::New, Created::Identical));
        assert_eq!(home.names(), ["obs-1.json"]);
    }

    #[test]
    fn a_file_that_a_crash_cut_short_is_repaired() {
        let home = Home::new();
        put(&home.at("obs-1.json"), b"");
        let (path, created) = write(&Disk::default(), &home.guarded(""), "obs-1", "[OBS] {}").unwrap();
        assert_eq!(created, Created::Repaired);
        assert_eq!(text(&path).unwrap(), "[OBS] {}\n");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let home = Home::new();
        put(&home.at("obs-2.json"), b"torn");
        for id in ["obs-1", "obs-2"] {
            let (path, _) = write(&Disk::default(), &home.guarded(""), id, "[OBS] {}").unwrap();
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn an_id_that_leads_elsewhere_is_refused() {
        let home = Home::new();
        assert!(write(&Disk::default(), &home.guarded("spool"), "../obs-1", "[OBS] {}").is_err());
        assert_eq!(home.names(), [""; 0]);
    }

    #[test]
    fn pending_are_json_files_also_hidden_ones_but_not_superseded_ones() {
        let home = Home::new();
        for name in ["b.json", "a.json", ".h.json", ".superseded-a.json", "a.txt", ".a.json.tmp-1-aB3dE6gH"] {
            put(&home.at(name), b"");
        }
        let expected = [".h.json", "a.json", "b.json"].map(|name| home.at(name));
        assert_eq!(list(&home.at("")).unwrap(), Listing::Files(expected.to_vec()));
    }

    #[test]
    fn a_spool_that_does_not_exist_is_told_from_an_empty_one() {
        let home = Home::new();
        assert_eq!(list(&home.at("none")).unwrap(), Listing::NoFolder);
        assert_eq!(list(&home.at("")).unwrap(), Listing::Files(vec![]));
    }

    #[test]
    fn a_spool_that_is_a_file_and_a_file_that_is_a_folder_are_invalid() {
        let home = Home::new();
        put(&home.at("file"), b"");
        assert_eq!(list(&home.at("file")).unwrap_err().code(), Fatal::InvalidSpool);
        assert_eq!(read(&home.at("")).unwrap_err().code(), Fatal::InvalidSpool);
    }

    #[test]
    fn a_file_is_read_with_its_time_and_need_not_be_text() {
        let home = Home::new();
        let before = clock::now().plus_micros(-1_000_000);
        put(&home.at("a.json"), b"\xff");
        let file = read(&home.at("a.json")).unwrap();
        assert_eq!(file.bytes, b"\xff");
        assert!(file.modified >= before && file.modified <= clock::now().plus_micros(1_000_000));
    }

    #[test]
    fn eight_writers_at_once_leave_every_line_whole_and_one_is_new() {
        let home = Home::new();
        let folder = home.guarded("spool");
        let news: usize = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let append =
                            |n: u32| write(&Disk::default(), &folder, &format!("obs-{n}"), &format!("line {n}"));
                        (0..40).filter(|n| append(*n).unwrap().1 == Created::New).count()
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).sum()
        });
        assert_eq!(news, 40);
        for n in 0..40 {
            assert_eq!(text(&home.at(&format!("spool/obs-{n}.json"))).unwrap(), format!("line {n}\n"));
        }
        assert_eq!(list(&home.at("spool")).unwrap(), Listing::Files(list_sorted(&home, 40)));
    }

    fn list_sorted(home: &Home, count: u32) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = (0..count).map(|n| home.at(&format!("spool/obs-{n}.json"))).collect();
        paths.sort();
        paths
    }
}
