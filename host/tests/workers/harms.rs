//! What a unit does to its worker becomes a typed loss of that unit.

use std::time::{Duration, Instant};

use host::plugins::services::Cancel;
use host::plugins::worker::CallLimit;
use host::plugins::worker::loss::Loss;
use serde_json::json;

use crate::world::{is_there, lost, run, soon, spec, started, text, unit};

#[track_caller]
fn check(word: &str, code: &str, detail: &str) {
    let (loss, _) = lost(&json!({ "do": word }));
    assert_eq!((loss.code(), loss.to_string().as_str()), (code, detail));
}

#[test]
fn an_abort_is_a_crash() {
    check("abort", "worker_crashed", "the worker was ended by signal 6; report this to the author of unruly");
}

#[test]
fn a_segmentation_fault_is_a_crash() {
    check("segfault", "worker_crashed", "the worker was ended by signal 11; report this to the author of unruly");
}

#[test]
fn an_exit_without_an_answer_is_one() {
    let detail = "the worker exited with code 3 before it answered; report this to the author of unruly";
    check("exit", "worker_exited", detail);
}

#[test]
fn half_a_frame_is_told_as_such() {
    check("half_frame", "worker_half_frame", "the worker's answer stops after 2 of 1000 bytes");
}

#[test]
fn garbage_in_the_channel_is_told_as_such() {
    check(
        "garbage",
        "worker_protocol",
        "what the worker sent makes no sense: expected value at line 1 column 1; report this to the author of its plugin",
    );
}

#[test]
fn a_frame_that_is_announced_too_large_is_not_waited_for() {
    check(
        "huge_frame",
        "worker_answer_too_large",
        "the worker's answer has 4294967295 bytes, more than a frame may hold",
    );
}

#[test]
fn an_answer_to_what_was_not_asked_is_told_as_such() {
    check(
        "wrong_answer",
        "worker_protocol",
        "what the worker sent makes no sense: it answers what it was not asked; report this to the author of its plugin",
    );
}

#[test]
fn a_worker_that_closes_its_channel_is_lost() {
    let (loss, _) = lost(&json!({ "do": "close_protocol" }));
    // Its own reader takes that for the end of the host, and kills its group.
    assert_eq!(loss.code(), "worker_crashed", "{loss}");
}

#[test]
fn a_hundred_megabytes_of_output_end_it() {
    let (loss, printed) = lost(&json!({ "do": "print", "number": 100_000_000 }));
    assert_eq!(loss, Loss::Flood(64 << 20));
    assert!(printed.stdout.len() < 1 << 17 && printed.dropped > 0, "{} kept", printed.stdout.len());
}

#[test]
fn ten_megabytes_of_output_are_cut_and_the_unit_is_answered() {
    let mut worker = started(&spec());
    let ran = run(&mut worker, &json!({ "do": "print", "number": 10_000_000, "text": "and a word" }));
    assert!(ran.result.is_ok());
    assert_eq!(ran.printed.stderr, "and a word\n");
    assert!(ran.printed.stdout.contains("bytes left out") && ran.printed.dropped > 9_000_000);
}

#[test]
fn a_panic_is_the_organs_failure() {
    let mut worker = started(&spec());
    let loss = run(&mut worker, &json!({ "do": "panic", "text": "told so" })).result.unwrap_err();
    assert_eq!(loss.code(), "organ_panicked");
    assert!(loss.to_string().ends_with(": told so (panic)"), "{loss}");
    let failed = run(&mut worker, &json!({ "do": "fail", "text": "no" })).result.unwrap_err();
    assert_eq!((failed.code(), failed.to_string().as_str()), ("organ_failed", "no (own_code)"));
}

#[test]
fn a_hang_ends_at_the_deadline() {
    let mut worker = started(&spec());
    let cancel = Cancel::new();
    let start = Instant::now();
    let deadline = Some(start + Duration::from_millis(200));
    let loss =
        worker.run(&unit(&json!({ "do": "hang" })), &CallLimit { deadline, cancel: &cancel }).result.unwrap_err();
    assert!(matches!(loss, Loss::Deadline(_)), "{loss}");
    assert!(!worker.is_alive());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_unit_that_looks_at_its_deadline_keeps_its_worker() {
    let mut worker = started(&spec());
    let cancel = Cancel::new();
    let deadline = Some(Instant::now() + Duration::from_millis(200));
    let order = unit(&json!({ "do": "hang_politely" }));
    let loss = worker.run(&order, &CallLimit { deadline, cancel: &cancel }).result.unwrap_err();
    // The organ's own clock may be a moment ahead of the host's: then it says so itself.
    let own = matches!(&loss, Loss::Failed(failure) if failure.code == "deadline");
    assert!(own || matches!(loss, Loss::Deadline(_)), "{loss}");
    assert_eq!(text(&mut worker, &json!({ "do": "answer", "text": "warm" })), "warm");
}

#[test]
fn a_cancel_is_asked_seen_and_ended() {
    let mut worker = started(&spec());
    let cancel = Cancel::new();
    let asking = cancel.clone();
    let asked = std::thread::spawn(move || {
        assert!(!asking.wait(Duration::from_millis(100)));
        asking.ask();
    });
    let order = unit(&json!({ "do": "hang_politely" }));
    let loss = worker.run(&order, &CallLimit { deadline: soon(60), cancel: &cancel }).result.unwrap_err();
    asked.join().unwrap();
    assert_eq!(loss, Loss::Cancelled { seen: true });
    assert_eq!(text(&mut worker, &json!({ "do": "answer", "text": "warm" })), "warm");
}

#[test]
fn a_cancel_that_is_not_looked_at_ends_the_worker() {
    let mut worker = started(&spec());
    let cancel = Cancel::new();
    let asking = cancel.clone();
    let asked = std::thread::spawn(move || {
        assert!(!asking.wait(Duration::from_millis(100)));
        asking.ask();
    });
    let order = unit(&json!({ "do": "hang" }));
    let loss = worker.run(&order, &CallLimit { deadline: soon(60), cancel: &cancel }).result.unwrap_err();
    asked.join().unwrap();
    assert_eq!(loss, Loss::Cancelled { seen: false });
    assert!(!worker.is_alive());
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_that_a_worker_started_outlives_it() {
    for (word, then) in [("child", "abort"), ("daemon", "abort"), ("daemon", "hang"), ("brood", "exit")] {
        let mut worker = started(&spec());
        let cancel = Cancel::new();
        let limit = CallLimit { deadline: Some(Instant::now() + Duration::from_secs(2)), cancel: &cancel };
        let ran = worker.run(&unit(&json!({ "do": word, "text": then, "number": 5 })), &limit);
        assert!(ran.result.is_err());
        let line =
            ran.printed.stderr.lines().find_map(|line| line.strip_prefix("left ")).expect("it says whom it left");
        for pid in line.split(' ') {
            assert!(!is_there(pid), "{word} then {then}: {pid} is left");
        }
    }
}
