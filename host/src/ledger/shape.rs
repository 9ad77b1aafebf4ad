//! A kind's declaration, prepared for the fold: names to indexes, and the orders in which things are written.

use plugin_api::{EntityKeyType, FieldType, KeyPart, KindDeclaration, Value};

use super::kind::Kind;
use super::record::Identity;

/// A kind with what the fold looks up for every observation.
pub struct Shape<'k> {
    kind: &'k dyn Kind,
    /// Field indexes in the order of their names, as canonical text lists them.
    sorted_fields: Vec<u8>,
    /// Entity key indexes in the order of their names.
    sorted_keys: Vec<usize>,
    verdict: usize,
}

impl<'k> Shape<'k> {
    /// Prepares `kind`.
    #[must_use]
    pub fn new(kind: &'k dyn Kind) -> Self {
        let declaration = kind.declaration();
        let mut sorted_fields: Vec<u8> = (0..=u8::MAX).take(declaration.fields.len()).collect();
        sorted_fields.sort_by_key(|index| &declaration.fields[usize::from(*index)].name);
        let mut sorted_keys: Vec<usize> = (0..declaration.entity.keys.len()).collect();
        sorted_keys.sort_by_key(|index| &declaration.entity.keys[*index].name);
        let verdict = declaration.fields.iter().position(|field| field.name == declaration.verdict.field);
        Self { kind, sorted_fields, sorted_keys, verdict: verdict.unwrap_or(usize::MAX) }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &'k dyn Kind {
        self.kind
    }

    /// What it declares.
    #[must_use]
    pub fn declaration(&self) -> &'k KindDeclaration {
        self.kind.declaration()
    }

    /// Name of the ledger.
    #[must_use]
    pub fn ledger(&self) -> &'k str {
        &self.declaration().name
    }

    /// Number of declared fields.
    #[must_use]
    pub fn field_count(&self) -> usize {
        self.declaration().fields.len()
    }

    /// Name of a declared field.
    #[must_use]
    pub fn field_name(&self, index: usize) -> &'k str {
        self.declaration().fields.get(index).map_or("", |field| &field.name)
    }

    /// Type of a declared field.
    #[must_use]
    pub fn field_type(&self, index: usize) -> &'k FieldType {
        &self.declaration().fields[index].kind
    }

    /// Index of the field of this name.
    #[must_use]
    pub fn field_index(&self, name: &str) -> Option<u8> {
        let index = self.declaration().fields.iter().position(|field| field.name == name)?;
        u8::try_from(index).ok()
    }

    /// Field indexes in name order.
    #[must_use]
    pub fn sorted_fields(&self) -> &[u8] {
        &self.sorted_fields
    }

    /// Entity keys in name order, each with its index in declared order.
    pub fn sorted_keys(&self) -> impl Iterator<Item = (usize, &'k str)> {
        let keys = &self.kind.declaration().entity.keys;
        self.sorted_keys.iter().map(move |index| (*index, keys[*index].name.as_str()))
    }

    /// Names and types of the entity keys in declared order.
    pub fn entity_keys(&self) -> impl Iterator<Item = (&'k str, EntityKeyType)> {
        self.declaration().entity.keys.iter().map(|key| (key.name.as_str(), key.kind))
    }

    /// Whether this value of this field ends the row's life.
    #[must_use]
    pub fn is_terminal(&self, field: usize, value: &Value<'_>) -> bool {
        field == self.verdict && value.as_text() == Some(&self.declaration().verdict.terminal)
    }

    /// Index of the verdict field.
    #[must_use]
    pub fn verdict(&self) -> usize {
        self.verdict
    }

    /// The identity of an entity whose values are valid and in declared order.
    #[must_use]
    pub fn identity(&self, entity: impl IntoIterator<Item = Value<'static>>) -> Identity {
        let entity: smallvec::SmallVec<[Value<'static>; 2]> = entity.into_iter().collect();
        let mut key = String::with_capacity(32);
        for part in &self.declaration().entity.row_key {
            match part {
                KeyPart::Literal(text) => key.push_str(text),
                KeyPart::Key(name) => {
                    let index = self.declaration().entity.keys.iter().position(|key| key.name == *name);
                    if let Some(value) = index.and_then(|index| entity.get(index)) {
                        push_printed(&mut key, value);
                    }
                }
            }
        }
        Identity { key: key.into_boxed_str(), entity }
    }
}

/// Appends an entity value as it stands in a row key: text as is, an integer as digits.
pub fn push_printed(out: &mut String, value: &Value<'_>) {
    if let Some(text) = value.as_text() {
        out.push_str(text);
    } else {
        plugin_api::json::write_value(out, value, plugin_api::json::Layout::Compact);
    }
}
