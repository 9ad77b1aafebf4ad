//! The organ `command`: any program as a job.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`declaration`] | verbs, arguments, exit codes |
//! | [`plan`] | the units of a call, from its words or from a file |
//! | [`work`] | one unit: a program run to its end, or a line to one that is kept warm |
//! | [`finish`] | what the run came to |

#![forbid(unsafe_code)]

pub mod declaration;
pub mod finish;
pub mod plan;
pub mod work;

use plugin_api::Failure;
use plugin_api::organ::{Call, Ended, Finish, Host, Opening, Organ, OrganDeclaration, Plan};

plugin_api::export_plugin! { organs: [Command] }

/// Any program as a job.
#[derive(Default)]
pub struct Command;

impl Organ for Command {
    const NAME: &'static str = "command";

    type Session = work::Programs;

    fn declaration(&self) -> OrganDeclaration {
        declaration::declaration()
    }

    fn plan(&self, call: &Call, host: &Host<'_>) -> Result<Plan, Failure> {
        plan::plan(call, host)
    }

    fn open(&self, _opening: &Opening, _host: &Host<'_>) -> Result<work::Programs, Failure> {
        Ok(work::Programs::default())
    }

    fn finish(&self, ended: &Ended) -> Result<Finish, Failure> {
        finish::finish(ended)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_conforms() {
        plugin_api::testkit::assert_organ(&super::Command);
    }
}
