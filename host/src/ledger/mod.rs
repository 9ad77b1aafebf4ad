//! Ledgers: framing, observation, checkpoint contract, fold and artifacts.

pub mod admit;
pub mod canonical;
pub mod envelope;
pub mod export;
pub mod fatal;
pub mod kind;
pub mod message;
pub mod observation;
pub mod outer;
pub mod record;
pub mod shape;
pub mod values;
