//! Processes that try to outlive the worker.

use crate::Order;
use crate::harms::{hang, harm};

/// Leaves processes behind, and then does what the order's text says: an answer holds their pids.
pub(crate) fn fork(word: &str, order: &Order) -> Option<String> {
    let pids = match word {
        "child" => vec![leave(Leave::Child)],
        "daemon" => vec![leave(Leave::Daemon)],
        "brood" => (0..order.number).map(|_| leave(Leave::Daemon)).collect(),
        _ => return None,
    };
    let pids = pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    eprintln!("left {pids}");
    harm(&order.text, order).or(Some(pids))
}

#[derive(Clone, Copy)]
enum Leave {
    /// A child in the worker's group.
    Child,
    /// A child of nobody, in a session of its own.
    Daemon,
}

/// The pid of a process that sleeps for good.
fn leave(how: Leave) -> i32 {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    #[expect(unsafe_code, reason = "the child tells its pid through it")]
    unsafe {
        libc::pipe(ends.as_mut_ptr())
    };
    // SAFETY: the child only calls functions that are safe after a fork of a process with threads, and never returns.
    #[expect(unsafe_code, reason = "no safe interface forks")]
    unsafe {
        if libc::fork() == 0 {
            if matches!(how, Leave::Daemon) {
                libc::setsid();
                if libc::fork() != 0 {
                    libc::_exit(0);
                }
            }
            let pid = libc::getpid();
            libc::write(ends[1], (&raw const pid).cast(), size_of::<i32>());
            hang();
        }
        let mut pid = 0_i32;
        libc::read(ends[0], (&raw mut pid).cast(), size_of::<i32>());
        libc::close(ends[0]);
        libc::close(ends[1]);
        pid
    }
}
