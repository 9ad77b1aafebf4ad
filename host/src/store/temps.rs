//! Temporary files: their names and their removal.
//!
//! `.<name>.tmp-<pid>-<8 letters or digits>`, in the folder of the file that they will become, because only within one
//! file system can a file be renamed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, Mode};

/// Most characters of the target's name that a temporary name repeats, so that it stays below the 255 bytes of a name.
const SHOWN_NAME: usize = 40;
/// Length of the random end.
const RANDOM: usize = 8;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::faults::{Faults, Operation};
    use crate::store::testing::Home;

    #[test]
    fn a_new_one_stands_beside_its_target() {
        let home = Home::new();
        let (temporary, _file) = Temporary::create(&Disk::default(), &home.at("out"), Mode::Default).unwrap();
        let names = home.names();
        assert!(names[0].starts_with(".out.tmp-"), "{names:?}");
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
}
