//! Finds the manifest of the workspace, whose versions `host plugin new` writes into a new crate.

use std::path::PathBuf;

#[expect(clippy::disallowed_methods, reason = "cargo speaks to a build script through variables")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo did not set CARGO_MANIFEST_DIR")?);
    let manifests = package.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
    let is_workspace = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("[workspace]"));
    let workspace = manifests.into_iter().find(is_workspace).ok_or("the package belongs to no workspace")?;
    println!("cargo::rustc-env=HOST_WORKSPACE_MANIFEST={}", workspace.display());
    println!("cargo::rerun-if-changed={}", workspace.display());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
