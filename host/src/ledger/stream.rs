//! Reads an export and judges its messages meanwhile.
//!
//! One thread walks through the file; each chunk of messages it finds is judged by whichever thread is free. Which list
//! is the journal, and whether the export is acceptable at all, is known only at the end: what was judged for nothing is
//! dropped. A file in which anything is refused or in doubt is read again with each message kept as raw text, and judged
//! from that (DECISIONS 6.5), so a hostile message costs time and nothing else.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use plugin_api::Value;
use plugin_api::json::ReadError;
use rayon::Scope;

use super::export::{DEEPEST, LIST_KEYS, check_unread, read_outer};
use super::kind::KindFailure;
use super::message::{Judgement, Rules, judge_values};
use super::outer::{Outer, Sink};
use super::shape::Shape;

/// Chunks that may wait to be judged before the walk stops to judge one itself: bounds the memory of a fold.
const WAITING: usize = 8;

/// An export as read, with what is already known of its messages.
#[derive(Debug)]
pub struct ExportDoc<'a> {
    /// Its outer levels.
    pub outer: Outer<'a>,
    /// Judged chunks of its streamed lists, in any order.
    pub judged: Vec<JudgedChunk>,
}

/// What a run of messages came to.
#[derive(Debug)]
pub struct JudgedChunk {
    /// The streamed list.
    pub list: usize,
    /// Index of its first message.
    pub first: usize,
    /// What it came to.
    pub judgement: Result<Judgement, KindFailure>,
}

/// Reads the text of an export. `progress` is told how many messages were judged.
///
/// # Errors
/// [`ReadError`] when it is not JSON or repeats a key outside of any message.
pub fn read<'a>(
    text: &'a str,
    rules: &Rules,
    shape: &Shape<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<ExportDoc<'a>, ReadError> {
    let judging = Judging {
        rules,
        shape,
        progress,
        judged: Mutex::default(),
        done: AtomicUsize::new(0),
        waiting: AtomicUsize::new(0),
    };
    let streamed = rayon::scope(|scope| Outer::stream(text, DEEPEST, &mut Chunks { scope, judging: &judging }));
    match streamed {
        Some(outer) => {
            check_unread(&outer)?;
            Ok(ExportDoc { outer, judged: judging.judged.into_inner().unwrap_or_default() })
        }
        None => Ok(ExportDoc { outer: read_outer(text)?, judged: Vec::new() }),
    }
}

struct Judging<'j, 'k> {
    rules: &'j Rules,
    shape: &'j Shape<'k>,
    progress: &'j (dyn Fn(usize) + Sync),
    judged: Mutex<Vec<JudgedChunk>>,
    done: AtomicUsize,
    waiting: AtomicUsize,
}

impl Judging<'_, '_> {
    fn judge(&self, list: usize, first: usize, messages: Vec<Value<'_>>) {
        let count = messages.len();
        let judgement = judge_values(messages, first, self.rules, self.shape);
        // A poisoned lock means that a thread panicked, and the scope passes that panic on.
        if let Ok(mut judged) = self.judged.lock() {
            judged.push(JudgedChunk { list, first, judgement });
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        (self.progress)(self.done.fetch_add(count, Ordering::Relaxed) + count);
    }
}

struct Chunks<'c, 's, 'j, 'k> {
    scope: &'c Scope<'s>,
    judging: &'s Judging<'j, 'k>,
}

impl<'a: 's, 's> Sink<'a> for Chunks<'_, 's, '_, '_> {
    fn wants(&self, key: Option<&str>) -> bool {
        key.is_none_or(|key| LIST_KEYS.contains(&key))
    }

    fn take(&mut self, list: usize, first: usize, items: Vec<Value<'a>>) {
        let judging = self.judging;
        let waiting = judging.waiting.fetch_add(1, Ordering::Relaxed);
        self.scope.spawn(move |_| judging.judge(list, first, items));
        if waiting >= WAITING {
            rayon::yield_now();
        }
    }
}
