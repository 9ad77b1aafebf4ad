//! Services that come later: a worker must be there before its organ has said what it needs.

use std::sync::OnceLock;

use plugin_api::Failure;

use super::session::FEATURES;
use super::{Asked, HostServices, Services};

/// Services that are set once the declaration is known. Until then every question is refused.
#[derive(Debug, Default)]
pub struct Deferred {
    services: OnceLock<HostServices>,
}

impl Deferred {
    /// From now on these answer. The first ones stay.
    pub fn set(&self, services: HostServices) {
        self.services.get_or_init(|| services);
    }
}

impl Services for Deferred {
    fn answer(&self, asked: &Asked<'_>) -> Result<String, Failure> {
        match self.services.get() {
            Some(services) => services.answer(asked),
            None => {
                Err(Failure::new("not_granted", format!("{} was asked before anything was granted", asked.service)))
            }
        }
    }

    fn features(&self) -> Vec<String> {
        FEATURES.map(str::to_owned).into()
    }

    fn end(&self) {
        if let Some(services) = self.services.get() {
            services.end();
        }
    }
}
