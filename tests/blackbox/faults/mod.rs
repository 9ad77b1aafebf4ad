//! A fold, an append or an init that dies or fails at any operation on the disk (issue point 6, D7, DECISIONS 6.12).
//!
//! The operation is chosen by count, with the host's own fault points and, where it exists, with strace on the calls
//! themselves. Each test goes on to the next count until the command is no longer touched.

mod append;
mod fold;
mod plugins;
mod strace;

use host_tests::{HostCommand, Out, World};

/// More operations than any command here has: beyond it the count never ends.
const LIMIT: usize = 200;

/// Runs `command` with the fault at count 1, 2, .. until it is not reached any more, and gives each outcome to `check`.
///
/// `command` makes a fresh world each time. Returns how many operations there were.
#[track_caller]
fn at_each(
    operation: &str,
    effect: &str,
    command: impl Fn() -> (World, HostCommand),
    check: impl Fn(&World, &Out),
) -> usize {
    for count in 1..LIMIT {
        let (world, command) = command();
        let out = command.env("HOST_FAULTS", &format!("{operation}:{count}:{effect}")).run();
        if out.code_or_killed() == Some(0) {
            assert!(count > 1, "no {operation} was counted: is the host built without its fault points?\n{out}");
            return count - 1;
        }
        match effect {
            "kill" => assert!(out.killed(), "{operation} {count}\n{out}"),
            _ => assert_eq!(out.first_error_code(), "WRITE_FAILED", "{operation} {count}\n{out}"),
        }
        check(&world, &out);
    }
    panic!("{operation} is counted for ever");
}
