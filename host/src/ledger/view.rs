//! Folded rows as the kind sees them.

use plugin_api::{Entity, Row, Value};

use super::merge::Rows;
use super::shape::{Shape, push_printed};

/// Owns what the rows of a view borrow beside the fold: printed integers and times.
pub struct View<'r, 's, 'k> {
    rows: &'r Rows,
    shape: &'s Shape<'k>,
    printed: Vec<(Vec<String>, String)>,
}

impl<'r, 's, 'k> View<'r, 's, 'k> {
    /// A view of all rows.
    #[must_use]
    pub fn new(rows: &'r Rows, shape: &'s Shape<'k>) -> Self {
        let print = |value: &Value<'_>| {
            let mut out = String::new();
            push_printed(&mut out, value);
            out
        };
        let printed = rows.rows.iter().map(|row| {
            let entity = rows.record(row.first).identity.entity.iter().map(print).collect();
            (entity, row.last_observed_at.to_string())
        });
        Self { rows, shape, printed: printed.collect() }
    }

    /// The rows in key order.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<'_>> {
        let rows = self.rows.rows.iter().zip(&self.printed).map(|(row, (entity, last_observed_at))| Row {
            key: self.rows.key(row),
            entity: Entity {
                keys: self.shape.entity_keys().zip(entity).map(|((name, _), value)| (name, value.as_str())).collect(),
            },
            historical: row.historical,
            stale: row.stale,
            last_observed_at,
            fields: (0..row.fields.len())
                .filter_map(|field| Some((self.shape.field_name(field), self.rows.value(row, field)?.borrowed())))
                .collect(),
        });
        rows.collect()
    }
}
