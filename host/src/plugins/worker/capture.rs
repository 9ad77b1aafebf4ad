//! What a worker prints, kept within bounds.
//!
//! A thread drains both streams as long as anyone holds their other ends, so that a worker never waits for a reader. At
//! the end of a call the caller drains them itself: what was printed before the answer is then in the pipe or read.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};

use super::spec::Printed;

/// Bytes that are kept of the beginning of a stream, and as many of its end.
const KEPT: usize = 32 << 10;
/// Most bytes that one call may print.
pub(super) const FLOOD: u64 = 64 << 20;
/// Most that is read at the end of a call. More than a pipe holds, so what was there before the answer is among it.
const LAST: usize = 1 << 20;

/// The streams of one worker.
pub(super) struct Capture {
    streams: Arc<Mutex<Streams>>,
    /// Its other end is closed with it, which ends the thread.
    _alive: UnixStream,
}

struct Streams {
    out: Stream,
    err: Stream,
    /// Told once when a call prints too much.
    flood: Option<Box<dyn Fn() + Send>>,
}

struct Stream {
    pipe: Option<File>,
    kept: Kept,
}

/// Both ends of what came.
#[derive(Default)]
struct Kept {
    first: Vec<u8>,
    last: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// Drains both pipes from now on; `flood` is called once for each call that prints more than [`FLOOD`].
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(out: OwnedFd, err: OwnedFd, flood: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (alive, ended) = UnixStream::pair()?;
        let (out, err) = (Stream::new(out)?, Stream::new(err)?);
        let polled = [out.pipe.as_ref(), err.pipe.as_ref()].map(|pipe| pipe.map(File::try_clone).transpose());
        let [polled_out, polled_err] = polled;
        let polled = [polled_out?, polled_err?];
        let streams = Arc::new(Mutex::new(Streams { out, err, flood: Some(Box::new(flood)) }));
        let drained = Arc::clone(&streams);
        std::thread::Builder::new()
            .name("worker-output".to_owned())
            .spawn(move || drain_until_closed(polled, &ended, &drained))?;
        Ok(Self { streams, _alive: alive })
    }

    /// What was printed since the last time.
    pub(super) fn take(&self) -> Printed {
        let mut streams = lock(&self.streams);
        streams.drain(LAST);
        let (out, err) = (std::mem::take(&mut streams.out.kept), std::mem::take(&mut streams.err.kept));
        let dropped = out.dropped() + err.dropped();
        Printed { stdout: out.text(), stderr: err.text(), dropped }
    }
}

fn lock(streams: &Mutex<Streams>) -> MutexGuard<'_, Streams> {
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for bytes outside of the lock.
fn drain_until_closed(mut pipes: [Option<File>; 2], ended: &UnixStream, streams: &Mutex<Streams>) {
    while pipes.iter().any(Option::is_some) {
        let mut waited = vec![PollFd::new(ended, PollFlags::IN)];
        waited.extend(pipes.iter().flatten().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        match poll(&mut waited, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        let over = waited.first().is_none_or(|ended| !ended.revents().is_empty());
        let mut streams = lock(streams);
        streams.drain(LAST);
        if over {
            return;
        }
        for (pipe, stream) in pipes.iter_mut().zip([&streams.out, &streams.err]) {
            if stream.pipe.is_none() {
                *pipe = None;
            }
        }
    }
}

impl Streams {
    fn drain(&mut self, most: usize) {
        self.out.drain(most);
        self.err.drain(most);
        if self.out.kept.total + self.err.kept.total > FLOOD
            && let Some(flood) = self.flood.take()
        {
            flood();
        }
    }
}

impl Stream {
    fn new(pipe: OwnedFd) -> io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(pipe.as_fd())?;
        rustix::fs::fcntl_setfl(pipe.as_fd(), flags | rustix::fs::OFlags::NONBLOCK)?;
        Ok(Self { pipe: Some(File::from(pipe)), kept: Kept::default() })
    }

    /// Reads what is there, up to about `most` bytes.
    fn drain(&mut self, most: usize) {
        let mut chunk = [0; 1 << 16];
        let mut got = 0;
        while let Some(mut pipe) = self.pipe.as_ref().filter(|_| got < most) {
            match pipe.read(&mut chunk) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    self.kept.add(chunk.get(..count).unwrap_or_default());
                    got += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        self.total += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let room = (KEPT - self.first.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.first.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(KEPT)..).unwrap_or_default();
        let over = (self.last.len() + rest.len()).saturating_sub(KEPT);
        self.last.drain(..over);
        self.last.extend(rest);
    }

    fn dropped(&self) -> u64 {
        let kept = self.first.len() + self.last.len();
        self.total - u64::try_from(kept).unwrap_or(0)
    }

    fn text(mut self) -> String {
        let dropped = self.dropped();
        if dropped > 0 {
            self.first.extend_from_slice(format!("\n[{dropped} bytes left out]\n").as_bytes());
        }
        self.first.extend(self.last);
        String::from_utf8_lossy(&self.first).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: &[&[u8]], expected: &str) {
        let mut kept = Kept::default();
        for part in parts {
            kept.add(part);
        }
        assert_eq!(kept.text(), expected);
    }

    #[test]
    fn what_fits_is_kept_whole() {
        check(&[b"one ", b"two"], "one two");
    }

    #[test]
    fn both_ends_are_kept_of_what_does_not_fit() {
        let (front, back) = ("a".repeat(KEPT), "z".repeat(KEPT));
        let expected = format!("{front}\n[7 bytes left out]\n{back}");
        check(&[front.as_bytes(), b"dropped", back.as_bytes()], &expected);
        let whole = format!("{front}dropped{back}");
        check(&[whole.as_bytes()], &expected);
    }

    #[test]
    fn what_is_no_text_is_shown_as_such() {
        check(&[b"\xff"], "\u{fffd}");
    }

    #[test]
    fn what_was_printed_before_is_there_when_it_is_taken() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let (read_err, write_err) = rustix::pipe::pipe().unwrap();
        let capture = Capture::start(read, read_err, || ()).unwrap();
        for turn in 0..100 {
            rustix::io::write(&write, format!("{turn}").as_bytes()).unwrap();
            rustix::io::write(&write_err, b"e").unwrap();
            let expected = Printed { stdout: turn.to_string(), stderr: "e".to_owned(), dropped: 0 };
            assert_eq!(capture.take(), expected);
        }
        drop((write, write_err));
        assert_eq!(capture.take(), Printed::default());
    }
}
