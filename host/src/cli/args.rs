//! The command line: what can be typed, and its help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::plugins::pins::Role;

/// End of `host -h`.
const SHORT_END: &str =
    "`host --help` and the manual page say more; `host run <ledger> --help` lists the verbs of a ledger.";

/// End of `host --help`, and the last section of the manual page. A test compares the variables with [`crate::env`].
const LONG_END: &str = "\
A ledger is named after `run`, then a verb, then its flags:

  host run                                 the ledgers that were found
  host run <ledger> --help                 the verbs of a ledger
  host run <ledger> <verb> --help          the flags of a verb

Exit codes: 0 done; 1 refused or failed, and the first line on stderr is `ERROR <code>: <detail>`; 2 the command line \
makes no sense. A verb of a kind may have others, which its --help lists.

Data goes to stdout; warnings (`warn: <code>: <text>`), errors, logs and progress go to stderr.

Environment (an empty variable counts as unset):

  COURSIA_LEDGER_STATE_DIR   folder of all ledgers' state, below --state-dir in precedence
  HOST_STATE_DIR             folder of what organs keep, below --state-dir in precedence
  LOCALAPPDATA, XDG_STATE_HOME, HOME
                             base of that folder where neither is given
  COURSIA_LEDGER_ACTOR       default of `append --actor`
  ROOSYNC_SHARED_PATH        folder that machines share; nothing is written in it
  HOST_PLUGIN_DIR            folders to search for plugins, separated like PATH, after --plugin-dir
  XDG_DATA_HOME              base of the user's plugins, <base>/host/plugins
  RUST_LOG                   which logs are printed; wins over -v
  NO_COLOR                   no colour

Loading a plugin runs its code with all rights of the host. So only these are loaded: those in the folder of the binary, \
those that `host plugin add` pinned, and with --allow-unpinned any that is found.";

/// Shared ledgers for a fleet of agents, each ledger a plugin
///
/// A ledger is what many lanes observed, in an append-only journal: dated, attributed claims about the fields of rows.
/// `host` checks observations before they are posted, folds an export of the journal into one state (of each field the
/// newest admissible observation wins), keeps who said what and why, and shows it. What is particular to a ledger lies in
/// a plugin; everything that touches files lies in the host.
#[derive(Debug, Parser)]
#[command(name = "host", version, max_term_width = 100, after_help = SHORT_END, after_long_help = LONG_END)]
pub(super) struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub(super) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Heading of the flags that every command takes, so that they do not stand between a verb's own.
const EVERY_COMMAND: &str = "Options of every command";

/// Flags that every command takes.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Global {
    /// Search this folder for plugins before the usual ones; may be given several times
    #[arg(long, value_name = "DIR", global = true, help_heading = EVERY_COMMAND)]
    pub(super) plugin_dir: Vec<PathBuf>,
    /// Load plugins too that are neither pinned nor beside the binary, with a warning
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    pub(super) allow_unpinned: bool,
    /// When to colour what a person reads; NO_COLOR is honoured
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t = ColorWhen::Auto,
        global = true,
        help_heading = EVERY_COMMAND
    )]
    pub(super) color: ColorWhen,
    /// Log more on stderr: -v informs, -vv debugs, -vvv traces; RUST_LOG says it in detail
    #[arg(short, long, action = ArgAction::Count, global = true, help_heading = EVERY_COMMAND)]
    pub(super) verbose: u8,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a verb of a ledger (init, append, reduce, spool, show, history, verify and those of its kind), or an organ
    #[command(disable_help_flag = true)]
    Run {
        /// Name of the ledger or organ; `-` and `_` are the same
        name: Option<String>,
        /// The verb and its flags; `host run <name> --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "VERB")]
        args: Vec<OsString>,
        /// Print help: without a ledger which there are, behind a ledger its verbs
        // Ours and not clap's: clap knows no ledgers, and behind a name the flag belongs to the ledger.
        #[arg(short, long)]
        help: bool,
    },
    /// List, inspect, add, remove, verify, write and test plugins; only `test` runs their code
    #[command(subcommand)]
    Plugin(PluginVerb),
    /// Explain a rejection reason or an error code; without a code, list them all
    Explain {
        /// The code as printed, e.g. naive_timestamp or LOCK_TIMEOUT
        code: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// The process in which an organ runs; started by the host
    #[command(hide = true)]
    Worker,
    /// Print the completion script of a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the manual page, or that of one command
    Man {
        /// The command: run, plugin, explain, completions or man
        command: Option<String>,
    },
}

/// What can be done about plugins.
#[derive(Debug, Subcommand)]
pub(super) enum PluginVerb {
    /// List the plugins that are found, a row for each name
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a plugin says of itself, its SHA-256, and whether it fits this host
    Info {
        /// A name that is served, or a file: what has a dot or a separator is a file
        #[arg(value_name = "NAME|FILE")]
        plugin: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy a plugin into the user's plugins and pin it: from then on only these bytes are loaded
    Add {
        /// The library
        file: PathBuf,
        /// Take the place of the added plugins that serve one of its names
        #[arg(long)]
        replace: bool,
    },
    /// Write a plugin crate to start from: it builds, passes its tests and can be loaded as it stands
    New {
        /// What it is to be
        role: PluginRole,
        /// Its name, e.g. disk-room
        name: String,
        /// The folder in which the crate's own folder is made
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
    },
    /// Run the conformance suite on a library, each check in a process of its own. Runs the library's code
    Test {
        /// The library
        file: PathBuf,
        /// Make one check of this name, in this process
        #[arg(long, requires = "check", hide = true)]
        name: Option<String>,
        /// The check
        #[arg(long, requires = "name", hide = true)]
        check: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a plugin that was added, and remove its copy
    Remove {
        /// One of its names; all of them go
        name: String,
    },
    /// Hash the copies of the added plugins and compare them with their pins; exit 1 when one differs
    Verify {
        /// Only the plugin that serves this name
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What a plugin is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PluginRole {
    /// A ledger
    Kind,
    /// A job
    Organ,
}

impl From<PluginRole> for Role {
    fn from(role: PluginRole) -> Self {
        match role {
            PluginRole::Kind => Self::Kind,
            PluginRole::Organ => Self::Organ,
        }
    }
}

/// The verbs that every ledger has.
#[derive(Debug, Subcommand)]
pub(super) enum LedgerVerb {
    /// Create the local state of this ledger; a dry run unless --apply
    Init(InitArgs),
    /// Check an observation and print the line to post
    Append(AppendArgs),
    /// Fold an export onto the state and write snapshot, summary and status
    Reduce(ReduceArgs),
    /// Count the observations that wait in the spools
    Spool(SpoolArgs),
    /// Show the live rows
    Show(ShowArgs),
    /// Show who said what about one row, and what won
    History(HistoryArgs),
    /// Compare the stored state with its digests
    Verify(VerifyArgs),
}

/// Where the state is.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PlaceArgs {
    /// Folder of all ledgers' state
    /// [default: COURSIA_LEDGER_STATE_DIR, else CoursIA/debt-ledgers below LOCALAPPDATA, XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub(super) state_dir: Option<PathBuf>,
}

/// What time it is. Only for verbs to which that matters.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ClockArgs {
    /// Take this UTC time for the present, e.g. 2026-09-17T19:00:00Z
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) now: Option<String>,
}

/// `init`
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Create the files; without it they are only listed
    #[arg(long)]
    pub(super) apply: bool,
    /// State.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Time.
    #[command(flatten)]
    pub(super) clock: ClockArgs,
}

/// `append`
#[derive(Debug, Args)]
pub(super) struct AppendArgs {
    /// Read the observation from this file, or from stdin when it is `-`: one JSON object
    #[arg(long, value_name = "FILE")]
    pub(super) observation_file: Option<PathBuf>,
    /// The row, in the form of its key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(super) entity: Option<String>,
    /// The fields as a JSON object
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(super) fields_json: Option<String>,
    /// Who observes [default: COURSIA_LEDGER_ACTOR, else ai-01]
    #[arg(long, value_name = "LANE", allow_hyphen_values = true)]
    pub(super) actor: Option<String>,
    /// When it was observed [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) observed_at: Option<String>,
    /// low, medium or high [default: medium]
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    pub(super) confidence: Option<String>,
    /// What it rests on [default: manual append]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) evidence: Option<String>,
    /// A remark
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) note: Option<String>,
    /// Write the line to this file, replacing it
    #[arg(long, value_name = "FILE", group = "output")]
    pub(super) out: Option<PathBuf>,
    /// Write the line to <id>.json in this folder
    #[arg(long, value_name = "DIR", group = "output")]
    pub(super) out_dir: Option<PathBuf>,
    /// Write the line to <id>.json in the ledger's spool
    #[arg(long, group = "output")]
    pub(super) spool: bool,
    /// Print a JSON object instead of the line
    #[arg(long)]
    pub(super) json: bool,
    /// Write nothing, whatever output is named
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print nothing
    #[arg(long)]
    pub(super) quiet: bool,
    /// State.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Time.
    #[command(flatten)]
    pub(super) clock: ClockArgs,
}

/// `reduce`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(super) struct ReduceArgs {
    /// The export of the journal
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    /// Fold no journal: baseline and prior snapshot only; --events wins
    #[arg(long)]
    pub(super) no_events: bool,
    /// The prior snapshot [default: snapshots/snapshot.json of the ledger, when it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,
    /// The baseline [default: baseline.json of the ledger, when it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the snapshot here; summary and status keep their places unless told otherwise
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write the summary here
    #[arg(long, value_name = "FILE")]
    pub(super) summary_out: Option<PathBuf>,
    /// Write the status here
    #[arg(long, value_name = "FILE")]
    pub(super) status_out: Option<PathBuf>,
    /// Write no summary
    #[arg(long)]
    pub(super) no_summary: bool,
    /// Write no status
    #[arg(long)]
    pub(super) no_status: bool,
    /// Take an export that declares no window for the whole journal
    #[arg(long)]
    pub(super) window_full: bool,
    /// Fold, but write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print summary and status, write nothing
    #[arg(long)]
    pub(super) stdout: bool,
    /// Exit with 1 when an observation was rejected; the fold is still written
    #[arg(long)]
    pub(super) fail_on_rejections: bool,
    /// Keep what is sound of a damaged prior snapshot; the damaged file is copied first
    #[arg(long)]
    pub(super) salvage: bool,
    /// Reject observations whose actor is not the author of their message
    #[arg(long)]
    pub(super) strict_author: bool,
    /// State.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Time.
    #[command(flatten)]
    pub(super) clock: ClockArgs,
}

/// `spool`
#[derive(Debug, Args)]
pub(super) struct SpoolArgs {
    /// Count what waits, for every ledger
    #[arg(long, required = true)]
    pub(super) status: bool,
    /// Look into this folder instead of the ledgers' spools
    #[arg(long, value_name = "DIR")]
    pub(super) out_dir: Option<PathBuf>,
    /// State.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Time.
    #[command(flatten)]
    pub(super) clock: ClockArgs,
}

/// Which snapshot to read.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct SnapshotArgs {
    /// The snapshot [default: snapshots/snapshot.json of the ledger]
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,
    /// State.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
}

/// `show`
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Show historical rows too
    #[arg(long)]
    pub(super) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Snapshot and state.
    #[command(flatten)]
    pub(super) from: SnapshotArgs,
    /// Time.
    #[command(flatten)]
    pub(super) clock: ClockArgs,
}

/// `history`
#[derive(Debug, Args)]
pub(super) struct HistoryArgs {
    /// The row, in the form of its key
    pub(super) key: String,
    /// Only this field
    pub(super) field: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Snapshot and state.
    #[command(flatten)]
    pub(super) from: SnapshotArgs,
}

/// `verify`
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// State.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
}
