//! White space, word characters and the patterns of names (L 2.1).

use std::borrow::Cow;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// White space of the ledgers: 29 code points. Unlike [`char::is_whitespace`] it has U+001C to U+001F.
#[must_use]
pub fn is_space(c: char) -> bool {
    matches!(c, '\u{9}'..='\u{d}' | '\u{1c}'..='\u{20}' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// The text without white space at its ends.
#[must_use]
pub fn strip(text: &str) -> &str {
    match text.as_bytes() {
        // The usual case, seen without decoding a character: no white space is a printed character of ASCII.
        [b'!'..=b'~', .., b'!'..=b'~'] | [b'!'..=b'~'] => text,
        _ => text.trim_matches(is_space),
    }
}

/// The text stripped, each inner run of white space as one blank.
#[must_use]
pub fn collapse(text: &str) -> Cow<'_, str> {
    let stripped = strip(text);
    if is_plain(stripped.as_bytes()) {
        return Cow::Borrowed(stripped);
    }
    let mut previous_space = false;
    let collapsed = stripped.chars().all(|c| {
        let space = is_space(c);
        let fine = !space || (c == ' ' && !previous_space);
        previous_space = space;
        fine
    });
    if collapsed {
        return Cow::Borrowed(stripped);
    }
    let words: Vec<&str> = stripped.split(is_space).filter(|word| !word.is_empty()).collect();
    Cow::Owned(words.join(" "))
}

/// Whether there is nothing to collapse, as far as ASCII goes: printed characters with single blanks between them.
fn is_plain(text: &[u8]) -> bool {
    let mut previous = b' ';
    text.iter().all(|byte| {
        let fine = matches!(byte, b'!'..=b'~') || (*byte == b' ' && previous != b' ');
        previous = *byte;
        fine
    })
}

/// Whether nothing is left after stripping.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    strip(text).is_empty()
}

/// General category L* or N*, or `_`. Combining marks and other connectors are not in it.
#[must_use]
pub fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// A character of either half of a repository name.
#[must_use]
pub fn is_repo_char(c: char) -> bool {
    is_word(c) || c == '.' || c == '-'
}

/// `owner/name`, already stripped.
#[must_use]
pub fn is_repo(text: &str) -> bool {
    text.split_once('/').is_some_and(|(owner, name)| is_made_of(owner, is_repo_char) && is_made_of(name, is_repo_char))
}

/// A character of a machine name.
#[must_use]
pub fn is_machine_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// A machine name, already stripped.
#[must_use]
pub fn is_machine(text: &str) -> bool {
    is_made_of(text, is_machine_char)
}

/// An actor or lane: `machine`, or `machine:machine`, already stripped.
#[must_use]
pub fn is_lane(text: &str) -> bool {
    match text.split_once(':') {
        Some((machine, workspace)) => is_machine(machine) && is_machine(workspace),
        None => is_machine(text),
    }
}

/// `owner/name#N` with ASCII digits (N3), already stripped.
#[must_use]
pub fn is_issue_ref(text: &str) -> bool {
    text.split_once('#').is_some_and(|(repo, number)| is_repo(repo) && is_made_of(number, |c| c.is_ascii_digit()))
}

/// The text with control and bidirectional characters as `\u{<hex>}` (N20): what a terminal or page may be given.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let escaped =
        text.chars().map(|c| if is_hostile(c) { format!("\\u{{{:x}}}", u32::from(c)) } else { c.to_string() });
    Cow::Owned(escaped.collect())
}

/// A control or bidirectional character: one that could make a terminal or page show something else than what is there.
#[must_use]
pub fn is_hostile(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_made_of(text: &str, allowed: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_has_29_code_points() {
        assert_eq!((0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| is_space(*c)).count(), 29);
        for c in ['\u{200b}', '\u{180e}', '\u{feff}'] {
            assert!(!is_space(c));
        }
    }

    #[test]
    fn collapse_strips_and_joins_runs_with_one_blank() {
        assert_eq!(collapse("\u{1f}PPO\u{2028}walk "), "PPO walk");
        assert_eq!(collapse("  two   spaces\n and lines "), "two spaces and lines");
        assert!(matches!(collapse(" already fine "), Cow::Borrowed("already fine")));
        assert_eq!(collapse("\u{a0}"), "");
    }

    #[test]
    fn word_characters_are_letters_numbers_and_underscore() {
        for c in ['a', 'Z', '0', '_', 'é', 'ß', '漢', '٣', 'Ⅷ', '½'] {
            assert!(is_word(c), "{c}");
        }
        for c in ['-', '.', '\u{301}', '‿', ' ', '/', '😀'] {
            assert!(!is_word(c), "{c}");
        }
    }

    #[test]
    fn names_are_anchored_at_both_ends() {
        for good in ["o/r", "é-org/r.x_y", "-/."] {
            assert!(is_repo(good), "{good}");
        }
        for bad in ["", "o", "o/", "/r", "a/b/c", "o/r ", "o /r", "o/r#1"] {
            assert!(!is_repo(bad), "{bad}");
        }
        assert!(is_lane("m") && is_lane("a.b-c:d_e"));
        for bad in ["", ":", "a:", ":b", "a:b:c", "two words", "é", "a:b "] {
            assert!(!is_lane(bad), "{bad}");
        }
        assert!(is_issue_ref("o/r#0") && is_issue_ref("é/r#0012"));
        for bad in ["o/r#", "o/r", "o/r#٣", "o/r#1x", "o/r#1#2"] {
            assert!(!is_issue_ref(bad), "{bad}");
        }
    }

    #[test]
    fn hostile_characters_are_shown_by_their_number() {
        assert_eq!(printable("a\u{202e}b\u{1b}[0m\u{7f}"), "a\\u{202e}b\\u{1b}[0m\\u{7f}");
        assert!(matches!(printable("plain é"), Cow::Borrowed(_)));
    }
}
