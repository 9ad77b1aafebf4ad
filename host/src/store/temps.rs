//! Temporary files: their names, their removal, and the sweep of what dead processes left.
//!
//! `.<name>.tmp-<pid>-<8 letters or digits>`, in the folder of the file that they will become, because only within one
//! file system can a file be renamed.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

use plugin_api::rules::time::Timestamp;

use super::disk::{Disk, Mode, Step, WriteError};
use super::files;
use super::guard::Guarded;
use super::lock::FoldLock;
use super::platform::{self, Liveness};

/// Most characters of the target's name that a temporary name repeats, so that it stays below the 255 bytes of a name.
const SHOWN_NAME: usize = 40;
/// Length of the random end.
const RANDOM: usize = 8;
/// Age from which a temporary file is stale although a process has its number: 24 h. Numbers are used again.
const STALE_AGE_MICROS: i64 = 24 * 3600 * 1_000_000;

/// A temporary file on the disk. Removed when dropped, unless it was put in place.
#[derive(Debug)]
pub(super) struct Temporary {
    disk: Disk,
    path: PathBuf,
    is_ours: bool,
}

impl Temporary {
    /// Creates an empty one beside `target`; a name that is taken is not touched, another one is tried.
    pub(super) fn create(disk: &Disk, target: &Path, mode: Mode) -> io::Result<(Self, File)> {
        let folder = target.parent().ok_or(io::ErrorKind::IsADirectory)?;
        let made = tempfile::Builder::new()
            .prefix(&prefix(target, std::process::id()))
            .rand_bytes(RANDOM)
            // Removal is ours, through the disk and its fault points.
            .disable_cleanup(true)
            .make_in(folder, |path| disk.create_new(path, mode))?;
        let (file, path) = made.into_parts();
        Ok((Self { disk: disk.clone(), path: path.to_path_buf(), is_ours: true }, file))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// To be called once the file has its final name: there is nothing to remove any more.
    pub(super) fn keep(mut self) {
        self.is_ours = false;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_ours {
            return;
        }
        match self.disk.remove(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // The error that led here is on its way to the user; this one costs only space until the next sweep.
                tracing::warn!(path = %self.path.display(), cause = %error, "temporary file not removed");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

fn prefix(target: &Path, pid: u32) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let shown: String = name.chars().take(SHOWN_NAME).collect();
    format!(".{shown}.tmp-{pid}-")
}

/// The process that made a temporary file, `None` when the name is not of our pattern.
fn maker(name: &str) -> Option<u32> {
    let (front, random) = name.rsplit_once('-')?;
    let (front, pid) = front.rsplit_once(".tmp-")?;
    let is_ours = front.starts_with('.')
        && random.len() == RANDOM
        && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && pid.bytes().all(|byte| byte.is_ascii_digit());
    pid.parse().ok().filter(|_| is_ours)
}

/// What a sweep did.
#[derive(Debug, Default)]
pub struct Swept {
    /// Temporary files that were removed.
    pub removed: Vec<PathBuf>,
    /// Stale ones that could not be removed, or of which nobody could say whether they are stale. They only cost space.
    pub kept: Vec<(PathBuf, io::Error)>,
}

/// Removes the temporary files of `folder` that no living process will finish: their process is gone, or they are older
/// than 24 h. A folder that does not exist has none.
///
/// Asks for the lock because only its holder may conclude that nobody else is folding here.
///
/// # Errors
/// [`WriteError`] when the folder cannot be listed.
pub fn sweep(disk: &Disk, _lock: &FoldLock, folder: &Guarded, now: Timestamp) -> Result<Swept, WriteError> {
    let failed = |error| WriteError::at(Step::Inspect, folder.path())(error);
    let entries = match fs::read_dir(folder.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Swept::default()),
        result => result.map_err(failed)?,
    };
    let mut swept = Swept::default();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Some(pid) = entry.file_name().to_str().and_then(maker) else { continue };
        let outcome = is_stale(&entry, pid, now).and_then(|stale| match stale {
            Stale::Yes => disk.remove(&entry.path()).map(|()| swept.removed.push(entry.path())),
            Stale::No => Ok(()),
        });
        match outcome {
            // Its process has just put it in place, or removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => swept.kept.push((entry.path(), error)),
            Ok(()) => {}
        }
    }
    swept.removed.sort();
    Ok(swept)
}

enum Stale {
    Yes,
    No,
}

fn is_stale(entry: &DirEntry, pid: u32, now: Timestamp) -> io::Result<Stale> {
    let found = entry.metadata()?;
    if !found.is_file() {
        return Ok(Stale::No);
    }
    Ok(match platform::liveness(pid) {
        Liveness::Dead => Stale::Yes,
        Liveness::Alive | Liveness::Unknown => {
            let age = now.micros().saturating_sub(files::modified(&found)?.micros());
            if age > STALE_AGE_MICROS { Stale::Yes } else { Stale::No }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::store::faults::{Faults, Operation};
    use crate::store::testing::{Home, put};

    #[track_caller]
    fn check_maker(name: &str, expected: Option<u32>) {
        assert_eq!(maker(name), expected);
    }

    #[test]
    fn our_names_tell_their_process() {
        check_maker(".snapshot.json.tmp-123-aB3dE6gH", Some(123));
        check_maker(".a.tmp-1-x.tmp-7-abcdefgh", Some(7));
    }

    #[test]
    fn other_names_are_not_ours() {
        check_maker("snapshot.json", None);
        check_maker("snapshot.json.tmp-123-aB3dE6gH", None);
        check_maker(".snapshot.json.tmp-123-short", None);
        check_maker(".snapshot.json.tmp-x-aB3dE6gH", None);
        check_maker(".snapshot.json.tmp--aB3dE6gH", None);
        check_maker(".snapshot.json.tmp-99999999999-aB3dE6gH", None);
        check_maker(".snapshot.json.tmp-123-aB3d.6gH", None);
    }

    #[test]
    fn a_new_one_stands_beside_its_target_and_is_told_as_ours() {
        let home = Home::new();
        let (temporary, _file) = Temporary::create(&Disk::default(), &home.at("out"), Mode::Default).unwrap();
        let names = home.names();
        assert!(names[0].starts_with(".out.tmp-"), "{names:?}");
        assert_eq!(maker(&names[0]), Some(std::process::id()));
        drop(temporary);
        assert_eq!(home.names(), [""; 0]);
    }

    #[test]
    fn a_long_name_in_wide_letters_still_fits() {
        let home = Home::new();
        let target = home.at(&"\u{1F600}".repeat(63));
        assert!(Temporary::create(&Disk::default(), &target, Mode::Default).is_ok());
    }

    #[test]
    fn a_name_that_is_taken_is_left_and_another_one_tried() {
        let home = Home::new();
        let faults: Faults = "create:1:eexist,create:2:eexist".parse().unwrap();
        let disk = Disk::with_faults(faults.clone());
        assert!(Temporary::create(&disk, &home.at("out"), Mode::Default).is_ok());
        assert_eq!(faults.count(Operation::Create), 3);
    }

    fn held(home: &Home) -> FoldLock {
        FoldLock::acquire(&Disk::default(), &home.guarded("locked"), std::time::Duration::ZERO, &clock::now).unwrap()
    }

    /// Number of a process that has ended and was waited for.
    fn dead_pid() -> u32 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .arg("--list")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[track_caller]
    fn check_sweep(name: &str, days_later: i64, expected_left: bool) {
        let home = Home::new();
        let lock = held(&home);
        put(&home.at(name), b"torn");
        let now = clock::now().plus_micros(days_later * 24 * 3600 * 1_000_000);
        let swept = sweep(&Disk::default(), &lock, &home.guarded(""), now).unwrap();
        assert_eq!(home.at(name).exists(), expected_left);
        assert_eq!(swept.removed, if expected_left { vec![] } else { vec![home.at(name)] });
        assert!(swept.kept.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_a_dead_process_left_is_swept() {
        check_sweep(&format!(".out.tmp-{}-aB3dE6gH", dead_pid()), 0, false);
    }

    #[test]
    fn what_a_living_process_writes_is_left() {
        check_sweep(&format!(".out.tmp-{}-aB3dE6gH", std::process::id()), 0, true);
    }

    #[test]
    fn a_day_later_the_number_of_a_living_process_protects_no_more() {
        check_sweep(&format!(".out.tmp-{}-aB3dE6gH", std::process::id()), 2, false);
    }

    #[test]
    fn files_that_only_look_alike_are_left() {
        check_sweep("out.tmp-1-aB3dE6gH", 2, true);
    }

    #[test]
    fn a_folder_with_such_a_name_is_left() {
        let home = Home::new();
        fs::create_dir(home.at(".out.tmp-1-aB3dE6gH")).unwrap();
        let now = clock::now().plus_micros(2 * 24 * 3600 * 1_000_000);
        let swept = sweep(&Disk::default(), &held(&home), &home.guarded(""), now).unwrap();
        assert!(swept.removed.is_empty() && swept.kept.is_empty());
    }

    #[test]
    fn a_stale_file_that_cannot_be_removed_is_reported_and_not_fatal() {
        let home = Home::new();
        let lock = held(&home);
        let name = format!(".out.tmp-{}-aB3dE6gH", std::process::id());
        put(&home.at(&name), b"torn");
        let disk = Disk::with_faults("remove:1:eacces".parse().unwrap());
        let now = clock::now().plus_micros(2 * 24 * 3600 * 1_000_000);
        let swept = sweep(&disk, &lock, &home.guarded(""), now).unwrap();
        assert_eq!((swept.removed.len(), swept.kept.len()), (0, 1));
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_reported() {
        let home = Home::new();
        put(&home.at("file"), b"x");
        let error = sweep(&Disk::default(), &held(&home), &home.guarded("file"), clock::now()).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot look at {}", home.at("file").display()));
    }

    #[test]
    fn a_folder_that_does_not_exist_has_nothing_to_sweep() {
        let home = Home::new();
        let lock = held(&home);
        let swept = sweep(&Disk::default(), &lock, &home.guarded("none"), clock::now()).unwrap();
        assert!(swept.removed.is_empty());
    }
}
