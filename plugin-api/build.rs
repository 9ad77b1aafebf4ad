//! Records what a plugin was built with. This crate is compiled by the plugin's own compiler and profile, so that the
//! plugin needs no build script of its own.

use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "cargo speaks to a build script through variables")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let compiler = std::env::var_os("RUSTC").ok_or("cargo did not set RUSTC")?;
    let version = Command::new(compiler).arg("-V").output()?;
    println!("cargo::rustc-env=HOST_PLUGIN_RUSTC={}", String::from_utf8(version.stdout)?.trim());
    for name in ["TARGET", "PROFILE"] {
        println!("cargo::rustc-env=HOST_PLUGIN_{name}={}", std::env::var(name)?);
    }
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
