//! Of two faults at once, which is named (L 13). Each test makes the fault it names and the ones that come after it.

use std::fs;

use host_tests::{Export, Observation, World};
use serde_json::{Value, json};

/// The faults of one fold, as files and flags. Without any it succeeds.
struct Faults {
    world: World,
    export: Value,
    flags: Vec<String>,
    now: &'static str,
}

impl Faults {
    /// A tree with a good prior snapshot, baseline and configuration, and a good tail.
    fn none() -> Self {
        let world = World::new();
        world.debt().run("init", ["--apply"]).succeeds();
        world.debt().fold(&Export::full().with(Observation::issue(1).field("eat_hours", 1))).succeeds();
        let export = json!({"window": {"kind": "incremental"}, "messages": []});
        Self { world, export, flags: Vec::new(), now: "2026-10-01T00:00:00Z" }
    }

    fn file(self, name: &str, content: &str) -> Self {
        self.world.write(&format!("state/{name}"), content);
        self
    }

    fn export(mut self, key: &str, value: Value) -> Self {
        self.export[key] = value;
        self
    }

    fn now(mut self, now: &'static str) -> Self {
        self.now = now;
        self
    }

    /// Edits the prior snapshot at its root.
    fn prior(self, key: &str, value: Value) -> Self {
        let mut snapshot = self.world.debt().snapshot();
        snapshot[key] = value;
        self.file("issue-debt/snapshots/snapshot.json", &snapshot.to_string())
    }

    fn baseline(self, key: &str, value: Value) -> Self {
        let mut baseline = self.world.read_json("state/issue-debt/baseline.json");
        baseline[key] = value;
        self.file("issue-debt/baseline.json", &baseline.to_string())
    }

    fn output_in_repository(mut self) -> Self {
        self.world.folder("repository/.git");
        self.flags = vec!["--out".to_owned(), self.world.path("repository/x.json")];
        self
    }

    fn without_prior(self) -> Self {
        fs::remove_file(self.world.debt().path("snapshots/snapshot.json")).unwrap();
        fs::remove_file(self.world.debt().path("snapshots/fold.json")).unwrap();
        self
    }

    fn out(self) -> host_tests::Out {
        let world = self.world.later(self.now);
        world.debt().fold_with(&Export::of(&self.export), self.flags)
    }

    #[track_caller]
    fn first(self, code: &str) {
        self.out().refused(code);
    }
}

#[test]
fn without_a_fault_the_fold_succeeds() {
    Faults::none().out().succeeds();
}

#[test]
fn guards_come_before_the_time() {
    Faults::none().now("nonsense").output_in_repository().first("REPO_PATH_REFUSED");
}

#[test]
fn the_time_comes_before_missing_input() {
    let faults = Faults::none();
    let world = faults.world.later("2026-10-01T00:00:00");
    world.debt().run("reduce", [""; 0]).refused("naive_timestamp");
}

#[test]
fn missing_input_comes_before_the_reads() {
    let faults = Faults::none().file("issue-debt/snapshots/snapshot.json", "{").file("config.json", "{");
    faults.world.debt().run("reduce", [""; 0]).refused("MISSING_INPUT");
}

#[test]
fn the_prior_snapshot_is_read_before_the_export() {
    let faults = Faults::none().file("issue-debt/snapshots/snapshot.json", "{");
    let flags = ["--events", &faults.world.path("nowhere")];
    let out = faults.world.debt().run("reduce", flags).refused("INVALID_JSON");
    assert!(out.stderr().contains("snapshot.json"), "{out}");
}

#[test]
fn the_export_is_read_before_the_baseline() {
    let faults = Faults::none().file("issue-debt/baseline.json", "{");
    let out =
        faults.world.debt().run("reduce", ["--events", &faults.world.path("nowhere")]).refused("UNREADABLE_INPUT");
    assert!(out.stderr().contains("nowhere"), "{out}");
}

#[test]
fn the_baseline_is_read_before_the_configuration() {
    let faults = Faults::none().file("issue-debt/baseline.json", "{").file("config.json", "{");
    let out = faults.out().refused("INVALID_JSON");
    assert!(out.stderr().contains("baseline"), "{out}");
}

#[test]
fn all_reads_come_before_what_the_files_say() {
    Faults::none().file("config.json", "{").prior("ledger", json!("other")).first("INVALID_JSON");
}

#[test]
fn a_foreign_checkpoint_is_named_before_a_corrupt_one() {
    Faults::none()
        .prior("rows", json!(5))
        .prior("ledger", json!("gpu-reservation"))
        .first("CHECKPOINT_LEDGER_MISMATCH");
}

#[test]
fn a_corrupt_checkpoint_is_named_before_a_bad_export() {
    Faults::none().prior("rows", json!(5)).export("schema", json!("v9")).first("CORRUPT_CHECKPOINT");
}

#[test]
fn a_bad_export_is_named_before_a_bad_baseline() {
    for (key, value, code) in [
        ("schema", json!("v9"), "UNSUPPORTED_EXPORT_SCHEMA"),
        ("ledger", json!("other"), "EXPORT_LEDGER_MISMATCH"),
        ("format", json!("text"), "UNSUPPORTED_EXPORT_FORMAT"),
        ("window", json!({"kind": "weekly"}), "UNSUPPORTED_WINDOW_KIND"),
        ("messages", json!(5), "UNSUPPORTED_EXPORT_SHAPE"),
    ] {
        Faults::none().baseline("schema", json!("v9")).export(key, value).first(code);
    }
}

#[test]
fn the_baselines_schema_its_ledger_its_time_and_its_rows_come_in_this_order() {
    let bad = |faults: Faults| faults.baseline("rows", json!([5]));
    bad(Faults::none()).first("INVALID_BASELINE");
    bad(Faults::none()).baseline("ledger", json!("other")).first("BASELINE_LEDGER_MISMATCH");
    bad(Faults::none())
        .baseline("ledger", json!("other"))
        .baseline("schema", json!("v9"))
        .first("UNSUPPORTED_BASELINE_SCHEMA");
    let out = bad(Faults::none()).baseline("generated_at", json!("yesterday")).out().refused("INVALID_BASELINE");
    assert!(out.stderr().contains("generated_at"), "{out}");
}

#[test]
fn a_bad_baseline_is_named_before_a_missing_checkpoint() {
    Faults::none().without_prior().baseline("rows", json!([5])).first("INVALID_BASELINE");
    Faults::none().without_prior().first("MISSING_CHECKPOINT");
}

#[test]
fn a_wrong_export_format_is_named_before_a_missing_checkpoint() {
    Faults::none().without_prior().export("format", json!("text")).first("UNSUPPORTED_EXPORT_FORMAT");
}

#[test]
fn a_refused_fold_leaves_everything_as_it_was() {
    let world = Faults::none().without_prior().world;
    let before = world.stored();
    world.debt().fold(&Export::tail()).refused("MISSING_CHECKPOINT");
    assert_eq!(world.stored(), before);
}

#[test]
fn a_refusal_names_the_file_that_it_is_about() {
    #[track_caller]
    fn check(file: &str, text: &str, export: &Export, code: &str) {
        let world = World::new();
        if !text.is_empty() {
            world.write(file, text);
        }
        let out = world.debt().fold(export).refused(code);
        assert!(out.stderr().contains(&world.path(file)), "{out}");
    }
    let (snapshot, baseline) = ("state/issue-debt/snapshots/snapshot.json", "state/issue-debt/baseline.json");
    check(snapshot, "{}", &Export::full(), "CORRUPT_CHECKPOINT");
    check(snapshot, r#"{"ledger":"gpu-reservation"}"#, &Export::full(), "CHECKPOINT_LEDGER_MISMATCH");
    check(snapshot, "", &Export::tail(), "MISSING_CHECKPOINT");
    check(baseline, "{}", &Export::full(), "UNSUPPORTED_BASELINE_SCHEMA");
    check(baseline, "5", &Export::full(), "INVALID_BASELINE");
    check("export.json", "", &Export::raw("5"), "UNSUPPORTED_EXPORT_SHAPE");
    check("export.json", "", &Export::raw(r#"{"schema":"x"}"#), "UNSUPPORTED_EXPORT_SCHEMA");
    check("export.json", "", &Export::raw(r#"{"ledger":"x"}"#), "EXPORT_LEDGER_MISMATCH");
    check("export.json", "", &Export::raw(r#"{"format":"x"}"#), "UNSUPPORTED_EXPORT_FORMAT");
    check("export.json", "", &Export::raw(r#"{"window":{"kind":"x"}}"#), "UNSUPPORTED_WINDOW_KIND");
}
