//! The one line an author writes to make a library loadable: [`export_plugin!`](crate::export_plugin).
//!
//! It leaves two things in the file. The manifest, JSON text in a section of its own, says what the library is and is
//! read without running it. The root symbol, named after the package so that several plugins can be linked into one
//! binary, leads to the module that the loader calls.

use abi_stable::library::{__call_root_module_loader, CheckTypeLayout, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RResult, RStr, RString};

use crate::adapt::Adapter;
use crate::adapt_organ::OrganAdapter;
use crate::declaration::KindDeclaration;
use crate::ffi::{
    FfiError, HostApi_Ref, KindBox, KindObject_TO, OrganBox, OrganObject_TO, PluginModule, PluginModule_Ref,
};
use crate::guard::guard;
use crate::kind::{Failure, LedgerKind};
use crate::organ::{Organ, OrganDeclaration};
use crate::{contract, log};

#[doc(hidden)]
pub use abi_stable::library::LibHeader;

/// One exported kind.
pub struct KindEntry {
    name: &'static str,
    declaration: fn() -> KindDeclaration,
    open: fn() -> KindBox,
}

impl KindEntry {
    /// The entry of kind `K`.
    ///
    /// # Panics
    /// At compile time, when the name is not lower-case ASCII letters, digits and single dashes.
    #[must_use]
    pub const fn of<K: LedgerKind>() -> Self {
        assert!(is_name(K::NAME.as_bytes(), b"-"), "a kind's NAME is lower-case letters, digits and single dashes");
        Self {
            name: K::NAME,
            declaration: || K::default().declaration(),
            open: || KindObject_TO::from_value(Adapter::<K>::open(), TD_Opaque),
        }
    }
}

/// One exported organ.
pub struct OrganEntry {
    name: &'static str,
    declaration: fn() -> OrganDeclaration,
    open: fn() -> OrganBox,
}

impl OrganEntry {
    /// The entry of organ `O`.
    ///
    /// # Panics
    /// At compile time, when the name is not lower-case ASCII letters, digits and single dashes or underscores.
    #[must_use]
    pub const fn of<O: Organ>() -> Self {
        assert!(
            is_name(O::NAME.as_bytes(), b"-_"),
            "an organ's NAME is lower-case letters, digits and single dashes or underscores"
        );
        Self {
            name: O::NAME,
            declaration: || O::default().declaration(),
            open: || OrganObject_TO::from_value(OrganAdapter::<O>::open(), TD_Opaque),
        }
    }
}

/// What [`export_plugin!`](crate::export_plugin) makes of a package: kinds or organs, never both.
pub trait Plugin: 'static {
    /// Its kinds, in the order in which they were written.
    const KINDS: &'static [KindEntry] = &[];
    /// Its organs, in the order in which they were written.
    const ORGANS: &'static [OrganEntry] = &[];
}

/// What the root symbol of `P` points at: version and layout of the contract, and the constructor of the module.
#[must_use]
pub const fn header<P: Plugin>() -> LibHeader {
    extern "C" fn construct<P: Plugin>() -> RootModuleResult {
        __call_root_module_loader(module::<P>)
    }
    // SAFETY: `construct` gives the erased form of a `PluginModule_Ref`, which is the type named here.
    #[expect(unsafe_code, reason = "abi_stable erases the type of the module")]
    unsafe {
        LibHeader::from_constructor::<PluginModule_Ref>(construct::<P>, CheckTypeLayout::Yes)
    }
}

/// The module of `P`; without loading, for tests that link a plugin in.
#[must_use]
pub fn module<P: Plugin>() -> PluginModule_Ref {
    PluginModule {
        init,
        declarations: declarations::<P>,
        open_kind: open_kind::<P>,
        organ_declarations: organ_declarations::<P>,
        open_organ: open_organ::<P>,
    }
    .leak_into_prefix()
}

extern "C" fn init(host: HostApi_Ref) -> RResult<(), FfiError> {
    guard(|| log::connect(host)).map_err(FfiError::from).into()
}

extern "C" fn declarations<P: Plugin>() -> RResult<RString, FfiError> {
    let text = guard(|| {
        let declared = P::KINDS.iter().map(declared).collect::<Result<Vec<_>, _>>()?;
        serde_json::to_string(&declared).map_err(|error| Failure::new("invalid_answer", error.to_string()))
    });
    text.map(RString::from).map_err(FfiError::from).into()
}

fn declared(entry: &KindEntry) -> Result<KindDeclaration, Failure> {
    let declaration = (entry.declaration)();
    if declaration.name == entry.name {
        return Ok(declaration);
    }
    let message = format!("the kind's NAME is {}, its declaration says {}", entry.name, declaration.name);
    Err(Failure::new("invalid_answer", message))
}

extern "C" fn open_kind<P: Plugin>(name: RStr<'_>) -> RResult<KindBox, FfiError> {
    let opened = guard(|| {
        let entry = P::KINDS.iter().find(|entry| entry.name == name.as_str());
        let entry = entry.ok_or_else(|| Failure::new("unknown_kind", format!("this plugin has no kind {name}")))?;
        Ok((entry.open)())
    });
    opened.map_err(FfiError::from).into()
}

extern "C" fn organ_declarations<P: Plugin>() -> RResult<RString, FfiError> {
    let text = guard(|| {
        let declared = P::ORGANS.iter().map(declared_organ).collect::<Result<Vec<_>, _>>()?;
        serde_json::to_string(&declared).map_err(|error| Failure::new("invalid_answer", error.to_string()))
    });
    text.map(RString::from).map_err(FfiError::from).into()
}

fn declared_organ(entry: &OrganEntry) -> Result<OrganDeclaration, Failure> {
    let declaration = (entry.declaration)();
    if declaration.name == entry.name {
        return Ok(declaration);
    }
    let message = format!("the organ's NAME is {}, its declaration says {}", entry.name, declaration.name);
    Err(Failure::new("invalid_answer", message))
}

extern "C" fn open_organ<P: Plugin>(name: RStr<'_>) -> RResult<OrganBox, FfiError> {
    let opened = guard(|| {
        let entry = P::ORGANS.iter().find(|entry| entry.name == name.as_str());
        let entry = entry.ok_or_else(|| Failure::new("unknown_organ", format!("this plugin has no organ {name}")))?;
        Ok((entry.open)())
    });
    opened.map_err(FfiError::from).into()
}

/// Whether `name` is lower-case ASCII letters and digits, with single `marks` between them.
const fn is_name(name: &[u8], marks: &[u8]) -> bool {
    let mut at = 0;
    let mut after_dash = true;
    while at < name.len() {
        let dash = name[at] == marks[0] || marks.len() > 1 && name[at] == marks[1];
        if !(name[at].is_ascii_lowercase() || name[at].is_ascii_digit() && at > 0 || dash && !after_dash) {
            return false;
        }
        after_dash = dash;
        at += 1;
    }
    !after_dash
}

/// What the manifest says of a package beside what [`contract`] knows.
pub struct Package {
    /// Name of the package.
    pub name: &'static str,
    /// Version of the package.
    pub version: &'static str,
    /// Panic strategy, `unwind` or `abort`, which ends the host with the first panic in spite of every guard. It is
    /// that of the library: this crate may have been built with another one.
    pub panic: &'static str,
    /// Name of the root symbol.
    pub symbol: &'static str,
    /// Its kinds.
    pub kinds: &'static [KindEntry],
    /// Its organs.
    pub organs: &'static [OrganEntry],
}

impl Package {
    /// Length of the manifest in bytes.
    #[must_use]
    pub const fn manifest_length(&self) -> usize {
        self.write_manifest(&mut [])
    }

    /// The manifest; `N` is [`Package::manifest_length`].
    #[must_use]
    pub const fn manifest<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.write_manifest(&mut bytes);
        bytes
    }

    /// Writes as much as fits and says how much there is. No text in it needs a JSON escape: cargo's names and
    /// versions, target triples and [`is_name`] allow none of the characters that would.
    const fn write_manifest(&self, out: &mut [u8]) -> usize {
        let texts = [
            ("{\"manifest\":1,\"abi\":\"", contract::ABI),
            ("\",\"contract\":\"", contract::VERSION),
            ("\",\"package\":\"", self.name),
            ("\",\"version\":\"", self.version),
            ("\",\"rustc\":\"", contract::RUSTC),
            ("\",\"target\":\"", contract::TARGET),
            ("\",\"profile\":\"", contract::PROFILE),
            ("\",\"panic\":\"", self.panic),
            ("\",\"symbol\":\"", self.symbol),
        ];
        let mut at = 0;
        let mut index = 0;
        while index < texts.len() {
            at = put(out, at, texts[index].0);
            at = put(out, at, texts[index].1);
            index += 1;
        }
        at = put(out, at, "\",\"kinds\":[");
        index = 0;
        while index < self.kinds.len() {
            at = put(out, at, if index == 0 { "\"" } else { ",\"" });
            at = put(out, at, self.kinds[index].name);
            at = put(out, at, "\"");
            index += 1;
        }
        at = put(out, at, "],\"organs\":[");
        index = 0;
        while index < self.organs.len() {
            at = put(out, at, if index == 0 { "\"" } else { ",\"" });
            at = put(out, at, self.organs[index].name);
            at = put(out, at, "\"");
            index += 1;
        }
        put(out, at, "]}")
    }
}

const fn put(out: &mut [u8], mut at: usize, text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        if at < out.len() {
            out[at] = bytes[index];
        }
        at += 1;
        index += 1;
    }
    at
}

/// Makes a library of kind `cdylib` loadable by the host. Written once for a package, at the root of its library, with
/// kinds or with organs:
///
/// ```text
/// plugin_api::export_plugin! { kinds: [rules::IssueDebt] }
/// plugin_api::export_plugin! { organs: [Command] }
/// ```
///
/// It defines `HostPlugin`, by which a test can link the plugin in without loading it.
#[macro_export]
macro_rules! export_plugin {
    (kinds: [$($kind:ty),+ $(,)?] $(,)?) => {
        $crate::export_plugin! { @items KINDS: KindEntry, [$($kind),+] }
    };
    (organs: [$($organ:ty),+ $(,)?] $(,)?) => {
        $crate::export_plugin! { @items ORGANS: OrganEntry, [$($organ),+] }
    };
    (@items $list:ident: $entry:ident, [$($item:ty),+]) => {
        /// This package as a plugin.
        pub struct HostPlugin;

        impl $crate::export::Plugin for HostPlugin {
            const $list: &'static [$crate::export::$entry] = &[$($crate::export::$entry::of::<$item>()),+];
        }

        const _: () = {
            const PACKAGE: $crate::export::Package = $crate::export::Package {
                name: ::core::env!("CARGO_PKG_NAME"),
                version: ::core::env!("CARGO_PKG_VERSION"),
                panic: if ::core::cfg!(panic = "unwind") { "unwind" } else { "abort" },
                symbol: ::core::concat!("host_plugin_root_v1_", ::core::env!("CARGO_PKG_NAME")),
                kinds: <HostPlugin as $crate::export::Plugin>::KINDS,
                organs: <HostPlugin as $crate::export::Plugin>::ORGANS,
            };

            // The names are `contract::SECTION_*`; an attribute takes literals only.
            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__host_plugin"))]
            #[cfg_attr(windows, unsafe(link_section = ".hostplg"))]
            #[cfg_attr(not(any(target_vendor = "apple", windows)), unsafe(link_section = ".host.plugin"))]
            static MANIFEST: [u8; PACKAGE.manifest_length()] = PACKAGE.manifest();

            #[unsafe(export_name = ::core::concat!("host_plugin_root_v1_", ::core::env!("CARGO_PKG_NAME")))]
            static ROOT: $crate::export::LibHeader = $crate::export::header::<HostPlugin>();
        };
    };
}
