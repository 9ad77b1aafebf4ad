//! Where a path really leads: links and `..` resolved, also when its end does not exist yet (L 11).
//!
//! [`std::fs::canonicalize`] refuses a path that does not exist, which is the usual case for a file that is about to be
//! written, and a lexical clean-up gets `link/..` wrong. So the path is walked name by name. What is asked of the disk
//! goes through [`Probe`], which tests replace.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::names::{self, Style};
use super::platform;

/// Most links followed for one path; the limit of Linux.
const MAX_LINKS: usize = 40;

/// What stands at a path; a link is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing, or a name below something that is no folder.
    Absent,
    /// A symbolic link or junction to this target.
    Link(PathBuf),
    /// A folder.
    Folder,
    /// A file or a device.
    Other,
}

/// Device and number of a file: the same for all names of one folder, also through a second mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device.
    pub device: u64,
    /// Number on the device.
    pub number: u64,
}

/// What the guard asks of the file system. An error means "cannot be examined", and the path is refused.
pub trait Probe {
    /// The path from the root, `..` and links left as they are.
    ///
    /// # Errors
    /// When the path is empty or the current folder is gone.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf>;

    /// What stands at the path.
    ///
    /// # Errors
    /// Whatever the system says, other than that nothing is there.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// The path with every existing name in its long spelling (short names of Windows).
    ///
    /// # Errors
    /// Whatever the system says.
    fn long_names(&self, path: PathBuf) -> io::Result<PathBuf>;

    /// Identity of what is there, `None` when nothing is or the system has none.
    ///
    /// # Errors
    /// Whatever the system says, other than that nothing is there.
    fn identity(&self, path: &Path) -> io::Result<Option<Identity>>;
}

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealProbe;

impl Probe for RealProbe {
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        std::path::absolute(path)
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => path.read_link().map(Entry::Link),
            Ok(found) if found.is_dir() => Ok(Entry::Folder),
            Ok(_) => Ok(Entry::Other),
            Err(error) if is_absent(&error) => Ok(Entry::Absent),
            Err(error) => Err(error),
        }
    }

    fn long_names(&self, path: PathBuf) -> io::Result<PathBuf> {
        platform::long_names(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<Identity>> {
        match path.metadata() {
            Ok(found) => Ok(platform::identity(&found)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Nobody can say where a path leads, so it is refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot tell where {} leads", path.display())]
pub struct ResolveError {
    /// The path as given.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub kind: ResolveErrorKind,
}

/// Why nobody can say where a path leads.
#[derive(Debug, thiserror::Error)]
pub enum ResolveErrorKind {
    /// The path is empty, or relative to a folder that is gone.
    #[error("it cannot be made absolute")]
    NotAbsolute(#[source] io::Error),
    /// The system would not say what stands at one of its names.
    #[error("{} cannot be examined", at.display())]
    Unexaminable {
        /// The name up to which the path was walked.
        at: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Links that lead in a circle, or far too many.
    #[error("more than 40 links from {} on", at.display())]
    Loop {
        /// The link that was one too many.
        at: PathBuf,
    },
}

impl ResolveErrorKind {
    fn unexaminable(at: &Path, source: io::Error) -> Self {
        Self::Unexaminable { at: at.to_owned(), source }
    }
}

/// One thing to do on the walk.
enum Move {
    Root(OsString),
    Up,
    Down(OsString),
}

impl Move {
    /// The moves of a path, last one first, as a stack wants them.
    fn reversed(path: &Path) -> impl Iterator<Item = Self> {
        path.components().rev().filter_map(|component| match component {
            Component::Prefix(_) | Component::RootDir => Some(Self::Root(component.as_os_str().to_owned())),
            Component::CurDir => None,
            Component::ParentDir => Some(Self::Up),
            Component::Normal(name) => Some(Self::Down(name.to_owned())),
        })
    }
}

/// The absolute path without links and `..` that `path` stands for.
///
/// # Errors
/// [`ResolveError`] when a name of it cannot be examined or its links lead in a circle.
pub fn resolve(probe: &dyn Probe, path: &Path) -> Result<PathBuf, ResolveError> {
    walk(probe, path).map_err(|kind| ResolveError { path: path.to_owned(), kind })
}

fn walk(probe: &dyn Probe, path: &Path) -> Result<PathBuf, ResolveErrorKind> {
    let absolute = probe.absolute(path).map_err(ResolveErrorKind::NotAbsolute)?;
    let mut ahead: Vec<Move> = Move::reversed(&absolute).collect();
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(next) = ahead.pop() {
        match next {
            Move::Root(root) => real.push(root),
            // What is behind us is real, so going up is cutting off; above the root is the root.
            Move::Up => {
                real.pop();
            }
            Move::Down(name) => {
                let below = real.join(name);
                match probe.entry(&below).map_err(|error| ResolveErrorKind::unexaminable(&below, error))? {
                    Entry::Link(_) if links == MAX_LINKS => return Err(ResolveErrorKind::Loop { at: below }),
                    Entry::Link(target) => {
                        links += 1;
                        ahead.extend(Move::reversed(&target));
                    }
                    Entry::Absent | Entry::Folder | Entry::Other => real = below,
                }
            }
        }
    }
    probe.long_names(real.clone()).map_err(|error| ResolveErrorKind::unexaminable(&real, error))
}

/// Whether a resolved path is a resolved root or lies below it, by name or because a folder above it *is* the root
/// under a second name (another mount, a volume that ignores case).
///
/// # Errors
/// [`ResolveErrorKind`] when the root or a folder above the path cannot be examined.
pub fn lies_in(probe: &dyn Probe, root: &Path, path: &Path) -> Result<bool, ResolveErrorKind> {
    if names::contains(root, path, Style::NATIVE) {
        return Ok(true);
    }
    let identity = |at: &Path| probe.identity(at).map_err(|error| ResolveErrorKind::unexaminable(at, error));
    let Some(wanted) = identity(root)? else { return Ok(false) };
    for folder in path.ancestors() {
        if identity(folder)? == Some(wanted) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The repository that a resolved path lies in: the nearest folder at or above it that holds `.git` (a folder, or the
/// file of a work tree or submodule), that is itself called so, or that is a bare repository (DECISIONS 6.8).
///
/// # Errors
/// [`ResolveErrorKind`] when a folder above the path cannot be examined.
pub fn repository(probe: &dyn Probe, path: &Path) -> Result<Option<PathBuf>, ResolveErrorKind> {
    for folder in path.ancestors() {
        if folder.file_name().is_some_and(names::is_git) || is_repository(probe, folder)? {
            return Ok(Some(folder.to_owned()));
        }
    }
    Ok(None)
}

fn is_repository(probe: &dyn Probe, folder: &Path) -> Result<bool, ResolveErrorKind> {
    let entry = |name: &str| {
        let at = folder.join(name);
        probe.entry(&at).map_err(|error| ResolveErrorKind::unexaminable(&at, error))
    };
    // A link counts as what git would follow it to: refusing too much is the safe side.
    let is_folder = |found: Entry| matches!(found, Entry::Folder | Entry::Link(_));
    Ok(entry(".git")? != Entry::Absent
        || (entry("HEAD")? != Entry::Absent && is_folder(entry("objects")?) && is_folder(entry("refs")?)))
}

#[cfg(test)]
mod tests;
