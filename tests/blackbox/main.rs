//! Black-box tests of the built host and the built plugins, by topic. `tests/README.md` says how to add one.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests fail by panicking and write inputs, as the tests themselves do"
)]

mod append;
mod check_pending;
mod checkpoint;
mod concurrency;
mod documents;
mod export;
mod faults;
mod fold;
mod init;
mod laws;
mod organs;
mod pages;
mod plugins;
mod reading;
mod safety;
mod spool;
mod usage;
mod vectors;
