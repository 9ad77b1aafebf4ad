//! Pure rules for text, time and numbers that the host and its plugins share (L 2.1, 2.5, 2.6).
//!
//! May not: know a ledger, a file or a clock.

pub mod counter;
pub mod number;
pub mod text;
pub mod time;
