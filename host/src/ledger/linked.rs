//! A kind that is linked in: the fold without a library to load, for tests and benches.
//!
//! It asks and reads as a loaded kind does; only the crossing is left out.

use plugin_api::guard::guard;
use plugin_api::{Failure, KindDeclaration, LedgerKind, LedgerView, StatusText, Value, VerbAnswer, VerbCall, answer};

use super::answers;
use super::kind::{Batch, Judged, Kind, KindFailure};

/// The kind `K` without a library.
pub struct Linked<K> {
    kind: K,
    declaration: KindDeclaration,
}

impl<K: LedgerKind> Linked<K> {
    /// The kind with what it declares.
    #[must_use]
    pub fn new() -> Self {
        let kind = K::default();
        let declaration = kind.declaration();
        Self { kind, declaration }
    }

    fn ask<T, A>(
        &self,
        call: &'static str,
        ask: impl FnOnce() -> Result<A, Failure>,
        read: impl FnOnce(A) -> Result<T, Failure>,
    ) -> Result<T, KindFailure> {
        guard(ask).and_then(read).map_err(|failure| answers::failure(&self.declaration, call, failure))
    }
}

impl<K: LedgerKind> Default for Linked<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: LedgerKind> Kind for Linked<K> {
    fn declaration(&self) -> &KindDeclaration {
        &self.declaration
    }

    fn judge(&self, batch: &Batch<'_>) -> Result<Judged, KindFailure> {
        self.ask(
            "judge",
            || answer::judge(&self.kind, &self.declaration, &batch.observations, &batch.customs),
            |answered| answers::judged(&self.declaration, batch, answered),
        )
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, KindFailure> {
        self.ask("summary", || answer::summary(&self.kind, ledger), |text| answers::summary(&text))
    }

    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, KindFailure> {
        self.ask("status", || answer::status(&self.kind, ledger, max_rows), |text| answers::status(&text, max_rows))
    }

    fn verb(&self, call: &VerbCall<'_>) -> Result<VerbAnswer, KindFailure> {
        self.ask("verb", || answer::verb(&self.kind, call), |text| answers::verb(&self.declaration, &text))
    }
}
