//! `host plugin test`: runs the conformance suite on a library, each check in a process of its own.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use plugin_api::Value;
use plugin_api::rules::text::printable;

use crate::cli::outcome::{CommandError, Outcome};
use crate::cli::ui::Ui;
use crate::ledger::fatal::FatalError;
use crate::plugins::conformance::{Demand, TestError, demands, run as measure, subjects};
use crate::reasons::Fatal;

/// How long one check may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most bytes that are kept of what a check's process printed.
const MOST: usize = 64 << 10;
/// Begins the line on which a check's process says what it found; whatever else stands there the plugin printed.
const FOUND: &str = "found: ";
/// What it says when nothing is wrong.
const SOUND: &str = "sound";

/// One check and what was found.
struct Checked {
    name: String,
    demand: Demand,
    found: Result<(), String>,
}

/// Runs every check, or with `check` one check of one name in this very process.
pub(super) fn run(file: &Path, one: Option<(&str, &str)>, json: bool, ui: &Ui) -> Result<Outcome, CommandError> {
    if let Some((name, check)) = one {
        let found = measure(file, name, check).map_err(|error| refused(&error))?;
        let said = found.err().map_or_else(|| SOUND.to_owned(), |why| why.replace('\n', " "));
        ui.data(&format!("\n{FOUND}{said}\n"))?;
        return Ok(Outcome::OK);
    }
    let subjects = subjects(file).map_err(|error| refused(&error))?;
    let mut results = Vec::new();
    for (role, name) in subjects {
        for demand in demands(role) {
            let found = in_child(file, &name, demand.name);
            if !json {
                ui.data(&line(&name, demand, &found))?;
            }
            results.push(Checked { name: name.clone(), demand, found });
        }
    }
    let failed = results.iter().filter(|result| result.found.is_err()).count();
    if json {
        ui.json(&Value::object([("checks", Value::List(results.iter().map(object).collect()))]))?;
    } else {
        ui.data(&format!("{} checks, {failed} failed\n", results.len()))?;
    }
    Ok(if failed == 0 { Outcome::OK } else { Outcome::REFUSED })
}

fn line(name: &str, demand: Demand, found: &Result<(), String>) -> String {
    match found {
        Ok(()) => format!("ok    {name}  {}\n", demand.name),
        Err(why) => format!("FAIL  {name}  {}: {}\n      it {}\n", demand.name, printable(why), demand.demand),
    }
}

fn object(result: &Checked) -> Value<'_> {
    Value::object([
        ("name", Value::from(result.name.as_str())),
        ("check", Value::from(result.demand.name)),
        ("demand", Value::from(result.demand.demand)),
        ("passed", Value::Bool(result.found.is_ok())),
        ("found", result.found.as_ref().err().map_or(Value::Null, |why| Value::from(why.as_str()))),
    ])
}

/// Makes one check in a process of its own: it may crash, or never end.
fn in_child(file: &Path, name: &str, check: &str) -> Result<(), String> {
    let host = std::env::current_exe().map_err(|error| format!("the host's own binary cannot be found: {error}"))?;
    let started = Command::new(host)
        .args(["plugin", "test", "--name", name, "--check", check])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = started.map_err(|error| format!("the check's process did not start: {error}"))?;
    let (status, out, err) = ended(child)?;
    // The last one: a plugin may print the same word, but not after the host has.
    let found = out.lines().filter_map(|line| line.strip_prefix(FOUND)).next_back();
    match (found, status.success()) {
        (Some(SOUND), true) => Ok(()),
        (Some(why), true) => Err(why.to_owned()),
        (Some(_) | None, _) => Err(format!("its process ended with {status}{}", last_line(&err))),
    }
}

fn last_line(text: &str) -> String {
    text.lines().rfind(|line| !line.trim().is_empty()).map_or_else(String::new, |line| format!(": {line}"))
}

/// Waits for a process and what it printed. One that is too late is killed.
fn ended(mut child: Child) -> Result<(ExitStatus, String, String), String> {
    let (sender, receiver) = mpsc::channel();
    let streams = (child.stdout.take(), child.stderr.take());
    let (Some(out), Some(err)) = streams else { return Err("its output cannot be read".to_owned()) };
    let read = std::thread::spawn(move || {
        let errors = std::thread::spawn(move || text(err));
        let out = text(out);
        // Nobody waits any more when it was too late.
        let _ = sender.send(());
        (out, errors.join().unwrap_or_default())
    });
    let late = receiver.recv_timeout(PATIENCE).is_err();
    if late {
        child.kill().map_err(|error| format!("it does not end and cannot be killed: {error}"))?;
    }
    let status = child.wait().map_err(|error| format!("its end cannot be told: {error}"))?;
    if late {
        return Err(format!("it did not end within {} s", PATIENCE.as_secs()));
    }
    let (out, err) = read.join().map_err(|_| "its output cannot be read".to_owned())?;
    Ok((status, out, err))
}

/// The last part of what a stream brings; it is read to its end.
fn text(mut stream: impl std::io::Read) -> String {
    let mut kept = Vec::new();
    let mut chunk = [0; 8192];
    while let Ok(read) = stream.read(&mut chunk) {
        if read == 0 {
            break;
        }
        kept.extend_from_slice(&chunk[..read]);
        if kept.len() > 2 * MOST {
            kept.drain(..kept.len() - MOST);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn refused(error: &TestError) -> FatalError {
    let code = match error {
        TestError::Library(error) => error.code(),
        TestError::Incompatible(_) => Fatal::PluginIncompatible,
        TestError::Load(error) => error.code(),
        TestError::Unknown(_) => Fatal::MissingInput,
    };
    code.of(error)
}
