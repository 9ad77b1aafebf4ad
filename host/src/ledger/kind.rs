//! What the fold asks of a kind: the port that `plugins` implements for a loaded library.
//!
//! A batch crosses the boundary once (DECISIONS 6.2): the host has done its own checks, the kind answers for the extra
//! check and for all custom values, and the host picks the failure with the lowest check number.

use plugin_api::{KindDeclaration, LedgerView, Refusal, StatusText, Value, VerbAnswer, VerbCall};

/// A ledger kind as the host sees it. Called from several threads.
pub trait Kind: Send + Sync {
    /// What the kind declared when it was loaded.
    fn declaration(&self) -> &KindDeclaration;

    /// Judges a batch: the extra check of each observation, and every custom value.
    ///
    /// # Errors
    /// [`KindFailure`] when the kind gave no usable answer.
    fn judge(&self, batch: &Batch<'_>) -> Result<Judged, KindFailure>;

    /// The kind's part of `summary.json`.
    ///
    /// # Errors
    /// [`KindFailure`] when the kind gave no usable answer.
    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, KindFailure>;

    /// The kind's lines of `status.md`.
    ///
    /// # Errors
    /// [`KindFailure`] when the kind gave no usable answer.
    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, KindFailure>;

    /// The answer of one of the kind's verbs.
    ///
    /// # Errors
    /// [`KindFailure`] when the kind gave no usable answer.
    fn verb(&self, call: &VerbCall<'_>) -> Result<VerbAnswer, KindFailure>;
}

/// Observations to judge, borrowed from the fold.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    /// The observations; their entity, actor and evidence are valid.
    pub observations: Vec<BatchObservation<'a>>,
    /// Custom values in any order, each with the observation it belongs to.
    pub customs: Vec<BatchCustom<'a>>,
}

/// One observation of a batch.
#[derive(Debug)]
pub struct BatchObservation<'a> {
    /// Printed entity values in declared order.
    pub entity: Vec<&'a str>,
    /// Actor, stripped.
    pub actor: &'a str,
    /// Evidence, collapsed.
    pub evidence: &'a str,
    /// Time as rendered.
    pub observed_at: &'a str,
}

/// One custom value of a batch.
#[derive(Debug)]
pub struct BatchCustom<'a> {
    /// Index into [`Batch::observations`].
    pub observation: usize,
    /// Index into the declared fields; its type is custom.
    pub field: usize,
    /// The value as JSON text.
    pub value: &'a str,
}

/// The kind's answer to a batch.
#[derive(Debug, Default, PartialEq)]
pub struct Judged {
    /// Observations that the extra check refuses, ascending by index.
    pub refused: Vec<(usize, Refusal)>,
    /// For each of [`Batch::customs`], in order: the normalised value as JSON text, or why it is refused.
    pub customs: Vec<Result<String, Refusal>>,
}

/// A plugin that could not answer: it panicked, or its answer makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plugin {plugin} failed in {call}: {message} ({code})")]
pub struct KindFailure {
    /// Name of the kind.
    pub plugin: String,
    /// Which call: `judge`, `summary`, `status`, `verb`.
    pub call: &'static str,
    /// `panic`, `invalid_answer`, or a code of the plugin's own.
    pub code: String,
    /// What went wrong.
    pub message: String,
}
