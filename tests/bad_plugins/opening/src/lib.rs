//! A kind that cannot even be made.

#![expect(clippy::panic, reason = "that is what it is for")]

use plugin_api::{Failure, KindDeclaration, LedgerKind, LedgerView, StatusText, Value};

plugin_api::export_plugin! { kinds: [Opening] }

/// Panics when it is made.
pub struct Opening;

impl Default for Opening {
    fn default() -> Self {
        panic!("while it was made");
    }
}

impl LedgerKind for Opening {
    const NAME: &'static str = "opening";

    fn declaration(&self) -> KindDeclaration {
        panic!("never asked");
    }

    fn summary(&self, _: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        panic!("never asked");
    }

    fn status(&self, _: &LedgerView<'_>, _: usize) -> Result<StatusText, Failure> {
        panic!("never asked");
    }
}
