//! Rows and values for the tests.

use plugin_api::{Counts, Entity, LedgerView, Row, Value, json};
use proptest::prelude::*;

/// Reads `[{"key", "fields", "historical", "stale"}]`, as in a snapshot, and gives the rows to `then`.
///
/// `historical` may be left out: a row is historical when its state class is closed. So may `stale`, which is then
/// false.
pub(super) fn with_ledger<T>(rows: &str, then: impl FnOnce(&LedgerView<'_>) -> T) -> T {
    let document = json::read(rows).expect("rows are JSON");
    let rows: Vec<Row<'_>> = document.value.as_list().expect("rows are a list").iter().map(row).collect();
    let count = |wanted: fn(&Row<'_>) -> bool| rows.iter().map(|row| u64::from(wanted(row))).sum();
    let counts = Counts {
        total: count(|_| true),
        live: count(|row| !row.historical),
        historical: count(|row| row.historical),
        incomplete: 0,
        stale: count(|row| row.stale && !row.historical),
    };
    then(&LedgerView { rows: &rows, counts })
}

fn row<'v>(value: &'v Value<'v>) -> Row<'v> {
    let key = value.get("key").and_then(Value::as_text).expect("a row has a key");
    let (repo, issue) = key.split_once('#').expect("a key is repo#issue");
    let fields = value.get("fields").and_then(Value::as_object).expect("a row has fields");
    let flag = |name: &str| value.get(name).and_then(Value::as_bool);
    let closed = fields.iter().any(|(name, value)| name == "state_class" && value.as_text() == Some("closed"));
    Row {
        key,
        entity: Entity { keys: vec![("repo", repo), ("issue", issue)] },
        historical: flag("historical").unwrap_or(closed),
        stale: flag("stale").unwrap_or(false),
        last_observed_at: "2026-09-17T19:00:00Z",
        fields: fields.iter().map(|(name, value)| (name.as_ref(), value.clone())).collect(),
    }
}

/// Any JSON value, two levels deep, its words taken from those that the kind knows.
pub(super) fn any_value() -> impl Strategy<Value = Value<'static>> {
    let words = vec!["kind", "repo", "number", "note", "reason", "issue", "external", "none", "o/r", "closed", " ", ""];
    let word = prop::sample::select(words);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        Just(Value::BigInteger("9223372036854775808".into())),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        word.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::string),
    ];
    leaf.prop_recursive(2, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(word.clone(), inner, 0..4).prop_map(Value::object),
        ]
    })
}
