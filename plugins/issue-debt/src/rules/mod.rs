//! The rules of the ledger: pure, so that equal inputs give equal bytes.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `declaration` | fields, reasons; with `examples` |
//! | `pull_request` | whether evidence shows that the entity is a pull request |
//! | `values` | the two custom types, dependencies and follow-up |
//! | `row` | a folded row, read into types |
//! | `totals` | what summary and status have in common |
//! | `summary`, `status` | how the totals are printed |

mod declaration;
mod examples;
mod pull_request;
mod row;
mod status;
mod summary;
#[cfg(test)]
mod testing;
mod totals;
mod values;
#[cfg(test)]
mod vectors;

use plugin_api::{
    Entity, Failure, KindDeclaration, LedgerKind, LedgerView, ObservationView, Refusal, StatusText, Value,
};

use declaration::{DEPENDENCIES, ENTITY_IS_PR, FOLLOWUP, ISSUE, REPO};
use totals::Totals;

/// The kind `issue-debt`.
#[derive(Clone, Copy, Debug, Default)]
pub struct IssueDebt;

impl LedgerKind for IssueDebt {
    const NAME: &'static str = "issue-debt";

    fn declaration(&self) -> KindDeclaration {
        declaration::declaration()
    }

    fn check(&self, observation: &ObservationView<'_>) -> Result<(), Refusal> {
        let (repo, issue) = (observation.entity.text(REPO), observation.entity.text(ISSUE));
        match pull_request::find(observation.evidence, repo, issue) {
            None => Ok(()),
            Some(link) => {
                Err(Refusal::new(ENTITY_IS_PR, format!("evidence shows {link}: {repo}#{issue} is a pull request")))
            }
        }
    }

    fn normalise(&self, field: &str, value: &Value<'_>, entity: &Entity<'_>) -> Result<Value<'static>, Refusal> {
        match field {
            DEPENDENCIES => values::dependencies(value, entity.text(REPO)),
            FOLLOWUP => values::followup(value),
            other => Err(Refusal::invalid_value(format!("{other} is no custom field of issue-debt"))),
        }
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        Ok(summary::summary(&Totals::of(ledger)?))
    }

    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, Failure> {
        Ok(status::status(&Totals::of(ledger)?, ledger.counts.stale, max_rows))
    }
}
