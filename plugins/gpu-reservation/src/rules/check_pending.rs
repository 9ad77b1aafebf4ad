//! `check-pending`: may a lane run on a device now (L 10.3, D10, N21)?
//!
//! Fails closed: the only ways to exit code 0 are a hold of the asking lane in its window, and a device that nobody has
//! ever been seen holding or that was released. What cannot be read is a hold.

use plugin_api::json::excerpt;
use plugin_api::rules::text::{is_lane, is_machine, printable, strip};
use plugin_api::rules::time::Timestamp;
use plugin_api::{Refusal, Row, Value, VerbAnswer, VerbCall};

use super::declaration::{ENTITY, GPU_MARK, MY_LANE, REQUIRE_HOLD};
use super::reservation::{Reservation, State};

/// Exit code for arguments that cannot be used.
const USAGE: u8 = 2;

/// The answer to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing is known of the device.
    NoObs,
    /// The last hold was released.
    Released,
    /// The holder no longer gives a sign of life.
    Stale,
    /// The hold is past its end. A word of its own, where the reference says STALE: nobody has looked at the holder.
    Overdue,
    /// Somebody else may be at work, or the lane's own hold has not started.
    Hold,
    /// The lane holds the device, now.
    OkToRun,
}

/// What it takes to exit with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    /// Nobody else is known to hold the device.
    Free,
    /// The lane itself holds it.
    OwnHold,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::NoObs => "NO_OBS",
            Self::Released => "RELEASED",
            Self::Stale => "STALE",
            Self::Overdue => "OVERDUE",
            Self::Hold => "HOLD",
            Self::OkToRun => "OK_TO_RUN",
        }
    }

    fn exit(self, demand: Demand) -> u8 {
        match (self, demand) {
            (Self::OkToRun, Demand::Free | Demand::OwnHold) | (Self::NoObs | Self::Released, Demand::Free) => 0,
            (Self::Hold, Demand::Free | Demand::OwnHold) | (Self::NoObs | Self::Released, Demand::OwnHold) => 1,
            (Self::Stale | Self::Overdue, Demand::Free | Demand::OwnHold) => 2,
        }
    }
}

/// The arguments, checked.
struct Question<'c> {
    /// `--entity` as it was given.
    given: &'c str,
    /// Key of the row that it means.
    key: String,
    /// The asking lane.
    my_lane: Option<&'c str>,
    demand: Demand,
}

/// Answers a call.
pub(super) fn answer(call: &VerbCall<'_>) -> VerbAnswer {
    let question = match Question::read(call) {
        Ok(question) => question,
        Err(refusal) => return VerbAnswer::Refused { exit: USAGE, refusal },
    };
    let (verdict, reason) = judge(&question, call);
    let json = Value::object([
        ("verdict", Value::from(verdict.word())),
        ("reason", Value::string(reason.as_str())),
        ("entity", Value::string(question.given)),
        ("now", Value::string(call.now.to_string())),
    ]);
    let text = format!("{}  {}  {reason}", verdict.word(), printable(question.given));
    VerbAnswer::Answer { exit: verdict.exit(question.demand), text, json }
}

impl<'c> Question<'c> {
    fn read(call: &'c VerbCall<'_>) -> Result<Self, Refusal> {
        let given = call.argument(ENTITY).unwrap_or_default();
        let key = row_key(strip(given)).ok_or_else(|| {
            let shown = excerpt(&Value::from(given));
            Refusal::new(
                "entity_mismatch",
                format!("--{ENTITY} {shown} is no device; write <machine>#gpu<n> in lower case, e.g. po-1#gpu0"),
            )
        })?;
        let my_lane = call.argument(MY_LANE).map(lane).transpose()?;
        let demand = if call.flag(REQUIRE_HOLD) { Demand::OwnHold } else { Demand::Free };
        Ok(Self { given, key, my_lane, demand })
    }
}

/// The row key that `entity` means: no blanks inside, lower case. Leading zeros are cut, so that `gpu00` finds the hold
/// on `gpu0` and not an answer that nobody holds it.
fn row_key(entity: &str) -> Option<String> {
    let (machine, digits) = entity.split_once(GPU_MARK)?;
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())??;
    is_machine(machine).then(|| format!("{machine}{GPU_MARK}{number}"))
}

/// A lane that no holder can equal would look like an answer about somebody else's hold, so it is refused by name.
fn lane(given: &str) -> Result<&str, Refusal> {
    Some(strip(given)).filter(|lane| is_lane(lane)).ok_or_else(|| {
        let shown = excerpt(&Value::from(given));
        Refusal::invalid_value(format!(
            "--{MY_LANE} {shown} is no lane; write machine or machine:workspace (ASCII letters, digits, . _ -)"
        ))
    })
}

/// The verdict with its reason: the first row of the table in L 10.3 that applies.
fn judge(question: &Question<'_>, call: &VerbCall<'_>) -> (Verdict, String) {
    let Some(rows) = call.rows else {
        return (Verdict::NoObs, "there is no snapshot, so nobody was ever seen holding it".to_owned());
    };
    let Some(row) = rows.iter().find(|row| row.key == question.key) else {
        return unseen(question, rows);
    };
    let reservation = match Reservation::read(row) {
        Ok(reservation) => reservation,
        Err(failure) => return (Verdict::Hold, failure.message),
    };
    match reservation.state {
        Some(State::Released) => (Verdict::Released, "it was released".to_owned()),
        Some(State::Stale) => (Verdict::Stale, format!("the hold of {} is stale", holder(&reservation))),
        None => (Verdict::Hold, "its state was never observed".to_owned()),
        Some(State::Held) => judge_hold(&reservation, question.my_lane, call.now),
    }
}

/// Nobody was seen holding it, unless it was seen under another spelling: that must not pass for a free device.
fn unseen(question: &Question<'_>, rows: &[Row<'_>]) -> (Verdict, String) {
    match rows.iter().find(|row| row.key.eq_ignore_ascii_case(&question.key)) {
        Some(other) => {
            (Verdict::Hold, format!("only {} was ever seen; use its spelling if it is the same device", other.key))
        }
        None => (Verdict::NoObs, "nobody was ever seen holding it".to_owned()),
    }
}

fn judge_hold(hold: &Reservation<'_>, my_lane: Option<&str>, now: Timestamp) -> (Verdict, String) {
    let holder = holder(hold);
    if let Some(end) = hold.expected_end.filter(|end| now > *end) {
        return (Verdict::Overdue, format!("the hold of {holder} was expected to end at {end}"));
    }
    match my_lane {
        None => (Verdict::Hold, format!("held by {holder}; --{MY_LANE} was not given")),
        Some(lane) if hold.holder != Some(lane) => (Verdict::Hold, format!("held by {holder}, not by {lane}")),
        Some(lane) => match hold.started_at.filter(|start| now < *start) {
            Some(start) => (Verdict::Hold, format!("held by {lane}, but not before {start}")),
            None => (Verdict::OkToRun, format!("held by {lane} until {}", end(hold))),
        },
    }
}

fn holder<'r>(hold: &Reservation<'r>) -> &'r str {
    hold.holder.unwrap_or("an unknown lane")
}

fn end(hold: &Reservation<'_>) -> String {
    hold.expected_end.map_or_else(|| "an unknown time".to_owned(), |end| end.to_string())
}

#[cfg(test)]
mod tests;
