//! Both directions of a minor version, with really built binaries: today's host and one of the next minor, plugins for
//! both, two plugins whose extensions differ; each from several builds.

use std::process::Command;

use host::ledger::kind::Kind as _;
use plugin_api::{Counts, LedgerView};

use crate::contracts::{Build, Contract, Edit, next_minor, nightly, ours};
use crate::world::{World, file_name, lines, redacted};

/// Today's contract.
pub(crate) const SAME: Contract = Contract { name: "same", version: ours, plugin: "shelf", edits: &[] };

/// The next minor: a field more at the end of both structs that may grow, and a method more. Its host says what it reads.
pub(crate) const NEWER: Contract = Contract {
    name: "next",
    version: next_minor,
    plugin: "shelf",
    edits: &[
        Edit::AtEnd("plugin-api/src/ffi.rs", "pub struct PluginModule {", "    pub extra: u64,\n"),
        Edit::Behind("plugin-api/src/export.rs", " PluginModule {", " extra: 7,"),
        Edit::AtEnd("plugin-api/src/ffi.rs", "pub struct HostApi {", "    pub clock: u64,\n"),
        Edit::Behind("host/src/plugins/log.rs", " HostApi {", " clock: 3,"),
        Edit::AtEnd(
            "plugin-api/src/ffi.rs",
            "pub trait KindObject",
            "    fn more(&self) -> RResult<u64, FfiError> {\n        RResult::ROk(1)\n    }\n",
        ),
        Edit::Replace(
            "plugin-api/src/log.rs",
            "    std::panic::set_hook(",
            "    tracing::warn!(clock = ?host.clock(), \"connected\");\n    std::panic::set_hook(",
        ),
        Edit::Replace(
            "host/src/plugins/load.rs",
            "    (module.init())(",
            "    println!(\"extra {:?}\", module.extra());\n    (module.init())(",
        ),
        Edit::Replace(
            "host/src/plugins/kind.rs",
            "        Ok(Self { object: plugin.open_kind(name)?,",
            "        println!(\"more {:?}\", plugin.open_kind(name)?.more().into_result().ok());\n        \
             Ok(Self { object: plugin.open_kind(name)?,",
        ),
    ],
};

/// Another next minor, which was never agreed on with the first.
const OTHER: Contract = Contract {
    name: "other",
    version: next_minor,
    plugin: "garden",
    edits: &[
        Edit::AtEnd("plugin-api/src/ffi.rs", "pub struct PluginModule {", "    pub extra: u32,\n"),
        Edit::Behind("plugin-api/src/export.rs", " PluginModule {", " extra: 7,"),
        Edit::AtEnd("plugin-api/src/ffi.rs", "pub struct HostApi {", "    pub speed: u32,\n"),
        Edit::AtEnd(
            "plugin-api/src/ffi.rs",
            "pub trait KindObject",
            "    fn other(&self, by: u32) -> RResult<u32, FfiError> {\n        RResult::ROk(by)\n    }\n",
        ),
    ],
};

/// A folder with the plugins of these contracts, each built so.
fn world(contracts: &[&Contract], build: Build) -> World {
    let world = World::with(&[]);
    for contract in contracts {
        world.add(&contract.plugin(build), &file_name(contract.plugin));
    }
    world
}

#[track_caller]
fn check_answers(world: &World, name: &str, first: &str) {
    let summary = world.kind(name).summary(&LedgerView { rows: &[], counts: Counts::default() });
    assert_eq!(summary.expect("a summary").remove(0).0, first);
}

/// What the host of the next minor prints when it opens these kinds one after the other.
#[track_caller]
fn newer_host(world: &World, names: &[&str]) -> String {
    let output = Command::new(NEWER.host()).arg(world.path()).args(names).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    redacted(&String::from_utf8(output.stdout).expect("UTF-8"), world)
}

fn loads_and_answers(build: Build) {
    check_answers(&world(&[&SAME], build), "shelf", "total");
}

fn a_newer_plugin_in_an_older_host(build: Build) {
    check_answers(&world(&[&NEWER], build), "shelf", "total");
    let logged = lines();
    let line = logged.iter().find(|line| line.contains("message=connected")).expect("logged");
    assert!(line.ends_with(r#"fields={"clock":"None"}"#), "what the host lacks reads as absent: {line}");
}

fn an_older_plugin_in_a_newer_host(build: Build) {
    let printed = newer_host(&world(&[&SAME], build), &["shelf"]);
    assert_eq!(printed, "extra None\nmore Some(1)\nshelf answers: true\n");
}

fn two_extensions_in_an_older_host(build: Build, order: [(&str, &str); 2]) {
    let world = world(&[&NEWER, &OTHER], build);
    for (name, first) in order {
        check_answers(&world, name, first);
    }
}

fn two_extensions_in_the_host_of_one(build: Build, order: [&str; 2]) {
    let printed = newer_host(&world(&[&NEWER, &OTHER], build), &order);
    let shelf = "extra Some(7)\nmore Some(1)\nshelf answers: true\n";
    let garden = format!(
        "garden PLUGIN_INCOMPATIBLE: plugin garden, pond at $DIR/libtest_plugin_garden.so: its types differ from this \
         host's, although the versions fit: init: field: host \"clock\", plugin \"speed\"; build it again with \
         host-plugin-api $NEWER (package {}, built for contract $NEWER by $RUSTC; this host speaks $NEWER)\n",
        OTHER.package(build)
    );
    let expected = if order[0] == "shelf" { format!("{shelf}{garden}") } else { format!("{garden}{shelf}") };
    assert_eq!(printed, expected);
}

macro_rules! builds {
    ($($module:ident: $build:expr),+ $(,)?) => { $(
        mod $module {
            use super::*;

            #[test]
            fn the_same_contract_loads_and_answers() {
                loads_and_answers($build);
            }

            #[test]
            fn a_newer_plugin_loads_in_an_older_host() {
                a_newer_plugin_in_an_older_host($build);
            }

            #[test]
            fn an_older_plugin_loads_in_a_newer_host() {
                an_older_plugin_in_a_newer_host($build);
            }

            #[test]
            fn two_extensions_load_in_an_older_host() {
                two_extensions_in_an_older_host($build, [("shelf", "total"), ("garden", "garden")]);
            }

            #[test]
            fn two_extensions_load_in_an_older_host_the_other_way_round() {
                two_extensions_in_an_older_host($build, [("garden", "garden"), ("shelf", "total")]);
            }

            #[test]
            fn of_two_extensions_the_wrong_one_is_refused() {
                two_extensions_in_the_host_of_one($build, ["shelf", "garden"]);
            }

            #[test]
            fn of_two_extensions_the_wrong_one_is_refused_the_other_way_round() {
                two_extensions_in_the_host_of_one($build, ["garden", "shelf"]);
            }
        }
    )+ };
}

builds! {
    debug: Build::Debug,
    release: Build::Release,
    lto_and_strip: Build::LtoStripped,
    other_allocator: Build::OtherAllocator,
}

#[test]
fn a_plugin_of_another_compiler_loads_and_answers() {
    if nightly().is_none() {
        eprintln!("SKIPPED: rustup has no nightly toolchain, so no plugin of another compiler was loaded");
        return;
    }
    // A copy of its own: it takes long, and nobody should wait for it.
    let contract = Contract { name: "nightly", ..SAME };
    let world = world(&[&contract], Build::Nightly);
    let manifest = world.registry().find("shelf").expect("found").inspected.manifest.clone();
    assert_ne!(manifest.rustc, plugin_api::contract::RUSTC);
    check_answers(&world, "shelf", "total");
}
