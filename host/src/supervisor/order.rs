//! Which unit of a run is next. Plan order is the only tie-break.

use std::collections::{BTreeMap, BTreeSet};

use plugin_api::organ::{Unit, Verdict};

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// An id is empty or stands twice.
    #[error("the plan has {0:?} twice, or a unit without an id")]
    Id(String),
    /// A dependency that is no unit.
    #[error("{unit} depends on {dependency}, which is not in the plan")]
    Unknown {
        /// The unit.
        unit: String,
        /// What it names.
        dependency: String,
    },
    /// Units that wait for each other.
    #[error("units wait for each other: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
}

/// The order in which the units of a plan run: as planned, each behind what it depends on.
///
/// # Errors
/// [`PlanFault`], with the names.
pub fn order(units: &[Unit]) -> Result<Vec<usize>, PlanFault> {
    let mut index = BTreeMap::new();
    for (place, unit) in units.iter().enumerate() {
        if unit.id.is_empty() || index.insert(unit.id.as_str(), place).is_some() {
            return Err(PlanFault::Id(unit.id.clone()));
        }
    }
    let mut order = Vec::with_capacity(units.len());
    let mut placed = BTreeSet::new();
    for unit in units {
        for dependency in &unit.depends_on {
            if !index.contains_key(dependency.as_str()) {
                return Err(PlanFault::Unknown { unit: unit.id.clone(), dependency: dependency.clone() });
            }
        }
    }
    while order.len() < units.len() {
        let ready = |place: &usize| {
            !placed.contains(place) && units[*place].depends_on.iter().all(|one| placed.contains(&index[one.as_str()]))
        };
        let Some(next) = (0..units.len()).find(ready) else { return Err(cycle(units, &index, &placed)) };
        placed.insert(next);
        order.push(next);
    }
    Ok(order)
}

/// Follows what is not placed until it comes to itself.
fn cycle(units: &[Unit], index: &BTreeMap<&str, usize>, placed: &BTreeSet<usize>) -> PlanFault {
    let mut path: Vec<usize> = Vec::new();
    let mut at = (0..units.len()).find(|place| !placed.contains(place));
    while let Some(place) = at {
        if let Some(start) = path.iter().position(|earlier| *earlier == place) {
            path.push(place);
            return PlanFault::Cycle(path[start..].iter().map(|place| units[*place].id.clone()).collect());
        }
        path.push(place);
        let waits = units[place].depends_on.iter().map(|one| index[one.as_str()]);
        at = waits.into_iter().find(|dependency| !placed.contains(dependency));
    }
    PlanFault::Cycle(path.into_iter().map(|place| units[place].id.clone()).collect())
}

/// The first dependency of `unit` that was not accepted.
#[must_use]
pub fn unmet<'u>(unit: &'u Unit, verdicts: &BTreeMap<String, Verdict>) -> Option<&'u str> {
    let accepted = |one: &&String| verdicts.get(*one) == Some(&Verdict::Accepted);
    unit.depends_on.iter().find(|one| !accepted(one)).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(plan: &[(&str, &[&str])]) -> Vec<Unit> {
        let unit = |(id, depends_on): &(&str, &[&str])| Unit {
            id: (*id).into(),
            depends_on: depends_on.iter().map(|one| (*one).to_owned()).collect(),
            ..Unit::default()
        };
        plan.iter().map(unit).collect()
    }

    #[track_caller]
    fn check(plan: &[(&str, &[&str])], expected: Result<&[&str], &str>) {
        let units = units(plan);
        let got = order(&units).map(|order| order.iter().map(|place| units[*place].id.clone()).collect::<Vec<_>>());
        let expected = expected.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect()).map_err(str::to_owned);
        assert_eq!(got.map_err(|fault| fault.to_string()), expected);
    }

    #[test]
    fn plan_order_stands_as_far_as_dependencies_allow() {
        check(&[("a", &[]), ("b", &[]), ("c", &["a"])], Ok(&["a", "b", "c"]));
        check(&[("b", &["a"]), ("a", &[]), ("c", &[])], Ok(&["a", "b", "c"]));
    }

    #[test]
    fn what_cannot_be_ordered_is_named() {
        check(&[("a", &[]), ("a", &[])], Err("the plan has \"a\" twice, or a unit without an id"));
        check(&[("a", &["x"])], Err("a depends on x, which is not in the plan"));
        check(
            &[("z", &[]), ("a", &["b"]), ("b", &["c"]), ("c", &["b"])],
            Err("units wait for each other: b -> c -> b"),
        );
    }

    #[test]
    fn a_dependency_that_was_not_accepted_is_named() {
        let units = units(&[("c", &["a", "b"])]);
        let verdicts = BTreeMap::from([("a".to_owned(), Verdict::Accepted), ("b".to_owned(), Verdict::Undecidable)]);
        assert_eq!(unmet(&units[0], &verdicts), Some("b"));
    }
}
