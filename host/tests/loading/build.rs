//! Builds test plugins through cargo, so that a test never meets the library of an earlier build.
//!
//! They are built into the folder that the tests themselves are built into, where their dependencies are already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

/// Folder of the build that this test is of: `target`, or what stands for it.
pub(crate) fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    test.ancestors().nth(3).expect("it lies in target/<profile>/deps").to_owned()
}

/// Path of the library of a test plugin, built once in a process.
pub(crate) fn plugin(name: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || make(&Order::library(workspace(), &format!("test-plugin-{name}")));
    built.entry(name.to_owned()).or_insert_with(make).clone()
}

/// What cargo is asked to build.
pub(crate) struct Order<'o> {
    /// Root of the workspace.
    pub(crate) root: &'o Path,
    /// The package.
    pub(crate) package: &'o str,
    /// What of it.
    pub(crate) artifact: Artifact,
    /// In the release profile.
    pub(crate) release: bool,
    /// For the compiler, of this package alone.
    pub(crate) flags: &'o [&'o str],
    /// Another compiler.
    pub(crate) rustc: Option<PathBuf>,
}

/// What of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Artifact {
    Library,
    Program,
}

impl<'o> Order<'o> {
    /// The library of a package, in the profile that this test is of.
    pub(crate) fn library(root: &'o Path, package: &'o str) -> Self {
        let release = !cfg!(debug_assertions);
        Self { root, package, artifact: Artifact::Library, release, flags: &[], rustc: None }
    }
}

/// Builds it and gives its path.
pub(crate) fn make(order: &Order<'_>) -> PathBuf {
    let package = order.package;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(order.root).args(["rustc", "--offline", "--message-format=json-render-diagnostics"]);
    cargo.arg(if order.artifact == Artifact::Library { "--lib" } else { "--bins" });
    cargo.args(["-p", package, "--target-dir"]);
    if let Some(rustc) = &order.rustc {
        // Its dependencies are all built again, beside those of the others: quickly is better than quick.
        cargo.env("RUSTC", rustc).arg(target().join("contracts/another-compiler"));
        cargo.args(["--config", "profile.dev.package.'*'.opt-level=0"]);
    } else {
        cargo.arg(target());
    }
    if order.release {
        cargo.arg("--release");
    }
    if order.release && order.root != workspace() {
        // So that one build of the dependencies is good for plugins with link-time optimisation and without it.
        cargo.env("RUSTFLAGS", "-C embed-bitcode=yes");
    }
    cargo.arg("--").args(order.flags);
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "cargo rustc of {package}: {}", String::from_utf8_lossy(&output.stderr));
    let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<serde_json::Value>();
    let artifacts = messages.filter_map(|message| {
        let message = message.expect("cargo prints JSON");
        let name = message["target"]["name"].as_str()?.replace('-', "_");
        (name == package.replace('-', "_")).then(|| file(&message, order.artifact)).flatten()
    });
    artifacts.last().unwrap_or_else(|| panic!("cargo built nothing of {package}"))
}

fn file(message: &serde_json::Value, artifact: Artifact) -> Option<PathBuf> {
    if artifact == Artifact::Program {
        return message["executable"].as_str().map(PathBuf::from);
    }
    let mut files = message["filenames"].as_array()?.iter().filter_map(|file| file.as_str().map(PathBuf::from));
    files.find(|file| file.extension().is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION))
}
