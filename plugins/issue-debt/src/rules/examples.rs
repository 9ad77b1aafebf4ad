//! Observations that must be accepted or refused: documentation, and input for conformance tests.

use plugin_api::{Example, RefusedExample};

use super::declaration::ENTITY_IS_PR;

const SENDER: &str = r#""actor":"po-1:tool","observed_at":"2026-09-17T19:00:00Z""#;
const ENTITY: &str = r#"{"repo":"acme/tool","issue":7}"#;
const EVIDENCE: &str = "gh issue view 7 --repo acme/tool";
const VALUE: &str = "invalid_field_value";

/// Each shows something else that is accepted; together they hold every field and every custom kind.
pub(super) fn accepted() -> Vec<Example> {
    let all_fields = concat!(
        r#"{"state_class":"open-blocked","closeability":"closeable-after-followup","#,
        r#""remaining_atomic_prs":2,"eat_hours":4.5,"#,
        r#""dependencies":[3,{"kind":"pr","repo":"acme/site","number":12,"note":"the new form"},"#,
        r#"{"kind":"external","note":"the vendor's answer"}],"#,
        r#""followup":{"kind":"issue","repo":"acme/tool","number":8}}"#
    );
    let of_fields = [
        ("every field at once", all_fields),
        ("one field is enough", r#"{"state_class":"open-actionable"}"#),
        ("zero hours and pull requests remain", r#"{"remaining_atomic_prs":0,"eat_hours":0}"#),
        ("hours are kept to three decimals", r#"{"eat_hours":0.0625}"#),
        ("no dependencies", r#"{"dependencies":[]}"#),
        ("a dependency on an issue of the same repository by its number", r#"{"dependencies":[3]}"#),
        ("an external dependency drops its number", r#"{"dependencies":[{"kind":"external","number":9}]}"#),
        ("the remainder is waived", r#"{"followup":{"kind":"waiver","reason":"not worth the hours"}}"#),
        ("there is no follow-up", r#"{"followup":{"kind":"none"}}"#),
        ("null is a follow-up of none", r#"{"followup":null}"#),
        ("the row becomes historical", r#"{"state_class":"closed","closeability":"closeable-now"}"#),
    ];
    let mut examples: Vec<_> = of_fields.map(|(title, fields)| example(title, ENTITY, EVIDENCE, fields)).into();
    let fields = r#"{"closeability":"not-closeable"}"#;
    examples.push(example(
        "a pull request of another repository is fine as evidence",
        ENTITY,
        "https://github.com/acme/site/pull/7 names the issue",
        fields,
    ));
    examples.push(example(
        "another pull request of the same repository is fine as evidence",
        ENTITY,
        "https://github.com/acme/tool/pull/70 names the issue",
        fields,
    ));
    examples.push(example(
        "a repository with blanks around it",
        r#"{"issue":7,"repo":" é-org/r.x "}"#,
        EVIDENCE,
        fields,
    ));
    examples
}

/// Each is refused for one fault only; together they hold every field, type and entity key.
pub(super) fn refused() -> Vec<RefusedExample> {
    let values = VALUES.map(|(title, fields)| refusal(example(title, ENTITY, EVIDENCE, fields), VALUE));
    let entities = ENTITIES.map(|(title, entity)| {
        refusal(example(title, entity, EVIDENCE, r#"{"state_class":"deferred"}"#), "entity_mismatch")
    });
    let links = PULL_REQUESTS.map(|(title, evidence)| {
        refusal(example(title, ENTITY, evidence, r#"{"state_class":"deferred"}"#), ENTITY_IS_PR)
    });
    let shapes = [
        refusal(example("no field at all", ENTITY, EVIDENCE, "{}"), "invalid_record"),
        refusal(example("a field of another ledger", ENTITY, EVIDENCE, r#"{"holder":"m:w"}"#), "unknown_field"),
    ];
    [values.into(), entities.into(), links.into(), Vec::from(shapes)].concat()
}

const VALUES: [(&str, &str); 29] = [
    ("a state class in another case", r#"{"state_class":"Closed"}"#),
    ("a state class with blanks around it", r#"{"state_class":" closed "}"#),
    ("a closeability that is not in the list", r#"{"closeability":"soon"}"#),
    ("a closeability of null", r#"{"closeability":null}"#),
    ("fewer than no pull requests", r#"{"remaining_atomic_prs":-1}"#),
    ("pull requests as a float", r#"{"remaining_atomic_prs":1.0}"#),
    ("pull requests as text", r#"{"remaining_atomic_prs":"1"}"#),
    ("pull requests beyond 64 bits", r#"{"remaining_atomic_prs":9223372036854775808}"#),
    ("fewer than no hours", r#"{"eat_hours":-0.5}"#),
    ("hours as text", r#"{"eat_hours":"4h"}"#),
    ("hours as a bool", r#"{"eat_hours":true}"#),
    ("dependencies that are no list", r#"{"dependencies":3}"#),
    ("a dependency on issue 0", r#"{"dependencies":[0]}"#),
    ("a dependency as text", r##"{"dependencies":["#3"]}"##),
    ("a dependency with an unknown key", r#"{"dependencies":[{"number":3,"by":"2026-10-01"}]}"#),
    ("a dependency of an unknown kind", r#"{"dependencies":[{"kind":"person","number":3}]}"#),
    ("a dependency in no valid repository", r#"{"dependencies":[{"repo":"tool","number":3}]}"#),
    ("a dependency without a number", r#"{"dependencies":[{"kind":"pr"}]}"#),
    ("a dependency with a blank note", r#"{"dependencies":[{"number":3,"note":" "}]}"#),
    ("an external dependency with repo null", r#"{"dependencies":[{"kind":"external","repo":null}]}"#),
    ("the second dependency is wrong", r#"{"dependencies":[3,{"number":"4"}]}"#),
    ("a follow-up as text", r#"{"followup":"none"}"#),
    ("a follow-up with an unknown key", r#"{"followup":{"kind":"none","note":"x"}}"#),
    ("a follow-up of kind null", r#"{"followup":{"kind":null}}"#),
    ("a follow-up of an unknown kind", r#"{"followup":{"kind":"pr","repo":"acme/tool","number":8}}"#),
    ("a follow-up issue without a repository", r#"{"followup":{"kind":"issue","number":8}}"#),
    ("a follow-up issue without a number", r#"{"followup":{"kind":"issue","repo":"acme/tool"}}"#),
    ("a waiver without a reason", r#"{"followup":{"kind":"waiver"}}"#),
    ("a waiver with a blank reason", r#"{"followup":{"kind":"waiver","reason":"\t"}}"#),
];

const ENTITIES: [(&str, &str); 7] = [
    ("an entity without an issue", r#"{"repo":"acme/tool"}"#),
    ("an entity with another key", r#"{"repo":"acme/tool","issue":7,"gpu_index":0}"#),
    ("a repository without an owner", r#"{"repo":"tool","issue":7}"#),
    ("a repository of three parts", r#"{"repo":"github.com/acme/tool","issue":7}"#),
    ("issue 0", r#"{"repo":"acme/tool","issue":0}"#),
    ("an issue as text", r#"{"repo":"acme/tool","issue":"7"}"#),
    ("an issue as a float", r#"{"repo":"acme/tool","issue":7.0}"#),
];

const PULL_REQUESTS: [(&str, &str); 3] = [
    ("the evidence is the pull request itself", "https://github.com/acme/tool/pull/7"),
    ("the repository in another case", "see github.com/Acme/Tool/pull/7/files"),
    ("a link without a repository", "gh api /pull/7"),
];

fn example(title: &str, entity: &str, evidence: &str, fields: &str) -> Example {
    let observation = format!(r#"{{{SENDER},"evidence":"{evidence}","entity":{entity},"fields":{fields}}}"#);
    Example { title: title.to_owned(), observation }
}

fn refusal(example: Example, reason: &str) -> RefusedExample {
    RefusedExample { title: example.title, observation: example.observation, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plugin_api::json::read;
    use plugin_api::{Entity, LedgerKind, ObservationView, Refusal, Value};

    use super::*;
    use crate::rules::IssueDebt;

    /// The kind's own judgement: the extra check, then the custom values in document order.
    fn judge(observation: &Value<'_>) -> Result<(), Refusal> {
        let part = |key| observation.get(key).expect("an observation has entity, evidence and fields");
        let issue = part("entity").get("issue").and_then(Value::as_integer).unwrap_or(0).to_string();
        let repo = part("entity").get("repo").and_then(Value::as_text).unwrap_or_default().trim();
        let entity = Entity { keys: vec![("repo", repo), ("issue", &issue)] };
        let evidence = part("evidence").as_text().expect("evidence is text");
        let (actor, observed_at) = ("po-1:tool", "2026-09-17T19:00:00Z");
        IssueDebt.check(&ObservationView { entity: entity.clone(), actor, evidence, observed_at })?;
        let fields = part("fields").as_object().expect("fields are an object");
        let mut custom = fields.iter().filter(|(name, _)| name == "dependencies" || name == "followup");
        custom.try_for_each(|(name, value)| IssueDebt.normalise(name, value, &entity).map(drop))
    }

    fn fields_of(observations: impl Iterator<Item = String>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for observation in observations {
            let document = read(&observation).expect("an example is JSON");
            let fields = document.value.get("fields").and_then(Value::as_object).expect("an example has fields");
            names.extend(fields.iter().map(|(name, _)| name.to_string()));
        }
        names
    }

    #[test]
    fn accepted_examples_pass_the_kinds_own_checks() {
        for example in accepted() {
            let document = read(&example.observation).expect(&example.title);
            assert_eq!(judge(&document.value), Ok(()), "{}", example.title);
        }
    }

    #[test]
    fn refused_examples_fail_the_kinds_own_checks_for_their_reason() {
        for example in refused() {
            let document = read(&example.observation).expect(&example.title);
            let fields = document.value.get("fields").expect("an example has fields");
            let custom = fields.get("dependencies").or(fields.get("followup")).is_some();
            let ours = custom || example.reason == "entity_is_pr";
            let expected = if ours { Err(example.reason) } else { Ok(()) };
            assert_eq!(judge(&document.value).map_err(|refusal| refusal.code), expected, "{}", example.title);
        }
    }

    #[test]
    fn every_field_stands_in_an_accepted_and_in_a_refused_example() {
        let declared: BTreeSet<String> = IssueDebt.declaration().fields.into_iter().map(|field| field.name).collect();
        assert!(fields_of(accepted().into_iter().map(|example| example.observation)).is_superset(&declared));
        assert!(fields_of(refused().into_iter().map(|example| example.observation)).is_superset(&declared));
    }

    #[test]
    fn every_own_reason_has_a_refused_example_and_no_title_stands_twice() {
        for reason in IssueDebt.declaration().reasons {
            assert!(refused().iter().any(|example| example.reason == reason.code), "{}", reason.code);
        }
        let titles = accepted().into_iter().map(|example| example.title);
        let titles: Vec<String> = titles.chain(refused().into_iter().map(|example| example.title)).collect();
        assert_eq!(titles.iter().collect::<BTreeSet<_>>().len(), titles.len());
    }
}
