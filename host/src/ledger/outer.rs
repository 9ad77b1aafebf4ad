//! The outer levels of a large document: objects are read, lists keep their items as raw text.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use plugin_api::Value;
use plugin_api::json::{self, ReadError, Syntax};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::overflow::{self, Unread};

/// A value of the outer levels.
#[derive(Clone, Debug)]
pub enum Outer<'a> {
    /// An object within the depth that was asked for; no key stands twice.
    Object(Vec<(Cow<'a, str>, Outer<'a>)>),
    /// A list, its items as text.
    List(Vec<&'a RawValue>),
    /// null, bool, number or string; `None` for a string that holds a lone surrogate.
    Scalar(Option<Value<'a>>),
    /// An object deeper than was asked for.
    Deep,
}

impl<'a> Outer<'a> {
    /// Reads `text`; objects at level `deepest` (root = 0) are still read, objects below them are not.
    ///
    /// # Errors
    /// [`ReadError`] when it is not JSON, when an object that is read repeats a key, or when a float outside of lists
    /// overflows.
    pub fn read(text: &'a str, deepest: usize) -> Result<Self, ReadError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let fast = Levels { left: deepest + 1 }.deserialize(&mut deserializer).and_then(|outer| {
            deserializer.end()?;
            Ok(outer)
        });
        match fast {
            Ok(outer) => Ok(outer),
            Err(_) => Self::from_raw(serde_json::from_str(text)?, deepest + 1),
        }
    }

    /// The same from raw values: slower, and it tolerates strings that nobody reads.
    fn from_raw(raw: &'a RawValue, left: usize) -> Result<Self, ReadError> {
        match raw.get().as_bytes().first() {
            Some(b'{') if left == 0 => overflow::check(raw.get()).map(|()| Self::Deep),
            Some(b'{') => {
                let entries = json::object_entries(raw)?.unwrap_or_default();
                if let Some(key) = json::repeated_key(entries.iter().map(|(key, _)| key.as_ref())) {
                    return Err(ReadError::Syntax(Syntax(repeated(key))));
                }
                let entries = entries.into_iter().map(|(key, raw)| Ok((key, Self::from_raw(raw, left - 1)?)));
                Ok(Self::Object(entries.collect::<Result<_, ReadError>>()?))
            }
            Some(b'[') => Ok(Self::List(serde_json::from_str(raw.get())?)),
            Some(b'"') => Ok(Self::Scalar(json::read_raw(raw).ok().map(|document| document.value))),
            Some(_) | None => Ok(Self::Scalar(Some(json::read_raw(raw)?.value))),
        }
    }

    /// Every list that is read, with the keys that lead to it joined by dots; `""` for the root. Objects come level by
    /// level, their entries in document order.
    #[must_use]
    pub fn lists(&self) -> Vec<(String, &[&'a RawValue])> {
        let mut lists = Vec::new();
        let mut queue = VecDeque::from([(String::new(), self)]);
        while let Some((path, outer)) = queue.pop_front() {
            match outer {
                Self::List(items) => lists.push((path, items.as_slice())),
                Self::Object(entries) => {
                    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                    queue.extend(entries.iter().map(|(key, value)| (below(key), value)));
                }
                Self::Scalar(_) | Self::Deep => {}
            }
        }
        lists
    }

    /// The value under `key`, if this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            Self::List(_) | Self::Scalar(_) | Self::Deep => None,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Scalar(Some(value)) => value.as_text(),
            Self::Scalar(None) | Self::Object(_) | Self::List(_) | Self::Deep => None,
        }
    }

    /// Whether it is JSON null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(Some(Value::Null)))
    }
}

fn repeated(key: &str) -> String {
    format!("key {key:?} stands twice in one object")
}

/// How many further levels of objects are read.
#[derive(Clone, Copy)]
struct Levels {
    left: usize,
}

impl<'de> DeserializeSeed<'de> for Levels {
    type Value = Outer<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels {
    type Value = Outer<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Outer::Scalar(Some(Value::Null)))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Outer::Scalar(Some(Value::Bool(flag))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Outer::Scalar(Some(Value::Integer(number))))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Outer::Scalar(Some(Value::integer(number))))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Outer::Scalar(Some(Value::Float(number))))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Outer::Scalar(Some(Value::Text(Cow::Borrowed(text)))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Outer::Scalar(Some(Value::string(text))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(raw) = seq.next_element()? {
            items.push(raw);
        }
        Ok(Outer::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        if self.left == 0 {
            while map.next_entry::<IgnoredAny, Unread>()?.is_some() {}
            return Ok(Outer::Deep);
        }
        let mut entries: Vec<(Cow<'de, str>, Outer<'de>)> = Vec::new();
        while let Some(json::BorrowedText(key)) = map.next_key()? {
            entries.push((key, map.next_value_seed(Self { left: self.left - 1 })?));
        }
        match json::repeated_key(entries.iter().map(|(key, _)| key.as_ref())) {
            Some(key) => Err(A::Error::custom(repeated(key))),
            None => Ok(Outer::Object(entries)),
        }
    }
}
