//! The command line: arguments in, outcome out. One file a command.

mod args;
mod explain;
mod kinds;
mod ledger;
mod logging;
mod organ;
pub mod outcome;
mod plugin;
mod ui;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use self::args::{Cli, Command, Global};
use self::outcome::{CommandError, Outcome};
use self::ui::Ui;
use crate::plugins::worker::serve;
use crate::reasons::Fatal;

/// Parses the arguments, runs the command and renders its end.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => {
            let global = cli.effective_global();
            let ui = Ui::new(&global);
            logging::start(&global);
            ui.end(run(cli.command, &global, &ui))
        }
        Err(error) => Ui::new(&Global::default()).end(Err(error.into())),
    }
}

fn run(command: Command, global: &Global, ui: &Ui) -> Result<Outcome, CommandError> {
    match command {
        Command::Run { name, args, help } => {
            let help = help.then(|| OsString::from("--help"));
            let args: Vec<OsString> = help.into_iter().chain(args).collect();
            ledger::run(name.as_deref(), &args, global, ui)
        }
        Command::Worker => worker(),
        Command::Plugin(verb) => plugin::run(verb, global, ui),
        Command::Explain { code, json } => {
            explain::run(ui, code.as_deref(), json, &kinds::own_reasons(global, ui, code.as_deref()))
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "host", &mut script);
            ui.data(&String::from_utf8_lossy(&script))?;
            Ok(Outcome::OK)
        }
        Command::Man { command } => {
            let mut page = Vec::new();
            let man = clap_mangen::Man::new(described(command.as_deref())?);
            man.render(&mut page).map_err(CommandError::Output)?;
            ui.data(&String::from_utf8_lossy(&page))?;
            Ok(Outcome::OK)
        }
    }
}

/// Becomes the process in which an organ runs.
fn worker() -> Result<Outcome, CommandError> {
    serve::serve().map_err(|error| Fatal::MissingInput.of(&error))?;
    Ok(Outcome::OK)
}

/// The whole command line, or one command of it under the name that the page of the whole refers to.
fn described(command: Option<&str>) -> Result<clap::Command, CommandError> {
    let mut whole = Cli::command();
    // Gives the commands the flags that all of them take.
    whole.build();
    let Some(name) = command else { return Ok(whole) };
    match whole.find_subcommand(name) {
        Some(found) => Ok(found.clone().name(format!("host-{name}")).bin_name(format!("host {name}"))),
        None => {
            let message = format!("there is no command {name:?}\n");
            Err(whole.error(clap::error::ErrorKind::InvalidSubcommand, message).into())
        }
    }
}

impl Cli {
    /// The global flags, those behind `run <name>` included: they are parsed with the verb, after the plugin is loaded,
    /// and its loading must be logged and coloured as asked.
    fn effective_global(&self) -> Global {
        let mut global = self.global.clone();
        let Command::Run { args, .. } = &self.command else { return global };
        let mut words = args.iter().map(|word| word.to_string_lossy());
        while let Some(word) = words.next() {
            let (flag, attached) =
                word.split_once('=').map_or((word.as_ref(), None), |(flag, value)| (flag, Some(value)));
            match flag {
                "--" => break,
                "--verbose" => global.verbose += 1,
                "--allow-unpinned" => global.allow_unpinned = true,
                "--color" => {
                    let value = attached.map(str::to_owned).or_else(|| words.next().map(std::borrow::Cow::into_owned));
                    let parsed = value.and_then(|value| clap::ValueEnum::from_str(&value, true).ok());
                    global.color = parsed.unwrap_or(global.color);
                }
                "--plugin-dir" => {
                    let value = attached.map(str::to_owned).or_else(|| words.next().map(std::borrow::Cow::into_owned));
                    global.plugin_dir.extend(value.map(Into::into));
                }
                short
                    if short.len() > 1
                        && short.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte == b'v')) =>
                {
                    global.verbose = global.verbose.saturating_add(u8::try_from(short.len() - 1).unwrap_or(u8::MAX));
                }
                _ => {}
            }
        }
        global
    }
}
