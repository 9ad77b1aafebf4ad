//! The outer levels of a large document: objects are read, lists keep their items as raw text or hand them on.

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
    /// A list.
    List(Items<'a>),
    /// null, bool, number or string; `None` for a string that holds a lone surrogate.
    Scalar(Option<Value<'a>>),
    /// An object deeper than was asked for.
    Deep,
}

/// The items of a list.
#[derive(Clone, Debug)]
pub enum Items<'a> {
    /// As text.
    Raw(Vec<&'a RawValue>),
    /// Handed to a [`Sink`] while they were read.
    Streamed {
        /// Which of the streamed lists, from 0.
        list: usize,
        /// How many items it has.
        length: usize,
    },
}

impl<'a> Items<'a> {
    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Raw(items) => items.len(),
            Self::Streamed { length, .. } => *length,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items as text; none for a streamed list.
    #[must_use]
    pub fn raw(&self) -> &[&'a RawValue] {
        match self {
            Self::Raw(items) => items,
            Self::Streamed { .. } => &[],
        }
    }
}

/// Takes the items of lists that are streamed, a chunk at a time and in order.
pub trait Sink<'a> {
    /// Whether a list under this key is streamed; the root has no key.
    fn wants(&self, key: Option<&str>) -> bool;

    /// The items of list `list` from index `first` on.
    fn take(&mut self, list: usize, first: usize, items: Vec<Value<'a>>);
}

impl<'a> Outer<'a> {
    /// Reads `text` in one walk and hands the lists that `sink` wants to it. `None` when anything is refused or in
    /// doubt: what the sink was given is not to be believed then, and [`Outer::read`] decides.
    #[must_use]
    pub fn stream(text: &'a str, deepest: usize, sink: &mut dyn Sink<'a>) -> Option<Self> {
        let mut streaming = Streaming { wanted: sink.wants(None), sink, lists: 0, is_doubtful: false };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let outer =
            Levels { left: deepest + 1, streaming: Some(&mut streaming) }.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()?;
        (!streaming.is_doubtful).then_some(outer)
    }

    /// Reads `text`; objects at level `deepest` (root = 0) are still read, objects below them are not.
    ///
    /// # Errors
    /// [`ReadError`] when it is not JSON, when an object that is read repeats a key, or when a float outside of lists
    /// overflows.
    pub fn read(text: &'a str, deepest: usize) -> Result<Self, ReadError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let fast = Levels { left: deepest + 1, streaming: None }.deserialize(&mut deserializer).and_then(|outer| {
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
            Some(b'[') => Ok(Self::List(Items::Raw(serde_json::from_str(raw.get())?))),
            Some(b'"') => Ok(Self::Scalar(json::read_raw(raw).ok().map(|document| document.value))),
            Some(_) | None => Ok(Self::Scalar(Some(json::read_raw(raw)?.value))),
        }
    }

    /// Every list that is read, with the keys that lead to it joined by dots; `""` for the root. Objects come level by
    /// level, their entries in document order.
    #[must_use]
    pub fn lists(&self) -> Vec<(String, &Items<'a>)> {
        let mut lists = Vec::new();
        let mut queue = VecDeque::from([(String::new(), self)]);
        while let Some((path, outer)) = queue.pop_front() {
            match outer {
                Self::List(items) => lists.push((path, items)),
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

    /// The value that these keys lead to.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |outer, key| outer.get(key))
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

/// Items that are handed to a sink at once.
pub const CHUNK: usize = 512;

struct Streaming<'s, 'de> {
    sink: &'s mut dyn Sink<'de>,
    /// Whether a list that comes next is wanted.
    wanted: bool,
    lists: usize,
    is_doubtful: bool,
}

impl<'de> Streaming<'_, 'de> {
    fn list<A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<Items<'de>, A::Error> {
        let list = self.lists;
        self.lists += 1;
        let mut length = 0;
        let mut chunk = Vec::with_capacity(CHUNK);
        while let Some(item) = seq.next_element_seed(json::Walk { is_doubtful: &mut self.is_doubtful })? {
            chunk.push(item);
            length += 1;
            if chunk.len() == CHUNK {
                let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK));
                self.sink.take(list, length - CHUNK, full);
            }
            if self.is_doubtful {
                return Err(A::Error::custom("an item has to be looked at as it was written"));
            }
        }
        if !chunk.is_empty() {
            self.sink.take(list, length - chunk.len(), chunk);
        }
        Ok(Items::Streamed { list, length })
    }
}

/// How many further levels of objects are read, and who is given the items of lists.
struct Levels<'l, 's, 'de> {
    left: usize,
    streaming: Option<&'l mut Streaming<'s, 'de>>,
}

impl<'de> DeserializeSeed<'de> for Levels<'_, '_, 'de> {
    type Value = Outer<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels<'_, '_, 'de> {
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
        if let Some(streaming) = self.streaming.filter(|streaming| streaming.wanted) {
            return streaming.list(seq).map(Outer::List);
        }
        let mut items = Vec::new();
        while let Some(raw) = seq.next_element()? {
            items.push(raw);
        }
        Ok(Outer::List(Items::Raw(items)))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        if self.left == 0 {
            while map.next_entry::<IgnoredAny, Unread>()?.is_some() {}
            return Ok(Outer::Deep);
        }
        let mut entries: Vec<(Cow<'de, str>, Outer<'de>)> = Vec::new();
        while let Some(json::BorrowedText(key)) = map.next_key()? {
            if let Some(streaming) = self.streaming.as_deref_mut() {
                streaming.wanted = streaming.sink.wants(Some(&key));
            }
            let streaming = self.streaming.as_deref_mut();
            let value = map.next_value_seed(Levels { left: self.left - 1, streaming })?;
            entries.push((key, value));
        }
        match json::repeated_key(entries.iter().map(|(key, _)| key.as_ref())) {
            Some(key) => Err(A::Error::custom(repeated(key))),
            None => Ok(Outer::Object(entries)),
        }
    }
}
