//! Counters: how often each name occurs, in the order in which artifacts list them (L 9.2).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::json::Value;

/// Names with their counts: count descending, then name by code point.
#[must_use]
pub fn count<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, u64)> {
    let mut entries: Vec<_> = count_by_name(names);
    // Stable, so equal counts keep the order of names.
    entries.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    entries
}

/// Names with their counts, by name.
#[must_use]
pub fn count_by_name<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, u64)> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

/// The counter as a JSON object, in the given order.
#[must_use]
pub fn object(entries: &[(&str, u64)]) -> Value<'static> {
    Value::object(entries.iter().map(|(name, count)| ((*name).to_owned(), Value::integer(*count))))
}

/// The counter as `status.md` shows it: `<name> <n>, <name> <n>`, or `-` when nothing was counted (L 9.5).
#[must_use]
pub fn line(entries: &[(&str, u64)]) -> String {
    let mut line = String::new();
    for (name, count) in entries {
        let comma = if line.is_empty() { "" } else { ", " };
        // Writing into a String cannot fail.
        let _ = write!(line, "{comma}{name} {count}");
    }
    if line.is_empty() { "-".to_owned() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Layout, text};

    #[test]
    fn greater_counts_come_first_and_equal_ones_by_code_point() {
        let names = ["b", "é", "a", "Z", "b", "é", "a", "b"];
        assert_eq!(count(names), [("b", 3), ("a", 2), ("é", 2), ("Z", 1)]);
        assert_eq!(count_by_name(names), [("Z", 1), ("a", 2), ("b", 3), ("é", 2)]);
    }

    #[test]
    fn a_counter_prints_as_object_and_as_line() {
        let entries = count(["held", "stale", "stale"]);
        assert_eq!(text(&object(&entries), Layout::Compact), r#"{"stale":2,"held":1}"#);
        assert_eq!(line(&entries), "stale 2, held 1");
    }

    #[test]
    fn an_empty_counter_is_an_empty_object_and_a_dash() {
        assert_eq!(text(&object(&count([])), Layout::Compact), "{}");
        assert_eq!(line(&[]), "-");
    }
}
