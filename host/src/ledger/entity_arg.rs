//! `--entity`: a row key as a person types it (L 10.3). Blanks may stand around each part, literals in any ASCII case,
//! digits with leading zeros.

use plugin_api::rules::text::{is_machine_char, is_repo_char, is_space, strip};
use plugin_api::{EntityKeyType, KeyPart, KindDeclaration, Value};

use super::fatal::FatalError;
use crate::reasons::Fatal;

/// Reads `--entity` into an entity object. Values may still be refused by the check of the entity itself (issue 0).
///
/// # Errors
/// `INVALID_ENTITY`.
pub fn parse(text: &str, kind: &KindDeclaration) -> Result<Value<'static>, FatalError> {
    let refused =
        || Fatal::InvalidEntity.with(format!("{text:?} is not a row key of the form {}", kind.entity.printed));
    let mut rest = strip(text);
    let mut values: Vec<(String, Value<'static>)> = Vec::new();
    for part in &kind.entity.row_key {
        rest = rest.trim_start_matches(is_space);
        match part {
            KeyPart::Literal(literal) => rest = strip_literal(rest, literal).ok_or_else(refused)?,
            KeyPart::Key(name) => {
                let key = kind.entity.keys.iter().find(|key| key.name == *name).ok_or_else(refused)?;
                let (value, tail) = strip_value(rest, key.kind).ok_or_else(refused)?;
                values.push((name.clone(), value));
                rest = tail;
            }
        }
    }
    if !rest.is_empty() {
        return Err(refused());
    }
    Ok(Value::object(values))
}

/// A literal in any ASCII case, blanks allowed between its own words' boundaries as the reference does around `#`.
fn strip_literal<'t>(mut rest: &'t str, literal: &str) -> Option<&'t str> {
    let mut previous_alphanumeric = None;
    for expected in literal.chars() {
        // `#gpu` is two words: blanks may stand between `#` and `gpu`, not inside `gpu`.
        if previous_alphanumeric.is_some_and(|previous: bool| previous != expected.is_ascii_alphanumeric()) {
            rest = rest.trim_start_matches(is_space);
        }
        previous_alphanumeric = Some(expected.is_ascii_alphanumeric());
        let found = rest.chars().next()?;
        if !found.eq_ignore_ascii_case(&expected) {
            return None;
        }
        rest = &rest[found.len_utf8()..];
    }
    Some(rest)
}

fn strip_value(rest: &str, kind: EntityKeyType) -> Option<(Value<'static>, &str)> {
    let allowed: fn(char) -> bool = match kind {
        EntityKeyType::Repo => |c| is_repo_char(c) || c == '/',
        EntityKeyType::Machine => is_machine_char,
        EntityKeyType::Positive | EntityKeyType::Index => |c| c.is_ascii_digit(),
    };
    let end = rest.find(|c| !allowed(c)).unwrap_or(rest.len());
    let (text, tail) = rest.split_at(end);
    if text.is_empty() {
        return None;
    }
    let value = if kind.is_integer() { Value::Integer(text.parse().ok()?) } else { Value::string(text) };
    let valid_repo = kind != EntityKeyType::Repo || plugin_api::rules::text::is_repo(text);
    valid_repo.then_some((value, tail))
}
