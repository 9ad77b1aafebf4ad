//! Ledger kind `gpu-reservation`: who holds which GPU, for what and until when. `rules` holds all of it.

pub mod rules;

plugin_api::export_plugin! { kinds: [rules::GpuReservation] }
