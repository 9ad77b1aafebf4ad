//! The trait of an organ, a job that works on units, and what it is given.
//!
//! An organ declares its verbs and what it needs ([`OrganDeclaration`]); `plan` lists units, a session runs them one
//! after the other and keeps what is worth keeping warm, `finish` turns what they came to into an exit code and a page.
//!
//! Invariant: nothing here opens a socket, starts a process or reads a clock, a file or a variable. Whatever an organ
//! wants of the world it asks of [`Host`], and the host answers for what was declared and for nothing else. An organ runs
//! in a worker process, one call at a time; it may start threads of its own as long as they end with the call.

mod ask;
mod call;
mod declaration;
mod end;
mod host;
pub mod services;
mod unit;

use serde::{Deserialize, Serialize};

pub use ask::{Ask, Link};
pub use call::{Arguments, Call};
pub use declaration::{
    Argument, ArgumentType, Authorization, Cadence, Effect, EnvironmentName, ExitCode, HttpBase, Limits, Needs,
    OrganDeclaration, OrganVerb, Programs, ResultField, ResultType, ScriptedReply, UnitExample,
};
pub use end::{Ended, Finish, UnitEnd, Verdict};
pub use host::Host;
pub use unit::{Answer, Judge, Outcome, Plan, Unit};

use crate::kind::Failure;

/// A job.
pub trait Organ: Default + Send + Sync + 'static {
    /// The declaration's name, for the library's manifest. Lower-case letters, digits and single dashes or underscores.
    const NAME: &'static str;

    /// What works on units and is kept warm between them.
    type Session: Session;

    /// What this organ is. Must be the same at every call.
    fn declaration(&self) -> OrganDeclaration;

    /// Lists the units that a call of a verb comes to, in the order in which they should run.
    ///
    /// # Errors
    /// [`Failure`] when that cannot be found out; nothing runs then.
    fn plan(&self, call: &Call, host: &Host<'_>) -> Result<Plan, Failure>;

    /// Opens a session. It costs the same whether one unit follows or forty.
    ///
    /// # Errors
    /// [`Failure`] when no unit could be run.
    fn open(&self, opening: &Opening, host: &Host<'_>) -> Result<Self::Session, Failure>;

    /// What the run came to, for the shell, a person and a program. Pure: asks nothing of the host.
    ///
    /// # Errors
    /// [`Failure`]: the run is told as it was, with the exit code of a host's failure.
    fn finish(&self, ended: &Ended) -> Result<Finish, Failure>;
}

/// A warm session of an organ.
pub trait Session: Send + 'static {
    /// Works on one unit. What went wrong with the thing that was worked on is an [`Answer`]; a failure of this call ends
    /// the session.
    ///
    /// # Errors
    /// [`Failure`]: the unit is undecidable, the session is void.
    fn run(&mut self, unit: &Unit, host: &Host<'_>) -> Result<Answer, Failure>;

    /// Gives back what the session holds. Not called when the worker was killed.
    ///
    /// # Errors
    /// [`Failure`]: logged; answers that were given stand.
    fn close(self, host: &Host<'_>) -> Result<(), Failure>
    where
        Self: Sized,
    {
        let _ = host;
        Ok(())
    }
}

/// What a session is opened for. A unit fits into it when capability and authority are the same and what it may see is
/// a part of `visible`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// `<organ>@<SHA-256 of the plugin>`
    pub capability: String,
    /// Grants and account under which the host acts for it.
    pub authority: String,
    /// Paths that it may read.
    #[serde(default)]
    pub visible: Vec<String>,
}
