//! A kind that uses everything the contract has, in small: which shelf slots hold what.

use plugin_api::{
    Counts, Entity, EntityDeclaration, EntityKey, EntityKeyType, Example, Failure, FieldDeclaration, FieldType,
    KeyPart, KindDeclaration, LedgerKind, LedgerView, ObservationView, ReasonDeclaration, Refusal, RefusedExample,
    StatusText, Value, VerbAnswer, VerbArgument, VerbArgumentType, VerbCall, VerbDeclaration, VerdictDeclaration,
    tracing,
};

plugin_api::export_plugin! { kinds: [Shelf] }

/// Which slot of which machine's shelf holds what.
#[derive(Default)]
pub struct Shelf;

fn field(name: &str, kind: FieldType) -> FieldDeclaration {
    FieldDeclaration { name: name.to_owned(), kind, description: format!("The {name} of the slot.") }
}

impl LedgerKind for Shelf {
    const NAME: &'static str = "shelf";

    fn declaration(&self) -> KindDeclaration {
        KindDeclaration {
            name: "shelf".to_owned(),
            version: "0.1.0".to_owned(),
            description: "Which slot of a shelf holds what".to_owned(),
            workspace: "shelves".to_owned(),
            entity: EntityDeclaration {
                keys: vec![
                    EntityKey { name: "machine".to_owned(), kind: EntityKeyType::Machine },
                    EntityKey { name: "slot".to_owned(), kind: EntityKeyType::Index },
                ],
                row_key: vec![
                    KeyPart::Key("machine".to_owned()),
                    KeyPart::Literal("#slot".to_owned()),
                    KeyPart::Key("slot".to_owned()),
                ],
                printed: "<machine>#slot<n>".to_owned(),
            },
            fields: vec![
                field("state", FieldType::Enum(["full", "empty", "gone"].map(str::to_owned).to_vec())),
                field("note", FieldType::Text),
                field("weight", FieldType::Hours),
                field("count", FieldType::Int),
                field("sealed", FieldType::Bool),
                field("until", FieldType::UtcTimestamp),
                field("parts", FieldType::Custom("parts".to_owned())),
            ],
            verdict: VerdictDeclaration { field: "state".to_owned(), terminal: "gone".to_owned() },
            due: Some("until".to_owned()),
            checks_observations: true,
            reasons: vec![ReasonDeclaration {
                code: "hearsay".to_owned(),
                text: "Nobody looked.".to_owned(),
                remedy: "Look into the slot.".to_owned(),
            }],
            verbs: vec![VerbDeclaration {
                name: "count".to_owned(),
                aliases: Vec::new(),
                help: "Counts the rows".to_owned(),
                exit_codes: vec!["0 counted, 3 no snapshot".to_owned()],
                arguments: vec![VerbArgument {
                    name: "live".to_owned(),
                    help: "Only rows that are not gone".to_owned(),
                    kind: VerbArgumentType::Flag,
                    required: false,
                }],
            }],
            accepted: vec![Example {
                title: "a full slot".to_owned(),
                observation: r#"{"entity":{"machine":"m","slot":1},"fields":{"state":"full"},"evidence":"seen"}"#
                    .to_owned(),
            }],
            refused: vec![RefusedExample {
                title: "hearsay".to_owned(),
                observation: r#"{"entity":{"machine":"m","slot":1},"fields":{"state":"full"},"evidence":"hearsay"}"#
                    .to_owned(),
                reason: "hearsay".to_owned(),
            }],
        }
    }

    fn check(&self, observation: &ObservationView<'_>) -> Result<(), Refusal> {
        if observation.evidence == "hearsay" {
            return Err(Refusal::new("hearsay", format!("{} did not look", observation.actor)));
        }
        Ok(())
    }

    /// A list of texts, sorted, each once.
    fn normalise(&self, field: &str, value: &Value<'_>, entity: &Entity<'_>) -> Result<Value<'static>, Refusal> {
        let refused = || Refusal::invalid_value(format!("{field} of slot {} is {}", entity.text("slot"), value.kind()));
        let items = value.as_list().ok_or_else(refused)?;
        let mut parts = items.iter().map(|item| item.as_text().ok_or_else(refused)).collect::<Result<Vec<_>, _>>()?;
        parts.sort_unstable();
        parts.dedup();
        Ok(Value::List(parts.into_iter().map(Value::string).collect()))
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        let Counts { total, live, historical, .. } = ledger.counts;
        tracing::info!(
            rows = ledger.rows.len(),
            ratio = 0.5,
            odd = f64::NAN,
            live = true,
            who = "shelf",
            "summary asked"
        );
        tracing::trace!("nobody listens to this");
        let weight: f64 = ledger.live().filter_map(|row| row.float("weight")).sum();
        let slots: i64 = ledger.rows.iter().filter_map(|row| row.entity.integer("slot")).sum();
        Ok(vec![
            ("total".to_owned(), Value::integer(total)),
            ("live".to_owned(), Value::integer(live)),
            ("historical".to_owned(), Value::integer(historical)),
            ("weight".to_owned(), Value::Float(weight)),
            ("slots".to_owned(), Value::integer(i128::from(slots) * i128::from(u64::MAX))),
        ])
    }

    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, Failure> {
        let rows = ledger.live().take(max_rows).map(|row| {
            let parts = row.get("parts").and_then(Value::as_list).map_or(0, <[_]>::len);
            format!("{} {} {parts}", row.key, row.text("state").unwrap_or("?"))
        });
        Ok(StatusText { head: vec![format!("slots: {}", ledger.rows.len())], rows: rows.collect() })
    }

    fn verb(&self, call: &VerbCall<'_>) -> Result<VerbAnswer, Failure> {
        let Some(rows) = call.rows else {
            return Ok(VerbAnswer::Refused { exit: 3, refusal: Refusal::new("NO_SNAPSHOT", "fold first") });
        };
        let count = rows.iter().filter(|row| !(call.flag("live") && row.historical)).count();
        let json =
            Value::object([("count", Value::from(count.to_string())), ("now", Value::from(call.now.to_string()))]);
        Ok(VerbAnswer::Answer { exit: 0, text: format!("{count} rows"), json })
    }
}
