//! A loaded kind, as the fold sees it.

use plugin_api::answer::Judged as Answered;
use plugin_api::cross;
use plugin_api::ffi::{FfiBatch, FfiError, FfiLedger, FfiVerbCall, KindBox};
use plugin_api::{Failure, KindDeclaration, LedgerView, Refusal, Row, StatusText, Value, VerbAnswer, VerbCall};

use super::declare;
use super::load::{LoadError, LoadErrorKind, Plugin};
use crate::ledger::answers;
use crate::ledger::kind::{Batch, Judged, Kind, KindFailure};

/// A kind of a loaded plugin.
pub struct LoadedKind {
    object: KindBox,
    declaration: KindDeclaration,
}

impl LoadedKind {
    /// Opens the kind `name` of `plugin`.
    ///
    /// # Errors
    /// [`LoadErrorKind::Declarations`] when the plugin has no such kind, or its declaration makes no sense;
    /// [`LoadErrorKind::Failed`] when it cannot be opened.
    pub fn open(plugin: &Plugin, name: &str) -> Result<Self, LoadError> {
        let declaration = plugin.declarations().iter().find(|declaration| declaration.name == name);
        let senseless = |why: String| plugin.error(LoadErrorKind::Declarations(why));
        let declaration = declaration.ok_or_else(|| senseless(format!("there is no kind {name}")))?;
        let faults: Vec<_> = declare::faults(declaration).iter().map(ToString::to_string).collect();
        if !faults.is_empty() {
            return Err(senseless(format!("kind {name}: {}", faults.join("; "))));
        }
        Ok(Self { object: plugin.open_kind(name)?, declaration: declaration.clone() })
    }

    fn failure(&self, call: &'static str, failure: impl Into<Failure>) -> KindFailure {
        answers::failure(&self.declaration, call, failure.into())
    }

    /// Makes one call and reads its answer.
    fn ask<T, A>(
        &self,
        call: &'static str,
        answer: Result<A, FfiError>,
        read: impl FnOnce(A) -> Result<T, Failure>,
    ) -> Result<T, KindFailure> {
        answer.map_err(Failure::from).and_then(read).map_err(|failure| self.failure(call, failure))
    }
}

impl Kind for LoadedKind {
    fn declaration(&self) -> &KindDeclaration {
        &self.declaration
    }

    fn judge(&self, batch: &Batch<'_>) -> Result<Judged, KindFailure> {
        let answer = cross::lend_batch(&batch.observations, &batch.customs, |observations, customs| {
            self.object.judge(FfiBatch { observations, customs }).into_result()
        });
        let answer = answer.map_err(|failure| self.failure("judge", failure))?;
        self.ask("judge", answer, |judged| {
            let refused = judged.refused.into_iter().map(|refused| {
                let refusal = Refusal { code: refused.code.into(), detail: refused.detail.into() };
                (refused.observation as usize, refusal)
            });
            let customs = judged.customs.into_iter().map(Into::into);
            answers::judged(
                &self.declaration,
                batch,
                Answered { refused: refused.collect(), customs: customs.collect() },
            )
        })
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, KindFailure> {
        let answer = cross::lend(ledger.rows, &self.declaration, |rows| {
            self.object.summary(FfiLedger { rows, counts: ledger.counts.into() }).into_result()
        });
        let answer = answer.map_err(|failure| self.failure("summary", failure))?;
        self.ask("summary", answer, |text| answers::summary(&text))
    }

    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, KindFailure> {
        let limit = u64::try_from(max_rows).unwrap_or(u64::MAX);
        let answer = cross::lend(ledger.rows, &self.declaration, |rows| {
            self.object.status(FfiLedger { rows, counts: ledger.counts.into() }, limit).into_result()
        });
        let answer = answer.map_err(|failure| self.failure("status", failure))?;
        self.ask("status", answer, |text| answers::status(&text, max_rows))
    }

    fn verb(&self, call: &VerbCall<'_>) -> Result<VerbAnswer, KindFailure> {
        let arguments = cross::lend_arguments(&call.arguments);
        let none: &[Row<'_>] = &[];
        let answer = cross::lend(call.rows.unwrap_or(none), &self.declaration, |rows| {
            let call = FfiVerbCall {
                verb: call.verb.into(),
                arguments: arguments.as_slice().into(),
                rows: call.rows.map(|_| rows).into(),
                now: call.now.micros(),
            };
            self.object.verb(call).into_result()
        });
        let answer = answer.map_err(|failure| self.failure("verb", failure))?;
        self.ask("verb", answer, |text| answers::verb(&self.declaration, &text))
    }
}
