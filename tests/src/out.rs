//! What a finished command left: exit, stdout, stderr.

use std::process::ExitStatus;

use serde_json::Value;

/// The outcome of one run of the host. Every test looks at it: a run whose outcome nobody reads proves nothing.
/// [`Out::succeeds`] and its like look at it, and give a [`Checked`] for what else there is to see.
#[must_use]
#[derive(Clone, Debug)]
pub struct Out {
    command: String,
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Out {
    pub(crate) fn new(command: String, status: ExitStatus, stdout: String, stderr: String) -> Self {
        Self { command, status, stdout, stderr }
    }

    /// The exit code.
    ///
    /// # Panics
    /// When a signal ended the command.
    #[must_use]
    #[track_caller]
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("no exit code:\n{self}"))
    }

    /// The exit code, `None` when a signal ended the command.
    #[must_use]
    pub fn code_or_killed(&self) -> Option<i32> {
        self.status.code()
    }

    /// Whether a signal ended the command.
    #[must_use]
    pub fn killed(&self) -> bool {
        self.status.code().is_none()
    }

    /// What stands on stdout.
    #[must_use]
    pub fn stdout(&self) -> &str {
        &self.stdout
    }

    /// What stands on stderr.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Stdout as one JSON value.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("stdout is not JSON ({error}):\n{self}"))
    }

    /// The code of the first stderr line, which must read `ERROR <code>: <detail>` with a detail.
    ///
    /// # Panics
    /// When the line reads otherwise.
    #[must_use]
    #[track_caller]
    pub fn first_error_code(&self) -> &str {
        let line = self.stderr.lines().next().unwrap_or_default();
        match line.strip_prefix("ERROR ").and_then(|rest| rest.split_once(": ")) {
            Some((code, detail)) if !detail.trim().is_empty() => code,
            _ => panic!("the first stderr line is not `ERROR <code>: <detail>`:\n{self}"),
        }
    }

    /// The texts after `warn: ` on stderr, in order.
    #[must_use]
    pub fn warnings(&self) -> Vec<&str> {
        self.stderr.lines().filter_map(|line| line.strip_prefix("warn: ")).collect()
    }

    /// The warning with this code, if there is exactly one.
    ///
    /// # Panics
    /// When there are several.
    #[must_use]
    #[track_caller]
    pub fn warning(&self, code: &str) -> Option<&str> {
        let mut found = self
            .warnings()
            .into_iter()
            .filter(|warning| warning.strip_prefix(code).is_some_and(|rest| rest.starts_with(':')));
        let first = found.next();
        assert!(found.next().is_none(), "{code} is warned twice:\n{self}");
        first
    }

    /// Demands exit 0.
    ///
    /// # Panics
    /// On any other end.
    #[track_caller]
    pub fn succeeds(self) -> Checked {
        assert_eq!(self.status.code(), Some(0), "\n{self}");
        Checked(self)
    }

    /// Demands exit 1 with `code` on the first line of stderr and nothing on stdout.
    ///
    /// # Panics
    /// On any other end.
    #[track_caller]
    pub fn refused(self, code: &str) -> Checked {
        assert_eq!(self.status.code(), Some(1), "expected {code}\n{self}");
        assert_eq!(self.first_error_code(), code, "\n{self}");
        assert_eq!(self.stdout, "", "a refusal prints no data\n{self}");
        Checked(self)
    }

    /// Demands a usage error: exit 2, nothing on stdout, something on stderr.
    ///
    /// # Panics
    /// On any other end.
    #[track_caller]
    pub fn misused(self) -> Checked {
        assert_eq!(self.status.code(), Some(2), "\n{self}");
        assert_eq!(self.stdout, "", "a usage error prints no data\n{self}");
        assert_ne!(self.stderr, "", "a usage error says what is wrong\n{self}");
        Checked(self)
    }
}

impl std::fmt::Display for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "$ {}\n{}\n--- stdout\n{}\n--- stderr\n{}", self.command, self.status, self.stdout, self.stderr)
    }
}

/// An outcome whose exit a test has looked at.
#[derive(Clone, Debug)]
pub struct Checked(Out);

impl std::ops::Deref for Checked {
    type Target = Out;

    fn deref(&self) -> &Out {
        &self.0
    }
}

impl std::fmt::Display for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
