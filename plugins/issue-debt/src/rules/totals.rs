//! What summary and status have in common (L 9.3).

use plugin_api::rules::{counter, number};
use plugin_api::{Failure, LedgerView};

use super::declaration::CLOSEABLE_NOW;
use super::row::{self, Debt};
use super::values::{DependencyKind, FollowupKind};

/// The ledger in numbers.
#[derive(Debug)]
pub(super) struct Totals<'r> {
    /// Live rows in key order.
    pub(super) live: Vec<Debt<'r>>,
    /// Live rows by state class, in counter order; rows without one are not counted.
    pub(super) state_class: Vec<(&'r str, u64)>,
    /// Live rows by closeability, likewise.
    pub(super) closeability: Vec<(&'r str, u64)>,
    /// Keys of live rows that can be closed now, sorted.
    pub(super) closeable_now: Vec<&'r str>,
    /// Sums over live rows by class, in order of the class's first appearance.
    pub(super) classes: Vec<ClassTotal<'r>>,
    /// Dependencies of live rows.
    pub(super) dependencies: DependencyTotal,
    /// Follow-ups of all rows.
    pub(super) followups: FollowupTotal,
}

/// Sums over the live rows of one state class.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClassTotal<'r> {
    /// The class; `unknown` also for rows without one.
    pub(super) name: &'r str,
    /// Pull requests. Wider than one row's number, because a sum may exceed i64.
    pub(super) prs: i128,
    /// Hours, rounded to three decimals after each addition, at most [`f64::MAX`].
    pub(super) hours: f64,
}

/// Dependencies of live rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DependencyTotal {
    /// Rows with at least one.
    pub(super) rows: u64,
    /// All of them.
    pub(super) edges: u64,
    /// Those of kind external.
    pub(super) external: u64,
}

/// Rows by follow-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FollowupTotal {
    /// Followed up by an issue.
    pub(super) issue: u64,
    /// Waived.
    pub(super) waiver: u64,
    /// Observed to have none: kind none, or null.
    pub(super) none: u64,
    /// Never observed.
    pub(super) missing: u64,
}

impl<'r> Totals<'r> {
    /// Adds up the ledger.
    ///
    /// # Errors
    /// `unreadable_row` when a row holds a value that is not of its declared type.
    pub(super) fn of(ledger: &LedgerView<'r>) -> Result<Self, Failure> {
        let live = ledger.live().map(Debt::read).collect::<Result<Vec<_>, _>>()?;
        let closeable = live.iter().filter(|debt| debt.closeability == Some(CLOSEABLE_NOW));
        Ok(Self {
            state_class: counter::count(live.iter().filter_map(|debt| debt.state_class)),
            closeability: counter::count(live.iter().filter_map(|debt| debt.closeability)),
            closeable_now: closeable.map(|debt| debt.key).collect(),
            classes: class_totals(&live),
            dependencies: dependency_total(&live),
            followups: followup_total(ledger)?,
            live,
        })
    }

    /// Pull requests of all live rows.
    pub(super) fn prs(&self) -> i128 {
        self.classes.iter().map(|class| class.prs).sum()
    }

    /// Hours of all live rows with two decimals, `None` without live rows.
    ///
    /// The order of addition is part of the format: the classes' sums, in order of their first appearance.
    pub(super) fn hours(&self) -> Option<f64> {
        let hours = self.classes.iter().map(|class| class.hours).reduce(add)?;
        Some(number::round(hours, 2))
    }

    /// The live row with the most hours; of equal ones the one with the greatest key.
    pub(super) fn max_row(&self) -> Option<&Debt<'r>> {
        self.live.iter().max_by(|a, b| a.hours.total_cmp(&b.hours).then_with(|| a.key.cmp(b.key)))
    }
}

/// The sum, held at the greatest finite number: an infinite total could not be written as JSON (D2).
fn add(left: f64, right: f64) -> f64 {
    (left + right).min(f64::MAX)
}

fn class_totals<'r>(live: &[Debt<'r>]) -> Vec<ClassTotal<'r>> {
    let mut classes: Vec<ClassTotal<'r>> = Vec::new();
    for debt in live {
        let name = debt.class();
        // A linear search: there are at most as many classes as the enum has values.
        let at = classes.iter().position(|class| class.name == name).unwrap_or_else(|| {
            classes.push(ClassTotal { name, prs: 0, hours: 0.0 });
            classes.len() - 1
        });
        classes[at].prs += i128::from(debt.prs);
        classes[at].hours = number::hours(add(classes[at].hours, debt.hours));
    }
    classes
}

fn dependency_total(live: &[Debt<'_>]) -> DependencyTotal {
    let mut total = DependencyTotal::default();
    for debt in live {
        total.rows += u64::from(!debt.dependencies.is_empty());
        for kind in &debt.dependencies {
            total.edges += 1;
            total.external += u64::from(*kind == DependencyKind::External);
        }
    }
    total
}

fn followup_total(ledger: &LedgerView<'_>) -> Result<FollowupTotal, Failure> {
    let mut total = FollowupTotal::default();
    for row in ledger.rows {
        let count = match row::followup(row)? {
            Some(FollowupKind::Issue) => &mut total.issue,
            Some(FollowupKind::Waiver) => &mut total.waiver,
            Some(FollowupKind::None) => &mut total.none,
            None => &mut total.missing,
        };
        *count += 1;
    }
    Ok(total)
}
