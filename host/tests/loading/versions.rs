//! Plugins built against a contract that was changed, in a copy of the workspace's part that they need.

use std::fs;
use std::path::{Path, PathBuf};

use host::ledger::kind::Kind as _;
use plugin_api::{Counts, LedgerView};
use tempfile::TempDir;

use crate::build::{library, workspace};
use crate::world::{World, file_name};

/// A change to a file of the contract: file, text, new text.
type Change = (&'static str, &'static str, &'static str);

/// The shelf, built against the contract after these changes. Under a name of its own, because cargo puts libraries of
/// one name into one file, and tests run side by side.
fn changed(name: &str, changes: &[Change]) -> (TempDir, PathBuf) {
    let scratch = TempDir::new().expect("a temporary folder");
    let (root, sources) = (scratch.path(), scratch.path().join(name));
    for folder in ["plugin-api", "tests/bad_plugins/shelf"] {
        copy(&workspace().join(folder), &sources.join(folder));
    }
    write_manifest(root, name);
    for line in ["test-plugin-garden.workspace = true\n", "test-plugin-shelf.workspace = true\n"] {
        change(&sources, ("plugin-api/Cargo.toml", line, ""));
    }
    let package = format!("test-plugin-{name}");
    change(&sources, ("tests/bad_plugins/shelf/Cargo.toml", "test-plugin-shelf", &package));
    for one in changes {
        change(&sources, *one);
    }
    let file = library(root, &package);
    (scratch, file)
}

/// A workspace of two packages with the profiles and versions of ours, so that what was built once is built.
///
/// Their sources lie in a folder named after the test: to cargo, packages of one version at one place in a workspace are
/// the same, whichever workspace it is.
fn write_manifest(root: &Path, name: &str) {
    fs::copy(workspace().join("Cargo.lock"), root.join("Cargo.lock")).expect("copied");
    let text = fs::read_to_string(workspace().join("Cargo.toml")).expect("read");
    let (_, rest) = text.split_once("[workspace.package]").expect("the package section");
    let rest = rest.replace("path = \"plugin-api\"", &format!("path = \"{name}/plugin-api\""));
    let members = format!("\"{name}/plugin-api\", \"{name}/tests/bad_plugins/shelf\"");
    let head = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n\n[workspace.package]");
    write(&root.join("Cargo.toml"), &(head + rest.as_str()));
}

fn change(root: &Path, (file, old, new): (&str, &str, &str)) {
    let path = root.join(file);
    let text = fs::read_to_string(&path).expect("read");
    assert!(text.contains(old), "{old} is not in {file}");
    write(&path, &text.replacen(old, new, 1));
}

#[expect(clippy::disallowed_methods, reason = "a source file of a test, not a file of the host")]
fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("copied");
        }
    }
}

/// Opens the changed shelf and asks it for a summary; gives its first key, or the refusal.
fn open(name: &str, changes: &[Change]) -> Result<String, String> {
    let (_scratch, file) = changed(name, changes);
    let world = World::with(&[]);
    world.add(&file, &file_name("shelf"));
    let kind = world.open("shelf").map_err(|error| error.to_string())?;
    let summary = kind.summary(&LedgerView { rows: &[], counts: Counts::default() });
    Ok(summary.expect("a summary").remove(0).0)
}

#[track_caller]
fn check(name: &str, changes: &[Change], words: &[&str]) {
    let text = open(name, changes).expect_err("it does not fit");
    for word in words {
        assert!(text.contains(word), "{word} is not in: {text}");
    }
    assert!(text.len() < 600 && !text.contains('\n'), "{text}");
}

const MINOR: Change = ("plugin-api/Cargo.toml", "version = \"1.0.0\"", "version = \"1.1.0\"");

#[test]
fn a_plugin_of_a_newer_minor_with_more_at_the_end_loads_and_answers() {
    let module = (
        "plugin-api/src/ffi.rs",
        "    pub open_organ: extern \"C\" fn(RStr<'_>) -> RResult<OrganBox, FfiError>,\n",
        "    pub open_organ: extern \"C\" fn(RStr<'_>) -> RResult<OrganBox, FfiError>,\n    pub extra: u64,\n",
    );
    let made = ("plugin-api/src/export.rs", "open_organ: open_organ::<P>,", "open_organ: open_organ::<P>, extra: 7,");
    let method = (
        "plugin-api/src/ffi.rs",
        "    fn verb(&self, call: FfiVerbCall<'_>) -> RResult<RString, FfiError>;\n",
        "    fn verb(&self, call: FfiVerbCall<'_>) -> RResult<RString, FfiError>;\n\
         \n    fn more(&self) -> RResult<u64, FfiError> { RResult::ROk(1) }\n",
    );
    let api = (
        "plugin-api/src/ffi.rs",
        "    pub log: extern \"C\" fn(FfiEvent<'_>) -> RResult<(), FfiError>,\n",
        "    pub log: extern \"C\" fn(FfiEvent<'_>) -> RResult<(), FfiError>,\n    pub clock: u64,\n",
    );
    assert_eq!(open("newer", &[MINOR, module, made, method, api]), Ok("total".to_owned()));
}

#[test]
fn a_changed_type_is_one_line_that_leads_to_it() {
    let field =
        ("plugin-api/src/ffi.rs", "    pub actor: RStr<'a>,\n", "    pub actor: RStr<'a>,\n    pub more: u64,\n");
    check(
        "wider",
        &[
            MINOR,
            field,
            (
                "plugin-api/src/cross.rs",
                "        actor: observation.actor().into(),\n",
                "        actor: observation.actor().into(),\n        more: 0,\n",
            ),
        ],
        &[
            "fit: open_kind > judge > param_1 > observations: size: host 64, plugin 72; build it again with host-plugin-api 1.0.0",
            "built for contract 1.1.0",
        ],
    );
}

#[test]
fn another_major_is_refused_by_reading() {
    check(
        "major",
        &[("plugin-api/Cargo.toml", "version = \"1.0.0\"", "version = \"2.0.0\"")],
        &["it was built for contract 2.0.0, this host speaks 1.0.0"],
    );
}
