//! A sound kind in a library that links a C part with static TLS.

use plugin_api::{
    EntityDeclaration, EntityKey, EntityKeyType, Failure, FieldDeclaration, FieldType, KeyPart, KindDeclaration,
    LedgerKind, LedgerView, StatusText, Value, VerdictDeclaration,
};

plugin_api::export_plugin! { kinds: [StaticTls] }

/// Counts, where it can be loaded.
#[derive(Default)]
pub struct StaticTls;

impl LedgerKind for StaticTls {
    const NAME: &'static str = "static-tls";

    fn declaration(&self) -> KindDeclaration {
        KindDeclaration {
            name: "static-tls".to_owned(),
            version: "0.1.0".to_owned(),
            description: "Needs room that a process has only at its start".to_owned(),
            workspace: "tests".to_owned(),
            entity: EntityDeclaration {
                keys: vec![EntityKey { name: "n".to_owned(), kind: EntityKeyType::Index }],
                row_key: vec![KeyPart::Key("n".to_owned())],
                printed: "<n>".to_owned(),
            },
            fields: vec![FieldDeclaration {
                name: "state".to_owned(),
                kind: FieldType::Enum(vec!["on".to_owned(), "off".to_owned()]),
                description: "On or off.".to_owned(),
            }],
            verdict: VerdictDeclaration { field: "state".to_owned(), terminal: "off".to_owned() },
            due: None,
            checks_observations: false,
            reasons: Vec::new(),
            verbs: Vec::new(),
            accepted: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        Ok(vec![("total".to_owned(), Value::integer(ledger.counts.total))])
    }

    fn status(&self, _: &LedgerView<'_>, _: usize) -> Result<StatusText, Failure> {
        Ok(StatusText::default())
    }
}
