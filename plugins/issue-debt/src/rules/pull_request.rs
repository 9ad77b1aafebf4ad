//! Whether evidence shows that an entity is a pull request and no issue (L 2.4 with N12).
//!
//! A forge counts issues and pull requests of one repository together, so a link to pull request N of the entity's own
//! repository proves that N is no issue.

use plugin_api::rules::text::is_repo_char;

/// The link in `evidence` that names pull request `issue` of `repo`, `None` when there is none.
///
/// A link is `/pull/` and a number, cut off where its digits end. Two path segments right before it must be the
/// entity's repository, in any ASCII case; a link without them could be of any repository and counts. `issue` is the
/// printed number, so a leading zero in the link never matches, and no number is too long.
pub(super) fn find<'e>(evidence: &'e str, repo: &str, issue: &str) -> Option<&'e str> {
    // Without its last slash, because two links may share one: `o/pull/pull/7` is of repository `o/pull`.
    evidence.match_indices("/pull").find_map(|(at, word)| {
        let digits_at = at + word.len() + 1;
        let number = evidence[at + word.len()..].strip_prefix('/')?;
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let named = repository_at_end(&evidence[..at]);
        let ours = named.is_none_or(|named| named.eq_ignore_ascii_case(repo));
        (ours && &number[..digits] == issue).then(|| &evidence[at - named.map_or(0, str::len)..digits_at + digits])
    })
}

/// `owner/name` at the end of `text`, `None` when it does not end so. The host of a URL is no owner.
fn repository_at_end(text: &str) -> Option<&str> {
    let before_name = text.trim_end_matches(is_repo_char);
    let owner = before_name.strip_suffix('/')?;
    let before_owner = owner.trim_end_matches(is_repo_char);
    let found = before_name.len() < text.len() && before_owner.len() < owner.len() && !before_owner.ends_with("//");
    found.then(|| &text[before_owner.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against issue 7 of `Acme/tool`.
    #[track_caller]
    fn check(evidence: &str, expected: Option<&str>) {
        assert_eq!(find(evidence, "Acme/tool", "7"), expected, "{evidence}");
    }

    #[test]
    fn a_link_to_the_own_pull_request_is_found() {
        check("https://github.com/Acme/tool/pull/7", Some("Acme/tool/pull/7"));
        check("merged in Acme/tool/pull/7, see there", Some("Acme/tool/pull/7"));
    }

    #[test]
    fn the_repository_matches_in_any_ascii_case() {
        check("https://github.com/acme/TOOL/pull/7", Some("acme/TOOL/pull/7"));
    }

    #[test]
    fn a_link_to_another_repository_is_not_ours() {
        check("https://github.com/other/repo/pull/7", None);
        check("Acme/tools/pull/7 and xAcme/tool/pull/7", None);
    }

    #[test]
    fn a_later_own_link_is_found_after_a_foreign_one() {
        check("other/repo/pull/7 then Acme/tool/pull/7", Some("Acme/tool/pull/7"));
    }

    #[test]
    fn a_link_without_a_repository_counts() {
        check("/pull/7", Some("/pull/7"));
        check("see /pull/7", Some("/pull/7"));
        check("tool/pull/7", Some("/pull/7"));
        check("é/pull/7", Some("/pull/7"));
        check("a /tool/pull/7", Some("/pull/7"));
        check("https://github.com/Acme//pull/7", Some("/pull/7"));
    }

    #[test]
    fn the_host_of_a_url_is_not_an_owner() {
        check("https://github.com/pull/7", Some("/pull/7"));
        check("https://github.com/tool/pull/7", Some("/pull/7"));
    }

    #[test]
    fn the_number_is_the_longest_run_of_digits() {
        check("/pull/70", None);
        check("/pull/17", None);
        check("/pull/07", None);
        check("/pull/", None);
        check("/pull/x7", None);
        check("/pull/7x", Some("/pull/7"));
        check("/pull/7/files#r1", Some("/pull/7"));
        check("/pull/7\u{663}", Some("/pull/7"));
        check(&format!("/pull/7{}", "0".repeat(4301)), None);
    }

    #[test]
    fn only_the_exact_path_segment_is_a_link() {
        check("/pulls/7", None);
        check("/Pull/7", None);
        check("pull/7", None);
        check("/pull 7", None);
        check("issue 7", None);
    }

    #[test]
    fn links_that_share_a_slash_are_both_seen() {
        assert_eq!(find("https://x.y/o/pull/pull/7", "o/pull", "7"), Some("o/pull/pull/7"));
        check("Acme/pull/pull/7", None);
    }
}
