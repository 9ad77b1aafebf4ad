//! Reads what a kind answered and refuses what makes no sense, so that a plugin's mistake never reaches a file.

use plugin_api::answer::{Custom, Judged as Answered, Observed};
use plugin_api::{Failure, KindDeclaration, Refusal, StatusText, Value, VerbAnswer, json};

use super::kind::{Batch, BatchCustom, BatchObservation, Judged, KindFailure};
use crate::reasons::{Fatal, Reason};

/// Exit codes that belong to a kind's verbs end here (DECISIONS 1.4).
const MAX_EXIT: i64 = 15;

impl<'a> Observed<'a> for BatchObservation<'a> {
    fn entity(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.entity.iter().copied()
    }

    fn actor(&self) -> &'a str {
        self.actor
    }

    fn evidence(&self) -> &'a str {
        self.evidence
    }

    fn observed_at(&self) -> &'a str {
        self.observed_at
    }
}

impl<'a> Custom<'a> for BatchCustom<'a> {
    fn observation(&self) -> usize {
        self.observation
    }

    fn field(&self) -> usize {
        self.field
    }

    fn value(&self) -> &'a str {
        self.value
    }
}

/// A failure of the kind in a call.
#[must_use]
pub fn failure(declaration: &KindDeclaration, call: &'static str, failure: Failure) -> KindFailure {
    KindFailure { plugin: declaration.name.clone(), call, code: failure.code, message: failure.message }
}

fn invalid(message: String) -> Failure {
    Failure::new("invalid_answer", message)
}

/// Checks the answer to a batch.
///
/// # Errors
/// Code `invalid_answer`: an index out of range or out of order, a reason that nobody declared, a number of verdicts
/// other than that of the values, or a normalised value that no observation may hold.
pub fn judged(declaration: &KindDeclaration, batch: &Batch<'_>, answered: Answered) -> Result<Judged, Failure> {
    let mut next = 0;
    for (index, refusal) in &answered.refused {
        if *index < next || *index >= batch.observations.len() {
            let count = batch.observations.len();
            return Err(invalid(format!("refused observation {index} is out of order, or not one of {count}")));
        }
        next = index + 1;
        check_reason(declaration, refusal)?;
    }
    if answered.customs.len() != batch.customs.len() {
        let (values, verdicts) = (batch.customs.len(), answered.customs.len());
        return Err(invalid(format!("{values} custom values got {verdicts} verdicts")));
    }
    for (verdict, custom) in answered.customs.iter().zip(&batch.customs) {
        match verdict {
            // Already normal, and the host's own text: nothing to read again.
            Ok(text) if text == custom.value => {}
            Ok(text) => check_value(text).map_err(|why| {
                let field = declaration.fields.get(custom.field).map_or("", |field| &field.name);
                invalid(format!("the normalised value of {field} {why}"))
            })?,
            Err(refusal) => check_reason(declaration, refusal)?,
        }
    }
    Ok(Judged { refused: answered.refused, customs: answered.customs })
}

fn check_value(text: &str) -> Result<(), String> {
    let document = json::read(text).map_err(|error| format!("is not JSON: {error}"))?;
    if let Some(key) = document.duplicate {
        return Err(format!("has the key {key} twice"));
    }
    document.big_integer.map_or(Ok(()), |digits| Err(format!("has the integer {digits}, which does not fit 64 bits")))
}

fn check_reason(declaration: &KindDeclaration, refusal: &Refusal) -> Result<(), Failure> {
    let host = Reason::ALL.iter().map(|reason| reason.code());
    let own = declaration.reasons.iter().map(|reason| reason.code.as_str());
    if host.chain(own).any(|code| code == refusal.code) {
        return Ok(());
    }
    Err(invalid(format!(
        "{} is a reason that neither the host nor the kind has; its detail: {}",
        refusal.code, refusal.detail
    )))
}

/// Reads the kind's part of the summary.
///
/// # Errors
/// Code `invalid_answer` when it is not an object, or has a key twice.
pub fn summary(text: &str) -> Result<Vec<(String, Value<'static>)>, Failure> {
    let document = json::read(text).map_err(|error| invalid(format!("the summary is not JSON: {error}")))?;
    if let Some(key) = document.duplicate {
        return Err(invalid(format!("the summary has the key {key} twice")));
    }
    let sort = document.value.kind();
    let Value::Object(entries) = document.value else {
        return Err(invalid(format!("the summary is {sort}, not an object")));
    };
    Ok(entries.into_iter().map(|(key, value)| (key.into_owned(), value.into_owned())).collect())
}

/// Reads the kind's status lines.
///
/// # Errors
/// Code `invalid_answer` when a list is absent, has too many lines, or a line breaks.
pub fn status(text: &str, max_rows: usize) -> Result<StatusText, Failure> {
    let document = json::read(text).map_err(|error| invalid(format!("the status is not JSON: {error}")))?;
    let status = StatusText { head: lines(&document.value, "head")?, rows: lines(&document.value, "rows")? };
    if status.rows.len() > max_rows {
        return Err(invalid(format!("the status has {} rows, {max_rows} were asked for", status.rows.len())));
    }
    Ok(status)
}

fn lines(status: &Value<'_>, key: &str) -> Result<Vec<String>, Failure> {
    let lines = status.get(key).and_then(Value::as_list);
    let lines = lines.ok_or_else(|| invalid(format!("the status has no list {key}")))?;
    lines
        .iter()
        .map(|line| match line.as_text() {
            Some(text) if !text.contains(['\n', '\r']) => Ok(text.to_owned()),
            Some(text) => Err(invalid(format!("a status line breaks: {text:?}"))),
            None => Err(invalid(format!("a status line is {}", line.kind()))),
        })
        .collect()
}

/// Reads the answer of a verb.
///
/// # Errors
/// Code `invalid_answer` when a part is absent or of another type, or the exit code is not the kind's.
pub fn verb(declaration: &KindDeclaration, text: &str) -> Result<VerbAnswer, Failure> {
    let document = json::read(text).map_err(|error| invalid(format!("the answer is not JSON: {error}")))?;
    let answer = document.value;
    let exit = answer.get("exit").and_then(Value::as_integer).filter(|exit| (0..=MAX_EXIT).contains(exit));
    let exit = exit.and_then(|exit| u8::try_from(exit).ok());
    let exit = exit.ok_or_else(|| invalid(format!("the exit code is not one of 0 to {MAX_EXIT}")))?;
    let part = |key: &str| {
        let text = answer.get(key).and_then(Value::as_text).map(str::to_owned);
        text.ok_or_else(|| invalid(format!("the answer has no text {key}")))
    };
    if answer.get("code").is_none() {
        let json = answer.get("json").filter(|json| json.as_object().is_some()).cloned();
        let json = json.ok_or_else(|| invalid("the answer has no object json".to_owned()))?;
        return Ok(VerbAnswer::Answer { exit, text: part("text")?, json: json.into_owned() });
    }
    let refusal = Refusal { code: part("code")?, detail: part("detail")? };
    if exit == 0 {
        return Err(invalid(format!("{} is a refusal with exit code 0", refusal.code)));
    }
    if !Fatal::ALL.iter().any(|fatal| fatal.code() == refusal.code) {
        check_reason(declaration, &refusal)?;
    }
    Ok(VerbAnswer::Refused { exit, refusal })
}

#[cfg(test)]
mod tests {
    use plugin_api::LedgerKind as _;
    use test_plugin_shelf::Shelf;

    use super::*;

    /// What a batch of two observations and one custom value makes of the answer.
    #[track_caller]
    fn check_judged(refused: &[usize], customs: &[&str], expected: &str) {
        let observation = || BatchObservation {
            entity: vec!["m", "1"],
            actor: "me",
            evidence: "seen",
            observed_at: "2026-09-17T19:00:00Z",
        };
        let batch = Batch {
            observations: vec![observation(), observation()],
            customs: vec![BatchCustom { observation: 0, field: 6, value: "[]" }],
        };
        let answered = Answered {
            refused: refused.iter().map(|index| (*index, Refusal::new("hearsay", ""))).collect(),
            customs: customs.iter().map(|text| Ok((*text).to_owned())).collect(),
        };
        let found = judged(&Shelf.declaration(), &batch, answered).map(|_| ());
        assert_eq!(found.map_or_else(|failure| failure.message, |()| "fine".to_owned()), expected);
    }

    #[track_caller]
    fn check_status(text: &str, expected: &str) {
        let found = status(text, 1).map_or_else(|failure| failure.message, |status| status.rows.join(","));
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn check_verb(text: &str, expected: &str) {
        let found = verb(&Shelf.declaration(), text).map(|answer| match answer {
            VerbAnswer::Answer { exit, text, .. } => format!("{exit} {text}"),
            VerbAnswer::Refused { exit, refusal } => format!("{exit} {}", refusal.code),
        });
        assert_eq!(found.unwrap_or_else(|failure| failure.message), expected);
    }

    #[test]
    fn refusals_stand_in_order_and_in_range() {
        check_judged(&[0, 1], &["[]"], "fine");
        check_judged(&[1, 1], &["[]"], "refused observation 1 is out of order, or not one of 2");
        check_judged(&[2], &["[]"], "refused observation 2 is out of order, or not one of 2");
    }

    #[test]
    fn each_value_gets_exactly_one_verdict() {
        check_judged(&[], &[], "1 custom values got 0 verdicts");
        check_judged(&[], &["[]", "[]"], "1 custom values got 2 verdicts");
    }

    #[test]
    fn a_normalised_value_has_each_key_once() {
        check_judged(&[], &[r#"{"a":1,"a":2}"#], "the normalised value of parts has the key a twice");
    }

    #[test]
    fn a_summary_is_an_object_with_each_key_once() {
        assert_eq!(
            summary("[]").map_err(|failure| failure.message),
            Err("the summary is a list, not an object".to_owned())
        );
        let twice = summary(r#"{"a":1,"a":2}"#).map_err(|failure| failure.message);
        assert_eq!(twice, Err("the summary has the key a twice".to_owned()));
    }

    #[test]
    fn status_lines_are_texts_of_one_line() {
        check_status(r#"{"head":[],"rows":["a"],"later":1}"#, "a");
        check_status(r#"{"head":[]}"#, "the status has no list rows");
        check_status(r#"{"head":[1],"rows":[]}"#, "a status line is an integer");
        check_status(r#"{"head":["a\nb"],"rows":[]}"#, r#"a status line breaks: "a\nb""#);
    }

    #[test]
    fn a_verb_answers_with_text_and_object_or_refuses_with_a_known_code() {
        check_verb(r#"{"exit":15,"text":"t","json":{}}"#, "15 t");
        check_verb(r#"{"exit":0,"text":"t","json":[]}"#, "the answer has no object json");
        check_verb(r#"{"exit":0,"json":{}}"#, "the answer has no text text");
        check_verb(r#"{"exit":-1,"text":"t","json":{}}"#, "the exit code is not one of 0 to 15");
        check_verb(r#"{"exit":2,"code":"entity_mismatch","detail":"d"}"#, "2 entity_mismatch");
        check_verb(r#"{"exit":2,"code":"hearsay","detail":"d"}"#, "2 hearsay");
        check_verb(r#"{"exit":2,"code":"INVALID_ENTITY","detail":"d"}"#, "2 INVALID_ENTITY");
        check_verb(r#"{"exit":0,"code":"hearsay","detail":"d"}"#, "hearsay is a refusal with exit code 0");
        check_verb(
            r#"{"exit":2,"code":"odd","detail":"d"}"#,
            "odd is a reason that neither the host nor the kind has; its detail: d",
        );
    }
}
