//! The replay law through the command line: however a journal is cut, the state is the same (DECISIONS 6.4, N11).
//! automerge/automerge-classic#258 and apache/kafka#12356 are what happens without it.

use host_tests::{Export, Message, Observation, World};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Twelve messages about three issues: late ones, equal times, a closed row that opens again.
fn journal() -> Vec<Message> {
    let seen = |number: u64, field: &str, value: Value, time: &str| {
        Message::from(Observation::issue(number).field(field, value).at(&format!("2026-09-{time}")))
    };
    let messages = [
        seen(1, "eat_hours", json!(4), "17T19:00:00Z"),
        seen(2, "state_class", json!("closed"), "17T19:00:00Z"),
        seen(1, "eat_hours", json!(5), "17T18:00:00Z"),
        seen(1, "state_class", json!("open-blocked"), "17T19:30:00.5Z"),
        seen(3, "dependencies", json!([1, {"kind": "external", "note": "x"}]), "17T19:00:00Z"),
        seen(2, "state_class", json!("unknown"), "17T20:00:00Z"),
        seen(1, "eat_hours", json!(6), "17T19:00:00Z"),
        seen(3, "followup", json!({"kind": "waiver", "reason": "r"}), "18T19:00:00Z"),
        seen(1, "eat_hours", json!(4), "17T19:00:00Z"),
        seen(3, "eat_hours", json!(0.0625), "16T19:00:00Z"),
        seen(2, "state_class", json!("closed"), "17T20:00:00.000001Z"),
        seen(3, "followup", Value::Null, "18T19:00:00.1Z"),
    ];
    messages.into_iter().enumerate().map(|(index, message)| message.id(&format!("m{index}"))).collect()
}

/// The state in the sense of DECISIONS 6.4.
fn state(world: &World) -> Value {
    let snapshot = world.debt().snapshot();
    let rows: Vec<_> = snapshot["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let history = row["history"].as_object().unwrap().iter();
            let values: Vec<_> = history
                .map(|(field, entries)| {
                    let entries = entries.as_array().unwrap().iter();
                    json!([
                        field,
                        entries.map(|entry| json!([entry["observation_id"], entry["value"]])).collect::<Vec<_>>()
                    ])
                })
                .collect();
            json!([
                row["key"],
                row["fields"],
                row["historical"],
                row["missing_fields"],
                row["last_observed_at"],
                row["stale"],
                values
            ])
        })
        .collect();
    json!([snapshot["checkpoint"]["state_digest"], rows])
}

/// The state after folding these parts one after the other, with a history of `cap` entries.
fn folded(parts: &[Vec<Message>], cap: u64) -> Value {
    let world = World::new();
    world.write("state/config.json", json!({"history_max_entries_per_field": cap}).to_string());
    for (index, part) in parts.iter().enumerate() {
        let export = if index == 0 { Export::full() } else { Export::tail() };
        world.debt().fold(&export.with_all(part.iter().cloned())).succeeds();
    }
    state(&world)
}

#[test]
fn a_journal_cut_anywhere_gives_the_same_state() {
    let journal = journal();
    for cap in [1, 2, 25] {
        let whole = folded(std::slice::from_ref(&journal), cap);
        for cut in 0..=journal.len() {
            let parts = [journal[..cut].to_vec(), journal[cut..].to_vec()];
            assert_eq!(folded(&parts, cap), whole, "cap {cap}, cut after {cut}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_with_any_copies_in_three_parts_gives_the_same_state(
        order in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(),
        copies in proptest::collection::vec(0_usize..12, 0..4),
        cuts in (0_usize..=12, 0_usize..=12),
        cap in 1_u64..=25,
    ) {
        let journal = journal();
        let shuffled: Vec<_> = order.iter().chain(&copies).map(|index| journal[*index].clone()).collect();
        let (first, second) = (cuts.0.min(cuts.1), cuts.0.max(cuts.1));
        let parts = [shuffled[..first].to_vec(), shuffled[first..second].to_vec(), shuffled[second..].to_vec()];
        prop_assert_eq!(folded(&parts, cap), folded(&[journal], cap));
    }
}
