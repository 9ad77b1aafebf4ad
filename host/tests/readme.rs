//! The tables of the top README hold what the code holds: no code, variable or key is missing, none is invented.

#![expect(clippy::expect_used, reason = "a test fails by it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use host::ledger::schema::config_text;
use host::reasons::{Fatal, Reason};
use plugin_api::{KindDeclaration, LedgerKind as _};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a readable file")
}

/// The rows of the tables under a heading, up to the next heading.
fn rows(heading: &str) -> Vec<String> {
    let readme = read(&root().join("README.md"));
    let (_, rest) = readme.split_once(&format!("\n{heading}\n")).expect("the heading is there");
    let lines = rest.lines().take_while(|line| !line.starts_with('#'));
    lines.filter(|line| line.starts_with("| `")).map(str::to_owned).collect()
}

/// What stands between the first two backquotes of each row.
fn names(heading: &str) -> Vec<String> {
    rows(heading).iter().filter_map(|row| row.split('`').nth(1)).map(str::to_owned).collect()
}

fn row(code: &str, text: &str, remedy: &str) -> String {
    format!("| `{code}` | {text} | {remedy} |")
}

fn kinds() -> [KindDeclaration; 2] {
    [host_issue_debt::rules::IssueDebt.declaration(), host_gpu_reservation::rules::GpuReservation.declaration()]
}

#[test]
fn readme_lists_every_code() {
    let of_host = Reason::ALL.iter().map(|reason| reason.explanation());
    let of_host = of_host.map(|reason| row(reason.code, reason.text, reason.remedy));
    let of_kinds = kinds().into_iter().flat_map(|kind| kind.reasons);
    let of_kinds = of_kinds.map(|reason| row(&reason.code, &reason.text, &reason.remedy));
    let expected: Vec<String> = of_host.chain(of_kinds).collect();
    assert_eq!(rows("### Rejections: one observation is refused, the rest is folded"), expected);
}

#[test]
fn readme_lists_every_fatal_code() {
    let all = Fatal::ALL.iter().map(|fatal| fatal.explanation());
    let expected: Vec<String> = all.map(|fatal| row(fatal.code, fatal.text, fatal.remedy)).collect();
    assert_eq!(rows("### Refusals: the command ends with exit code 1"), expected);
}

#[test]
fn readme_lists_every_warning() {
    let listed: BTreeSet<String> = names("### Warnings: the command goes on").into_iter().collect();
    let mut found = BTreeSet::new();
    for file in sources(&root().join("host/src")) {
        let source = read(&file);
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        found.extend(code.split('"').filter_map(warning).map(str::to_owned));
        found.extend(counted(code).map(str::to_owned));
    }
    assert_eq!(found, listed);
}

/// The code of a text that begins as a warning does: words joined by `_`, a colon, a blank.
fn warning(literal: &str) -> Option<&str> {
    let (code, _) = literal.split_once(": ")?;
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    (code.contains('_') && code.split('_').all(is_word)).then_some(code)
}

/// The codes that stand beside what they count, as in `"reopened", "row(s)"`.
fn counted(source: &str) -> impl Iterator<Item = &str> {
    let literals: Vec<&str> = source.split('"').collect();
    let pairs = literals.windows(3).filter(|three| three[1] == ", " && three[2].ends_with("(s)"));
    pairs.map(|three| three[0]).collect::<Vec<_>>().into_iter()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a readable folder").map(|entry| entry.expect("an entry").path());
    let all = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn readme_lists_every_variable() {
    let source = read(&root().join("host/src/env.rs"));
    let constants = source.lines().filter_map(|line| line.split_once(": &str = \"")?.1.strip_suffix("\";"));
    let found: BTreeSet<String> = constants.map(str::to_owned).collect();
    assert_eq!(found, names("## Environment").into_iter().collect());
}

#[test]
fn readme_lists_every_configuration_key_with_its_default() {
    let [issue_debt, gpu_reservation] = kinds();
    let seed = serde_json::from_str::<serde_json::Value>(&config_text(&[&issue_debt, &gpu_reservation]));
    let seed = seed.expect("the seed is JSON");
    let numbers = seed.as_object().expect("an object").iter().filter(|(_, value)| value.is_number());
    let mut expected: Vec<String> = numbers.map(|(key, value)| format!("| `{key}` | {value} | ")).collect();
    expected.push("| `ledgers.<ledger>.workspace` | the plugin's | ".to_owned());
    let listed = rows("## Configuration");
    assert_eq!(listed.len(), expected.len());
    for (row, start) in listed.iter().zip(&expected) {
        assert!(row.starts_with(start), "{row} does not start with {start}");
    }
}

#[test]
fn readme_lists_every_verb() {
    let of_host = ["init", "append", "reduce", "spool", "show", "history", "verify"].map(str::to_owned);
    let of_kinds = kinds().into_iter().flat_map(|kind| kind.verbs).map(|verb| verb.name);
    let expected: Vec<String> = of_host.into_iter().chain(of_kinds).collect();
    let listed = names("## The verbs").into_iter().map(|usage| usage.split(' ').next().unwrap_or_default().to_owned());
    assert_eq!(listed.collect::<Vec<_>>(), expected);
}
