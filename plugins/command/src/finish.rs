//! What a run of `command` came to.

use plugin_api::Failure;
use plugin_api::organ::{Ended, Finish, Outcome, UnitEnd, Verdict};
use plugin_api::serde_json::{Value as Json, json};

use crate::declaration::{DONE, FAILED, UNREADABLE};

/// Exit code, page and JSON.
///
/// # Errors
/// None of its own.
pub fn finish(ended: &Ended) -> Result<Finish, Failure> {
    let any = |verdicts: &[Verdict]| ended.units.iter().any(|unit| verdicts.contains(&unit.verdict));
    let exit = if any(&[Verdict::Rejected]) {
        FAILED
    } else if any(&[Verdict::Undecidable, Verdict::NotDispatched]) {
        UNREADABLE
    } else {
        DONE
    };
    let single = ended.units.len() == 1 && ended.call.text("units").is_none();
    let page = match ended.units.first() {
        Some(unit) if single => alone(unit),
        Some(_) | None => ended.units.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    let units: Vec<Json> = ended.units.iter().map(object).collect();
    Finish::new(exit, page, &json!({ "units": units }))
}

/// One program: what it printed, as if it had been run by itself.
fn alone(unit: &UnitEnd) -> String {
    let printed = |key| unit.answer.as_ref().and_then(|answer| answer.value.get(key)).and_then(Json::as_str);
    let mut page = printed("stdout").unwrap_or_default().trim_end_matches('\n').to_owned();
    let stderr = printed("stderr").unwrap_or_default().trim_end_matches('\n');
    for part in [stderr, &why(unit)] {
        if !part.is_empty() {
            page.push_str(if page.is_empty() { "" } else { "\n" });
            page.push_str(part);
        }
    }
    page
}

fn line(unit: &UnitEnd) -> String {
    let why = why(unit);
    let word = word(unit);
    if why.is_empty() { format!("{word:<12} {}", unit.id) } else { format!("{word:<12} {}: {why}", unit.id) }
}

fn word(unit: &UnitEnd) -> &'static str {
    match (&unit.answer, unit.verdict) {
        (_, Verdict::Accepted) => "done",
        (_, Verdict::NotDispatched) => "not run",
        (Some(answer), Verdict::Undecidable) if answer.outcome == Outcome::DependencyFailure => "needs",
        (_, Verdict::Rejected) => "failed",
        (_, Verdict::Undecidable) => "unreadable",
    }
}

fn why(unit: &UnitEnd) -> String {
    match (&unit.answer, &unit.detail) {
        (Some(answer), _) if !answer.message.is_empty() => answer.message.clone(),
        (_, Some(detail)) => detail.clone(),
        (Some(answer), None) => answer.requirement.clone().unwrap_or_default(),
        (None, None) => String::new(),
    }
}

fn object(unit: &UnitEnd) -> Json {
    let answer = unit.answer.as_ref();
    json!({
        "id": unit.id,
        "verdict": unit.verdict,
        "outcome": answer.map(|answer| answer.outcome),
        "value": answer.map_or(&Json::Null, |answer| &answer.value),
        "message": why(unit),
        "code": unit.code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::organ::{Answer, Call};

    fn end(id: &str, verdict: Verdict, answer: Option<Answer>) -> UnitEnd {
        UnitEnd { id: id.into(), input: Json::Null, verdict, answer, code: None, detail: None }
    }

    #[test]
    fn a_file_of_units_is_a_line_for_each_and_the_worst_decides() {
        let done = Answer::done(&json!({ "exit": 0 })).unwrap();
        let failed = Answer::failed(&json!({ "exit": 2 }), "wc exited with 2").unwrap();
        let call = Call { arguments: [("units".to_owned(), json!("u"))].into(), ..Call::default() };
        let units = vec![
            end("a", Verdict::Accepted, Some(done)),
            UnitEnd {
                detail: Some("no answer within 1 s".into()),
                code: Some("deadline".into()),
                ..end("b", Verdict::Undecidable, None)
            },
        ];
        let mut ended = Ended { call, units };
        let finish_of = |ended: &Ended| finish(ended).unwrap();
        assert_eq!(finish_of(&ended).exit, UNREADABLE);
        ended.units.push(end("c", Verdict::Rejected, Some(failed)));
        assert_eq!(finish_of(&ended).exit, FAILED);
        assert_eq!(
            finish_of(&ended).page,
            "done         a\nunreadable   b: no answer within 1 s\nfailed       c: wc exited with 2"
        );
    }

    #[test]
    fn one_program_is_shown_as_if_it_had_been_run_by_itself() {
        let answer = Answer::done(&json!({ "exit": 0, "stdout": "7\n", "stderr": "" })).unwrap();
        let ended = Ended { call: Call::default(), units: vec![end("unit-1", Verdict::Accepted, Some(answer))] };
        let finish = finish(&ended).unwrap();
        assert_eq!((finish.exit, finish.page.as_str()), (DONE, "7"));
    }
}
