//! Random journals: few rows, few times and few actors, so that copies, ties and late observations are common.

use proptest::prelude::*;
use serde_json::{Value, json};

/// One message of a journal, as JSON.
pub(crate) type Message = Value;

/// An export that declares this window.
pub(crate) fn export(kind: &str, messages: &[Message]) -> String {
    json!({ "window": { "kind": kind }, "messages": messages }).to_string()
}

/// A message that holds `observation`, sent after every time that it may name.
pub(crate) fn message(id: usize, author: &str, observation: &Value) -> Message {
    json!({
        "id": format!("m-{id}"), "timestamp": "2026-09-20T00:00:00Z", "author": author,
        "content": format!("[OBS] {observation}"),
    })
}

fn time() -> impl Strategy<Value = String> {
    (1..4_u8, prop_oneof![Just(""), Just(".5"), Just(".000001")])
        .prop_map(|(day, fraction)| format!("2026-09-0{day}T12:00:00{fraction}Z"))
}

fn issue_debt() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        prop::sample::select(vec!["open-actionable", "closed", "deferred"]).prop_map(|v| ("state_class", json!(v))),
        prop::sample::select(vec!["closeable-now", "not-closeable"]).prop_map(|v| ("closeability", json!(v))),
        (0..3_i64).prop_map(|v| ("remaining_atomic_prs", json!(v))),
        prop::sample::select(vec![json!(0), json!(0.5), json!(2.6755)]).prop_map(|v| ("eat_hours", v)),
        prop::sample::select(vec![json!([]), json!([3, {"kind": "external", "note": "a  b"}])])
            .prop_map(|v| ("dependencies", v)),
        prop::sample::select(vec![Value::Null, json!({"kind": "waiver", "reason": "r"}), json!({})])
            .prop_map(|v| ("followup", v)),
    ];
    (1..4_i64, prop::collection::vec(field, 1..4), time(), 0..3_usize).prop_map(|(issue, fields, at, actor)| {
        let fields: serde_json::Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        json!({
            "actor": actors()[actor], "observed_at": at, "evidence": "e",
            "entity": { "repo": "o/r", "issue": issue }, "fields": fields,
        })
    })
}

fn gpu_reservation() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        prop::sample::select(vec!["held", "released", "stale"]).prop_map(|v| ("state", json!(v))),
        prop::sample::select(vec!["m:w", "n"]).prop_map(|v| ("holder", json!(v))),
        time().prop_map(|v| ("expected_end", json!(v))),
        prop::sample::select(vec!["x  y", "z"]).prop_map(|v| ("workload", json!(v))),
    ];
    (0..3_i64, prop::collection::vec(field, 1..4), time(), 0..3_usize).prop_map(|(gpu, fields, at, actor)| {
        let fields: serde_json::Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        json!({
            "actor": actors()[actor], "observed_at": at, "evidence": "e",
            "entity": { "machine": "m", "gpu_index": gpu }, "fields": fields,
        })
    })
}

/// What may stand between observations: prose, and messages that are refused.
fn noise() -> impl Strategy<Value = Message> {
    prop::sample::select(vec![
        json!({ "id": "p", "content": "nothing to add" }),
        json!({ "id": "q", "content": "[OBS] {broken" }),
        json!({ "id": "r", "author": "a", "content": "[OBS] {\"fields\":{}}" }),
        json!("not a message"),
        json!({ "id": "s", "content": "[OBS] {\"a\":1,\"a\":2}" }),
    ])
}

/// A journal of the ledger with this name: observations, copies of them, and noise.
pub(crate) fn journal(ledger: &str) -> BoxedStrategy<Vec<Message>> {
    let observation = if ledger == "issue-debt" { issue_debt().boxed() } else { gpu_reservation().boxed() };
    let message = (0..9_usize, observation).prop_map(|(id, observation)| message(id, "a", &observation));
    let messages = prop::collection::vec(prop_oneof![6 => message.boxed(), 1 => noise().boxed()], 1..14);
    let copies = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (messages, copies)
        .prop_map(|(mut messages, copies)| {
            for copy in copies {
                messages.push(copy.get(&messages).clone());
            }
            messages
        })
        .boxed()
}

fn actors() -> [&'static str; 3] {
    ["a", "b:w", "c"]
}
