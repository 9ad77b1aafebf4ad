//! What an export says of itself (L 5 rules 1 to 3 and 5).

use serde_json::{Value, json};

use super::{full, message, window};

/// Folds an export of one message under `messages` with these keys beside it.
#[track_caller]
fn check(declarations: Value, expected: Result<(), &str>) {
    let mut export = declarations;
    export["messages"] = json!([message()]);
    assert_eq!(window(&export, &[]).map(drop), expected.map_err(str::to_owned), "{export}");
}

fn with_full(mut declarations: Value) -> Value {
    declarations["window"] = json!({"kind": "full"});
    declarations
}

#[test]
fn the_schema_is_absent_null_or_the_known_one() {
    check(with_full(json!({"schema": "debt-ledger-journal-export/v1"})), Ok(()));
    check(with_full(json!({"schema": null})), Ok(()));
    for schema in [json!("debt-ledger-journal-export/v2"), json!(""), json!(1), json!(false), json!([])] {
        check(with_full(json!({"schema": schema})), Err("UNSUPPORTED_EXPORT_SCHEMA"));
    }
}

#[test]
fn the_ledger_is_absent_null_or_the_target() {
    check(with_full(json!({"ledger": "issue-debt"})), Ok(()));
    check(with_full(json!({"ledger": null})), Ok(()));
    for ledger in [json!("gpu-reservation"), json!(""), json!(0)] {
        check(with_full(json!({"ledger": ledger})), Err("EXPORT_LEDGER_MISMATCH"));
    }
}

#[test]
fn schema_and_ledger_are_read_at_the_root_only() {
    check(with_full(json!({"data": {"schema": "v9", "ledger": "other"}})), Ok(()));
}

#[test]
fn the_format_is_json_or_absent_at_the_root_and_in_data() {
    check(with_full(json!({"format": "json"})), Ok(()));
    check(with_full(json!({"format": "", "content_format": null})), Ok(()));
    check(with_full(json!({"format": "json", "data": {"format": "markdown"}})), Ok(()));
    for declaration in [
        json!({"format": "markdown"}),
        json!({"format": "JSON"}),
        json!({"format": 0}),
        json!({"format": false}),
        json!({"format": []}),
        json!({"content_format": "text"}),
        json!({"format": "", "content_format": "text"}),
        json!({"data": {"format": "markdown"}}),
        json!({"data": {"content_format": "markdown"}}),
    ] {
        check(with_full(declaration), Err("UNSUPPORTED_EXPORT_FORMAT"));
    }
}

#[test]
fn a_window_at_the_root_hides_the_one_in_data() {
    check(json!({"data": {"window": {"kind": "full"}}}), Ok(()));
    check(json!({"window": "", "data": {"window": {"kind": "full"}}}), Ok(()));
    check(json!({"window": {}, "data": {"window": {"kind": "full"}}}), Err("MISSING_CHECKPOINT"));
    check(json!({"window": "full", "data": {"window": {"kind": "full"}}}), Err("MISSING_CHECKPOINT"));
    check(json!({"window": {"kind": "full"}, "data": {"window": {"kind": "weekly"}}}), Ok(()));
}

#[test]
fn an_export_that_does_not_say_what_it_covers_is_a_tail() {
    check(json!({}), Err("MISSING_CHECKPOINT"));
    check(json!({"window": null}), Err("MISSING_CHECKPOINT"));
    check(json!({"window": {"archives": []}}), Err("MISSING_CHECKPOINT"));
    assert_eq!(window(&json!([message()]), &[]), Err("MISSING_CHECKPOINT".to_owned()));
}

#[test]
fn a_window_is_full_or_incremental() {
    check(json!({"window": {"kind": "full"}}), Ok(()));
    check(json!({"window": {"kind": "incremental"}}), Err("MISSING_CHECKPOINT"));
    for kind in [json!(null), json!(""), json!("Full"), json!("weekly"), json!(1), json!([])] {
        check(json!({"window": {"kind": kind}}), Err("UNSUPPORTED_WINDOW_KIND"));
    }
}

#[test]
fn archives_are_a_list_of_names_or_nothing() {
    let export = json!({"window": {"kind": "full", "archives": ["a", "b"]}, "messages": [message()]});
    assert_eq!(window(&export, &[]).unwrap()["archives"], json!(["a", "b"]));
    for archives in [json!(null), json!(""), json!(0), json!(false), json!({}), json!([])] {
        check(json!({"window": {"kind": "full", "archives": archives}}), Ok(()));
    }
    for archives in [json!("a"), json!(1), json!(true), json!({"a": 1}), json!([1]), json!(["a", null])] {
        check(json!({"window": {"kind": "full", "archives": archives}}), Err("UNSUPPORTED_WINDOW_KIND"));
    }
}

#[test]
fn window_full_declares_what_an_export_left_open() {
    let flag = ["--window-full"];
    assert_eq!(window(&json!([message()]), &flag), Ok(full("messages")));
    assert_eq!(window(&json!({"items": [message()]}), &flag), Ok(full("items")));
    assert_eq!(window(&json!({"window": null, "items": [message()]}), &flag), Ok(full("items")));
    assert_eq!(window(&json!({"window": "x", "items": [message()]}), &flag), Ok(full("items")));
}

#[test]
fn window_full_leaves_a_declared_window_alone() {
    let flag = ["--window-full"];
    let missing = || Err("MISSING_CHECKPOINT".to_owned());
    assert_eq!(window(&json!({"window": {}, "items": [message()]}), &flag), missing());
    assert_eq!(window(&json!({"window": {"kind": "incremental"}, "items": [message()]}), &flag), missing());
    assert_eq!(window(&json!({"data": {"window": {}}, "items": [message()]}), &flag), missing());
}

#[test]
fn the_declarations_are_checked_in_order() {
    let export = |without: &[&str]| {
        let mut export = json!({
            "schema": "v9", "ledger": "other", "format": "text", "window": {"kind": "weekly", "archives": 1}, "messages": 1
        });
        for key in without {
            export.as_object_mut().unwrap().shift_remove(*key);
        }
        window(&export, &[]).unwrap_err()
    };
    assert_eq!(export(&[]), "UNSUPPORTED_EXPORT_SCHEMA");
    assert_eq!(export(&["schema"]), "EXPORT_LEDGER_MISMATCH");
    assert_eq!(export(&["schema", "ledger"]), "UNSUPPORTED_EXPORT_FORMAT");
    assert_eq!(export(&["schema", "ledger", "format"]), "UNSUPPORTED_WINDOW_KIND");
    assert_eq!(export(&["schema", "ledger", "format", "window"]), "UNSUPPORTED_EXPORT_SHAPE");
}
