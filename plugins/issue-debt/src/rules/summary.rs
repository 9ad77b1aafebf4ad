//! The kind's part of `summary.json` (L 9.3), in printed order.

use plugin_api::Value;
use plugin_api::rules::{counter, number};

use super::declaration::{CLOSEABILITY, DEPENDENCIES, EAT_HOURS, REMAINING_ATOMIC_PRS, STATE_CLASS};
use super::totals::{ClassTotal, Totals};

/// Keys and values after `rows`.
pub(super) fn summary(totals: &Totals<'_>) -> Vec<(String, Value<'static>)> {
    let closeable_now = totals.closeable_now.iter().map(|key| Value::string(*key)).collect();
    let parts = [
        (STATE_CLASS, counter::object(&totals.state_class)),
        (CLOSEABILITY, counter::object(&totals.closeability)),
        ("closeable_now", Value::List(closeable_now)),
        (REMAINING_ATOMIC_PRS, prs(totals)),
        (EAT_HOURS, hours(totals)),
        (DEPENDENCIES, dependencies(totals)),
        ("followups", followups(totals)),
    ];
    parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn prs(totals: &Totals<'_>) -> Value<'static> {
    Value::object([
        ("total", Value::integer(totals.prs())),
        ("by_state_class", by_class(totals, |class| Value::integer(class.prs))),
    ])
}

fn hours(totals: &Totals<'_>) -> Value<'static> {
    let max_row = totals.max_row().map_or(Value::Null, |debt| {
        Value::object([("key", Value::string(debt.key)), (EAT_HOURS, Value::Float(debt.hours))])
    });
    Value::object([
        // An integer only without live rows: the reference starts its sum at the integer 0.
        ("total", totals.hours().map_or(Value::Integer(0), Value::Float)),
        ("by_state_class", by_class(totals, |class| Value::Float(number::round(class.hours, 2)))),
        ("max_row", max_row),
    ])
}

fn by_class(totals: &Totals<'_>, value: impl Fn(&ClassTotal<'_>) -> Value<'static>) -> Value<'static> {
    let mut classes: Vec<_> = totals.classes.iter().collect();
    classes.sort_by_key(|class| class.name);
    Value::object(classes.into_iter().map(|class| (class.name.to_owned(), value(class))))
}

fn dependencies(totals: &Totals<'_>) -> Value<'static> {
    Value::object([
        ("rows_with_dependencies", Value::integer(totals.dependencies.rows)),
        ("edges", Value::integer(totals.dependencies.edges)),
        ("external_edges", Value::integer(totals.dependencies.external)),
    ])
}

fn followups(totals: &Totals<'_>) -> Value<'static> {
    Value::object([
        ("issue", Value::integer(totals.followups.issue)),
        ("waiver", Value::integer(totals.followups.waiver)),
        ("none", Value::integer(totals.followups.none)),
        ("missing", Value::integer(totals.followups.missing)),
    ])
}

#[cfg(test)]
mod tests;
