//! What a plugin or a host was built with, and the names under which a plugin is found in its file.

/// Version of this crate: the contract that its user speaks.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How things cross. A second way would stand beside this one, never in its place.
pub const ABI: &str = "abi_stable-0.11";
/// Number of the manifest's format.
pub const MANIFEST_FORMAT: u32 = 1;
/// Compiler, as `rustc -V` prints it.
pub const RUSTC: &str = env!("HOST_PLUGIN_RUSTC");
/// Target triple.
pub const TARGET: &str = env!("HOST_PLUGIN_TARGET");
/// Cargo's word for the profile: `debug` or `release`.
pub const PROFILE: &str = env!("HOST_PLUGIN_PROFILE");
/// Section that holds the manifest in an ELF file.
pub const SECTION_ELF: &str = ".host.plugin";
/// Section that holds the manifest in a Mach-O file, in segment `__DATA`; 16 characters at most.
pub const SECTION_MACH_O: &str = "__host_plugin";
/// Section that holds the manifest in a PE file; 8 characters at most.
pub const SECTION_PE: &str = ".hostplg";
