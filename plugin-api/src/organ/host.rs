//! What an organ holds of the host during a call.

use serde::Serialize;

use super::ask::Link;
use super::services::{
    ClockNow, FileList, FileNames, FileRead, FileText, HttpReply, HttpRequest, LockRelease, LockTake, OutputWrite,
    ProgramClose, ProgramEnd, ProgramExchange, ProgramHandle, ProgramLine, ProgramOpen, ProgramRun, Request, Sleep,
    StateGet, StatePut, StateValue,
};
use crate::kind::Failure;
use crate::rules::time::Timestamp;

/// The host, for the time of one call. What is asked of it is granted by the declaration and the run, or refused.
#[derive(Clone, Copy)]
pub struct Host<'l> {
    link: Link<'l>,
}

impl<'l> Host<'l> {
    /// The host behind `link`.
    #[must_use]
    pub fn new(link: Link<'l>) -> Self {
        Self { link }
    }

    /// Asks a service.
    ///
    /// # Errors
    /// The service's failure; `invalid_answer` when its answer is not what the contract says.
    pub fn ask<R: Request>(&self, request: &R) -> Result<R::Reply, Failure> {
        let text = request_text(request)?;
        let reply = self.link.ask(R::SERVICE, &text)?;
        serde_json::from_str(&reply)
            .map_err(|error| Failure::new("invalid_answer", format!("the host's answer to {}: {error}", R::SERVICE)))
    }

    /// Whether the host has a service, e.g. `git`. See [`super::services::SERVICES`].
    #[must_use]
    pub fn has(&self, service: &str) -> bool {
        self.link.features().iter().any(|feature| feature == service)
    }

    /// Whether somebody asked for the unit to end.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.link.cancelled()
    }

    /// Ends the call when somebody asked for that: `host.check()?` between steps.
    ///
    /// # Errors
    /// Code `cancelled`, or `deadline` when no time is left.
    pub fn check(&self) -> Result<(), Failure> {
        if self.link.cancelled() {
            return Err(Failure::new("cancelled", "the unit was cancelled"));
        }
        match self.link.remaining_ms() {
            Some(0) => Err(Failure::new("deadline", "the unit's deadline is over")),
            Some(_) | None => Ok(()),
        }
    }

    /// How long the call may still take, in milliseconds; `None` without a deadline.
    #[must_use]
    pub fn remaining_ms(&self) -> Option<u64> {
        self.link.remaining_ms()
    }

    /// What time it is.
    ///
    /// # Errors
    /// The service's failure.
    pub fn now(&self) -> Result<Timestamp, Failure> {
        self.ask(&ClockNow {}).map(|now| Timestamp::from_micros(now.micros))
    }

    /// Waits.
    ///
    /// # Errors
    /// Code `cancelled` or `deadline` when the unit ends before.
    pub fn sleep_ms(&self, ms: u64) -> Result<(), Failure> {
        self.ask(&Sleep { ms }).map(|_| ())
    }

    /// Sends a request.
    ///
    /// # Errors
    /// See [`HttpRequest`]. An answer with any status is an answer.
    pub fn http(&self, request: &HttpRequest) -> Result<HttpReply, Failure> {
        self.ask(request)
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// See [`ProgramRun`]. A program that exits with any code has ended.
    pub fn run_program(&self, request: &ProgramRun) -> Result<ProgramEnd, Failure> {
        self.ask(request)
    }

    /// Starts a program that is kept.
    ///
    /// # Errors
    /// See [`ProgramOpen`].
    pub fn open_program(&self, request: &ProgramOpen) -> Result<ProgramHandle, Failure> {
        self.ask(request)
    }

    /// Sends a line to a kept program and waits for one.
    ///
    /// # Errors
    /// See [`ProgramExchange`].
    pub fn exchange(&self, request: &ProgramExchange) -> Result<ProgramLine, Failure> {
        self.ask(request)
    }

    /// Ends a kept program.
    ///
    /// # Errors
    /// See [`ProgramClose`].
    pub fn close_program(&self, request: &ProgramClose) -> Result<ProgramEnd, Failure> {
        self.ask(request)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// See [`FileRead`].
    pub fn read_file(&self, path: &str) -> Result<FileText, Failure> {
        self.ask(&FileRead { path: path.to_owned(), max_bytes: 0 })
    }

    /// Lists a folder.
    ///
    /// # Errors
    /// See [`FileList`].
    pub fn list_folder(&self, path: &str) -> Result<FileNames, Failure> {
        self.ask(&FileList { path: path.to_owned() })
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// See [`OutputWrite`].
    pub fn write_output(&self, path: &str, text: &str) -> Result<(), Failure> {
        self.ask(&OutputWrite { path: path.to_owned(), text: text.to_owned() }).map(|_| ())
    }

    /// Reads what is kept under a key.
    ///
    /// # Errors
    /// See [`StateGet`].
    pub fn state(&self, scope: &str, key: &str) -> Result<StateValue, Failure> {
        self.ask(&StateGet { scope: scope.to_owned(), key: key.to_owned() })
    }

    /// Writes what is kept under a key.
    ///
    /// # Errors
    /// See [`StatePut`].
    pub fn put_state(&self, request: &StatePut) -> Result<StateValue, Failure> {
        self.ask(request)
    }

    /// Takes a lock.
    ///
    /// # Errors
    /// See [`LockTake`].
    pub fn lock(&self, name: &str, wait_ms: u64) -> Result<(), Failure> {
        self.ask(&LockTake { name: name.to_owned(), wait_ms }).map(|_| ())
    }

    /// Gives back a lock.
    ///
    /// # Errors
    /// See [`LockRelease`].
    pub fn unlock(&self, name: &str) -> Result<(), Failure> {
        self.ask(&LockRelease { name: name.to_owned() }).map(|_| ())
    }
}

fn request_text(request: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(request).map_err(|error| Failure::new("invalid_call", error.to_string()))
}
