//! An organ that does to its worker whatever a unit says: `{"do": <word>, "text": .., "number": ..}`.

#![expect(clippy::panic, reason = "that is what it is for")]

mod forks;
mod harms;
mod uses;

use plugin_api::Failure;
use plugin_api::organ::{
    Answer, Call, Effect, Ended, Finish, Host, Opening, Organ, OrganDeclaration, Plan, Session, Unit,
};
use serde::{Deserialize, Serialize};

plugin_api::export_plugin! { organs: [Unruly] }

/// The organ.
#[derive(Default)]
pub struct Unruly;

/// A session that counts.
pub struct Counting {
    opening: Opening,
    units: u64,
}

/// What a unit says.
#[derive(Deserialize)]
pub(crate) struct Order {
    /// What is done.
    #[serde(rename = "do")]
    word: String,
    /// With which text.
    #[serde(default)]
    text: String,
    /// With which number.
    #[serde(default)]
    number: u64,
}

/// What an answer holds.
#[derive(Serialize)]
struct Value {
    /// The text that came of it.
    text: String,
    /// Which unit of its session it was.
    unit: u64,
}

impl Organ for Unruly {
    const NAME: &'static str = "unruly";
    type Session = Counting;

    fn declaration(&self) -> OrganDeclaration {
        OrganDeclaration {
            name: "unruly".to_owned(),
            version: "0.1.0".to_owned(),
            description: "Does what a unit says".to_owned(),
            ..OrganDeclaration::default()
        }
    }

    fn plan(&self, call: &Call, _: &Host<'_>) -> Result<Plan, Failure> {
        match call.verb.as_str() {
            "panic" => panic!("in plan"),
            "hang" => harms::hang(),
            "" => Ok(Plan { units: vec![Unit::new("one", Effect::ReadOnly, &())?], notes: vec!["planned".to_owned()] }),
            other => Err(Failure::new("no_such_verb", other)),
        }
    }

    fn open(&self, opening: &Opening, _: &Host<'_>) -> Result<Counting, Failure> {
        if opening.authority == "nobody" {
            return Err(Failure::new("not_welcome", "nobody may not open a session"));
        }
        Ok(Counting { opening: opening.clone(), units: 0 })
    }

    fn finish(&self, ended: &Ended) -> Result<Finish, Failure> {
        Finish::new(3, format!("{} unit(s)", ended.units.len()), &ended.units.len())
    }
}

impl Session for Counting {
    fn run(&mut self, unit: &Unit, host: &Host<'_>) -> Result<Answer, Failure> {
        self.units += 1;
        let order: Order = unit.read()?;
        let text = match order.word.as_str() {
            "answer" => order.text.clone(),
            "authority" => self.opening.authority.clone(),
            "fail" => return Err(Failure::new("own_code", order.text)),
            "panic" => panic!("{}", order.text),
            word => match harms::harm(word, &order).or_else(|| forks::fork(word, &order)) {
                Some(text) => text,
                None => uses::useful(word, &order, host)?,
            },
        };
        Answer::done(&Value { text, unit: self.units })
    }

    fn close(self, _: &Host<'_>) -> Result<(), Failure> {
        if self.opening.authority == "clings" {
            return Err(Failure::new("clings", "the session does not let go"));
        }
        println!("closed after {} unit(s)", self.units);
        Ok(())
    }
}
