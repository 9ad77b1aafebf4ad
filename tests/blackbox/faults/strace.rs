//! The same faults on the system calls themselves, so that nothing depends on where the host put its fault points.

use host_tests::has_program;

use super::LIMIT;
use super::fold::Case;

/// Disturbs a fold at the first, second, .. of these calls until none is left; `None` without strace.
///
/// strace counts for each thread by itself, and a fold writes from three: the first call of each fails at once. The
/// fault points of the host, which are counted for the whole process, fail one call at a time.
#[track_caller]
fn disturb(case: &Case, calls: &str, effect: &str) -> Option<usize> {
    if !has_program("strace") {
        println!("skipped: strace is not installed");
        return None;
    }
    for count in 1..LIMIT {
        let (world, command) = case.command();
        let log = world.path("strace.log");
        let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:{effect}:when={count}"));
        let out = command.under(["strace", "-f", "-qq", "-o", &log, "-e", &trace, "-e", &inject]).run();
        let told = world.read("strace.log");
        if !told.contains("(INJECTED)") && !told.contains("killed by SIGKILL") {
            out.succeeds();
            return Some(count - 1);
        }
        case.check(&world, &out);
    }
    panic!("{calls} are called for ever");
}

#[test]
fn a_kill_at_any_rename_loses_nothing() {
    let case = Case::onto_a_state();
    let count = disturb(&case, "rename,renameat,renameat2", "signal=KILL");
    assert!(count.is_none_or(|count| count >= 4), "{count:?}");
}

#[test]
fn no_space_at_any_write_loses_nothing() {
    let case = Case::onto_a_state();
    let count = disturb(&case, "write,pwrite64,writev", "error=ENOSPC");
    assert!(count.is_none_or(|count| count >= 2), "{count:?}");
}

#[test]
fn an_error_at_any_sync_loses_nothing() {
    let case = Case::onto_a_state();
    let count = disturb(&case, "fsync,fdatasync", "error=EIO");
    assert!(count.is_none_or(|count| count >= 2), "{count:?}");
}
