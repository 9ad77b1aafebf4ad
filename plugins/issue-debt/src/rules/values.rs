//! The two custom types, dependencies and follow-up (L 2.3): what is accepted, and the one form that is stored.

use plugin_api::json::excerpt;
use plugin_api::rules::text;
use plugin_api::{Refusal, Value};

use super::declaration::{DEPENDENCIES, FOLLOWUP};

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
    /// The words, for an error text.
    const EXPECTED: &'static str;

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
    const EXPECTED: &'static str = "issue, pr or external";

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
    const EXPECTED: &'static str = "issue, waiver or none";

    fn word(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Waiver => "waiver",
            Self::None => "none",
        }
    }
}

/// Why an item or a follow-up is refused. All are `invalid_field_value`; the texts tell the sender which part it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ValueError {
    #[error("{found} is not {expected}")]
    WrongType { found: String, expected: &'static str },
    #[error("unknown key {key}; the keys are {keys}")]
    UnknownKey { key: String, keys: String },
    #[error("{key} is missing; it takes {expected}")]
    Missing { key: &'static str, expected: &'static str },
    #[error("{key} is {found}; it takes {expected}")]
    Unfit { key: &'static str, found: String, expected: &'static str },
}

/// A list of dependencies in the given order, duplicates kept. `entity_repo` stands in for an item's own.
///
/// # Errors
/// `invalid_field_value`, naming the first item that is refused and its part.
pub(super) fn dependencies(value: &Value<'_>, entity_repo: &str) -> Result<Value<'static>, Refusal> {
    let Some(items) = value.as_list() else {
        return Err(Refusal::invalid_value(format!("{DEPENDENCIES}: {} is not a list", excerpt(value))));
    };
    let normalised = items.iter().enumerate().map(|(index, item)| {
        dependency(item, entity_repo)
            .map_err(|error| Refusal::invalid_value(format!("{DEPENDENCIES}[{index}]: {error}")))
    });
    normalised.collect::<Result<_, _>>().map(Value::List)
}

/// Null, or an object of its kind's keys only.
///
/// # Errors
/// `invalid_field_value`, naming the part that is refused.
pub(super) fn followup(value: &Value<'_>) -> Result<Value<'static>, Refusal> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    followup_object(value).map_err(|error| Refusal::invalid_value(format!("{FOLLOWUP}: {error}")))
}

fn dependency(item: &Value<'_>, entity_repo: &str) -> Result<Value<'static>, ValueError> {
    if let Value::Integer(_) | Value::BigInteger(_) = item {
        let repo = Value::string(entity_repo);
        return Ok(stored_dependency(DependencyKind::Issue, repo, positive(Some(item))?, Value::Null));
    }
    known_keys(item, &["kind", "repo", "number", "note"], "an issue number or an object")?;
    let kind = word(item, DependencyKind::Issue)?;
    let repo = match item.get("repo") {
        None => Value::string(entity_repo),
        given => repository(given)?,
    };
    let number = match kind {
        DependencyKind::Issue | DependencyKind::Pr => positive(item.get("number"))?,
        // Whatever was given: there is nothing that a number could name.
        DependencyKind::External => Value::Null,
    };
    let note = match item.get("note") {
        None | Some(Value::Null) => Value::Null,
        given => line("note", given)?,
    };
    Ok(stored_dependency(kind, repo, number, note))
}

fn stored_dependency(
    kind: DependencyKind,
    repo: Value<'static>,
    number: Value<'static>,
    note: Value<'static>,
) -> Value<'static> {
    Value::object([("kind", Value::from(kind.word())), ("repo", repo), ("number", number), ("note", note)])
}

fn followup_object(value: &Value<'_>) -> Result<Value<'static>, ValueError> {
    known_keys(value, &["kind", "repo", "number", "reason"], "null or an object")?;
    let kind = word(value, FollowupKind::None)?;
    let mut stored = vec![("kind", Value::from(kind.word()))];
    match kind {
        FollowupKind::Issue => {
            stored.push(("repo", repository(value.get("repo"))?));
            stored.push(("number", positive(value.get("number"))?));
        }
        FollowupKind::Waiver => stored.push(("reason", line("reason", value.get("reason"))?)),
        FollowupKind::None => {}
    }
    Ok(Value::object(stored))
}

fn known_keys(value: &Value<'_>, known: &[&str], expected: &'static str) -> Result<(), ValueError> {
    let entries = value.as_object().ok_or_else(|| ValueError::WrongType { found: excerpt(value), expected })?;
    match entries.iter().find(|(key, _)| !known.contains(&key.as_ref())) {
        None => Ok(()),
        Some((key, _)) => {
            Err(ValueError::UnknownKey { key: excerpt(&Value::from(key.as_ref())), keys: known.join(", ") })
        }
    }
}

fn word<W: Word>(object: &Value<'_>, default: W) -> Result<W, ValueError> {
    match object.get("kind") {
        None => Ok(default),
        Some(value) => W::read(value).ok_or_else(|| unfit("kind", value, W::EXPECTED)),
    }
}

fn repository(given: Option<&Value<'_>>) -> Result<Value<'static>, ValueError> {
    const EXPECTED: &str = "a repository, owner/name";
    let value = given.ok_or(ValueError::Missing { key: "repo", expected: EXPECTED })?;
    let name = value.as_text().map(text::strip).filter(|name| text::is_repo(name));
    name.map(Value::string).ok_or_else(|| unfit("repo", value, EXPECTED))
}

fn positive(given: Option<&Value<'_>>) -> Result<Value<'static>, ValueError> {
    const EXPECTED: &str = "an integer above 0 that fits 64 bits";
    let value = given.ok_or(ValueError::Missing { key: "number", expected: EXPECTED })?;
    let number = value.as_integer().filter(|number| *number > 0);
    number.map(Value::Integer).ok_or_else(|| unfit("number", value, EXPECTED))
}

fn line(key: &'static str, given: Option<&Value<'_>>) -> Result<Value<'static>, ValueError> {
    const EXPECTED: &str = "text that is not blank";
    let value = given.ok_or(ValueError::Missing { key, expected: EXPECTED })?;
    let line = value.as_text().map(text::collapse).filter(|line| !line.is_empty());
    line.map(Value::string).ok_or_else(|| unfit(key, value, EXPECTED))
}

fn unfit(key: &'static str, value: &Value<'_>, expected: &'static str) -> ValueError {
    ValueError::Unfit { key, found: excerpt(value), expected }
}

#[cfg(test)]
mod tests;
