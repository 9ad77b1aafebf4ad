//! Two kinds in one library.

use plugin_api::{
    EntityDeclaration, EntityKey, EntityKeyType, Failure, FieldDeclaration, FieldType, KeyPart, KindDeclaration,
    LedgerKind, LedgerView, StatusText, Value, VerdictDeclaration, tracing,
};

plugin_api::export_plugin! { kinds: [Garden, Pond] }

/// Beds of a garden.
#[derive(Default)]
pub struct Garden;

/// Ponds beside it.
#[derive(Default)]
pub struct Pond;

fn declaration(name: &str) -> KindDeclaration {
    KindDeclaration {
        name: name.to_owned(),
        version: "0.2.0".to_owned(),
        description: format!("Every {name}"),
        workspace: "gardens".to_owned(),
        entity: EntityDeclaration {
            keys: vec![EntityKey { name: "place".to_owned(), kind: EntityKeyType::Repo }],
            row_key: vec![KeyPart::Key("place".to_owned())],
            printed: "<place>".to_owned(),
        },
        fields: vec![FieldDeclaration {
            name: "state".to_owned(),
            kind: FieldType::Enum(vec!["open".to_owned(), "closed".to_owned()]),
            description: "Whether it is open.".to_owned(),
        }],
        verdict: VerdictDeclaration { field: "state".to_owned(), terminal: "closed".to_owned() },
        due: None,
        checks_observations: false,
        reasons: Vec::new(),
        verbs: Vec::new(),
        accepted: Vec::new(),
        refused: Vec::new(),
    }
}

fn summary(name: &str, ledger: &LedgerView<'_>) -> Vec<(String, Value<'static>)> {
    tracing::warn!("a {name} was asked");
    vec![(name.to_owned(), Value::integer(ledger.counts.total))]
}

impl LedgerKind for Garden {
    const NAME: &'static str = "garden";

    fn declaration(&self) -> KindDeclaration {
        declaration("garden")
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        Ok(summary("garden", ledger))
    }

    fn status(&self, _: &LedgerView<'_>, _: usize) -> Result<StatusText, Failure> {
        Ok(StatusText::default())
    }
}

impl LedgerKind for Pond {
    const NAME: &'static str = "pond";

    fn declaration(&self) -> KindDeclaration {
        declaration("pond")
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        Ok(summary("pond", ledger))
    }

    fn status(&self, _: &LedgerView<'_>, _: usize) -> Result<StatusText, Failure> {
        Ok(StatusText::default())
    }
}
