//! Two plugins linked into one binary, called through the module that a loader would get.

#![expect(clippy::expect_used, reason = "a test fails by it")]

use plugin_api::export::module;
use plugin_api::ffi::{
    FfiBatch, FfiCounts, FfiCustom, FfiError, FfiField, FfiLedger, FfiObservation, FfiRow, KindBox, PluginModule_Ref,
    sort,
};
use plugin_api::{KindDeclaration, cross};

const COUNTS: FfiCounts = FfiCounts { total: 1, live: 1, historical: 0, incomplete: 0, stale: 0 };

fn shelf() -> PluginModule_Ref {
    module::<test_plugin_shelf::HostPlugin>()
}

fn open(module: PluginModule_Ref, name: &str) -> Result<KindBox, FfiError> {
    (module.open_kind())(name.into()).into_result()
}

fn declarations(module: PluginModule_Ref) -> Vec<KindDeclaration> {
    let text = (module.declarations())().into_result().expect("declarations");
    serde_json::from_str(&text).expect("JSON")
}

#[track_caller]
fn judge(observation: u32, field: u32, value: &str, expected: Result<&str, &str>) {
    let entity = ["m".into(), "3".into()];
    let observations = [FfiObservation {
        entity: entity.as_slice().into(),
        actor: "me".into(),
        evidence: "seen".into(),
        observed_at: "2026-09-17T19:00:00Z".into(),
    }];
    let customs = [FfiCustom { observation, field, value: value.into() }];
    let kind = open(shelf(), "shelf").expect("opens");
    let batch = FfiBatch { observations: observations.as_slice().into(), customs: customs.as_slice().into() };
    let answer = kind.judge(batch).into_result();
    let verdict = answer.map_err(|error| error.message.to_string()).and_then(|judged| {
        let verdicts: Vec<Result<String, plugin_api::Refusal>> = judged.customs.into_iter().map(Into::into).collect();
        assert_eq!(verdicts.len(), 1);
        verdicts
            .into_iter()
            .next()
            .expect("a verdict")
            .map_err(|refusal| format!("{}: {}", refusal.code, refusal.detail))
    });
    assert_eq!(verdict.as_deref().map_err(String::as_str), expected);
}

#[track_caller]
fn row_is_refused(field: FfiField<'_>, entity_values: usize, message: &str) {
    let (entity, fields) = (vec!["m".into(); entity_values], [field]);
    let rows = [FfiRow {
        key: "m#slot3".into(),
        entity: entity.as_slice().into(),
        historical: false,
        stale: false,
        last_observed_at: "2026-09-17T19:00:00Z".into(),
        fields: fields.as_slice().into(),
    }];
    let ledger = FfiLedger { rows: rows.as_slice().into(), counts: COUNTS };
    let error = open(shelf(), "shelf").expect("opens").summary(ledger).into_result().expect_err("senseless row");
    assert_eq!((error.code.as_str(), error.message.as_str()), ("invalid_call", message));
}

#[test]
fn two_plugins_of_one_interface_are_linked_and_stay_apart() {
    let names = |module| declarations(module).into_iter().map(|declared| declared.name).collect::<Vec<_>>();
    assert_eq!(names(shelf()), ["shelf"]);
    assert_eq!(names(module::<test_plugin_garden::HostPlugin>()), ["garden", "pond"]);
    assert_eq!(open(shelf(), "pond").map(drop).expect_err("not its kind").code.as_str(), "unknown_kind");
}

#[test]
fn a_custom_value_is_normalised() {
    judge(0, 6, r#"["b", "a", "b"]"#, Ok(r#"["a","b"]"#));
}

#[test]
fn a_custom_value_is_refused_with_what_the_entity_says() {
    judge(0, 6, "1", Err("invalid_field_value: parts of slot 3 is an integer"));
}

#[test]
fn an_observation_that_is_not_there_is_the_callers_fault() {
    judge(1, 6, "[]", Err("index 1 is out of range"));
}

#[test]
fn a_field_that_is_not_there_is_the_callers_fault() {
    judge(0, 7, "[]", Err("index 7 is out of range"));
}

#[test]
fn a_value_that_is_not_json_is_the_callers_fault() {
    judge(0, 6, "[", Err("the value of parts is not JSON: EOF while parsing a list at line 1 column 1"));
}

#[test]
fn a_row_with_a_field_that_is_not_declared_is_the_callers_fault() {
    let field = FfiField { field: 7, sort: sort::NULL, bits: 0, text: "".into() };
    row_is_refused(field, 2, "row m#slot3 has a field that is not declared");
}

#[test]
fn a_value_of_a_sort_of_a_later_major_is_the_callers_fault() {
    let field = FfiField { field: 1, sort: 7, bits: 0, text: "".into() };
    row_is_refused(field, 2, "row m#slot3 has a value of sort 7");
}

#[test]
fn a_row_whose_value_is_not_json_is_the_callers_fault() {
    let field = FfiField { field: 1, sort: sort::JSON, bits: 0, text: "{".into() };
    row_is_refused(field, 2, "row m#slot3 has no JSON: EOF while parsing an object at line 1 column 1");
}

#[test]
fn an_entity_of_another_length_is_the_callers_fault() {
    let field = FfiField { field: 1, sort: sort::NULL, bits: 0, text: "".into() };
    row_is_refused(field, 1, "an entity has 1 values, the kind declares 2 keys");
}

#[test]
fn a_row_with_fields_out_of_declared_order_is_not_lent() {
    let declaration = declarations(shelf()).remove(0);
    let row = plugin_api::Row {
        key: "m#slot3",
        entity: plugin_api::Entity { keys: vec![("machine", "m"), ("slot", "3")] },
        historical: false,
        stale: false,
        last_observed_at: "2026-09-17T19:00:00Z",
        fields: vec![("note", "a".into()), ("state", "full".into())],
    };
    let failure = cross::lend(&[row], &declaration, |_| ()).expect_err("out of order");
    assert_eq!(failure.message, "row m#slot3 has the field state, which is not declared or out of order");
}
