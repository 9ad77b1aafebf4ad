//! Values of entity keys and typed fields: what is accepted and how it is stored (L 2.3).

use plugin_api::json::{Layout, text};
use plugin_api::rules::number;
use plugin_api::rules::text::{collapse, is_blank, is_issue_ref, is_lane, is_machine, is_repo, strip};
use plugin_api::rules::time::Timestamp;
use plugin_api::{EntityKeyType, FieldType, Refusal, Value};

use super::shape::Shape;

/// The stored form of an entity value; `None` when it is not one of this type.
#[must_use]
pub fn entity_value(kind: EntityKeyType, value: &Value<'_>) -> Option<Value<'static>> {
    let stripped =
        |allowed: fn(&str) -> bool| value.as_text().map(strip).filter(|text| allowed(text)).map(Value::string);
    let from = |lowest| value.as_integer().filter(|number| *number >= lowest).map(Value::Integer);
    match kind {
        EntityKeyType::Repo => stripped(is_repo),
        EntityKeyType::Machine => stripped(is_machine),
        EntityKeyType::Positive => from(1),
        EntityKeyType::Index => from(0),
    }
}

/// The stored form of a value of the field with this index, whose type is not custom.
///
/// # Errors
/// `invalid_field_value`, or one of the timestamp reasons for a utc-timestamp field.
pub fn typed_value(shape: &Shape<'_>, field: u8, value: &Value<'_>) -> Result<Value<'static>, Refusal> {
    let field = usize::from(field);
    let kind = shape.field_type(field);
    let name = shape.field_name(field);
    if let FieldType::UtcTimestamp = kind {
        return timestamp(name, value);
    }
    stored(kind, value)
        .ok_or_else(|| Refusal::invalid_value(format!("field {name} is {}, not {}", shown(value), wanted(kind))))
}

fn stored(kind: &FieldType, value: &Value<'_>) -> Option<Value<'static>> {
    match kind {
        FieldType::Enum(values) => {
            let text = value.as_text()?;
            values.iter().any(|allowed| allowed == text).then(|| Value::string(text))
        }
        FieldType::Bool => value.as_bool().map(Value::Bool),
        FieldType::Int => value.as_integer().filter(|number| *number >= 0).map(Value::Integer),
        FieldType::Hours => hours(value).map(Value::Float),
        FieldType::Text => value.as_text().filter(|text| !is_blank(text)).map(|text| Value::string(collapse(text))),
        FieldType::Lane => value.as_text().map(strip).filter(|text| is_lane(text)).map(Value::string),
        FieldType::IssueRef => value.as_text().map(strip).filter(|text| is_issue_ref(text)).map(Value::string),
        FieldType::UtcTimestamp => {
            value.as_text().and_then(|text| Timestamp::parse(text).ok()).map(|at| Value::string(at.to_string()))
        }
        FieldType::Custom(_) => None,
    }
}

fn hours(value: &Value<'_>) -> Option<f64> {
    let number = match value {
        // Rounds to nearest even, as the reference does.
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Null | Value::Bool(_) | Value::BigInteger(_) | Value::Text(_) | Value::List(_) | Value::Object(_) => {
            return None;
        }
    };
    (number >= 0.0).then(|| number::hours(number))
}

fn timestamp(name: &str, value: &Value<'_>) -> Result<Value<'static>, Refusal> {
    let Some(text) = value.as_text() else {
        return Err(Refusal::new("invalid_timestamp", format!("field {name} is {}, not a string", shown(value))));
    };
    match Timestamp::parse(text) {
        Ok(instant) => Ok(Value::string(instant.to_string())),
        Err(error) => Err(Refusal::new(error.code(), format!("field {name} {} {error}", shown(value)))),
    }
}

fn wanted(kind: &FieldType) -> String {
    match kind {
        FieldType::Enum(values) => format!("one of {}", values.join(", ")),
        FieldType::Bool => "true or false".to_owned(),
        FieldType::Int => "an integer from 0".to_owned(),
        FieldType::Hours => "a number from 0".to_owned(),
        FieldType::Text => "a text that says something".to_owned(),
        FieldType::Lane => "machine or machine:workspace".to_owned(),
        FieldType::UtcTimestamp => "a UTC time".to_owned(),
        FieldType::IssueRef => "owner/name#N".to_owned(),
        FieldType::Custom(name) => format!("a {name} value"),
    }
}

/// The value as an error text shows it: JSON, cut after 80 characters.
#[must_use]
pub fn shown(value: &Value<'_>) -> String {
    const MOST: usize = 80;
    let text = text(value, Layout::Compact);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
