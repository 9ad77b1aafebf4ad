//! Harness of the black-box tests: a sealed world in which the built host runs.
//!
//! Nothing here knows a rule of the ledgers. It finds the binary ([`artifacts`]), runs it where no setting of the machine
//! reaches it ([`World`], [`HostCommand`]), says what came out ([`Out`]) and builds inputs ([`Observation`], [`Message`],
//! [`Export`]). What is right is said by the tests in `blackbox/`.
//!
//! A failed step of the harness panics with its context: a test cannot go on without it.
#![expect(
    clippy::panic,
    clippy::disallowed_methods,
    reason = "the whole package is tests: it fails by panicking and writes its own inputs"
)]

pub mod artifacts;
mod journal;
mod ledger;
mod out;
mod process;
mod tree;
mod world;

pub use journal::{Export, Message, Observation};
pub use ledger::Ledger;
pub use out::{Checked, Out};
pub use process::{HostCommand, Running, has_program};
pub use tree::{copy_tree, tree};
pub use world::World;
