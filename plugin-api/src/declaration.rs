//! What a kind says of itself. The host validates, folds and stores from this alone.
//!
//! A declaration crosses the boundary once, as JSON text, when the plugin is loaded. Unknown keys are ignored, so that a
//! kind built against a newer minor of the contract loads in an older host.

use serde::{Deserialize, Serialize};

/// A ledger kind: its name, the shape of its rows, and what it adds to the host's verbs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindDeclaration {
    /// Name on the command line and in every envelope, e.g. `issue-debt`.
    pub name: String,
    /// Version of the kind, for people (the contract's version is in the manifest).
    pub version: String,
    /// One sentence for `--help`.
    pub description: String,
    /// Workspace of the ledger's dashboard unless the configuration names another.
    pub workspace: String,
    /// What a row is about.
    pub entity: EntityDeclaration,
    /// Fields in the order in which artifacts list them.
    pub fields: Vec<FieldDeclaration>,
    /// Which field ends a row's life, and with which value.
    pub verdict: VerdictDeclaration,
    /// Field of type [`FieldType::UtcTimestamp`] after which a live row is overdue in `show`.
    #[serde(default)]
    pub due: Option<String>,
    /// Whether [`crate::LedgerKind::check`] must be asked for each observation. `false` saves the crossing.
    #[serde(default)]
    pub checks_observations: bool,
    /// Rejection reasons of its own, beside the host's.
    #[serde(default)]
    pub reasons: Vec<ReasonDeclaration>,
    /// Verbs of its own, beside init, append, reduce, spool, show, history, verify.
    #[serde(default)]
    pub verbs: Vec<VerbDeclaration>,
    /// Observations (bare JSON) that must be accepted.
    #[serde(default)]
    pub accepted: Vec<Example>,
    /// Observations that must be refused, each with its reason.
    #[serde(default)]
    pub refused: Vec<RefusedExample>,
}

/// Keys of the entity and how they print as one row key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityDeclaration {
    /// Keys in stored order; an observation must have exactly these.
    pub keys: Vec<EntityKey>,
    /// The row key, part by part. `--entity` accepts the same parts with blanks between them, digits with leading
    /// zeros, and literals in any ASCII case.
    pub row_key: Vec<KeyPart>,
    /// The row key as documentation prints it, e.g. `owner/repo#N`.
    pub printed: String,
}

/// One key of the entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityKey {
    /// Key in the `entity` object.
    pub name: String,
    /// What its value must be.
    #[serde(rename = "type")]
    pub kind: EntityKeyType,
}

/// Types of entity keys (L 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntityKeyType {
    /// `owner/name`, stored stripped.
    Repo,
    /// ASCII letters, digits, `.`, `_`, `-`; stored stripped.
    Machine,
    /// Integer above 0.
    Positive,
    /// Integer from 0.
    Index,
}

impl EntityKeyType {
    /// Whether the value is an integer (else it is text).
    #[must_use]
    pub fn is_integer(self) -> bool {
        match self {
            Self::Repo | Self::Machine => false,
            Self::Positive | Self::Index => true,
        }
    }
}

/// One part of a row key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyPart {
    /// The value of the entity key of this name.
    Key(String),
    /// Text that stands as it is, e.g. `#`.
    Literal(String),
}

/// One field of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDeclaration {
    /// Key in the `fields` object.
    pub name: String,
    /// What its values must be.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// One sentence for `schema.json` and `--help`.
    pub description: String,
}

/// Types of fields (L 2.3). The host checks and normalises all but [`FieldType::Custom`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldType {
    /// Exactly one of the values, no blanks around it, case matters.
    Enum(Vec<String>),
    /// `true` or `false`.
    Bool,
    /// Integer from 0.
    Int,
    /// Integer or float from 0, stored as a float with three decimals.
    Hours,
    /// Text that is not blank, stored with each run of white space as one blank.
    Text,
    /// `machine` or `machine:machine`, stored stripped.
    Lane,
    /// A time with a UTC offset, stored as `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`.
    UtcTimestamp,
    /// `owner/name#N`, stored stripped.
    IssueRef,
    /// Checked and normalised by the kind; the text is the type's name, e.g. `dependencies`.
    Custom(String),
}

impl FieldType {
    /// Name of the type in `schema.json` and in help texts.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Enum(_) => "enum",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Hours => "hours",
            Self::Text => "text",
            Self::Lane => "lane",
            Self::UtcTimestamp => "utc-timestamp",
            Self::IssueRef => "issue-ref",
            Self::Custom(name) => name,
        }
    }

    /// Values of an enum, in their order; empty for every other type.
    #[must_use]
    pub fn values(&self) -> &[String] {
        match self {
            Self::Enum(values) => values,
            Self::Bool
            | Self::Int
            | Self::Hours
            | Self::Text
            | Self::Lane
            | Self::UtcTimestamp
            | Self::IssueRef
            | Self::Custom(_) => &[],
        }
    }
}

/// A row is historical while `field` holds `terminal`, and live again when a newer observation says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictDeclaration {
    /// Name of a field of type [`FieldType::Enum`].
    pub field: String,
    /// One of its values.
    pub terminal: String,
}

/// A rejection reason of the kind's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonDeclaration {
    /// Stable code in lower case with underscores.
    pub code: String,
    /// What the code means, one sentence.
    pub text: String,
    /// What the sender should do, one sentence.
    pub remedy: String,
}

/// A verb of the kind's own: `host run <kind> <name>`. The host adds `--state-dir`, `--snapshot`, `--now` and `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerbDeclaration {
    /// Name on the command line.
    pub name: String,
    /// Other spellings that are accepted.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// One sentence for `--help`.
    pub help: String,
    /// What its exit codes mean, a line each, for `--help`.
    #[serde(default)]
    pub exit_codes: Vec<String>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<VerbArgument>,
}

/// An argument of a verb, always an option `--name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerbArgument {
    /// Name without the two dashes.
    pub name: String,
    /// One sentence for `--help`.
    pub help: String,
    /// Whether it takes a value.
    #[serde(rename = "type")]
    pub kind: VerbArgumentType,
    /// Whether leaving it out is a usage error.
    #[serde(default)]
    pub required: bool,
}

/// Types of verb arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerbArgumentType {
    /// Takes one text.
    Text,
    /// Takes no value; present or absent.
    Flag,
}

/// An observation that must be accepted: documentation, conformance input and seed for fuzzing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// What it shows.
    pub title: String,
    /// Bare JSON, as for `append --observation-file`.
    pub observation: String,
}

/// An observation that must be refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedExample {
    /// What it shows.
    pub title: String,
    /// Bare JSON, as for `append --observation-file`.
    pub observation: String,
    /// The reason code that it must get.
    pub reason: String,
}
