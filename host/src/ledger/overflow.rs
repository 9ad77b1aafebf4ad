//! Numbers beyond the range of a float in what is skipped unread (D2).
//!
//! A value that is read as such is refused by the reader itself. What is kept as raw text or skipped only had its
//! grammar checked, and to the grammar `1e400` is a number like any other.

use plugin_api::json::{ReadError, Syntax};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::value::RawValue;

/// Checks JSON text whose grammar was already checked.
///
/// # Errors
/// [`ReadError::Syntax`] naming the first number that no float can hold.
pub fn check(text: &str) -> Result<(), ReadError> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = bytes[at..].iter().position(|byte| !is_of_number(*byte)).map_or(bytes.len(), |len| at + len);
                check_number(&text[at..end])?;
                at = end;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// Place behind the closing quote of a string whose content starts at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') | None => return at + 1,
            Some(_) => at += 1,
        }
    }
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

fn check_number(text: &str) -> Result<(), ReadError> {
    let is_float = text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_float && !text.parse::<f64>().is_ok_and(f64::is_finite) {
        let shown: String = text.chars().take(40).collect();
        return Err(ReadError::Syntax(Syntax(format!("number {shown} is out of range"))));
    }
    Ok(())
}

/// A value that nobody reads: its grammar and its numbers are sound.
pub struct Unread;

impl<'de> Deserialize<'de> for Unread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        check(raw.get()).map(|()| Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn sound(text: &str) {
        assert_eq!(check(text), Ok(()), "{text}");
    }

    #[track_caller]
    fn refused(text: &str) {
        assert!(check(text).is_err(), "{text} was accepted");
    }

    #[test]
    fn a_float_that_overflows_is_found_at_any_depth() {
        refused("1e400");
        refused("-1E+400");
        refused(r#"[0,{"a":[1,"x",1e309]}]"#);
        refused(&format!("{}.0", "9".repeat(400)));
        refused(&format!("{}1e999{}", "[".repeat(100_000), "]".repeat(100_000)));
    }

    #[test]
    fn what_a_float_holds_and_integers_of_any_length_are_sound() {
        for text in ["0", "-0.0", "1.7976931348623157e308", "1e-400", "0e400", "{}", "[]", "true"] {
            sound(text);
        }
        sound(&"9".repeat(400));
    }

    #[test]
    fn digits_inside_a_string_are_no_number() {
        for text in [r#""1e400""#, r#"{"1e400":"1e400"}"#, r#"["\"",1]"#, r#"["a\\","1e400"]"#, r#""\\\"1e400""#] {
            sound(text);
        }
        refused(r#"["a\\",1e400]"#);
        refused(r#"["\u0022",1e400]"#);
    }
}
