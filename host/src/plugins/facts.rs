//! What a library's own headers say, for a person who decides whether to trust it. Runs none of its code.

use std::io::Cursor;

use object::read::elf::{ElfFile, FileHeader};
use object::{Architecture, Object as _, ObjectSymbol as _, ReadCache};

use super::manifest::InspectError;
use crate::ledger::digest::hex;

/// Facts of a library, beside its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Format of the file: `elf`, `macho` or `pe`.
    pub format: String,
    /// Processor that it is for.
    pub machine: String,
    /// Libraries that the system loads with it. Of ELF files only.
    pub needed: Vec<String>,
    /// Identifier that the linker gave this build, in hex.
    pub build_id: Option<String>,
    /// Whether it exports the root symbol that its manifest names.
    pub exports_root: bool,
    /// Whether it carries debug information.
    pub debug_info: bool,
}

/// Reads the facts of a library of which the manifest names the root symbol.
///
/// # Errors
/// [`InspectError::NotALibrary`] when its headers cannot be read.
pub fn facts(bytes: &[u8], root_symbol: &str) -> Result<Facts, InspectError> {
    read(bytes, root_symbol).map_err(InspectError::NotALibrary)
}

fn read(bytes: &[u8], root_symbol: &str) -> object::Result<Facts> {
    let cache = ReadCache::new(Cursor::new(bytes));
    let file = object::File::parse(&cache)?;
    let needed = if let object::File::Elf64(elf) = &file {
        needed(elf)?
    } else if let object::File::Elf32(elf) = &file {
        needed(elf)?
    } else {
        Vec::new()
    };
    Ok(Facts {
        format: format!("{:?}", file.format()).to_lowercase(),
        machine: machine(file.architecture()),
        needed,
        build_id: file.build_id()?.map(hex),
        exports_root: file.dynamic_symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(root_symbol)),
        debug_info: file.has_debug_symbols(),
    })
}

/// The reader's word for a processor, as the standard library spells it.
pub(super) fn machine(architecture: Architecture) -> String {
    if architecture == Architecture::I386 { "x86".to_owned() } else { format!("{architecture:?}").to_ascii_lowercase() }
}

fn needed<'data, Header, Data>(elf: &ElfFile<'data, Header, Data>) -> object::Result<Vec<String>>
where
    Header: FileHeader,
    Data: object::ReadRef<'data>,
{
    let table = elf.elf_section_table().dynamic_table(elf.endian(), elf.data())?;
    let mut needed = Vec::new();
    for entry in table.iter() {
        if entry.tag == object::elf::DT_NEEDED {
            needed.push(String::from_utf8_lossy(table.string(entry)?).into_owned());
        }
    }
    Ok(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_spelled_as_the_standard_library_does() {
        assert_eq!(machine(Architecture::X86_64), "x86_64");
        assert_eq!(machine(Architecture::Aarch64), "aarch64");
        assert_eq!(machine(Architecture::I386), "x86");
    }

    #[test]
    fn a_text_has_no_facts() {
        assert!(facts(b"not a library", "s").is_err_and(|error| error.to_string().contains("not a whole library")));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_facts_of_this_very_test_are_found() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let facts = facts(&bytes, "no_such_symbol").unwrap();
        assert_eq!((facts.format.as_str(), facts.machine.as_str()), ("elf", std::env::consts::ARCH));
        assert!(facts.needed.iter().any(|name| name.starts_with("libc.")), "{facts:?}");
        assert!(!facts.exports_root);
    }
}
