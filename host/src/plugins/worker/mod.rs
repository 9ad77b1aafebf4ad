//! Organs in processes of their own: `host worker`, started, asked and ended by the host (ARCHITECTURE, DECISIONS 7).
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`protocol`] | the frames that go both ways |
//! | [`loss`] | how a call can end without an answer, each way with its stable code |
//!
//! A worker is confined before it loads the plugin. What it prints is captured and never part of the protocol. When it
//! is lost, everything it started is ended with it.

pub mod loss;
pub mod protocol;
