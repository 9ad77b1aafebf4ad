//! `host run <organ>`: the command line that an organ declares, its units in a worker, and what they come to.

use std::fs;

use host_tests::{World, artifacts};

fn command(world: &World, arguments: &[&str]) -> host_tests::Out {
    let given = ["run", "command"].iter().chain(arguments).copied();
    world.command(given).env("PATH", "/usr/bin:/bin").run()
}

#[test]
fn a_program_is_run_and_shown_as_if_by_itself() {
    let world = World::new();
    let out = command(&world, &["--", "echo", "hello"]).succeeds();
    assert_eq!((out.stdout(), out.stderr()), ("hello\n", ""));
    let out = command(&world, &["--stdin", "one\ntwo\n", "--", "wc", "-l"]).succeeds();
    assert_eq!(out.stdout().trim(), "2");
}

#[test]
fn the_exit_code_says_what_it_came_to() {
    let world = World::new();
    let failed = command(&world, &["--", "sh", "-c", "echo why >&2; exit 9"]);
    assert_eq!((failed.code(), failed.stdout()), (1, "why\nsh exited with 9\n"), "{failed}");
    let missing = command(&world, &["--", "no-such-program-anywhere"]);
    assert_eq!(missing.code(), 3, "{missing}");
    assert!(missing.stdout().contains("(program_not_found)"), "{missing}");
    let late = command(&world, &["--deadline", "1s", "--", "sleep", "60"]);
    assert_eq!(late.code(), 3, "{late}");
}

#[test]
fn units_of_a_file_run_in_plan_order_behind_what_they_depend_on() {
    let world = World::new();
    let units = [
        r#"{"id":"b","program":"false","depends_on":["a"]}"#,
        r#"{"id":"c","program":"true","depends_on":["b"]}"#,
        r#"{"id":"a","program":"true"}"#,
    ];
    let file = world.write("units.jsonl", units.join("\n"));
    let out = command(&world, &["--units", &file]);
    assert_eq!(out.code(), 1, "{out}");
    let expected = "failed       b: false exited with 1\n\
                    not run      c: it depends on b, which was not accepted\n\
                    done         a\n";
    assert_eq!(out.stdout(), expected);
    let out = command(&world, &["--units", &file, "--json"]);
    let units = out.json()["units"].as_array().unwrap().clone();
    let verdicts: Vec<_> = units.iter().map(|unit| unit["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["rejected", "not-dispatched", "accepted"]);
    assert_eq!(units[1]["code"], "dependency_not_accepted");
}

#[test]
fn a_warm_program_answers_several_units_and_one_that_dies_is_started_again() {
    let world = World::new();
    let script = "n=0; while read line; do n=$((n+1)); case $line in *die*) exit 5;; esac; \
                  echo \"{\\\"outcome\\\":\\\"done\\\",\\\"value\\\":$n}\"; done";
    let unit = |id: &str, input: &str| {
        serde_json::json!({ "id": id, "program": "sh", "args": ["-c", script], "warm": true, "input": input })
            .to_string()
    };
    let units = [unit("a", "x"), unit("b", "x"), unit("c", "die"), unit("d", "x")].join("\n");
    let file = world.write("units.jsonl", units);
    let out = command(&world, &["--units", &file, "--json"]);
    assert_eq!(out.code(), 3, "{out}");
    let units = out.json()["units"].as_array().unwrap().clone();
    let answers: Vec<_> = units.iter().map(|unit| unit["value"]["answer"].as_i64()).collect();
    assert_eq!(answers, [Some(1), Some(2), None, Some(1)], "{out}");
    assert!(units[2]["message"].as_str().unwrap().contains("program_lost"), "{out}");
}

#[test]
fn a_plan_that_makes_no_sense_is_the_hosts_refusal() {
    let world = World::new();
    let units = "{\"id\":\"a\",\"program\":\"x\",\"depends_on\":[\"b\"]}\n\
                 {\"id\":\"b\",\"program\":\"x\",\"depends_on\":[\"a\"]}";
    let file = world.write("units.jsonl", units);
    let out = command(&world, &["--units", &file]);
    assert_eq!((out.code(), out.stdout()), (70, ""), "{out}");
    assert!(
        out.stderr().starts_with("ERROR plan_invalid: the plan of the organ makes no sense: units wait for"),
        "{out}"
    );
    let file = world.write("units.jsonl", "{");
    let out = command(&world, &["--units", &file]);
    assert_eq!(out.code(), 70, "{out}");
    assert!(out.stderr().starts_with("ERROR organ_failed: plan: ") && out.stderr().contains("units.jsonl:1:"), "{out}");
}

#[test]
fn an_unknown_or_ill_typed_argument_is_a_usage_error() {
    let world = World::new();
    for (arguments, words) in [
        (&["--bogus"][..], "unexpected argument '--bogus'"),
        (&["--deadline", "soon", "--", "true"][..], "\"soon\" is not a duration such as 90s, 15m, 2h or 1d"),
        (&["--effect", "none", "--", "true"][..], "[possible values: read-only, isolated-artifact, external]"),
        (&[][..], "<PROGRAM|--units <PATH>>"),
    ] {
        let out = command(&world, arguments).misused();
        assert!(out.stderr().contains(words), "{out}");
    }
}

#[test]
fn the_help_of_an_organ_shows_its_arguments_and_exit_codes() {
    let world = World::new();
    let out = world.host(["run", "command", "--help"]).succeeds();
    for words in [
        "Run PROGRAM once, or the units of a file one after the other",
        "--deadline <DURATION>",
        "[default: 10m]",
        "[possible values: read-only, isolated-artifact, external]",
        "1   a unit failed",
        "70  the host itself failed",
        "Effect: external",
    ] {
        assert!(out.stdout().contains(words), "{words}: {out}");
    }
}

#[test]
fn an_organ_that_is_not_pinned_is_not_run() {
    let world = World::new();
    let host = artifacts::host();
    let library = host.with_file_name("libhost_command.so");
    let alone = world.folder("alone");
    fs::copy(host, format!("{alone}/host")).unwrap();
    let plugins = world.folder("plugins");
    fs::copy(library, format!("{plugins}/libhost_command.so")).unwrap();
    let run = |flags: &[&str]| {
        let arguments = [&["run", "command", "--plugin-dir", &plugins], flags, &["--", "true"]].concat();
        let home = world.path("home");
        let mut command = std::process::Command::new(format!("{alone}/host"));
        command.args(arguments).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").output().unwrap()
    };
    let out = run(&[]);
    assert_eq!(out.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("ERROR PLUGIN_UNPINNED: "), "{out:?}");
    let out = run(&["--allow-unpinned"]);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("warn: plugin_unpinned: "), "{out:?}");
}

#[test]
fn a_worker_is_not_for_people() {
    let out = World::new().host(["worker"]).refused("MISSING_INPUT");
    assert!(out.stderr().contains("`host worker` is started by the host itself"), "{out}");
}
