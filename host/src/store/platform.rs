//! What the systems do differently, and nothing else.
//!
//! The half for Windows is written from its documentation and compiled only there.

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(unix)]
mod unix {
    use std::fs::Metadata;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    use crate::store::resolve::Identity;

    pub(crate) fn identity(found: &Metadata) -> Option<Identity> {
        Some(Identity { device: found.dev(), number: found.ino() })
    }

    pub(crate) fn long_names(path: PathBuf) -> io::Result<PathBuf> {
        Ok(path)
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::Metadata;
    use std::io;
    use std::path::{Path, PathBuf};

    use crate::store::resolve::Identity;

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
}
