//! The documents for people: what they show is what the built product does.

mod ledger;
mod session;

use host_tests::{World, artifacts};

use self::session::Session;

/// The text of a document of the repository.
fn document(path: &str) -> String {
    std::fs::read_to_string(artifacts::repository().join(path)).unwrap()
}

#[test]
fn the_sessions_of_the_readme_are_what_the_host_prints() {
    Session::of(&document("README.md")).play(&World::new(), &[("/tmp/ledgers", "ledgers")]);
}

#[test]
fn the_ledger_of_the_tutorial_builds_passes_its_own_tests_and_runs_as_shown() {
    let world = World::new();
    ledger::build(&world, "plugins");
    world.folder("ledgers");
    Session::of(&document("plugins/README.md"))
        .play(&world, &[("/tmp/ledgers", "ledgers"), ("/tmp/plugins", "plugins")]);
}

/// The manual and the help name every variable that the host reads; fault points are no matter for users.
#[test]
fn the_help_names_every_variable() {
    let help = World::new().host(["--help"]).succeeds();
    for name in variables().iter().filter(|name| *name != "HOST_FAULTS") {
        assert!(help.stdout().contains(name.as_str()), "{name} is missing:\n{help}");
    }
}

/// The names in the one file that has them.
fn variables() -> Vec<String> {
    let source = document("host/src/env.rs");
    let names = source.lines().filter_map(|line| line.split_once(": &str = \"")?.1.strip_suffix("\";"));
    names.map(str::to_owned).collect()
}
