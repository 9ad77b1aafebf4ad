//! What a sound organ does in its worker.

use std::sync::Arc;

use host::plugins::services::Cancel;
use host::plugins::worker::session::{Budget, Session};
use host::plugins::worker::{CallLimit, Worker};
use plugin_api::organ::{Call, Ended, Opening};
use serde_json::json;

use crate::world::{Answers, run, soon, spec, started, started_with, text, unit};

#[test]
fn a_session_keeps_its_worker_from_unit_to_unit() {
    let mut worker = started(&spec());
    for number in 1..4 {
        let answer = run(&mut worker, &json!({ "do": "answer", "text": "a" })).result.unwrap();
        assert_eq!(answer.value, json!({ "text": "a", "unit": number }));
    }
    assert_eq!(text(&mut worker, &json!({ "do": "authority" })), "somebody");
    assert_eq!(worker.stop().stdout, "");
}

#[test]
fn plan_and_finish_are_answered_without_a_session() {
    let mut worker = Worker::start(&spec(), Arc::new(Answers::default())).unwrap();
    let cancel = Cancel::new();
    let limit = CallLimit { deadline: soon(20), cancel: &cancel };
    let plan = worker.plan(&Call::default(), &limit).unwrap();
    assert_eq!((plan.units[0].id.as_str(), plan.notes.as_slice()), ("one", &["planned".to_owned()][..]));
    assert_eq!(worker.finish(&Ended::default(), &limit).unwrap().page, "0 unit(s)");
    let loss = worker.run(&unit(&json!({ "do": "answer" })), &limit).result.unwrap_err();
    assert_eq!(loss.to_string(), "no session is open (no_session)");
    assert_eq!(worker.declaration().name, "unruly");
}

#[test]
fn what_is_printed_belongs_to_its_unit() {
    let mut worker = started(&spec());
    for word in ["one", "two"] {
        let ran = run(&mut worker, &json!({ "do": "lines", "text": word }));
        assert_eq!(ran.printed.stdout, format!("out: {word}\n"));
        assert_eq!(ran.printed.stderr, format!("err: {word}\n"));
    }
}

#[test]
fn questions_are_answered_from_any_thread() {
    let services = Arc::new(Answers::default());
    let mut worker = started_with(&spec(), Arc::clone(&services));
    assert_eq!(text(&mut worker, &json!({ "do": "ask" })), "7");
    assert_eq!(text(&mut worker, &json!({ "do": "ask_from_two_threads" })), "\"first\" \"second\"");
    assert_eq!(services.asked.lock().unwrap().as_slice(), ["clock.now", "state.get", "state.get"]);
}

#[test]
fn too_many_questions_at_once_are_refused_and_the_others_answered() {
    let mut worker = started(&spec());
    let refused: u32 = text(&mut worker, &json!({ "do": "ask_often", "number": 50 })).parse().unwrap();
    assert!((1..=18).contains(&refused), "{refused} of 50 were refused; 32 may be answered at once");
}

#[test]
fn a_question_ends_with_its_unit() {
    let mut worker = started(&spec());
    let cancel = Cancel::new();
    let asking = cancel.clone();
    let asked = std::thread::spawn(move || {
        assert!(!asking.wait(std::time::Duration::from_millis(100)));
        asking.ask();
    });
    let order = unit(&json!({ "do": "sleep", "number": 60_000 }));
    let loss = worker.run(&order, &CallLimit { deadline: soon(60), cancel: &cancel }).result.unwrap_err();
    asked.join().unwrap();
    assert_eq!(loss.code(), "cancelled");
    assert!(worker.is_alive());
}

#[test]
fn a_worker_knows_nothing_of_the_hosts_environment() {
    let names = text(&mut started(&spec()), &json!({ "do": "variables" }));
    assert!(!names.contains("CARGO") && !names.contains("PATH") && names.contains("HOST_WORKER"), "{names}");
}

#[test]
fn each_start_is_told_from_every_other() {
    let (one, other) = (started(&spec()), started(&spec()));
    assert_ne!(one.identity().nonce, other.identity().nonce);
    assert_ne!(one.identity().pid, other.identity().pid);
    assert_eq!(one.identity().sha256, spec().sha256);
}

#[test]
fn a_worker_that_finds_other_bytes_refuses() {
    let mut spec = spec();
    spec.sha256 = "0".repeat(64);
    let loss = Worker::start(&spec, Arc::new(Answers::default())).err().unwrap();
    assert_eq!(loss.code(), "worker_refused");
    assert!(loss.to_string().contains("worker_plugin_altered"), "{loss}");
}

#[test]
fn an_organ_that_is_not_in_the_plugin_is_named() {
    let mut spec = spec();
    spec.organ = "nobody".into();
    let loss = Worker::start(&spec, Arc::new(Answers::default())).err().unwrap();
    assert_eq!(loss.to_string(), "the worker refused: the plugin has no organ nobody (worker_plugin)");
}

#[test]
fn a_session_is_void_at_its_bound_after_a_refusal_and_when_its_process_is_gone() {
    let cancel = Cancel::new();
    let limit = CallLimit { deadline: soon(60), cancel: &cancel };
    let open = |units| {
        let budget = Budget { units, ..Budget::default() };
        let opening = Opening { authority: "a".into(), ..Opening::default() };
        Session::open(&spec(), Arc::new(Answers::default()), opening, budget, &limit).unwrap()
    };
    let needs = Opening { authority: "a".into(), ..Opening::default() };
    let code = |session: &Session| session.fits(&needs).map_err(|void| void.code());
    let mut bound = open(1);
    assert_eq!(code(&bound), Ok(()));
    bound.run(&unit(&json!({ "do": "answer" })), &limit).result.unwrap();
    assert_eq!(code(&bound), Err("bound_reached"));
    assert_eq!(bound.close().stdout, "closed after 1 unit(s)\n");
    let mut refused = open(9);
    refused.run(&unit(&json!({ "do": "answer" })), &limit).result.unwrap();
    refused.reject();
    assert_eq!(code(&refused), Err("unit_failed"));
    let mut gone = open(9);
    assert!(gone.run(&unit(&json!({ "do": "abort" })), &limit).result.is_err());
    assert_eq!(code(&gone), Err("process_lost"));
}
