//! The command line of an organ, made from its declaration: as if it were built in.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches};
use plugin_api::organ::{Argument, ArgumentType, Arguments, Call, OrganDeclaration, OrganVerb};
use serde_json::Value as Json;

use crate::cli::args::Global;
use crate::plugins::arguments::{parse, placeholder};

/// The verbs of an organ, with their help.
pub(super) fn command(organ: &OrganDeclaration) -> clap::Command {
    let name = format!("host run {}", organ.name);
    // First, because it brings an about of its own.
    let main = <Global as clap::Args>::augment_args(clap::Command::new(name.clone()).bin_name(name));
    let main = verb(&organ.main, main.about(organ.description.clone()));
    let others = organ.verbs.iter().map(|one| verb(one, clap::Command::new(one.name.clone()).about(one.help.clone())));
    let main = main.version(organ.version.clone()).max_term_width(100);
    if organ.verbs.is_empty() {
        return main;
    }
    main.subcommands(others)
        .disable_help_subcommand(true)
        .subcommand_negates_reqs(true)
        .args_conflicts_with_subcommands(true)
}

/// What was typed, as the organ gets it. `environment` is filled by whoever may read it.
pub(super) fn call(organ: &OrganDeclaration, matches: &ArgMatches) -> (Call, Flags) {
    let (declared, matches) = match matches.subcommand() {
        Some((name, given)) => (organ.verb(name).unwrap_or(&organ.main), given),
        None => (&organ.main, matches),
    };
    let arguments: Arguments =
        declared.arguments.iter().filter_map(|one| Some((one.name.clone(), value(one, matches)?))).collect();
    let flags = Flags {
        json: matches.get_flag("json"),
        session_bound: matches.get_one::<u32>("session-bound").copied(),
        state_dir: matches.get_one::<std::path::PathBuf>("state-dir").cloned(),
    };
    (Call { verb: declared.name.clone(), arguments, ..Call::default() }, flags)
}

/// Flags that every verb of an organ takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flags {
    /// Print JSON.
    pub(super) json: bool,
    /// Most units of one session.
    pub(super) session_bound: Option<u32>,
    /// Folder of the state.
    pub(super) state_dir: Option<std::path::PathBuf>,
}

fn verb(declared: &OrganVerb, command: clap::Command) -> clap::Command {
    let codes = declared.exit_codes.iter().map(|exit| format!("  {:<3} {}", exit.code, exit.meaning));
    let codes =
        codes.chain([format!("  {:<3} the host itself failed: plugin missing, not pinned, lost", super::HOST_FAILED)]);
    let mut end = format!("Exit codes:\n{}", codes.collect::<Vec<_>>().join("\n"));
    end.push_str(&format!("\n\nEffect: {}", declared.effect.as_str()));
    let mut command = command.long_about(declared.help.clone()).after_help(end);
    if command.get_about().is_none() {
        command = command.about(declared.help.clone());
    }
    command = command.args(declared.arguments.iter().map(arg));
    let mut groups: Vec<&[String]> = Vec::new();
    for argument in declared.arguments.iter().filter(|one| !one.one_of.is_empty()) {
        if !groups.contains(&argument.one_of.as_slice()) {
            groups.push(&argument.one_of);
        }
    }
    for (index, group) in groups.into_iter().enumerate() {
        command = command.group(ArgGroup::new(format!("one-of-{index}")).args(group).required(true));
    }
    let own = "Options of every organ";
    command
        .arg(Arg::new("json").long("json").help("Print JSON").action(ArgAction::SetTrue).help_heading(own))
        .arg(
            Arg::new("session-bound")
                .long("session-bound")
                .value_name("N")
                .value_parser(clap::value_parser!(u32).range(1..))
                .help("Most units of one session [default: as the organ declares]")
                .help_heading(own),
        )
        .arg(
            Arg::new("state-dir")
                .long("state-dir")
                .value_name("DIR")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .help("Folder of the host's state")
                .help_heading(own),
        )
}

fn arg(declared: &Argument) -> Arg {
    let mut arg = Arg::new(declared.name.clone()).help(declared.help.clone());
    if !declared.positional {
        arg = arg.long(declared.name.clone());
    }
    if declared.kind == ArgumentType::Flag {
        return arg.action(ArgAction::SetTrue);
    }
    let name = if declared.positional { declared.name.to_uppercase() } else { placeholder(&declared.kind).to_owned() };
    arg = arg.value_name(name).required(declared.required);
    arg = match (&declared.kind, declared.multiple) {
        // Only its own words are shown as such; the value is the word itself.
        (ArgumentType::Choice(words), _) => {
            let words: Vec<String> = words.clone();
            arg.value_parser(PossibleValuesParser::new(words).map(Json::String))
        }
        (kind, _) => {
            let kind = kind.clone();
            arg.value_parser(move |word: &str| parse(&kind, word).map_err(|why| format!("{word:?} {why}")))
        }
    };
    arg = match (declared.multiple, declared.positional) {
        (true, true) => arg.action(ArgAction::Append).num_args(1..).trailing_var_arg(true),
        (true, false) => arg.action(ArgAction::Append),
        (false, _) => arg.action(ArgAction::Set),
    };
    if !declared.positional {
        arg = arg.allow_hyphen_values(true);
    }
    match &declared.default {
        Some(default) => arg.default_value(default.clone()),
        None => arg,
    }
}

fn value(declared: &Argument, given: &ArgMatches) -> Option<Json> {
    if declared.kind == ArgumentType::Flag {
        return Some(Json::Bool(given.get_flag(&declared.name)));
    }
    let mut values = given.get_many::<Json>(&declared.name)?.cloned();
    if declared.multiple { Some(Json::Array(values.collect())) } else { values.next() }
}
