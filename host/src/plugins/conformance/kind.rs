//! The checks of a kind that need the host's rules, and the loaded kind as the suite sees it.

use plugin_api::answer::Judged;
use plugin_api::json::{self, Layout};
use plugin_api::testkit::{Check, KIND_CHECKS, KindUnderTest, Sample, SampleCustom};
use plugin_api::{Failure, FieldType, KindDeclaration, LedgerView, Value};

use super::TestError;
use crate::ledger::admit::admit;
use crate::ledger::canonical::{ENVELOPE_PREFIX, envelope_line};
use crate::ledger::envelope;
use crate::ledger::fatal::FatalError;
use crate::ledger::kind::{Batch, BatchCustom, BatchObservation, Kind, KindFailure};
use crate::ledger::observation::{Defaults, draft};
use crate::ledger::shape::Shape;
use crate::ledger::values::typed_value;
use crate::plugins::kind::LoadedKind;
use crate::plugins::load::Plugin;
use crate::reasons::Fatal;

type Own = fn(&LoadedKind) -> Result<(), String>;

/// The checks that need the host's rules.
pub(super) const CHECKS: &[Check<Own>] = &[
    Check { name: "fields-have-types", demand: "accepts and refuses in every field what its type says", run: fields },
    Check { name: "examples-hold", demand: "accepts and refuses its examples as declared", run: examples },
    Check { name: "examples-settle", demand: "accepts what it accepted once more, unchanged", run: settle },
];

/// Makes one check of the kind `name`.
pub(super) fn run(plugin: &Plugin, name: &str, check: &str) -> Result<Result<(), String>, TestError> {
    let kind = LoadedKind::open(plugin, name)?;
    if let Some(own) = CHECKS.iter().find(|own| own.name == check) {
        return Ok((own.run)(&kind));
    }
    let common = KIND_CHECKS.iter().find(|common| common.name == check);
    let common = common.ok_or_else(|| TestError::Unknown(format!("check {check}")))?;
    Ok((common.run)(&Subject { plugin, kind: &kind }))
}

/// A loaded kind as the suite sees it.
struct Subject<'s> {
    plugin: &'s Plugin,
    kind: &'s LoadedKind,
}

fn failure(failure: KindFailure) -> Failure {
    Failure::new(failure.code, failure.message)
}

impl KindUnderTest for Subject<'_> {
    fn declaration(&self) -> Result<KindDeclaration, Failure> {
        // Asked again, so that one that changes is found out.
        let declared = self.plugin.declare_again().map_err(|error| Failure::new("declaration", error.to_string()))?;
        let own = declared.into_iter().find(|declared| declared.name == self.kind.declaration().name);
        own.ok_or_else(|| Failure::new("declaration", "the second time it is not there"))
    }

    fn judge(&self, samples: &[Sample], customs: &[SampleCustom]) -> Result<Judged, Failure> {
        let observations = samples.iter().map(|sample| BatchObservation {
            entity: sample.entity.iter().map(String::as_str).collect(),
            actor: "machine:workspace",
            evidence: "conformance",
            observed_at: "2026-01-01T00:00:00Z",
        });
        let customs = customs.iter().map(|custom| BatchCustom {
            observation: custom.observation,
            field: custom.field,
            value: &custom.value,
        });
        let batch = Batch { observations: observations.collect(), customs: customs.collect() };
        let judged = self.kind.judge(&batch).map_err(failure)?;
        Ok(Judged { refused: judged.refused, customs: judged.customs })
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<String, Failure> {
        let summary = self.kind.summary(ledger).map_err(failure)?;
        Ok(json::text(&Value::object(summary), Layout::Compact))
    }

    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<String, Failure> {
        let status = self.kind.status(ledger, max_rows).map_err(failure)?;
        let list = |lines: Vec<String>| Value::List(lines.into_iter().map(Value::from).collect());
        Ok(json::text(&Value::object([("head", list(status.head)), ("rows", list(status.rows))]), Layout::Compact))
    }
}

/// Values that a type accepts, and values that it refuses.
fn values(kind: &FieldType) -> (Vec<Value<'_>>, Vec<Value<'_>>) {
    let text = Value::from;
    match kind {
        FieldType::Enum(words) => (words.iter().map(|word| text(word.as_str())).collect(), vec![text(""), Value::Null]),
        FieldType::Bool => (vec![Value::Bool(true)], vec![Value::Integer(1), text("true")]),
        FieldType::Int => (vec![Value::Integer(0)], vec![Value::Integer(-1), Value::Float(1.5), text("1")]),
        FieldType::Hours => (vec![Value::Float(0.5), Value::Integer(2)], vec![Value::Integer(-1), text("2")]),
        FieldType::Text => (vec![text("a text")], vec![text(" "), Value::Integer(1)]),
        FieldType::Lane => (vec![text("m-1"), text("m-1:w")], vec![text("m 1"), text(":"), Value::Null]),
        FieldType::UtcTimestamp => {
            (vec![text("2026-01-01T00:00:00Z")], vec![text("2026-01-01T00:00:00"), text("2026-01-01"), Value::Null])
        }
        FieldType::IssueRef => (vec![text("owner/name#1")], vec![text("owner/name"), text("#1"), Value::Integer(1)]),
        // The kind says what fits; examples show it.
        FieldType::Custom(_) => (Vec::new(), Vec::new()),
    }
}

fn fields(kind: &LoadedKind) -> Result<(), String> {
    let shape = Shape::new(kind);
    for (index, field) in (0..).zip(&kind.declaration().fields) {
        let (accepted, refused) = values(&field.kind);
        for value in accepted {
            typed_value(&shape, index, &value).map_err(|refusal| format!("{}: {}", field.name, refusal.detail))?;
        }
        for value in refused {
            if typed_value(&shape, index, &value).is_ok() {
                return Err(format!("{} accepts {}", field.name, json::excerpt(&value)));
            }
        }
        let shown = kind
            .declaration()
            .accepted
            .iter()
            .any(|example| example.observation.contains(&format!("\"{}\"", field.name)));
        if matches!(field.kind, FieldType::Custom(_)) && !shown {
            return Err(format!("{} is a custom field, and no accepted example has a value for it", field.name));
        }
    }
    Ok(())
}

fn examples(kind: &LoadedKind) -> Result<(), String> {
    let declaration = kind.declaration();
    if declaration.accepted.is_empty() || declaration.refused.is_empty() {
        return Err("it declares no accepted or no refused example, so that nothing here measures it".to_owned());
    }
    for example in &declaration.accepted {
        line(kind, &example.observation).map_err(|error| format!("{:?} is refused: {error}", example.title))?;
    }
    for example in &declaration.refused {
        match line(kind, &example.observation) {
            Ok(_) => return Err(format!("{:?} is accepted", example.title)),
            Err(error) if error.code == example.reason => {}
            Err(error) => {
                return Err(format!("{:?} is refused for {}, not {}", example.title, error.code, example.reason));
            }
        }
    }
    Ok(())
}

fn settle(kind: &LoadedKind) -> Result<(), String> {
    for example in &kind.declaration().accepted {
        let told = |error: FatalError| format!("{:?}: {error}", example.title);
        let once = line(kind, &example.observation).map_err(told)?;
        if line(kind, &once).map_err(told)? != once {
            return Err(format!("{:?} becomes another observation when it is read again", example.title));
        }
    }
    Ok(())
}

/// An observation as the host stores it.
fn line(kind: &LoadedKind, observation: &str) -> Result<String, FatalError> {
    let shape = Shape::new(kind);
    let document = json::read(observation).map_err(|error| Fatal::InvalidJson.with(error.to_string()))?;
    envelope::check(&document)?;
    let (actor, observed_at) = (Value::from("machine:workspace"), Value::from("2026-01-01T00:00:00Z"));
    let defaults = Defaults { actor: Some(&actor), observed_at: Some(&observed_at), ..Defaults::default() };
    let draft = draft(&document.value, &defaults, &shape)?;
    let judged = admit(vec![draft], &shape)?.pop();
    let admitted = judged.ok_or_else(|| Fatal::PluginFailed.with("no verdict on the observation"))??;
    let line = envelope_line(&admitted.observation, admitted.id, &shape);
    Ok(line.strip_prefix(ENVELOPE_PREFIX).unwrap_or(&line).trim_start().to_owned())
}
