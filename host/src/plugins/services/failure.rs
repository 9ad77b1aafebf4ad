//! Failures that several services give, in one wording.

use std::error::Error;
use std::fmt::Display;

use plugin_api::Failure;

/// A question for something that neither the declaration nor the run allows.
///
/// `asked` is what was asked for, `listed` what is allowed, `remedy` half a sentence on what to do.
pub(super) fn not_granted(asked: impl Display, listed: &[String], remedy: &str) -> Failure {
    let allowed = if listed.is_empty() { "nothing of the kind".to_owned() } else { listed.join(", ") };
    Failure::new("not_granted", format!("{asked} was not granted; allowed is {allowed}; {remedy}"))
}

/// A question that is not of the contract.
pub(super) fn invalid(what: impl Display) -> Failure {
    Failure::new("invalid_request", what.to_string())
}

/// More than `limit` bytes of `what`.
pub(super) fn too_large(what: impl Display, limit: u64, remedy: &str) -> Failure {
    Failure::new("too_large", format!("{what} has more than {limit} bytes; {remedy}"))
}

/// An error with all its causes, on one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_was_asked_what_is_allowed_and_what_to_do() {
        let failure = not_granted("program curl", &["git".into(), "gh".into()], "declare it");
        assert_eq!(failure.code, "not_granted");
        assert_eq!(failure.message, "program curl was not granted; allowed is git, gh; declare it");
        assert!(not_granted("x", &[], "y").message.contains("nothing of the kind"));
    }
}
