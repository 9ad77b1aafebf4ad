//! What leaves the process: data on stdout, warnings and errors on stderr. Texts from outside are made printable here.

use std::cell::RefCell;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstream::ColorChoice;
use plugin_api::Value;
use plugin_api::json::{self, Layout};
use plugin_api::rules::text::{is_hostile, printable};

use super::args::{ColorWhen, Global};
use super::outcome::{CommandError, Outcome, REFUSED};
use crate::reasons;

/// The two streams, and whether they are coloured.
#[derive(Debug)]
pub(super) struct Ui {
    choice: ColorChoice,
    /// Warnings that wait for the end.
    at_end: RefCell<Vec<String>>,
}

impl Ui {
    /// Streams as the flags ask.
    #[must_use]
    pub(super) fn new(global: &Global) -> Self {
        let choice = match global.color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        choice.write_global();
        Self { choice, at_end: RefCell::default() }
    }

    /// Prints data, byte for byte. A reader that went away is no error worth a message, but it ends the command.
    ///
    /// # Errors
    /// [`CommandError::Output`].
    pub(super) fn data(&self, text: &str) -> Result<(), CommandError> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Prints JSON, indented. What must not reach a terminal is escaped: the value is the same.
    ///
    /// # Errors
    /// [`CommandError::Output`].
    pub(super) fn json(&self, value: &Value<'_>) -> Result<(), CommandError> {
        let mut out = String::new();
        for c in json::text(value, Layout::Pretty(0)).chars() {
            match c {
                // Outside of strings JSON has no other control character, inside it has none.
                '\n' => out.push(c),
                // All of them have four digits.
                c if is_hostile(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
        out.push('\n');
        self.data(&out)
    }

    /// Prints JSON that is text already, on one line, escaped as in [`Self::json`].
    ///
    /// # Errors
    /// [`CommandError::Output`].
    pub(super) fn json_text(&self, text: &str) -> Result<(), CommandError> {
        let mut out = String::with_capacity(text.len() + 1);
        for c in text.chars() {
            if is_hostile(c) { out.push_str(&format!("\\u{:04x}", u32::from(c))) } else { out.push(c) }
        }
        out.push('\n');
        self.data(&out)
    }

    /// Prints a page for a person, its styles as the flags and the terminal allow. Nothing else may hold controls.
    ///
    /// # Errors
    /// [`CommandError::Output`].
    pub(super) fn page(&self, text: &str) -> Result<(), CommandError> {
        let mut out = anstream::AutoStream::new(std::io::stdout().lock(), self.choice);
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Prints a line for the person at the terminal, beside the data.
    pub(super) fn note(&self, line: &str) {
        self.stderr(&printable(line));
    }

    /// Prints `warn: <text>` for each warning.
    pub(super) fn warn(&self, warnings: &[String]) {
        for warning in warnings {
            self.stderr(&format!("warn: {}", printable(warning)));
        }
    }

    /// Prints a warning when the command has ended, well or not: the first line of a refusal is its `ERROR`. One that
    /// was given already is not repeated.
    pub(super) fn warn_at_end(&self, warning: String) {
        let mut waiting = self.at_end.borrow_mut();
        if !waiting.contains(&warning) {
            waiting.push(warning);
        }
    }

    /// Whether stderr is a terminal: only then is progress shown.
    #[must_use]
    pub(super) fn shows_progress(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// The only place that prints an error.
    #[must_use]
    pub(super) fn end(&self, result: Result<Outcome, CommandError>) -> ExitCode {
        let code = self.render(result);
        self.warn(&self.at_end.take());
        code
    }

    fn render(&self, result: Result<Outcome, CommandError>) -> ExitCode {
        match result {
            Ok(outcome) => outcome.into(),
            Err(CommandError::Usage(error)) => {
                // A reader that went away cannot be told so.
                let _ = error.print();
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(REFUSED))
            }
            Err(CommandError::Fatal(error)) => self.refuse(REFUSED, &error.code, &error.detail),
            Err(CommandError::Own { error, remedy }) => {
                let exit = self.refuse(REFUSED, &error.code, &error.detail);
                self.note(&format!("help: {remedy}"));
                exit
            }
            Err(CommandError::Verb { exit, error }) => self.refuse(exit, &error.code, &error.detail),
            Err(CommandError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                ExitCode::from(REFUSED)
            }
            Err(CommandError::Output(error)) => self.refuse(REFUSED, "WRITE_FAILED", &format!("stdout: {error}")),
        }
    }

    fn refuse(&self, exit: u8, code: &str, detail: &str) -> ExitCode {
        self.stderr(&format!("ERROR {}: {}", printable(code), printable(detail)));
        if let Some(explanation) = reasons::explain(code) {
            self.stderr(&format!("help: {}", explanation.remedy));
        }
        ExitCode::from(exit)
    }

    fn stderr(&self, line: &str) {
        let mut err = anstream::AutoStream::new(std::io::stderr().lock(), self.choice);
        // There is nowhere left to say that stderr is gone.
        let _ = writeln!(err, "{line}");
    }
}
