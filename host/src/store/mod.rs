//! The store: everything that is written to disk, whole or not at all, and only where it may be.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`guard`] | where may be written; the proof that every writing function asks for |
//! | [`resolve`], [`names`] | where a path really leads, what lies in what; no effects |
//! | [`atomic`] | replace, stage and commit, create |
//! | [`temps`] | temporary files and the sweep of stale ones |
//! | [`lock`] | one fold at a time |
//! | [`spool`] | files of observations that wait to be posted |
//! | [`files`] | whole inputs as text, folders |
//! | [`disk`], [`faults`] | each operation once, with its fault point |
//!
//! A new file goes through these steps, each with a fault point: create, write, fsync, rename, fsync of the folder.
//!
//! May not: know what the files mean.

pub mod atomic;
pub mod disk;
pub mod faults;
pub mod files;
pub mod guard;
pub mod lock;
pub mod names;
mod platform;
pub mod resolve;
pub mod spool;
pub mod state;
pub mod temps;
#[cfg(test)]
pub(crate) mod testing;

pub use atomic::{Created, Staged, Staging, commit_all, create_exclusive, replace};
pub use disk::{Disk, Mode, WriteError};
pub use guard::{Guard, GuardError, Guarded};
pub use lock::{FoldLock, LockError, OutputLock};
