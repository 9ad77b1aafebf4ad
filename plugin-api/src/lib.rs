//! The contract between `host` and its plugins.
//!
//! An author implements [`LedgerKind`] or [`organ::Organ`] for a type and writes one [`export_plugin!`] line. Everything
//! that touches the outside world stays in the host: a kind declares its shape ([`KindDeclaration`]), judges what only it
//! can judge, and turns rows into a summary, status lines and answers of its own verbs, equal bytes for equal inputs; an
//! organ lists units of work, runs them, and asks the host for whatever it needs of the world.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`declaration`] | what a kind says of itself: entity, fields, verdict, verbs, reasons, examples |
//! | [`kind`] | the trait, and the views of observations and rows that it is given |
//! | [`mod@organ`] | the trait of a job, its declaration, units and answers, and what it may ask of the host |
//! | [`json`] | the one JSON value of the product: key order kept, integers exact, its reader and its writers |
//! | [`rules`] | pure rules for text, time and numbers that host and plugins share |
//! | [`export`], [`contract`] | the manifest and the root symbol that [`export_plugin!`] leaves in the file |
//! | [`guard`], [`log`] | panics become failures; events and panics reach the host's log |
//! | `testkit` (a feature) | a scripted host and the conformance suite, for tests of plugins |
//! | [`answer`], [`cross`], [`adapt`], [`adapt_organ`], [`ffi`] | the crossing itself, for the adapter and the host alone |
//!
//! May not: read a clock, a file, the environment or the network.

pub mod adapt;
pub mod adapt_organ;
pub mod answer;
pub mod contract;
pub mod cross;
pub mod declaration;
pub mod export;
pub mod ffi;
pub mod guard;
pub mod json;
pub mod kind;
pub mod log;
pub mod organ;
pub mod rules;
#[cfg(feature = "testkit")]
pub mod testkit;

pub use declaration::{
    EntityDeclaration, EntityKey, EntityKeyType, Example, FieldDeclaration, FieldType, KeyPart, KindDeclaration,
    ReasonDeclaration, RefusedExample, VerbArgument, VerbArgumentType, VerbDeclaration, VerdictDeclaration,
};
pub use json::Value;
pub use kind::{
    Counts, Entity, Failure, LedgerKind, LedgerView, ObservationView, Refusal, Row, StatusText, VerbAnswer, VerbCall,
};
pub use serde_json;
pub use tracing;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
