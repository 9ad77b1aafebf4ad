//! Reads JSON text into a [`Value`].
//!
//! serde_json checks the grammar and hands out each nested value as raw text, so that a number is seen as it was
//! written: its own number type turns `-0` and integers above u64 into floats.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Value, fast};

/// Containers that may be nested in each other; one more is [`ReadError::Depth`] (L 1.2, D6).
pub const MAX_DEPTH: usize = 128;

/// What was read, and what the grammar allows but an envelope does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// The value.
    pub value: Value<'a>,
    /// First key found twice in one object, at any depth.
    pub duplicate: Option<String>,
    /// First integer outside i64, at any depth.
    pub big_integer: Option<String>,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The grammar is broken, a string holds a lone surrogate, or a float overflows.
    Syntax(Syntax),
    /// More than [`MAX_DEPTH`] containers are nested.
    Depth,
}

/// What is wrong and where, in the words of the JSON reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syntax(pub String);

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(Syntax(message)) => f.write_str(message),
            Self::Depth => write!(f, "more than {MAX_DEPTH} lists and objects are nested"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        Self::Syntax(Syntax(error.to_string()))
    }
}

/// Reads one JSON value and nothing after it.
///
/// # Errors
/// [`ReadError`] when the text is not one JSON value within the depth limit.
pub fn read(text: &str) -> Result<Document<'_>, ReadError> {
    fast::read(text).map_or_else(|| exact(text), Ok)
}

/// The exact walk, which sees every number as it was written.
pub(super) fn exact(text: &str) -> Result<Document<'_>, ReadError> {
    if text.starts_with('\u{feff}') {
        return Err(ReadError::Syntax(Syntax(
            "it starts with a byte-order mark (U+FEFF); save it without one".to_owned(),
        )));
    }
    exact_raw(serde_json::from_str(text)?)
}

fn exact_raw(raw: &RawValue) -> Result<Document<'_>, ReadError> {
    let mut reader = Reader { duplicate: None, big_integer: None };
    let value = reader.value(raw, 0)?;
    Ok(Document { value, duplicate: reader.duplicate, big_integer: reader.big_integer })
}

/// Reads a value whose grammar was already checked.
///
/// # Errors
/// [`ReadError`] for lone surrogates, overflowing floats and depth, which the grammar check does not see.
pub fn read_raw(raw: &RawValue) -> Result<Document<'_>, ReadError> {
    fast::read(raw.get()).map_or_else(|| exact_raw(raw), Ok)
}

/// Keys and raw values of an object in document order.
pub type RawEntries<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// Keys and raw values of an object; `None` when the value is not an object.
///
/// # Errors
/// [`ReadError::Syntax`] when a key holds a lone surrogate.
pub fn object_entries(raw: &RawValue) -> Result<Option<RawEntries<'_>>, ReadError> {
    if !raw.get().starts_with('{') {
        return Ok(None);
    }
    let Entries(entries) = serde_json::from_str(raw.get())?;
    Ok(Some(entries))
}

struct Reader {
    duplicate: Option<String>,
    big_integer: Option<String>,
}

impl Reader {
    fn value<'a>(&mut self, raw: &'a RawValue, depth: usize) -> Result<Value<'a>, ReadError> {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'{') => {
                let depth = deeper(depth)?;
                let Entries(entries) = serde_json::from_str(text)?;
                self.note_duplicate(&entries);
                let entries = entries.into_iter().map(|(key, raw)| Ok((key, self.value(raw, depth)?)));
                Ok(Value::Object(entries.collect::<Result<_, ReadError>>()?))
            }
            Some(b'[') => {
                let depth = deeper(depth)?;
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                let items = items.into_iter().map(|raw| self.value(raw, depth));
                Ok(Value::List(items.collect::<Result<_, ReadError>>()?))
            }
            Some(b'"') => {
                let BorrowedText(text) = serde_json::from_str(text)?;
                Ok(Value::Text(text))
            }
            Some(b't') => Ok(Value::Bool(true)),
            Some(b'f') => Ok(Value::Bool(false)),
            Some(b'n') | None => Ok(Value::Null),
            Some(_) => self.number(text),
        }
    }

    fn note_duplicate(&mut self, entries: &[(Cow<'_, str>, &RawValue)]) {
        if self.duplicate.is_none() {
            self.duplicate = repeated_key(entries.iter().map(|(key, _)| key.as_ref())).map(str::to_owned);
        }
    }

    fn number<'a>(&mut self, text: &'a str) -> Result<Value<'a>, ReadError> {
        if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Value::Float(number)),
                Ok(_) | Err(_) => {
                    let start: String = text.chars().take(40).collect();
                    Err(ReadError::Syntax(Syntax(format!("number {start} is out of range"))))
                }
            };
        }
        if let Ok(number) = text.parse() {
            return Ok(Value::Integer(number));
        }
        if self.big_integer.is_none() {
            self.big_integer = Some(text.to_owned());
        }
        Ok(Value::BigInteger(Cow::Borrowed(text)))
    }
}

fn deeper(depth: usize) -> Result<usize, ReadError> {
    if depth < MAX_DEPTH { Ok(depth + 1) } else { Err(ReadError::Depth) }
}

/// The first key that stands twice. Objects are small, but a hostile one may not be: beyond a few keys it is a set.
pub fn repeated_key<'k>(keys: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    const FEW: usize = 16;
    if keys.clone().nth(FEW).is_none() {
        let mut seen: [&str; FEW] = [""; FEW];
        for (count, key) in keys.enumerate() {
            if seen[..count].contains(&key) {
                return Some(key);
            }
            seen[count] = key;
        }
        return None;
    }
    let mut seen = std::collections::HashSet::new();
    keys.into_iter().find(|key| !seen.insert(*key))
}

/// A string that borrows from the input when it holds no escape.
pub struct BorrowedText<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = BorrowedText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(BorrowedText(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(BorrowedText(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// An object as its entries in document order, repeated keys included.
pub struct Entries<'a, V>(pub Vec<(Cow<'a, str>, V)>);

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Entries<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<V> {
            type Value = Entries<'de, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::with_capacity(8);
                while let Some((BorrowedText(key), value)) = map.next_entry()? {
                    entries.push((key, value));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn value(text: &str) -> Value<'_> {
        read(text).map(|document| document.value).expect(text)
    }

    #[track_caller]
    fn refused(text: &str) {
        assert!(read(text).is_err(), "{text} was accepted");
    }

    #[test]
    fn minus_zero_is_an_integer_and_its_float_keeps_the_sign() {
        assert_eq!(value("-0"), Value::Integer(0));
        assert!(value("-0.0").as_float().is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }

    #[test]
    fn one_written_three_ways_is_an_integer_only_without_point_and_exponent() {
        assert_eq!(value("1"), Value::Integer(1));
        assert_eq!(value("1.0"), Value::Float(1.0));
        assert_eq!(value("1e0"), Value::Float(1.0));
    }

    #[test]
    fn an_integer_outside_i64_is_kept_and_reported() {
        for digits in
            ["9223372036854775808", "-9223372036854775809", "18446744073709551616", "123456789012345678901234567890"]
        {
            let document = read(digits).expect(digits);
            assert_eq!(document.value, Value::BigInteger(digits.into()));
            assert_eq!(document.big_integer.as_deref(), Some(digits));
        }
        assert_eq!(value("9223372036854775807"), Value::Integer(i64::MAX));
        assert_eq!(value("-9223372036854775808"), Value::Integer(i64::MIN));
    }

    #[test]
    fn key_order_is_document_order_and_the_first_repeated_key_is_named() {
        let document = read(r#"{"b":1,"a":[{"x":1,"y":2,"x":3}],"b":2}"#).expect("json");
        let keys: Vec<_> = document.value.as_object().expect("object").iter().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(keys, ["b", "a", "b"]);
        assert_eq!(document.duplicate.as_deref(), Some("b"));
        assert_eq!(read(r#"{"a":{"x":1,"\u0078":2}}"#).expect("json").duplicate.as_deref(), Some("x"));
        assert_eq!(read(r#"{"a":{"x":1},"b":{"x":1}}"#).expect("json").duplicate, None);
    }

    #[test]
    fn a_repeated_key_is_seen_in_a_large_object_too() {
        let keys: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
        let text = format!("{{{},\"k7\":0}}", keys.join(","));
        assert_eq!(read(&text).expect("json").duplicate.as_deref(), Some("k7"));
    }

    #[test]
    fn words_that_are_not_json_are_refused() {
        for text in [
            "NaN",
            "Infinity",
            "-Infinity",
            "[NaN]",
            "1e400",
            "-1e400",
            "01",
            "1.",
            ".5",
            "+1",
            "",
            " ",
            "\u{feff}1",
            "1 2",
            "{\"a\":1,}",
            "\u{a0}1",
        ] {
            refused(text);
        }
    }

    #[test]
    fn lone_surrogates_and_raw_control_characters_are_refused_everywhere() {
        for text in
            [r#""\ud800""#, r#"["\udc00"]"#, r#"{"\ud800":1}"#, r#"{"a":{"b":"x\ud83dy"}}"#, "\"a\nb\"", "\"\u{1}\""]
        {
            refused(text);
        }
        assert_eq!(value(r#""\ud83d\ude00\u0000""#), Value::string("😀\0"));
    }

    #[test]
    fn depth_128_is_accepted_and_129_is_not() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(128)).is_ok());
        assert_eq!(read(&nested(129)), Err(ReadError::Depth));
        assert_eq!(read(&nested(100_000)), Err(ReadError::Depth));
        let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(read(&objects(128)).is_ok());
        assert_eq!(read(&objects(129)), Err(ReadError::Depth));
    }
}
