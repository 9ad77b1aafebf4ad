//! What a program prints: read as fast as it comes, so that the program never waits, and kept up to a limit.

use std::io::Read;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most that is read at once: 64 KiB, what a pipe holds.
const CHUNK: usize = 64 << 10;

/// Which bytes are kept.
#[derive(Clone, Copy, Debug)]
pub(in crate::plugins::services) enum Keep {
    First(usize),
    Last(usize),
}

/// What was printed so far.
#[derive(Debug, Default)]
pub(in crate::plugins::services) struct Printed {
    pub(in crate::plugins::services) bytes: Vec<u8>,
    /// Whether there was more.
    pub(in crate::plugins::services) truncated: bool,
}

impl Printed {
    fn add(&mut self, bytes: &[u8], keep: Keep) {
        match keep {
            Keep::First(most) => {
                let room = most.saturating_sub(self.bytes.len());
                self.truncated |= bytes.len() > room;
                self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            }
            Keep::Last(most) => {
                self.bytes.extend_from_slice(bytes);
                let excess = self.bytes.len().saturating_sub(most);
                self.truncated |= excess > 0;
                self.bytes.drain(..excess);
            }
        }
    }

    /// As text; bytes that are no UTF-8 stand as U+FFFD.
    pub(in crate::plugins::services) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A stream that is being read.
#[derive(Debug)]
pub(in crate::plugins::services) struct Drain {
    printed: Arc<Mutex<Printed>>,
    /// Closed when the stream is at its end.
    ended: Receiver<()>,
}

impl Drain {
    pub(in crate::plugins::services) fn start(mut stream: impl Read + Send + 'static, keep: Keep) -> Self {
        let printed = Arc::new(Mutex::new(Printed::default()));
        let (at_end, ended) = channel::<()>();
        let shared = Arc::clone(&printed);
        std::thread::spawn(move || {
            let _at_end = at_end;
            let mut chunk = vec![0; CHUNK];
            loop {
                match stream.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(count) => lock(&shared).add(chunk.get(..count).unwrap_or(&chunk), keep),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        Self { printed, ended }
    }

    /// What was printed since the last time, the stream may go on.
    pub(in crate::plugins::services) fn take(&self) -> Printed {
        std::mem::take(&mut *lock(&self.printed))
    }

    /// Waits until the stream is at its end. One that escaped and keeps it open is waited for no longer than `patience`.
    pub(in crate::plugins::services) fn await_end(&self, patience: Duration) {
        let _closed_or_late = self.ended.recv_timeout(patience);
    }

    /// What was printed until the end, see [`Drain::await_end`].
    pub(in crate::plugins::services) fn finish(self, patience: Duration) -> Printed {
        self.await_end(patience);
        self.take()
    }
}

fn lock(printed: &Mutex<Printed>) -> MutexGuard<'_, Printed> {
    printed.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(keep: Keep, expected: (&str, bool)) {
        let drain = Drain::start("one two three".as_bytes(), keep);
        let printed = drain.finish(Duration::from_secs(60));
        assert_eq!((printed.text().as_str(), printed.truncated), expected);
    }

    #[test]
    fn the_first_or_the_last_bytes_are_kept() {
        check(Keep::First(7), ("one two", true));
        check(Keep::First(13), ("one two three", false));
        check(Keep::Last(5), ("three", true));
        check(Keep::Last(13), ("one two three", false));
    }
}
