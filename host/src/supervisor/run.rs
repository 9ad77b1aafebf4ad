//! One run of an organ: plan, units one after the other in warm sessions, finish.
//!
//! What is remembered of a run, and several slots, belong to the dispatch of plans; here a run lives as long as its
//! command.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plugin_api::organ::{Call, Ended, Finish, Opening, OrganDeclaration, Plan, Unit, UnitEnd, Verdict};

use super::contract::judge;
use super::order::{PlanFault, order, unmet};
use crate::plugins::services::{Cancel, Services};
use crate::plugins::worker::loss::Loss;
use crate::plugins::worker::session::{Budget, Session};
use crate::plugins::worker::{CallLimit, Printed, Worker, WorkerSpec};

/// How long `finish` may take.
const FINISH: Duration = Duration::from_secs(60);

/// A run that is to be made.
pub struct Job<'j> {
    /// The plugin, as workers are started from it.
    pub spec: WorkerSpec,
    /// Answers what the organ asks.
    pub services: Arc<dyn Services>,
    /// What it declares.
    pub declaration: &'j OrganDeclaration,
    /// What is called.
    pub call: Call,
    /// Grants and account, in one word.
    pub authority: String,
    /// Paths below which units may see files.
    pub visible: Vec<String>,
    /// Most units of one session.
    pub session_bound: Option<u32>,
    /// The wish that the run ends.
    pub cancel: &'j Cancel,
}

/// Told what happens, for logs and people.
pub trait Watch {
    /// The plan is made.
    fn planned(&self, plan: &Plan);
    /// A session is open, in this process.
    fn opened(&self, session: &Session);
    /// A session is over, and why.
    fn closed(&self, why: &str);
    /// A unit ended; this is what its process printed.
    fn ended(&self, end: &UnitEnd, printed: &Printed);
}

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A call without which there is no run was lost.
    #[error("{call}: {loss}")]
    Lost {
        /// Which call.
        call: &'static str,
        /// How.
        loss: Loss,
    },
    /// The plan makes no sense.
    #[error("the plan of the organ makes no sense: {0}; report this to its author")]
    Plan(#[from] PlanFault),
    /// The exit code is not the organ's.
    #[error("finish gives exit code {0}, which the verb does not declare; report this to the organ's author")]
    Exit(u8),
}

impl RunError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Lost { loss, .. } => loss.code(),
            Self::Plan(_) => "plan_invalid",
            Self::Exit(_) => "exit_not_declared",
        }
    }
}

/// Runs a job with a worker that is there already.
///
/// # Errors
/// [`RunError`] when there is no plan or no finish. A unit that is lost is an end of that unit and no error.
pub fn run(job: &Job<'_>, control: &mut Worker, watch: &dyn Watch) -> Result<(Ended, Finish), RunError> {
    let unit_time = Duration::from_secs(job.declaration.limits.unit_s.into());
    let limit = CallLimit { deadline: Some(Instant::now() + unit_time), cancel: job.cancel };
    let plan = control.plan(&job.call, &limit).map_err(|loss| RunError::Lost { call: "plan", loss })?;
    watch.planned(&plan);
    let places = order(&plan.units)?;
    let mut ends: BTreeMap<usize, UnitEnd> = BTreeMap::new();
    let mut verdicts = BTreeMap::new();
    let mut sessions = Sessions { job, watch, open: None };
    for place in places {
        let unit = &plan.units[place];
        let (end, printed) = match refusal(job, unit, &verdicts) {
            Some((code, detail)) => (not_dispatched(unit, code, detail), Printed::default()),
            None => sessions.run(unit),
        };
        watch.ended(&end, &printed);
        verdicts.insert(unit.id.clone(), end.verdict);
        ends.insert(place, end);
    }
    sessions.close("the run is over");
    let ended = Ended { call: job.call.clone(), units: ends.into_values().collect() };
    let finish = finish(job, control, &ended)?;
    Ok((ended, finish))
}

/// Every planned unit has an end, also when nobody wants the run any more: so `finish` has no cancel.
fn finish(job: &Job<'_>, control: &mut Worker, ended: &Ended) -> Result<Finish, RunError> {
    let lost = |loss| RunError::Lost { call: "finish", loss };
    let cancel = Cancel::new();
    let limit = CallLimit { deadline: Some(Instant::now() + FINISH), cancel: &cancel };
    let finish = if control.is_alive() {
        control.finish(ended, &limit).map_err(lost)?
    } else {
        let mut fresh = Worker::start(&job.spec, Arc::clone(&job.services)).map_err(lost)?;
        fresh.finish(ended, &limit).map_err(lost)?
    };
    let verb = job.declaration.verb(&job.call.verb);
    let declared = verb.is_some_and(|verb| verb.exit_codes.iter().any(|exit| exit.code == finish.exit));
    if declared { Ok(finish) } else { Err(RunError::Exit(finish.exit)) }
}

/// Why a unit is not even tried.
fn refusal(job: &Job<'_>, unit: &Unit, verdicts: &BTreeMap<String, Verdict>) -> Option<(&'static str, String)> {
    if job.cancel.is_asked() {
        return Some(("cancelled", "the run was cancelled before it".to_owned()));
    }
    if let Some(dependency) = unmet(unit, verdicts) {
        return Some(("dependency_not_accepted", format!("it depends on {dependency}, which was not accepted")));
    }
    if let Some(event) = &unit.wait {
        return Some(("waits", format!("it waits for {event}, and this command does not wait; dispatch it in a plan")));
    }
    let granted = |path: &&String| job.visible.iter().any(|root| Path::new(path).starts_with(root));
    let hidden = unit.visible.iter().find(|path| !granted(path))?;
    Some(("visible_not_granted", format!("it wants to see {hidden}, which no argument of the call names")))
}

fn not_dispatched(unit: &Unit, code: &str, detail: String) -> UnitEnd {
    UnitEnd {
        id: unit.id.clone(),
        input: unit.input.clone(),
        verdict: Verdict::NotDispatched,
        answer: None,
        code: Some(code.to_owned()),
        detail: Some(detail),
    }
}

/// The session of a run: at most one is open.
struct Sessions<'s> {
    job: &'s Job<'s>,
    watch: &'s dyn Watch,
    open: Option<Session>,
}

impl Sessions<'_> {
    fn run(&mut self, unit: &Unit) -> (UnitEnd, Printed) {
        let job = self.job;
        let seconds = unit.deadline_s.unwrap_or(job.declaration.limits.unit_s);
        let deadline = Some(Instant::now() + Duration::from_secs(seconds.into()));
        let limit = CallLimit { deadline, cancel: job.cancel };
        let session = match self.fitting(unit, &limit) {
            Ok(session) => session,
            Err(loss) => return (lost(unit, &loss), Printed::default()),
        };
        let ran = session.run(unit, &limit);
        let end = match ran.result {
            Ok(answer) => {
                let judged = judge(&job.declaration.result, unit, &answer);
                if judged.verdict != Verdict::Accepted {
                    session.reject();
                }
                UnitEnd {
                    id: unit.id.clone(),
                    input: unit.input.clone(),
                    verdict: judged.verdict,
                    answer: Some(answer),
                    code: judged.code.map(str::to_owned),
                    detail: judged.detail,
                }
            }
            Err(loss) => lost(unit, &loss),
        };
        (end, ran.printed)
    }

    /// The open session if the unit fits it, else a new one.
    fn fitting(&mut self, unit: &Unit, limit: &CallLimit<'_>) -> Result<&mut Session, Loss> {
        let needs = Opening {
            capability: capability(self.job),
            authority: self.job.authority.clone(),
            visible: unit.visible.clone(),
        };
        let void = match &self.open {
            Some(session) => session.fits(&needs).err(),
            None => None,
        };
        if let Some(void) = void {
            self.close(&void.to_string());
        }
        match self.open.take() {
            Some(session) => Ok(self.open.insert(session)),
            None => {
                let session = self.start(needs, limit)?;
                self.watch.opened(&session);
                Ok(self.open.insert(session))
            }
        }
    }

    fn start(&self, opening: Opening, limit: &CallLimit<'_>) -> Result<Session, Loss> {
        let limits = self.job.declaration.limits;
        let spec = WorkerSpec {
            visible: opening.visible.clone(),
            memory: Some(u64::from(limits.memory_mib) << 20),
            open_files: Some(limits.open_files.into()),
            ..self.job.spec.clone()
        };
        let budget = Budget {
            units: self.job.session_bound.unwrap_or(limits.session_units),
            wall: Duration::from_secs(limits.session_s.into()),
            ..Budget::default()
        };
        Session::open(&spec, Arc::clone(&self.job.services), opening, budget, limit)
    }

    fn close(&mut self, why: &str) {
        let Some(session) = self.open.take() else { return };
        self.watch.closed(why);
        let printed = session.close();
        if !printed.stderr.is_empty() {
            tracing::debug!(stderr = %printed.stderr, "printed while the session was closed");
        }
    }
}

/// What a session can do: this organ, in exactly this build.
fn capability(job: &Job<'_>) -> String {
    format!("{}@{}", job.spec.organ, job.spec.sha256)
}

fn lost(unit: &Unit, loss: &Loss) -> UnitEnd {
    UnitEnd {
        id: unit.id.clone(),
        input: unit.input.clone(),
        verdict: Verdict::Undecidable,
        answer: None,
        code: Some(loss.code().to_owned()),
        detail: Some(loss.to_string()),
    }
}
