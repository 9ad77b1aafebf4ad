//! The command line itself: usage errors, help, explanations, streams and colour (issue points 3 and 7).

use host_tests::{Export, Message, Observation, Out, World};

#[test]
fn what_the_host_does_not_know_is_a_usage_error_that_names_it() {
    let world = World::new();
    for (arguments, named) in [
        (vec!["run", "issue-debt", "no-such-verb"], "no-such-verb"),
        (vec!["run", "issue-debt", "reduce", "--no-such-flag"], "--no-such-flag"),
        (vec!["run", "issue-debt", "append", "--entity"], "--entity"),
        (vec!["no-such-command"], "no-such-command"),
    ] {
        let out = world.host(&arguments).misused();
        assert!(out.stderr().contains(named), "{out}");
    }
}

#[test]
fn a_ledger_that_no_plugin_serves_is_refused_with_those_that_there_are() {
    let world = World::new();
    let out = world.host(["run", "no-such-ledger", "reduce", "--no-events"]).refused("PLUGIN_NOT_FOUND");
    for name in ["no-such-ledger", "issue-debt", "gpu-reservation"] {
        assert!(out.stderr().contains(name), "{out}");
    }
}

#[test]
fn an_incomplete_command_is_a_usage_error() {
    let world = World::new();
    for arguments in [vec!["run"], vec!["run", "issue-debt"], vec![]] {
        assert_eq!(world.host(&arguments).code(), 2, "{arguments:?}");
    }
}

#[test]
fn every_command_has_a_help_text() {
    let world = World::new();
    let verbs = ["init", "append", "reduce", "spool", "show", "history", "verify"];
    let mut commands = vec![vec![], vec!["run", "issue-debt"], vec!["explain"]];
    commands.extend(verbs.map(|verb| vec!["run", "issue-debt", verb]));
    commands.push(vec!["run", "gpu-reservation", "check-pending"]);
    for command in commands {
        let out = world.command(&command).args(["--help"]).run().succeeds();
        assert!(out.stdout().contains("Usage:"), "{out}");
        assert_eq!(out.stderr(), "");
    }
}

#[test]
fn run_alone_has_a_help_text_too() {
    let world = World::new();
    for arguments in [vec!["run", "--help"], vec!["run", "-h"], vec!["run", "--color", "never", "--help"]] {
        let out = world.host(&arguments).succeeds();
        assert!(out.stdout().contains("Usage: host run"), "{out}");
        assert!(
            out.stdout().contains("Ledgers found:\n  issue-debt\n  gpu-reservation\n\nOrgans found:\n  command\n"),
            "{out}"
        );
        assert!(out.stdout().contains("host run <name> --help"), "{out}");
        assert_eq!(out.stderr(), "");
    }
}

#[test]
fn run_without_a_ledger_is_a_usage_error_that_says_which_there_are() {
    let out = World::new().host(["run"]).misused();
    assert!(out.stderr().contains("issue-debt") && out.stderr().contains("host run <name> --help"), "{out}");
}

#[test]
fn run_with_help_and_without_any_plugin_says_where_it_looked() {
    let world = World::new();
    let alone = world.path("alone/host");
    world.folder("alone");
    std::fs::hard_link(host_tests::artifacts::host(), &alone)
        .or_else(|_| std::fs::copy(host_tests::artifacts::host(), &alone).map(drop))
        .unwrap();
    let out = std::process::Command::new(&alone).args(["run", "--help"]).env_clear().output().unwrap();
    let page = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0), "{page}");
    assert!(page.contains("No ledger and no organ was found") && page.contains(&world.path("alone")), "{page}");
}

#[test]
fn the_help_of_a_ledger_lists_its_own_verbs() {
    let world = World::new();
    assert!(world.host(["run", "gpu-reservation", "--help"]).succeeds().stdout().contains("check-pending"));
    assert!(!world.host(["run", "issue-debt", "--help"]).succeeds().stdout().contains("check-pending"));
}

#[test]
fn the_version_is_printed() {
    let world = World::new();
    assert!(world.host(["--version"]).succeeds().stdout().starts_with("host "));
}

#[test]
fn every_reason_and_code_is_explained() {
    let world = World::new();
    for code in
        ["future_timestamp", "duplicate_key", "entity_is_pr", "CORRUPT_CHECKPOINT", "LOCK_TIMEOUT", "MISSING_INPUT"]
    {
        let out = world.host(["explain", code]).succeeds();
        assert!(out.stdout().contains(code) && out.stdout().len() > code.len() + 40, "{out}");
    }
}

#[test]
fn a_code_that_does_not_exist_is_refused_by_name() {
    let world = World::new();
    let out = world.host(["explain", "NO_SUCH_CODE"]).refused("UNKNOWN_CODE");
    assert!(out.stderr().contains("NO_SUCH_CODE"), "{out}");
}

/// An append that is refused, in colour or not.
fn refused_append(world: &World, color: &[&str], variables: &[(&str, &str)]) -> Out {
    let arguments = ["run", "issue-debt", "append", "--entity", "nonsense", "--fields-json", "{}"];
    let mut command = world.command(color).args(arguments);
    for (name, value) in variables {
        command = command.env(name, value);
    }
    command.run()
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let world = World::new();
    let colored = |color: &[&str], variables: &[(&str, &str)]| {
        let out = refused_append(&world, color, variables);
        assert_eq!(out.code(), 1, "{out}");
        format!("{}{}", out.stdout(), out.stderr()).contains('\u{1b}')
    };
    assert!(!colored(&[], &[]));
    assert!(!colored(&["--color", "never"], &[]));
    assert!(!colored(&["--color", "auto"], &[("NO_COLOR", "1")]));
    let out = world.host(["--color", "sometimes", "explain", "LOCK_TIMEOUT"]);
    assert_eq!(out.code(), 2, "{out}");
}

#[test]
fn data_is_on_stdout_and_logs_are_on_stderr() {
    let world = World::new();
    let export = Export::full().with(Observation::issue(1).field("eat_hours", 1)).with(Message::new("[OBS]"));
    let plain = world.debt().fold_with(&export, ["--stdout"]).succeeds();
    assert_eq!(plain.stderr(), "");
    let loud = world.debt().fold_command(&export).args(["--stdout"]).env("RUST_LOG", "trace").run().succeeds();
    assert_eq!(loud.stdout(), plain.stdout());
}

#[test]
fn v_tells_on_stderr_what_was_read_and_what_came_of_it_and_vv_how_long_it_took() {
    let world = World::new();
    world.debt().fold(&Export::full()).succeeds();
    let export = Export::tail().with(Observation::issue(1).field("eat_hours", 1)).with(Message::new("[OBS]"));
    let plain = world.debt().fold_with(&export, ["--stdout"]).succeeds();
    let informed = world.debt().fold_with(&export, ["--stdout", "-v"]).succeeds();
    for word in ["export.json", "snapshot.json", "plugin loaded", "messages=2", "rejected=1", "rows=1"] {
        assert!(informed.stderr().contains(word), "{word}\n{informed}");
    }
    assert!(!informed.stderr().contains(" ms="), "{informed}");
    let debugged = world.debt().fold_with(&export, ["--stdout", "-vv"]).succeeds();
    assert!(debugged.stderr().contains(" ms="), "{debugged}");
    for loud in [&informed, &debugged] {
        assert_eq!(loud.stdout(), plain.stdout());
    }
    let written = world.debt().fold_command(&export).env("RUST_LOG", "info").run().succeeds();
    assert!(written.stderr().contains("generation=2"), "{written}");
}

#[test]
fn the_folder_of_the_plugins_may_be_named() {
    let world = World::new();
    let beside = host_tests::artifacts::host().parent().unwrap().to_string_lossy().into_owned();
    world.host(["--plugin-dir", &beside, "run", "issue-debt", "init", "--state-dir", &world.state()]).succeeds();
}

#[test]
fn now_with_a_bad_time_is_refused_by_every_verb() {
    let world = World::new().later("yesterday");
    for verb in ["init", "append", "reduce", "show", "spool"] {
        let flags: &[&str] = if verb == "spool" { &["--status"] } else { &[] };
        let out = world.debt().run(verb, flags);
        assert_eq!(out.code(), 1, "{out}");
        assert_eq!(out.first_error_code(), "invalid_timestamp", "{verb}");
    }
}

#[test]
fn verbs_that_need_no_clock_take_none() {
    let world = World::new();
    world.debt().run("verify", ["--now", "yesterday"]).misused();
    world.debt().run("history", ["o/r#1", "--now", "2026-10-01T00:00:00Z"]).misused();
}
