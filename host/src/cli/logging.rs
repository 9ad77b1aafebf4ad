//! Logs: on stderr, from `warn` upwards unless asked for more.

use std::io::IsTerminal as _;

use tracing::Level;
use tracing_subscriber::EnvFilter;

use super::args::{ColorWhen, Global};
use crate::env;

/// Starts logging. `RUST_LOG` wins over `-v`.
pub(super) fn start(global: &Global) {
    let level = match global.verbose {
        0 => Level::WARN,
        1 => Level::INFO,
        2 => Level::DEBUG,
        _ => Level::TRACE,
    };
    let filter = match env::get(env::RUST_LOG) {
        Some(filter) => EnvFilter::new(filter.to_string_lossy()),
        None => EnvFilter::new(level.as_str()),
    };
    let color = match global.color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => env::get(env::NO_COLOR).is_none() && std::io::stderr().is_terminal(),
    };
    let started =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(color).try_init();
    if let Err(error) = started {
        // Two subscribers in one process: a fault of the caller, and nothing that a command depends on.
        tracing::debug!(%error, "logging was already started");
    }
}
