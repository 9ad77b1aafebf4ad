//! Verbs, arguments and exit codes of `command`.

use std::collections::BTreeMap;

use plugin_api::organ::{
    Argument, ArgumentType, Effect, ExitCode, Limits, Needs, OrganDeclaration, OrganVerb, Outcome, Programs,
    ResultField, ResultType, ScriptedReply, UnitExample,
};
use plugin_api::serde_json::{Value as Json, json};

/// Every unit was done.
pub const DONE: u8 = 0;
/// A unit failed.
pub const FAILED: u8 = 1;
/// A unit could not be measured; none failed.
pub const UNREADABLE: u8 = 3;

/// What `command` is.
#[must_use]
pub fn declaration() -> OrganDeclaration {
    OrganDeclaration {
        name: "command".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        description: "Run a program for each unit of work, or keep one warm and send it a line for each".into(),
        main: main_verb(),
        needs: Needs { programs: Programs::Any, services: vec!["program".into(), "file".into()], ..Needs::default() },
        result: result(),
        limits: Limits { memory_mib: 1024, ..Limits::default() },
        examples: examples(),
        ..OrganDeclaration::default()
    }
}

fn main_verb() -> OrganVerb {
    OrganVerb {
        help: "Run PROGRAM once, or the units of a file one after the other".into(),
        effect: Effect::External,
        arguments: arguments(),
        exit_codes: [
            (DONE, "every unit was done"),
            (FAILED, "a unit failed: its program exited with another code than 0, or its answer says so"),
            (
                UNREADABLE,
                "a unit could not be measured: its program did not start, ended on a signal, was too late, or \
                          its answer makes no sense",
            ),
        ]
        .map(|(code, meaning)| ExitCode { code, meaning: meaning.into() })
        .into(),
        ..OrganVerb::default()
    }
}

fn arguments() -> Vec<Argument> {
    let one_of = || vec!["program".to_owned(), "units".to_owned()];
    vec![
        Argument {
            name: "program".into(),
            help: "The program, and its arguments; write -- before it when they begin with a dash".into(),
            positional: true,
            multiple: true,
            one_of: one_of(),
            ..Argument::default()
        },
        Argument {
            name: "units".into(),
            help: "A file of units, a JSON object a line: id, program, args, stdin, input, warm, effect, depends_on, \
                   deadline_s"
                .into(),
            kind: ArgumentType::Input,
            one_of: one_of(),
            ..Argument::default()
        },
        Argument { name: "stdin".into(), help: "What the program reads from stdin".into(), ..Argument::default() },
        Argument {
            name: "warm".into(),
            help: "Keep the program: send it one JSON line for each unit and read one line as the answer".into(),
            kind: ArgumentType::Flag,
            ..Argument::default()
        },
        Argument {
            name: "effect".into(),
            help: "What the program does to the world".into(),
            kind: ArgumentType::Choice(
                [Effect::ReadOnly, Effect::IsolatedArtifact, Effect::External]
                    .map(|one| one.as_str().to_owned())
                    .into(),
            ),
            default: Some(Effect::External.as_str().into()),
            ..Argument::default()
        },
        Argument {
            name: "deadline".into(),
            help: "How long a unit may take, where its line says nothing".into(),
            kind: ArgumentType::Duration,
            default: Some("10m".into()),
            ..Argument::default()
        },
    ]
}

fn result() -> Vec<ResultField> {
    [
        ("exit", ResultType::Integer),
        ("signal", ResultType::Integer),
        ("stdout", ResultType::Text),
        ("stderr", ResultType::Text),
        ("truncated", ResultType::Bool),
        ("ms", ResultType::Integer),
        ("answer", ResultType::Any),
    ]
    .map(|(name, kind)| ResultField { name: name.into(), kind, optional: true })
    .into()
}

fn examples() -> Vec<UnitExample> {
    let program = |exit: i64| {
        let reply = json!({ "exit": exit, "stdout": "7\n", "stderr": "", "truncated": false, "ms": 3 });
        ScriptedReply { service: "program.run".into(), request: json!({ "program": "wc", "args": ["-l"] }), reply }
    };
    let arguments = || BTreeMap::from([("program".to_owned(), json!(["wc", "-l"]))]);
    let example = |title: &str, script, outcome, exit| UnitExample {
        title: title.into(),
        arguments: arguments(),
        script,
        outcomes: vec![outcome],
        exit,
        ..UnitExample::default()
    };
    vec![
        example("a program that exits with 0", vec![program(0)], Outcome::Done, DONE),
        example("a program that exits with 2", vec![program(2)], Outcome::Failed, FAILED),
        example(
            "a program that is not there",
            vec![ScriptedReply {
                service: "program.run".into(),
                request: Json::Null,
                reply: json!({ "failure": { "code": "program_not_found", "message": "wc is not in PATH" } }),
            }],
            Outcome::Unreadable,
            UNREADABLE,
        ),
    ]
}
