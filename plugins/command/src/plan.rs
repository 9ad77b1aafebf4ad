//! The units of a call.

use std::collections::BTreeSet;

use plugin_api::Failure;
use plugin_api::organ::{Call, Effect, Host, Plan, Unit};
use plugin_api::serde_json::{self, Value as Json};
use serde::{Deserialize, Serialize};

/// What a unit is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Work {
    /// The program.
    pub program: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// What it reads from stdin; not with `warm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// What a warm program is sent, beside the unit's id.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub input: Json,
    /// Whether the program is kept, and answers a line with a line.
    pub warm: bool,
}

/// A line of a file of units.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Line {
    id: Option<String>,
    program: Option<String>,
    args: Option<Vec<String>>,
    stdin: Option<String>,
    input: Json,
    warm: Option<bool>,
    effect: Option<Effect>,
    depends_on: Vec<String>,
    visible: Vec<String>,
    requires: Vec<String>,
    deadline_s: Option<u32>,
}

/// What holds for every unit that says nothing else.
struct Defaults {
    stdin: Option<String>,
    warm: bool,
    effect: Effect,
    deadline_s: u32,
}

/// Lists the units of a call.
///
/// # Errors
/// Code `invalid_units` names the line of the file that makes no sense; failures of reading it.
pub fn plan(call: &Call, host: &Host<'_>) -> Result<Plan, Failure> {
    let defaults = Defaults::of(call)?;
    let units = match call.text("units") {
        Some(path) => of_file(path, &host.read_file(path)?.text, &defaults)?,
        None => vec![of_words(call, &defaults)?],
    };
    Ok(Plan { units, notes: Vec::new() })
}

impl Defaults {
    fn of(call: &Call) -> Result<Self, Failure> {
        let effect = match call.text("effect") {
            None | Some("external") => Effect::External,
            Some("isolated-artifact") => Effect::IsolatedArtifact,
            Some("read-only") => Effect::ReadOnly,
            Some(other) => return Err(Failure::new("invalid_arguments", format!("--effect {other:?} is no effect"))),
        };
        // Rounded up: a deadline of half a second is not one of none.
        let ms = u64::try_from(call.integer("deadline").unwrap_or(600_000)).unwrap_or_default().max(1);
        Ok(Self {
            stdin: call.text("stdin").map(str::to_owned),
            warm: call.flag("warm"),
            effect,
            deadline_s: u32::try_from(ms.div_ceil(1000)).unwrap_or(u32::MAX),
        })
    }
}

fn of_words(call: &Call, defaults: &Defaults) -> Result<Unit, Failure> {
    let mut words = call.texts("program").map(str::to_owned);
    let program = words.next().ok_or_else(|| Failure::new("invalid_arguments", "name a program, or --units FILE"))?;
    let line = Line { program: Some(program), args: Some(words.collect()), ..Line::default() };
    unit("1", line, defaults)
}

fn of_file(path: &str, text: &str, defaults: &Defaults) -> Result<Vec<Unit>, Failure> {
    let mut units = Vec::new();
    let mut ids = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let at = |why: String| Failure::new("invalid_units", format!("{path}:{number}: {why}"));
        let line: Line = serde_json::from_str(line).map_err(|error| at(error.to_string()))?;
        let unit = unit(&number.to_string(), line, defaults).map_err(|failure| at(failure.message))?;
        if !ids.insert(unit.id.clone()) {
            return Err(at(format!("id {:?} stands twice", unit.id)));
        }
        units.push(unit);
    }
    if units.is_empty() {
        return Err(Failure::new("invalid_units", format!("{path} holds no unit; write one JSON object a line")));
    }
    Ok(units)
}

fn unit(number: &str, line: Line, defaults: &Defaults) -> Result<Unit, Failure> {
    let program = line.program.filter(|program| !program.is_empty());
    let program = program.ok_or_else(|| Failure::new("invalid_units", "it names no program"))?;
    let warm = line.warm.unwrap_or(defaults.warm);
    let stdin = line.stdin.or_else(|| defaults.stdin.clone());
    if warm && stdin.is_some() {
        return Err(Failure::new(
            "invalid_units",
            "a warm program reads its units from stdin; put the text into input",
        ));
    }
    if !warm && !line.input.is_null() {
        return Err(Failure::new("invalid_units", "only a warm program is sent input; put the text into stdin"));
    }
    let work = Work { program, args: line.args.unwrap_or_default(), stdin, input: line.input, warm };
    let id = line.id.unwrap_or_else(|| format!("unit-{number}"));
    Ok(Unit {
        depends_on: line.depends_on,
        visible: line.visible,
        requires: line.requires,
        deadline_s: Some(line.deadline_s.unwrap_or(defaults.deadline_s)),
        ..Unit::new(id, line.effect.unwrap_or(defaults.effect), &work)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> Defaults {
        Defaults { stdin: None, warm: false, effect: Effect::External, deadline_s: 600 }
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let failure = of_file("u.jsonl", text, &defaults()).unwrap_err();
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("invalid_units", expected));
    }

    #[test]
    fn a_line_is_a_unit_and_blank_lines_are_none() {
        let text = "{\"program\":\"wc\",\"args\":[\"-l\"],\"stdin\":\"a\\n\"}\n\n\
                    {\"id\":\"b\",\"program\":\"t\",\"warm\":true,\"input\":7,\"depends_on\":[\"unit-1\"],\"effect\":\"read-only\"}\n";
        let units = of_file("u.jsonl", text, &defaults()).unwrap();
        assert_eq!(units.iter().map(|unit| unit.id.as_str()).collect::<Vec<_>>(), ["unit-1", "b"]);
        assert_eq!(units[0].effect, Effect::External);
        assert_eq!((units[1].effect, units[1].depends_on.as_slice()), (Effect::ReadOnly, &["unit-1".to_owned()][..]));
        let work: Work = units[1].read().unwrap();
        assert_eq!(work, Work { program: "t".into(), warm: true, input: 7.into(), ..Work::default() });
    }

    #[test]
    fn a_line_that_makes_no_sense_is_named() {
        refused("{\"program\":\"a\"}\n{", "u.jsonl:2: EOF while parsing an object at line 1 column 1");
        refused("{\"args\":[]}", "u.jsonl:1: it names no program");
        refused(
            "{\"id\":\"a\",\"program\":\"x\"}\n{\"id\":\"a\",\"program\":\"x\"}",
            "u.jsonl:2: id \"a\" stands twice",
        );
        refused("\n", "u.jsonl holds no unit; write one JSON object a line");
        refused(
            "{\"program\":\"x\",\"input\":1}",
            "u.jsonl:1: only a warm program is sent input; put the text into stdin",
        );
        refused(
            "{\"program\":\"x\",\"warm\":true,\"stdin\":\"\"}",
            "u.jsonl:1: a warm program reads its units from stdin; put the text into input",
        );
    }
}
