//! For tests of plugins: a scripted host, and the conformance suite that `host plugin test` runs.
//!
//! ```text
//! [dev-dependencies]
//! plugin-api = { package = "host-plugin-api", version = "1", features = ["testkit"] }
//!
//! #[test]
//! fn it_conforms() {
//!     plugin_api::testkit::assert_kind(&rules::Lamp);
//! }
//! ```
//!
//! The suite knows what every kind and every organ owes its host. It does not know what yours means: that takes tests of
//! your own.

mod kind;
mod organ;
mod samples;
mod script;

pub use kind::{KIND_CHECKS, KindRun, KindUnderTest, Linked, Sample, SampleCustom};
pub use organ::{LinkedOrgan, ORGAN_CHECKS, OrganRun, OrganUnderTest, SessionUnderTest, SharedLink};
pub use samples::{Rows, hostile_rows, hostile_values};
pub use script::{Asked, Script};

use crate::kind::LedgerKind;
use crate::organ::Organ;

/// One demand of the suite; `R` measures it, and its error says what was found instead.
#[derive(Clone, Copy, Debug)]
pub struct Check<R> {
    /// Its name, in words with dashes.
    pub name: &'static str,
    /// What it demands, half a sentence.
    pub demand: &'static str,
    /// Measures it.
    pub run: R,
}

/// Runs every check on a kind that is linked in.
///
/// # Panics
/// When one fails; the message has a line for each.
#[track_caller]
pub fn assert_kind<K: LedgerKind>(kind: &K) {
    assert_all(KIND_CHECKS.iter().map(|check| (check.name, check.demand, (check.run)(&Linked(kind)))));
}

/// Runs every check on an organ that is linked in.
///
/// # Panics
/// When one fails; the message has a line for each.
#[track_caller]
pub fn assert_organ<O: Organ>(organ: &O) {
    assert_all(ORGAN_CHECKS.iter().map(|check| (check.name, check.demand, (check.run)(&LinkedOrgan(organ)))));
}

#[track_caller]
fn assert_all(checks: impl Iterator<Item = (&'static str, &'static str, Result<(), String>)>) {
    let failed = checks.filter_map(|(name, demand, found)| Some(format!("{name} ({demand}): {}", found.err()?)));
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::declaration::{
        EntityDeclaration, EntityKey, EntityKeyType, FieldDeclaration, FieldType, KeyPart, KindDeclaration,
        VerdictDeclaration,
    };
    use crate::json::Value;
    use crate::kind::{Entity, Failure, LedgerView, Refusal, StatusText};

    /// What a kind does wrong.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    enum Wrong {
        #[default]
        Nothing,
        SummaryCounts,
        SummaryPanicsOnNoRows,
        StatusIsLong,
        NormalisesAgain,
        JudgesByCount,
    }

    #[derive(Debug, Default)]
    struct Kind {
        wrong: Wrong,
        calls: AtomicUsize,
    }

    impl LedgerKind for Kind {
        const NAME: &'static str = "wrong";

        fn declaration(&self) -> KindDeclaration {
            let field = |name: &str, kind| FieldDeclaration { name: name.into(), kind, description: "A field".into() };
            KindDeclaration {
                name: "wrong".into(),
                version: "1.0.0".into(),
                description: "A kind".into(),
                workspace: "w".into(),
                entity: EntityDeclaration {
                    keys: vec![EntityKey { name: "n".into(), kind: EntityKeyType::Positive }],
                    row_key: vec![KeyPart::Key("n".into())],
                    printed: "N".into(),
                },
                fields: vec![
                    field("state", FieldType::Enum(vec!["open".into(), "done".into()])),
                    field("own", FieldType::Custom("own".into())),
                ],
                verdict: VerdictDeclaration { field: "state".into(), terminal: "done".into() },
                due: None,
                checks_observations: false,
                reasons: Vec::new(),
                verbs: Vec::new(),
                accepted: Vec::new(),
                refused: Vec::new(),
            }
        }

        fn normalise(&self, _: &str, value: &Value<'_>, _: &Entity<'_>) -> Result<Value<'static>, Refusal> {
            let Some(text) = value.as_text() else { return Err(Refusal::invalid_value("not a text")) };
            let calls = self.calls.fetch_add(1, Ordering::SeqCst);
            match self.wrong {
                Wrong::NormalisesAgain => Ok(Value::from(format!("{text}!"))),
                Wrong::JudgesByCount if calls % 2 == 1 => Err(Refusal::invalid_value("not today")),
                Wrong::Nothing
                | Wrong::SummaryCounts
                | Wrong::SummaryPanicsOnNoRows
                | Wrong::StatusIsLong
                | Wrong::JudgesByCount => Ok(Value::string(text)),
            }
        }

        fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
            let calls = self.calls.fetch_add(1, Ordering::SeqCst);
            assert!(self.wrong != Wrong::SummaryPanicsOnNoRows || !ledger.rows.is_empty(), "no rows");
            let count = if self.wrong == Wrong::SummaryCounts { calls } else { 0 };
            Ok(vec![("calls".to_owned(), Value::integer(count as u64))])
        }

        fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, Failure> {
            let most = if self.wrong == Wrong::StatusIsLong { usize::MAX } else { max_rows };
            let rows = ledger.live().take(most).map(|row| row.key.to_owned()).collect();
            Ok(StatusText { head: Vec::new(), rows })
        }
    }

    /// As a loaded kind: guarded.
    struct Guarded(Kind);

    impl KindUnderTest for Guarded {
        fn declaration(&self) -> Result<KindDeclaration, Failure> {
            Ok(self.0.declaration())
        }

        fn judge(&self, samples: &[Sample], customs: &[SampleCustom]) -> Result<crate::answer::Judged, Failure> {
            Linked(&self.0).judge(samples, customs)
        }

        fn summary(&self, ledger: &LedgerView<'_>) -> Result<String, Failure> {
            crate::guard::guard(|| Linked(&self.0).summary(ledger))
        }

        fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<String, Failure> {
            Linked(&self.0).status(ledger, max_rows)
        }
    }

    #[track_caller]
    fn check(wrong: Wrong, failing: &[&str]) {
        let failed = KIND_CHECKS.iter().filter(|check| {
            let kind = Guarded(Kind { wrong, ..Kind::default() });
            (check.run)(&kind).is_err()
        });
        assert_eq!(failed.map(|check| check.name).collect::<Vec<_>>(), failing);
    }

    #[test]
    fn a_sound_kind_passes_every_check() {
        check(Wrong::Nothing, &[]);
    }

    #[test]
    fn each_wrong_fails_the_check_that_is_for_it() {
        check(Wrong::SummaryCounts, &["summary-is-pure"]);
        check(Wrong::SummaryPanicsOnNoRows, &["empty-ledger"]);
        check(Wrong::StatusIsLong, &["status-is-bounded"]);
        check(Wrong::NormalisesAgain, &["normalising-settles"]);
        check(Wrong::JudgesByCount, &["judging-is-pure", "normalising-settles"]);
    }
}
