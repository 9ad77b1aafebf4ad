//! `append`: what it prints, what it writes, what it refuses, and the ids it gives (L 2, L 3, L 10.3, D12, N16 to N18).

mod entity;
mod identity;
mod output;
mod refusals;

use host_tests::{Ledger, Out};

/// Flags of an observation about `o/r#7` that every rule accepts; its id is the one of [`LINE`].
const FLAGS: [&str; 10] = [
    "--entity",
    "o/r#7",
    "--fields-json",
    r#"{"eat_hours":4}"#,
    "--actor",
    "po-1:w",
    "--observed-at",
    "2026-09-17T19:00:00Z",
    "--evidence",
    "gh issue view 7",
];

/// The envelope line of [`FLAGS`] (vector 1 of L 3).
const LINE: &str = concat!(
    r#"[OBS] {"actor":"po-1:w","confidence":"medium","entity":{"issue":7,"repo":"o/r"},"evidence":"gh issue view 7","#,
    r#""fields":{"eat_hours":4.0},"head_transition":false,"ledger":"issue-debt","#,
    r#""observation_id":"obs-0cb15eebe26dd713","observed_at":"2026-09-17T19:00:00Z","#,
    r#""schema":"debt-ledger-observation/v1"}"#
);

/// Appends the observation of [`FLAGS`] with more flags; a flag given again replaces the one of [`FLAGS`].
#[track_caller]
fn append(ledger: Ledger<'_>, more: &[&str]) -> Out {
    let kept = FLAGS.chunks(2).filter(|pair| !more.contains(&pair[0])).flatten();
    ledger.command("append", kept).args(more).run()
}
