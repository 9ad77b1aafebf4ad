//! The high-water mark (D9): the newest observation ever folded. It never goes back, whatever export comes.

use plugin_api::rules::time::Timestamp;

/// The newest time folded so far, and the message that brought it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HighWater {
    /// Newest time; `None` before the first observation.
    pub observed_at: Option<Timestamp>,
    /// Its message, where it had an id.
    pub message_id: Option<String>,
}

impl HighWater {
    /// The later of two marks; of equal instants this one.
    #[must_use]
    pub fn or_later(self, other: Self) -> Self {
        if other.observed_at > self.observed_at { other } else { self }
    }
}
