//! Whether an organ's declaration makes sense. The command line, grants and limits are made from it alone, so that a
//! fault in it is found before anything of it is run.

use std::collections::BTreeSet;

use plugin_api::organ::{Argument, ArgumentType, OrganDeclaration, OrganVerb, Programs};

use super::arguments::parse;

/// Options that every verb of an organ has, and names that clap has taken.
pub const HOST_OPTIONS: [&str; 9] =
    ["allow-unpinned", "color", "help", "json", "plugin-dir", "session-bound", "state-dir", "verbose", "version"];
/// Largest exit code of an organ's own (DECISIONS 1.4).
pub const MAX_EXIT: u8 = 15;

/// Every fault of a declaration, each a sentence that names the offender; none when it makes sense.
#[must_use]
pub fn faults(organ: &OrganDeclaration) -> Vec<String> {
    let mut faults = Vec::new();
    if organ.description.trim().is_empty() {
        faults.push("the description is blank".to_owned());
    }
    if !organ.main.name.is_empty() {
        faults.push(format!("the main verb has the name {:?}; it is called without one", organ.main.name));
    }
    twice("verb", organ.verbs.iter().map(|verb| verb.name.as_str()), &mut faults);
    for verb in &organ.verbs {
        if !is_word(&verb.name, b"-_") || verb.name == "help" {
            faults.push(format!("verb {:?} is not a name, or is the host's own", verb.name));
        }
    }
    for verb in std::iter::once(&organ.main).chain(&organ.verbs) {
        of_verb(verb, &mut faults);
    }
    of_needs(organ, &mut faults);
    twice("result field", organ.result.iter().map(|field| field.name.as_str()), &mut faults);
    of_limits(organ, &mut faults);
    faults
}

/// Services that the organ cannot do without and this host lacks.
#[must_use]
pub fn lacking<'o>(organ: &'o OrganDeclaration, features: &[String]) -> Vec<&'o str> {
    let needed = organ.needs.services.iter().map(String::as_str);
    needed.filter(|needed| !features.iter().any(|feature| feature == needed)).collect()
}

fn of_verb(verb: &OrganVerb, faults: &mut Vec<String>) {
    let name = if verb.name.is_empty() { "the main verb".to_owned() } else { format!("verb {}", verb.name) };
    let mut fault = |text: String| faults.push(format!("{name}: {text}"));
    if verb.help.trim().is_empty() {
        fault("its help is blank".to_owned());
    }
    let mut seen = BTreeSet::new();
    for argument in &verb.arguments {
        if !seen.insert(argument.name.as_str()) || HOST_OPTIONS.contains(&argument.name.as_str()) {
            fault(format!("argument {} stands twice or is the host's own", argument.name));
        }
        of_argument(argument, verb).into_iter().for_each(&mut fault);
    }
    let positional: Vec<&Argument> = verb.arguments.iter().filter(|argument| argument.positional).collect();
    if positional.iter().rev().skip(1).any(|argument| argument.multiple) {
        fault("only the last positional argument may be given several times".to_owned());
    }
    if positional.windows(2).any(|pair| !pair[0].required && pair[1].required) {
        fault("a required positional argument stands behind one that is not".to_owned());
    }
    let mut codes = BTreeSet::new();
    for exit in &verb.exit_codes {
        if exit.code > MAX_EXIT || !codes.insert(exit.code) {
            fault(format!("exit code {} stands twice or is above {MAX_EXIT}, where the host's begin", exit.code));
        }
    }
    if verb.exit_codes.is_empty() {
        fault("it documents no exit code".to_owned());
    }
}

fn of_argument(argument: &Argument, verb: &OrganVerb) -> Vec<String> {
    let mut faults = Vec::new();
    let name = &argument.name;
    if !is_word(name, b"-") {
        faults
            .push(format!("argument {name:?} is not a name: lower-case letters first, then digits and single dashes"));
    }
    if argument.help.trim().is_empty() {
        faults.push(format!("argument {name}: its help is blank"));
    }
    let flag = argument.kind == ArgumentType::Flag;
    if flag && (argument.required || argument.multiple || argument.positional || argument.default.is_some()) {
        faults.push(format!("argument {name}: a flag is there or not, and nothing else"));
    }
    if argument.required && argument.default.is_some() {
        faults.push(format!("argument {name}: it is required and has a default"));
    }
    if let Some(default) = &argument.default
        && let Err(why) = parse(&argument.kind, default)
    {
        faults.push(format!("argument {name}: its default {default:?} {why}"));
    }
    match &argument.kind {
        ArgumentType::Choice(words) if words.is_empty() => {
            faults.push(format!("argument {name}: there is nothing to choose from"));
        }
        ArgumentType::Integer { min, max } if min > max => {
            faults.push(format!("argument {name}: no integer lies between {min} and {max}"));
        }
        ArgumentType::Text
        | ArgumentType::Flag
        | ArgumentType::Integer { .. }
        | ArgumentType::Choice(_)
        | ArgumentType::Duration
        | ArgumentType::Input
        | ArgumentType::Output
        | ArgumentType::Json => {}
    }
    for other in &argument.one_of {
        match verb.arguments.iter().find(|candidate| candidate.name == *other) {
            Some(other) if other.one_of == argument.one_of => {}
            Some(_) => faults.push(format!("argument {name}: {other} does not list the same one_of")),
            None => faults.push(format!("argument {name}: one_of names {other}, which is no argument")),
        }
    }
    if !argument.one_of.is_empty() && !argument.one_of.contains(name) {
        faults.push(format!("argument {name}: its one_of does not name itself"));
    }
    faults
}

fn of_needs(organ: &OrganDeclaration, faults: &mut Vec<String>) {
    let needs = &organ.needs;
    twice("environment variable", needs.environment.iter().map(|one| one.name.as_str()), faults);
    twice("http base", needs.http.iter().map(|base| base.name.as_str()), faults);
    for base in &needs.http {
        if !(base.base.starts_with("https://") || base.base.starts_with("http://")) {
            faults.push(format!("http base {}: {:?} is no http URL", base.name, base.base));
        }
        if base.authorization.as_ref().is_some_and(|one| one.environment.is_empty() && one.program.is_empty()) {
            faults.push(format!("http base {}: its authorization names no source of a token", base.name));
        }
    }
    if let Programs::Named(names) = &needs.programs {
        for name in names.iter().filter(|name| name.is_empty() || name.contains(['/', '\\'])) {
            faults.push(format!("program {name:?} is not the name of one: no folder belongs to it"));
        }
    }
    twice("service", needs.services.iter().map(String::as_str), faults);
}

fn of_limits(organ: &OrganDeclaration, faults: &mut Vec<String>) {
    let limits = &organ.limits;
    for (name, value) in [
        ("unit_s", limits.unit_s),
        ("memory_mib", limits.memory_mib),
        ("open_files", limits.open_files),
        ("session_units", limits.session_units),
        ("session_s", limits.session_s),
    ] {
        if value == 0 {
            faults.push(format!("limit {name} is 0, so that nothing could run"));
        }
    }
    if organ.cadence.is_some_and(|cadence| cadence.every_s == 0) {
        faults.push("the cadence is 0 s".to_owned());
    }
}

fn twice<'n>(sort: &str, names: impl Iterator<Item = &'n str>, faults: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            faults.push(format!("a {sort} has no name"));
        } else if !seen.insert(name) {
            faults.push(format!("{sort} {name} stands twice"));
        }
    }
}

/// Lower-case letters and digits, a letter first, with single `marks` between them.
fn is_word(name: &str, marks: &[u8]) -> bool {
    let bytes = name.as_bytes();
    let letter = |byte: &u8| byte.is_ascii_lowercase();
    let ends = bytes.first().is_some_and(letter) && bytes.last().is_some_and(u8::is_ascii_alphanumeric);
    let known = bytes.iter().all(|byte| letter(byte) || byte.is_ascii_digit() || marks.contains(byte));
    ends && known && !bytes.windows(2).any(|pair| marks.contains(&pair[0]) && marks.contains(&pair[1]))
}

#[cfg(test)]
mod tests {
    use plugin_api::organ::ExitCode;

    use super::*;

    fn sound() -> OrganDeclaration {
        let main = OrganVerb {
            help: "Do it".into(),
            arguments: vec![Argument { name: "pr".into(), help: "Which".into(), ..Argument::default() }],
            exit_codes: vec![ExitCode { code: 0, meaning: "done".into() }],
            ..OrganVerb::default()
        };
        OrganDeclaration { name: "a".into(), description: "A".into(), main, ..OrganDeclaration::default() }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut OrganDeclaration), expected: &str) {
        let mut organ = sound();
        change(&mut organ);
        assert_eq!(faults(&organ), [expected]);
    }

    #[test]
    fn a_sound_declaration_has_no_fault() {
        assert_eq!(faults(&sound()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_names_its_offender() {
        check(|organ| organ.description.clear(), "the description is blank");
        check(|organ| organ.main.exit_codes.clear(), "the main verb: it documents no exit code");
        check(
            |organ| organ.main.exit_codes[0].code = 16,
            "the main verb: exit code 16 stands twice or is above 15, where the host's begin",
        );
        check(
            |organ| organ.main.arguments[0].name = "json".into(),
            "the main verb: argument json stands twice or is the host's own",
        );
    }

    #[test]
    fn a_default_must_be_what_could_be_typed() {
        check(
            |organ| {
                organ.main.arguments[0].kind = ArgumentType::Integer { min: 1, max: 9 };
                organ.main.arguments[0].default = Some("10".into());
            },
            "the main verb: argument pr: its default \"10\" is not between 1 and 9",
        );
    }

    #[test]
    fn one_of_names_arguments_that_say_the_same() {
        check(
            |organ| organ.main.arguments[0].one_of = vec!["pr".into(), "issue".into()],
            "the main verb: argument pr: one_of names issue, which is no argument",
        );
    }

    #[test]
    fn programs_have_names_and_limits_are_not_0() {
        check(
            |organ| organ.needs.programs = Programs::Named(vec!["/bin/sh".into()]),
            "program \"/bin/sh\" is not the name of one: no folder belongs to it",
        );
        check(|organ| organ.limits.unit_s = 0, "limit unit_s is 0, so that nothing could run");
    }

    #[test]
    fn what_a_host_lacks_is_named() {
        let mut organ = sound();
        organ.needs.services = vec!["clock".into(), "git".into()];
        assert_eq!(lacking(&organ, &["clock".to_owned()]), ["git"]);
    }
}
