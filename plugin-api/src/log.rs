//! `tracing` events and panics of a plugin, on their way to the host.
//!
//! A loaded library has its own copy of `tracing`, which nobody listens to until `connect` installs a subscriber that
//! hands each event to the host. Spans stay inside: their fields are not forwarded.

use std::fmt;
use std::panic::PanicHookInfo;
use std::sync::OnceLock;

use abi_stable::std_types::RStr;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use crate::ffi::{FfiEvent, HostApi_Ref};
use crate::guard::note_place;
use crate::json::{self, Layout, Value};
use crate::kind::Failure;

/// Levels as they cross, most important first: 1 is error, 5 is trace.
const LEVELS: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

static HOST: OnceLock<HostApi_Ref> = OnceLock::new();
static HERE: u8 = 0;

/// Tells this copy of the crate from the copy in another library; for [`crate::ffi::HostApi::instance`].
#[must_use]
pub fn instance() -> usize {
    &raw const HERE as usize
}

/// The level as it crosses.
#[must_use]
pub fn level_number(level: Level) -> u32 {
    (1..).zip(LEVELS).find(|(_, candidate)| *candidate == level).map_or(5, |(number, _)| number)
}

/// The filter as it crosses: 0 for off, else the number of the most verbose level.
#[must_use]
pub fn filter_number(filter: LevelFilter) -> u32 {
    filter.into_level().map_or(0, level_number)
}

/// The level of a number that crossed; `None` for 0 and for what a later contract may add.
#[must_use]
pub fn level(number: u32) -> Option<Level> {
    (1..).zip(LEVELS).find(|(candidate, _)| *candidate == number).map(|(_, level)| level)
}

/// Sends events and panics of this library to `host`, from now on and for good. The level is read once, here.
///
/// # Errors
/// Code `log` when the plugin has installed a subscriber of its own before.
pub(crate) fn connect(host: HostApi_Ref) -> Result<(), Failure> {
    // A plugin that is linked in shares the host's `tracing` and its panic hook: both must stay as they are.
    if host.instance() == instance() || HOST.set(host).is_err() {
        return Ok(());
    }
    let filter = level(host.max_level()).map_or(LevelFilter::OFF, LevelFilter::from_level);
    tracing::subscriber::set_global_default(Forwarder { host, filter })
        .map_err(|error| Failure::new("log", error.to_string()))?;
    std::panic::set_hook(Box::new(move |info| forward_panic(host, info)));
    Ok(())
}

/// A panic inside a guard is reported by the failed call and only noted here; in a thread of the plugin's own, this
/// event is all that anyone will see.
fn forward_panic(host: HostApi_Ref, info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let level = if note_place(&place) { Level::DEBUG } else { Level::ERROR };
    if level_number(level) > host.max_level() {
        return;
    }
    let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
    let fields = Value::object([("location", Value::from(place)), ("thread", Value::from(thread))]);
    send(host, level, "panic", info.payload_as_str().unwrap_or("a panic without a text"), &fields);
}

fn send(host: HostApi_Ref, level: Level, target: &str, message: &str, fields: &Value<'_>) {
    let fields = json::text(fields, Layout::Compact);
    let event = FfiEvent {
        plugin: host.plugin(),
        level: level_number(level),
        target: RStr::from(target),
        message: RStr::from(message),
        fields: RStr::from(fields.as_str()),
    };
    // A lost event has no better place to be reported than the log that just failed.
    drop((host.log())(event).into_result());
}

struct Forwarder {
    host: HostApi_Ref,
    filter: LevelFilter,
}

impl Subscriber for Forwarder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.filter
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.filter)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        send(self.host, *metadata.level(), metadata.target(), &fields.message, &Value::Object(fields.others));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(std::borrow::Cow<'static, str>, Value<'static>)>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value<'static>) {
        self.others.push((field.name().into(), value));
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no word for infinity and NaN.
        if value.is_finite() {
            self.add(field, Value::Float(value));
        } else {
            self.add(field, Value::from(value.to_string()));
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, Value::Integer(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, Value::integer(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, Value::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.add(field, Value::string(value));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        if field.name() == "message" {
            self.message = text;
        } else {
            self.add(field, Value::from(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: u32, level_of: Option<Level>) {
        assert_eq!(level(number), level_of);
        assert_eq!(filter_number(level_of.map_or(LevelFilter::OFF, LevelFilter::from_level)), number);
    }

    #[test]
    fn off_has_the_number_0() {
        check(0, None);
    }

    #[test]
    fn levels_have_the_numbers_1_to_5() {
        check(1, Some(Level::ERROR));
        check(2, Some(Level::WARN));
        check(3, Some(Level::INFO));
        check(4, Some(Level::DEBUG));
        check(5, Some(Level::TRACE));
    }

    #[test]
    fn a_number_of_a_later_contract_is_no_level() {
        assert_eq!(level(6), None);
    }
}
