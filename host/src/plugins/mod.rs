//! Plugins: which there are, and whether they fit.
//!
//! Listing runs no plugin code: [`Registry::discover`] reads the manifest section of each file and [`compat::check`]
//! compares it with what this host speaks.

pub mod compat;
pub mod discover;
pub mod manifest;
pub mod search;

pub use discover::{Claim, Entry, FindError, Found, Registry, Searched, Served, State};
pub use search::{Folder, Origin, Places, SearchPath};
