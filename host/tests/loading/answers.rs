//! A loaded kind answers as the same kind does when it is linked in.

use std::collections::BTreeMap;

use host::ledger::kind::{Batch, BatchCustom, BatchObservation, Judged, Kind};
use host::ledger::linked::Linked;
use plugin_api::rules::time::Timestamp;
use plugin_api::{Counts, Entity, LedgerView, Refusal, Row, StatusText, Value, VerbAnswer, VerbCall, json};
use test_plugin_shelf::Shelf;

use crate::world::World;

fn observation<'a>(slot: &'a str, evidence: &'a str) -> BatchObservation<'a> {
    BatchObservation { entity: vec!["m", slot], actor: "me", evidence, observed_at: "2026-09-17T19:00:00Z" }
}

fn row<'a>(key: &'a str, slot: &'a str, historical: bool, fields: Vec<(&'a str, Value<'a>)>) -> Row<'a> {
    let entity = Entity { keys: vec![("machine", "m"), ("slot", slot)] };
    Row { key, entity, historical, stale: false, last_observed_at: "2026-09-17T19:00:00Z", fields }
}

fn rows() -> [Row<'static>; 3] {
    let parts = Value::List(vec!["a".into(), Value::object([("b", Value::from(0.1))])]);
    [
        row("m#slot1", "1", false, vec![("state", "full".into()), ("weight", 0.25.into()), ("parts", parts)]),
        row("m#slot2", "2", false, vec![("note", "naïve \"\u{1f}".into()), ("count", i64::MIN.into())]),
        row("m#slot3", "3", true, vec![("state", "gone".into()), ("sealed", true.into()), ("until", Value::Null)]),
    ]
}

/// Both kinds give the answer that `ask` expects.
#[track_caller]
fn check(ask: impl Fn(&dyn Kind)) {
    ask(&Linked::<Shelf>::new());
    ask(&World::with(&["shelf"]).kind("shelf"));
}

#[test]
fn a_batch_gets_its_refusals_and_one_verdict_for_each_value() {
    let custom = |observation, value| BatchCustom { observation, field: 6, value };
    let batch = Batch {
        observations: vec![observation("1", "seen"), observation("2", "hearsay"), observation("3", "seen")],
        customs: vec![custom(2, r#"["b","a","b"]"#), custom(0, "{}"), custom(2, "[]")],
    };
    check(|kind| {
        let judged = Judged {
            refused: vec![(1, Refusal::new("hearsay", "me did not look"))],
            customs: vec![
                Ok(r#"["a","b"]"#.to_owned()),
                Err(Refusal::invalid_value("parts of slot 1 is an object")),
                Ok("[]".to_owned()),
            ],
        };
        assert_eq!(kind.judge(&batch), Ok(judged));
    });
}

#[test]
fn an_empty_batch_gets_an_empty_answer() {
    check(|kind| assert_eq!(kind.judge(&Batch::default()), Ok(Judged::default())));
}

#[test]
fn a_summary_keeps_its_order_and_the_digits_of_large_integers() {
    let counts = Counts { total: 3, live: 2, historical: 1, incomplete: 0, stale: 0 };
    check(|kind| {
        let summary = kind.summary(&LedgerView { rows: &rows(), counts }).expect("a summary");
        let text = json::text(&Value::object(summary), json::Layout::Compact);
        assert_eq!(text, r#"{"total":3,"live":2,"historical":1,"weight":0.25,"slots":110680464442257309690}"#);
    });
}

#[test]
fn a_status_shows_texts_and_nested_values_and_stops_at_the_limit() {
    let ledger = LedgerView { rows: &rows(), counts: Counts::default() };
    let status = |rows: &[&str]| {
        let rows = rows.iter().map(|row| (*row).to_owned()).collect();
        Ok(StatusText { head: vec!["slots: 3".to_owned()], rows })
    };
    check(|kind| {
        assert_eq!(kind.status(&ledger, 10), status(&["m#slot1 full 2", "m#slot2 ? 0"]));
        assert_eq!(kind.status(&ledger, 1), status(&["m#slot1 full 2"]));
        assert_eq!(kind.status(&ledger, 0), status(&[]));
    });
}

#[test]
fn a_verb_gets_its_flag_its_rows_and_the_time() {
    let rows = rows();
    let call = |flag: Option<&str>| VerbCall {
        verb: "count",
        arguments: flag.map(|flag| (flag.to_owned(), String::new())).into_iter().collect(),
        rows: Some(&rows),
        now: Timestamp::from_micros(1_500_000),
    };
    let answer = |count: &str| {
        let json = Value::object([("count", count.to_owned().into()), ("now", "1970-01-01T00:00:01.500000Z".into())]);
        Ok(VerbAnswer::Answer { exit: 0, text: format!("{count} rows"), json })
    };
    check(|kind| {
        assert_eq!(kind.verb(&call(None)), answer("3"));
        assert_eq!(kind.verb(&call(Some("live"))), answer("2"));
    });
}

#[test]
fn a_verb_without_a_snapshot_sees_that_there_is_none() {
    let call = VerbCall { verb: "count", arguments: BTreeMap::new(), rows: None, now: Timestamp::from_micros(0) };
    check(|kind| {
        let refusal = Refusal::new("NO_SNAPSHOT", "fold first");
        assert_eq!(kind.verb(&call), Ok(VerbAnswer::Refused { exit: 3, refusal }));
    });
}

#[test]
fn a_kind_is_called_from_two_threads_at_once() {
    let world = World::with(&["shelf"]);
    let kind = world.kind("shelf");
    let batch = Batch { observations: vec![observation("1", "hearsay")], customs: Vec::new() };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    assert_eq!(kind.judge(&batch).expect("judged").refused.len(), 1);
                }
            });
        }
    });
}

#[test]
fn two_plugins_of_one_interface_live_in_one_process() {
    let world = World::with(&["garden", "shelf"]);
    let kinds = ["shelf", "garden", "pond"].map(|name| world.kind(name));
    let ledger = LedgerView { rows: &[], counts: Counts { total: 7, ..Counts::default() } };
    let first = kinds.each_ref().map(|kind| kind.summary(&ledger).expect("a summary").remove(0).0);
    assert_eq!(first, ["total", "garden", "pond"]);
    assert_eq!(kinds.map(|kind| kind.declaration().name.clone()), ["shelf", "garden", "pond"]);
}
