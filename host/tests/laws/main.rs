//! Laws of the fold, in process, over the real kinds linked in.
//!
//! The same state means: state digest, fields, historical, missing fields, last time, stale, and the kept history
//! values; sources, message ids, contributions and truncation counts may differ (DECISIONS 6.4, N11, N15).

mod folding;
mod journal;
mod replay;
mod ties;
