//! What the systems do differently, and nothing else.
//!
//! The half for Windows is written from its documentation and compiled only there.

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// Whether a process with some number runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// One does; it may be another one with the same number.
    #[cfg_attr(windows, expect(dead_code, reason = "this system is not asked"))]
    Alive,
    /// None does.
    #[cfg_attr(windows, expect(dead_code, reason = "this system is not asked"))]
    Dead,
    /// The system did not say.
    #[cfg_attr(unix, expect(dead_code, reason = "a POSIX system always says"))]
    Unknown,
}

/// Errors of the system that fault points can give.
#[cfg(any(test, feature = "faults"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemError {
    NoSpace,
    Quota,
    Device,
    NotPermitted,
    AccessDenied,
    Busy,
    ReadOnly,
    Exists,
}

/// Puts a file at a name that must be free, by a second link: for systems and volumes without a rename that does not
/// replace. A crash between the two leaves both names, and the temporary one is swept later.
pub(crate) fn link_new(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

#[cfg(unix)]
mod unix {
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io;
    use std::num::NonZeroU64;
    use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};

    use rustix::io::Errno;
    use rustix::process::Pid;

    use super::Liveness;
    use crate::store::disk::Mode;
    use crate::store::resolve::Identity;

    /// Fills `bytes` from this place of a file on.
    pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        file.read_exact_at(bytes, offset)
    }

    /// Nothing keeps a file from being renamed here, so a refusal is final.
    pub(crate) const RENAME_ATTEMPTS: u32 = 1;

    pub(crate) fn create_new(path: &Path, mode: Mode) -> io::Result<File> {
        let bits = match mode {
            Mode::Default => 0o666,
            Mode::Private => 0o600,
        };
        OpenOptions::new().write(true).create_new(true).mode(bits).open(path)
    }

    pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o755).create(path)
    }

    /// Makes the names of a folder durable. A file system that cannot says `EINVAL`; it then does so by itself.
    pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
        match File::open(path)?.sync_all() {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            result => result,
        }
    }

    /// Asks the system to start writing a range out now. Only advice: whether it is taken or not, the sync at the end
    /// waits for what is left and reports what went wrong.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn start_write_back(file: &File, from: u64, to: u64) {
        if let Some(length) = NonZeroU64::new(to.saturating_sub(from)) {
            let _advice = rustix::fs::fadvise(file, from, Some(length), rustix::fs::Advice::DontNeed);
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn start_write_back(_file: &File, _from: u64, _to: u64) {}

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => super::link_new(from, to),
            result => result.map_err(io::Error::from),
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
        super::link_new(from, to)
    }

    pub(crate) fn liveness(pid: u32) -> Liveness {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Liveness::Dead };
        match rustix::process::test_kill_process(pid) {
            Err(Errno::SRCH) => Liveness::Dead,
            // Also when the signal is not permitted: then somebody else's process is there.
            Ok(()) | Err(_) => Liveness::Alive,
        }
    }

    pub(crate) fn identity(found: &Metadata) -> Option<Identity> {
        Some(Identity { device: found.dev(), number: found.ino() })
    }

    pub(crate) fn long_names(path: PathBuf) -> io::Result<PathBuf> {
        Ok(path)
    }

    pub(crate) fn is_busy(error: &io::Error) -> bool {
        matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy)
    }

    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn system_error(error: super::SystemError) -> io::Error {
        use super::SystemError;
        io::Error::from(match error {
            SystemError::NoSpace => Errno::NOSPC,
            SystemError::Quota => Errno::DQUOT,
            SystemError::Device => Errno::IO,
            SystemError::NotPermitted => Errno::PERM,
            SystemError::AccessDenied => Errno::ACCESS,
            SystemError::Busy => Errno::BUSY,
            SystemError::ReadOnly => Errno::ROFS,
            SystemError::Exists => Errno::EXIST,
        })
    }

    /// Ends this process at once, as a power cut or `kill -9` would: nothing is cleaned up.
    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn kill_self() -> ! {
        let _never_returns = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort()
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::os::windows::fs::FileExt;
    use std::path::{Path, PathBuf};

    use super::Liveness;
    use crate::store::disk::Mode;
    use crate::store::resolve::Identity;

    /// Fills `bytes` from this place of a file on.
    pub(crate) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = file.seek_read(bytes, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes = &mut bytes[count..];
            offset += count as u64;
        }
        Ok(())
    }

    /// A scanner or a reader may hold the target for a moment.
    pub(crate) const RENAME_ATTEMPTS: u32 = 6;

    /// `ERROR_SHARING_VIOLATION` and `ERROR_LOCK_VIOLATION`.
    const HELD_BY_ANOTHER: [i32; 2] = [32, 33];

    /// Modes are inherited from the folder here.
    pub(crate) fn create_new(path: &Path, _mode: Mode) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
        std::fs::create_dir(path)
    }

    /// A folder cannot be synced here; the journal of the volume keeps its names.
    pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn start_write_back(_file: &File, _from: u64, _to: u64) {}

    pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
        super::link_new(from, to)
    }

    pub(crate) fn liveness(_pid: u32) -> Liveness {
        Liveness::Unknown
    }

    pub(crate) fn identity(_found: &Metadata) -> Option<Identity> {
        None
    }

    /// Short names and substituted drives are spelled out as far as the path exists.
    pub(crate) fn long_names(path: PathBuf) -> io::Result<PathBuf> {
        for existing in path.ancestors() {
            match existing.canonicalize() {
                Ok(long) => {
                    let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
                    return Ok(long.components().chain(rest.components()).collect());
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(path)
    }

    pub(crate) fn is_busy(error: &io::Error) -> bool {
        matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy)
            || error.raw_os_error().is_some_and(|code| HELD_BY_ANOTHER.contains(&code))
    }

    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn system_error(error: super::SystemError) -> io::Error {
        use super::SystemError;
        io::Error::from_raw_os_error(match error {
            SystemError::NoSpace => 112,
            SystemError::Quota => 1295,
            SystemError::Device => 1117,
            SystemError::NotPermitted | SystemError::AccessDenied => 5,
            SystemError::Busy => 170,
            SystemError::ReadOnly => 19,
            SystemError::Exists => 183,
        })
    }

    /// Ends this process at once: nothing is cleaned up.
    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn kill_self() -> ! {
        std::process::abort()
    }
}
