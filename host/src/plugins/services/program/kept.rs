//! Programs that are kept: each line that is sent is answered by one line.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plugin_api::Failure;
use plugin_api::organ::services::{ProgramClose, ProgramEnd, ProgramExchange, ProgramHandle, ProgramLine, ProgramOpen};

use super::child::{self, Started, Waited};
use super::drain::{Drain, Keep};
use super::run::LAST_WORDS;
use super::{Programs, Wanted, unstartable};
use crate::plugins::services::bounds::{self, Bounds};
use crate::plugins::services::failure;

/// Longest line when the request names no length: 16 MiB.
const USUAL: u64 = 16 << 20;
/// Longest line that is ever read: 32 MiB, because it must fit a frame of the worker's protocol.
const MOST: u64 = 32 << 20;
/// What is kept of stderr: the last 64 KiB.
const STDERR: usize = 64 << 10;
/// What is quoted of stderr in a message: the last 2 KiB.
const QUOTED: usize = 2 << 10;
/// Programs that one session may keep at a time.
const MOST_KEPT: usize = 32;
/// Pause between two looks whether somebody wants an exchange to end.
const POLL: Duration = Duration::from_millis(20);
/// How long a program may take to end after its stdin was closed: 2 s.
const CLOSING_MS: u64 = 2000;

/// The kept programs of a session.
#[derive(Debug, Default)]
pub(super) struct Handles {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// The session is over: nothing is kept any more.
    over: bool,
    last: u64,
    programs: BTreeMap<u64, Arc<Mutex<Option<Kept>>>>,
}

impl Handles {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, program: Kept) -> Result<u64, Failure> {
        let mut open = self.open();
        if open.over {
            return Err(bounds::cancelled());
        }
        open.last += 1;
        let handle = open.last;
        open.programs.insert(handle, Arc::new(Mutex::new(Some(program))));
        Ok(handle)
    }

    fn get(&self, handle: u64) -> Result<Arc<Mutex<Option<Kept>>>, Failure> {
        self.open().programs.get(&handle).cloned().ok_or_else(|| gone(handle))
    }

    fn remove(&self, handle: u64) {
        self.open().programs.remove(&handle);
    }

    /// Kills all of them. An exchange that is under way sees the end of the session by itself.
    pub(super) fn end(&self) {
        let programs = {
            let mut open = self.open();
            open.over = true;
            std::mem::take(&mut open.programs)
        };
        for program in programs.values() {
            drop(lock(program).take());
        }
    }
}

fn lock(program: &Mutex<Option<Kept>>) -> MutexGuard<'_, Option<Kept>> {
    program.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gone(handle: u64) -> Failure {
    let text = format!("there is no program {handle}: it was never opened, was closed or was lost; open it again");
    Failure::new("program_lost", text)
}

/// A program that is kept.
#[derive(Debug)]
struct Kept {
    name: String,
    started: Started,
    to: Option<Sender<String>>,
    from: Receiver<Event>,
    stderr: Drain,
}

/// What came out of a program's stdout.
#[derive(Debug)]
enum Event {
    Line(String),
    /// The stream ended, after so many bytes of a line without its end.
    End(usize),
    /// A line has more bytes than are allowed.
    TooLong(usize),
    Unreadable(io::Error),
}

impl Programs {
    pub(in crate::plugins::services) fn open(
        &self,
        request: ProgramOpen,
        bounds: &Bounds<'_>,
    ) -> Result<ProgramHandle, Failure> {
        let ProgramOpen { program, args, folder, environment, max_line } = request;
        let mut command = self.command(&Wanted { program, args, folder, environment })?;
        if self.handles.open().programs.len() >= MOST_KEPT {
            let listed = [format!("{MOST_KEPT} at a time")];
            return Err(failure::not_granted("one more kept program", &listed, "close one first"));
        }
        bounds.check()?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = command.get_program().to_string_lossy().into_owned();
        let mut started = Started::start(&mut command).map_err(|error| unstartable(&name, &error))?;
        let child = started.child();
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(unstartable(&name, &io::Error::other("it has no streams")));
        };
        let limit = if max_line == 0 { USUAL } else { max_line.min(MOST) };
        let kept = Kept {
            name,
            started,
            to: Some(write_lines(stdin)),
            from: read_lines(stdout, usize::try_from(limit).unwrap_or(usize::MAX)),
            stderr: Drain::start(stderr, Keep::Last(STDERR)),
        };
        Ok(ProgramHandle { handle: self.handles.add(kept)? })
    }

    pub(in crate::plugins::services) fn exchange(
        &self,
        request: ProgramExchange,
        bounds: &Bounds<'_>,
    ) -> Result<ProgramLine, Failure> {
        let ProgramExchange { handle, line, deadline_ms } = request;
        if line.contains(['\n', '\r']) {
            return Err(failure::invalid("a line holds no line break; write it as JSON on one line"));
        }
        let program = self.handles.get(handle)?;
        let mut program = lock(&program);
        let mut kept = program.take().ok_or_else(|| gone(handle))?;
        match kept.exchange(line, &bounds.narrowed(deadline_ms)) {
            Ok(line) => {
                *program = Some(kept);
                Ok(line)
            }
            Err(failure) => {
                self.handles.remove(handle);
                Err(failure)
            }
        }
    }

    pub(in crate::plugins::services) fn close(
        &self,
        request: &ProgramClose,
        bounds: &Bounds<'_>,
    ) -> Result<ProgramEnd, Failure> {
        let program = self.handles.get(request.handle)?;
        let kept = lock(&program).take().ok_or_else(|| gone(request.handle))?;
        self.handles.remove(request.handle);
        kept.close(&bounds.narrowed(request.deadline_ms.or(Some(CLOSING_MS))))
    }
}

impl Kept {
    fn exchange(&mut self, line: String, bounds: &Bounds<'_>) -> Result<ProgramLine, Failure> {
        match self.from.try_recv() {
            Ok(Event::Line(_)) => return Err(self.lost("it printed a line that nobody had asked for")),
            Ok(event) => return Err(self.lost_by(&event, bounds)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        // One that reads no more has ended, and its stdout tells how.
        let _ended = self.to.as_ref().map(|to| to.send(line));
        loop {
            let pause = bounds.at_most(POLL);
            match self.from.recv_timeout(pause) {
                Ok(Event::Line(line)) => return Ok(ProgramLine { line, stderr: self.stderr.take().text() }),
                Ok(event) => return Err(self.lost_by(&event, bounds)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost_by(&Event::End(0), bounds)),
                Err(RecvTimeoutError::Timeout) if bounds.is_cancelled() => return Err(bounds::cancelled()),
                Err(RecvTimeoutError::Timeout) if pause.is_zero() => {
                    return Err(self.lost("it did not answer before its deadline"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn lost_by(&mut self, event: &Event, bounds: &Bounds<'_>) -> Failure {
        match event {
            Event::TooLong(limit) => self.lost(&format!("it printed a line of more than {limit} bytes")),
            Event::Unreadable(error) => self.lost(&format!("its stdout cannot be read: {error}")),
            Event::Line(_) => self.lost("it printed a line that nobody had asked for"),
            Event::End(half) => {
                let half = if *half == 0 { String::new() } else { format!(", after {half} bytes of a line") };
                // It may need a moment from its last word to its end.
                let waited = self.started.wait(&bounds.narrowed(Some(CLOSING_MS)));
                let how = match waited {
                    Ok(Waited::Ended) => match self.started.finish() {
                        Ok(status) => ended(status),
                        Err(error) => format!("it ended: {error}"),
                    },
                    Ok(Waited::Deadline | Waited::Cancelled) | Err(_) => "it closed its stdout".to_owned(),
                };
                self.lost(&format!("{how}{half}"))
            }
        }
    }

    /// Kills it. The message says what became of it and ends with the last of its stderr.
    fn lost(&mut self, what: &str) -> Failure {
        if let Err(error) = self.started.finish() {
            tracing::warn!(cause = %error, "a program could not be reaped");
        }
        self.stderr.await_end(LAST_WORDS);
        let stderr = self.stderr.take().text();
        let mut start = stderr.len().saturating_sub(QUOTED);
        while !stderr.is_char_boundary(start) {
            start += 1;
        }
        let quoted = stderr.get(start..).unwrap_or_default().trim();
        let last = if quoted.is_empty() { "nothing".to_owned() } else { quoted.to_owned() };
        Failure::new("program_lost", format!("{} is gone: {what}; open it again; its stderr: {last}", self.name))
    }

    fn close(mut self, bounds: &Bounds<'_>) -> Result<ProgramEnd, Failure> {
        let begin = Instant::now();
        let failed = |error: io::Error| Failure::new("program_lost", format!("its end is not known: {error}"));
        self.to = None;
        let waited = self.started.wait(bounds).map_err(failed)?;
        let status = self.started.finish().map_err(failed)?;
        if waited == Waited::Cancelled {
            return Err(bounds::cancelled());
        }
        let (mut stdout, mut truncated) = (String::new(), false);
        while let Ok(event) = self.from.recv_timeout(LAST_WORDS) {
            match event {
                Event::Line(line) => {
                    stdout.push_str(&line);
                    stdout.push('\n');
                }
                Event::End(half) => truncated |= half > 0,
                Event::TooLong(_) | Event::Unreadable(_) => truncated = true,
            }
        }
        let stderr = self.stderr.finish(LAST_WORDS);
        Ok(ProgramEnd {
            exit: status.code(),
            signal: child::signal(status),
            deadline: waited == Waited::Deadline,
            stdout,
            stderr: stderr.text(),
            truncated: truncated || stderr.truncated,
            ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), child::signal(status)) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

/// Lines to a program, from a thread: one that does not read must not hold us.
fn write_lines(mut stdin: ChildStdin) -> Sender<String> {
    let (to, lines) = channel::<String>();
    std::thread::spawn(move || {
        for mut line in lines {
            line.push('\n');
            if stdin.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    to
}

/// Lines of a program. A few are read ahead, then the program waits.
fn read_lines(stdout: ChildStdout, limit: usize) -> Receiver<Event> {
    let (to, from) = sync_channel(4);
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        loop {
            let event = next(&mut stdout, limit);
            let is_last = !matches!(event, Event::Line(_));
            if to.send(event).is_err() || is_last {
                return;
            }
        }
    });
    from
}

fn next(stdout: &mut impl BufRead, limit: usize) -> Event {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = stdout.take(most).read_until(b'\n', &mut bytes) {
        return Event::Unreadable(error);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        return Event::Line(String::from_utf8_lossy(&bytes).into_owned());
    }
    if bytes.len() > limit { Event::TooLong(limit) } else { Event::End(bytes.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut stdout = text.as_bytes();
        let event = format!("{:?}", next(&mut stdout, 3));
        assert_eq!(event, expected);
    }

    #[test]
    fn lines_halves_and_long_ones_are_told_apart() {
        check("abc\nd", "Line(\"abc\")");
        check("ab\r\n", "Line(\"ab\")");
        check("\n", "Line(\"\")");
        check("", "End(0)");
        check("ab", "End(2)");
        check("abcd\n", "TooLong(3)");
        check("abc", "End(3)");
    }
}
