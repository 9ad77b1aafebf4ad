//! Plugins that were built for something else, or by a contract that breaks its word. Each refusal names the plugin,
//! what it was built for, what this host speaks and what to do.

use std::collections::BTreeMap;
use std::process::Command;

use host::ledger::kind::{Batch, BatchCustom, BatchObservation, Kind};
use host::plugins::library::Library;
use plugin_api::rules::time::Timestamp;
use plugin_api::{Counts, LedgerView, VerbCall};

use crate::build;
use crate::contracts::{Build, Contract, Edit, next_major, next_minor, ours, pre_release};
use crate::versions::{NEWER, SAME};
use crate::world::{World, file_name, redacted};

/// The shelf of a contract, in a folder with a sound garden.
fn world(contract: &Contract, build: Build) -> World {
    let world = World::with(&["garden"]);
    world.add(&contract.plugin(build), &file_name("shelf"));
    world
}

/// The refusal of a kind, and that the garden beside it still loads.
#[track_caller]
fn refusal(world: &World, name: &str) -> String {
    let error = world.open(name).map(drop).expect_err("it does not fit");
    world.kind("garden");
    redacted(&format!("{}: {error}", error.code().code()), world)
}

#[track_caller]
fn check(contract: &Contract, expected: &str) {
    assert_eq!(refusal(&world(contract, Build::Debug), "shelf"), expected);
}

#[test]
fn a_changed_field_type_is_one_line_that_leads_to_it() {
    let contract = Contract {
        name: "changed",
        version: next_minor,
        plugin: "shelf",
        edits: &[
            Edit::Replace("plugin-api/src/ffi.rs", "    pub level: u32,", "    pub level: u64,"),
            Edit::Replace(
                "plugin-api/src/log.rs",
                "        level: level_number(level),",
                "        level: level_number(level).into(),",
            ),
        ],
    };
    check(
        &contract,
        "PLUGIN_INCOMPATIBLE: plugin shelf at $DIR/libtest_plugin_shelf.so: its types differ from this host's, \
         although the versions fit: init > log > level: type: host u32, plugin u64; build it again with \
         host-plugin-api $HOST (package test-plugin-changed, built for contract $NEWER by $RUSTC; this host \
         speaks $HOST)",
    );
}

#[test]
fn a_frozen_struct_that_grew_is_one_line_that_leads_to_it() {
    let contract = Contract {
        name: "grown",
        version: next_minor,
        plugin: "shelf",
        edits: &[
            Edit::AtEnd("plugin-api/src/ffi.rs", "pub struct FfiObservation<", "    pub more: u64,\n"),
            Edit::Behind("plugin-api/src/cross.rs", " FfiObservation {", " more: 0,"),
        ],
    };
    check(
        &contract,
        "PLUGIN_INCOMPATIBLE: plugin shelf at $DIR/libtest_plugin_shelf.so: its types differ from this host's, \
         although the versions fit: open_kind > judge > param_1 > observations: size: host 64, plugin 72; build \
         it again with host-plugin-api $HOST (package test-plugin-grown, built for contract $NEWER by $RUSTC; \
         this host speaks $HOST)",
    );
}

#[test]
fn another_major_is_refused_by_reading() {
    let contract = Contract { name: "next-major", version: next_major, plugin: "shelf", edits: &[] };
    check(
        &contract,
        "PLUGIN_INCOMPATIBLE: plugin shelf at $DIR/libtest_plugin_shelf.so: it was built for contract $MAJOR, \
         this host speaks $HOST; install a host that speaks 2, or build the plugin for 1 (package \
         test-plugin-next-major, built for contract $MAJOR by $RUSTC; this host speaks $HOST)",
    );
}

#[test]
fn a_pre_release_fits_only_itself() {
    let contract = Contract { name: "pre", version: pre_release, plugin: "shelf", edits: &[] };
    check(
        &contract,
        "PLUGIN_INCOMPATIBLE: plugin shelf at $DIR/libtest_plugin_shelf.so: it was built for contract \
         $HOST-rc.1, this host speaks $HOST, and a pre-release fits only itself; build it for $HOST (package \
         test-plugin-pre, built for contract $HOST-rc.1 by $RUSTC; this host speaks $HOST)",
    );
}

#[test]
fn a_library_that_aborts_is_refused_by_reading() {
    assert_eq!(
        refusal(&world(&SAME, Build::Aborting), "shelf"),
        "PLUGIN_INCOMPATIBLE: plugin shelf at $DIR/libtest_plugin_shelf.so: it was built with panic = \"abort\", \
         so its first panic would end the host; build it with panic = \"unwind\" (package \
         test-plugin-same-aborting, built for contract $HOST by $RUSTC; this host speaks $HOST)"
    );
}

#[test]
fn a_panic_in_the_constructor_is_a_failure() {
    let contract = Contract {
        name: "constructor",
        version: ours,
        plugin: "shelf",
        edits: &[Edit::Behind(
            "plugin-api/src/export.rs",
            "pub fn module<P: Plugin>() -> PluginModule_Ref {\n",
            "    assert!(P::KINDS.is_empty(), \"in the constructor\");\n",
        )],
    };
    check(
        &contract,
        "PLUGIN_FAILED: plugin shelf at $DIR/libtest_plugin_shelf.so: it failed in its constructor: the root \
         module loader panicked (panic); report this to its author (package test-plugin-constructor, built for \
         contract $HOST by $RUSTC; this host speaks $HOST)",
    );
}

#[test]
fn a_panic_in_init_is_a_failure() {
    let contract = Contract {
        name: "init",
        version: ours,
        plugin: "shelf",
        edits: &[Edit::Replace(
            "plugin-api/src/export.rs",
            "guard(|| log::connect(host))",
            "guard(|| { log::connect(host)?; panic!(\"in init\") })",
        )],
    };
    let source = include_str!("../../../plugin-api/src/export.rs");
    let line = source.lines().position(|line| line.contains("guard(|| log::connect(host))")).expect("the call") + 1;
    check(
        &contract,
        &format!(
            "PLUGIN_FAILED: plugin shelf at $DIR/libtest_plugin_shelf.so: it failed in init: panicked at \
             init/plugin-api/src/export.rs:{line}:37: in init (panic); report this to its author (package \
             test-plugin-init, built for contract $HOST by $RUSTC; this host speaks $HOST)"
        ),
    );
}

#[test]
fn declarations_that_are_no_json_are_refused() {
    let contract = Contract {
        name: "declarations",
        version: ours,
        plugin: "shelf",
        edits: &[Edit::Replace(
            "plugin-api/src/export.rs",
            "text.map(RString::from)",
            "text.map(|_| RString::from(\"[{garbage\"))",
        )],
    };
    check(
        &contract,
        "PLUGIN_FAILED: plugin shelf at $DIR/libtest_plugin_shelf.so: its declarations make no sense: key must \
         be a string at line 1 column 3; report this to its author (package test-plugin-declarations, built for \
         contract $HOST by $RUSTC; this host speaks $HOST)",
    );
}

/// Every answer that is JSON is none.
const GARBLED: Contract = Contract {
    name: "garbled",
    version: ours,
    plugin: "shelf",
    edits: &[
        Edit::Replace("plugin-api/src/adapt.rs", "answer::summary(kind, &view).map(RString::from)", GARBAGE),
        Edit::Replace("plugin-api/src/adapt.rs", "answer::status(kind, &view, max_rows).map(RString::from)", GARBAGE),
        Edit::Replace("plugin-api/src/adapt.rs", "answer::verb(kind, &call).map(RString::from)", GARBAGE),
        Edit::Replace(
            "plugin-api/src/ffi.rs",
            "Ok(text) => Self { code: RString::new(), text: text.into() }",
            "Ok(_) => Self { code: RString::new(), text: RString::from(\"{garbage\") }",
        ),
    ],
};
const GARBAGE: &str = "Ok(RString::from(\"{garbage\"))";

#[test]
fn garbage_for_json_is_an_invalid_answer_in_each_call() {
    let kind = world(&GARBLED, Build::Debug).kind("shelf");
    let ledger = LedgerView { rows: &[], counts: Counts::default() };
    let call = VerbCall { verb: "count", arguments: BTreeMap::new(), rows: None, now: Timestamp::from_micros(0) };
    let batch = Batch {
        observations: vec![BatchObservation {
            entity: vec!["m", "1"],
            actor: "me",
            evidence: "seen",
            observed_at: "2026-09-17T19:00:00Z",
        }],
        customs: vec![BatchCustom { observation: 0, field: 6, value: "[]" }],
    };
    let failures = [
        kind.judge(&batch).map(drop),
        kind.summary(&ledger).map(drop),
        kind.status(&ledger, 1).map(drop),
        kind.verb(&call).map(drop),
    ];
    let texts: Vec<_> = failures.into_iter().map(|failure| failure.expect_err("garbage").to_string()).collect();
    assert_eq!(
        texts,
        [
            "plugin shelf failed in judge: the normalised value of parts is not JSON: key must be a string at \
             line 1 column 2 (invalid_answer)",
            "plugin shelf failed in summary: the summary is not JSON: key must be a string at line 1 column 2 \
             (invalid_answer)",
            "plugin shelf failed in status: the status is not JSON: key must be a string at line 1 column 2 \
             (invalid_answer)",
            "plugin shelf failed in verb: the answer is not JSON: key must be a string at line 1 column 2 \
             (invalid_answer)",
        ]
    );
}

#[test]
fn a_library_without_the_macro_is_no_plugin_and_says_so_when_it_is_asked_for() {
    let world = World::with(&["garden"]);
    let file = world.add(&build::plugin("plain"), &file_name("plain"));
    assert_eq!(world.registry().entries().len(), 1, "it is not listed");
    assert_eq!(
        refusal(&world, "plain"),
        "PLUGIN_UNREADABLE: plugin plain at $DIR/libtest_plugin_plain.so: the library has no manifest, so it is no plugin; \
         build it with the export_plugin! macro (what it was built for cannot be told; this host speaks $HOST)"
    );
    let error = Library::read(&file).map(drop).expect_err("no manifest");
    assert_eq!(
        redacted(&format!("{}: {error}", error.code().code()), &world),
        "PLUGIN_UNREADABLE: $DIR/libtest_plugin_plain.so: the library has no manifest, so it is no plugin; build it with the \
         export_plugin! macro (what it was built for cannot be told; this host speaks $HOST)"
    );
}

/// The flag is read; whether there is room is known by trying, and where there is none the text says the ways out.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn static_tls_without_room_is_refused_with_the_ways_out() {
    let world = World::with(&["garden"]);
    world.add(&build::plugin("static-tls"), &file_name("static_tls"));
    assert!(world.registry().find("static-tls").expect("found").inspected.static_tls);
    assert_eq!(
        refusal(&world, "static-tls"),
        "PLUGIN_UNREADABLE: plugin static-tls at $DIR/libtest_plugin_static_tls.so: the system cannot load it: \
         $DIR/libtest_plugin_static_tls.so: cannot allocate memory in static TLS block; it asks for static TLS, \
         of which a running process has little: build it with another TLS model (an allocator has a feature for \
         that), or start the host with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536 (package \
         test-plugin-static-tls, built for contract $HOST by $RUSTC; this host speaks $HOST)"
    );
}

/// The way out that the refusal gives leads out.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn static_tls_loads_into_a_host_that_was_started_with_room() {
    let world = World::with(&[]);
    world.add(&build::plugin("static-tls"), &file_name("static_tls"));
    let ask = |tunable: &str| {
        let mut host = Command::new(NEWER.host());
        let output = host.arg(world.path()).arg("static-tls").env("GLIBC_TUNABLES", tunable).output().expect("it runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(ask("").contains("GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536"), "{}", ask(""));
    assert!(ask("glibc.rtld.optional_static_tls=65536").ends_with("static-tls answers: true\n"));
}
