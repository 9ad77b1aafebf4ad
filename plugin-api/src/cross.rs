//! Rows and observations on their way across the boundary: lent by the host, seen by the plugin.
//!
//! Nothing is copied but the views themselves; texts are borrowed from the fold until the call returns.

use std::collections::BTreeMap;

use abi_stable::std_types::{RSlice, RStr};

use crate::answer::{Custom, Observed, named};
use crate::declaration::KindDeclaration;
use crate::ffi::{FfiArgument, FfiCounts, FfiCustom, FfiField, FfiObservation, FfiRow, sort};
use crate::json::{self, Layout, Value};
use crate::kind::{Counts, Failure, Row};

impl<'a> Observed<'a> for FfiObservation<'a> {
    fn entity(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.entity.as_slice().iter().map(RStr::as_str)
    }

    fn actor(&self) -> &'a str {
        self.actor.as_str()
    }

    fn evidence(&self) -> &'a str {
        self.evidence.as_str()
    }

    fn observed_at(&self) -> &'a str {
        self.observed_at.as_str()
    }
}

impl<'a> Custom<'a> for FfiCustom<'a> {
    fn observation(&self) -> usize {
        self.observation as usize
    }

    fn field(&self) -> usize {
        self.field as usize
    }

    fn value(&self) -> &'a str {
        self.value.as_str()
    }
}

impl From<Counts> for FfiCounts {
    fn from(counts: Counts) -> Self {
        let Counts { total, live, historical, incomplete, stale } = counts;
        Self { total, live, historical, incomplete, stale }
    }
}

impl From<FfiCounts> for Counts {
    fn from(counts: FfiCounts) -> Self {
        let FfiCounts { total, live, historical, incomplete, stale } = counts;
        Self { total, live, historical, incomplete, stale }
    }
}

/// Lends `rows` to a call.
///
/// # Errors
/// Code `invalid_call` when a row has a field that is not declared, or not in declared order.
pub fn lend<T>(
    rows: &[Row<'_>],
    declaration: &KindDeclaration,
    call: impl FnOnce(RSlice<'_, FfiRow<'_>>) -> T,
) -> Result<T, Failure> {
    let entities: Vec<_> = rows.iter().flat_map(|row| &row.entity.keys).map(|(_, value)| RStr::from(*value)).collect();
    let texts: Vec<_> = rows.iter().flat_map(|row| &row.fields).filter_map(|(_, value)| json_text(value)).collect();
    let mut texts_left = texts.iter();
    let mut fields = Vec::with_capacity(rows.iter().map(|row| row.fields.len()).sum());
    for row in rows {
        let mut from = 0;
        for (name, value) in &row.fields {
            let place = declaration.fields[from..].iter().position(|field| field.name == *name);
            let place = from + place.ok_or_else(|| undeclared(row.key, name))?;
            from = place + 1;
            fields.push(field(index(place)?, value, &mut texts_left));
        }
    }
    let (mut entities, mut fields) = (entities.as_slice(), fields.as_slice());
    let lent: Vec<_> = rows
        .iter()
        .map(|row| FfiRow {
            key: row.key.into(),
            entity: take(&mut entities, row.entity.keys.len()).into(),
            historical: row.historical,
            stale: row.stale,
            last_observed_at: row.last_observed_at.into(),
            fields: take(&mut fields, row.fields.len()).into(),
        })
        .collect();
    Ok(call(RSlice::from_slice(&lent)))
}

/// Lends a batch to a call.
///
/// # Errors
/// Code `invalid_call` when an index is too large to cross.
pub fn lend_batch<'a, T>(
    observations: &[impl Observed<'a>],
    customs: &[impl Custom<'a>],
    call: impl FnOnce(RSlice<'_, FfiObservation<'_>>, RSlice<'_, FfiCustom<'_>>) -> T,
) -> Result<T, Failure> {
    let entities: Vec<_> = observations.iter().flat_map(Observed::entity).map(RStr::from).collect();
    let mut left = entities.as_slice();
    let lent = observations.iter().map(|observation| FfiObservation {
        entity: take(&mut left, observation.entity().len()).into(),
        actor: observation.actor().into(),
        evidence: observation.evidence().into(),
        observed_at: observation.observed_at().into(),
    });
    let lent: Vec<_> = lent.collect();
    let values = customs.iter().map(|custom| {
        let (observation, field) = (index(custom.observation())?, index(custom.field())?);
        Ok(FfiCustom { observation, field, value: custom.value().into() })
    });
    let values = values.collect::<Result<Vec<_>, Failure>>()?;
    Ok(call(RSlice::from_slice(&lent), RSlice::from_slice(&values)))
}

fn undeclared(key: &str, field: &str) -> Failure {
    Failure::new("invalid_call", format!("row {key} has the field {field}, which is not declared or out of order"))
}

/// An index as it crosses.
///
/// # Errors
/// Code `invalid_call` from four thousand million on.
pub fn index(index: usize) -> Result<u32, Failure> {
    u32::try_from(index).map_err(|_| Failure::new("invalid_call", format!("index {index} is too large to cross")))
}

/// Cuts the first `count` items off.
fn take<'a, T>(items: &mut &'a [T], count: usize) -> &'a [T] {
    let (taken, rest) = items.split_at(count);
    *items = rest;
    taken
}

/// The text of what does not cross as it is.
fn json_text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => None,
        Value::BigInteger(_) | Value::List(_) | Value::Object(_) => Some(json::text(value, Layout::Compact)),
    }
}

fn field<'a>(field: u32, value: &'a Value<'_>, texts: &mut impl Iterator<Item = &'a String>) -> FfiField<'a> {
    let (sort, bits, text) = match value {
        Value::Null => (sort::NULL, 0, ""),
        Value::Bool(false) => (sort::FALSE, 0, ""),
        Value::Bool(true) => (sort::TRUE, 0, ""),
        Value::Integer(number) => (sort::INTEGER, number.cast_unsigned(), ""),
        Value::Float(number) => (sort::FLOAT, number.to_bits(), ""),
        Value::Text(text) => (sort::TEXT, 0, text.as_ref()),
        Value::BigInteger(_) | Value::List(_) | Value::Object(_) => {
            (sort::JSON, 0, texts.next().map_or("", |text| text))
        }
    };
    FfiField { field, sort, bits, text: text.into() }
}

/// The rows that were lent, with the names of `declaration`.
///
/// # Errors
/// Code `invalid_call` when an index, a sort or a JSON text makes no sense.
pub fn rows<'a>(rows: RSlice<'a, FfiRow<'a>>, declaration: &'a KindDeclaration) -> Result<Vec<Row<'a>>, Failure> {
    rows.as_slice().iter().map(|lent| row(lent, declaration)).collect()
}

fn row<'a>(lent: &FfiRow<'a>, declaration: &'a KindDeclaration) -> Result<Row<'a>, Failure> {
    let fields = lent.fields.as_slice().iter().map(|field| {
        let declared = declaration.fields.get(field.field as usize);
        let declared = declared.ok_or_else(|| senseless(lent.key, "a field that is not declared"))?;
        Ok((declared.name.as_str(), value(field, lent.key)?))
    });
    Ok(Row {
        key: lent.key.as_str(),
        entity: named(lent.entity.as_slice().iter().map(RStr::as_str), declaration)?,
        historical: lent.historical,
        stale: lent.stale,
        last_observed_at: lent.last_observed_at.as_str(),
        fields: fields.collect::<Result<_, Failure>>()?,
    })
}

fn value<'a>(field: &FfiField<'a>, key: RStr<'_>) -> Result<Value<'a>, Failure> {
    match field.sort {
        sort::NULL => Ok(Value::Null),
        sort::FALSE => Ok(Value::Bool(false)),
        sort::TRUE => Ok(Value::Bool(true)),
        sort::INTEGER => Ok(Value::Integer(field.bits.cast_signed())),
        sort::FLOAT => Ok(Value::Float(f64::from_bits(field.bits))),
        sort::TEXT => Ok(Value::from(field.text.as_str())),
        sort::JSON => {
            let document = json::read(field.text.as_str());
            document.map(|document| document.value).map_err(|error| senseless(key, &format!("no JSON: {error}")))
        }
        other => Err(senseless(key, &format!("a value of sort {other}"))),
    }
}

fn senseless(key: RStr<'_>, what: &str) -> Failure {
    Failure::new("invalid_call", format!("row {key} has {what}"))
}

/// Lends the arguments of a verb.
#[must_use]
pub fn lend_arguments(arguments: &BTreeMap<String, String>) -> Vec<FfiArgument<'_>> {
    arguments
        .iter()
        .map(|(name, value)| FfiArgument { name: name.as_str().into(), value: value.as_str().into() })
        .collect()
}

/// The arguments that were lent.
#[must_use]
pub fn arguments(lent: RSlice<'_, FfiArgument<'_>>) -> BTreeMap<String, String> {
    lent.as_slice().iter().map(|argument| (argument.name.to_string(), argument.value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::declaration::{
        EntityDeclaration, EntityKey, EntityKeyType, FieldDeclaration, FieldType, VerdictDeclaration,
    };
    use crate::kind::Entity;

    const FIELDS: [&str; 3] = ["a", "b", "c"];

    fn declaration() -> KindDeclaration {
        let field = |name: &str| FieldDeclaration {
            name: name.to_owned(),
            kind: FieldType::Custom("any".to_owned()),
            description: String::new(),
        };
        KindDeclaration {
            name: "k".to_owned(),
            version: "1".to_owned(),
            description: String::new(),
            workspace: "w".to_owned(),
            entity: EntityDeclaration {
                keys: vec![EntityKey { name: "m".to_owned(), kind: EntityKeyType::Machine }],
                row_key: Vec::new(),
                printed: String::new(),
            },
            fields: FIELDS.map(field).to_vec(),
            verdict: VerdictDeclaration { field: "a".to_owned(), terminal: String::new() },
            due: None,
            checks_observations: false,
            reasons: Vec::new(),
            verbs: Vec::new(),
            accepted: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn values() -> impl Strategy<Value = Value<'static>> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Integer),
            (i128::from(i64::MAX) + 1..i128::MAX).prop_map(Value::integer),
            any::<f64>().prop_filter("JSON has finite numbers only", |n| n.is_finite()).prop_map(Value::Float),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
                prop::collection::vec((any::<String>(), inner), 0..4).prop_map(Value::object),
            ]
        })
    }

    /// Key, entity value and, for each field, the value that it has if it has one.
    type Parts = (String, String, bool, [Option<Value<'static>>; 3]);

    fn view((key, machine, flag, values): &Parts) -> Row<'_> {
        let fields = FIELDS.into_iter().zip(values).filter_map(|(name, value)| Some((name, value.clone()?)));
        Row {
            key,
            entity: Entity { keys: vec![("m", machine)] },
            historical: *flag,
            stale: !flag,
            last_observed_at: machine,
            fields: fields.collect(),
        }
    }

    proptest! {
        #[test]
        fn rows_arrive_as_they_were_lent(
            parts in prop::collection::vec(
                (any::<String>(), any::<String>(), any::<bool>(), prop::array::uniform3(prop::option::of(values()))),
                0..6,
            )
        ) {
            let declaration = declaration();
            let sent: Vec<_> = parts.iter().map(view).collect();
            let arrived = lend(&sent, &declaration, |lent| format!("{:?}", rows(lent, &declaration))).expect("lent");
            prop_assert_eq!(arrived, format!("{:?}", Ok::<_, Failure>(sent)));
        }
    }

    #[test]
    fn minus_zero_keeps_its_sign() {
        let parts: Parts = (String::new(), String::new(), true, [Some(Value::Float(-0.0)), None, None]);
        let declaration = declaration();
        let negative = lend(&[view(&parts)], &declaration, |lent| {
            rows(lent, &declaration).expect("rows")[0].float("a").expect("a float").is_sign_negative()
        });
        assert_eq!(negative, Ok(true));
    }
}
