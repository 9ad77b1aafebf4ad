//! Real small programs: what they get, how they end, what is left of them.

use plugin_api::organ::services::{ProgramClose, ProgramExchange, ProgramOpen, ProgramRun};

use super::*;
use crate::plugins::services::testing::{Free, outside};

fn any() -> Programs {
    Programs::new(organ::Programs::Any, BTreeMap::from([("DECLARED".to_owned(), "d".to_owned())]), outside())
}

fn sh(script: &str) -> ProgramRun {
    ProgramRun { program: "sh".into(), args: vec!["-c".into(), script.into()], ..ProgramRun::default() }
}

/// Whether a process with this number lives. Whoever is its parent by now may not have reaped it yet.
#[cfg(target_os = "linux")]
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_program_gets_its_input_and_both_outputs_and_its_exit_code_are_told() {
    let request = ProgramRun { stdin: Some("in".into()), ..sh("cat; echo err >&2; exit 3") };
    let end = any().run(request, &Free::new().bounds()).unwrap();
    assert_eq!((end.exit, end.stdout.as_str(), end.stderr.as_str()), (Some(3), "in", "err\n"));
    assert!(!end.truncated && !end.deadline && end.signal.is_none());
}

#[test]
fn a_program_gets_what_is_declared_and_nothing_else_of_the_environment() {
    let request = ProgramRun {
        environment: BTreeMap::from([("ASKED".to_owned(), "a".to_owned())]),
        ..sh("echo $DECLARED $ASKED ${CARGO_PKG_NAME-unset}")
    };
    let end = any().run(request, &Free::new().bounds()).unwrap();
    assert_eq!(end.stdout, "d a unset\n");
}

#[test]
fn more_than_is_kept_is_read_and_dropped() {
    let request = ProgramRun { max_output: 10, ..sh("head -c 1000000 /dev/zero | tr '\\0' x") };
    let end = any().run(request, &Free::new().bounds()).unwrap();
    assert_eq!((end.stdout.as_str(), end.truncated, end.exit), ("xxxxxxxxxx", true, Some(0)));
}

#[test]
fn a_program_that_is_not_declared_is_not_run() {
    let named = Programs::new(organ::Programs::Named(vec!["git".into()]), BTreeMap::new(), outside());
    let failure = named.run(sh("true"), &Free::new().bounds()).unwrap_err();
    assert_eq!(failure.code, "not_granted");
    assert!(failure.message.contains("sh") && failure.message.contains("git"), "{}", failure.message);
}

#[test]
fn a_program_that_is_nowhere_is_told_as_such() {
    let request = ProgramRun { program: "no-such-program-anywhere".into(), ..ProgramRun::default() };
    let failure = any().run(request, &Free::new().bounds()).unwrap_err();
    assert_eq!(failure.code, "program_not_found");
}

#[test]
#[cfg(target_os = "linux")]
fn a_late_program_is_killed_with_all_that_it_started() {
    // A child of nobody, in a session of its own.
    let script = "setsid sh -c 'sleep 600 & echo $!; wait' & wait";
    let request = ProgramRun { deadline_ms: Some(500), ..sh(script) };
    let end = any().run(request, &Free::new().bounds()).unwrap();
    assert!(end.deadline && end.exit.is_none(), "{end:?}");
    assert!(!end.stdout.trim().is_empty() && !lives(&end.stdout), "{end:?}");
}

#[test]
fn a_cancelled_program_has_no_end() {
    let free = Free::new();
    let cancel = free.cancel.clone();
    let waiting = std::thread::spawn(move || any().run(sh("sleep 600"), &free.bounds()).unwrap_err().code);
    cancel.ask();
    assert_eq!(waiting.join().unwrap(), "cancelled");
}

#[test]
fn a_kept_program_answers_line_by_line_until_it_is_closed() {
    let programs = any();
    let script = "while read line; do echo \"got $line\"; done; exit 5";
    let open = ProgramOpen { program: "sh".into(), args: vec!["-c".into(), script.into()], ..ProgramOpen::default() };
    let free = Free::new();
    let handle = programs.open(open, &free.bounds()).unwrap().handle;
    for word in ["one", "two"] {
        let request = ProgramExchange { handle, line: word.into(), deadline_ms: None };
        assert_eq!(programs.exchange(request, &free.bounds()).unwrap().line, format!("got {word}"));
    }
    let end = programs.close(&ProgramClose { handle, deadline_ms: None }, &free.bounds()).unwrap();
    assert_eq!(end.exit, Some(5));
}

#[test]
fn a_kept_program_that_dies_is_lost_with_its_last_words() {
    let programs = any();
    let open = ProgramOpen {
        program: "sh".into(),
        args: vec!["-c".into(), "read line; echo gone >&2; exit 7".into()],
        ..ProgramOpen::default()
    };
    let free = Free::new();
    let handle = programs.open(open, &free.bounds()).unwrap().handle;
    let request = ProgramExchange { handle, line: "x".into(), deadline_ms: None };
    let failure = programs.exchange(request.clone(), &free.bounds()).unwrap_err();
    assert_eq!(failure.code, "program_lost");
    assert!(failure.message.contains('7') && failure.message.trim_end().ends_with("gone"), "{}", failure.message);
    assert!(programs.exchange(request, &free.bounds()).is_err());
}
