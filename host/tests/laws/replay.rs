//! The replay law (N11): however a journal is cut, ordered or repeated, the state is the same.

use host::ledger::kind::Kind;
use host::ledger::linked::Linked;
use host_gpu_reservation::rules::GpuReservation;
use host_issue_debt::rules::IssueDebt;
use proptest::prelude::*;
use proptest::sample::Index;

use super::folding::{Ledger, state};
use super::journal::{Message, export, journal};

fn cut_anywhere(kind: &dyn Kind, messages: &[Message], cap: usize) {
    let ledger = Ledger::new(kind, cap);
    let whole = state(&ledger.snapshot(None, &export("full", messages)));
    for cut in 0..=messages.len() {
        let first = ledger.snapshot(None, &export("full", &messages[..cut]));
        let second = ledger.snapshot(Some(&first), &export("incremental", &messages[cut..]));
        assert_eq!(state(&second), whole, "cut at {cut}, cap {cap}");
    }
}

fn order_and_copies(kind: &dyn Kind, messages: &[Message], shuffled: &[Message], cap: usize) {
    let ledger = Ledger::new(kind, cap);
    let whole = state(&ledger.snapshot(None, &export("full", messages)));
    assert_eq!(state(&ledger.snapshot(None, &export("full", shuffled))), whole, "another order");
    let snapshot = ledger.snapshot(None, &export("full", messages));
    let again = ledger.snapshot(Some(&snapshot), &export("incremental", messages));
    assert_eq!(state(&again), whole, "the whole journal again");
    let third = ledger.snapshot(Some(&again), &export("incremental", shuffled));
    assert_eq!(state(&third), whole, "and again in another order");
}

/// The same messages in another order, some of them twice.
fn shuffled(messages: &[Message], order: &[Index]) -> Vec<Message> {
    let mut rest = messages.to_vec();
    let mut out = Vec::new();
    for index in order {
        if rest.is_empty() {
            break;
        }
        out.push(rest.remove(index.index(rest.len())));
    }
    out.extend(rest);
    let copies: Vec<Message> = order.iter().take(3).map(|index| index.get(&out).clone()).collect();
    out.extend(copies);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    // apache/kafka#12356, automerge/automerge-classic#258 (public case 32).
    #[test]
    fn a_journal_may_be_cut_anywhere_issue_debt(messages in journal("issue-debt"), cap in 1..=25_usize) {
        cut_anywhere(&Linked::<IssueDebt>::new(), &messages, cap);
    }

    #[test]
    fn a_journal_may_be_cut_anywhere_gpu_reservation(messages in journal("gpu-reservation"), cap in 1..=25_usize) {
        cut_anywhere(&Linked::<GpuReservation>::new(), &messages, cap);
    }

    #[test]
    fn order_and_copies_do_not_matter(
        messages in journal("issue-debt"), order in prop::collection::vec(any::<Index>(), 16), cap in 1..=25_usize,
    ) {
        order_and_copies(&Linked::<IssueDebt>::new(), &messages, &shuffled(&messages, &order), cap);
    }

    #[test]
    fn equal_inputs_give_equal_bytes(messages in journal("issue-debt"), cap in 1..=25_usize) {
        let kind = Linked::<IssueDebt>::new();
        let ledger = Ledger::new(&kind, cap);
        let export = export("full", &messages);
        prop_assert_eq!(ledger.snapshot(None, &export), ledger.snapshot(None, &export));
    }

    // N1: whatever one message holds, the rows of the others stay as they are.
    #[test]
    fn one_hostile_message_is_at_worst_a_rejection(
        messages in journal("issue-debt"), at in any::<Index>(), text in any::<String>(), bytes in "(\\[OBS\\] )?\\PC{0,40}",
    ) {
        let kind = Linked::<IssueDebt>::new();
        let ledger = Ledger::new(&kind, 25);
        let sound = state(&ledger.snapshot(None, &export("full", &messages)));
        for content in [text, bytes.clone(), format!("[OBS] {bytes}"), format!("{{\"entity\":{bytes}}}")] {
            let mut hostile = messages.clone();
            let message = serde_json::json!({ "id": content.clone(), "author": { "name": content.clone() }, "content": content });
            hostile.insert(at.index(messages.len() + 1), message);
            prop_assert_eq!(state(&ledger.snapshot(None, &export("full", &hostile))), sound.clone());
        }
    }
}

#[test]
fn raw_text_that_json_allows_but_no_envelope_holds_is_a_rejection_of_its_message_alone() {
    let kind = Linked::<IssueDebt>::new();
    let ledger = Ledger::new(&kind, 25);
    let good = r#"{"id":"g","author":"a","timestamp":"2026-09-20T00:00:00Z","content":{"observed_at":"2026-09-01T00:00:00Z","evidence":"e","entity":{"repo":"o/r","issue":1},"fields":{"eat_hours":1}}}"#;
    let digits = "9".repeat(5000);
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    for (bad, reason) in [
        (r#"{"content":"\ud800"}"#.to_owned(), "unparsable_envelope"),
        (r#"{"id":"\udc00","content":"[OBS] {}"}"#.to_owned(), "unparsable_envelope"),
        (r#"{"\ud800":1,"content":"[OBS] {}"}"#.to_owned(), "unparsable_envelope"),
        (format!(r#"{{"content":{{"note":{digits}}}}}"#), "invalid_field_value"),
        (format!(r#"{{"content":"[OBS] {{\"note\":{digits}}}"}}"#), "invalid_field_value"),
        (format!(r#"{{"content":{{"note":{deep}}}}}"#), "unparsable_envelope"),
        (r#"{"content":{"fields":{"eat_hours":1e400}}}"#.to_owned(), "unparsable_envelope"),
        (r#"{"content":{"a":1,"a":2}}"#.to_owned(), "duplicate_key"),
        (r#"{"id":1,"id":2,"content":"prose"}"#.to_owned(), "duplicate_key"),
        (r#"{"author":{"name":"a","name":"b"},"content":"prose"}"#.to_owned(), "duplicate_key"),
        (r#"{"id":{"a":1,"a":2},"content":"prose"}"#.to_owned(), "duplicate_key"),
        ("7".to_owned(), "invalid_record"),
        ("{}".to_owned(), "unparsable_envelope"),
    ] {
        let export = format!(r#"{{"window":{{"kind":"full"}},"messages":[{bad},{good}]}}"#);
        let folded = ledger.fold(None, &export, None).expect("a fold");
        let reasons: Vec<&str> = folded.rejections.iter().map(|rejection| rejection.reason.as_str()).collect();
        assert_eq!(reasons, [reason], "{}", &bad[..bad.len().min(60)]);
        assert_eq!(folded.rows.rows.len(), 1);
    }
}
