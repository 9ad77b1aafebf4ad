//! A program of the host that is built for the next minor of the contract: opens kinds of a folder in the order given,
//! and prints a line for each. `contracts.rs` puts it into its copy of the host; it is no part of these tests' binary.

use test_newer_host::ledger::kind::Kind as _;
use test_newer_host::plugins::{Folder, Origin, Registry, SearchPath, Trust, Unpinned, open_kind};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default().into();
    let folder = Folder { path, origin: Origin::Flag, trust: Trust::Word };
    let registry = Registry::discover(&SearchPath { folders: vec![folder] });
    for name in arguments {
        match open_kind(&registry, &name, Unpinned::Allow) {
            Ok(opened) => {
                let ledger = plugin_api::LedgerView { rows: &[], counts: plugin_api::Counts::default() };
                println!("{name} answers: {}", opened.kind.summary(&ledger).is_ok());
            }
            Err(error) => println!("{name} {}: {error}", error.code().code()),
        }
    }
}
