//! What the kind declares (L 1.1, L 10.3), and the one home of its words.

use plugin_api::{
    EntityDeclaration, EntityKey, EntityKeyType, FieldDeclaration, FieldType, KeyPart, KindDeclaration, VerbArgument,
    VerbArgumentType, VerbDeclaration, VerdictDeclaration,
};

use super::examples;
use super::reservation::State;

/// Entity key: the machine.
pub(super) const MACHINE: &str = "machine";
/// Entity key: the device's number on its machine.
pub(super) const GPU_INDEX: &str = "gpu_index";
/// What stands between the two in a row key.
pub(super) const GPU_MARK: &str = "#gpu";
/// Field: whether the device is held.
pub(super) const STATE: &str = "state";
/// Field: the lane that holds it.
pub(super) const HOLDER: &str = "holder";
/// Field: what it is held for.
pub(super) const WORKLOAD: &str = "workload";
/// Field: start of the hold.
pub(super) const STARTED_AT: &str = "started_at";
/// Field: end of the hold.
pub(super) const EXPECTED_END: &str = "expected_end";
/// Field: the issue behind the workload.
pub(super) const ISSUE: &str = "issue";
/// Verb: may a lane run on a device now?
pub(super) const CHECK_PENDING: &str = "check-pending";
/// Argument of [`CHECK_PENDING`]: the device.
pub(super) const ENTITY: &str = "entity";
/// Argument of [`CHECK_PENDING`]: the lane that asks.
pub(super) const MY_LANE: &str = "my-lane";
/// Flag of [`CHECK_PENDING`]: a free device is not enough (N21).
pub(super) const REQUIRE_HOLD: &str = "require-hold";

/// The declaration.
pub(super) fn declaration() -> KindDeclaration {
    KindDeclaration {
        name: "gpu-reservation".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        description: "Who holds which GPU, for what and until when".to_owned(),
        workspace: "CoursIA-gpu-reservation-ledger".to_owned(),
        entity: entity(),
        fields: fields(),
        verdict: VerdictDeclaration { field: STATE.to_owned(), terminal: State::Released.word().to_owned() },
        due: Some(EXPECTED_END.to_owned()),
        checks_observations: false,
        reasons: Vec::new(),
        verbs: vec![check_pending()],
        accepted: examples::accepted(),
        refused: examples::refused(),
    }
}

fn entity() -> EntityDeclaration {
    EntityDeclaration {
        keys: vec![
            EntityKey { name: MACHINE.to_owned(), kind: EntityKeyType::Machine },
            EntityKey { name: GPU_INDEX.to_owned(), kind: EntityKeyType::Index },
        ],
        // Two literals, because `--entity` of append allows blanks between parts: `M #  GPU 007`.
        row_key: vec![
            KeyPart::Key(MACHINE.to_owned()),
            KeyPart::Literal("#".to_owned()),
            KeyPart::Literal("gpu".to_owned()),
            KeyPart::Key(GPU_INDEX.to_owned()),
        ],
        printed: "<machine>#gpu<n>".to_owned(),
    }
}

fn fields() -> Vec<FieldDeclaration> {
    let states = State::ALL.iter().map(|state| state.word().to_owned()).collect();
    vec![
        field(
            STATE,
            FieldType::Enum(states),
            "Whether the device is held, released, or held by somebody who no longer gives a sign of life.",
        ),
        field(HOLDER, FieldType::Lane, "The lane that holds the device."),
        field(WORKLOAD, FieldType::Text, "What runs on the device, in a few words."),
        field(STARTED_AT, FieldType::UtcTimestamp, "When the hold starts; it may lie in the future."),
        field(EXPECTED_END, FieldType::UtcTimestamp, "When the hold is expected to end; a hold past it is overdue."),
        field(ISSUE, FieldType::IssueRef, "The issue for which the device is held."),
    ]
}

fn field(name: &str, kind: FieldType, description: &str) -> FieldDeclaration {
    FieldDeclaration { name: name.to_owned(), kind, description: description.to_owned() }
}

fn check_pending() -> VerbDeclaration {
    VerbDeclaration {
        name: CHECK_PENDING.to_owned(),
        aliases: vec!["check_pending".to_owned()],
        help: "Say whether a lane may run on a device now".to_owned(),
        exit_codes: vec![
            "0  OK_TO_RUN; also NO_OBS and RELEASED, unless --require-hold is given".to_owned(),
            "1  HOLD; with --require-hold also NO_OBS and RELEASED; or the snapshot cannot be read".to_owned(),
            "2  STALE or OVERDUE; or --entity or --my-lane is not valid".to_owned(),
        ],
        arguments: vec![
            argument(ENTITY, VerbArgumentType::Text, "The device, <machine>#gpu<n> in lower case", Need::Required),
            argument(
                MY_LANE,
                VerbArgumentType::Text,
                "The lane that asks, machine or machine:workspace; without it every hold is somebody else's",
                Need::Optional,
            ),
            argument(
                REQUIRE_HOLD,
                VerbArgumentType::Flag,
                "Exit 0 only for OK_TO_RUN: a device that nobody holds is refused too",
                Need::Optional,
            ),
        ],
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Need {
    Required,
    Optional,
}

fn argument(name: &str, kind: VerbArgumentType, help: &str, need: Need) -> VerbArgument {
    VerbArgument { name: name.to_owned(), help: help.to_owned(), kind, required: need == Need::Required }
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
                "state enum held,released,stale",
                "holder lane ",
                "workload text ",
                "started_at utc-timestamp ",
                "expected_end utc-timestamp ",
                "issue issue-ref ",
            ]
        );
    }

    #[test]
    fn the_row_key_is_machine_hash_gpu_index() {
        let declaration = declaration();
        let keys: Vec<_> = declaration.entity.keys.iter().map(|key| (key.name.as_str(), key.kind)).collect();
        assert_eq!(keys, [("machine", EntityKeyType::Machine), ("gpu_index", EntityKeyType::Index)]);
        let literal = |text: &str| KeyPart::Literal(text.to_owned());
        let key = |name: &str| KeyPart::Key(name.to_owned());
        assert_eq!(declaration.entity.row_key, [key("machine"), literal("#"), literal("gpu"), key("gpu_index")]);
        assert_eq!(declaration.name, "gpu-reservation");
        assert_eq!(declaration.workspace, "CoursIA-gpu-reservation-ledger");
        assert_eq!(declaration.verdict, VerdictDeclaration { field: "state".into(), terminal: "released".into() });
        assert_eq!(declaration.due.as_deref(), Some("expected_end"));
    }

    #[test]
    fn check_pending_asks_for_a_device_and_takes_both_spellings() {
        let verbs = declaration().verbs;
        let arguments: Vec<_> = verbs[0].arguments.iter().map(|a| (a.name.as_str(), a.kind, a.required)).collect();
        assert_eq!(
            arguments,
            [
                ("entity", VerbArgumentType::Text, true),
                ("my-lane", VerbArgumentType::Text, false),
                ("require-hold", VerbArgumentType::Flag, false),
            ]
        );
        assert_eq!(
            (verbs.len(), verbs[0].name.as_str(), verbs[0].aliases.as_slice()),
            (1, "check-pending", &["check_pending".to_owned()][..])
        );
    }

    #[test]
    fn the_readme_lists_every_field_argument_and_exit_code() {
        let readme = include_str!("../../README.md");
        for field in declaration().fields {
            let row = format!("| `{}` | {} | {} |", field.name, field.kind.name(), field.description);
            assert!(readme.contains(&row), "README.md lacks the row {row}");
        }
        for verb in declaration().verbs {
            for argument in verb.arguments {
                let row = format!("| `--{}` | {} |", argument.name, argument.help);
                assert!(readme.contains(&row), "README.md lacks the row {row}");
            }
            for line in verb.exit_codes {
                assert!(readme.contains(&format!("    {line}\n")), "README.md lacks the line {line}");
            }
        }
    }
}
