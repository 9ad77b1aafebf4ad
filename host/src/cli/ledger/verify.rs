//! `verify`: compares the stored state with its digests, and names what does not match.

use plugin_api::Value;
use plugin_api::rules::text::printable;

use super::Context;
use crate::cli::args::VerifyArgs;
use crate::cli::outcome::{CommandError, Outcome};
use crate::ledger::reduce::read_config;
use crate::ledger::shape::Shape;
use crate::ledger::state::StateDir;
use crate::ledger::verify::{Check, verify};
use crate::reasons::Fatal;

/// Runs it.
pub(super) fn run(context: &Context<'_, '_>, args: &VerifyArgs) -> Result<Outcome, CommandError> {
    let state = StateDir::choose(args.place.state_dir.as_deref())?;
    let config = read_config(&state, context.shape)?;
    let (kinds, warnings) = context.kinds.open_all();
    let shapes: Vec<Shape<'_>> = kinds.iter().map(|kind| Shape::new(kind)).collect();
    let checks = verify(&state, context.shape, &shapes, &config)?;
    if args.json {
        context.ui.json(&value(&checks))?;
    } else {
        context.ui.data(&lines(&checks))?;
    }
    let faults = checks.iter().filter(|check| check.fault.is_some()).count();
    if faults > 0 {
        let detail =
            format!("{faults} of {} checks under {}", checks.len(), state.ledger(context.shape.ledger()).display());
        return Err(Fatal::VerifyFailed.with(detail).into());
    }
    context.ui.warn(&warnings);
    Ok(Outcome::OK)
}

fn lines(checks: &[Check]) -> String {
    let line = |check: &Check| match &check.fault {
        None => format!("ok   {}\n", printable(&check.subject)),
        Some(fault) => format!("BAD  {}: {}\n", printable(&check.subject), printable(fault)),
    };
    checks.iter().map(line).collect()
}

fn value(checks: &[Check]) -> Value<'_> {
    let list = checks.iter().map(|check| {
        Value::object([
            ("subject", Value::from(check.subject.as_str())),
            ("ok", Value::Bool(check.fault.is_none())),
            ("fault", check.fault.as_deref().map_or(Value::Null, Value::from)),
        ])
    });
    Value::List(list.collect())
}
