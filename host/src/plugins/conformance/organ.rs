//! The checks of an organ that need the host's rules, and the loaded organ as the suite sees it.

use std::collections::BTreeSet;

use abi_stable::sabi_trait::TD_Opaque;
use plugin_api::Failure;
use plugin_api::adapt_organ::Lent;
use plugin_api::ffi::{OrganBox, ServicesBox, ServicesObject_TO, SessionBox};
use plugin_api::organ::{Answer, Call, Ended, Finish, Opening, OrganDeclaration, Plan, Unit};
use plugin_api::testkit::{Check, ORGAN_CHECKS, OrganUnderTest, SessionUnderTest, SharedLink};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::TestError;
use crate::plugins::declare_organ::faults;
use crate::plugins::load::Plugin;

type Own = fn(&OrganDeclaration) -> Result<(), String>;

/// The checks that need the host's rules.
pub(super) const CHECKS: &[Check<Own>] = &[
    Check { name: "declaration-makes-sense", demand: "declares what a command line can be made from", run: sense },
    Check { name: "examples-can-be-typed", demand: "has examples of verbs and arguments that it declares", run: typed },
];

/// Makes one check of the organ `name`.
pub(super) fn run(plugin: &Plugin, name: &str, check: &str) -> Result<Result<(), String>, TestError> {
    let declaration = plugin.organs().iter().find(|organ| organ.name == name);
    let declaration = declaration.ok_or_else(|| TestError::Unknown(format!("organ {name}")))?;
    if let Some(own) = CHECKS.iter().find(|own| own.name == check) {
        return Ok((own.run)(declaration));
    }
    let common = ORGAN_CHECKS.iter().find(|common| common.name == check);
    let common = common.ok_or_else(|| TestError::Unknown(format!("check {check}")))?;
    Ok((common.run)(&Subject { plugin, name, organ: plugin.open_organ(name)? }))
}

fn sense(declaration: &OrganDeclaration) -> Result<(), String> {
    let faults = faults(declaration);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

fn typed(declaration: &OrganDeclaration) -> Result<(), String> {
    for example in &declaration.examples {
        let told = |what: String| format!("example {:?}: {what}", example.title);
        let verb =
            declaration.verb(&example.verb).ok_or_else(|| told(format!("there is no verb {:?}", example.verb)))?;
        let known: BTreeSet<&str> = verb.arguments.iter().map(|argument| argument.name.as_str()).collect();
        if let Some(name) = example.arguments.keys().find(|name| !known.contains(name.as_str())) {
            return Err(told(format!("there is no argument {name}")));
        }
    }
    Ok(())
}

/// A loaded organ as the suite sees it.
struct Subject<'s> {
    plugin: &'s Plugin,
    name: &'s str,
    organ: OrganBox,
}

impl OrganUnderTest for Subject<'_> {
    fn declaration(&self) -> Result<OrganDeclaration, Failure> {
        let declared =
            self.plugin.declare_organs_again().map_err(|error| Failure::new("declaration", error.to_string()))?;
        let own = declared.into_iter().find(|declared| declared.name == self.name);
        own.ok_or_else(|| Failure::new("declaration", "the second time it is not there"))
    }

    fn plan(&self, call: &Call, host: SharedLink) -> Result<Plan, Failure> {
        let text = text(call)?;
        read(&self.organ.plan(text.as_str().into(), &lend(host)).into_result()?)
    }

    fn open(&self, opening: &Opening, host: SharedLink) -> Result<Box<dyn SessionUnderTest>, Failure> {
        let text = text(opening)?;
        let session = self.organ.open(text.as_str().into(), &lend(host)).into_result()?;
        Ok(Box::new(Session(session)))
    }

    fn finish(&self, ended: &Ended) -> Result<Finish, Failure> {
        let text = text(ended)?;
        read(&self.organ.finish(text.as_str().into()).into_result()?)
    }
}

struct Session(SessionBox);

impl SessionUnderTest for Session {
    fn run(&mut self, unit: &Unit, host: SharedLink) -> Result<Answer, Failure> {
        let text = text(unit)?;
        read(&self.0.run(text.as_str().into(), &lend(host)).into_result()?)
    }

    fn close(mut self: Box<Self>, host: SharedLink) -> Result<(), Failure> {
        Ok(self.0.close(&lend(host)).into_result()?)
    }
}

fn lend(host: SharedLink) -> ServicesBox {
    ServicesObject_TO::from_value(Lent(host), TD_Opaque)
}

fn text(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::new("invalid_call", error.to_string()))
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new("invalid_answer", error.to_string()))
}
