//! Ledgers: framing, observation, checkpoint contract, fold and artifacts.

pub mod answers;
pub mod kind;
pub mod linked;
