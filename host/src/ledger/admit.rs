//! Brings host and kind together: a batch of drafts in, observations or refusals out (DECISIONS 6.2).

use plugin_api::json::{self, Layout};
use plugin_api::{Refusal, Value};

use super::canonical::observation_id;
use super::kind::{Batch, BatchCustom, Judged, KindFailure};
use super::observation::{Draft, Failure, Observation, refusal};
use super::printed::Printed;
use super::record::ObservationId;
use super::shape::Shape;
use super::values::shown;
use crate::reasons::Reason;

/// An observation that passed every check, with its id.
#[derive(Clone, Debug)]
pub struct Admitted<'v> {
    /// The observation.
    pub observation: Observation<'v>,
    /// Its id.
    pub id: ObservationId,
    /// Whether the envelope itself names the actor.
    pub names_actor: bool,
}

/// Judges `drafts` with one call of the kind. Answers come in the order of the drafts.
///
/// # Errors
/// [`KindFailure`] when the kind gave no usable answer.
pub fn admit<'v>(drafts: Vec<Draft<'v>>, shape: &Shape<'_>) -> Result<Vec<Result<Admitted<'v>, Refusal>>, KindFailure> {
    let judged = ask(&drafts, shape)?;
    let mut refused = judged.refused.into_iter().peekable();
    let mut customs = judged.customs.into_iter();
    let mut scratch = String::with_capacity(512);
    let mut out = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.into_iter().enumerate() {
        let extra = refused.next_if(|(at, _)| *at == index).map(|(_, refusal)| refusal);
        let verdicts = draft.customs_asked();
        let answers: smallvec::SmallVec<[_; 2]> = customs.by_ref().take(verdicts).collect();
        out.push(finish(draft, extra, answers, shape, &mut scratch)?);
    }
    Ok(out)
}

impl Draft<'_> {
    /// Custom values whose answer can matter: those before the first failure of the host's checks.
    fn customs_asked(&self) -> usize {
        match &self.failure {
            None => self.customs.len(),
            Some(failure) => self.customs.iter().filter(|custom| (13, custom.position) < failure.at).count(),
        }
    }
}

fn ask(drafts: &[Draft<'_>], shape: &Shape<'_>) -> Result<Judged, KindFailure> {
    let asked = || {
        drafts.iter().enumerate().flat_map(|(index, draft)| {
            draft.customs.iter().take(draft.customs_asked()).map(move |custom| (index, custom))
        })
    };
    let texts: Vec<String> = asked().map(|(_, custom)| json::text(custom.value, Layout::Compact)).collect();
    if texts.is_empty() && !shape.declaration().checks_observations {
        return Ok(Judged::default());
    }
    let mut printed = Printed::default();
    for draft in drafts {
        printed.add(&draft.observation.identity, draft.observation.rendered_at.as_str());
    }
    let mut lender = printed.lend();
    let observations = drafts.iter().map(|draft| {
        let Observation { identity, actor, evidence, .. } = &draft.observation;
        lender.observation(identity, actor, evidence)
    });
    let observations = observations.collect();
    let customs = asked().zip(&texts).map(|((observation, custom), value)| BatchCustom {
        observation,
        field: usize::from(custom.field),
        value,
    });
    shape.kind().judge(&Batch { observations, customs: customs.collect() })
}

type Answers = smallvec::SmallVec<[Result<String, Refusal>; 2]>;

/// The lowest check number wins, inside 13 the lowest place; then the id.
fn finish<'v>(
    draft: Draft<'v>,
    extra: Option<Refusal>,
    answers: Answers,
    shape: &Shape<'_>,
    scratch: &mut String,
) -> Result<Result<Admitted<'v>, Refusal>, KindFailure> {
    let Draft { mut observation, customs, claimed_id, names_actor, failure } = draft;
    let mut first = failure;
    let mut consider = |at, refusal| {
        if first.as_ref().is_none_or(|first| at < first.at) {
            first = Some(Failure { at, refusal });
        }
    };
    if let Some(refusal) = extra {
        consider((10, 0), refusal);
    }
    for (custom, answer) in customs.iter().zip(answers) {
        match answer {
            Err(refusal) => consider((13, custom.position), refusal),
            Ok(text) => observation.fields.push((custom.field, parse_answer(&text, shape)?)),
        }
    }
    if let Some(failure) = first {
        return Ok(Err(failure.refusal));
    }
    let id = observation_id(scratch, &observation, shape);
    if let Some(claimed) = claimed_id
        && claimed.as_text().and_then(ObservationId::parse) != Some(id)
    {
        let detail = format!("observation_id is {}, the content's is {id}", shown(claimed));
        return Ok(Err(refusal(Reason::ObservationIdMismatch, detail)));
    }
    Ok(Ok(Admitted { observation, id, names_actor }))
}

/// Reads a normalised value as the kind gave it.
///
/// # Errors
/// [`KindFailure`] when it is not JSON that an envelope could hold.
pub(super) fn parse_answer(text: &str, shape: &Shape<'_>) -> Result<Value<'static>, KindFailure> {
    match json::read(text) {
        Ok(document) if document.duplicate.is_none() && document.big_integer.is_none() => {
            Ok(document.value.into_owned())
        }
        Ok(_) | Err(_) => Err(KindFailure {
            plugin: shape.ledger().to_owned(),
            call: "judge",
            code: "invalid_answer".to_owned(),
            message: format!("a normalised value is not JSON that an envelope may hold: {}", shown(&Value::from(text))),
        }),
    }
}
