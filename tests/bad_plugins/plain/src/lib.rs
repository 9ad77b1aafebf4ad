//! A kind whose author forgot `export_plugin!`.

use plugin_api::{Failure, KindDeclaration, LedgerKind, LedgerView, StatusText, Value};

/// Would be a kind, if anything led to it.
#[derive(Default)]
pub struct Plain;

impl LedgerKind for Plain {
    const NAME: &'static str = "plain";

    fn declaration(&self) -> KindDeclaration {
        unreachable!("nothing leads here")
    }

    fn summary(&self, _: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        unreachable!("nothing leads here")
    }

    fn status(&self, _: &LedgerView<'_>, _: usize) -> Result<StatusText, Failure> {
        unreachable!("nothing leads here")
    }
}
