//! Observations that must be accepted or refused: documentation, and input for conformance tests.

use plugin_api::{Example, RefusedExample};

const SENDER: &str = r#""actor":"po-1:tool","observed_at":"2026-09-17T19:00:00Z""#;
const DEVICE: &str = r#"{"machine":"po-1","gpu_index":0}"#;
const RELEASED: &str = r#"{"state":"released"}"#;

/// Each shows something else that is accepted; together they hold every field and every state.
pub(super) fn accepted() -> Vec<Example> {
    let all_fields = concat!(
        r#"{"state":"held","holder":"po-1:tool","workload":"PPO walk-forward","#,
        r##""started_at":"2026-09-17T18:00:00Z","expected_end":"2026-09-17T22:00:00Z","issue":"acme/tool#7"}"##
    );
    let of_fields = [
        ("a hold with everything that is known of it", all_fields),
        ("a release; the row becomes historical", RELEASED),
        ("a hold whose holder gives no sign of life", r#"{"state":"stale"}"#),
        ("one field is enough", r#"{"workload":"evaluation of run 12"}"#),
        ("a holder without a workspace", r#"{"holder":" po-1 "}"#),
        ("a time in another spelling of UTC", r#"{"expected_end":"2026-09-17 22:00:00.5+0000"}"#),
        ("white space in a workload is collapsed", r#"{"workload":" PPO\n walk "}"#),
    ];
    let mut examples: Vec<_> = of_fields.map(|(title, fields)| example(title, DEVICE, fields)).into();
    examples.push(example("blanks around a machine", r#"{"gpu_index":7,"machine":" po.1_a-b "}"#, RELEASED));
    examples
}

/// Each is refused for one fault only; together they hold every field, type and entity key.
pub(super) fn refused() -> Vec<RefusedExample> {
    let values = VALUES.map(|(title, fields, reason)| refusal(example(title, DEVICE, fields), reason));
    let entities = ENTITIES.map(|(title, entity)| refusal(example(title, entity, RELEASED), "entity_mismatch"));
    [Vec::from(values), entities.into()].concat()
}

const VALUES: [(&str, &str, &str); 19] = [
    ("no field at all", "{}", "invalid_record"),
    ("a field of another ledger", r#"{"eat_hours":4}"#, "unknown_field"),
    ("a state in another case", r#"{"state":"Held"}"#, "invalid_field_value"),
    ("a state with blanks around it", r#"{"state":" held "}"#, "invalid_field_value"),
    ("a state of null", r#"{"state":null}"#, "invalid_field_value"),
    ("a holder of two words", r#"{"holder":"two words"}"#, "invalid_field_value"),
    ("a holder of three parts", r#"{"holder":"po-1:tool:x"}"#, "invalid_field_value"),
    ("a holder with an empty workspace", r#"{"holder":"po-1:"}"#, "invalid_field_value"),
    ("a blank workload", r#"{"workload":" \t"}"#, "invalid_field_value"),
    ("a workload as a number", r#"{"workload":12}"#, "invalid_field_value"),
    ("a start without an offset", r#"{"started_at":"2026-09-17T18:00:00"}"#, "naive_timestamp"),
    ("a start in another zone", r#"{"started_at":"2026-09-17T18:00:00+02:00"}"#, "non_utc_timestamp"),
    ("a start that is no time", r#"{"started_at":"tomorrow"}"#, "invalid_timestamp"),
    ("an end on a day that does not exist", r#"{"expected_end":"2026-02-30T18:00:00Z"}"#, "invalid_timestamp"),
    ("an end in seconds since 1970", r#"{"expected_end":1789668000}"#, "invalid_timestamp"),
    ("an end of null", r#"{"expected_end":null}"#, "invalid_timestamp"),
    ("an issue without a repository", r##"{"issue":"#7"}"##, "invalid_field_value"),
    ("an issue as a number", r#"{"issue":7}"#, "invalid_field_value"),
    ("an issue in digits of another script", r##"{"issue":"acme/tool#٧"}"##, "invalid_field_value"),
];

const ENTITIES: [(&str, &str); 6] = [
    ("an entity without a device", r#"{"machine":"po-1"}"#),
    ("an entity with another key", r#"{"machine":"po-1","gpu_index":0,"issue":7}"#),
    ("a machine of two words", r#"{"machine":"po 1","gpu_index":0}"#),
    ("a machine with its workspace", r#"{"machine":"po-1:tool","gpu_index":0}"#),
    ("a device below 0", r#"{"machine":"po-1","gpu_index":-1}"#),
    ("a device as text", r#"{"machine":"po-1","gpu_index":"0"}"#),
];

fn example(title: &str, entity: &str, fields: &str) -> Example {
    let observation = format!(r#"{{{SENDER},"evidence":"nvidia-smi on po-1","entity":{entity},"fields":{fields}}}"#);
    Example { title: title.to_owned(), observation }
}

fn refusal(example: Example, reason: &str) -> RefusedExample {
    RefusedExample { title: example.title, observation: example.observation, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plugin_api::json::read;
    use plugin_api::{LedgerKind, Value};

    use super::*;
    use crate::rules::GpuReservation;

    /// Names of all fields in `observations`, each of which must be one JSON object without repeated keys.
    #[track_caller]
    fn fields_of(observations: impl Iterator<Item = String>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for observation in observations {
            let document = read(&observation).expect("an example is JSON");
            assert_eq!(document.duplicate, None, "{observation}");
            let fields = document.value.get("fields").and_then(Value::as_object).expect("an example has fields");
            names.extend(fields.iter().map(|(name, _)| name.to_string()));
        }
        names
    }

    #[test]
    fn every_field_stands_in_an_accepted_and_in_a_refused_example() {
        let declared: BTreeSet<String> =
            GpuReservation.declaration().fields.into_iter().map(|field| field.name).collect();
        assert_eq!(fields_of(accepted().into_iter().map(|example| example.observation)), declared);
        assert!(fields_of(refused().into_iter().map(|example| example.observation)).is_superset(&declared));
    }

    #[test]
    fn no_title_stands_twice() {
        let titles = accepted().into_iter().map(|example| example.title);
        let titles: Vec<String> = titles.chain(refused().into_iter().map(|example| example.title)).collect();
        assert_eq!(titles.iter().collect::<BTreeSet<_>>().len(), titles.len());
    }
}
