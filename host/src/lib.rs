//! The host: ledgers and jobs as dynamically loaded plugins.
//!
//! Imports go one way: `main` -> [`cli`] -> [`supervisor`] -> [`plugins`] -> [`ledger`] -> [`store`] -> [`reasons`], [`mod@env`], [`clock`].
//! What decides ([`ledger::fold`] and what it calls) reads no clock, file, environment or network.

pub mod cli;
pub mod clock;
pub mod env;
pub mod ledger;
pub mod plugins;
pub mod reasons;
pub mod store;
pub mod supervisor;
