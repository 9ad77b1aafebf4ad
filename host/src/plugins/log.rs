//! Takes the events of plugins into the host's log.
//!
//! Call sites of `tracing` are static, so that all events arrive under the target `plugin`; the plugin's own target is
//! the field `module`, and its other fields stand as one JSON object in the field `fields`.

use abi_stable::prefix_type::PrefixTypeTrait as _;
use abi_stable::std_types::{RResult, RStr};
use plugin_api::Failure;
use plugin_api::ffi::{FfiError, FfiEvent, HostApi, HostApi_Ref};
use plugin_api::guard::guard;
use plugin_api::log::{filter_number, instance, level};
use tracing::Level;
use tracing::level_filters::LevelFilter;

/// What the plugin of this name is given. Lives as long as the process, as the plugin does.
pub(super) fn host_api(plugin: &str) -> HostApi_Ref {
    host_api_to(plugin, max_level(), receive)
}

/// Most verbose level that anyone listens to, as it crosses.
pub(super) fn max_level() -> u32 {
    filter_number(LevelFilter::current())
}

/// The same with another receiver: a worker sends the events on.
pub(super) fn host_api_to(
    plugin: &str,
    max_level: u32,
    log: extern "C" fn(FfiEvent<'_>) -> RResult<(), FfiError>,
) -> HostApi_Ref {
    let plugin: &'static str = Box::leak(plugin.into());
    HostApi { plugin: RStr::from(plugin), instance: instance(), max_level, log }.leak_into_prefix()
}

/// Guarded, because an unwind out of a callback would end the process.
extern "C" fn receive(event: FfiEvent<'_>) -> RResult<(), FfiError> {
    guard(|| replay(&event)).map_err(FfiError::from).into()
}

/// Takes one event into the log of this process.
///
/// # Errors
/// Code `log` when there is no such level.
pub(super) fn replay(event: &FfiEvent<'_>) -> Result<(), Failure> {
    let number = event.level;
    let level = level(number).ok_or_else(|| Failure::new("log", format!("there is no level {number}")))?;
    emit(level, event);
    Ok(())
}

fn emit(level: Level, event: &FfiEvent<'_>) {
    let (plugin, module, message) = (event.plugin.as_str(), event.target.as_str(), event.message.as_str());
    let fields = Some(event.fields.as_str()).filter(|fields| *fields != "{}");
    macro_rules! at {
        ($level:expr) => {
            tracing::event!(target: "plugin", $level, plugin, module, fields, "{message}")
        };
    }
    match level {
        Level::ERROR => at!(Level::ERROR),
        Level::WARN => at!(Level::WARN),
        Level::INFO => at!(Level::INFO),
        Level::DEBUG => at!(Level::DEBUG),
        Level::TRACE => at!(Level::TRACE),
    }
}
