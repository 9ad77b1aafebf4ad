//! A JSON value that keeps what the ledgers need to see.

use std::borrow::Cow;

/// A JSON value. Borrows from the text it was read from; [`Value::into_owned`] cuts that tie.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer that fits i64; `-0` is 0.
    Integer(i64),
    /// An integer outside i64, as its digits. Sums may reach it; input never may (L 4 d).
    BigInteger(Cow<'a, str>),
    /// A number with a fraction or an exponent; finite.
    Float(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Value<'a>>),
    /// An object in document order.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// An owned text.
    #[must_use]
    pub fn string(text: impl Into<String>) -> Value<'static> {
        Value::Text(Cow::Owned(text.into()))
    }

    /// An integer of any size.
    #[must_use]
    pub fn integer(number: impl Into<i128>) -> Value<'static> {
        let number = number.into();
        i64::try_from(number).map_or_else(|_| Value::BigInteger(Cow::Owned(number.to_string())), Value::Integer)
    }

    /// An object from keys and values, in the given order.
    #[must_use]
    pub fn object<K: Into<Cow<'a, str>>>(entries: impl IntoIterator<Item = (K, Value<'a>)>) -> Value<'a> {
        Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// The integer, if it is one that fits i64. A float is never an integer, a bool neither.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        if let Value::Integer(number) = self { Some(*number) } else { None }
    }

    /// The float, if it is one. An integer is not.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        if let Value::Float(number) = self { Some(*number) } else { None }
    }

    /// The bool, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(flag) = self { Some(*flag) } else { None }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value<'a>]> {
        if let Value::List(items) = self { Some(items) } else { None }
    }

    /// Keys and values in document order, if it is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[(Cow<'a, str>, Value<'a>)]> {
        if let Value::Object(entries) = self { Some(entries) } else { None }
    }

    /// The value under `key`, if this is an object that has it. The first one, should the key stand twice.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_object()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether it is JSON null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// What it is, in the words of an error text.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Integer(_) | Value::BigInteger(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }

    /// The same value, its texts borrowed from this one.
    #[must_use]
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(flag) => Value::Bool(*flag),
            Value::Integer(number) => Value::Integer(*number),
            Value::BigInteger(digits) => Value::BigInteger(Cow::Borrowed(digits)),
            Value::Float(number) => Value::Float(*number),
            Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            Value::List(items) => Value::List(items.iter().map(Value::borrowed).collect()),
            Value::Object(entries) => Value::Object(
                entries.iter().map(|(key, value)| (Cow::Borrowed(key.as_ref()), value.borrowed())).collect(),
            ),
        }
    }

    /// The same value without borrows.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(flag) => Value::Bool(flag),
            Value::Integer(number) => Value::Integer(number),
            Value::BigInteger(digits) => Value::BigInteger(Cow::Owned(digits.into_owned())),
            Value::Float(number) => Value::Float(number),
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::List(items) => Value::List(items.into_iter().map(Value::into_owned).collect()),
            Value::Object(entries) => Value::Object(
                entries.into_iter().map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned())).collect(),
            ),
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Bool(flag)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}
