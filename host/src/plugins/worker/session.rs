//! A session: one warm worker, what it was opened for, and how much of its budget is spent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plugin_api::organ::{Opening, Unit};

use super::client::Worker;
use super::loss::Loss;
use super::protocol::Confinement;
use super::spec::{CallLimit, Identity, Printed, Ran, WorkerSpec};
use crate::plugins::services::{Cancel, Services};

/// How long a session may take to close.
const CLOSING: Duration = Duration::from_secs(5);

/// How much one session may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Units.
    pub units: u32,
    /// Time since it was opened.
    pub wall: Duration,
    /// Bytes of inputs and answers.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { units: 100, wall: Duration::from_secs(3600), bytes: 256 << 20 }
    }
}

/// Why a session takes no further unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Void {
    /// A unit of it was not accepted: what it keeps warm is in doubt.
    #[error("a unit of this session was not accepted")]
    UnitFailed,
    /// The unit needs another organ or another build of it.
    #[error("the unit needs the capability {0}")]
    CapabilityDiffers(String),
    /// The unit acts under other grants or another account.
    #[error("the unit needs another authority")]
    AuthorityDiffers,
    /// The unit may see what the session may not.
    #[error("the unit sees {0}, which the session does not")]
    VisibleNotASubset(String),
    /// As many units as it may run.
    #[error("the declared bound is reached")]
    Bound,
    /// It has lived as long as it may.
    #[error("the session budget is spent: wall time")]
    BudgetWall,
    /// It has moved as many bytes as it may.
    #[error("the session budget is spent: bytes")]
    BudgetBytes,
    /// Its process is gone.
    #[error("the process of the session is gone")]
    ProcessLost,
}

impl Void {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnitFailed => "unit_failed",
            Self::CapabilityDiffers(_) => "capability_differs",
            Self::AuthorityDiffers => "authority_differs",
            Self::VisibleNotASubset(_) => "visible_not_a_subset",
            Self::Bound => "bound_reached",
            Self::BudgetWall => "budget_wall",
            Self::BudgetBytes => "budget_bytes",
            Self::ProcessLost => "process_lost",
        }
    }
}

/// What a session has done, as the rule looks at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Units that ran.
    pub units: u32,
    /// Time since it was opened.
    pub wall: Duration,
    /// Bytes of inputs and answers.
    pub bytes: u64,
    /// Whether a unit was not accepted.
    pub failed: bool,
    /// Whether its process is gone.
    pub lost: bool,
}

/// Whether a unit with these needs fits a session (DECISIONS 7.6): the first reason against it. Pure.
///
/// # Errors
/// [`Void`]
pub fn fits(opened: &Opening, budget: &Budget, spent: &Spent, needs: &Opening) -> Result<(), Void> {
    if spent.lost {
        return Err(Void::ProcessLost);
    }
    if spent.failed {
        return Err(Void::UnitFailed);
    }
    if spent.units >= budget.units {
        return Err(Void::Bound);
    }
    if spent.wall >= budget.wall {
        return Err(Void::BudgetWall);
    }
    if spent.bytes >= budget.bytes {
        return Err(Void::BudgetBytes);
    }
    if opened.capability != needs.capability {
        return Err(Void::CapabilityDiffers(needs.capability.clone()));
    }
    if opened.authority != needs.authority {
        return Err(Void::AuthorityDiffers);
    }
    match needs.visible.iter().find(|path| !opened.visible.contains(path)) {
        Some(path) => Err(Void::VisibleNotASubset(path.clone())),
        None => Ok(()),
    }
}

/// A warm worker with an open session.
pub struct Session {
    worker: Worker,
    opened: Opening,
    budget: Budget,
    start: Instant,
    units: u32,
    bytes: u64,
    failed: bool,
}

impl Session {
    /// Starts a worker and opens its session.
    ///
    /// # Errors
    /// [`Loss`]; nothing is left of it then.
    pub fn open(
        spec: &WorkerSpec,
        services: Arc<dyn Services>,
        opening: Opening,
        budget: Budget,
        limit: &CallLimit<'_>,
    ) -> Result<Self, Loss> {
        let mut worker = Worker::start(spec, services)?;
        worker.open(&opening, limit)?;
        Ok(Self { worker, opened: opening, budget, start: Instant::now(), units: 0, bytes: 0, failed: false })
    }

    /// Who it is: the host's stamp.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        self.worker.identity()
    }

    /// How far the system confines it.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        self.worker.confinement()
    }

    /// What it has done.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent {
            units: self.units,
            wall: self.start.elapsed(),
            bytes: self.bytes,
            failed: self.failed,
            lost: !self.worker.is_alive(),
        }
    }

    /// Whether a unit with these needs fits: see [`fits`].
    ///
    /// # Errors
    /// [`Void`]
    pub fn fits(&self, needs: &Opening) -> Result<(), Void> {
        fits(&self.opened, &self.budget, &self.spent(), needs)
    }

    /// Runs a unit. A unit without an answer voids the session.
    pub fn run(&mut self, unit: &Unit, limit: &CallLimit<'_>) -> Ran {
        let ran = self.worker.run(unit, limit);
        self.units += 1;
        self.bytes = self.bytes.saturating_add(size(&unit.input));
        match &ran.result {
            Ok(answer) => self.bytes = self.bytes.saturating_add(size(&answer.value)),
            Err(_) => self.failed = true,
        }
        ran
    }

    /// The last answer was not accepted: what the session keeps warm is in doubt.
    pub fn reject(&mut self) {
        self.failed = true;
    }

    /// Closes it, and lets its worker end. Answers that were given stand, whatever happens here.
    pub fn close(mut self) -> Printed {
        let cancel = Cancel::new();
        if self.worker.is_alive() {
            let limit = CallLimit { deadline: Some(Instant::now() + CLOSING), cancel: &cancel };
            if let Err(loss) = self.worker.close_session(&limit) {
                tracing::warn!(code = loss.code(), "the session did not close well: {loss}");
            }
        }
        self.worker.stop()
    }
}

fn size(value: &serde_json::Value) -> u64 {
    serde_json::to_vec(value).map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(visible: &[&str]) -> Opening {
        let visible = visible.iter().map(|path| (*path).to_owned()).collect();
        Opening { capability: "a@1".into(), authority: "none".into(), visible }
    }

    #[track_caller]
    fn check(spent: &Spent, needs: &Opening, expected: Result<(), &str>) {
        let budget = Budget { units: 3, wall: Duration::from_secs(10), bytes: 100 };
        let fits = fits(&opening(&["/a", "/b"]), &budget, spent, needs);
        assert_eq!(fits.map_err(|void| void.code()), expected);
    }

    #[test]
    fn what_asks_for_no_more_fits() {
        check(&Spent { units: 2, ..Spent::default() }, &opening(&["/b"]), Ok(()));
        check(&Spent::default(), &opening(&[]), Ok(()));
    }

    #[test]
    fn each_reason_has_its_name() {
        let spent = Spent::default;
        check(&spent(), &opening(&["/b", "/c"]), Err("visible_not_a_subset"));
        check(&spent(), &Opening { capability: "a@2".into(), ..opening(&[]) }, Err("capability_differs"));
        check(&spent(), &Opening { authority: "all".into(), ..opening(&[]) }, Err("authority_differs"));
        check(&Spent { units: 3, ..spent() }, &opening(&[]), Err("bound_reached"));
        check(&Spent { wall: Duration::from_secs(10), ..spent() }, &opening(&[]), Err("budget_wall"));
        check(&Spent { bytes: 100, ..spent() }, &opening(&[]), Err("budget_bytes"));
        check(&Spent { failed: true, ..spent() }, &opening(&[]), Err("unit_failed"));
        check(&Spent { lost: true, failed: true, ..spent() }, &opening(&[]), Err("process_lost"));
    }
}
