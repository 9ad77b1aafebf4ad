//! What is an observation and what is prose, and the parser of an envelope (L 4).

use plugin_api::json::{self, Document};
use plugin_api::rules::text::strip;
use plugin_api::{Refusal, Value};

use super::canonical::ENVELOPE_PREFIX;
use super::observation::refusal;
use crate::reasons::Reason;

/// What the text of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// An envelope, well-formed or not.
    Envelope,
    /// Text for people: counted, never rejected.
    Prose,
    /// The first part of an envelope that a transport cut: prose by the rule, but worth a warning (N18).
    SplitEnvelope,
}

/// Tells an envelope from prose.
#[must_use]
pub fn classify(text: &str) -> TextKind {
    let text = strip(text);
    if text.starts_with(ENVELOPE_PREFIX) || text.starts_with('{') {
        TextKind::Envelope
    } else if text.starts_with("**[PART ") && text.contains(ENVELOPE_PREFIX) {
        TextKind::SplitEnvelope
    } else {
        TextKind::Prose
    }
}

/// Reads the text of an envelope, with or without its prefix, as one JSON object.
///
/// # Errors
/// `unparsable_envelope`, `duplicate_key` or `invalid_field_value`, in this order.
pub fn parse(text: &str) -> Result<Document<'_>, Refusal> {
    let text = strip(text);
    let body = strip(text.strip_prefix(ENVELOPE_PREFIX).unwrap_or(text));
    if body.is_empty() {
        return Err(refusal(Reason::UnparsableEnvelope, format!("nothing follows {ENVELOPE_PREFIX}")));
    }
    let document = json::read(body).map_err(|error| refusal(Reason::UnparsableEnvelope, error.to_string()))?;
    check(&document)?;
    Ok(document)
}

/// The checks of an envelope that the grammar of JSON does not make.
///
/// # Errors
/// `unparsable_envelope`, `duplicate_key` or `invalid_field_value`, in this order.
pub fn check(document: &Document<'_>) -> Result<(), Refusal> {
    if !matches!(document.value, Value::Object(_)) {
        let detail = format!("the envelope is {}, not an object", document.value.kind());
        return Err(refusal(Reason::UnparsableEnvelope, detail));
    }
    if let Some(key) = &document.duplicate {
        return Err(refusal(Reason::DuplicateKey, format!("key {key:?} stands twice in one object")));
    }
    if let Some(digits) = &document.big_integer {
        let start: String = digits.chars().take(40).collect();
        return Err(refusal(Reason::InvalidFieldValue, format!("integer {start} does not fit 64 bits")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, reason: &str) {
        assert_eq!(parse(text).map(|_| ()).map_err(|refusal| refusal.code), Err(reason.to_owned()), "{text}");
    }

    #[test]
    fn an_envelope_starts_with_the_prefix_or_a_brace_after_stripping() {
        for text in ["[OBS]", "[OBS]x", " \u{a0}[OBS] {}", "{broken", "\n{}"] {
            assert_eq!(classify(text), TextKind::Envelope, "{text}");
        }
        for text in ["", "  ", "[1,2]", "[obs] {}", "\u{feff}[OBS] {}", "see [OBS] {}"] {
            assert_eq!(classify(text), TextKind::Prose, "{text}");
        }
        assert_eq!(classify("**[PART 1/2]** [OBS] {\"a\":"), TextKind::SplitEnvelope);
        assert_eq!(classify("**[PART 2/2]** 1}"), TextKind::Prose);
    }

    #[test]
    fn what_is_not_one_object_is_unparsable() {
        for text in [
            "[OBS]",
            "[OBS] ",
            "[OBS] [1]",
            "[OBS] [OBS] {}",
            "[OBS]x",
            "{broken",
            "{} {}",
            "[OBS] null",
            "{\"a\":NaN}",
            "{\"a\":1e400}",
            r#"{"a":"\ud800"}"#,
        ] {
            refused(text, "unparsable_envelope");
        }
        assert!(parse("[OBS]{}").is_ok());
        assert!(parse("{}").is_ok());
    }

    #[test]
    fn syntax_beats_a_repeated_key_and_that_beats_a_large_integer() {
        refused(r#"{"a":1,"a":9223372036854775808}"#, "duplicate_key");
        refused(r#"{"a":{"b":[9223372036854775808]}}"#, "invalid_field_value");
        refused(r#"{"a":1,"a":2,}"#, "unparsable_envelope");
        refused(r#"[1,1]"#, "unparsable_envelope");
    }
}
