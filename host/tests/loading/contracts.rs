//! Copies of the contract with changes, and what is built against them.
//!
//! A copy is a small workspace in the folder of the build, with the profiles and versions of ours. It keeps its place,
//! and the times of files that did not change: so cargo builds it once for all tests, each of which is a process.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use plugin_api::contract;
use semver::Version;

use crate::build::{Artifact, Order, make, target, workspace};

/// A change to a file of a copy. Each hangs on a name or on the end of an item, because the contract grows; one that
/// finds no place fails the test.
#[derive(Clone, Copy)]
pub(crate) enum Edit {
    /// Replaces a text once: file, old, new.
    Replace(&'static str, &'static str, &'static str),
    /// Puts a text behind each opening of a literal or body: file, opening, new.
    Behind(&'static str, &'static str, &'static str),
    /// Puts lines before the end of an item of the file's top level: file, beginning of the item, new.
    AtEnd(&'static str, &'static str, &'static str),
}

/// A contract and the plugin that is built against it.
pub(crate) struct Contract {
    /// Name of the copy. Goes into the names of its packages, because cargo puts libraries of one name into one file.
    pub(crate) name: &'static str,
    /// Its version.
    pub(crate) version: fn() -> Version,
    /// The package of `tests/bad_plugins` that is built.
    pub(crate) plugin: &'static str,
    /// How it differs from ours, and the plugin from its original, which lies in the folder `plugin` of the copy.
    pub(crate) edits: &'static [Edit],
}

/// How a plugin is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    Debug,
    Release,
    /// Optimised as one piece, without its symbols.
    LtoStripped,
    /// With a global allocator of its own.
    OtherAllocator,
    /// Ends the process at its first panic.
    Aborting,
    /// By another compiler.
    Nightly,
}

/// What tells a release from a debug build is here that it is optimised at all: the rest costs time.
const RELEASE: &str = "[profile.release]\nopt-level = 1\n";

/// The version of our contract.
pub(crate) fn ours() -> Version {
    contract::VERSION.parse().expect("a version")
}

/// The next minor of our contract.
pub(crate) fn next_minor() -> Version {
    Version::new(ours().major, ours().minor + 1, 0)
}

/// The next major of our contract.
pub(crate) fn next_major() -> Version {
    Version::new(ours().major + 1, 0, 0)
}

/// A pre-release of our contract.
pub(crate) fn pre_release() -> Version {
    Version { pre: "rc.1".parse().expect("a label"), ..ours() }
}

/// The compiler of the nightly toolchain, if it is installed.
pub(crate) fn nightly() -> Option<PathBuf> {
    let found = Command::new("rustup").args(["which", "--toolchain", "nightly", "rustc"]).output().ok()?;
    let path = String::from_utf8(found.stdout).ok()?;
    found.status.success().then(|| PathBuf::from(path.trim()))
}

impl Contract {
    /// The library of its plugin, built so.
    pub(crate) fn plugin(&self, build: Build) -> PathBuf {
        let package = self.package(build);
        let root = self.root();
        let mut order = Order { release: false, ..Order::library(&root, &package) };
        match build {
            Build::Debug | Build::OtherAllocator => {}
            Build::Release => order.release = true,
            Build::LtoStripped => {
                order.release = true;
                order.flags = &["-C", "lto=fat", "-C", "strip=symbols"];
            }
            Build::Aborting => order.flags = &["-C", "panic=abort"],
            Build::Nightly => order.rustc = nightly(),
        }
        self.make(&order)
    }

    /// The program that is built of the host and `newer_host.rs`.
    pub(crate) fn host(&self) -> PathBuf {
        self.make(&Order {
            release: false,
            artifact: Artifact::Program,
            ..Order::library(&self.root(), "test-newer-host")
        })
    }

    fn make(&self, order: &Order<'_>) -> PathBuf {
        static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{} {}", order.package, order.release);
        let make = || {
            // Between the tests: no copy is written while cargo reads it.
            let root = self.root();
            fs::create_dir_all(&root).expect("made");
            let lock = File::create(root.with_extension("lock")).expect("a lock file");
            lock.lock().expect("locked");
            self.write(&root);
            make(order)
        };
        made.entry(key).or_insert_with(make).clone()
    }

    fn root(&self) -> PathBuf {
        target().join("contracts").join(self.name)
    }

    /// Name of the package of its plugin, built so.
    pub(crate) fn package(&self, build: Build) -> String {
        format!("test-plugin-{}{}", self.name, member(build))
    }

    fn edits_host(&self) -> bool {
        self.edits.iter().any(|edit| edit.file().starts_with("host/"))
    }

    /// Brings the copy up to date.
    ///
    /// Its sources lie in a folder named after it: to cargo, packages of one version at one place in a workspace are the
    /// same, whichever workspace it is.
    fn write(&self, root: &Path) {
        let sources = root.join(self.name);
        let mut files = BTreeMap::new();
        read(&workspace().join("plugin-api"), Path::new("plugin-api"), &mut files);
        read(&workspace().join("tests/bad_plugins").join(self.plugin), Path::new("plugin"), &mut files);
        if self.edits_host() {
            read(&workspace().join("host"), Path::new("host"), &mut files);
            files.retain(|path, _| !path.starts_with("host/tests"));
            files.insert("host/src/main.rs".into(), include_str!("newer_host.rs").to_owned());
            Edit::Replace("host/Cargo.toml", "name = \"host\"", "name = \"test-newer-host\"").apply(&mut files);
        }
        for edit in self.edits {
            edit.apply(&mut files);
        }
        set_version(files.get_mut(Path::new("plugin-api/Cargo.toml")).expect("a manifest"), &(self.version)());
        let original: Vec<_> = files
            .iter()
            .filter_map(|(path, text)| Some((path.strip_prefix("plugin").ok()?.to_owned(), text.clone())))
            .collect();
        files.retain(|path, _| !path.starts_with("plugin"));
        for build in [Build::Debug, Build::LtoStripped, Build::OtherAllocator, Build::Aborting, Build::Nightly] {
            for (path, text) in &original {
                let path = Path::new(&format!("plugin{}", member(build))).join(path);
                files.insert(path, self.member(build, text));
            }
        }
        for text in files.iter_mut().filter(|(path, _)| path.ends_with("Cargo.toml")).map(|(_, text)| text) {
            *text = without_dev_dependencies(text);
        }
        for (path, text) in &files {
            write(&sources.join(path), text);
        }
        self.write_workspace(root, files.keys());
    }

    /// A file of the plugin, as it is in the member for a build.
    fn member(&self, build: Build, text: &str) -> String {
        let mut text = text
            .replace(&format!("\"test-plugin-{}\"", self.plugin), &format!("\"{}\"", self.package(build)))
            .replace("[\"cdylib\", \"rlib\"]", "[\"cdylib\"]");
        if build == Build::OtherAllocator {
            text = text.replace("[dependencies]\n", "[dependencies]\nmimalloc.workspace = true\n");
            text = text.replace(
                "plugin_api::export_plugin!",
                "#[global_allocator]\nstatic ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;\n\nplugin_api::export_plugin!",
            );
        }
        text
    }

    fn write_workspace<'f>(&self, root: &Path, files: impl Iterator<Item = &'f PathBuf>) {
        let name = self.name;
        let text = fs::read_to_string(workspace().join("Cargo.toml")).expect("read");
        let (_, rest) = text.split_once("[workspace.package]").expect("the package section");
        let (rest, _) = rest.split_once("[profile.release]").expect("the release profile, which is the last section");
        let rest = rest.replace("path = \"plugin-api\"", &format!("path = \"{name}/plugin-api\""));
        let manifests = files.filter(|path| path.ends_with("Cargo.toml")).filter_map(|path| path.parent());
        let members: Vec<_> = manifests.map(|folder| format!("\"{name}/{}\"", folder.display())).collect();
        let head = format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[workspace.package]", members.join(", "));
        write(&root.join("Cargo.toml"), &(head + rest.as_str() + RELEASE));
        fs::copy(workspace().join("Cargo.lock"), root.join("Cargo.lock")).expect("copied");
    }
}

/// What the name of the member for a build ends with. Profiles have folders of their own.
fn member(build: Build) -> &'static str {
    match build {
        Build::Debug | Build::Release => "",
        Build::LtoStripped => "-stripped",
        Build::OtherAllocator => "-allocator",
        Build::Aborting => "-aborting",
        Build::Nightly => "-nightly",
    }
}

impl Edit {
    fn file(&self) -> &'static str {
        match self {
            Self::Replace(file, ..) | Self::Behind(file, ..) | Self::AtEnd(file, ..) => file,
        }
    }

    #[track_caller]
    fn apply(&self, files: &mut BTreeMap<PathBuf, String>) {
        let file = self.file();
        let text = files.get_mut(Path::new(file)).unwrap_or_else(|| panic!("the copy has no {file}"));
        let (Self::Replace(_, anchor, _) | Self::Behind(_, anchor, _) | Self::AtEnd(_, anchor, _)) = self;
        let place = text.find(anchor).unwrap_or_else(|| panic!("{anchor} is not in {file}"));
        match self {
            Self::Replace(_, old, new) => *text = text.replacen(old, new, 1),
            Self::Behind(_, opening, new) => *text = text.replace(opening, &format!("{opening}{new}")),
            Self::AtEnd(_, _, new) => {
                let end = text[place..].find("\n}\n").unwrap_or_else(|| panic!("{anchor} has no end in {file}"));
                text.insert_str(place + end + 1, new);
            }
        }
    }
}

fn set_version(manifest: &mut String, version: &Version) {
    let line = manifest.lines().find(|line| line.starts_with("version = \"")).expect("a version").to_owned();
    *manifest = manifest.replacen(&line, &format!("version = \"{version}\""), 1);
}

/// Those of a copy's packages are not in the copy.
fn without_dev_dependencies(manifest: &str) -> String {
    let Some((before, section)) = manifest.split_once("[dev-dependencies]\n") else { return manifest.to_owned() };
    let rest = section.find("\n[").map_or("", |end| &section[end..]);
    format!("{before}{rest}")
}

/// Reads all files below `folder` as those below `name`.
fn read(folder: &Path, name: &Path, files: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("listed") {
        let path = entry.expect("an entry").path();
        let name = name.join(path.file_name().expect("a name"));
        if path.is_dir() {
            read(&path, &name, files);
        } else {
            files.insert(name, fs::read_to_string(&path).expect("a text"));
        }
    }
}

/// Leaves a file that is so already as it is: cargo goes by its time.
#[expect(clippy::disallowed_methods, reason = "a source file of a test, not a file of the host")]
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}
