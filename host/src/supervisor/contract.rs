//! The verdict over an answer that no check judges (DECISIONS 1.3): accepted when it is done and fits what the organ
//! declares, rejected when the organ says that it failed, undecidable in every other case.

use plugin_api::organ::{Answer, Outcome, ResultField, ResultType, Unit, Verdict};
use serde_json::Value as Json;

/// A verdict, and why it is not an acceptance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Stable code; none when accepted.
    pub code: Option<&'static str>,
    /// The same for a person, where the answer's own message does not say it.
    pub detail: Option<String>,
}

/// The verdict over `answer` to `unit`.
#[must_use]
pub fn judge(result: &[ResultField], unit: &Unit, answer: &Answer) -> Judgement {
    let undecidable = |code, detail| Judgement { verdict: Verdict::Undecidable, code: Some(code), detail };
    match answer.outcome {
        Outcome::Failed => Judgement { verdict: Verdict::Rejected, code: Some("failed"), detail: None },
        Outcome::Unreadable => undecidable("unreadable", None),
        Outcome::DependencyFailure => match &answer.requirement {
            Some(requirement) if unit.requires.contains(requirement) => {
                undecidable("dependency_failure", Some(format!("the requirement {requirement} is not met")))
            }
            Some(requirement) => {
                let declared = if unit.requires.is_empty() { "none".to_owned() } else { unit.requires.join(", ") };
                let detail = format!("{requirement} is not a declared requirement; declared: {declared}");
                undecidable("answer_does_not_fit", Some(detail))
            }
            None => undecidable("answer_does_not_fit", Some("it names no requirement".to_owned())),
        },
        Outcome::Done => match misfit(result, unit, answer) {
            Some(detail) => undecidable("answer_does_not_fit", Some(detail)),
            None => Judgement { verdict: Verdict::Accepted, code: None, detail: None },
        },
    }
}

fn misfit(result: &[ResultField], unit: &Unit, answer: &Answer) -> Option<String> {
    let editable = |path: &&String| unit.editable.contains(path);
    if let Some(path) = answer.files.keys().find(|path| !editable(path)) {
        return Some(format!("it brings {path:?}, which is not editable"));
    }
    if result.is_empty() {
        return None;
    }
    let Json::Object(value) = &answer.value else { return Some("its value is not an object".to_owned()) };
    if let Some(key) = value.keys().find(|key| result.iter().all(|field| field.name != **key)) {
        return Some(format!("its value has the key {key:?}, which the organ does not declare"));
    }
    result.iter().find_map(|field| match value.get(&field.name) {
        None | Some(Json::Null) if field.optional => None,
        None => Some(format!("its value has no {}", field.name)),
        Some(found) if fits(&field.kind, found) => None,
        Some(found) => Some(format!("{} is {found}, which its type does not allow", field.name)),
    })
}

fn fits(kind: &ResultType, found: &Json) -> bool {
    match kind {
        ResultType::Text => found.is_string(),
        ResultType::Integer => found.is_i64() || found.is_u64(),
        ResultType::Number => found.is_number(),
        ResultType::Bool => found.is_boolean(),
        ResultType::List => found.is_array(),
        ResultType::Object => found.is_object(),
        ResultType::Choice(words) => found.as_str().is_some_and(|word| words.iter().any(|one| one == word)),
        ResultType::Any => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result() -> Vec<ResultField> {
        let field = |name: &str, kind, optional| ResultField { name: name.into(), kind, optional };
        vec![
            field("sha", ResultType::Text, false),
            field("n", ResultType::Integer, true),
            field("word", ResultType::Choice(vec!["a".into(), "b".into()]), true),
        ]
    }

    fn unit() -> Unit {
        Unit { requires: vec!["db".into()], editable: vec!["a.txt".into()], ..Unit::default() }
    }

    #[track_caller]
    fn check(answer: &Answer, verdict: Verdict, code: Option<&str>, detail: Option<&str>) {
        let judged = judge(&result(), &unit(), answer);
        assert_eq!((judged.verdict, judged.code, judged.detail.as_deref()), (verdict, code, detail));
    }

    #[track_caller]
    fn misfits(value: Json, detail: &str) {
        check(&Answer::done(&value).unwrap(), Verdict::Undecidable, Some("answer_does_not_fit"), Some(detail));
    }

    #[test]
    fn a_done_answer_that_fits_is_accepted() {
        check(&Answer::done(&json!({ "sha": "s", "n": 3, "word": "b" })).unwrap(), Verdict::Accepted, None, None);
        check(&Answer::done(&json!({ "sha": "s", "n": null })).unwrap(), Verdict::Accepted, None, None);
    }

    #[test]
    fn a_done_answer_that_does_not_fit_is_undecidable() {
        misfits(json!({}), "its value has no sha");
        misfits(json!(7), "its value is not an object");
        misfits(json!({ "sha": 7 }), "sha is 7, which its type does not allow");
        misfits(json!({ "sha": null }), "sha is null, which its type does not allow");
        misfits(json!({ "sha": "s", "n": 1.5 }), "n is 1.5, which its type does not allow");
        misfits(json!({ "sha": "s", "word": "c" }), "word is \"c\", which its type does not allow");
        misfits(json!({ "sha": "s", "x": 1 }), "its value has the key \"x\", which the organ does not declare");
    }

    #[test]
    fn a_file_that_is_not_editable_does_not_fit() {
        let mut answer = Answer::done(&json!({ "sha": "s" })).unwrap();
        answer.files.insert("a.txt".into(), "x".into());
        check(&answer, Verdict::Accepted, None, None);
        answer.files.insert("b.txt".into(), "x".into());
        let detail = "it brings \"b.txt\", which is not editable";
        check(&answer, Verdict::Undecidable, Some("answer_does_not_fit"), Some(detail));
    }

    #[test]
    fn failed_is_no_and_unreadable_is_neither() {
        check(&Answer::failed(&json!({}), "no").unwrap(), Verdict::Rejected, Some("failed"), None);
        check(&Answer::unreadable(&json!({}), "?").unwrap(), Verdict::Undecidable, Some("unreadable"), None);
    }

    #[test]
    fn the_first_report_of_a_declared_requirement_stands() {
        let answer = Answer::dependency_failure("db", "");
        let detail = Some("the requirement db is not met");
        check(&answer, Verdict::Undecidable, Some("dependency_failure"), detail);
        let detail = Some("web is not a declared requirement; declared: db");
        let answer = Answer::dependency_failure("web", "");
        check(&answer, Verdict::Undecidable, Some("answer_does_not_fit"), detail);
    }
}
