//! Puts any [`LedgerKind`] behind the object that crosses the boundary.
//!
//! Everything the author wrote runs inside [`guard`], its destructor included.

use abi_stable::std_types::{RResult, RSlice, RString};

use crate::answer;
use crate::cross;
use crate::declaration::KindDeclaration;
use crate::ffi::{FfiBatch, FfiError, FfiJudged, FfiLedger, FfiRefusal, FfiVerbCall, KindObject};
use crate::guard::guard;
use crate::kind::{Failure, LedgerKind, LedgerView, VerbCall};

/// A kind with its declaration, which gives keys and fields their names.
pub struct Adapter<K: LedgerKind> {
    /// `None` only while it is being dropped.
    kind: Option<K>,
    declaration: KindDeclaration,
}

impl<K: LedgerKind> Adapter<K> {
    /// Makes the kind and asks it for its declaration. Runs the author's code: only inside a guard.
    pub(crate) fn open() -> Self {
        let kind = K::default();
        let declaration = kind.declaration();
        Self { kind: Some(kind), declaration }
    }

    fn call<T>(&self, call: impl FnOnce(&K, &KindDeclaration) -> Result<T, Failure>) -> RResult<T, FfiError> {
        let outcome = guard(|| {
            let kind = self.kind.as_ref().ok_or_else(|| Failure::new("closed", "the kind is being closed"))?;
            call(kind, &self.declaration)
        });
        outcome.map_err(FfiError::from).into()
    }
}

impl<K: LedgerKind> Drop for Adapter<K> {
    fn drop(&mut self) {
        let kind = self.kind.take();
        if let Err(failure) = guard(|| {
            drop(kind);
            Ok(())
        }) {
            tracing::warn!(kind = K::NAME, "the kind failed while it was closed: {}", failure.message);
        }
    }
}

impl<K: LedgerKind> KindObject for Adapter<K> {
    fn judge(&self, batch: FfiBatch<'_>) -> RResult<FfiJudged, FfiError> {
        self.call(|kind, declaration| {
            let judged = answer::judge(kind, declaration, batch.observations.as_slice(), batch.customs.as_slice())?;
            let refused = judged.refused.into_iter().map(|(index, refusal)| {
                let observation = u32::try_from(index).map_err(|_| Failure::new("invalid_call", "batch too large"))?;
                Ok(FfiRefusal { observation, code: refusal.code.into(), detail: refusal.detail.into() })
            });
            let refused = refused.collect::<Result<_, Failure>>()?;
            Ok(FfiJudged { refused, customs: judged.customs.into_iter().map(Into::into).collect() })
        })
    }

    fn summary(&self, ledger: FfiLedger<'_>) -> RResult<RString, FfiError> {
        self.call(|kind, declaration| {
            let rows = cross::rows(ledger.rows, declaration)?;
            let view = LedgerView { rows: &rows, counts: ledger.counts.into() };
            answer::summary(kind, &view).map(RString::from)
        })
    }

    fn status(&self, ledger: FfiLedger<'_>, max_rows: u64) -> RResult<RString, FfiError> {
        self.call(|kind, declaration| {
            let rows = cross::rows(ledger.rows, declaration)?;
            let view = LedgerView { rows: &rows, counts: ledger.counts.into() };
            let max_rows = usize::try_from(max_rows).unwrap_or(usize::MAX);
            answer::status(kind, &view, max_rows).map(RString::from)
        })
    }

    fn verb(&self, call: FfiVerbCall<'_>) -> RResult<RString, FfiError> {
        self.call(|kind, declaration| {
            let rows: Option<RSlice<'_, _>> = call.rows.into_option();
            let rows = rows.map(|rows| cross::rows(rows, declaration)).transpose()?;
            let call = VerbCall {
                verb: call.verb.as_str(),
                arguments: cross::arguments(call.arguments),
                rows: rows.as_deref(),
                now: crate::rules::time::Timestamp::from_micros(call.now),
            };
            answer::verb(kind, &call).map(RString::from)
        })
    }
}
