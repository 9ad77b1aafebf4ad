//! `host plugin new`: a plugin crate that builds, passes its tests and can be loaded as it stands.
//!
//! The crate carries the contract of this very host in `plugin-api/`, so that it needs nothing but a registry of crates,
//! and what it builds fits. Names and texts are decided here; the folder is written in one place, whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use super::pins::Role;

/// The contract, as this host was built with it.
static CONTRACT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../plugin-api");
/// The workspace that the contract belongs to: versions of its dependencies.
const WORKSPACE: &str = include_str!(env!("HOST_WORKSPACE_MANIFEST"));
/// The template of a kind.
const KIND: &str = include_str!("kind.txt");
/// The template of an organ.
const ORGAN: &str = include_str!("organ.txt");

/// Why there is no new plugin.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    /// Not a name.
    #[error(
        "{name:?} is not a name for a plugin: lower-case letters first, then digits and single dashes{}",
        and_underscores(*role)
    )]
    Name {
        /// What was given.
        name: String,
        /// For what.
        role: Role,
    },
    /// Something is there.
    #[error("{} exists already; choose another name, or another --dir", .0.display())]
    Exists(PathBuf),
    /// The file system refused.
    #[error("{}: {why}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// The manifest of the contract is not what it was when this was written.
    #[error("this host carries a contract that it cannot unpack ({0}); report this")]
    Contract(String),
}

fn and_underscores(role: Role) -> &'static str {
    match role {
        Role::Kind => "",
        Role::Organ => " or underscores",
    }
}

/// A file of the new crate: its path in it, and its text.
type Page = (PathBuf, String);

/// Writes the crate `name` into `folder`, which must not exist.
///
/// # Errors
/// [`NewError`]; nothing is left behind.
pub fn write(folder: &Path, role: Role, name: &str) -> Result<(), NewError> {
    let pages = pages(role, name)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(NewError::Exists(folder.to_owned())),
        made => made.map_err(|why| NewError::Write { path: folder.to_owned(), why })?,
    }
    pages.iter().try_for_each(|page| put(folder, page)).map_err(|error| match fs::remove_dir_all(folder) {
        Ok(()) => error,
        Err(why) => NewError::Write { path: folder.to_owned(), why },
    })
}

fn put(folder: &Path, (path, text): &Page) -> Result<(), NewError> {
    let path = folder.join(path);
    let failed = |why| NewError::Write { path: path.clone(), why };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut file = fs::File::create_new(&path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}

/// Every file of the new crate.
///
/// # Errors
/// [`NewError::Name`], [`NewError::Contract`].
pub fn pages(role: Role, name: &str) -> Result<Vec<Page>, NewError> {
    if !is_name(name, role) {
        return Err(NewError::Name { name: name.to_owned(), role });
    }
    let (template, list) = match role {
        Role::Kind => (KIND, "kinds"),
        Role::Organ => (ORGAN, "organs"),
    };
    let mut pages = vec![
        (PathBuf::from("Cargo.toml"), manifest(name)?),
        (PathBuf::from(".gitignore"), "/target\n".to_owned()),
        (PathBuf::from("README.md"), readme(role, name)),
    ];
    let fill = |text: &str| text.replace("@NAME@", name).replace("@TYPE@", &type_name(name)).replace("@LIST@", list);
    pages.push((PathBuf::from("src/lib.rs"), fill(template)));
    contract(&CONTRACT, &mut pages)?;
    Ok(pages)
}

/// The sources of the contract, without what only its own tests need.
fn contract(folder: &Dir<'_>, pages: &mut Vec<Page>) -> Result<(), NewError> {
    for file in folder.files() {
        let text = file.contents_utf8().ok_or_else(|| NewError::Contract(format!("{}", file.path().display())))?;
        let path = Path::new("plugin-api").join(file.path());
        let text = if file.path() == Path::new("Cargo.toml") { contract_manifest(text)? } else { text.to_owned() };
        pages.push((path, text));
    }
    let folders = folder.dirs().filter(|inner| inner.path().starts_with("src"));
    folders.into_iter().try_for_each(|inner| contract(inner, pages))
}

fn table(text: &str) -> Result<toml::Table, NewError> {
    text.parse().map_err(|error: toml::de::Error| NewError::Contract(error.to_string()))
}

fn contract_manifest(text: &str) -> Result<String, NewError> {
    let mut manifest = table(text)?;
    manifest.remove("dev-dependencies");
    Ok(manifest.to_string())
}

/// The manifest of the crate: a workspace of its own, with the versions of the host's.
fn manifest(name: &str) -> Result<String, NewError> {
    let root = table(WORKSPACE)?;
    let part = |key: &str| {
        let found = root.get("workspace").and_then(|workspace| workspace.get(key)).and_then(toml::Value::as_table);
        found.cloned().ok_or_else(|| NewError::Contract(format!("the workspace has no {key}")))
    };
    let package = part("package")?;
    let mut dependencies = part("dependencies")?;
    let is_local = |value: &toml::Value| value.get("path").is_some();
    dependencies.retain(|key, value| key == "plugin-api" || !is_local(value));
    let mut workspace = toml::Table::new();
    workspace.insert("resolver".into(), "3".into());
    workspace.insert("members".into(), toml::Value::Array(vec!["plugin-api".into()]));
    workspace.insert("package".into(), package.into());
    workspace.insert("lints".into(), part("lints")?.into());
    workspace.insert("dependencies".into(), dependencies.into());
    let mut whole = toml::Table::new();
    whole.insert("workspace".into(), workspace.into());
    Ok(format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition.workspace = true
rust-version.workspace = true
publish = false

[lib]
# A dynamic library for the host, and a Rust library for your own tests. Leave `panic` at its default: the host refuses
# a library built with panic = "abort".
crate-type = ["cdylib", "rlib"]

[dependencies]
plugin-api.workspace = true
serde.workspace = true

[dev-dependencies]
plugin-api = {{ workspace = true, features = ["testkit"] }}

# What the contract in plugin-api/ was built with in the host that wrote this crate.
{whole}"#
    ))
}

fn readme(role: Role, name: &str) -> String {
    let file = library_name(name);
    let run = match role {
        Role::Kind => format!(
            "host run {name} append --entity machine-1#1 --fields-json '{{\"state\":\"open\"}}' --evidence looked"
        ),
        Role::Organ => format!("host run {name} world"),
    };
    format!(
        "# {name}

A plugin for `host`: {role} `{name}`.

```sh
cargo test                                            # its own tests, and the conformance suite
cargo build --release
host plugin test target/release/{file}
host plugin add target/release/{file}
{run}
```

`plugin-api/` is the contract of the host that wrote this crate. To build for a newer host, take over its `plugin-api/`.
"
    )
}

/// What cargo calls the dynamic library of the crate `name`.
#[must_use]
pub fn library_name(name: &str) -> String {
    let crate_name = name.replace('-', "_");
    format!("{}{crate_name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// `disk-room` as `DiskRoom`.
fn type_name(name: &str) -> String {
    let words = name.split(['-', '_']).filter_map(|word| {
        let (first, rest) = word.split_at_checked(1)?;
        Some(first.to_ascii_uppercase() + rest)
    });
    words.collect()
}

/// As the contract demands of an exported name, and nothing that cargo refuses as the name of a package.
fn is_name(name: &str, role: Role) -> bool {
    let mark = |c: char| c == '-' || c == '_' && role == Role::Organ;
    let known = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || mark(c));
    let ends = name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with(mark);
    let doubled = name.as_bytes().windows(2).any(|pair| pair.iter().all(|byte| mark(char::from(*byte))));
    known && ends && !doubled && !RESERVED.contains(&name)
}

/// Names that cargo refuses, and that of the contract's folder.
const RESERVED: [&str; 7] = ["test", "core", "std", "alloc", "proc-macro", "plugin-api", "host-plugin-api"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_type_and_a_library() {
        assert_eq!(type_name("disk-room"), "DiskRoom");
        assert_eq!(type_name("merge_ready2"), "MergeReady2");
        assert!(library_name("disk-room").contains("disk_room"));
    }

    #[test]
    fn names_are_those_of_the_contract() {
        for (name, role, fits) in [
            ("disk-room", Role::Kind, true),
            ("disk_room", Role::Kind, false),
            ("disk_room", Role::Organ, true),
            ("Disk", Role::Kind, false),
            ("disk--room", Role::Kind, false),
            ("-disk", Role::Kind, false),
            ("disk-", Role::Organ, false),
            ("2disk", Role::Kind, false),
            ("", Role::Kind, false),
            ("../x", Role::Kind, false),
            ("std", Role::Kind, false),
        ] {
            assert_eq!(pages(role, name).is_ok(), fits, "{name:?}");
        }
    }

    #[test]
    fn the_contract_that_is_carried_is_the_one_that_is_spoken() {
        let pages = pages(Role::Kind, "a").unwrap();
        let text = |path: &str| &pages.iter().find(|(page, _)| page == Path::new(path)).unwrap().1;
        assert!(text("plugin-api/Cargo.toml").contains(&format!("version = \"{}\"", plugin_api::contract::VERSION)));
        assert!(!text("plugin-api/Cargo.toml").contains("test-plugin"));
        let on_disk = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../plugin-api/src/ffi.rs")).unwrap();
        assert_eq!(text("plugin-api/src/ffi.rs"), &on_disk);
        assert!(!text("Cargo.toml").contains("path = \"plugins"));
        assert!(!text("src/lib.rs").contains('@'));
    }

    #[test]
    fn nothing_is_written_over_and_nothing_is_left_of_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a");
        write(&folder, Role::Organ, "a").unwrap();
        assert!(folder.join("plugin-api/src/organ/mod.rs").exists());
        assert!(matches!(write(&folder, Role::Organ, "a"), Err(NewError::Exists(_))));
        assert!(matches!(write(&dir.path().join("none/b"), Role::Kind, "b"), Err(NewError::Write { .. })));
    }
}
