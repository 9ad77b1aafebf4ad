//! What is loaded: the bytes that were judged (DECISIONS 7.3).
//!
//! On Linux a pinned plugin is copied into an anonymous file, which is sealed, hashed, and loaded by its descriptor. No
//! one can change a byte between the hash and the loading, and no name on disk leads to other code. The descriptor
//! stays open: the system's loader knows a library by its name, `/proc/self/fd/N`, and would give the old one for a
//! number that is used again. Elsewhere the copy in the store is hashed at each load; its name is its digest.
//!
//! An organ is not loaded in the process that copies it: its descriptor is sent to each worker, which hashes what it got.

use std::path::{Path, PathBuf};

use super::compat;
use super::find::{FindError, incompatible, unreadable};
use super::manifest::{InspectError, Inspected};
use super::pins::{Fingerprint, Pin};
use super::trust::{TrustError, TrustErrorKind};

/// Bytes that may be loaded.
#[derive(Debug)]
pub struct Image {
    /// What the system's loader opens.
    path: PathBuf,
    /// What a message names.
    file: PathBuf,
    inspected: Inspected,
    /// Of bytes that were hashed.
    sha256: Option<Fingerprint>,
    /// Keeps `path` good, where it leads to a descriptor that is not given away.
    #[cfg(target_os = "linux")]
    copy: Option<std::fs::File>,
}

/// Why a pinned plugin gives no image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It is not what was pinned, or cannot be copied.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// It is what was pinned, and does not fit this host.
    #[error(transparent)]
    Find(#[from] FindError),
}

impl Image {
    /// The file itself: it is trusted as it lies there.
    #[must_use]
    pub fn of_file(file: &Path, inspected: &Inspected) -> Self {
        Self {
            path: file.to_owned(),
            file: file.to_owned(),
            inspected: inspected.clone(),
            sha256: None,
            #[cfg(target_os = "linux")]
            copy: None,
        }
    }

    /// The bytes of a pinned plugin.
    ///
    /// # Errors
    /// [`ImageError`] when `file` is not what was pinned, cannot be read, or does not fit this host.
    pub fn of_pinned(file: &Path, pin: &Pin, name: &str) -> Result<Self, ImageError> {
        let image = Self::of_organ(file, Some(pin), name)?;
        #[cfg(target_os = "linux")]
        let image = image.kept();
        Ok(image)
    }

    /// The bytes of an organ's plugin, to be sent to workers: always a copy, also of a plugin that needs no pin, so that
    /// all workers of a run load the same.
    ///
    /// # Errors
    /// [`ImageError`] when `file` is not what was pinned, cannot be read, or does not fit this host.
    pub fn of_organ(file: &Path, pin: Option<&Pin>, name: &str) -> Result<Self, ImageError> {
        let refused = |kind| TrustError { name: name.to_owned(), file: file.to_owned(), kind };
        let bytes = bytes::take(file).map_err(|error| refused(TrustErrorKind::from_io(error)))?;
        if let Some(pin) = pin.filter(|pin| bytes.sha256 != pin.sha256) {
            let (found, pinned) = (bytes.sha256, pin.sha256.clone());
            return Err(refused(TrustErrorKind::Altered { found, pinned }).into());
        }
        Self::of_taken(file, bytes, name)
    }

    /// The bytes behind a descriptor that another process sent, hashed here.
    ///
    /// # Errors
    /// [`ImageError`] when it cannot be read, or does not fit this host.
    #[cfg(target_os = "linux")]
    pub fn of_received(descriptor: std::os::fd::OwnedFd, file: &Path, name: &str) -> Result<Self, ImageError> {
        let bytes = bytes::of(descriptor.into()).map_err(|error| TrustError {
            name: name.to_owned(),
            file: file.to_owned(),
            kind: TrustErrorKind::from_io(error),
        })?;
        Self::of_taken(file, bytes, name).map(Self::kept)
    }

    fn of_taken(file: &Path, bytes: Taken, name: &str) -> Result<Self, ImageError> {
        let inspected = bytes.inspected.and_then(|found| found.ok_or(InspectError::NoManifest));
        let inspected = inspected.map_err(|error| unreadable(name, file, &error))?;
        compat::fits(&inspected.manifest).map_err(|why| incompatible(name, file, &inspected.manifest, why))?;
        Ok(Self {
            path: bytes.path,
            file: file.to_owned(),
            inspected,
            sha256: Some(bytes.sha256),
            #[cfg(target_os = "linux")]
            copy: Some(bytes.copy),
        })
    }

    /// Keeps the descriptor open as long as the process lives: see the top of this file.
    #[cfg(target_os = "linux")]
    fn kept(mut self) -> Self {
        use std::os::fd::IntoRawFd as _;
        if let Some(copy) = self.copy.take() {
            let _ = copy.into_raw_fd();
        }
        self
    }

    /// Digest of the bytes; `None` for a file that is loaded as it lies there.
    #[must_use]
    pub fn sha256(&self) -> Option<&Fingerprint> {
        self.sha256.as_ref()
    }

    /// The sealed copy, to be sent to a worker; `None` where there is none.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn descriptor(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        use std::os::fd::AsFd as _;
        self.copy.as_ref().map(std::fs::File::as_fd)
    }

    /// What the system's loader opens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plugin's file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What the bytes say of themselves.
    #[must_use]
    pub fn inspected(&self) -> &Inspected {
        &self.inspected
    }
}

/// Bytes that were hashed, and the path that leads to them.
struct Taken {
    path: PathBuf,
    sha256: Fingerprint,
    inspected: Result<Option<Inspected>, InspectError>,
    /// What `path` leads to.
    #[cfg(target_os = "linux")]
    copy: std::fs::File,
}

#[cfg(target_os = "linux")]
mod bytes {
    use std::fs::File;
    use std::io::{self, Seek as _};
    use std::os::fd::AsRawFd as _;
    use std::path::{Path, PathBuf};

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::io::Errno;

    use super::Taken;
    use crate::plugins::manifest::inspect_in;
    use crate::plugins::pins::Fingerprint;

    /// Copies the file once. What is hashed, judged and loaded afterwards is the sealed copy.
    pub(super) fn take(file: &Path) -> io::Result<Taken> {
        let mut source = File::open(file)?;
        if !source.metadata()?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut copy = anonymous()?;
        io::copy(&mut source, &mut copy)?;
        fcntl_add_seals(&copy, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        of(copy)
    }

    /// Hashes and judges a copy. It is opened again for that: several processes may share the position in `copy`.
    pub(super) fn of(copy: File) -> io::Result<Taken> {
        let path = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
        let mut reader = File::open(&path)?;
        let sha256 = Fingerprint::of(&reader)?;
        reader.rewind()?;
        let inspected = inspect_in(&reader);
        Ok(Taken { path, sha256, inspected, copy })
    }

    /// A file without a name. It is code and not a program, so it needs no leave to be executed; kernels before 6.3 do
    /// not know the flag that says so.
    fn anonymous() -> io::Result<File> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let made = match memfd_create("host-plugin", flags | MemfdFlags::NOEXEC_SEAL) {
            Err(Errno::INVAL) => memfd_create("host-plugin", flags),
            made => made,
        };
        Ok(File::from(made?))
    }

    #[cfg(test)]
    mod tests {
        use std::io::{Read as _, Write as _};

        use super::*;

        #[test]
        fn the_copy_is_what_was_read_and_nobody_can_change_it() {
            let mut source = tempfile::NamedTempFile::new().unwrap();
            source.write_all(b"x").unwrap();
            let taken = take(source.path()).unwrap();
            source.write_all(b"y").unwrap();
            assert_eq!(taken.sha256.to_string(), "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
            let mut text = String::new();
            File::open(&taken.path).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "x");
            let writer = File::options().write(true).open(&taken.path);
            assert!(writer.is_err() || writer.unwrap().write_all(b"z").is_err());
        }

        #[test]
        fn a_folder_is_not_taken() {
            assert!(
                take(tempfile::tempdir().unwrap().path()).is_err_and(|error| error.to_string().contains("regular"))
            );
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod bytes {
    use std::io::{self, Cursor};
    use std::path::Path;

    use super::Taken;
    use crate::plugins::manifest::inspect_in;
    use crate::plugins::pins::Fingerprint;

    /// Reads the file once. The loader reads it again, under the name that is its digest.
    pub(super) fn take(file: &Path) -> io::Result<Taken> {
        let bytes = std::fs::read(file)?;
        let sha256 = Fingerprint::of(bytes.as_slice())?;
        Ok(Taken { path: file.to_owned(), sha256, inspected: inspect_in(Cursor::new(&bytes)) })
    }
}
