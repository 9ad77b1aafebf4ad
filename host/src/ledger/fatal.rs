//! A command refused as a whole: code and detail, rendered as `ERROR <code>: <detail>`.

use std::path::Path;

use super::kind::KindFailure;
use crate::reasons::Fatal;

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct FatalError {
    /// Stable code: a [`Fatal`] in upper case, or a rejection reason where one observation was the whole input.
    pub code: String,
    /// What failed, on which input, why.
    pub detail: String,
}

impl FatalError {
    /// The same, with the file that it is about in front.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        Self { detail: format!("{}: {}", path.display(), self.detail), ..self }
    }
}

impl Fatal {
    /// This code with a detail.
    #[must_use]
    pub fn with(self, detail: impl Into<String>) -> FatalError {
        FatalError { code: self.code().to_owned(), detail: detail.into() }
    }
}

impl Fatal {
    /// This code with an error and its causes as the detail.
    #[must_use]
    pub fn of(self, error: &dyn std::error::Error) -> FatalError {
        let causes = std::iter::successors(Some(error), |error| error.source());
        let texts: Vec<String> = causes.map(ToString::to_string).collect();
        self.with(texts.join(": "))
    }
}

impl From<KindFailure> for FatalError {
    fn from(failure: KindFailure) -> Self {
        Fatal::PluginFailed.with(failure.to_string())
    }
}

impl From<plugin_api::Refusal> for FatalError {
    fn from(refusal: plugin_api::Refusal) -> Self {
        Self { code: refusal.code, detail: refusal.detail }
    }
}
