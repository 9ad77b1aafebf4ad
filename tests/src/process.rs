//! Running the host: cleared environment, stdin given or closed, a deadline.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::artifacts;
use crate::out::Out;

/// Longest life of a command. A fold that waits for a lock gives up after 10 s, so this is a hang.
const DEADLINE: Duration = Duration::from_secs(60);

/// A command about to run.
#[derive(Debug)]
pub struct HostCommand {
    wrapper: Vec<String>,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    folder: String,
    stdin: Option<String>,
}

impl HostCommand {
    pub(crate) fn new(arguments: Vec<String>, environment: BTreeMap<String, String>, folder: String) -> Self {
        Self { wrapper: Vec::new(), arguments, environment, folder, stdin: None }
    }

    /// Adds arguments at the end.
    #[must_use]
    pub fn args<A: AsRef<str>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Unsets a variable that the world sets.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.remove(name);
        self
    }

    /// Runs in another folder.
    #[must_use]
    pub fn inside(mut self, folder: &str) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// Gives text on stdin; without it stdin is closed.
    #[must_use]
    pub fn stdin(mut self, text: &str) -> Self {
        self.stdin = Some(text.to_owned());
        self
    }

    /// Runs the host under another program, e.g. `strace` with its flags.
    #[must_use]
    pub fn under<A: AsRef<str>>(mut self, wrapper: impl IntoIterator<Item = A>) -> Self {
        self.wrapper = wrapper.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        self.env("PATH", "/usr/local/bin:/usr/bin:/bin")
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// When it cannot start or does not end within a minute.
    #[track_caller]
    pub fn run(self) -> Out {
        self.start().finish()
    }

    /// Starts, without waiting.
    ///
    /// # Panics
    /// When it cannot start.
    #[must_use]
    #[track_caller]
    pub fn start(self) -> Running {
        let host = artifacts::host();
        let mut command = match self.wrapper.split_first() {
            Some((program, rest)) => {
                let mut command = Command::new(program);
                command.args(rest).arg(host);
                command
            }
            None => Command::new(host),
        };
        command
            .args(&self.arguments)
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.folder)
            .stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let line = format!("host {}", self.arguments.join(" "));
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{line} does not start: {error}"));
        if let (Some(text), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            // A host that refuses before it reads closes the pipe: that is its right, and the test sees its answer.
            thread::spawn(move || pipe.write_all(text.as_bytes()));
        }
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        Running { line, child, stdout, stderr, deadline: Instant::now() + DEADLINE }
    }
}

/// A started command. Dropping it kills the process.
#[derive(Debug)]
pub struct Running {
    line: String,
    child: Child,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    deadline: Instant,
}

impl Running {
    /// Waits for the end.
    ///
    /// # Panics
    /// When it does not end before the deadline.
    #[track_caller]
    pub fn finish(mut self) -> Out {
        let stdout = self.text(Stream::Stdout);
        let stderr = self.text(Stream::Stderr);
        let status = self.child.wait().unwrap_or_else(|error| panic!("{}: {error}", self.line));
        Out::new(std::mem::take(&mut self.line), status, stdout, stderr)
    }

    /// Waits until the process has the file at `path` open, which is how a test knows that it got there.
    ///
    /// # Panics
    /// When the process ends first, or the deadline passes.
    #[cfg(target_os = "linux")]
    #[track_caller]
    pub fn wait_until_open(&mut self, path: &str) {
        let path = Path::new(path);
        self.wait_until(&format!("opens {}", path.display()), |id| {
            let Ok(descriptors) = std::fs::read_dir(format!("/proc/{id}/fd")) else { return false };
            descriptors.filter_map(Result::ok).any(|entry| std::fs::read_link(entry.path()).is_ok_and(|to| to == path))
        });
    }

    /// Waits until the process sleeps, so that it is seen to wait for something.
    ///
    /// # Panics
    /// When the process ends first, or the deadline passes.
    #[cfg(target_os = "linux")]
    #[track_caller]
    pub fn wait_until_asleep(&mut self) {
        self.wait_until("sleeps", |id| {
            let stat = std::fs::read_to_string(format!("/proc/{id}/wchan")).unwrap_or_default();
            stat.contains("nanosleep")
        });
    }

    #[track_caller]
    fn wait_until(&mut self, what: &str, condition: impl Fn(u32) -> bool) {
        while !condition(self.child.id()) {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("{} ended ({status}) before it {what}", self.line);
            }
            assert!(Instant::now() < self.deadline, "{} never {what}", self.line);
            thread::yield_now();
        }
    }

    #[track_caller]
    fn text(&mut self, stream: Stream) -> String {
        let receiver = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let bytes = receiver.recv_timeout(left).unwrap_or_else(|_| panic!("{} runs for ever", self.line));
        String::from_utf8(bytes).unwrap_or_else(|error| panic!("{}: {stream:?} is not UTF-8: {error}", self.line))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails when the process has ended, which is what is wanted.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Clone, Copy, Debug)]
enum Stream {
    Stdout,
    Stderr,
}

/// Reads a pipe to its end on a thread of its own, so that neither stream blocks the other.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error still shows in the failure of the test.
            drop(pipe.read_to_end(&mut bytes));
        }
        drop(sender.send(bytes));
    });
    receiver
}

/// Whether a program can be started, for tests that need one that not every machine has.
#[must_use]
pub fn has_program(name: impl AsRef<OsStr>) -> bool {
    Command::new(name)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}
