//! Says in one line in which way the layouts of two contracts differ. The library's own text has a thousand.

use std::fmt::Display;

use abi_stable::abi_stability::abi_checking::{
    AbiInstability as Fault, AbiInstabilityError, AbiInstabilityErrors, ExpectedFound,
};

/// Which side played the interface in a check; the other one was its implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interface {
    /// The host, because the plugin is as new or newer.
    Host,
    /// The plugin, because it is older.
    Plugin,
}

/// The first difference, as `open_kind > judge > batch: size: host 32, plugin 48`.
pub(super) fn explain(errors: &AbiInstabilityErrors, interface: Interface) -> String {
    let first = errors.errors.iter().find_map(|error| Some((error, error.errs.first()?)));
    match first {
        Some((error, fault)) => format!("{}{}", place(error), describe(fault, interface)),
        None => "the layouts differ".to_owned(),
    }
}

/// Steps that are the crossing's own and say nothing to an author.
const INNER: [&str; 5] = ["__returns", "data", "field_0", "obj", "vtable"];

/// Names of the fields, functions and parameters that lead to the difference.
fn place(error: &AbiInstabilityError) -> String {
    use abi_stable::type_layout::TLFieldOrFunction as Step;
    let steps = error.stack_trace.iter().map(|step| match step.expected {
        Step::Field(field) => field.name(),
        Step::Function(function) => function.name.as_str(),
    });
    let mut steps: Vec<_> = steps
        .filter(|step| !INNER.contains(step) && step.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .collect();
    steps.dedup();
    if steps.is_empty() { String::new() } else { format!("{}: ", steps.join(" > ")) }
}

fn describe(fault: &Fault, interface: Interface) -> String {
    match fault {
        Fault::Size(pair) => sides("size", pair, interface),
        Fault::Alignment(pair) => sides("alignment", pair, interface),
        Fault::Name(pair) => sides("type", pair, interface),
        Fault::Package(pair) => sides("package of the type", pair, interface),
        Fault::PackageVersion(pair) => sides("version of the type's package", pair, interface),
        Fault::MismatchedPrefixSize(pair) => sides("number of first-version fields", pair, interface),
        Fault::GenericParamCount(pair) => sides("type parameters", pair, interface),
        Fault::FieldCountMismatch(pair) => sides("number of fields", pair, interface),
        Fault::UnexpectedField(pair) => {
            sides("field", &pair.as_ref().map(|field| format!("{:?}", field.name())), interface)
        }
        Fault::TooManyVariants(pair) => sides("number of variants", pair, interface),
        Fault::UnexpectedVariant(pair) => sides("variant", pair, interface),
        Fault::MismatchedPrimitive(pair) => {
            sides("type", &pair.as_ref().map(|primitive| format!("{primitive:?}").to_lowercase()), interface)
        }
        Fault::FieldLifetimeMismatch(_) => "lifetimes of a field differ".to_owned(),
        Fault::FnLifetimeMismatch(_) => "lifetimes of a function differ".to_owned(),
        Fault::FnQualifierMismatch(_) => "a function is unsafe on one side only".to_owned(),
        Fault::NonZeroness(_)
        | Fault::TLDataDiscriminant(_)
        | Fault::MismatchedPrefixConditionality(_)
        | Fault::MismatchedExhaustiveness(_)
        | Fault::MismatchedConstParam(_)
        | Fault::ReprAttr(_)
        | Fault::EnumDiscriminant(_)
        | Fault::IncompatibleWithNonExhaustive(_) => "the sort of a type differs".to_owned(),
        Fault::ReentrantLayoutCheckingCall
        | Fault::CyclicTypeChecking { .. }
        | Fault::PackageVersionParseError(_)
        | Fault::NoneExtraChecks
        | Fault::ExtraCheckError(_)
        | Fault::TagError { .. } => "the layouts cannot be compared".to_owned(),
    }
}

fn sides<T: Display>(what: &str, pair: &ExpectedFound<T>, interface: Interface) -> String {
    let (host, plugin) = match interface {
        Interface::Host => (&pair.expected, &pair.found),
        Interface::Plugin => (&pair.found, &pair.expected),
    };
    format!("{what}: host {host}, plugin {plugin}")
}
