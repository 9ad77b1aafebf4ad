//! Organs in worker processes: what a unit can do to its worker, and what becomes of it.
//!
//! Really built plugins (`tests/bad_plugins/unruly`), really started workers. Every harm ends in a typed loss of that
//! unit, and the next unit runs in a fresh worker.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by them")]

#[path = "../loading/build.rs"]
mod build;
mod confined;
mod harms;
mod uses;
mod world;
