use plugin_api::json::{Layout, read, text};
use proptest::prelude::*;

use super::*;
use crate::rules::testing::any_value;

type Normalise = fn(&Value<'_>) -> Result<Value<'static>, Refusal>;

fn of_acme(value: &Value<'_>) -> Result<Value<'static>, Refusal> {
    dependencies(value, "acme/tool")
}

/// `expected` is the stored JSON, or the text of an `invalid_field_value`.
#[track_caller]
fn normalised(normalise: Normalise, json: &str, expected: Result<&str, &str>) {
    let got = normalise(&read(json).expect(json).value);
    let got = got.map(|value| text(&value, Layout::Compact)).map_err(|refusal| {
        assert_eq!(refusal.code, "invalid_field_value");
        refusal.detail
    });
    assert_eq!(got.as_deref().map_err(String::as_str), expected, "{json}");
}

/// One item of a list of dependencies.
#[track_caller]
fn item(json: &str, expected: Result<&str, &str>) {
    let (stored, refused);
    let expected = match expected {
        Ok(json) => {
            stored = format!("[{json}]");
            Ok(stored.as_str())
        }
        Err(detail) => {
            refused = format!("dependencies[0]: {detail}");
            Err(refused.as_str())
        }
    };
    normalised(of_acme, &format!("[{json}]"), expected);
}

#[track_caller]
fn follow(json: &str, expected: Result<&str, &str>) {
    normalised(followup, json, expected);
}

#[test]
fn an_integer_is_an_issue_of_the_entitys_repository() {
    item("7", Ok(r#"{"kind":"issue","repo":"acme/tool","number":7,"note":null}"#));
    item("9223372036854775807", Ok(r#"{"kind":"issue","repo":"acme/tool","number":9223372036854775807,"note":null}"#));
}

#[test]
fn an_integer_below_1_or_beyond_64_bits_is_refused() {
    item("0", Err("number is 0; it takes an integer above 0 that fits 64 bits"));
    item("-0", Err("number is 0; it takes an integer above 0 that fits 64 bits"));
    item("-7", Err("number is -7; it takes an integer above 0 that fits 64 bits"));
    item("9223372036854775808", Err("number is 9223372036854775808; it takes an integer above 0 that fits 64 bits"));
}

#[test]
fn an_item_of_another_type_is_refused() {
    for (json, shown) in [("true", "true"), ("null", "null"), ("7.0", "7.0"), (r#""7""#, r#""7""#), ("[7]", "a list")] {
        item(json, Err(&format!("{shown} is not an issue number or an object")));
    }
}

#[test]
fn an_object_is_stored_with_all_four_keys_in_one_order() {
    item(
        r#"{"note":" a\u00a0 b ","number":4,"repo":" x/y ","kind":"pr"}"#,
        Ok(r#"{"kind":"pr","repo":"x/y","number":4,"note":"a b"}"#),
    );
    item(r#"{"number":4}"#, Ok(r#"{"kind":"issue","repo":"acme/tool","number":4,"note":null}"#));
    item(r#"{"number":4,"note":null}"#, Ok(r#"{"kind":"issue","repo":"acme/tool","number":4,"note":null}"#));
}

#[test]
fn an_external_dependency_has_no_number_whatever_was_given() {
    for number in ["", r#","number":9"#, r#","number":"nine""#, r#","number":-1"#, r#","number":[]"#] {
        item(
            &format!(r#"{{"kind":"external"{number}}}"#),
            Ok(r#"{"kind":"external","repo":"acme/tool","number":null,"note":null}"#),
        );
    }
}

#[test]
fn an_external_dependency_still_needs_a_valid_repository_and_note() {
    item(r#"{"kind":"external","repo":"x"}"#, Err(r#"repo is "x"; it takes a repository, owner/name"#));
    item(r#"{"kind":"external","note":" "}"#, Err(r#"note is " "; it takes text that is not blank"#));
}

#[test]
fn the_parts_of_a_dependency_are_checked_in_one_order() {
    let unknown = "unknown key \"by\"; the keys are kind, repo, number, note";
    item(r#"{"note":"","number":0,"repo":null,"kind":"x","by":1}"#, Err(unknown));
    item(r#"{"note":"","number":0,"repo":null,"kind":"x"}"#, Err("kind is \"x\"; it takes issue, pr or external"));
    item(r#"{"note":"","number":0,"repo":null}"#, Err("repo is null; it takes a repository, owner/name"));
    item(r#"{"note":"","number":0}"#, Err("number is 0; it takes an integer above 0 that fits 64 bits"));
    item(r#"{"note":"","number":1}"#, Err("note is \"\"; it takes text that is not blank"));
}

#[test]
fn a_kind_is_one_exact_word() {
    for kind in ["null", r#""Issue""#, r#"" issue""#, r#""""#, "1", r#""waiver""#] {
        item(
            &format!(r#"{{"kind":{kind},"number":1}}"#),
            Err(&format!("kind is {kind}; it takes issue, pr or external")),
        );
    }
}

#[test]
fn a_number_of_an_issue_or_pull_request_is_required_and_an_integer() {
    item("{}", Err("number is missing; it takes an integer above 0 that fits 64 bits"));
    for number in ["1.0", "true", "null", r#""1""#] {
        let expected = format!("number is {number}; it takes an integer above 0 that fits 64 bits");
        item(&format!(r#"{{"kind":"pr","number":{number}}}"#), Err(&expected));
    }
}

#[test]
fn a_list_keeps_order_and_duplicates_and_may_be_empty() {
    normalised(of_acme, "[]", Ok("[]"));
    let (three, one) = (
        r#"{"kind":"issue","repo":"acme/tool","number":3,"note":null}"#,
        r#"{"kind":"issue","repo":"acme/tool","number":1,"note":null}"#,
    );
    normalised(of_acme, "[3,1,3]", Ok(&format!("[{three},{one},{three}]")));
}

#[test]
fn the_first_bad_item_is_named_by_its_position() {
    normalised(of_acme, "[1,2,true,0]", Err("dependencies[2]: true is not an issue number or an object"));
}

#[test]
fn dependencies_that_are_no_list_are_refused() {
    normalised(of_acme, "null", Err("dependencies: null is not a list"));
    normalised(of_acme, "7", Err("dependencies: 7 is not a list"));
    normalised(of_acme, r#"{"number":7}"#, Err("dependencies: an object is not a list"));
}

#[test]
fn a_followup_may_be_null_or_empty() {
    follow("null", Ok("null"));
    follow("{}", Ok(r#"{"kind":"none"}"#));
}

#[test]
fn a_followup_issue_keeps_repository_and_number_only() {
    follow(
        r#"{"reason":3,"number":8,"repo":" x/y ","kind":"issue"}"#,
        Ok(r#"{"kind":"issue","repo":"x/y","number":8}"#),
    );
}

#[test]
fn a_followup_issue_has_no_default_repository() {
    follow(r#"{"kind":"issue","number":0}"#, Err("followup: repo is missing; it takes a repository, owner/name"));
    follow(
        r#"{"kind":"issue","repo":null,"number":8}"#,
        Err("followup: repo is null; it takes a repository, owner/name"),
    );
    follow(
        r#"{"kind":"issue","repo":"x/y"}"#,
        Err("followup: number is missing; it takes an integer above 0 that fits 64 bits"),
    );
    follow(
        r#"{"kind":"issue","repo":"x/y","number":"8"}"#,
        Err(r#"followup: number is "8"; it takes an integer above 0 that fits 64 bits"#),
    );
}

#[test]
fn a_waiver_keeps_its_reason_and_drops_the_rest_unchecked() {
    follow(
        r#"{"kind":"waiver","repo":3,"number":"x","reason":" no \n budget "}"#,
        Ok(r#"{"kind":"waiver","reason":"no budget"}"#),
    );
}

#[test]
fn a_waiver_needs_a_reason() {
    follow(r#"{"kind":"waiver"}"#, Err("followup: reason is missing; it takes text that is not blank"));
    follow(r#"{"kind":"waiver","reason":null}"#, Err("followup: reason is null; it takes text that is not blank"));
    follow(
        r#"{"kind":"waiver","reason":"\u2003"}"#,
        Err("followup: reason is \"\u{2003}\"; it takes text that is not blank"),
    );
}

#[test]
fn a_followup_of_kind_none_drops_the_rest_unchecked() {
    follow(r#"{"kind":"none","repo":3,"number":"x","reason":""}"#, Ok(r#"{"kind":"none"}"#));
    follow(r#"{"reason":"given without a kind"}"#, Ok(r#"{"kind":"none"}"#));
}

#[test]
fn a_followup_with_another_key_or_kind_is_refused() {
    follow(r#"{"note":"x"}"#, Err("followup: unknown key \"note\"; the keys are kind, repo, number, reason"));
    follow(r#"{"kind":"x","by":1}"#, Err("followup: unknown key \"by\"; the keys are kind, repo, number, reason"));
    follow(r#"{"kind":null}"#, Err("followup: kind is null; it takes issue, waiver or none"));
    follow(r#"{"kind":"external"}"#, Err("followup: kind is \"external\"; it takes issue, waiver or none"));
}

#[test]
fn a_followup_of_another_type_is_refused() {
    for (json, shown) in [("7", "7"), ("false", "false"), (r#""none""#, r#""none""#), ("[]", "a list")] {
        follow(json, Err(&format!("followup: {shown} is not null or an object")));
    }
}

/// Objects near the accepted ones, so that most runs get past the first check.
fn near_object() -> impl Strategy<Value = Value<'static>> {
    let word = prop::sample::select(vec!["issue", "pr", "external", "waiver", "none", "Issue", ""]);
    let line = prop::sample::select(vec![" a \u{1f} b", "o/r", " é/r.x ", "o", "a/b/c", "", "x"]);
    let number = prop_oneof![any::<i64>().prop_map(Value::Integer), (1..9_i64).prop_map(Value::Integer), any_value()];
    let part = |value: BoxedStrategy<Value<'static>>| prop::option::of(value);
    (
        part(word.prop_map(Value::from).boxed()),
        part(line.clone().prop_map(Value::from).boxed()),
        part(number.boxed()),
        part(line.prop_map(Value::from).boxed()),
        prop::sample::select(vec!["note", "reason"]),
    )
        .prop_map(|(kind, repo, number, line, line_key)| {
            let parts = [("kind", kind), ("repo", repo), ("number", number), (line_key, line)];
            Value::object(parts.into_iter().filter_map(|(key, value)| Some((key, value?))))
        })
}

fn near_value() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![4 => near_object(), 1 => (1..9_i64).prop_map(Value::Integer), 1 => any_value()]
}

/// What is stored is accepted again and stored as it is: a checkpoint is read back by the same rules (L 7).
#[track_caller]
fn stored_once_and_for_all(normalise: Normalise, value: &Value<'_>) {
    if let Ok(stored) = normalise(value) {
        assert_eq!(normalise(&stored), Ok(stored));
    }
}

proptest! {
    #[test]
    fn normalising_dependencies_twice_changes_nothing(items in prop::collection::vec(near_value(), 0..4)) {
        stored_once_and_for_all(of_acme, &Value::List(items));
    }

    #[test]
    fn normalising_a_followup_twice_changes_nothing(value in near_value()) {
        stored_once_and_for_all(followup, &value);
    }
}
