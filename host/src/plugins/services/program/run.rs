//! A program from start to end.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plugin_api::Failure;
use plugin_api::organ::services::{ProgramEnd, ProgramRun};

use super::child::{self, Started, Waited};
use super::drain::{Drain, Keep};
use super::{Programs, Wanted, unstartable};
use crate::plugins::services::bounds::{self, Bounds};

/// Bytes that are kept of an output when the request names none: 1 MiB.
const USUAL: u64 = 1 << 20;
/// Most that is ever kept of an output: 8 MiB, because two of them must fit a frame of the worker's protocol as JSON.
const MOST: u64 = 8 << 20;
/// How long the outputs of a program that was killed are waited for: 2 s.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);

impl Programs {
    pub(in crate::plugins::services) fn run(
        &self,
        request: ProgramRun,
        bounds: &Bounds<'_>,
    ) -> Result<ProgramEnd, Failure> {
        let ProgramRun { program, args, stdin, folder, environment, deadline_ms, max_output } = request;
        let mut command = self.command(&Wanted { program, args, folder, environment })?;
        let limit = if max_output == 0 { USUAL } else { max_output.min(MOST) };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        run(&mut command, stdin, limit, &bounds.narrowed(deadline_ms))
    }
}

/// Runs a command to its end, or to that of its bounds.
pub(in crate::plugins::services) fn run(
    command: &mut Command,
    stdin: Option<String>,
    limit: usize,
    bounds: &Bounds<'_>,
) -> Result<ProgramEnd, Failure> {
    let begin = Instant::now();
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |error| unstartable(&name, &error);
    let mut started = Started::start(command).map_err(failed)?;
    feed(&mut started, stdin);
    let out = started.child().stdout.take().map(|stream| Drain::start(stream, Keep::First(limit)));
    let err = started.child().stderr.take().map(|stream| Drain::start(stream, Keep::First(limit)));
    let waited = started.wait(bounds).map_err(failed)?;
    let status = started.finish().map_err(failed)?;
    if waited == Waited::Cancelled {
        return Err(bounds::cancelled());
    }
    let [out, err] = [out, err].map(|drain| drain.map(|drain| drain.finish(LAST_WORDS)).unwrap_or_default());
    Ok(ProgramEnd {
        exit: status.code(),
        signal: child::signal(status),
        deadline: waited == Waited::Deadline,
        stdout: out.text(),
        stderr: err.text(),
        truncated: out.truncated || err.truncated,
        ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// Writes from a thread: a program that prints before it reads must not wait for us, nor we for it.
fn feed(started: &mut Started, stdin: Option<String>) {
    if let (Some(mut stream), Some(text)) = (started.child().stdin.take(), stdin) {
        std::thread::spawn(move || {
            // A program need not read what it is given.
            let _unread = stream.write_all(text.as_bytes());
        });
    }
}
