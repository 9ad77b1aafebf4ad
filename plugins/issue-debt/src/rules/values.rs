//! The two custom types, dependencies and follow-up (L 2.3): the words that they are made of.

use plugin_api::Value;

/// What an issue waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DependencyKind {
    /// An issue.
    Issue,
    /// A pull request.
    Pr,
    /// Something that no repository tracks; it has no number.
    External,
}

/// Where the remainder of an issue goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowupKind {
    /// To another issue.
    Issue,
    /// Nowhere, for a reason.
    Waiver,
    /// Nowhere yet.
    None,
}

/// A closed set of words in JSON.
pub(super) trait Word: Copy + 'static {
    /// Every word, in the order in which texts list them.
    const ALL: &'static [Self];

    /// The word in JSON.
    fn word(self) -> &'static str;

    /// The word that `value` is, exactly.
    fn read(value: &Value<'_>) -> Option<Self> {
        let text = value.as_text()?;
        Self::ALL.iter().copied().find(|word| word.word() == text)
    }
}

impl Word for DependencyKind {
    const ALL: &'static [Self] = &[Self::Issue, Self::Pr, Self::External];

    fn word(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Pr => "pr",
            Self::External => "external",
        }
    }
}

impl Word for FollowupKind {
    const ALL: &'static [Self] = &[Self::Issue, Self::Waiver, Self::None];

    fn word(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Waiver => "waiver",
            Self::None => "none",
        }
    }
}
