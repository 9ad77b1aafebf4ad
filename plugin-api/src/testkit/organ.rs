//! What every organ owes its host.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::Check;
use super::script::{Asked, Script};
use crate::guard::guard;
use crate::kind::Failure;
use crate::organ::{
    Answer, Ask, Call, Ended, Finish, Host, Opening, Organ, OrganDeclaration, Plan, Programs, Session, Unit, UnitEnd,
    UnitExample, Verdict,
};

/// How long an organ may take to see that a unit is over.
const PATIENCE: Duration = Duration::from_secs(2);

/// A scripted host, shared with whoever asks it.
pub type SharedLink = Arc<dyn Ask>;

/// An organ, however it is reached.
pub trait OrganUnderTest: Sync {
    /// [`Organ::declaration`]
    ///
    /// # Errors
    /// When it panics.
    fn declaration(&self) -> Result<OrganDeclaration, Failure>;

    /// [`Organ::plan`]
    ///
    /// # Errors
    /// The organ's failure.
    fn plan(&self, call: &Call, host: SharedLink) -> Result<Plan, Failure>;

    /// [`Organ::open`]
    ///
    /// # Errors
    /// The organ's failure.
    fn open(&self, opening: &Opening, host: SharedLink) -> Result<Box<dyn SessionUnderTest>, Failure>;

    /// [`Organ::finish`]
    ///
    /// # Errors
    /// The organ's failure.
    fn finish(&self, ended: &Ended) -> Result<Finish, Failure>;
}

/// A session, however it is reached.
pub trait SessionUnderTest {
    /// [`Session::run`]
    ///
    /// # Errors
    /// The organ's failure.
    fn run(&mut self, unit: &Unit, host: SharedLink) -> Result<Answer, Failure>;

    /// [`Session::close`]
    ///
    /// # Errors
    /// The organ's failure.
    fn close(self: Box<Self>, host: SharedLink) -> Result<(), Failure>;
}

/// An organ that is linked in.
pub struct LinkedOrgan<'o, O>(pub &'o O);

impl<O: Organ> OrganUnderTest for LinkedOrgan<'_, O> {
    fn declaration(&self) -> Result<OrganDeclaration, Failure> {
        guard(|| Ok(self.0.declaration()))
    }

    fn plan(&self, call: &Call, host: SharedLink) -> Result<Plan, Failure> {
        guard(|| self.0.plan(call, &Host::new(&host)))
    }

    fn open(&self, opening: &Opening, host: SharedLink) -> Result<Box<dyn SessionUnderTest>, Failure> {
        guard(|| Ok(Box::new(LinkedSession(self.0.open(opening, &Host::new(&host))?)) as Box<dyn SessionUnderTest>))
    }

    fn finish(&self, ended: &Ended) -> Result<Finish, Failure> {
        guard(|| self.0.finish(ended))
    }
}

struct LinkedSession<S>(S);

impl<S: Session> SessionUnderTest for LinkedSession<S> {
    fn run(&mut self, unit: &Unit, host: SharedLink) -> Result<Answer, Failure> {
        guard(|| self.0.run(unit, &Host::new(&host)))
    }

    fn close(self: Box<Self>, host: SharedLink) -> Result<(), Failure> {
        guard(|| self.0.close(&Host::new(&host)))
    }
}

/// Measures an organ.
pub type OrganRun = for<'o> fn(&(dyn OrganUnderTest + 'o)) -> Result<(), String>;

/// The checks of an organ.
pub const ORGAN_CHECKS: &[Check<OrganRun>] = &[
    Check { name: "declaration-is-stable", demand: "declares the same at every call", run: declaration_is_stable },
    Check { name: "has-examples", demand: "declares at least one example", run: has_examples },
    Check { name: "examples-hold", demand: "answers the units of its examples as declared", run: examples_hold },
    Check {
        name: "declares-what-it-uses",
        demand: "asks for nothing that it does not declare",
        run: declares_its_needs,
    },
    Check { name: "honours-cancel", demand: "ends soon when a unit is cancelled", run: honours_cancel },
    Check { name: "honours-deadline", demand: "ends soon when a unit's deadline is over", run: honours_deadline },
    Check { name: "garbage-units", demand: "does not panic on a unit that it did not plan", run: garbage_units },
    Check { name: "opens-again", demand: "opens a second session after the first was closed", run: opens_again },
    Check {
        name: "finish-is-pure",
        demand: "says the same of the same run, with a declared exit code",
        run: finish_is_pure,
    },
    Check {
        name: "finishes-anything",
        demand: "has a page for a run of which every unit was lost",
        run: finishes_anything,
    },
];

fn told(what: &str) -> impl Fn(Failure) -> String + '_ {
    move |failure| format!("{what}: {} ({})", failure.message, failure.code)
}

fn declaration_is_stable(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    let first = organ.declaration().map_err(told("declaration"))?;
    let second = organ.declaration().map_err(told("declaration"))?;
    if first == second { Ok(()) } else { Err("the second declaration differs from the first".to_owned()) }
}

fn has_examples(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    let declaration = organ.declaration().map_err(told("declaration"))?;
    if declaration.examples.is_empty() { Err("there is none, so nothing below measures it".to_owned()) } else { Ok(()) }
}

/// One example, played.
struct Played {
    ended: Ended,
    finish: Finish,
    asked: Vec<Asked>,
}

fn play(organ: &(dyn OrganUnderTest + '_), example: &UnitExample) -> Result<Played, String> {
    let script = Arc::new(Script::new(example.script.clone()));
    let call = Call { verb: example.verb.clone(), arguments: with_flags(organ, example)?, ..Call::default() };
    let plan = organ.plan(&call, script.clone()).map_err(told("plan"))?;
    let mut session = organ.open(&opening(), script.clone()).map_err(told("open"))?;
    let mut units = Vec::new();
    for unit in &plan.units {
        let answer = session.run(unit, script.clone()).map_err(told(&unit.id))?;
        units.push(end(unit, answer));
    }
    session.close(script.clone()).map_err(told("close"))?;
    let outcomes: Vec<_> = units.iter().filter_map(|end| end.answer.as_ref().map(|answer| answer.outcome)).collect();
    if outcomes != example.outcomes {
        return Err(format!("the outcomes are {outcomes:?}, declared are {:?}", example.outcomes));
    }
    if let Some(reply) = script.left().first() {
        return Err(format!("{} of the script was never asked for", reply.service));
    }
    let ended = Ended { call, units };
    let finish = organ.finish(&ended).map_err(told("finish"))?;
    if finish.exit != example.exit {
        return Err(format!("the exit code is {}, declared is {}", finish.exit, example.exit));
    }
    Ok(Played { ended, finish, asked: script.asked() })
}

/// As the host gives them: a flag is always there.
fn with_flags(organ: &(dyn OrganUnderTest + '_), example: &UnitExample) -> Result<crate::organ::Arguments, String> {
    let declaration = organ.declaration().map_err(told("declaration"))?;
    let mut arguments = example.arguments.clone();
    let verb = declaration.verb(&example.verb).ok_or_else(|| format!("there is no verb {:?}", example.verb))?;
    for argument in verb.arguments.iter().filter(|one| one.kind == crate::organ::ArgumentType::Flag) {
        arguments.entry(argument.name.clone()).or_insert(Json::Bool(false));
    }
    Ok(arguments)
}

fn opening() -> Opening {
    Opening { capability: "conformance".into(), authority: "conformance".into(), visible: Vec::new() }
}

fn end(unit: &Unit, answer: Answer) -> UnitEnd {
    use crate::organ::Outcome;
    let verdict = match answer.outcome {
        Outcome::Done => Verdict::Accepted,
        Outcome::Failed => Verdict::Rejected,
        Outcome::Unreadable | Outcome::DependencyFailure => Verdict::Undecidable,
    };
    UnitEnd { id: unit.id.clone(), input: unit.input.clone(), verdict, answer: Some(answer), code: None, detail: None }
}

fn each_example(
    organ: &(dyn OrganUnderTest + '_),
    check: impl Fn(&OrganDeclaration, &UnitExample) -> Result<(), String>,
) -> Result<(), String> {
    let declaration = organ.declaration().map_err(told("declaration"))?;
    declaration.examples.iter().try_for_each(|example| {
        check(&declaration, example).map_err(|why| format!("example {:?}: {why}", example.title))
    })
}

fn examples_hold(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    each_example(organ, |_, example| play(organ, example).map(|_| ()))
}

fn declares_its_needs(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    each_example(organ, |declaration, example| {
        let Ok(played) = play(organ, example) else { return Ok(()) };
        played.asked.iter().try_for_each(|asked| declared(declaration, asked))
    })
}

fn declared(declaration: &OrganDeclaration, asked: &Asked) -> Result<(), String> {
    let text = |key: &str| asked.request.get(key).and_then(Json::as_str).unwrap_or_default();
    match asked.service.as_str() {
        "http.request" if declaration.needs.http.iter().all(|base| base.name != text("base")) => {
            Err(format!("it sends a request to {:?}, which it does not declare", text("base")))
        }
        "program.run" | "program.open" => match &declaration.needs.programs {
            Programs::Named(names) if !names.iter().any(|name| name == text("program")) => {
                Err(format!("it runs {:?}, which it does not declare", text("program")))
            }
            Programs::Named(_) | Programs::Any => Ok(()),
        },
        _ => Ok(()),
    }
}

fn honours_cancel(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    ends_soon(organ, Script::cancelled)
}

fn honours_deadline(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    ends_soon(organ, Script::late)
}

/// Runs the planned units of every example at a host where they are over. What they answer is theirs; that they panic or
/// go on is not.
fn ends_soon(organ: &(dyn OrganUnderTest + '_), over: fn() -> Script) -> Result<(), String> {
    each_example(organ, |_, example| {
        let script = Arc::new(Script::new(example.script.clone()));
        let call = Call { verb: example.verb.clone(), arguments: with_flags(organ, example)?, ..Call::default() };
        let plan = organ.plan(&call, script.clone()).map_err(told("plan"))?;
        let mut session = organ.open(&opening(), script.clone()).map_err(told("open"))?;
        for unit in &plan.units {
            let start = Instant::now();
            let answer = session.run(unit, Arc::new(over()));
            if start.elapsed() > PATIENCE {
                return Err(format!("{} went on for {} ms", unit.id, start.elapsed().as_millis()));
            }
            match answer {
                Err(failure) if failure.code == "panic" => return Err(failure.message),
                Ok(answer) if answer.outcome == crate::organ::Outcome::Done => {
                    return Err(format!("{} says that it is done, and nobody let it do anything", unit.id));
                }
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    })
}

fn garbage_units(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    let inputs = ["null", "true", "-1", "\"\"", "[]", "{}", "{\"\":[[]]}", "\"\\u0000\\ud83d\\ude80\""];
    for input in inputs {
        let script = Arc::new(Script::default());
        let mut session = organ.open(&opening(), script.clone()).map_err(told("open"))?;
        let input = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let unit = Unit { id: "garbage".into(), input, ..Unit::default() };
        if let Err(failure) = session.run(&unit, script.clone())
            && failure.code == "panic"
        {
            return Err(format!("input {}: {}", unit.input, failure.message));
        }
    }
    Ok(())
}

fn opens_again(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    for _ in 0..2 {
        let script = Arc::new(Script::default());
        let session = organ.open(&opening(), script.clone()).map_err(told("open"))?;
        session.close(script.clone()).map_err(told("close"))?;
    }
    Ok(())
}

fn finish_is_pure(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    each_example(organ, |declaration, example| {
        let Ok(Played { ended, finish, .. }) = play(organ, example) else { return Ok(()) };
        if organ.finish(&ended).map_err(told("finish"))? != finish {
            return Err("the second time it says something else".to_owned());
        }
        let codes = declaration.verb(&example.verb).into_iter().flat_map(|verb| &verb.exit_codes);
        if codes.into_iter().all(|exit| exit.code != finish.exit) {
            return Err(format!("exit code {} is not documented", finish.exit));
        }
        Ok(())
    })
}

fn finishes_anything(organ: &(dyn OrganUnderTest + '_)) -> Result<(), String> {
    each_example(organ, |declaration, example| {
        let call = Call { verb: example.verb.clone(), arguments: with_flags(organ, example)?, ..Call::default() };
        let lost = |verdict| UnitEnd {
            id: format!("{verdict:?}"),
            input: Json::Null,
            verdict,
            answer: None,
            code: Some("worker_crashed".into()),
            detail: Some("the worker was ended by signal 11".into()),
        };
        for units in [Vec::new(), vec![lost(Verdict::Undecidable), lost(Verdict::NotDispatched)]] {
            let lost_all = !units.is_empty();
            let finish = organ.finish(&Ended { call: call.clone(), units }).map_err(told("finish"))?;
            let codes = declaration.verb(&example.verb).into_iter().flat_map(|verb| &verb.exit_codes);
            if codes.into_iter().all(|exit| exit.code != finish.exit) {
                return Err(format!("exit code {} is not documented", finish.exit));
            }
            if lost_all && finish.exit == 0 {
                return Err("it exits with 0, and no unit has an answer".to_owned());
            }
        }
        Ok(())
    })
}
