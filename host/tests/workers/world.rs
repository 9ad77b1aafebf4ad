//! A worker of the unruly organ, and services that answer a little.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use host::plugins::image::Image;
use host::plugins::services::{Asked, Cancel, Services};
use host::plugins::worker::loss::Loss;
use host::plugins::worker::{CallLimit, Printed, Ran, Worker, WorkerSpec};
use plugin_api::Failure;
use plugin_api::organ::{Opening, Unit};
use serde_json::{Value, json};

/// Answers questions by their key, and keeps those that came.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Services for Answers {
    fn answer(&self, asked: &Asked<'_>) -> Result<String, Failure> {
        self.asked.lock().unwrap().push(asked.service.to_owned());
        match asked.service {
            "clock.now" => Ok(json!({ "micros": 7 }).to_string()),
            "state.get" => {
                let request: Value = serde_json::from_str(asked.request).unwrap();
                // Waits as a slow service would, until the call is over or somebody asks again.
                if request["key"] == "often" && asked.cancel.wait(Duration::from_secs(1)) {
                    return Err(Failure::new("cancelled", "over"));
                }
                Ok(json!({ "value": request["key"], "revision": 1 }).to_string())
            }
            "sleep" if asked.cancel.wait(Duration::from_secs(60)) => Err(Failure::new("cancelled", "over")),
            other => Err(Failure::new("unknown_service", other)),
        }
    }

    fn features(&self) -> Vec<String> {
        vec!["clock".into(), "state".into()]
    }

    fn end(&self) {}
}

/// What workers of this process are started from.
pub(crate) fn spec() -> WorkerSpec {
    static IMAGE: OnceLock<Arc<Image>> = OnceLock::new();
    let image = IMAGE
        .get_or_init(|| Arc::new(Image::of_organ(&crate::build::plugin("unruly"), None, "unruly").expect("a plugin")));
    let mut spec = WorkerSpec::new(Arc::clone(image), "unruly");
    spec.program = Some(env!("CARGO_BIN_EXE_host").into());
    spec.grace = Duration::from_millis(300);
    spec
}

/// A worker with an open session.
#[track_caller]
pub(crate) fn started(spec: &WorkerSpec) -> Worker {
    started_with(spec, Arc::new(Answers::default()))
}

#[track_caller]
pub(crate) fn started_with(spec: &WorkerSpec, services: Arc<Answers>) -> Worker {
    let mut worker = Worker::start(spec, services).unwrap_or_else(|loss| panic!("{loss}"));
    let opening = Opening { authority: "somebody".into(), ..Opening::default() };
    let cancel = Cancel::new();
    worker.open(&opening, &CallLimit { deadline: soon(20), cancel: &cancel }).unwrap_or_else(|loss| panic!("{loss}"));
    worker
}

pub(crate) fn soon(seconds: u64) -> Option<Instant> {
    Some(Instant::now() + Duration::from_secs(seconds))
}

/// A unit that says what is to be done.
pub(crate) fn unit(order: &Value) -> Unit {
    Unit { id: "u".into(), input: order.clone(), ..Unit::default() }
}

/// Runs an order; it has a minute.
pub(crate) fn run(worker: &mut Worker, order: &Value) -> Ran {
    let cancel = Cancel::new();
    worker.run(&unit(order), &CallLimit { deadline: soon(60), cancel: &cancel })
}

/// The text of the answer to an order.
#[track_caller]
pub(crate) fn text(worker: &mut Worker, order: &Value) -> String {
    let ran = run(worker, order);
    let answer = ran.result.unwrap_or_else(|loss| panic!("{order}: {loss}; printed {:?}", ran.printed));
    answer.value["text"].as_str().expect("a text").to_owned()
}

/// What becomes of an order that harms the worker; then a fresh worker answers.
#[track_caller]
pub(crate) fn lost(order: &Value) -> (Loss, Printed) {
    let mut worker = started(&spec());
    let ran = run(&mut worker, order);
    let Err(loss) = ran.result else { panic!("{order} was answered") };
    assert!(!worker.is_alive(), "{order} leaves the worker alive");
    assert_eq!(run(&mut worker, &json!({ "do": "answer" })).result, Err(loss.clone()), "a lost worker stays lost");
    drop(worker);
    assert_eq!(text(&mut started(&spec()), &json!({ "do": "answer", "text": "fresh" })), "fresh");
    (loss, ran.printed)
}

/// Whether a process with this number is there; one that ended and was not reaped counts.
pub(crate) fn is_there(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}
