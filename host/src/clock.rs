//! The one place that reads the clock. Everything else is given a [`Timestamp`].

use plugin_api::rules::time::Timestamp;

/// The current time, in microseconds.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn now() -> Timestamp {
    Timestamp::from_micros(chrono::Utc::now().timestamp_micros())
}
