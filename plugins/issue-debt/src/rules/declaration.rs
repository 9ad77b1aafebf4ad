//! What the kind declares (L 1.1), and the one home of its words.

use plugin_api::{
    EntityDeclaration, EntityKey, EntityKeyType, FieldDeclaration, FieldType, KeyPart, KindDeclaration,
    ReasonDeclaration, VerdictDeclaration,
};

use super::examples;

/// Entity key: the repository, `owner/name`.
pub(super) const REPO: &str = "repo";
/// Entity key: the issue's number.
pub(super) const ISSUE: &str = "issue";
/// Field: where the issue stands.
pub(super) const STATE_CLASS: &str = "state_class";
/// Field: whether the issue can be closed.
pub(super) const CLOSEABILITY: &str = "closeability";
/// Field: pull requests still to be written.
pub(super) const REMAINING_ATOMIC_PRS: &str = "remaining_atomic_prs";
/// Field: hours of work still to be done.
pub(super) const EAT_HOURS: &str = "eat_hours";
/// Custom field: what the issue waits for.
pub(super) const DEPENDENCIES: &str = "dependencies";
/// Custom field: where the remainder goes once the issue is closed.
pub(super) const FOLLOWUP: &str = "followup";
/// Value of [`STATE_CLASS`] that makes a row historical.
pub(super) const CLOSED: &str = "closed";
/// Value of [`STATE_CLASS`] under which rows without one are totalled (L 9.3).
pub(super) const UNKNOWN: &str = "unknown";
/// Value of [`CLOSEABILITY`] that the summary lists by key.
pub(super) const CLOSEABLE_NOW: &str = "closeable-now";
/// Reason of the extra check (L 2.4).
pub(super) const ENTITY_IS_PR: &str = "entity_is_pr";

/// The declaration.
pub(super) fn declaration() -> KindDeclaration {
    KindDeclaration {
        name: "issue-debt".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        description:
            "What each issue still owes before it can be closed: hours, pull requests, dependencies, follow-up"
                .to_owned(),
        workspace: "CoursIA-issue-debt-ledger".to_owned(),
        entity: entity(),
        fields: fields(),
        verdict: VerdictDeclaration { field: STATE_CLASS.to_owned(), terminal: CLOSED.to_owned() },
        due: None,
        checks_observations: true,
        reasons: vec![ReasonDeclaration {
            code: ENTITY_IS_PR.to_owned(),
            text: "The evidence links a pull request with the entity's own number, so the entity is no issue."
                .to_owned(),
            remedy: "Observe the issue that the pull request works on, or cite evidence about the issue itself."
                .to_owned(),
        }],
        verbs: Vec::new(),
        accepted: examples::accepted(),
        refused: examples::refused(),
    }
}

fn entity() -> EntityDeclaration {
    EntityDeclaration {
        keys: vec![
            EntityKey { name: REPO.to_owned(), kind: EntityKeyType::Repo },
            EntityKey { name: ISSUE.to_owned(), kind: EntityKeyType::Positive },
        ],
        row_key: vec![KeyPart::Key(REPO.to_owned()), KeyPart::Literal("#".to_owned()), KeyPart::Key(ISSUE.to_owned())],
        printed: "owner/repo#N".to_owned(),
    }
}

fn fields() -> Vec<FieldDeclaration> {
    let closeability = [CLOSEABLE_NOW, "closeable-after-followup", "not-closeable", UNKNOWN];
    let state_class = ["open-actionable", "open-blocked", "open-stale", "deferred", CLOSED, UNKNOWN];
    vec![
        field(
            STATE_CLASS,
            words(&state_class),
            "Where the issue stands: open and ready to be worked on, blocked or left alone; put off; closed; or not \
             known.",
        ),
        field(
            CLOSEABILITY,
            words(&closeability),
            "Whether the issue can be closed as it is, once its remainder is followed up elsewhere, or not yet.",
        ),
        field(
            REMAINING_ATOMIC_PRS,
            FieldType::Int,
            "Number of pull requests still to be merged, each small enough to be reviewed on its own.",
        ),
        field(EAT_HOURS, FieldType::Hours, "EAT: estimated hours of work that remain, kept to three decimals."),
        field(
            DEPENDENCIES,
            FieldType::Custom(DEPENDENCIES.to_owned()),
            "What must be done first: a list of issue numbers of the same repository, or of objects with kind \
             (issue, pr, external), repo, number and note.",
        ),
        field(
            FOLLOWUP,
            FieldType::Custom(FOLLOWUP.to_owned()),
            "Where the remainder goes when the issue is closed: an issue (repo, number), a waiver (reason), none, or \
             null.",
        ),
    ]
}

fn field(name: &str, kind: FieldType, description: &str) -> FieldDeclaration {
    FieldDeclaration { name: name.to_owned(), kind, description: description.to_owned() }
}

fn words(values: &[&str]) -> FieldType {
    FieldType::Enum(values.iter().map(|value| (*value).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_types_and_values_are_those_of_the_reference() {
        let printed: Vec<String> = declaration()
            .fields
            .iter()
            .map(|field| format!("{} {} {}", field.name, field.kind.name(), field.kind.values().join(",")))
            .collect();
        assert_eq!(
            printed,
            [
                "state_class enum open-actionable,open-blocked,open-stale,deferred,closed,unknown",
                "closeability enum closeable-now,closeable-after-followup,not-closeable,unknown",
                "remaining_atomic_prs int ",
                "eat_hours hours ",
                "dependencies dependencies ",
                "followup followup ",
            ]
        );
    }

    #[test]
    fn the_row_key_is_repository_hash_issue() {
        let declaration = declaration();
        let keys: Vec<_> = declaration.entity.keys.iter().map(|key| (key.name.as_str(), key.kind)).collect();
        assert_eq!(keys, [("repo", EntityKeyType::Repo), ("issue", EntityKeyType::Positive)]);
        assert_eq!(
            declaration.entity.row_key,
            [KeyPart::Key("repo".into()), KeyPart::Literal("#".into()), KeyPart::Key("issue".into())]
        );
        assert_eq!(
            (declaration.name.as_str(), declaration.workspace.as_str()),
            ("issue-debt", "CoursIA-issue-debt-ledger")
        );
        assert_eq!(
            (declaration.verdict.field.as_str(), declaration.verdict.terminal.as_str()),
            ("state_class", "closed")
        );
        assert!(declaration.checks_observations);
    }

    #[test]
    fn the_readme_lists_every_field_and_reason() {
        let readme = include_str!("../../README.md");
        for field in declaration().fields {
            let row = format!("| `{}` | {} | {} |", field.name, field.kind.name(), field.description);
            assert!(readme.contains(&row), "README.md lacks the row {row}");
        }
        for reason in declaration().reasons {
            let row = format!("| `{}` | {} | {} |", reason.code, reason.text, reason.remedy);
            assert!(readme.contains(&row), "README.md lacks the row {row}");
        }
    }
}
