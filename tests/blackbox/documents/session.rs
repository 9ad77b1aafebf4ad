//! A document's sessions: its `console` blocks, played in one shell and compared.
//!
//! A line that starts with `$ ` is typed, `> ` continues it, and what follows is what it prints on stdout and stderr.
//! A line that ends in ` ...` leaves its rest out; a line that is `...` leaves out any number of lines.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use host_tests::{World, artifacts};

/// Stands before each command's output. No text of the host has it: control characters are made printable.
const MARK: char = '\u{1e}';

/// The sessions of one document.
pub(super) struct Session {
    steps: Vec<Step>,
}

struct Step {
    line: usize,
    command: String,
    printed: Vec<String>,
}

impl Session {
    /// Reads the `console` blocks of a document.
    pub(super) fn of(document: &str) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        let mut inside = false;
        for (index, line) in document.lines().enumerate() {
            if line.starts_with("```") {
                inside = line == "```console";
            } else if !inside {
            } else if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { line: index + 1, command: command.to_owned(), printed: Vec::new() });
            } else {
                let step = steps.last_mut().unwrap_or_else(|| panic!("line {}: output of no command", index + 1));
                match line.strip_prefix("> ").filter(|_| step.printed.is_empty()) {
                    Some(more) => write!(step.command, "\n{more}").unwrap(),
                    None => step.printed.push(line.to_owned()),
                }
            }
        }
        Self { steps }
    }

    /// Plays every command in one shell, the built host first on its path, and compares what is printed. Each folder
    /// that the document names stands for a folder of the world.
    ///
    /// # Panics
    /// When there is nothing to play, or the document shows something else than what is printed.
    #[track_caller]
    pub(super) fn play(&self, world: &World, folders: &[(&str, &str)]) {
        assert!(!self.steps.is_empty(), "the document has no session");
        let printed = self.run(world, folders);
        let outputs: Vec<&str> = printed.split(MARK).skip(1).collect();
        let mut differing = String::new();
        for (index, step) in self.steps.iter().enumerate() {
            let found: Vec<&str> = outputs.get(index).map(|output| output.lines().collect()).unwrap_or_default();
            if !matches(&step.printed, &found) {
                let found = found.join("\n");
                write!(differing, "\nline {}: $ {}\n{found}\n", step.line, step.command).unwrap();
            }
        }
        assert_eq!(differing, "", "the document does not show what these commands print:\n{differing}");
    }

    fn run(&self, world: &World, folders: &[(&str, &str)]) -> String {
        // The mark keeps `$?`, so that a session can show it.
        let mut script = format!("exec 2>&1\nmark() {{ kept=$?; printf '{MARK}'; return $kept; }}\n");
        for step in &self.steps {
            writeln!(script, "mark\n{}", step.command).unwrap();
        }
        for (shown, real) in folders {
            script = script.replace(shown, &world.path(real));
        }
        let beside = artifacts::host().parent().unwrap().to_string_lossy();
        let output = Command::new("/bin/sh")
            .args(["-c", &script])
            .current_dir(artifacts::repository())
            .env_clear()
            .envs([("PATH", format!("{beside}:/usr/bin:/bin")), ("HOME", world.path("home")), ("LC_ALL", "C".into())])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        folders.iter().fold(printed, |printed, (shown, real)| printed.replace(&world.path(real), shown))
    }
}

/// Whether the printed lines are those shown.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((gap, rest)), _) if gap == "..." => (0..=printed.len()).any(|left| matches(rest, &printed[left..])),
        (Some((line, rest)), Some((found, others))) => {
            let same = line.strip_suffix(" ...").map_or(line == found, |start| found.starts_with(start));
            same && matches(rest, others)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[test]
fn a_line_and_a_gap_may_be_left_out_and_nothing_else() {
    #[track_caller]
    fn check(shown: &[&str], expected: bool) {
        let shown: Vec<String> = shown.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(matches(&shown, &["one two", "three", "four"]), expected, "{shown:?}");
    }
    check(&["one two", "three", "four"], true);
    check(&["one ...", "three", "four"], true);
    check(&["one two", "...", "four"], true);
    check(&["..."], true);
    check(&["one two", "three", "four", "..."], true);
    check(&["one", "three", "four"], false);
    check(&["one two", "three"], false);
    check(&["one two", "...", "three"], false);
    check(&["one two", "three", "four", "five"], false);
}
