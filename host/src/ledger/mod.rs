//! Ledgers: framing, observation, checkpoint contract, fold and artifacts.

pub mod admit;
pub mod baseline;
pub mod canonical;
pub mod checkpoint;
pub mod config;
pub mod digest;
pub mod envelope;
pub mod export;
pub mod fatal;
pub mod kind;
pub mod merge;
pub mod message;
pub mod observation;
pub mod outer;
pub mod record;
pub mod rowcheck;
pub mod shape;
pub mod snapshot_doc;
pub mod values;
