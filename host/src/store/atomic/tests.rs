//! Every operation of a replacement fails or kills once; what is left must be the old file or the new one, whole.

use super::*;
use crate::clock;
use crate::reasons::Fatal;
use crate::store::faults::{Faults, Operation};
use crate::store::testing::{Home, put, text};

const OLD: &str = "old content";
const NEW: &str = "new content, longer than the old one";

fn faults(text: &str) -> Faults {
    text.parse().unwrap()
}

/// Replaces an old file; what the call said and what is left.
fn replace_old(faults: Faults) -> (Result<(), WriteError>, Home) {
    let home = Home::new();
    put(&home.at("out"), OLD.as_bytes());
    let result = replace(&Disk::with_faults(faults), &home.guarded("out"), Mode::Default, NEW.as_bytes());
    (result, home)
}

#[test]
fn a_file_is_replaced_whole_and_nothing_else_is_left() {
    let (result, home) = replace_old(Faults::default());
    result.unwrap();
    assert_eq!(text(&home.at("out")).unwrap(), NEW);
    assert_eq!(home.names(), ["out"]);
}

#[test]
fn a_replacement_is_one_of_each_operation_and_removes_nothing() {
    let counted = Faults::default();
    replace_old(counted.clone()).0.unwrap();
    let counts = [Operation::Create, Operation::Write, Operation::Sync, Operation::Rename, Operation::SyncFolder];
    assert_eq!(counts.map(|operation| counted.count(operation)), [1, 1, 1, 1, 1]);
    assert_eq!(counted.count(Operation::Remove), 0);
}

#[test]
fn a_new_file_and_the_folders_above_it_are_created() {
    let home = Home::new();
    replace(&Disk::default(), &home.guarded("a/b/out"), Mode::Default, b"x").unwrap();
    assert_eq!(text(&home.at("a/b/out")).unwrap(), "x");
}

/// The operation fails: an error that names the step and the file, the old file untouched, no temporary left.
#[track_caller]
fn check_failure(fault: &str, expected: &str, expected_content: &str) {
    let (result, home) = replace_old(faults(fault));
    let error = result.unwrap_err();
    let place = |text: &str| text.replace(&home.at("").display().to_string(), "HOME/");
    let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert_eq!(format!("{}: {cause}", place(&error.to_string())).replace("HOME/:", "HOME:"), expected);
    assert_eq!(error.code(), Fatal::WriteFailed);
    assert_eq!(text(&home.at("out")).unwrap(), expected_content);
    assert_eq!(home.names(), ["out"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_file_is_reported() {
    check_failure(
        "create:1:erofs",
        "cannot create a temporary file beside HOME/out: Read-only file system (os error 30)",
        OLD,
    );
    check_failure(
        "create:1:eacces",
        "cannot create a temporary file beside HOME/out: Permission denied (os error 13)",
        OLD,
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    check_failure(
        "write:1:enospc",
        "cannot write the temporary file of HOME/out: No space left on device (os error 28)",
        OLD,
    );
    check_failure(
        "write:1:edquot",
        "cannot write the temporary file of HOME/out: Disk quota exceeded (os error 122)",
        OLD,
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_takes_half_and_is_full_then_is_reported() {
    check_failure(
        "write:1:short,write:2:enospc",
        "cannot write the temporary file of HOME/out: No space left on device (os error 28)",
        OLD,
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_sync_that_fails_is_reported() {
    check_failure("fsync:1:eio", "cannot sync the temporary file of HOME/out: Input/output error (os error 5)", OLD);
}

#[cfg(target_os = "linux")]
#[test]
fn a_rename_that_is_refused_is_reported() {
    check_failure("rename:1:eperm", "cannot put in place HOME/out: Operation not permitted (os error 1)", OLD);
}

#[test]
fn a_folder_that_cannot_be_synced_is_reported_though_the_new_file_stands() {
    let (result, home) = replace_old(faults("fsync-folder:1:eio"));
    let error = result.unwrap_err();
    assert!(matches!(error, WriteError::Refused { step: Step::SyncFolder, .. }));
    assert_eq!(text(&home.at("out")).unwrap(), NEW);
}

#[test]
fn a_short_write_is_continued() {
    let counted = faults("write:1:short,write:2:short");
    let (result, home) = replace_old(counted.clone());
    result.unwrap();
    assert_eq!(text(&home.at("out")).unwrap(), NEW);
    assert_eq!(counted.count(Operation::Write), 3);
}

#[test]
fn killed_before_any_step_it_leaves_the_old_file_or_the_new_one() {
    for step in ["create", "write", "fsync", "rename", "fsync-folder"] {
        let (result, home) = replace_old(faults(&format!("{step}:1:kill")).simulated());
        assert!(result.is_err(), "{step}");
        let expected = if step == "fsync-folder" { NEW } else { OLD };
        assert_eq!(text(&home.at("out")).unwrap(), expected, "{step}");
    }
}

#[test]
fn killed_in_the_middle_of_a_write_it_leaves_a_torn_temporary_and_the_old_file() {
    let (_, home) = replace_old(faults("write:1:short,write:2:kill").simulated());
    assert_eq!(text(&home.at("out")).unwrap(), OLD);
    let torn = home.names().into_iter().find(|name| name.starts_with(".out.tmp-")).unwrap();
    assert_eq!(text(&home.at(&torn)).unwrap(), NEW[..NEW.len() / 2]);
}

#[test]
fn a_refused_rename_is_tried_again_only_so_often() {
    let attempt = |fault: &str| {
        let home = Home::new();
        let disk = Disk::with_attempts(faults(fault), 3);
        replace(&disk, &home.guarded("out"), Mode::Default, NEW.as_bytes()).map(|()| text(&home.at("out")).unwrap())
    };
    assert_eq!(attempt("rename:1:eperm,rename:2:ebusy").unwrap(), NEW);
    assert!(attempt("rename:1:eperm,rename:2:ebusy,rename:3:eacces").is_err());
    assert!(attempt("rename:1:enospc").is_err());
}

#[cfg(unix)]
#[test]
fn a_refused_rename_is_final_where_nothing_holds_files() {
    let counted = faults("rename:1:eperm");
    assert!(replace_old(counted.clone()).0.is_err());
    assert_eq!(counted.count(Operation::Rename), 1);
}

#[test]
fn a_folder_in_the_place_of_the_file_is_refused() {
    let home = Home::new();
    std::fs::create_dir(home.at("out")).unwrap();
    assert!(replace(&Disk::default(), &home.guarded("out"), Mode::Default, b"x").is_err());
    assert_eq!(home.names(), ["out"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_real_folder_that_takes_no_file_is_reported() {
    let target = crate::store::Guard::new(None).check("/proc/out").unwrap();
    let error = replace(&Disk::default(), &target, Mode::Default, b"x").unwrap_err();
    assert_eq!(error.to_string(), "cannot create a temporary file beside /proc/out");
}

#[cfg(unix)]
#[test]
fn private_files_are_for_the_owner_and_others_as_the_mask_says() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let mode = |name: &str, mode: Mode| {
        replace(&Disk::default(), &home.guarded(name), mode, b"x").unwrap();
        home.at(name).metadata().unwrap().permissions().mode() & 0o777
    };
    put(&home.at("plain"), b"x");
    let by_mask = home.at("plain").metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("private", Mode::Private), 0o600);
    assert_eq!(mode("default", Mode::Default), by_mask);
}

#[test]
fn digest_and_length_are_those_of_all_chunks() {
    let home = Home::new();
    let disk = Disk::with_faults(faults("write:2:short"));
    let mut staging = Staging::begin(&disk, &home.guarded("out"), Mode::Default).unwrap().with_sha256();
    for chunk in ["a", "", "bc"] {
        staging.put(chunk.as_bytes()).unwrap();
    }
    let staged = staging.finish().unwrap();
    let hex: String = staged.sha256().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(staged.length(), 3);
}

#[test]
fn a_file_beyond_the_write_back_step_arrives_whole() {
    let home = Home::new();
    let mut staging = Staging::begin(&Disk::default(), &home.guarded("out"), Mode::Default).unwrap();
    let chunk = vec![b'x'; 3 * 1024 * 1024];
    for _ in 0..4 {
        staging.put(&chunk).unwrap();
    }
    let staged = staging.finish().unwrap();
    assert_eq!((staged.length(), staged.sha256()), (12 * 1024 * 1024, None));
    staged.commit().unwrap();
    assert_eq!(home.at("out").metadata().unwrap().len(), 12 * 1024 * 1024);
}

#[test]
fn a_write_error_that_was_not_heeded_keeps_the_old_file() {
    let home = Home::new();
    put(&home.at("out"), OLD.as_bytes());
    let disk = Disk::with_faults(faults("write:1:eio"));
    let mut staging = Staging::begin(&disk, &home.guarded("out"), Mode::Default).unwrap();
    assert!(staging.put(b"lost").is_err());
    staging.put(b"kept").unwrap();
    assert!(staging.finish().is_err());
    assert_eq!((text(&home.at("out")).unwrap().as_str(), home.names()), (OLD, vec!["out".to_owned()]));
}

#[test]
fn a_dropped_file_disappears_at_each_stage() {
    let home = Home::new();
    let begin = || Staging::begin(&Disk::default(), &home.guarded("out"), Mode::Default).unwrap();
    drop(begin());
    drop(begin().finish().unwrap());
    assert_eq!(home.names(), [""; 0]);
}

const FOUR: [&str; 4] = ["snapshot.json", "summary.json", "status.md", "fold.json"];

/// Stages four new files over four old ones and commits them; what is left of each.
fn commit_four(fault: &str) -> (Result<(), WriteError>, Vec<String>) {
    let home = Home::new();
    let disk = Disk::with_faults(faults(fault).simulated());
    let lock =
        FoldLock::acquire(&Disk::default(), &home.guarded("locked"), std::time::Duration::ZERO, &clock::now).unwrap();
    let stage = |name: &&str| {
        put(&home.at(name), b"old");
        let mut staging = Staging::begin(&disk, &home.guarded(name), Mode::Default)?;
        staging.put(b"new")?;
        staging.finish()
    };
    let staged: Result<Vec<Staged>, WriteError> = FOUR.iter().map(stage).collect();
    let result = staged.and_then(|staged| commit_all(&lock, staged));
    (result, FOUR.iter().filter_map(|name| text(&home.at(name))).collect())
}

#[test]
fn four_files_are_renamed_in_order_and_their_folder_is_synced_once() {
    let (result, contents) = commit_four("fsync-folder:2:eio");
    result.unwrap();
    assert_eq!(contents, ["new", "new", "new", "new"]);
}

#[test]
fn four_files_are_not_done_before_their_folder_is_synced() {
    let (result, contents) = commit_four("fsync-folder:1:eio");
    assert!(matches!(result, Err(WriteError::Refused { step: Step::SyncFolder, .. })));
    assert_eq!(contents, ["new", "new", "new", "new"]);
}

#[test]
fn killed_between_the_renames_the_first_files_are_new_and_all_are_whole() {
    for done in 0..4 {
        let (result, contents) = commit_four(&format!("rename:{}:kill", done + 1));
        assert!(result.is_err());
        let expected: Vec<&str> = (0..4).map(|n| if n < done { "new" } else { "old" }).collect();
        assert_eq!(contents, expected);
    }
}

#[test]
fn a_refused_rename_stops_the_rest() {
    let (result, contents) = commit_four("rename:3:eio");
    assert!(result.is_err());
    assert_eq!(contents, ["new", "new", "old", "old"]);
}

#[test]
fn a_disk_that_is_full_at_any_of_four_files_replaces_none() {
    for write in 1..=4 {
        let (result, contents) = commit_four(&format!("write:{write}:enospc"));
        assert!(result.is_err() && contents.iter().all(|content| content == "old"), "{write}");
    }
}

#[track_caller]
fn check_created(before: Option<&str>, fault: &str, expected: Created, expected_content: &str) {
    let home = Home::new();
    if let Some(content) = before {
        put(&home.at("out"), content.as_bytes());
    }
    let created =
        create_exclusive(&Disk::with_faults(faults(fault)), &home.guarded("out"), Mode::Private, NEW.as_bytes());
    assert_eq!(created.unwrap(), expected);
    assert_eq!(text(&home.at("out")).unwrap(), expected_content);
    assert_eq!(home.names(), ["out"]);
}

#[test]
fn creating_tells_new_identical_and_repaired() {
    check_created(None, "", Created::New, NEW);
    check_created(Some(NEW), "", Created::Identical, NEW);
    check_created(Some(""), "", Created::Repaired, NEW);
    check_created(Some(OLD), "", Created::Repaired, NEW);
}

#[test]
fn what_another_process_created_is_made_durable_too() {
    let home = Home::new();
    put(&home.at("out"), NEW.as_bytes());
    let disk = Disk::with_faults(faults("fsync-folder:1:eio"));
    assert!(create_exclusive(&disk, &home.guarded("out"), Mode::Private, NEW.as_bytes()).is_err());
}

#[test]
fn a_name_that_was_taken_meanwhile_is_looked_at_again() {
    check_created(None, "rename:1:eexist", Created::New, NEW);
}

#[test]
fn a_name_that_is_taken_each_time_ends_in_an_error() {
    let home = Home::new();
    let always: Vec<String> = (1..=8).map(|n| format!("rename:{n}:eexist")).collect();
    let disk = Disk::with_faults(faults(&always.join(",")));
    assert!(create_exclusive(&disk, &home.guarded("out"), Mode::Private, b"x").is_err());
    assert_eq!(home.names(), [""; 0]);
}

#[test]
fn killed_before_any_step_creating_leaves_no_torn_file_and_is_repeated() {
    for step in ["create", "write", "fsync", "rename", "fsync-folder"] {
        let home = Home::new();
        let disk = Disk::with_faults(faults(&format!("{step}:1:kill")).simulated());
        assert!(create_exclusive(&disk, &home.guarded("out"), Mode::Private, NEW.as_bytes()).is_err(), "{step}");
        let left = text(&home.at("out"));
        assert!(left.is_none() || left.as_deref() == Some(NEW), "{step}");
        let again = create_exclusive(&Disk::default(), &home.guarded("out"), Mode::Private, NEW.as_bytes());
        assert_eq!(again.unwrap(), if left.is_none() { Created::New } else { Created::Identical }, "{step}");
    }
}

#[test]
fn a_file_is_created_only_once_where_links_stand_in_for_the_rename() {
    let home = Home::new();
    put(&home.at("one"), b"1");
    put(&home.at("two"), b"2");
    platform::rename_new(&home.at("one"), &home.at("out")).unwrap();
    let taken = platform::rename_new(&home.at("two"), &home.at("out")).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(platform::link_new(&home.at("two"), &home.at("out")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    platform::link_new(&home.at("two"), &home.at("other")).unwrap();
    assert_eq!(home.names(), ["other", "out"]);
}

/// Run again by the test below with `HOST_FAULTS`, so that a real kill hits a real process.
#[cfg(unix)]
#[test]
fn a_process_that_is_really_killed_leaves_the_old_file_whole() {
    use std::os::unix::process::ExitStatusExt;
    const TARGET: &str = "HOST_STORE_TEST_TARGET";
    if let Some(target) = crate::env::get(TARGET) {
        let target = crate::store::Guard::new(None).check(target).unwrap();
        replace(&Disk::from_env().unwrap(), &target, Mode::Default, NEW.as_bytes()).unwrap();
        return;
    }
    for (fault, is_new, leftovers) in
        [("write:1:kill", false, 1), ("rename:1:kill", false, 1), ("fsync-folder:1:kill", true, 0)]
    {
        let home = Home::new();
        put(&home.at("out"), OLD.as_bytes());
        let ended = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::atomic::tests::a_process_that_is_really_killed_leaves_the_old_file_whole"])
            .env(TARGET, home.at("out"))
            .env("HOST_FAULTS", fault)
            .output()
            .unwrap();
        assert_eq!(ended.status.signal(), Some(9), "{fault}");
        assert_eq!(text(&home.at("out")).unwrap(), if is_new { NEW } else { OLD }, "{fault}");
        assert_eq!(home.names().len(), 1 + leftovers, "{fault}");
    }
}
