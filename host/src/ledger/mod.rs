//! Ledgers: framing, observation, checkpoint contract, fold and artifacts.

pub mod kind;
