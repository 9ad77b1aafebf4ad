//! A host that answers from a script.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value as Json;

use crate::kind::Failure;
use crate::organ::services::SERVICES;
use crate::organ::{Ask, ScriptedReply};

/// A host that answers in the order of its script, and remembers what it was asked.
///
/// The clock stands still at 2026-01-01T00:00:00Z and a sleep ends at once, unless the script says otherwise.
#[derive(Debug, Default)]
pub struct Script {
    replies: Mutex<Vec<ScriptedReply>>,
    asked: Mutex<Vec<Asked>>,
    cancelled: AtomicBool,
    late: AtomicBool,
}

/// Something that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Name of the service.
    pub service: String,
    /// The request.
    pub request: Json,
}

impl Script {
    /// A host with these answers.
    #[must_use]
    pub fn new(replies: Vec<ScriptedReply>) -> Self {
        Self { replies: Mutex::new(replies), ..Self::default() }
    }

    /// A host at which every unit was cancelled before it began.
    #[must_use]
    pub fn cancelled() -> Self {
        let script = Self::default();
        script.cancel();
        script
    }

    /// A host at which every unit is too late already.
    #[must_use]
    pub fn late() -> Self {
        let script = Self::default();
        script.late.store(true, Ordering::SeqCst);
        script
    }

    /// From now on the unit is cancelled.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// What was asked so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }

    /// Answers that were not asked for.
    #[must_use]
    pub fn left(&self) -> Vec<ScriptedReply> {
        lock(&self.replies).clone()
    }

    fn next(&self, service: &str, request: &Json) -> Result<Json, Failure> {
        let mut replies = lock(&self.replies);
        if replies.first().is_none_or(|reply| reply.service != service) {
            return Self::unscripted(service, replies.first());
        }
        let ScriptedReply { request: expected, reply, .. } = replies.remove(0);
        let expected = expected.as_object().into_iter().flatten();
        if let Some((key, value)) = expected.into_iter().find(|(key, value)| request.get(*key) != Some(*value)) {
            let found = request.get(key).unwrap_or(&Json::Null);
            let message = format!("{service} was asked with {key} = {found}; the script expects {value}");
            return Err(Failure::new("script", message));
        }
        match reply.get("failure") {
            Some(failure) => {
                let text = |key: &str| failure.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
                Err(Failure::new(text("code"), text("message")))
            }
            None => Ok(reply),
        }
    }

    /// What needs no script, and what has none.
    fn unscripted(service: &str, next: Option<&ScriptedReply>) -> Result<Json, Failure> {
        match service {
            // 2026-01-01T00:00:00Z
            "clock.now" => Ok(serde_json::json!({ "micros": 1_767_225_600_000_000_i64 })),
            "sleep" | "program.close" | "lock.release" => Ok(serde_json::json!({})),
            _ => {
                let next = next.map_or("nothing more", |reply| reply.service.as_str());
                Err(Failure::new("script", format!("{service} was asked; the script has {next}")))
            }
        }
    }
}

impl Ask for Script {
    fn ask(&self, service: &str, request: &str) -> Result<String, Failure> {
        let request: Json =
            serde_json::from_str(request).map_err(|error| Failure::new("invalid_call", error.to_string()))?;
        lock(&self.asked).push(Asked { service: service.to_owned(), request: request.clone() });
        if self.cancelled() {
            return Err(Failure::new("cancelled", "the unit was cancelled"));
        }
        if self.late.load(Ordering::SeqCst) {
            return Err(Failure::new("deadline", "the unit's deadline is over"));
        }
        self.next(service, &request).map(|reply| reply.to_string())
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    fn remaining_ms(&self) -> Option<u64> {
        self.late.load(Ordering::SeqCst).then_some(0)
    }

    fn features(&self) -> Vec<String> {
        SERVICES.map(str::to_owned).into()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::organ::Host;
    use crate::organ::services::ProgramRun;

    fn program(name: &str) -> ProgramRun {
        ProgramRun { program: name.into(), ..ProgramRun::default() }
    }

    fn script() -> Script {
        let reply = |reply| ScriptedReply { service: "program.run".into(), request: json!({ "program": "wc" }), reply };
        Script::new(vec![
            reply(json!({ "exit": 0 })),
            reply(json!({ "failure": { "code": "program_not_found", "message": "no wc" } })),
        ])
    }

    #[test]
    fn answers_come_in_their_order_and_what_was_asked_is_kept() {
        let script = script();
        let host = Host::new(&script);
        assert_eq!(host.run_program(&program("wc")).unwrap().exit, Some(0));
        assert_eq!(host.run_program(&program("wc")), Err(Failure::new("program_not_found", "no wc")));
        assert_eq!(host.now().unwrap().to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(
            script.asked().iter().map(|one| one.service.as_str()).collect::<Vec<_>>(),
            ["program.run", "program.run", "clock.now"]
        );
        assert!(script.left().is_empty());
    }

    #[test]
    fn another_question_than_the_script_expects_is_told() {
        let script = script();
        let failure = Host::new(&script).run_program(&program("ls")).unwrap_err();
        assert_eq!(failure.message, r#"program.run was asked with program = "ls"; the script expects "wc""#);
        let failure = Host::new(&script).read_file("x").unwrap_err();
        assert_eq!(failure.message, "file.read was asked; the script has program.run");
    }

    #[test]
    fn a_cancelled_unit_gets_no_answer() {
        let script = script();
        script.cancel();
        assert_eq!(Host::new(&script).check().unwrap_err().code, "cancelled");
        assert_eq!(Host::new(&script).run_program(&program("wc")).unwrap_err().code, "cancelled");
        assert_eq!(Host::new(&Script::late()).check().unwrap_err().code, "deadline");
    }
}
