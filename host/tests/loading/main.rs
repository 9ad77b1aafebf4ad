//! Plugins that are really built and really loaded.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by them")]

mod answers;
mod broken;
mod build;
mod contracts;
mod finds;
mod log;
mod misbehaves;
mod pinned;
mod refuses;
mod table;
mod versions;
mod world;
