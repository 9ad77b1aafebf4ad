//! What every kind owes its host.

use super::Check;
use super::samples::{hostile_rows, hostile_values};
use crate::answer::{self, Custom, Judged, Observed};
use crate::declaration::{FieldType, KindDeclaration};
use crate::json;
use crate::kind::{Counts, Failure, LedgerKind, LedgerView};

/// A kind, however it is reached.
pub trait KindUnderTest: Sync {
    /// [`LedgerKind::declaration`]
    ///
    /// # Errors
    /// When it panics.
    fn declaration(&self) -> Result<KindDeclaration, Failure>;

    /// Judges a batch.
    ///
    /// # Errors
    /// The kind's failure.
    fn judge(&self, samples: &[Sample], customs: &[SampleCustom]) -> Result<Judged, Failure>;

    /// [`LedgerKind::summary`] as JSON text.
    ///
    /// # Errors
    /// The kind's failure.
    fn summary(&self, ledger: &LedgerView<'_>) -> Result<String, Failure>;

    /// [`LedgerKind::status`] as JSON text.
    ///
    /// # Errors
    /// The kind's failure.
    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<String, Failure>;
}

/// An observation of a batch.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Printed values of the entity, in declared order.
    pub entity: Vec<String>,
}

/// A custom value of a batch.
#[derive(Clone, Debug)]
pub struct SampleCustom {
    /// Index of its observation.
    pub observation: usize,
    /// Index of its field among the declared ones.
    pub field: usize,
    /// The value as JSON text.
    pub value: String,
}

/// A kind that is linked in.
pub struct Linked<'k, K>(pub &'k K);

struct SampleView<'s>(&'s Sample);

impl<'s> Observed<'s> for SampleView<'s> {
    fn entity(&self) -> impl ExactSizeIterator<Item = &'s str> {
        self.0.entity.iter().map(String::as_str)
    }

    fn actor(&self) -> &'s str {
        "machine:workspace"
    }

    fn evidence(&self) -> &'s str {
        "conformance"
    }

    fn observed_at(&self) -> &'s str {
        "2026-01-01T00:00:00Z"
    }
}

struct CustomView<'s>(&'s SampleCustom);

impl<'s> Custom<'s> for CustomView<'s> {
    fn observation(&self) -> usize {
        self.0.observation
    }

    fn field(&self) -> usize {
        self.0.field
    }

    fn value(&self) -> &'s str {
        &self.0.value
    }
}

impl<K: LedgerKind> KindUnderTest for Linked<'_, K> {
    fn declaration(&self) -> Result<KindDeclaration, Failure> {
        Ok(self.0.declaration())
    }

    fn judge(&self, samples: &[Sample], customs: &[SampleCustom]) -> Result<Judged, Failure> {
        let declaration = self.0.declaration();
        let samples: Vec<_> = samples.iter().map(SampleView).collect();
        let customs: Vec<_> = customs.iter().map(CustomView).collect();
        answer::judge(self.0, &declaration, &samples, &customs)
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<String, Failure> {
        answer::summary(self.0, ledger)
    }

    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<String, Failure> {
        answer::status(self.0, ledger, max_rows)
    }
}

/// Measures a kind.
pub type KindRun = for<'k> fn(&(dyn KindUnderTest + 'k)) -> Result<(), String>;

/// The checks of a kind.
pub const KIND_CHECKS: &[Check<KindRun>] = &[
    Check { name: "declaration-is-stable", demand: "declares the same at every call", run: declaration_is_stable },
    Check { name: "judging-is-pure", demand: "judges the same in two threads and in any batch", run: judging_is_pure },
    Check { name: "normalising-settles", demand: "leaves a normalised value as it is", run: normalising_settles },
    Check { name: "empty-ledger", demand: "has a summary and a status for no rows", run: empty_ledger },
    Check { name: "hostile-rows", demand: "does not panic on rows with values of any type", run: hostile },
    Check { name: "summary-is-pure", demand: "gives the same bytes for the same rows", run: summary_is_pure },
    Check { name: "status-is-bounded", demand: "gives at most as many lines as asked for", run: status_is_bounded },
];

fn told(what: &str) -> impl Fn(Failure) -> String + '_ {
    move |failure| format!("{what}: {} ({})", failure.message, failure.code)
}

fn declaration_is_stable(kind: &(dyn KindUnderTest + '_)) -> Result<(), String> {
    let first = kind.declaration().map_err(told("declaration"))?;
    let second = kind.declaration().map_err(told("declaration"))?;
    if first == second { Ok(()) } else { Err("the second declaration differs from the first".to_owned()) }
}

/// A batch with every hostile value in every custom field.
fn batch(declaration: &KindDeclaration) -> (Vec<Sample>, Vec<SampleCustom>) {
    let fields = declaration.fields.iter().enumerate();
    let customs: Vec<usize> =
        fields.filter(|(_, field)| matches!(field.kind, FieldType::Custom(_))).map(|(index, _)| index).collect();
    let values = hostile_values();
    let samples = hostile_rows(declaration).lend(|ledger| {
        let entity =
            |row: &crate::kind::Row<'_>| row.entity.keys.iter().map(|(_, value)| (*value).to_owned()).collect();
        ledger.rows.iter().map(|row| Sample { entity: entity(row) }).collect::<Vec<_>>()
    });
    let each = values.iter().enumerate().flat_map(|(number, value)| {
        let observation = number % samples.len();
        customs.iter().map(move |field| SampleCustom { observation, field: *field, value: value.clone() })
    });
    let mut customs: Vec<SampleCustom> = each.collect();
    customs.sort_by_key(|custom| custom.observation);
    (samples, customs)
}

fn judging_is_pure(kind: &(dyn KindUnderTest + '_)) -> Result<(), String> {
    let declaration = kind.declaration().map_err(told("declaration"))?;
    let (samples, customs) = batch(&declaration);
    let judge = || kind.judge(&samples, &customs).map_err(told("judge"));
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(judge);
        (judge(), other.join().unwrap_or_else(|_| Err("judge panicked in a second thread".to_owned())))
    });
    let first = first?;
    if first != second? {
        return Err("two threads got different verdicts over the same batch".to_owned());
    }
    for (custom, verdict) in customs.iter().zip(&first.customs) {
        let alone = kind.judge(&samples, std::slice::from_ref(custom)).map_err(told("judge"))?;
        if alone.customs.first() != Some(verdict) {
            let name = &declaration.fields[custom.field].name;
            return Err(format!("{name} = {} is judged differently in a batch and alone", excerpt(&custom.value)));
        }
    }
    Ok(())
}

fn normalising_settles(kind: &(dyn KindUnderTest + '_)) -> Result<(), String> {
    let declaration = kind.declaration().map_err(told("declaration"))?;
    let (samples, mut customs) = batch(&declaration);
    customs.extend(of_examples(&declaration));
    let judged = kind.judge(&samples, &customs).map_err(told("judge"))?;
    for (custom, verdict) in customs.iter().zip(judged.customs) {
        let Ok(normalised) = verdict else { continue };
        let again = SampleCustom { value: normalised.clone(), ..custom.clone() };
        let again = kind.judge(&samples, &[again]).map_err(told("judge"))?;
        if again.customs.first() != Some(&Ok(normalised.clone())) {
            let name = &declaration.fields[custom.field].name;
            return Err(format!("{name}: {} is not normalised to itself", excerpt(&normalised)));
        }
    }
    Ok(())
}

/// Custom values of the declared examples.
fn of_examples(declaration: &KindDeclaration) -> Vec<SampleCustom> {
    let mut customs = Vec::new();
    for example in &declaration.accepted {
        let Ok(document) = json::read(&example.observation) else { continue };
        let Some(fields) = document.value.get("fields") else { continue };
        for (index, field) in declaration.fields.iter().enumerate() {
            if let (FieldType::Custom(_), Some(value)) = (&field.kind, fields.get(&field.name)) {
                let value = json::text(value, json::Layout::Compact);
                customs.push(SampleCustom { observation: 0, field: index, value });
            }
        }
    }
    customs
}

fn empty_ledger(kind: &(dyn KindUnderTest + '_)) -> Result<(), String> {
    let ledger = LedgerView { rows: &[], counts: Counts::default() };
    kind.summary(&ledger).map_err(told("summary"))?;
    kind.status(&ledger, 10).map_err(told("status")).map(|_| ())
}

fn hostile(kind: &(dyn KindUnderTest + '_)) -> Result<(), String> {
    let declaration = kind.declaration().map_err(told("declaration"))?;
    hostile_rows(&declaration).lend(|ledger| {
        // A failure is an answer to rows that no fold makes; a panic is none.
        let panics = |answer: Result<String, Failure>| answer.err().filter(|failure| failure.code == "panic");
        match panics(kind.summary(ledger)).or_else(|| panics(kind.status(ledger, 10))) {
            Some(failure) => Err(failure.message),
            None => Ok(()),
        }
    })
}

fn summary_is_pure(kind: &(dyn KindUnderTest + '_)) -> Result<(), String> {
    let declaration = kind.declaration().map_err(told("declaration"))?;
    hostile_rows(&declaration).lend(|ledger| {
        let both = || (kind.summary(ledger), kind.status(ledger, 10));
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(both);
            (both(), other.join())
        });
        let second = second.map_err(|_| "summary or status panicked in a second thread".to_owned())?;
        if first == second { Ok(()) } else { Err("two threads got different texts for the same rows".to_owned()) }
    })
}

fn status_is_bounded(kind: &(dyn KindUnderTest + '_)) -> Result<(), String> {
    let declaration = kind.declaration().map_err(told("declaration"))?;
    hostile_rows(&declaration).lend(|ledger| {
        let Ok(text) = kind.status(ledger, 1) else { return Ok(()) };
        let status: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let rows = status.get("rows").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
        if rows <= 1 { Ok(()) } else { Err(format!("{rows} lines where 1 was asked for")) }
    })
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}
