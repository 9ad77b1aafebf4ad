//! A world for the tests of the services.

use std::sync::atomic::AtomicBool;

use super::bounds::Bounds;
use super::{Asked, Cancel, Outside};
use crate::store::Disk;

/// The real world with the variables of this process.
pub(super) fn outside() -> Outside {
    Outside::real(Disk::default())
}

/// A question's bounds that nobody narrows.
pub(super) struct Free {
    pub(super) cancel: Cancel,
    over: AtomicBool,
}

impl Free {
    pub(super) fn new() -> Self {
        Self { cancel: Cancel::new(), over: AtomicBool::new(false) }
    }

    pub(super) fn bounds(&self) -> Bounds<'_> {
        let asked = Asked { service: "", request: "", deadline: None, cancel: &self.cancel };
        Bounds::new(&asked, &self.over)
    }
}
