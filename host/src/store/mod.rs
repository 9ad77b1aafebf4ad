//! The store: everything that is written to disk, whole or not at all, and only where it may be.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`guard`] | where may be written; the proof that every writing function asks for |
//! | [`resolve`], [`names`] | where a path really leads, what lies in what; no effects |
//!
//! May not: know what the files mean.

pub mod guard;
pub mod names;
mod platform;
pub mod resolve;

pub use guard::{Guard, GuardError, Guarded};
