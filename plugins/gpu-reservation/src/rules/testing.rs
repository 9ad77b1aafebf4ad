//! Rows and fields for the tests.

use plugin_api::json::{self, Layout};
use plugin_api::{Counts, Entity, LedgerView, Row, Value};
use proptest::prelude::*;

/// Reads `[{"key", "fields", "historical", "stale"}]`, as in a snapshot, and gives the rows to `then`.
///
/// `historical` may be left out: a row is historical when it is released. So may `stale`, which is then false.
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
    let (machine, gpu_index) = key.split_once("#gpu").expect("a key is machine#gpu<n>");
    let fields = value.get("fields").and_then(Value::as_object).expect("a row has fields");
    let flag = |name: &str| value.get(name).and_then(Value::as_bool);
    let released = fields.iter().any(|(name, value)| name == "state" && value.as_text() == Some("released"));
    Row {
        key,
        entity: Entity { keys: vec![("machine", machine), ("gpu_index", gpu_index)] },
        historical: flag("historical").unwrap_or(released),
        stale: flag("stale").unwrap_or(false),
        last_observed_at: "2026-09-17T19:00:00Z",
        fields: fields.iter().map(|(name, value)| (name.as_ref(), value.clone())).collect(),
    }
}

/// Fields of a row as JSON, each absent, valid or of any type; times are whole hours of 2026-09-17.
pub(super) fn any_fields() -> impl Strategy<Value = String> {
    let time = || (0..24).prop_map(|hour| Value::string(format!("2026-09-17T{hour:02}:00:00Z"))).boxed();
    let words = |words: &[&'static str]| prop::sample::select(words.to_vec()).prop_map(Value::from).boxed();
    let fields = [
        ("state", words(&["held", "held", "released", "stale"])),
        ("holder", words(&["po-1:tool", "po-2"])),
        ("workload", ".{0,8}".prop_map(Value::string).boxed()),
        ("started_at", time()),
        ("expected_end", time()),
    ];
    let fields = fields.map(|(name, valid)| {
        let value = prop_oneof![12 => valid.prop_map(Some), 4 => Just(None), 1 => hostile().prop_map(Some)];
        value.prop_map(move |value| (name, value)).boxed()
    });
    fields.to_vec().prop_map(|fields| {
        let given = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        json::text(&Value::object(given), Layout::Compact)
    })
}

fn hostile() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        Just(Value::BigInteger("9223372036854775808".into())),
        Just(Value::Float(1.5)),
        ".{0,8}".prop_map(Value::string),
        Just(Value::List(Vec::new())),
        Just(Value::object([("state", Value::from("held"))])),
    ]
}
