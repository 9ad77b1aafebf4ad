//! The grammar of `--entity` (L 10.3).

use host_tests::World;

#[track_caller]
fn issue(entity: &str, expected: Result<&str, &str>) {
    let world = World::new();
    let out = world.debt().run("append", ["--entity", entity, "--fields-json", r#"{"eat_hours":4}"#]);
    match expected {
        Ok(stored) => assert!(out.succeeds().stdout().contains(&format!(r#""entity":{stored},"#))),
        Err(code) => drop(out.refused(code)),
    }
}

#[track_caller]
fn device(entity: &str, expected: Result<&str, &str>) {
    let world = World::new();
    let out = world.gpu().run("append", ["--entity", entity, "--fields-json", r#"{"state":"held"}"#]);
    match expected {
        Ok(stored) => assert!(out.succeeds().stdout().contains(&format!(r#""entity":{stored},"#))),
        Err(code) => drop(out.refused(code)),
    }
}

#[test]
fn an_issue_is_a_repository_a_hash_and_digits() {
    issue("o/r#7", Ok(r#"{"issue":7,"repo":"o/r"}"#));
}

#[test]
fn blanks_may_stand_at_both_ends_and_around_the_hash() {
    issue("  o/r \t# \u{a0}7 ", Ok(r#"{"issue":7,"repo":"o/r"}"#));
}

#[test]
fn leading_zeros_of_an_issue_are_dropped() {
    issue("o/r#007", Ok(r#"{"issue":7,"repo":"o/r"}"#));
}

#[test]
fn letters_of_any_script_may_name_a_repository() {
    issue("é-org/r.x_y#1", Ok(r#"{"issue":1,"repo":"é-org/r.x_y"}"#));
}

#[test]
fn issue_0_fits_the_grammar_but_is_no_issue() {
    issue("o/r#0", Err("entity_mismatch"));
}

#[test]
fn what_is_no_issue_is_refused() {
    // semantic-release/github#903: bad numbers are refused, never corrected.
    for entity in
        ["", "o/r", "o/r#", "#7", "o#7", "o/r/x#7", "o/r#-1", "o/r#+7", "o/r#7x", "o/r#1.0", "o/r##7", "o r/x#7"]
    {
        issue(entity, Err("INVALID_ENTITY"));
    }
}

#[test]
fn digits_of_another_script_are_no_number() {
    issue("o/r#٣", Err("INVALID_ENTITY"));
}

#[test]
fn a_device_is_a_machine_a_hash_and_gpu_with_digits() {
    device("m.1#gpu0", Ok(r#"{"gpu_index":0,"machine":"m.1"}"#));
}

#[test]
fn gpu_may_be_written_in_any_case_with_blanks_and_zeros() {
    device(" M #  GPU 007 ", Ok(r#"{"gpu_index":7,"machine":"M"}"#));
    device("m#gPu1", Ok(r#"{"gpu_index":1,"machine":"m"}"#));
}

#[test]
fn what_is_no_device_is_refused() {
    for entity in ["", "m", "m#", "m#0", "m#gpu", "#gpu0", "m#gpu-1", "m#gpu0x", "m:w#gpu0", "é#gpu0", "m#g pu0"] {
        device(entity, Err("INVALID_ENTITY"));
    }
}

#[test]
fn a_number_beyond_64_bits_is_refused() {
    let world = World::new();
    let out =
        world.debt().run("append", ["--entity", "o/r#9223372036854775808", "--fields-json", r#"{"eat_hours":4}"#]);
    assert_eq!(out.code(), 1);
    assert!(["INVALID_ENTITY", "invalid_field_value", "entity_mismatch"].contains(&out.first_error_code()), "{out}");
}
