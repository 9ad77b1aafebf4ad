//! A worker as a process: started, waited for, ended with all that it started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::spec::NONCE;
use super::tree::{Tree, adopt_orphans};
use crate::ledger::digest::hex;

/// A started worker.
pub(super) struct Process {
    child: Child,
    pid: Pid,
    nonce: String,
    ended: Option<ExitStatus>,
}

/// What tells a start from every other: 32 hex digits.
///
/// # Errors
/// The system has no random numbers.
pub(super) fn nonce() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    fill(&mut bytes)?;
    Ok(hex(&bytes))
}

#[cfg(target_os = "linux")]
fn fill(bytes: &mut [u8]) -> io::Result<()> {
    rustix::rand::getrandom(bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn fill(bytes: &mut [u8]) -> io::Result<()> {
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
}

impl Process {
    /// Starts `program worker` with `channel` as its stdin. Gives the pipes of its stdout and stderr too.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(program: &Path, nonce: &str, channel: OwnedFd) -> io::Result<(Self, OwnedFd, OwnedFd)> {
        static ADOPTING: Once = Once::new();
        ADOPTING.call_once(adopt_orphans);
        let mut command = Command::new(program);
        command.arg("worker").env_clear().env(NONCE, nonce).env("LANG", "C.UTF-8").process_group(0);
        command.stdin(Stdio::from(channel)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = child.stdout.take().map(OwnedFd::from).zip(child.stderr.take().map(OwnedFd::from));
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (Some((out, err)), Some(pid)) = (pipes, pid) else {
            return Err(io::Error::other("the system gave a process without a number or without pipes"));
        };
        Ok((Self { child, pid, nonce: nonce.to_owned(), ended: None }, out, err))
    }

    /// Its process id.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// The same as a plain number.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended. It is not reaped by that: until it is, nothing else gets its number.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.ended.is_some() || !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    /// Waits for its end, at most `time`. Whether it has ended.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut pause = Duration::from_micros(100);
        while !self.has_ended() {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        true
    }

    /// Ends it and all that it started, and gives its own end, which may have come before.
    pub(super) fn kill(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            let mut tree = Tree::of(self.pid, &self.nonce);
            tree.end();
            self.ended = self.child.wait().ok();
            tree.end_orphans();
        }
        self.ended
    }
}
