//! Loads a plugin's library: the host's only unsafe code.
//!
//! The order matters. Whatever can be refused by reading was refused before ([`super::compat`]); loading runs the
//! library's constructors, and with them trust begins. Then header, version, layout, constructor, `init`. A library is
//! never unloaded: its types are kept by the layout checker, and the system itself refuses once a thread-local has a
//! destructor.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader, RootModule};
use abi_stable::std_types::RStr;
use plugin_api::ffi::{FfiError, HostApi_Ref, KindBox, OrganBox, PluginModule_Ref};
use plugin_api::organ::OrganDeclaration;
use plugin_api::{KindDeclaration, contract};
use semver::Version;
use serde::de::DeserializeOwned;

use super::compat::{self, Built, Incompatible};
use super::explain::{Interface, explain};
use super::image::Image;
use super::log::host_api;
use super::manifest::{Inspected, Manifest};
use crate::reasons::Fatal;

/// A loaded plugin.
pub struct Plugin {
    module: PluginModule_Ref,
    manifest: Manifest,
    file: PathBuf,
    declarations: Vec<KindDeclaration>,
    organs: Vec<OrganDeclaration>,
}

/// Why a plugin cannot be loaded or opened.
#[derive(Debug, thiserror::Error)]
#[error("plugin {} at {}: {kind} ({})", plugin.names().join(", "), file.display(), Built::of(plugin))]
pub struct LoadError {
    plugin: Box<Manifest>,
    file: PathBuf,
    /// What failed.
    pub kind: LoadErrorKind,
}

/// What failed while loading.
#[derive(Debug, thiserror::Error)]
pub enum LoadErrorKind {
    /// The system's loader refused.
    #[error("the system cannot load it: {text}{}", tls_hint(*static_tls))]
    Open {
        /// The system's reason.
        text: String,
        /// See [`Inspected::static_tls`].
        static_tls: bool,
    },
    /// The manifest names a symbol that the library does not have.
    #[error("it has no symbol {0}; build it again with the export_plugin! macro, and do not strip its dynamic symbols")]
    Symbol(String),
    /// The symbol is not what the macro makes, or comes from another abi_stable.
    #[error("its root symbol is not of this contract ({0}); build it again with the export_plugin! macro")]
    Header(String),
    /// The symbol says another version than the manifest.
    #[error("its manifest does not belong to it: its code is for contract {0}; build it again")]
    Mixed(String),
    /// The library was built without its layout.
    #[error("it does not say how its types are laid out; build it with the export_plugin! macro")]
    NoLayout,
    /// The types differ.
    #[error(
        "its types differ from this host's, although the versions fit: {0}; build it again with host-plugin-api {version}",
        version = contract::VERSION
    )]
    Layout(String),
    /// See [`Incompatible`].
    #[error(transparent)]
    Incompatible(Box<Incompatible>),
    /// The constructor failed, or a first call did.
    #[error("it failed in {call}: {message} ({code}); report this to its author")]
    Failed {
        /// Which call.
        call: &'static str,
        /// The plugin's code, `panic` for a panic.
        code: String,
        /// What went wrong.
        message: String,
    },
    /// The declarations are no JSON, or not those that the manifest lists.
    #[error("its declarations make no sense: {0}; report this to its author")]
    Declarations(String),
}

fn tls_hint(static_tls: bool) -> &'static str {
    if static_tls {
        "; it asks for static TLS, of which a running process has little: build it with another TLS model (an allocator \
         has a feature for that), or start the host with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536"
    } else {
        ""
    }
}

impl LoadError {
    /// The code under which a command is refused.
    #[must_use]
    pub fn code(&self) -> Fatal {
        match self.kind {
            LoadErrorKind::Open { .. } | LoadErrorKind::Symbol(_) => Fatal::PluginUnreadable,
            LoadErrorKind::Header(_)
            | LoadErrorKind::Mixed(_)
            | LoadErrorKind::NoLayout
            | LoadErrorKind::Layout(_)
            | LoadErrorKind::Incompatible(_) => Fatal::PluginIncompatible,
            LoadErrorKind::Failed { .. } | LoadErrorKind::Declarations(_) => Fatal::PluginFailed,
        }
    }
}

impl Plugin {
    /// Loads a library and asks it for its declarations. Its events carry the name of its package.
    ///
    /// # Errors
    /// [`LoadError`]; the library stays in the process even then.
    pub fn load(image: &Image) -> Result<Self, LoadError> {
        Self::load_with(image, host_api)
    }

    /// The same, where its events go elsewhere: `api` is given the name of its package.
    ///
    /// # Errors
    /// [`LoadError`]; the library stays in the process even then.
    pub(super) fn load_with(image: &Image, api: impl FnOnce(&str) -> HostApi_Ref) -> Result<Self, LoadError> {
        open(image, api).map_err(|kind| error(image.file(), &image.inspected().manifest, kind))
    }

    /// What it says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Path of the library.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What its kinds declare.
    #[must_use]
    pub fn declarations(&self) -> &[KindDeclaration] {
        &self.declarations
    }

    /// Opens one of its kinds.
    ///
    /// # Errors
    /// [`LoadErrorKind::Failed`] when the plugin refuses or panics.
    pub(super) fn open_kind(&self, name: &str) -> Result<KindBox, LoadError> {
        let opened = (self.module.open_kind())(RStr::from(name)).into_result();
        opened.map_err(|failure| self.error(failed("open_kind", failure)))
    }

    /// Asks for the declarations of its kinds once more.
    ///
    /// # Errors
    /// As [`Plugin::load`].
    pub fn declare_again(&self) -> Result<Vec<KindDeclaration>, LoadError> {
        kinds(self.module, &self.manifest).map_err(|kind| self.error(kind))
    }

    /// Asks for the declarations of its organs once more.
    ///
    /// # Errors
    /// As [`Plugin::load`].
    pub fn declare_organs_again(&self) -> Result<Vec<OrganDeclaration>, LoadError> {
        organs(self.module, &self.manifest).map_err(|kind| self.error(kind))
    }

    /// What its organs declare.
    #[must_use]
    pub fn organs(&self) -> &[OrganDeclaration] {
        &self.organs
    }

    /// Opens one of its organs.
    ///
    /// # Errors
    /// [`LoadErrorKind::Failed`] when the plugin refuses or panics.
    pub fn open_organ(&self, name: &str) -> Result<OrganBox, LoadError> {
        let opened = (self.module.open_organ())(RStr::from(name)).into_result();
        opened.map_err(|failure| self.error(failed("open_organ", failure)))
    }

    pub(super) fn error(&self, kind: LoadErrorKind) -> LoadError {
        error(&self.file, &self.manifest, kind)
    }
}

fn error(file: &Path, manifest: &Manifest, kind: LoadErrorKind) -> LoadError {
    LoadError { plugin: Box::new(manifest.clone()), file: file.to_owned(), kind }
}

impl From<Incompatible> for LoadErrorKind {
    fn from(why: Incompatible) -> Self {
        Self::Incompatible(Box::new(why))
    }
}

fn failed(call: &'static str, failure: FfiError) -> LoadErrorKind {
    LoadErrorKind::Failed { call, code: failure.code.into(), message: failure.message.into() }
}

fn open(image: &Image, api: impl FnOnce(&str) -> HostApi_Ref) -> Result<Plugin, LoadErrorKind> {
    let manifest = &image.inspected().manifest;
    let header = header(image.path(), image.inspected())?;
    check_layout(header, manifest)?;
    // SAFETY: `check_layout` found that the module behind the header has the layout of `PluginModule_Ref`.
    #[expect(unsafe_code, reason = "the type of the module is erased in the header")]
    let module = unsafe { header.unchecked_layout::<PluginModule_Ref>() };
    let module = module.map_err(|error| LoadErrorKind::Failed {
        call: "its constructor",
        code: "panic".to_owned(),
        // The library's text stands between line breaks.
        message: error.to_string().trim().to_owned(),
    })?;
    (module.init())(api(&manifest.package)).into_result().map_err(|failure| failed("init", failure))?;
    let (declarations, organs) = (kinds(module, manifest)?, organs(module, manifest)?);
    Ok(Plugin { module, manifest: manifest.clone(), file: image.file().to_owned(), declarations, organs })
}

fn kinds(module: PluginModule_Ref, manifest: &Manifest) -> Result<Vec<KindDeclaration>, LoadErrorKind> {
    let declared = (module.declarations())().into_result().map_err(|failure| failed("declarations", failure))?;
    read_declarations(&declared, &manifest.kinds, |kind: &KindDeclaration| &kind.name)
}

fn organs(module: PluginModule_Ref, manifest: &Manifest) -> Result<Vec<OrganDeclaration>, LoadErrorKind> {
    let declared = (module.organ_declarations())().into_result();
    let declared = declared.map_err(|failure| failed("organ_declarations", failure))?;
    read_declarations(&declared, &manifest.organs, |organ: &OrganDeclaration| &organ.name)
}

/// Maps the library and finds its header.
fn header(file: &Path, inspected: &Inspected) -> Result<&'static LibHeader, LoadErrorKind> {
    let symbol = &inspected.manifest.symbol;
    let refused = |error: libloading::Error| LoadErrorKind::Open {
        text: error.source().map_or_else(|| error.to_string(), ToString::to_string),
        static_tls: inspected.static_tls,
    };
    // SAFETY: constructors of the library run here. The operator chose to trust it: its bytes are those of a pin, or it
    // lies where the binary lies, or it was allowed by a flag; and it says in its manifest that it is a plugin for this
    // host.
    #[expect(unsafe_code, reason = "loading a library runs its constructors")]
    let library = unsafe { map(file) }.map_err(refused)?;
    // SAFETY: the symbol is the static that `export_plugin!` defines, an `AbiHeader` as long as the library is mapped.
    // Whether that is so, its first bytes tell: they are compared with abi_stable's magic in `upgrade`.
    #[expect(unsafe_code, reason = "the type of a symbol is the caller's word")]
    let header = unsafe { library.get::<AbiHeaderRef>(symbol.as_str()) }.map(|header| *header);
    // Never unloaded, so that what was taken from it lives as long as the process.
    std::mem::forget(library);
    let header = header.map_err(|_| LoadErrorKind::Symbol(symbol.clone()))?;
    header.upgrade().map_err(|_| {
        let (theirs, ours) = ((header.abi_major, header.abi_minor), abi_stable::library::AbiHeader::VALUE);
        LoadErrorKind::Header(format!(
            "its abi_stable is {}.{}, the host's {}.{}",
            theirs.0, theirs.1, ours.abi_major, ours.abi_minor
        ))
    })
}

/// # Safety
/// Runs the constructors of the library.
#[cfg(unix)]
#[expect(unsafe_code, reason = "loading a library runs its constructors")]
unsafe fn map(file: &Path) -> Result<libloading::os::unix::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    /// Stay mapped whatever happens.
    const NODELETE: i32 = if cfg!(target_vendor = "apple") { 0x80 } else { 0x1000 };
    // SAFETY: the caller's.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL | NODELETE) }
}

/// # Safety
/// Runs the constructors of the library.
#[cfg(windows)]
#[expect(unsafe_code, reason = "loading a library runs its constructors")]
unsafe fn map(file: &Path) -> Result<libloading::os::windows::Library, libloading::Error> {
    // SAFETY: the caller's.
    unsafe { libloading::os::windows::Library::new(file) }
}

/// abi_stable accepts an implementation that has more than the interface asks for, and not the other way round: so the
/// older side plays the interface. What the shorter one lacks is absent when it is read. The checker's state is fresh
/// for each plugin; its own global one would let what one plugin added fail the next.
fn check_layout(header: &LibHeader, manifest: &Manifest) -> Result<(), LoadErrorKind> {
    let theirs = header.layout().ok_or(LoadErrorKind::NoLayout)?;
    let ours = <PluginModule_Ref as StableAbi>::LAYOUT;
    let said = header.version_strings().version;
    if said.as_str() != manifest.contract {
        return Err(LoadErrorKind::Mixed(said.to_string()));
    }
    let (plugin, host): (Version, Version) =
        (compat::version(said.as_str())?, compat::version(PluginModule_Ref::VERSION_STRINGS.version.as_str())?);
    let interface = if plugin < host { Interface::Plugin } else { Interface::Host };
    let (older, newer) = match interface {
        Interface::Plugin => (theirs, ours),
        Interface::Host => (ours, theirs),
    };
    check_layout_compatibility_with_globals(older, newer, &CheckingGlobals::new())
        .map_err(|errors| LoadErrorKind::Layout(explain(&errors, interface)))
}

fn read_declarations<T: DeserializeOwned>(
    text: &str,
    listed: &[String],
    name: impl Fn(&T) -> &String,
) -> Result<Vec<T>, LoadErrorKind> {
    let declarations: Vec<T> =
        serde_json::from_str(text).map_err(|error| LoadErrorKind::Declarations(error.to_string()))?;
    let names: Vec<&String> = declarations.iter().map(name).collect();
    if names.iter().copied().ne(listed) {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        let why = format!("it declares {}, its manifest lists {}", names.join(", "), listed.join(", "));
        return Err(LoadErrorKind::Declarations(why));
    }
    Ok(declarations)
}
