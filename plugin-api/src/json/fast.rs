//! The fast path of [`super::read`]: one walk over the text.
//!
//! serde_json's own number type cannot tell `-0` from `-0.0`, nor an integer beyond 64 bits from a float. Where a number
//! could be either, and wherever the text is refused, the answer is `None` and the exact walk over raw values decides. A
//! property test holds the two to one answer.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::read::{BorrowedText, Document, repeated_key};
use super::value::Value;

/// Floats from here on may be integers that do not fit: 2^63.
const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0;

/// The document, when there is no doubt about it.
pub(super) fn read(text: &str) -> Option<Document<'_>> {
    let mut is_doubtful = false;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Walk { is_doubtful: &mut is_doubtful }.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    (!is_doubtful).then_some(Document { value, duplicate: None, big_integer: None })
}

/// Reads one value of a larger document in place. Once it has set `is_doubtful`, the value is not to be believed: a
/// number, or a repeated key, has to be looked at as it was written.
pub struct Walk<'s> {
    /// Set when the value holds something that this walk cannot tell.
    pub is_doubtful: &'s mut bool,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Value<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Value::Integer(i64::try_from(number).unwrap_or_else(|_| {
            *self.is_doubtful = true;
            i64::MAX
        })))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        *self.is_doubtful |= number.abs() >= INTEGERS_END || (number == 0.0 && number.is_sign_negative());
        Ok(Value::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Walk { is_doubtful: &mut *self.is_doubtful })? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(Cow<'de, str>, Value<'de>)> = Vec::with_capacity(8);
        while let Some(BorrowedText(key)) = map.next_key()? {
            entries.push((key, map.next_value_seed(Walk { is_doubtful: &mut *self.is_doubtful })?));
        }
        *self.is_doubtful |= repeated_key(entries.iter().map(|(key, _)| key.as_ref())).is_some();
        Ok(Value::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::read::exact;
    use super::*;

    #[track_caller]
    fn agrees(text: &str) {
        if let Some(fast) = read(text) {
            let exact = exact(text).expect(text);
            assert_eq!(fast, exact, "{text}");
        }
    }

    #[test]
    fn numbers_that_could_be_either_are_left_to_the_exact_walk() {
        for text in [
            "-0",
            "[-0.0]",
            "-0e5",
            "9223372036854775808",
            "18446744073709551616",
            "1e19",
            "-1e300",
            "-9223372036854775809",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["0", "9223372036854775807", "-9223372036854775808", "0.0", "1.5e18", "-1.5"] {
            assert!(read(text).is_some(), "{text}");
            agrees(text);
        }
    }

    #[test]
    fn what_is_refused_is_left_to_the_exact_walk() {
        for text in ["", "{", "1 2", r#""\ud800""#, "1e400", "NaN", "\u{feff}1", "[1,]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    fn json() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?",
            any::<i64>().prop_map(|number| number.to_string()),
            any::<f64>()
                .prop_filter("JSON has no such number", |number| number.is_finite())
                .prop_map(|number| format!("{number:?}")),
        ];
        let text = any::<String>().prop_map(|text| serde_json::Value::String(text).to_string());
        let escaped = "\"(\\\\u[0-9a-f]{4}|\\\\n|[a-c ]){0,6}\"";
        let word = prop::sample::select(vec!["true", "false", "null", "nul", ""]).prop_map(str::to_owned);
        let leaf = prop_oneof![number, text, escaped, word];
        leaf.prop_recursive(5, 40, 5, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(" , ")));
            let entry = ("\"[ab]{0,1}\"", inner).prop_map(|(key, value)| format!("{key}:{value}"));
            let object = prop::collection::vec(entry, 0..5).prop_map(|entries| format!("{{{}}}", entries.join(",")));
            prop_oneof![list, object]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn both_walks_give_one_answer(text in json()) {
            agrees(&text);
        }
    }
}
