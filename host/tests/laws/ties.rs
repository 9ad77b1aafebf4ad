//! Ties (CBaquero/delta-enabled-crdts#7, rust-crdt/rust-crdt#95; public case 25): one total order, whatever the order of
//! arrival, and a tie between values that differ is listed.

use host::ledger::linked::Linked;
use host_issue_debt::rules::IssueDebt;
use serde_json::{Value, json};

use super::folding::{Ledger, state};
use super::journal::{export, message};

const AT: &str = "2026-09-05T12:00:00Z";

fn observation(actor: &str, value: &Value) -> Value {
    json!({
        "actor": actor, "observed_at": AT, "evidence": "e", "entity": { "repo": "o/r", "issue": 7 },
        "fields": { "followup": value },
    })
}

fn orders() -> [[usize; 3]; 6] {
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
}

#[test]
fn three_values_of_one_instant_have_one_winner_in_every_order_and_split() {
    let kind = Linked::<IssueDebt>::new();
    let ledger = Ledger::new(&kind, 25);
    let waiver = |reason: &str| json!({ "kind": "waiver", "reason": reason });
    let observations = [observation("a", &waiver("x")), observation("c", &Value::Null), observation("b", &waiver("z"))];
    let mut states = Vec::new();
    for order in orders() {
        let messages: Vec<Value> = order.iter().map(|index| message(*index, "a", &observations[*index])).collect();
        for cut in 0..=3 {
            let first = ledger.snapshot(None, &export("full", &messages[..cut]));
            states.push(state(&ledger.snapshot(Some(&first), &export("incremental", &messages[cut..]))));
        }
        // One of them in the baseline.
        let mut row = observations[order[0]].clone();
        row["actor"] = observations[order[0]]["actor"].clone();
        let base = json!({
            "schema": "debt-ledger-baseline/v1", "ledger": "issue-debt", "generated_at": AT, "rows": [row],
        });
        let folded = ledger.fold(None, &export("full", &messages[1..]), Some(&base.to_string())).expect("a fold");
        states.push(state(&ledger.text(&folded)));
    }
    assert!(states.iter().all(|state| *state == states[0]));
    assert_eq!(states[0]["rows"][0]["fields"]["followup"], Value::Null, "c is the greatest actor");
}

#[test]
fn a_tie_between_values_that_differ_is_a_conflict_with_all_contenders() {
    let kind = Linked::<IssueDebt>::new();
    let ledger = Ledger::new(&kind, 1);
    let messages = [message(1, "a", &observation("b", &json!({}))), message(2, "a", &observation("a", &Value::Null))];
    let folded = ledger.fold(None, &export("full", &messages), None).expect("a fold");
    assert_eq!(folded.notices.last().map(String::as_str), Some("equal_time_conflict: 1 field(s)"));
    let row = &folded.rows.rows[0];
    let actors: Vec<&str> = row.fields[5].contested.iter().map(|index| &*folded.rows.record(*index).actor).collect();
    assert_eq!(actors, ["a", "b"], "both are kept although the cap is 1");
}

#[test]
fn equal_values_of_one_instant_are_no_conflict() {
    let kind = Linked::<IssueDebt>::new();
    let ledger = Ledger::new(&kind, 25);
    let messages = [message(1, "a", &observation("b", &json!({}))), message(2, "a", &observation("a", &json!({})))];
    let folded = ledger.fold(None, &export("full", &messages), None).expect("a fold");
    assert!(folded.rows.rows[0].fields.iter().all(|field| field.contested.is_empty()));
    assert!(!folded.notices.iter().any(|notice| notice.starts_with("equal_time_conflict")));
}
