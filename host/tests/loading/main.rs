//! Plugins that are really built and really loaded.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by them")]

mod answers;
mod build;
mod finds;
mod log;
mod misbehaves;
mod pinned;
mod refuses;
mod versions;
mod world;
