//! Several processes at once (D7, L 12, DECISIONS 6.6, 6.14; anthropics/claude-code#28922, kurrent-io/KurrentDB#3642).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use host_tests::{Export, Observation, World, tree};

/// Makes the lock file of the ledger of issues and locks it.
fn locked(world: &World) -> File {
    world.folder("state/issue-debt");
    let lock = File::create(world.debt().path(".fold.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// A file of this age.
fn file_of_age(path: &str, age: Duration) {
    let file = File::create(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + now() - age).unwrap();
}

/// The time as the file system gives it: tests read no clock of their own.
fn now() -> Duration {
    let file = tempfile::tempfile().unwrap();
    file.metadata().unwrap().modified().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap()
}

#[test]
fn eight_processes_append_800_observations_and_each_is_there_once() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    let append = |number: u64| {
        let entity = format!("o/r#{number}");
        let flags = ["--entity", &entity, "--fields-json", r#"{"eat_hours":1}"#, "--spool", "--json"];
        let out = world.debt().run("append", flags).succeeds();
        assert!(out.stderr().contains(" (new)\n"), "{out}");
        out.json()["observation_id"].as_str().unwrap().to_owned()
    };
    let ids: BTreeSet<String> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..8)
            .map(|lane| scope.spawn(move || (1..=100).map(|n| append(lane * 100 + n)).collect::<Vec<_>>()))
            .collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 800);
    let files = tree(world.debt().path("spool"));
    assert_eq!(files.keys().cloned().collect::<BTreeSet<_>>(), ids.iter().map(|id| format!("{id}.json")).collect());
    for (name, bytes) in &files {
        let line = std::str::from_utf8(bytes).unwrap();
        let id = name.strip_suffix(".json").unwrap();
        assert!(line.starts_with("[OBS] {") && line.ends_with("}\n") && line.contains(id), "{name}: {line}");
    }
    let status = world.debt().run("spool", ["--status"]).succeeds();
    assert!(status.stdout().starts_with("issue-debt: pending=800 "), "{status}");
}

#[test]
fn of_eight_processes_with_the_same_observation_one_wrote_it() {
    let world = World::new();
    world.debt().run("init", ["--apply"]).succeeds();
    for number in 1..=5 {
        let entity = format!("o/r#{number}");
        let flags = ["--entity", &entity, "--fields-json", r#"{"eat_hours":1}"#, "--spool"];
        let lanes: Vec<_> = (0..8).map(|_| world.debt().command("append", flags).start()).collect();
        let new = lanes.into_iter().map(|lane| lane.finish().succeeds());
        assert_eq!(new.filter(|out| out.stderr().contains(" (new)\n")).count(), 1, "{entity}");
    }
    assert_eq!(tree(world.debt().path("spool")).len(), 5);
}

#[test]
fn two_folds_at_once_keep_both_tails() {
    let world = World::new();
    let seen = |number: u64| Observation::issue(number).field("eat_hours", 1);
    world.debt().fold(&Export::full().with(seen(1))).succeeds();
    for round in 0..5 {
        let numbers = [10 + round * 2, 11 + round * 2];
        let lock = File::open(world.debt().path(".fold.lock")).unwrap();
        lock.lock().unwrap();
        let mut folds = numbers.map(|number| {
            let path = world.write(&format!("tail-{number}.json"), Export::tail().with(seen(number)).text());
            world.debt().command("reduce", ["--events", &path]).start()
        });
        for fold in &mut folds {
            fold.wait_until_open(&world.debt().path(".fold.lock"));
        }
        lock.unlock().unwrap();
        for fold in folds {
            fold.finish().succeeds();
        }
    }
    assert_eq!(world.debt().keys().len(), 11);
    assert_eq!(world.debt().fold_json()["generation"], 11);
}

#[test]
fn a_held_lock_is_waited_for_10_seconds_and_never_robbed_however_old_it_is() {
    let world = World::new();
    let lock = locked(&world);
    file_of_age(&world.debt().path(".fold.lock"), Duration::from_hours(1));
    let before = world.stored();
    let started = Instant::now();
    let out = world.debt().run("reduce", ["--no-events"]).refused("LOCK_TIMEOUT");
    assert!(started.elapsed() >= Duration::from_secs(10), "{out}");
    assert!(out.stderr().contains(".fold.lock"), "{out}");
    assert_eq!(world.stored(), before);
    drop(lock);
    world.debt().run("reduce", ["--no-events"]).succeeds();
}

#[test]
fn what_writes_nothing_waits_for_nobody() {
    let world = World::new();
    let _lock = locked(&world);
    world.debt().run("reduce", ["--no-events", "--dry-run"]).succeeds();
    world.debt().run("reduce", ["--no-events", "--stdout"]).succeeds();
    let flags = ["--entity", "o/r#1", "--fields-json", r#"{"eat_hours":1}"#];
    world.debt().run("append", flags).succeeds();
}

#[test]
fn the_ledgers_do_not_lock_each_other() {
    let world = World::new();
    let _lock = locked(&world);
    world.gpu().run("reduce", ["--no-events"]).succeeds();
}

#[test]
fn a_lock_file_that_nobody_holds_is_no_lock() {
    let world = World::new();
    world.write(&world.debt().file(".fold.lock"), r#"{"pid": 1, "host": "elsewhere"}"#);
    world.debt().run("reduce", ["--no-events"]).succeeds();
    assert!(fs::exists(world.debt().path(".fold.lock")).unwrap());
}

#[test]
fn a_killed_holder_frees_the_lock() {
    let world = World::new();
    let command = world.debt().command("reduce", ["--no-events"]).env("HOST_FAULTS", "rename:1:kill");
    assert!(command.run().killed());
    let started = Instant::now();
    world.debt().run("reduce", ["--no-events"]).succeeds();
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_young_lock_file_of_the_reference_is_waited_for() {
    let world = World::new();
    world.folder("state/issue-debt");
    let path = world.debt().path(".reduce.lock");
    file_of_age(&path, Duration::from_secs(0));
    let mut fold = world.debt().command("reduce", ["--no-events"]).start();
    fold.wait_until_asleep();
    assert!(!fs::exists(world.debt().path("snapshots/snapshot.json")).unwrap());
    fs::remove_file(&path).unwrap();
    fold.finish().succeeds();
}

#[test]
fn a_young_lock_file_of_the_reference_that_stays_is_a_timeout_that_names_it() {
    let world = World::new();
    world.folder("state/issue-debt");
    file_of_age(&world.debt().path(".reduce.lock"), Duration::from_secs(60));
    let out = world.debt().run("reduce", ["--no-events"]).refused("LOCK_TIMEOUT");
    assert!(out.stderr().contains(".reduce.lock"), "{out}");
    assert!(fs::exists(world.debt().path(".reduce.lock")).unwrap());
}

#[test]
fn an_old_lock_file_of_the_reference_is_passed_by() {
    let world = World::new();
    world.folder("state/issue-debt");
    file_of_age(&world.debt().path(".reduce.lock"), Duration::from_secs(130));
    let started = Instant::now();
    world.debt().run("reduce", ["--no-events"]).succeeds();
    assert!(started.elapsed() < Duration::from_secs(10));
}
