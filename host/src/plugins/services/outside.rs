//! Clock, waits, environment and disk, as the services reach them.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use plugin_api::rules::time::Timestamp;

use super::Cancel;
use crate::store::Disk;
use crate::{clock, env};

/// Tells the time.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;
/// Waits, at most so long. Whether the wait ended because somebody asked for that.
pub type Wait = Arc<dyn Fn(Duration, &Cancel) -> bool + Send + Sync>;
/// The value of an environment variable; `None` when unset or empty.
pub type Variable = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// What the services need of the world.
#[derive(Clone)]
pub struct Outside {
    /// Tells the time.
    pub now: Now,
    /// Waits.
    pub wait: Wait,
    /// Reads a variable.
    pub variable: Variable,
    /// The disk.
    pub disk: Disk,
}

impl Outside {
    /// The real world.
    #[must_use]
    pub fn real(disk: Disk) -> Self {
        Self {
            now: Arc::new(clock::now),
            wait: Arc::new(|time, cancel| cancel.wait(time)),
            variable: Arc::new(env::get),
            disk,
        }
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("disk", &self.disk).finish_non_exhaustive()
    }
}
