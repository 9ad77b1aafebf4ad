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
    built.entry(name.to_owned()).or_insert_with(|| library(workspace(), &format!("test-plugin-{name}"))).clone()
}

/// Path of the library of `package`, built now in the workspace at `root`.
pub(crate) fn library(root: &Path, package: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root).args(["build", "--offline", "--lib", "--message-format=json-render-diagnostics"]);
    cargo.args(["-p", package, "--target-dir"]).arg(target());
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "cargo build of {package}: {}", String::from_utf8_lossy(&output.stderr));
    let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<serde_json::Value>();
    let artifacts = messages.filter_map(|message| {
        let message = message.expect("cargo prints JSON");
        let of_package = message["target"]["name"].as_str()? == package.replace('-', "_");
        let files = message["filenames"].as_array().filter(|_| of_package)?;
        let files = files.iter().filter_map(|file| file.as_str().map(PathBuf::from)).collect::<Vec<_>>();
        files
            .into_iter()
            .find(|file| file.extension().is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION))
    });
    artifacts.last().unwrap_or_else(|| panic!("cargo built no library of {package}"))
}
