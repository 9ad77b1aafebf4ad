//! What is loaded: the bytes that were judged (DECISIONS 7.3).
//!
//! On Linux a pinned plugin is copied into an anonymous file, which is sealed, hashed, and loaded by its descriptor. No
//! one can change a byte between the hash and the loading, and no name on disk leads to other code. The descriptor
//! stays open: the system's loader knows a library by its name, `/proc/self/fd/N`, and would give the old one for a
//! number that is used again. Elsewhere the copy in the store is hashed at each load; its name is its digest.

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
        Self { path: file.to_owned(), file: file.to_owned(), inspected: inspected.clone() }
    }

    /// The bytes of a pinned plugin.
    ///
    /// # Errors
    /// [`ImageError`] when `file` is not what was pinned, cannot be read, or does not fit this host.
    pub fn of_pinned(file: &Path, pin: &Pin, name: &str) -> Result<Self, ImageError> {
        let refused = |kind| TrustError { name: name.to_owned(), file: file.to_owned(), kind };
        let bytes = bytes::take(file).map_err(|error| refused(TrustErrorKind::from_io(error)))?;
        if bytes.sha256 != pin.sha256 {
            let (found, pinned) = (bytes.sha256, pin.sha256.clone());
            return Err(refused(TrustErrorKind::Altered { found, pinned }).into());
        }
        let inspected = bytes.inspected.and_then(|found| found.ok_or(InspectError::NoManifest));
        let inspected = inspected.map_err(|error| unreadable(name, file, &error))?;
        compat::fits(&inspected.manifest).map_err(|why| incompatible(name, file, &inspected.manifest, why))?;
        Ok(Self { path: bytes.path, file: file.to_owned(), inspected })
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
}

#[cfg(target_os = "linux")]
mod bytes {
    use std::fs::File;
    use std::io::{self, Seek as _};
    use std::os::fd::IntoRawFd as _;
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
        copy.rewind()?;
        let sha256 = Fingerprint::of(&copy)?;
        copy.rewind()?;
        let inspected = inspect_in(&copy);
        // Given away and never closed: see the top of this file.
        let descriptor = copy.into_raw_fd();
        Ok(Taken { path: PathBuf::from(format!("/proc/self/fd/{descriptor}")), sha256, inspected })
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
