//! What crosses the library boundary: the only file that names abi_stable's types, and the adapter's and loader's alone.
//!
//! How it may grow (README.md, "Evolution"): a minor of the contract adds fields after `last_prefix_field` of
//! [`PluginModule`] and [`HostApi`], and methods with a default body at the end of [`KindObject`],
//! [`OrganObject`], [`SessionObject`] and [`ServicesObject`]. Every other struct is
//! frozen until the next major: no field more, none renamed, none moved. What must grow sooner is JSON text. What looks
//! like an enum is text or a number, because an enum cannot get a new variant.
//!
//! Every function returns [`RResult`]: one that does not has no way to report a panic, and a panic that reaches the
//! boundary ends the process.

#![expect(
    unsafe_code,
    non_camel_case_types,
    non_local_definitions,
    unused_qualifications,
    reason = "expansions of abi_stable's derives"
)]
#![expect(missing_docs, reason = "a field of a mirrored struct is documented at the type that it mirrors")]

use abi_stable::{
    StableAbi,
    library::RootModule,
    package_version_strings, sabi_trait,
    sabi_types::VersionStrings,
    std_types::{RBox, ROption, RResult, RSlice, RStr, RString, RVec},
};

use crate::kind::{Failure, Refusal};

/// The root of a plugin library, made by [`crate::export_plugin!`].
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModule_Ref, prefix_fields = PluginModule_Prefix)))]
pub struct PluginModule {
    /// Called once after loading, before anything else; a second call changes nothing.
    pub init: extern "C" fn(HostApi_Ref) -> RResult<(), FfiError>,
    /// The declarations of all kinds: a JSON list of [`crate::KindDeclaration`].
    pub declarations: extern "C" fn() -> RResult<RString, FfiError>,
    /// Opens the kind of this name.
    pub open_kind: extern "C" fn(RStr<'_>) -> RResult<KindBox, FfiError>,
    /// The declarations of all organs: a JSON list of [`crate::organ::OrganDeclaration`].
    pub organ_declarations: extern "C" fn() -> RResult<RString, FfiError>,
    /// Opens the organ of this name.
    #[sabi(last_prefix_field)]
    pub open_organ: extern "C" fn(RStr<'_>) -> RResult<OrganBox, FfiError>,
}

impl RootModule for PluginModule_Ref {
    abi_stable::declare_root_module_statics! {PluginModule_Ref}
    const BASE_NAME: &'static str = "host_plugin";
    const NAME: &'static str = "host_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// What the host gives to a plugin. Lives as long as the process.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = HostApi_Ref, prefix_fields = HostApi_Prefix)))]
pub struct HostApi {
    /// Name of the plugin as the host knows it; given back with each event.
    pub plugin: RStr<'static>,
    /// Address of a static of the host's own copy of this crate: a plugin that is linked in finds its own there.
    pub instance: usize,
    /// Most verbose level that anyone listens to: 0 off, 1 error, 2 warn, 3 info, 4 debug, 5 trace.
    pub max_level: u32,
    /// Takes one event.
    #[sabi(last_prefix_field)]
    pub log: extern "C" fn(FfiEvent<'_>) -> RResult<(), FfiError>,
}

/// One `tracing` event of a plugin.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiEvent<'a> {
    /// [`HostApi::plugin`].
    pub plugin: RStr<'a>,
    /// As in [`HostApi::max_level`], never 0.
    pub level: u32,
    /// The event's target, by default the module path.
    pub target: RStr<'a>,
    /// The message, formatted.
    pub message: RStr<'a>,
    /// The other fields: a JSON object.
    pub fields: RStr<'a>,
}

/// A failure of the plugin, or of the host's callback.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct FfiError {
    /// See [`Failure::code`].
    pub code: RString,
    /// See [`Failure::message`].
    pub message: RString,
}

/// One kind of a plugin.
#[sabi_trait]
pub trait KindObject: Send + Sync {
    /// Judges a batch.
    fn judge(&self, batch: FfiBatch<'_>) -> RResult<FfiJudged, FfiError>;

    /// The kind's part of `summary.json`: a JSON object in printed order.
    fn summary(&self, ledger: FfiLedger<'_>) -> RResult<RString, FfiError>;

    /// The kind's lines of `status.md`: a JSON object of two lists of strings, `head` and `rows`.
    fn status(&self, ledger: FfiLedger<'_>, max_rows: u64) -> RResult<RString, FfiError>;

    /// The answer of a verb: a JSON object with `exit`, and either `text` and `json`, or `code` and `detail`.
    #[sabi(last_prefix_field)]
    fn verb(&self, call: FfiVerbCall<'_>) -> RResult<RString, FfiError>;
}

/// An opened kind.
pub type KindBox = KindObject_TO<'static, RBox<()>>;

/// One organ of a plugin. Everything but the services crosses as JSON text: see [`crate::organ`].
#[sabi_trait]
pub trait OrganObject: Send + Sync {
    /// A call of a verb to the plan of its units.
    fn plan(&self, call: RStr<'_>, services: &ServicesBox) -> RResult<RString, FfiError>;

    /// Opens a session.
    fn open(&self, opening: RStr<'_>, services: &ServicesBox) -> RResult<SessionBox, FfiError>;

    /// What a run came to, to exit code, page and JSON.
    #[sabi(last_prefix_field)]
    fn finish(&self, ended: RStr<'_>) -> RResult<RString, FfiError>;
}

/// An opened organ.
pub type OrganBox = OrganObject_TO<'static, RBox<()>>;

/// A session of an organ.
#[sabi_trait]
pub trait SessionObject: Send {
    /// A unit to its answer.
    fn run(&mut self, unit: RStr<'_>, services: &ServicesBox) -> RResult<RString, FfiError>;

    /// Ends the session; every other call fails from then on.
    #[sabi(last_prefix_field)]
    fn close(&mut self, services: &ServicesBox) -> RResult<(), FfiError>;
}

/// An open session.
pub type SessionBox = SessionObject_TO<'static, RBox<()>>;

/// What an organ may ask during one call. Given by the host, valid until the call returns.
#[sabi_trait]
pub trait ServicesObject: Send + Sync {
    /// Asks a service: its name and a JSON object, answered by a JSON object. See [`crate::organ::services`].
    fn ask(&self, service: RStr<'_>, request: RStr<'_>) -> RResult<RString, FfiError>;

    /// Whether the call was cancelled.
    fn cancelled(&self) -> RResult<bool, FfiError>;

    /// Milliseconds that the call may still take; `u64::MAX` without a deadline.
    fn remaining_ms(&self) -> RResult<u64, FfiError>;

    /// Names of the services that the host has: a JSON list.
    #[sabi(last_prefix_field)]
    fn features(&self) -> RResult<RString, FfiError>;
}

/// Services for one call.
pub type ServicesBox = ServicesObject_TO<'static, RBox<()>>;

/// Observations to judge and custom values to normalise.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiBatch<'a> {
    pub observations: RSlice<'a, FfiObservation<'a>>,
    pub customs: RSlice<'a, FfiCustom<'a>>,
}

/// See [`crate::ObservationView`]; the entity's values stand in declared order.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiObservation<'a> {
    pub entity: RSlice<'a, RStr<'a>>,
    pub actor: RStr<'a>,
    pub evidence: RStr<'a>,
    pub observed_at: RStr<'a>,
}

/// A custom value: which observation, which declared field, and the value as JSON text.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiCustom<'a> {
    pub observation: u32,
    pub field: u32,
    pub value: RStr<'a>,
}

/// The answer to a batch: refused observations ascending by index, and one verdict for each custom value.
#[repr(C)]
#[derive(StableAbi)]
pub struct FfiJudged {
    pub refused: RVec<FfiRefusal>,
    pub customs: RVec<FfiVerdict>,
}

/// A refused observation.
#[repr(C)]
#[derive(StableAbi)]
pub struct FfiRefusal {
    pub observation: u32,
    pub code: RString,
    pub detail: RString,
}

/// What became of a custom value.
#[repr(C)]
#[derive(StableAbi)]
pub struct FfiVerdict {
    /// Empty when the value is accepted, else the reason code.
    pub code: RString,
    /// The normalised value as JSON text, or the refusal's detail.
    pub text: RString,
}

/// See [`crate::LedgerView`].
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiLedger<'a> {
    pub rows: RSlice<'a, FfiRow<'a>>,
    pub counts: FfiCounts,
}

/// See [`crate::Counts`].
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiCounts {
    pub total: u64,
    pub live: u64,
    pub historical: u64,
    pub incomplete: u64,
    pub stale: u64,
}

/// See [`crate::Row`].
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiRow<'a> {
    pub key: RStr<'a>,
    pub entity: RSlice<'a, RStr<'a>>,
    pub historical: bool,
    pub stale: bool,
    pub last_observed_at: RStr<'a>,
    pub fields: RSlice<'a, FfiField<'a>>,
}

/// A field of a row: index into the declared fields, and its value.
///
/// A scalar crosses as it is, because five thousand rows hold fifty thousand of them and each would cost 100 ns as text;
/// whatever else JSON has crosses as JSON text. See [`sort`].
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiField<'a> {
    pub field: u32,
    pub sort: u32,
    /// Bits of the integer or float, else 0.
    pub bits: u64,
    /// The text or the JSON text, else empty.
    pub text: RStr<'a>,
}

/// Values of [`FfiField::sort`]. Closed: what is not listed is [`sort::JSON`].
pub mod sort {
    /// `null`
    pub const NULL: u32 = 0;
    /// `false`
    pub const FALSE: u32 = 1;
    /// `true`
    pub const TRUE: u32 = 2;
    /// An i64, in two's complement.
    pub const INTEGER: u32 = 3;
    /// An IEEE 754 double.
    pub const FLOAT: u32 = 4;
    /// A string.
    pub const TEXT: u32 = 5;
    /// Any value, as JSON text.
    pub const JSON: u32 = 6;
}

/// See [`crate::VerbCall`].
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiVerbCall<'a> {
    pub verb: RStr<'a>,
    pub arguments: RSlice<'a, FfiArgument<'a>>,
    pub rows: ROption<RSlice<'a, FfiRow<'a>>>,
    /// Microseconds since 1970.
    pub now: i64,
}

/// A given argument of a verb.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct FfiArgument<'a> {
    pub name: RStr<'a>,
    pub value: RStr<'a>,
}

impl From<Failure> for FfiError {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code.into(), message: failure.message.into() }
    }
}

impl From<FfiError> for Failure {
    fn from(error: FfiError) -> Self {
        Self { code: error.code.into(), message: error.message.into() }
    }
}

impl From<Result<String, Refusal>> for FfiVerdict {
    fn from(verdict: Result<String, Refusal>) -> Self {
        match verdict {
            Ok(text) => Self { code: RString::new(), text: text.into() },
            Err(refusal) => Self { code: refusal.code.into(), text: refusal.detail.into() },
        }
    }
}

impl From<FfiVerdict> for Result<String, Refusal> {
    fn from(verdict: FfiVerdict) -> Self {
        if verdict.code.is_empty() {
            Ok(verdict.text.into())
        } else {
            Err(Refusal { code: verdict.code.into(), detail: verdict.text.into() })
        }
    }
}
