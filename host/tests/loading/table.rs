//! The table of the compatibility rule in the contract's README: each row names a test that is there.

use std::process::Command;

/// A row of the table.
struct Row {
    plugin: &'static str,
    host: &'static str,
    /// Name of a test of this binary; `*` stands for each build of `versions`.
    test: &'static str,
}

const fn row(plugin: &'static str, host: &'static str, test: &'static str) -> Row {
    Row { plugin, host, test }
}

const ROWS: [Row; 26] = [
    row("the same contract", "loads", "versions::*::the_same_contract_loads_and_answers"),
    row(
        "a newer minor",
        "loads; what the host lacks reads as absent",
        "versions::*::a_newer_plugin_loads_in_an_older_host",
    ),
    row(
        "an older minor",
        "loads; what the plugin lacks reads as absent, and an added method runs its default body",
        "versions::*::an_older_plugin_loads_in_a_newer_host",
    ),
    row(
        "two newer minors that add different things",
        "both load, in either order",
        "versions::*::two_extensions_load_in_an_older_host",
    ),
    row(
        "the same minor as the host, and adds other things",
        "`PLUGIN_INCOMPATIBLE`, with the first difference",
        "versions::*::of_two_extensions_the_wrong_one_is_refused",
    ),
    row(
        "a changed field type",
        "`PLUGIN_INCOMPATIBLE`, with the way to the field",
        "broken::a_changed_field_type_is_one_line_that_leads_to_it",
    ),
    row(
        "a frozen struct with one field more",
        "`PLUGIN_INCOMPATIBLE`, with the way to the struct",
        "broken::a_frozen_struct_that_grew_is_one_line_that_leads_to_it",
    ),
    row("another major", "`PLUGIN_INCOMPATIBLE`", "broken::another_major_is_refused_by_reading"),
    row(
        "a pre-release, on either side",
        "`PLUGIN_INCOMPATIBLE`, unless it is the very same",
        "broken::a_pre_release_fits_only_itself",
    ),
    row("another crossing", "`PLUGIN_INCOMPATIBLE`", "refuses::another_crossing_is_refused"),
    row("another target triple", "`PLUGIN_INCOMPATIBLE`", "refuses::another_target_is_refused"),
    row("another processor", "`PLUGIN_UNREADABLE`", "refuses::a_library_of_another_processor_is_named_as_such"),
    row(
        "no `export_plugin!`",
        "is not listed; `PLUGIN_UNREADABLE` when it is asked for",
        "broken::a_library_without_the_macro_is_no_plugin_and_says_so_when_it_is_asked_for",
    ),
    row("not a library", "`PLUGIN_UNREADABLE`", "refuses::a_text_is_not_a_library"),
    row("truncated", "`PLUGIN_UNREADABLE`", "refuses::a_truncated_library_is_refused_before_it_is_loaded"),
    row("another compiler", "loads", "versions::a_plugin_of_another_compiler_loads_and_answers"),
    row("a release build in a debug host", "loads", "versions::release::the_same_contract_loads_and_answers"),
    row("link-time optimised and stripped", "loads", "versions::lto_and_strip::the_same_contract_loads_and_answers"),
    row("another allocator", "loads", "versions::other_allocator::the_same_contract_loads_and_answers"),
    row("`panic = \"abort\"`", "`PLUGIN_INCOMPATIBLE`", "broken::a_library_that_aborts_is_refused_by_reading"),
    row(
        "static TLS",
        "loads where there is room, else `PLUGIN_UNREADABLE` with the ways out",
        "broken::static_tls_without_room_is_refused_with_the_ways_out",
    ),
    row("panics while it is loaded", "`PLUGIN_FAILED`", "broken::a_panic_in_the_constructor_is_a_failure"),
    row("declarations that are no JSON", "`PLUGIN_FAILED`", "broken::declarations_that_are_no_json_are_refused"),
    row(
        "two plugins in one process",
        "both load, and neither is the other",
        "answers::two_plugins_of_one_interface_live_in_one_process",
    ),
    row(
        "panics in a call",
        "loads; the command fails",
        "misbehaves::a_panic_in_check_names_plugin_call_place_and_text",
    ),
    row(
        "answers a call with what is no JSON",
        "loads; the command fails",
        "broken::garbage_for_json_is_an_invalid_answer_in_each_call",
    ),
];

fn tests() -> Vec<String> {
    let list = Command::new(std::env::current_exe().expect("this test")).args(["--list", "--format", "terse"]).output();
    let list = String::from_utf8(list.expect("it runs").stdout).expect("UTF-8");
    list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

#[test]
fn the_readme_has_this_table() {
    let head = "| plugin | host | test in `host/tests/loading` |\n| --- | --- | --- |\n".to_owned();
    let table = ROWS
        .iter()
        .fold(head, |table, Row { plugin, host, test }| format!("{table}| {plugin} | {host} | `{test}` |\n"));
    let readme = include_str!("../../../plugin-api/README.md");
    let (_, section) = readme.split_once("\n## Which plugins a host loads\n").expect("the section");
    let found: String = section
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .map_while(|line| line.starts_with('|').then(|| format!("{line}\n")))
        .collect();
    assert_eq!(found, table, "the README has another table than this:\n{table}");
}

#[test]
fn each_row_has_its_test() {
    let tests = tests();
    for Row { plugin, test, .. } in ROWS {
        let found = match test.split_once('*') {
            Some((start, end)) => tests.iter().filter(|name| name.starts_with(start) && name.ends_with(end)).count(),
            None => tests.iter().filter(|name| *name == test).count(),
        };
        assert_eq!(found, if test.contains('*') { 4 } else { 1 }, "{plugin}: {test}");
    }
}
