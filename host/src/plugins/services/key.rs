//! Any text as the name of a file: no two texts have the same, on no system.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::file::base16;

/// Longest name in bytes that is written out. Systems allow 255, and suffixes follow.
const LONGEST: usize = 160;
/// How much of a longer one is kept for people.
const HEAD: usize = 60;

/// The name of a file for any text.
///
/// Lower-case letters, digits, `-`, `_` and dots stay; every other byte is `%` and two digits, also capitals, because a
/// volume may ignore case. `mark` stands in front: it makes the empty text a name, and no name hidden, a device's or
/// git's. A long text ends with `~` and its digest.
pub(super) fn file_name(mark: &str, text: &str) -> String {
    let mut name = format!("{mark}-");
    for (index, byte) in text.bytes().enumerate() {
        let is_last = index + 1 == text.len();
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            // A dot at the end is dropped by some systems.
            b'.' if !is_last => name.push('.'),
            _ => {
                let _never_fails = write!(name, "%{byte:02X}");
            }
        }
    }
    if name.len() > LONGEST {
        name.truncate(HEAD);
        name.push('~');
        name.push_str(&base16(&Sha256::digest(text.as_bytes())));
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_texts_are_legible_and_others_are_escaped() {
        assert_eq!(file_name("s", "owner/repo.x"), "s-owner%2Frepo.x");
        assert_eq!(file_name("s", ""), "s-");
        assert_eq!(file_name("s", "Owner"), "s-%4Fwner");
        assert_eq!(file_name("s", ".."), "s-.%2E");
        assert_eq!(file_name("s", "é\0"), "s-%C3%A9%00");
    }

    #[test]
    fn a_long_text_has_a_name_of_its_own_that_fits() {
        let one = file_name("s", &"a".repeat(5000));
        let other = file_name("s", &"a".repeat(5001));
        assert!(one != other && one.len() < 200);
    }

    proptest! {
        #[test]
        fn different_texts_have_names_that_differ_in_more_than_case(one in ".{0,80}", other in ".{0,80}") {
            let names = (file_name("s", &one).to_lowercase(), file_name("s", &other).to_lowercase());
            prop_assert_eq!(one == other, names.0 == names.1);
            prop_assert!(names.0.bytes().all(|byte| byte.is_ascii_graphic() && !b"/\\:*?\"<>|".contains(&byte)));
        }
    }
}
