//! Locks between threads and between processes; the wall clock is given, time is only waited for by the lock itself.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;

use super::*;
use crate::clock;
use crate::store::testing::{Home, put, text};

const SHORT: Duration = Duration::from_millis(60);
/// For what must come. Also for a lock freed a moment ago: while another test starts a program, the copy of our
/// descriptors that the system makes for it keeps a lock until that program runs.
const LONG: Duration = Duration::from_secs(60);

fn acquire(home: &Home, patience: Duration) -> Result<FoldLock, LockError> {
    FoldLock::acquire(&Disk::default(), &home.guarded("ledger"), patience, &clock::now)
}

#[test]
fn a_free_lock_is_taken_and_its_file_stays() {
    let home = Home::new();
    drop(acquire(&home, Duration::ZERO).unwrap());
    drop(acquire(&home, LONG).unwrap());
    assert!(home.at("ledger/.fold.lock").is_file());
}

#[test]
fn a_holder_is_waited_for_and_named() {
    let home = Home::new();
    let stamp = || Timestamp::parse("2026-09-17T19:00:00Z").unwrap();
    let _held = FoldLock::acquire(&Disk::default(), &home.guarded("ledger"), SHORT, &stamp).unwrap();
    let start = Instant::now();
    let error = acquire(&home, SHORT).unwrap_err();
    assert!(start.elapsed() >= SHORT);
    assert_eq!(error.code(), Fatal::LockTimeout);
    let holder = format!("held by process {} since 2026-09-17T19:00:00Z", std::process::id());
    assert!(error.to_string().ends_with(&holder), "{error}");
    assert!(error.to_string().contains("/ledger/.fold.lock"), "{error}");
}

#[track_caller]
fn check_note(note: &str, expected: &str) {
    assert_eq!(Holder::parse(note).to_string(), expected);
}

#[test]
fn only_a_note_of_ours_names_a_holder() {
    check_note("pid 12 since 2026-09-17T19:00:00Z\n", "process 12 since 2026-09-17T19:00:00Z");
    check_note("", "an unknown process");
    check_note("pid x since 2026-09-17T19:00:00Z", "an unknown process");
    check_note("pid 12 since yesterday", "an unknown process");
    check_note("\u{1b}[31mpid 12", "an unknown process");
}

#[test]
fn a_longer_note_of_an_earlier_holder_is_gone() {
    let home = Home::new();
    std::fs::create_dir(home.at("ledger")).unwrap();
    put(&home.at("ledger/.fold.lock"), &[b'x'; 200]);
    let _held = acquire(&home, Duration::ZERO).unwrap();
    let note = text(&home.at("ledger/.fold.lock")).unwrap();
    assert!(note.starts_with(&format!("pid {} since ", std::process::id())) && !note.contains('x'), "{note}");
}

#[test]
fn a_file_that_is_as_old_as_the_hills_and_held_is_not_robbed() {
    let home = Home::new();
    let _held = acquire(&home, Duration::ZERO).unwrap();
    let long_ago = std::time::UNIX_EPOCH;
    open(&home.at("ledger/.fold.lock")).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(acquire(&home, SHORT).unwrap_err().code(), Fatal::LockTimeout);
}

#[test]
fn whoever_waits_gets_the_lock_when_it_is_freed() {
    let home = Home::new();
    let held = acquire(&home, Duration::ZERO).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| acquire(&home, LONG).is_ok());
        drop(held);
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn of_many_threads_only_one_at_a_time_holds_it() {
    let home = Home::new();
    std::fs::create_dir(home.at("ledger")).unwrap();
    put(&home.at("count"), b"0");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let _held = acquire(&home, LONG).unwrap();
                    let count: u32 = text(&home.at("count")).unwrap().parse().unwrap();
                    put(&home.at("count"), (count + 1).to_string().as_bytes());
                }
            });
        }
    });
    assert_eq!(text(&home.at("count")).unwrap(), "20");
}

#[test]
fn a_lock_on_a_file_that_was_removed_or_replaced_is_none() {
    let home = Home::new();
    let path = home.at("lock");
    let mine = open(&path).unwrap();
    assert!(is_still_at(&mine, &path).unwrap());
    std::fs::remove_file(&path).unwrap();
    assert!(!is_still_at(&mine, &path).unwrap());
    let _other = open(&path).unwrap();
    assert!(!is_still_at(&mine, &path).unwrap());
}

fn reference_lock(home: &Home) {
    std::fs::create_dir_all(home.at("ledger")).unwrap();
    put(&home.at("ledger/.reduce.lock"), b"{}");
}

#[track_caller]
fn check_reference(seconds_later: i64, expected: Result<(), Fatal>) {
    let home = Home::new();
    reference_lock(&home);
    let written = files::modified(&home.at("ledger/.reduce.lock").metadata().unwrap()).unwrap();
    let now = move || written.plus_micros(seconds_later * 1_000_000);
    let taken = FoldLock::acquire(&Disk::default(), &home.guarded("ledger"), SHORT, &now);
    assert_eq!(taken.map(drop).map_err(|error| error.code()), expected);
    assert!(home.at("ledger/.reduce.lock").exists());
}

#[test]
fn a_young_lock_of_the_reference_is_waited_for() {
    check_reference(0, Err(Fatal::LockTimeout));
    check_reference(119, Err(Fatal::LockTimeout));
}

#[test]
fn an_old_lock_of_the_reference_is_passed_by_and_left() {
    check_reference(120, Ok(()));
    check_reference(3600, Ok(()));
}

#[test]
fn a_lock_of_the_reference_from_a_clock_ahead_of_ours_counts_as_young() {
    check_reference(-3600, Err(Fatal::LockTimeout));
}

#[test]
fn the_reference_is_named_with_its_file_and_time() {
    let home = Home::new();
    reference_lock(&home);
    let error = acquire(&home, Duration::ZERO).unwrap_err().to_string();
    assert!(
        error.contains("for the reference reducer, whose lock ") && error.contains("/ledger/.reduce.lock"),
        "{error}"
    );
}

#[test]
fn whoever_waits_for_the_reference_goes_on_when_it_is_done() {
    let home = Home::new();
    reference_lock(&home);
    let (looked, has_looked) = mpsc::channel();
    // The clock is asked for the note, and then each time the reference's file is looked at.
    let now = move || {
        looked.send(()).unwrap();
        clock::now()
    };
    std::thread::scope(|scope| {
        let folder = home.guarded("ledger");
        let waiting = scope.spawn(move || FoldLock::acquire(&Disk::default(), &folder, LONG, &now).is_ok());
        for _ in 0..2 {
            has_looked.recv().unwrap();
        }
        std::fs::remove_file(home.at("ledger/.reduce.lock")).unwrap();
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn outputs_elsewhere_have_locks_of_their_own() {
    let home = Home::new();
    let (one, two) = (home.guarded("x/one.json"), home.guarded("y/two.json"));
    let acquire =
        |outputs: &[&Guarded], patience| OutputLock::acquire(&Disk::default(), outputs, patience, &clock::now);
    let held = acquire(&[&two, &one, &one], SHORT).unwrap();
    assert!(home.at("x/one.json.lock").is_file() && home.at("y/two.json.lock").is_file());
    assert_eq!(acquire(&[&one], SHORT).unwrap_err().code(), Fatal::LockTimeout);
    assert_eq!(acquire(&[&two], SHORT).unwrap_err().code(), Fatal::LockTimeout);
    drop(held);
    assert!(acquire(&[&one, &two], LONG).is_ok());
}

#[test]
fn a_folder_in_the_place_of_the_lock_is_reported() {
    let home = Home::new();
    std::fs::create_dir_all(home.at("ledger/.fold.lock")).unwrap();
    let error = acquire(&home, Duration::ZERO).unwrap_err();
    assert_eq!(error.code(), Fatal::WriteFailed);
    assert_eq!(error.to_string(), format!("cannot lock {}", home.at("ledger/.fold.lock").display()));
}

#[test]
fn a_ledger_folder_that_cannot_be_created_is_reported() {
    let home = Home::new();
    put(&home.at("ledger"), b"a file");
    assert_eq!(acquire(&home, Duration::ZERO).unwrap_err().code(), Fatal::WriteFailed);
}

#[cfg(unix)]
#[test]
fn a_lock_file_that_leads_into_the_shared_tree_is_refused() {
    let home = Home::new();
    std::fs::create_dir(home.at("ledger")).unwrap();
    std::os::unix::fs::symlink(home.at("shared/lock"), home.at("ledger/.fold.lock")).unwrap();
    let folder = crate::store::Guard::new(Some(home.at("shared"))).check(home.at("ledger")).unwrap();
    let error = FoldLock::acquire(&Disk::default(), &folder, Duration::ZERO, &clock::now).unwrap_err();
    assert_eq!(error.code(), Fatal::SharedPathRefused);
}

const CHILD_HOME: &str = "HOST_STORE_TEST_HOME";

/// A second process that holds the lock of `home` until its input ends or it is killed.
struct OtherProcess {
    child: Child,
    _input: ChildStdin,
}

impl OtherProcess {
    fn holding(home: &Home) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::lock::tests::between_processes_a_killed_holder_frees_the_lock", "--nocapture"])
            .env(CHILD_HOME, home.at("ledger"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
        assert!(lines.any(|line| line.ends_with("the lock is held")));
        Self { child, _input: input }
    }
}

#[test]
fn between_processes_a_killed_holder_frees_the_lock() {
    if let Some(ledger) = crate::env::get(CHILD_HOME) {
        let folder = crate::store::Guard::new(None).check(ledger).unwrap();
        let _held = FoldLock::acquire(&Disk::default(), &folder, Duration::ZERO, &clock::now).unwrap();
        println!("the lock is held");
        io::stdin().read_to_string(&mut String::new()).unwrap();
        return;
    }
    let home = Home::new();
    let mut other = OtherProcess::holding(&home);
    let refused = acquire(&home, SHORT).unwrap_err();
    assert!(refused.to_string().contains(&format!("held by process {} since ", other.child.id())), "{refused}");
    other.child.kill().unwrap();
    other.child.wait().unwrap();
    assert!(acquire(&home, LONG).is_ok());
}

#[test]
fn a_program_that_a_holder_started_does_not_hold_the_lock() {
    let (home, elsewhere) = (Home::new(), Home::new());
    let held = acquire(&home, Duration::ZERO).unwrap();
    let mut other = OtherProcess::holding(&elsewhere);
    drop(held);
    assert!(acquire(&home, LONG).is_ok());
    other.child.kill().unwrap();
    other.child.wait().unwrap();
}
