//! The one JSON value of the product, its reader and its writers.
//!
//! serde_json reads and checks the text; what is ours is the value: object keys stay in document order, `-0` is the
//! integer 0, an integer outside i64 stays an integer, a repeated key is seen (L 1.2, L 4).

mod fast;
mod read;
mod value;
mod write;

pub use fast::Walk;
pub use read::{
    BorrowedText, Document, Entries, MAX_DEPTH, RawEntries, ReadError, Syntax, object_entries, read, read_raw,
    repeated_key,
};
pub use value::Value;
pub use write::{Layout, excerpt, text, write_escaped, write_float, write_text, write_value};
