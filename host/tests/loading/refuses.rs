//! Files that are no plugin for this host: each is a named error, and none stands in the way of the others.

use std::fs;

use plugin_api::contract;

use crate::build;
use crate::world::{World, file_name};

fn shelf() -> Vec<u8> {
    fs::read(build::plugin("shelf")).expect("the library")
}

fn replace(bytes: &mut [u8], old: &str, new: &str) {
    assert_eq!(old.len(), new.len(), "the file keeps its length");
    let places = bytes.windows(old.len()).enumerate().filter(|(_, window)| *window == old.as_bytes());
    let places: Vec<_> = places.map(|(place, _)| place).collect();
    assert!(!places.is_empty(), "{old} is not in the file");
    for place in places {
        bytes[place..place + new.len()].copy_from_slice(new.as_bytes());
    }
}

/// A garden beside the bad shelf: it must load. The shelf must be refused with this code and these words.
#[track_caller]
fn check(bytes: &[u8], code: &str, words: &[&str]) {
    let world = World::with(&["garden"]);
    let file = world.write(&file_name("shelf"), bytes);
    assert_eq!(world.registry().entries().len(), 2);
    let error = world.open("shelf").map(drop).expect_err("a bad file");
    let text = error.to_string();
    assert_eq!(error.code().code(), code, "{text}");
    for word in [file.to_str().expect("UTF-8")].iter().chain(words) {
        assert!(text.contains(word), "{word} is not in: {text}");
    }
    assert!(text.contains("built for") && text.contains(&format!("this host speaks {}", contract::VERSION)), "{text}");
    assert!(!text.contains('\n'), "{text}");
    world.kind("garden");
}

#[test]
fn a_text_is_not_a_library() {
    check(
        b"not a library",
        "PLUGIN_UNREADABLE",
        &["plugin shelf at ", "the file is not a whole library", "copy it whole"],
    );
}

#[test]
fn an_empty_file_is_not_a_library() {
    check(b"", "PLUGIN_UNREADABLE", &["the file is not a whole library"]);
}

#[test]
fn a_truncated_library_is_refused_before_it_is_loaded() {
    let bytes = shelf();
    for part in [bytes.len() * 9 / 20, bytes.len() - 1, 100, 64] {
        check(&bytes[..part], "PLUGIN_UNREADABLE", &["the file is not a whole library"]);
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
#[cfg(target_os = "linux")]
fn a_library_of_another_processor_is_named_as_such() {
    let mut bytes = shelf();
    bytes[0x12] = 0xb7; // e_machine: AArch64
    check(&bytes, "PLUGIN_UNREADABLE", &["the library is for aarch64, this machine is x86_64"]);
}

#[test]
fn another_major_is_refused_with_both_versions() {
    let mut bytes = shelf();
    replace(&mut bytes, r#""contract":"1.0.0""#, r#""contract":"2.0.0""#);
    check(
        &bytes,
        "PLUGIN_INCOMPATIBLE",
        &["built for contract 2.0.0", "this host speaks 1.0.0", "install a host that speaks 2"],
    );
}

#[test]
fn another_crossing_is_refused() {
    let mut bytes = shelf();
    replace(&mut bytes, r#""abi":"abi_stable-0.11""#, r#""abi":"abi_stable-0.99""#);
    check(
        &bytes,
        "PLUGIN_INCOMPATIBLE",
        &["it crosses by abi_stable-0.99, this host by abi_stable-0.11; build it with a host-plugin-api that has"],
    );
}

#[test]
fn another_target_is_refused() {
    let mut bytes = shelf();
    let (here, other) = (contract::TARGET, contract::TARGET.replace(|letter: char| letter != '-', "x"));
    replace(&mut bytes, &format!(r#""target":"{here}""#), &format!(r#""target":"{other}""#));
    let text = format!("it was built for {other}, this host for {here}; build it for {here}");
    check(&bytes, "PLUGIN_INCOMPATIBLE", &[&text]);
}

#[test]
fn a_manifest_that_belongs_to_another_build_is_found_out() {
    let mut bytes = shelf();
    replace(&mut bytes, r#""contract":"1.0.0""#, r#""contract":"1.0.1""#);
    check(&bytes, "PLUGIN_INCOMPATIBLE", &["its manifest does not belong to it: its code is for contract 1.0.0"]);
}

#[test]
fn a_manifest_that_names_no_symbol_of_the_library_is_found_out() {
    let mut bytes = shelf();
    replace(&mut bytes, r#""symbol":"host_plugin_root_v1_"#, r#""symbol":"host_plugin_root_v2_"#);
    check(&bytes, "PLUGIN_UNREADABLE", &["it has no symbol host_plugin_root_v2_test-plugin-shelf"]);
}

#[test]
fn a_manifest_that_lists_another_kind_is_found_out() {
    let mut bytes = shelf();
    replace(&mut bytes, r#""kinds":["shelf"]"#, r#""kinds":["shelv"]"#);
    let world = World::with(&[]);
    world.write(&file_name("shelf"), &bytes);
    let error = world.open("shelv").map(drop).expect_err("a lie").to_string();
    assert!(error.contains("it declares shelf, its manifest lists shelv"), "{error}");
}

#[test]
fn a_damaged_magic_is_not_called() {
    let mut bytes = shelf();
    replace(&mut bytes, "abi stable library for Rust", "abi_stable library for Rust");
    check(&bytes, "PLUGIN_INCOMPATIBLE", &["its root symbol is not of this contract"]);
}
