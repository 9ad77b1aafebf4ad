//! What `append` prints and writes (L 10.3, D12, N16, N17).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use host_tests::{World, tree};

use super::{LINE, append};

const NAME: &str = "obs-0cb15eebe26dd713.json";

#[test]
fn without_an_output_flag_the_line_is_printed_and_the_state_directory_is_not_even_made() {
    let world = World::new();
    let out = append(world.debt(), &[]).succeeds();
    assert_eq!(out.stdout(), format!("{LINE}\n"));
    assert!(!out.stderr().contains("# spooled"), "{out}");
    assert!(world.stored().is_empty());
    assert!(!fs::exists(world.state()).unwrap());
}

#[test]
fn without_an_output_flag_an_initialised_tree_stays_as_it_is() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let before = world.stored();
    append(world.debt(), &[]).succeeds();
    assert_eq!(world.stored(), before);
}

#[test]
fn stderr_says_how_to_post_the_line() {
    let world = World::new();
    let out = append(world.debt(), &[]).succeeds();
    let call = r#"# post it with: roosync_dashboard(action:"append", type:"workspace", workspace:"CoursIA-issue-debt-ledger", content:"#;
    assert!(out.stderr().lines().any(|line| line.starts_with(call)), "{out}");
}

#[test]
fn the_workspace_of_the_configuration_stands_in_the_call() {
    let world = World::new();
    world.write("state/config.json", r#"{"ledgers":{"issue-debt":{"workspace":"elsewhere"}}}"#);
    let out = append(world.debt(), &[]).succeeds();
    assert!(out.stderr().contains(r#"workspace:"elsewhere""#), "{out}");
}

#[test]
fn spool_writes_the_line_once_and_says_so() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let file = world.debt().path(&format!("spool/{NAME}"));
    let first = append(world.debt(), &["--spool"]).succeeds();
    assert_eq!(first.stdout(), format!("{LINE}\n"));
    assert!(first.stderr().contains(&format!("# spooled obs-0cb15eebe26dd713 -> {file} (new)\n")), "{first}");
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{LINE}\n"));
    let before = world.stored();
    let second = append(world.debt(), &["--spool"]).succeeds();
    let already = format!("# spooled obs-0cb15eebe26dd713 -> {file} (already present, idempotent no-op)\n");
    assert!(second.stderr().contains(&already), "{second}");
    assert_eq!(world.stored(), before);
}

#[test]
fn spool_without_an_initialised_tree_is_refused_and_makes_nothing() {
    let world = World::new();
    append(world.debt(), &["--spool"]).refused("UNINITIALISED_STATE_DIR");
    assert!(!fs::exists(world.state()).unwrap());
}

#[test]
fn a_spool_file_is_readable_by_its_owner_only() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    append(world.debt(), &["--spool"]).succeeds();
    let mode = fs::metadata(world.debt().path(&format!("spool/{NAME}"))).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_spool_file_that_a_crash_left_empty_is_repaired() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let file = world.write(&world.debt().file(&format!("spool/{NAME}")), "");
    append(world.debt(), &["--spool"]).succeeds();
    assert_eq!(fs::read_to_string(file).unwrap(), format!("{LINE}\n"));
}

#[test]
fn out_writes_the_line_with_its_folders_and_replaces_what_was_there() {
    let world = World::new();
    let file = world.path("elsewhere/deep/x.json");
    for _ in 0..2 {
        let out = append(world.debt(), &["--out", &file]).succeeds();
        assert!(out.stderr().contains(&format!("# spooled obs-0cb15eebe26dd713 -> {file} (new)\n")), "{out}");
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{LINE}\n"));
        world.write("elsewhere/deep/x.json", "something else");
    }
    assert!(!fs::exists(world.state()).unwrap());
}

#[test]
fn out_dir_names_the_file_after_the_id_and_leaves_the_same_file_alone() {
    let world = World::new();
    let folder = world.path("elsewhere/deep");
    assert!(append(world.debt(), &["--out-dir", &folder]).succeeds().stderr().contains("(new)"));
    assert_eq!(world.read(&format!("elsewhere/deep/{NAME}")), format!("{LINE}\n"));
    assert!(
        append(world.debt(), &["--out-dir", &folder])
            .succeeds()
            .stderr()
            .contains("(already present, idempotent no-op)")
    );
    assert_eq!(tree(&folder).len(), 1);
}

#[test]
fn both_outputs_together_are_a_usage_error() {
    let world = World::new();
    append(world.debt(), &["--out", &world.path("x"), "--out-dir", &world.path("d")]).misused();
    assert!(!fs::exists(world.path("x")).unwrap());
    assert!(!fs::exists(world.path("d")).unwrap());
}

#[test]
fn dry_run_prints_the_line_and_writes_none_of_the_outputs() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let before = tree(world.path(""));
    for output in [vec!["--spool"], vec!["--out", "x.json"], vec!["--out-dir", "d"]] {
        let out = append(world.debt(), &[&["--dry-run"], output.as_slice()].concat()).succeeds();
        assert_eq!(out.stdout(), format!("{LINE}\n"));
        assert!(!out.stderr().contains("# spooled"), "{out}");
    }
    assert_eq!(tree(world.path("")), before);
}

#[test]
fn json_has_the_seven_keys_in_order_with_an_indent_of_two() {
    let world = World::new();
    let out = append(world.debt(), &["--json"]).succeeds();
    assert!(out.stdout().starts_with("{\n  \"observation_id\": \"obs-0cb15eebe26dd713\",\n  \"ledger\": "), "{out}");
    let json = out.json();
    let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["observation_id", "ledger", "workspace", "format", "content_prefix", "content", "mcp_call"]);
    assert_eq!(json["ledger"], "issue-debt");
    assert_eq!(json["workspace"], "CoursIA-issue-debt-ledger");
    assert_eq!(json["format"], "json");
    assert_eq!(json["content_prefix"], "[OBS]");
    assert_eq!(json["content"], LINE);
    assert!(json["mcp_call"].as_str().unwrap().starts_with("roosync_dashboard(action:\"append\""), "{out}");
}

#[test]
fn quiet_says_nothing_and_still_writes() {
    let world = World::new();
    let file = world.path("x.json");
    for more in [vec!["--quiet"], vec!["--quiet", "--json"], vec!["--quiet", "--out", &file]] {
        let out = append(world.debt(), &more).succeeds();
        assert_eq!((out.stdout(), out.stderr()), ("", ""));
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{LINE}\n"));
}

#[test]
fn quiet_does_not_hide_a_refusal() {
    let world = World::new();
    append(world.debt(), &["--quiet", "--confidence", "certain"]).refused("invalid_confidence");
}

#[test]
fn the_time_is_now_when_none_is_given() {
    let world = World::at("2026-09-30T12:00:00.5Z");
    for time in [vec![], vec!["--observed-at", ""]] {
        let flags = ["--entity", "o/r#7", "--fields-json", r#"{"eat_hours":4}"#];
        let out = world.debt().command("append", flags).args(time).run().succeeds();
        assert!(out.stdout().contains(r#""observed_at":"2026-09-30T12:00:00.500000Z""#), "{out}");
    }
}

#[test]
fn the_actor_is_the_flag_then_the_variable_then_the_default() {
    let world = World::new();
    let flags = ["--entity", "o/r#7", "--fields-json", r#"{"eat_hours":4}"#];
    let check = |variable: &str, more: &[&str], actor: &str| {
        let command = world.debt().command("append", flags).args(more).env("COURSIA_LEDGER_ACTOR", variable);
        let out = command.run().succeeds();
        assert!(out.stdout().starts_with(&format!(r#"[OBS] {{"actor":"{actor}","#)), "{out}");
    };
    check("", &[], "ai-01");
    check("po-9:x", &[], "po-9:x");
    check("po-9:x", &["--actor", "po-1:w"], "po-1:w");
}

#[test]
fn evidence_confidence_and_note_have_their_defaults() {
    let world = World::new();
    let flags = ["--entity", "o/r#7", "--fields-json", r#"{"eat_hours":4}"#];
    let plain = world.debt().run("append", flags).succeeds();
    assert!(plain.stdout().contains(r#""confidence":"medium""#), "{plain}");
    assert!(plain.stdout().contains(r#""evidence":"manual append""#), "{plain}");
    assert!(!plain.stdout().contains(r#""note""#), "{plain}");
    let noted = append(world.debt(), &["--note", " a  b ", "--confidence", "high"]).succeeds();
    assert!(noted.stdout().contains(r#""note":"a b""#), "{noted}");
    assert!(noted.stdout().contains(r#""confidence":"high""#), "{noted}");
}

#[test]
fn a_dash_reads_the_observation_from_stdin() {
    let world = World::new();
    let text = r#"{"actor":"po-1:w","observed_at":"2026-09-17T19:00:00Z","evidence":"gh issue view 7",
        "entity":{"repo":"o/r","issue":7},"fields":{"eat_hours":4}}"#;
    let append = || world.debt().command("append", ["--observation-file", "-"]);
    let out = append().stdin(text).run().succeeds();
    assert_eq!(out.stdout(), format!("{LINE}\n"));
    for broken in ["", "{", "{} {}"] {
        let out = append().stdin(broken).run().refused("INVALID_JSON");
        assert!(out.stderr().contains("stdin"), "{out}");
    }
}

#[test]
fn a_line_of_4096_bytes_is_printed_and_one_of_4097_is_refused() {
    let world = World::new();
    let padding = 4096 - LINE.len() + "gh issue view 7".len();
    for (letter, width) in [("x", 1), ("é", 2)] {
        let fits = format!("{}{}", "x".repeat(padding % width), letter.repeat(padding / width));
        let out = append(world.debt(), &["--evidence", &fits]).succeeds();
        assert_eq!(out.stdout().len(), 4096 + 1);
        let file = world.path("x.json");
        append(world.debt(), &["--evidence", &format!("{fits}x"), "--out", &file]).refused("ENVELOPE_TOO_LONG");
        assert!(!fs::exists(file).unwrap());
    }
}

#[test]
fn an_observation_appended_again_has_the_same_id() {
    let world = World::new();
    let spelled = |time: &str, fields: &str| {
        let flags = ["--entity", " o/r # 007 ", "--evidence", " gh  issue\tview 7 ", "--actor", " po-1:w "];
        let out = world.debt().command("append", flags).args(["--observed-at", time, "--fields-json", fields]).run();
        out.succeeds().stdout().to_owned()
    };
    // matrix-org/matrix-spec#1232: equal meaning, equal id.
    assert_eq!(spelled("2026-09-17t19:00:00z", r#"{"eat_hours":4e0}"#), format!("{LINE}\n"));
    assert_eq!(spelled("2026-09-17 19:00:00.000+0000", r#"{"eat_hours":4.0}"#), format!("{LINE}\n"));
    assert_eq!(append(world.debt(), &[]).succeeds().stdout(), format!("{LINE}\n"));
}
