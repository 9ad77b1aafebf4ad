//! The six vectors of L 3: what is digested, and the id.

use host_tests::World;

/// Appends `input` from a file; the line without id and message id must be `digested`, and the id `id`.
#[track_caller]
fn check(ledger: &str, input: &str, digested: &str, id: &str) {
    let world = World::new();
    let file = world.write("observation.json", input);
    let ledger = if ledger == "issue-debt" { world.debt() } else { world.gpu() };
    let out = ledger.run("append", ["--observation-file", &file]).succeeds();
    let line = out.stdout().strip_suffix('\n').and_then(|line| line.strip_prefix("[OBS] ")).unwrap();
    let rest = line.replacen(&format!(r#""observation_id":"{id}","#), "", 1).replacen(r#""message_id":"m 2","#, "", 1);
    assert_eq!(rest, digested, "{line}");
    assert_ne!(rest, line, "no {id} in the line");
}

#[test]
fn vector_1_blanks_are_stripped_and_the_time_is_rendered() {
    check(
        "issue-debt",
        r#"{"actor":" po-1:w ","observed_at":"2026-09-17 19:00:00+0000","evidence":"gh  issue\tview 7","entity":{"issue":7,"repo":" o/r "},"fields":{"eat_hours":4}}"#,
        r#"{"actor":"po-1:w","confidence":"medium","entity":{"issue":7,"repo":"o/r"},"evidence":"gh issue view 7","fields":{"eat_hours":4.0},"head_transition":false,"ledger":"issue-debt","observed_at":"2026-09-17T19:00:00Z","schema":"debt-ledger-observation/v1"}"#,
        "obs-0cb15eebe26dd713",
    );
}

#[test]
fn vector_2_letters_controls_fractions_and_a_note() {
    check(
        "issue-debt",
        r#"{"actor":"a","observed_at":"2026-09-17T19:00:00.1234567Z","confidence":"high","evidence":"é ☃ \u0001","entity":{"repo":"é-org/r.x","issue":1},"fields":{"state_class":"open-blocked","eat_hours":0.0625},"head_transition":true,"note":" n  n "}"#,
        r#"{"actor":"a","confidence":"high","entity":{"issue":1,"repo":"é-org/r.x"},"evidence":"é ☃ \u0001","fields":{"eat_hours":0.062,"state_class":"open-blocked"},"head_transition":true,"ledger":"issue-debt","note":"n n","observed_at":"2026-09-17T19:00:00.123456Z","schema":"debt-ledger-observation/v1"}"#,
        "obs-fa52b94b69396383",
    );
}

#[test]
fn vector_3_dependencies_and_a_message_id_that_is_not_digested() {
    check(
        "issue-debt",
        r#"{"actor":"a","observed_at":"2026-09-17T19:00:00.50Z","confidence":"low","evidence":"e","entity":{"repo":"o/r","issue":2},"message_id":" m  2 ","fields":{"dependencies":[3,{"kind":"external","number":9,"note":"a\u00a0 b"},{"kind":"pr","repo":"x/y","number":4}],"followup":{"kind":"waiver","reason":"r  s","repo":"x/y"}}}"#,
        r#"{"actor":"a","confidence":"low","entity":{"issue":2,"repo":"o/r"},"evidence":"e","fields":{"dependencies":[{"kind":"issue","note":null,"number":3,"repo":"o/r"},{"kind":"external","note":"a b","number":null,"repo":"o/r"},{"kind":"pr","note":null,"number":4,"repo":"x/y"}],"followup":{"kind":"waiver","reason":"r s"}},"head_transition":false,"ledger":"issue-debt","observed_at":"2026-09-17T19:00:00.500000Z","schema":"debt-ledger-observation/v1"}"#,
        "obs-945d11f0bac579d6",
    );
}

#[test]
fn vector_4_large_integers_and_nulls() {
    check(
        "issue-debt",
        r#"{"actor":"a","observed_at":"2026-09-17T19:00:00Z","evidence":"e","entity":{"repo":"o/r","issue":3},"note":null,"message_id":null,"fields":{"followup":null,"remaining_atomic_prs":9007199254740993,"eat_hours":12345678901234567}}"#,
        r#"{"actor":"a","confidence":"medium","entity":{"issue":3,"repo":"o/r"},"evidence":"e","fields":{"eat_hours":1.2345678901234568e+16,"followup":null,"remaining_atomic_prs":9007199254740993},"head_transition":false,"ledger":"issue-debt","observed_at":"2026-09-17T19:00:00Z","schema":"debt-ledger-observation/v1"}"#,
        "obs-ee6a0fb0034c9c73",
    );
}

#[test]
fn vector_5_a_device_with_every_field() {
    check(
        "gpu-reservation",
        r#"{"actor":"m:w","observed_at":"2026-09-17T19:00:00Z","evidence":"nvidia-smi","entity":{"machine":" m.1 ","gpu_index":0},"fields":{"state":"held","holder":" m:w ","workload":"\u001fPPO\u2028walk ","started_at":"2026-09-17t18:00:00-00:00","expected_end":"2026-09-17T22:00:00.000000z","issue":" o/r#16737 "}}"#,
        r#"{"actor":"m:w","confidence":"medium","entity":{"gpu_index":0,"machine":"m.1"},"evidence":"nvidia-smi","fields":{"expected_end":"2026-09-17T22:00:00Z","holder":"m:w","issue":"o/r#16737","started_at":"2026-09-17T18:00:00Z","state":"held","workload":"PPO walk"},"head_transition":false,"ledger":"gpu-reservation","observed_at":"2026-09-17T19:00:00Z","schema":"debt-ledger-observation/v1"}"#,
        "obs-c15e4aac4e840f6a",
    );
}

#[test]
fn vector_6_quotes_and_slashes() {
    check(
        "gpu-reservation",
        r#"{"actor":"m:w","observed_at":"2026-09-17T19:00:00Z","evidence":"quote \" back\\ slash /","entity":{"machine":"m","gpu_index":2},"fields":{"state":"released"}}"#,
        r#"{"actor":"m:w","confidence":"medium","entity":{"gpu_index":2,"machine":"m"},"evidence":"quote \" back\\ slash /","fields":{"state":"released"},"head_transition":false,"ledger":"gpu-reservation","observed_at":"2026-09-17T19:00:00Z","schema":"debt-ledger-observation/v1"}"#,
        "obs-fef6f395aa8dd991",
    );
}
