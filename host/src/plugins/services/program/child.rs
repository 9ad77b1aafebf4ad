//! A started program: its end, and that of all it started.

use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use crate::plugins::services::bounds::Bounds;
use crate::plugins::services::tree;

/// Variable that marks a program and all it starts.
pub(in crate::plugins::services) const MARKER: &str = "HOST_PROGRAM";
/// Shortest and longest pause between two looks whether a program has ended.
const POLL: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// A started program. Dropped, it and everything it started is killed.
#[derive(Debug)]
pub(in crate::plugins::services) struct Started {
    child: Child,
    marker: String,
    is_reaped: bool,
}

/// Why a wait for a program's end was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plugins::services) enum Waited {
    Ended,
    Deadline,
    Cancelled,
}

impl Started {
    /// Starts it in a process group of its own, with a marker.
    pub(in crate::plugins::services) fn start(command: &mut Command) -> io::Result<Self> {
        let marker = random();
        command.env(MARKER, &marker);
        own_group(command);
        Ok(Self { child: command.spawn()?, marker, is_reaped: false })
    }

    /// The process, for its streams.
    pub(in crate::plugins::services) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until it ends, its deadline is over, or somebody asks for its end. It is not reaped.
    pub(in crate::plugins::services) fn wait(&mut self, bounds: &Bounds<'_>) -> io::Result<Waited> {
        let (mut pause, longest) = POLL;
        loop {
            if self.has_ended()? {
                return Ok(Waited::Ended);
            }
            if bounds.is_cancelled() {
                return Ok(Waited::Cancelled);
            }
            let pause_now = bounds.at_most(pause);
            if pause_now.is_zero() {
                return Ok(Waited::Deadline);
            }
            let _asked = bounds.cancel().wait(pause_now);
            pause = (pause * 2).min(longest);
        }
    }

    /// Kills what is left of it and of all it started, and reaps it.
    pub(in crate::plugins::services) fn finish(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            tree::kill_tree(pid(&self.child), Some((MARKER, &self.marker)));
        }
        let status = self.child.wait()?;
        self.is_reaped = true;
        Ok(status)
    }

    /// Looks without reaping: while the number is taken, the tree below it can be killed.
    #[cfg(unix)]
    fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        Ok(waitid(WaitId::Pid(pid(&self.child)), options)?.is_some())
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if !self.is_reaped
            && let Err(error) = self.finish()
        {
            tracing::warn!(cause = %error, "a program could not be reaped");
        }
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

#[cfg(unix)]
fn pid(child: &Child) -> tree::Pid {
    tree::Pid::from_child(child)
}

#[cfg(not(unix))]
fn pid(child: &Child) -> tree::Pid {
    child.id()
}

/// Number of the signal that ended a process.
#[cfg(unix)]
pub(in crate::plugins::services) fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(in crate::plugins::services) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// 32 hex digits that no other start has. The standard library seeds its hash tables from the system's randomness.
fn random() -> String {
    let half = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}
