//! Organs in processes of their own: `host worker`, started, asked and ended by the host (ARCHITECTURE, DECISIONS 7).
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`protocol`] | the frames that go both ways |
//! | [`loss`] | how a call can end without an answer, each way with its stable code |
//! | `client`, `link`, `capture`, `process`, `tree` | the host's side: calls, frames, what is printed, the process and all below it |
//! | [`serve`], `questions`, `confine` | the worker's side |
//! | [`session`] | a warm worker that runs unit after unit |
//!
//! A worker is confined before it loads the plugin. What it prints is captured and never part of the protocol. When it
//! is lost, everything it started is ended with it.

mod capture;
mod client;
#[cfg(target_os = "linux")]
mod confine;
mod frames;
mod hello;
mod link;
pub mod loss;
mod process;
pub mod protocol;
mod questions;
pub mod serve;
pub mod session;
pub mod spec;
mod tree;

pub use client::Worker;
pub use spec::{CallLimit, Identity, Printed, Ran, WorkerSpec};
