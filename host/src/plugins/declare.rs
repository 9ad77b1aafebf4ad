//! Whether a declaration makes sense. The host folds and stores from it alone, so that a fault in it is found when the
//! kind is opened and not when a ledger is already written.

use std::collections::BTreeSet;
use std::fmt;

use plugin_api::rules::text::{is_machine_char, is_repo_char};
use plugin_api::{EntityKeyType, FieldType, KeyPart, KindDeclaration, json};

use crate::reasons::Reason;

/// Verbs that every ledger has.
const HOST_VERBS: [&str; 7] = ["init", "append", "reduce", "spool", "show", "history", "verify"];
/// Options that every verb has.
const HOST_OPTIONS: [&str; 9] =
    ["allow-unpinned", "color", "help", "json", "now", "plugin-dir", "snapshot", "state-dir", "verbose"];

/// What a name is a name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The kind itself.
    Kind,
    /// A key of the entity.
    Key,
    /// A field.
    Field,
    /// A value of an enum.
    Value,
    /// A verb or an alias of one.
    Verb,
    /// An argument of a verb.
    Argument,
    /// A reason of the kind's own.
    Reason,
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "kind",
            Self::Key => "entity key",
            Self::Field => "field",
            Self::Value => "enum value",
            Self::Verb => "verb",
            Self::Argument => "argument",
            Self::Reason => "reason",
        })
    }
}

/// A fault in a declaration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A name with other characters than its sort allows.
    #[error("{sort} {name:?} is not a name: lower-case letters first, then digits and {} too", separator(*sort))]
    Name {
        /// What it names.
        sort: Sort,
        /// The name.
        name: String,
    },
    /// A name that stands twice, or that the host has taken.
    #[error("{sort} {name} stands twice or is the host's own")]
    Taken {
        /// What it names.
        sort: Sort,
        /// The name.
        name: String,
    },
    /// No key, no field, or an enum without a value.
    #[error("there is no {0}")]
    None(Sort),
    /// A text that must not be blank.
    #[error("the {0} is blank")]
    Blank(&'static str),
    /// The verdict field is absent, no enum, or lacks the terminal value.
    #[error("the verdict field {field} is not an enum with the value {terminal}")]
    Verdict {
        /// The field.
        field: String,
        /// The value.
        terminal: String,
    },
    /// The due field is absent or no time.
    #[error("the due field {0} is not a utc-timestamp")]
    Due(String),
    /// A row key that does not name each entity key exactly once.
    #[error("the row key does not use the entity key {0} exactly once")]
    RowKeyUse(String),
    /// Two keys whose values could not be told apart.
    #[error("in the row key, the text after {0} is absent or could be a part of its value")]
    RowKeySeparator(String),
    /// An example that is no JSON object.
    #[error("the example {title:?} is not a JSON object: {why}")]
    Example {
        /// Its title.
        title: String,
        /// What is wrong.
        why: String,
    },
    /// A refused example with a reason that nobody has.
    #[error("the refused example {title:?} expects the reason {reason}, which neither host nor kind has")]
    ExampleReason {
        /// Its title.
        title: String,
        /// The reason.
        reason: String,
    },
}

fn separator(sort: Sort) -> &'static str {
    if uses_underscore(sort) { "underscores" } else { "dashes" }
}

fn uses_underscore(sort: Sort) -> bool {
    match sort {
        Sort::Key | Sort::Field | Sort::Reason => true,
        Sort::Kind | Sort::Value | Sort::Verb | Sort::Argument => false,
    }
}

/// All faults of a declaration, in its own order; none when it is sound.
#[must_use]
pub fn faults(declaration: &KindDeclaration) -> Vec<Fault> {
    let mut faults = Vec::new();
    check_names(&mut faults, Sort::Kind, [declaration.name.as_str()], &[]);
    for (what, text) in [("version", &declaration.version), ("workspace", &declaration.workspace)] {
        if text.trim().is_empty() {
            faults.push(Fault::Blank(what));
        }
    }
    check_entity(&mut faults, declaration);
    check_fields(&mut faults, declaration);
    let host_reasons: Vec<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    let reasons = declaration.reasons.iter().map(|reason| reason.code.as_str());
    check_names(&mut faults, Sort::Reason, reasons.clone(), &host_reasons);
    check_verbs(&mut faults, declaration);
    let known: BTreeSet<_> = reasons.chain(host_reasons.iter().copied()).collect();
    check_examples(&mut faults, declaration, &known);
    faults
}

fn check_names<'a>(faults: &mut Vec<Fault>, sort: Sort, names: impl IntoIterator<Item = &'a str>, taken: &[&str]) {
    let mut seen: BTreeSet<_> = taken.iter().copied().collect();
    for name in names {
        if !is_name(name, if uses_underscore(sort) { '_' } else { '-' }) {
            faults.push(Fault::Name { sort, name: name.to_owned() });
        } else if !seen.insert(name) {
            faults.push(Fault::Taken { sort, name: name.to_owned() });
        }
    }
}

fn is_name(name: &str, separator: char) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == separator)
}

fn check_entity(faults: &mut Vec<Fault>, declaration: &KindDeclaration) {
    let entity = &declaration.entity;
    if entity.keys.is_empty() {
        faults.push(Fault::None(Sort::Key));
    }
    check_names(faults, Sort::Key, entity.keys.iter().map(|key| key.name.as_str()), &[]);
    for key in &entity.keys {
        let uses = entity.row_key.iter().filter(|part| is_key(part, &key.name)).count();
        if uses != 1 {
            faults.push(Fault::RowKeyUse(key.name.clone()));
        }
    }
    for (index, part) in entity.row_key.iter().enumerate() {
        let KeyPart::Key(name) = part else { continue };
        let Some(key) = entity.keys.iter().find(|key| key.name == *name) else {
            faults.push(Fault::RowKeyUse(name.clone()));
            continue;
        };
        let separated = match entity.row_key.get(index + 1) {
            None => true,
            Some(KeyPart::Key(_)) => false,
            Some(KeyPart::Literal(text)) => text.chars().next().is_some_and(|first| !may_hold(key.kind, first)),
        };
        if !separated {
            faults.push(Fault::RowKeySeparator(name.clone()));
        }
    }
}

fn is_key(part: &KeyPart, name: &str) -> bool {
    match part {
        KeyPart::Key(key) => key == name,
        KeyPart::Literal(_) => false,
    }
}

/// Whether a value of this type may hold the character, which then could not end it.
fn may_hold(kind: EntityKeyType, c: char) -> bool {
    match kind {
        EntityKeyType::Repo => is_repo_char(c) || c == '/',
        EntityKeyType::Machine => is_machine_char(c),
        EntityKeyType::Positive | EntityKeyType::Index => c.is_ascii_digit(),
    }
}

fn check_fields(faults: &mut Vec<Fault>, declaration: &KindDeclaration) {
    if declaration.fields.is_empty() {
        faults.push(Fault::None(Sort::Field));
    }
    check_names(faults, Sort::Field, declaration.fields.iter().map(|field| field.name.as_str()), &[]);
    for field in &declaration.fields {
        let FieldType::Enum(values) = &field.kind else { continue };
        if values.is_empty() {
            faults.push(Fault::None(Sort::Value));
        }
        let mut seen = BTreeSet::new();
        for value in values {
            if value.trim() != value || value.is_empty() {
                faults.push(Fault::Blank("enum value"));
            } else if !seen.insert(value) {
                faults.push(Fault::Taken { sort: Sort::Value, name: value.clone() });
            }
        }
    }
    let of_type = |name: &str| declaration.fields.iter().find(|field| field.name == name).map(|field| &field.kind);
    let verdict = &declaration.verdict;
    if !of_type(&verdict.field).is_some_and(|kind| kind.values().contains(&verdict.terminal)) {
        faults.push(Fault::Verdict { field: verdict.field.clone(), terminal: verdict.terminal.clone() });
    }
    if let Some(due) = declaration.due.as_deref().filter(|due| of_type(due) != Some(&FieldType::UtcTimestamp)) {
        faults.push(Fault::Due(due.to_owned()));
    }
}

fn check_verbs(faults: &mut Vec<Fault>, declaration: &KindDeclaration) {
    let mut taken = HOST_VERBS.to_vec();
    for verb in &declaration.verbs {
        check_names(faults, Sort::Verb, [verb.name.as_str()], &taken);
        taken.push(&verb.name);
        // An alias may be spelled as another program spells it, e.g. with underscores.
        for alias in &verb.aliases {
            if taken.contains(&alias.as_str()) || alias.trim().is_empty() {
                faults.push(Fault::Taken { sort: Sort::Verb, name: alias.clone() });
            }
            taken.push(alias);
        }
        check_names(faults, Sort::Argument, verb.arguments.iter().map(|one| one.name.as_str()), &HOST_OPTIONS);
    }
}

fn check_examples(faults: &mut Vec<Fault>, declaration: &KindDeclaration, known: &BTreeSet<&str>) {
    let accepted = declaration.accepted.iter().map(|example| (&example.title, &example.observation));
    let refused = declaration.refused.iter().map(|example| (&example.title, &example.observation));
    for (title, observation) in accepted.chain(refused) {
        let why = match json::read(observation) {
            Ok(document) if document.value.as_object().is_some() => continue,
            Ok(document) => format!("it is {}", document.value.kind()),
            Err(error) => error.to_string(),
        };
        faults.push(Fault::Example { title: title.clone(), why });
    }
    for example in declaration.refused.iter().filter(|example| !known.contains(example.reason.as_str())) {
        faults.push(Fault::ExampleReason { title: example.title.clone(), reason: example.reason.clone() });
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Example, LedgerKind as _, RefusedExample};
    use test_plugin_shelf::Shelf;

    use super::*;

    /// The faults of a sound declaration after `change`.
    #[track_caller]
    fn check(change: impl FnOnce(&mut KindDeclaration), expected: &[&str]) {
        let mut declaration = Shelf.declaration();
        change(&mut declaration);
        let found: Vec<_> = faults(&declaration).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sound_declaration_has_no_fault() {
        check(|_| (), &[]);
    }

    #[test]
    fn names_are_lower_case_and_fields_take_underscores() {
        check(
            |kind| {
                kind.name = "Shelf".to_owned();
                kind.fields[1].name = "a-note".to_owned();
            },
            &[
                "kind \"Shelf\" is not a name: lower-case letters first, then digits and dashes too",
                "field \"a-note\" is not a name: lower-case letters first, then digits and underscores too",
            ],
        );
    }

    #[test]
    fn a_blank_workspace_is_a_fault() {
        check(|kind| kind.workspace = " ".to_owned(), &["the workspace is blank"]);
    }

    #[test]
    fn a_field_stands_once() {
        check(|kind| kind.fields[1].name = "state".to_owned(), &["field state stands twice or is the host's own"]);
    }

    #[test]
    fn a_reason_of_the_host_is_not_the_kinds_to_declare() {
        check(
            |kind| kind.reasons[0].code = "unknown_field".to_owned(),
            &[
                "reason unknown_field stands twice or is the host's own",
                "the refused example \"hearsay\" expects the reason hearsay, which neither host nor kind has",
            ],
        );
    }

    #[test]
    fn a_kind_without_fields_has_no_verdict_and_no_due_field_either() {
        check(
            |kind| kind.fields.clear(),
            &[
                "there is no field",
                "the verdict field state is not an enum with the value gone",
                "the due field until is not a utc-timestamp",
            ],
        );
    }

    #[test]
    fn enum_values_are_there_once_and_without_blanks() {
        check(
            |kind| kind.fields[0].kind = FieldType::Enum(["gone", "gone", " full"].map(str::to_owned).to_vec()),
            &["enum value gone stands twice or is the host's own", "the enum value is blank"],
        );
    }

    #[test]
    fn the_terminal_value_is_one_of_the_verdict_field() {
        check(
            |kind| kind.verdict.terminal = "lost".to_owned(),
            &["the verdict field state is not an enum with the value lost"],
        );
        check(
            |kind| kind.verdict.field = "note".to_owned(),
            &["the verdict field note is not an enum with the value gone"],
        );
    }

    #[test]
    fn the_due_field_is_a_time() {
        check(|kind| kind.due = Some("note".to_owned()), &["the due field note is not a utc-timestamp"]);
        check(|kind| kind.due = None, &[]);
    }

    #[test]
    fn the_row_key_uses_each_key_once() {
        check(|kind| kind.entity.row_key.truncate(1), &["the row key does not use the entity key slot exactly once"]);
        check(
            |kind| kind.entity.row_key[2] = KeyPart::Key("slots".to_owned()),
            &[
                "the row key does not use the entity key slot exactly once",
                "the row key does not use the entity key slots exactly once",
            ],
        );
    }

    #[test]
    fn two_keys_are_kept_apart_by_a_text_that_is_no_part_of_the_first() {
        let expected = ["in the row key, the text after machine is absent or could be a part of its value"];
        check(|kind| drop(kind.entity.row_key.remove(1)), &expected);
        check(|kind| kind.entity.row_key[1] = KeyPart::Literal("-slot".to_owned()), &expected);
        check(|kind| kind.entity.row_key[1] = KeyPart::Literal(String::new()), &expected);
    }

    #[test]
    fn a_kind_does_not_take_a_verb_or_an_option_of_the_host() {
        check(|kind| kind.verbs[0].name = "reduce".to_owned(), &["verb reduce stands twice or is the host's own"]);
        check(
            |kind| kind.verbs[0].arguments[0].name = "json".to_owned(),
            &["argument json stands twice or is the host's own"],
        );
        check(
            |kind| kind.verbs[0].arguments[0].name = "allow-unpinned".to_owned(),
            &["argument allow-unpinned stands twice or is the host's own"],
        );
    }

    #[test]
    fn an_alias_may_be_spelled_in_another_way_but_not_be_taken() {
        check(|kind| kind.verbs[0].aliases = vec!["count_all".to_owned()], &[]);
        check(
            |kind| kind.verbs[0].aliases = vec!["count".to_owned()],
            &["verb count stands twice or is the host's own"],
        );
    }

    #[test]
    fn examples_are_json_objects() {
        check(
            |kind| kind.accepted = vec![Example { title: "odd".to_owned(), observation: "[]".to_owned() }],
            &["the example \"odd\" is not a JSON object: it is a list"],
        );
    }

    #[test]
    fn a_refused_example_may_expect_a_reason_of_the_host() {
        let example = |reason: &str| RefusedExample {
            title: "odd".to_owned(),
            observation: "{}".to_owned(),
            reason: reason.to_owned(),
        };
        check(|kind| kind.refused = vec![example("missing_evidence")], &[]);
        check(
            |kind| kind.refused = vec![example("bad")],
            &["the refused example \"odd\" expects the reason bad, which neither host nor kind has"],
        );
    }
}
