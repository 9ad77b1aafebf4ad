//! One unit: a program run to its end, or a line to one that is kept warm.

use std::collections::BTreeMap;

use plugin_api::Failure;
use plugin_api::organ::services::{ProgramClose, ProgramEnd, ProgramExchange, ProgramOpen, ProgramRun};
use plugin_api::organ::{Answer, Host, Outcome, Session, Unit};
use plugin_api::serde_json::{self, Value as Json, json};
use serde::{Deserialize, Serialize};

use crate::plan::Work;

/// The programs that are kept, by what was started.
#[derive(Debug, Default)]
pub struct Programs {
    warm: BTreeMap<(String, Vec<String>), u64>,
}

/// The line that a warm program is sent.
#[derive(Serialize)]
struct Message<'u> {
    id: &'u str,
    input: &'u Json,
    requires: &'u [String],
    frozen: &'u BTreeMap<String, String>,
    editable: &'u [String],
}

/// The line that a warm program answers. Unknown keys are refused: a misspelled one would be a lost answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    outcome: Outcome,
    #[serde(default)]
    value: Json,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    requirement: Option<String>,
}

impl Session for Programs {
    fn run(&mut self, unit: &Unit, host: &Host<'_>) -> Result<Answer, Failure> {
        host.check()?;
        let work: Work = unit.read()?;
        if work.warm { self.exchange(unit, &work, host) } else { run(&work, host) }
    }

    fn close(self, host: &Host<'_>) -> Result<(), Failure> {
        let closed =
            self.warm.into_values().map(|handle| host.close_program(&ProgramClose { handle, deadline_ms: None }));
        // All of them are closed, whatever the first says.
        let closed: Vec<_> = closed.collect();
        closed.into_iter().try_for_each(|end| end.map(|_| ()))
    }
}

impl Programs {
    fn exchange(&mut self, unit: &Unit, work: &Work, host: &Host<'_>) -> Result<Answer, Failure> {
        let key = (work.program.clone(), work.args.clone());
        let handle = match self.warm.get(&key) {
            Some(handle) => *handle,
            None => match open(work, host) {
                Ok(handle) => *self.warm.entry(key.clone()).or_insert(handle),
                Err(failure) => return unmeasured(failure),
            },
        };
        let message = Message {
            id: &unit.id,
            input: &work.input,
            requires: &unit.requires,
            frozen: &unit.frozen,
            editable: &unit.editable,
        };
        let line = serde_json::to_string(&message).map_err(|error| Failure::new("invalid_input", error.to_string()))?;
        match host.exchange(&ProgramExchange { handle, line, deadline_ms: None }) {
            Ok(reply) => answer(&reply.line, &reply.stderr),
            Err(failure) => {
                // Whatever became of it, the next unit gets a fresh one.
                self.warm.remove(&key);
                unmeasured(failure)
            }
        }
    }
}

fn open(work: &Work, host: &Host<'_>) -> Result<u64, Failure> {
    let request = ProgramOpen { program: work.program.clone(), args: work.args.clone(), ..ProgramOpen::default() };
    host.open_program(&request).map(|opened| opened.handle)
}

/// The answer in the line of a warm program.
fn answer(line: &str, stderr: &str) -> Result<Answer, Failure> {
    let reply: Reply = match serde_json::from_str(line) {
        Ok(reply) => reply,
        Err(error) => {
            let value = json!({ "stdout": line, "stderr": stderr });
            return Answer::unreadable(&value, format!("the program's line is no answer: {error}"));
        }
    };
    Ok(Answer {
        outcome: reply.outcome,
        value: json!({ "answer": reply.value, "stderr": stderr }),
        files: reply.files,
        message: reply.message,
        requirement: reply.requirement,
    })
}

fn run(work: &Work, host: &Host<'_>) -> Result<Answer, Failure> {
    let request = ProgramRun {
        program: work.program.clone(),
        args: work.args.clone(),
        stdin: work.stdin.clone(),
        ..ProgramRun::default()
    };
    match host.run_program(&request) {
        Ok(end) => ended(&work.program, &end),
        Err(failure) => unmeasured(failure),
    }
}

/// What the end of a program means.
fn ended(program: &str, end: &ProgramEnd) -> Result<Answer, Failure> {
    let value = json!({
        "exit": end.exit, "signal": end.signal, "stdout": end.stdout, "stderr": end.stderr,
        "truncated": end.truncated, "ms": end.ms,
    });
    match (end.exit, end.signal) {
        _ if end.deadline => Answer::unreadable(&value, format!("{program} was not done in time and was killed")),
        (Some(0), _) => Answer::done(&value),
        (Some(code), _) => Answer::failed(&value, format!("{program} exited with {code}")),
        (None, Some(signal)) => Answer::unreadable(&value, format!("{program} was ended by signal {signal}")),
        (None, None) => Answer::unreadable(&value, format!("nobody knows how {program} ended")),
    }
}

/// A program that could not be asked is not one that said no. A cancelled or late unit has no answer at all.
fn unmeasured(failure: Failure) -> Result<Answer, Failure> {
    match failure.code.as_str() {
        "cancelled" | "deadline" => Err(failure),
        _ => Answer::unreadable(&json!({}), format!("{} ({})", failure.message, failure.code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(end: &ProgramEnd, outcome: Outcome, message: &str) {
        let answer = ended("wc", end).unwrap();
        assert_eq!((answer.outcome, answer.message.as_str()), (outcome, message));
    }

    #[test]
    fn the_end_of_a_program_is_done_failed_or_unreadable() {
        let end = |exit, signal| ProgramEnd { exit, signal, ..ProgramEnd::default() };
        check(&end(Some(0), None), Outcome::Done, "");
        check(&end(Some(2), None), Outcome::Failed, "wc exited with 2");
        check(&end(None, Some(9)), Outcome::Unreadable, "wc was ended by signal 9");
        check(&end(None, None), Outcome::Unreadable, "nobody knows how wc ended");
        let late = ProgramEnd { deadline: true, ..end(None, Some(9)) };
        check(&late, Outcome::Unreadable, "wc was not done in time and was killed");
    }

    #[track_caller]
    fn line(text: &str, outcome: Outcome, message: &str) {
        let answer = answer(text, "").unwrap();
        assert_eq!((answer.outcome, answer.message.as_str()), (outcome, message));
    }

    #[test]
    fn a_line_of_a_warm_program_is_an_answer_or_unreadable() {
        line(r#"{"outcome":"done","value":3}"#, Outcome::Done, "");
        line(r#"{"outcome":"failed","message":"red"}"#, Outcome::Failed, "red");
        line(r#"{"outcome":"dependency_failure","requirement":"db"}"#, Outcome::DependencyFailure, "");
        line(
            r#"{"outcome":"done","vlaue":3}"#,
            Outcome::Unreadable,
            "the program's line is no answer: unknown field `vlaue`, expected one of `outcome`, `value`, `files`, \
             `message`, `requirement` at line 1 column 25",
        );
        line("ready", Outcome::Unreadable, "the program's line is no answer: expected value at line 1 column 1");
    }

    #[test]
    fn what_could_not_be_asked_is_unreadable_and_what_was_cancelled_has_no_answer() {
        let answer = unmeasured(Failure::new("program_not_found", "x is not in PATH")).unwrap();
        assert_eq!(answer.message, "x is not in PATH (program_not_found)");
        assert_eq!(unmeasured(Failure::new("cancelled", "c")), Err(Failure::new("cancelled", "c")));
    }
}
