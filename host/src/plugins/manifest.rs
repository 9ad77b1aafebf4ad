//! Reads what a plugin file says of itself, without running any of its code.
//!
//! The manifest is JSON text in a section of its own; of the file only headers, section names and that section are read.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use object::read::elf::{Dyn as _, ElfFile, FileHeader};
use object::{BinaryFormat, Object as _, ObjectSection as _, ReadCache};
use plugin_api::contract;
use serde::Deserialize;

use super::facts::machine;
use super::pins::Role;

/// What the manifest says. Unknown keys are ignored: a newer contract may add some.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Manifest {
    /// Number of the format; 1.
    pub manifest: u32,
    /// How things cross, e.g. `abi_stable-0.11`.
    pub abi: String,
    /// Version of the contract that the plugin was built for.
    pub contract: String,
    /// Name of the package.
    pub package: String,
    /// Version of the package.
    pub version: String,
    /// Compiler, as `rustc -V` prints it.
    pub rustc: String,
    /// Target triple.
    pub target: String,
    /// `debug` or `release`.
    pub profile: String,
    /// `unwind` or `abort`.
    pub panic: String,
    /// Name of the root symbol.
    pub symbol: String,
    /// Names of the kinds it serves.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Names of the organs it serves.
    #[serde(default)]
    pub organs: Vec<String>,
}

impl Manifest {
    /// What it is for. A library serves names of one role.
    #[must_use]
    pub fn role(&self) -> Role {
        if self.organs.is_empty() { Role::Kind } else { Role::Organ }
    }

    /// The names it serves.
    #[must_use]
    pub fn names(&self) -> &[String] {
        match self.role() {
            Role::Kind => &self.kinds,
            Role::Organ => &self.organs,
        }
    }
}

/// A manifest with what the file's own headers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The manifest.
    pub manifest: Manifest,
    /// Whether the library asks for static TLS, of which a running process has little left: loading it may fail.
    pub static_tls: bool,
}

/// Why a file that may be a plugin cannot be one.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// The file system refused.
    #[error("the file cannot be read: {0}; check its permissions")]
    Unreadable(#[source] io::Error),
    /// No library, or a part of one.
    #[error("the file is not a whole library ({0}); build it again, and copy it whole")]
    NotALibrary(#[source] object::Error),
    /// A library that does not claim to be a plugin.
    #[error("the library has no manifest, so it is no plugin; build it with the export_plugin! macro")]
    NoManifest,
    /// A library for another processor.
    #[error("the library is for {found}, this machine is {here}; build it for this machine")]
    OtherMachine {
        /// Processor named in the file.
        found: String,
        /// This host's processor.
        here: &'static str,
    },
    /// A manifest that is no JSON, or lacks a key.
    #[error("the manifest cannot be read ({0}); build it again with the export_plugin! macro")]
    Garbled(#[source] serde_json::Error),
    /// Two plugins linked into one library.
    #[error("the library holds more than one plugin; give each plugin package a library of its own")]
    Several,
    /// Kinds and organs in one library.
    #[error("the library serves kinds and organs; give each role a library of its own")]
    BothRoles,
    /// A format of a later host.
    #[error("the manifest has format {0}, this host reads format 1; install a newer host")]
    Format(u32),
}

/// Reads the manifest of a file; `None` when the file is a library without one, and so no plugin.
///
/// # Errors
/// [`InspectError`] when the file is no library of this machine, or its manifest cannot be read.
pub fn inspect(path: &Path) -> Result<Option<Inspected>, InspectError> {
    inspect_in(File::open(path).map_err(InspectError::Unreadable)?)
}

/// Reads the manifest out of a file that is open, or out of its bytes.
///
/// # Errors
/// As [`inspect`].
pub fn inspect_in(source: impl Read + Seek) -> Result<Option<Inspected>, InspectError> {
    let cache = ReadCache::new(source);
    let file = object::File::parse(&cache).map_err(InspectError::NotALibrary)?;
    let Some(section) = file.section_by_name(section_name(file.format())) else { return Ok(None) };
    let found = machine(file.architecture());
    if found != std::env::consts::ARCH {
        return Err(InspectError::OtherMachine { found, here: std::env::consts::ARCH });
    }
    let manifest = parse(section.data().map_err(InspectError::NotALibrary)?)?;
    let static_tls = if let object::File::Elf64(elf) = &file {
        has_static_tls(elf)
    } else if let object::File::Elf32(elf) = &file {
        has_static_tls(elf)
    } else {
        Ok(false)
    };
    Ok(Some(Inspected { manifest, static_tls: static_tls.map_err(InspectError::NotALibrary)? }))
}

fn section_name(format: BinaryFormat) -> &'static str {
    if format == BinaryFormat::MachO {
        contract::SECTION_MACH_O
    } else if format == BinaryFormat::Pe {
        contract::SECTION_PE
    } else {
        contract::SECTION_ELF
    }
}

fn parse(text: &[u8]) -> Result<Manifest, InspectError> {
    #[derive(Deserialize)]
    struct Format {
        manifest: u32,
    }
    // The number first, so that a later format is named as one, whatever else it changed.
    let mut formats = serde_json::Deserializer::from_slice(text).into_iter::<Format>();
    match formats.next().transpose().map_err(InspectError::Garbled)? {
        Some(Format { manifest: contract::MANIFEST_FORMAT }) if formats.next().is_some() => Err(InspectError::Several),
        Some(Format { manifest: contract::MANIFEST_FORMAT }) | None => {
            let manifest: Manifest = serde_json::from_slice(text).map_err(InspectError::Garbled)?;
            let both = !manifest.kinds.is_empty() && !manifest.organs.is_empty();
            if both { Err(InspectError::BothRoles) } else { Ok(manifest) }
        }
        Some(Format { manifest }) => Err(InspectError::Format(manifest)),
    }
}

fn has_static_tls<'data, Header, Data>(elf: &ElfFile<'data, Header, Data>) -> object::Result<bool>
where
    Header: FileHeader,
    Data: object::ReadRef<'data>,
{
    let endian = elf.endian();
    let table = elf.elf_section_table().dynamic_table(endian, elf.data())?;
    Ok(table.dynamics().iter().any(|entry| {
        let flags: u64 = entry.d_val(endian).into();
        entry.d_tag(endian) == object::elf::DT_FLAGS && flags & object::elf::DF_STATIC_TLS.0 != 0
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"manifest":1,"abi":"abi_stable-0.11","contract":"1.0.0","package":"p","version":"0.1.0",
        "rustc":"rustc 1.95.0","target":"t","profile":"debug","panic":"unwind","symbol":"s","kinds":["a"],"later":{}}"#;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match parse(text.as_bytes()) {
            Ok(manifest) => manifest.names().join(","),
            Err(error) => error.to_string(),
        };
        assert!(found.starts_with(expected), "{found}");
    }

    #[test]
    fn a_manifest_with_a_key_of_a_later_minor_is_read() {
        check(GOOD, "a");
    }

    #[test]
    fn two_manifests_in_one_section_are_two_plugins() {
        check(&format!("{GOOD}{GOOD}"), "the library holds more than one plugin");
    }

    #[test]
    fn a_manifest_of_organs_is_read() {
        check(&GOOD.replace("\"kinds\"", "\"organs\""), "a");
    }

    #[test]
    fn a_manifest_of_kinds_and_organs_is_refused() {
        check(&GOOD.replace("\"later\":{}", "\"organs\":[\"b\"]"), "the library serves kinds and organs");
    }

    #[test]
    fn a_manifest_without_a_contract_is_garbled() {
        check(&GOOD.replace("contract", "contrakt"), "the manifest cannot be read (missing field `contract`");
    }

    #[test]
    fn an_empty_section_is_garbled() {
        check("", "the manifest cannot be read (EOF");
    }

    #[test]
    fn a_later_format_is_named_even_when_nothing_else_is_known_of_it() {
        check(r#"{"manifest":2}"#, "the manifest has format 2");
    }
}
