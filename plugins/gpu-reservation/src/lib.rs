//! A kind.
