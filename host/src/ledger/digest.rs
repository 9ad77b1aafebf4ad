//! The state digest (L 8): SHA-256 over the canonical JSON of the list of `{key, fields, historical}`.

use plugin_api::Value;
use plugin_api::json::{Layout, write_text, write_value};
use sha2::{Digest as _, Sha256};

use super::merge::{FoldedRow, Rows};
use super::shape::Shape;

/// Collects rows into the digest.
pub struct StateDigest {
    hasher: Sha256,
    rows: usize,
}

impl Default for StateDigest {
    fn default() -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"[");
        Self { hasher, rows: 0 }
    }
}

impl StateDigest {
    /// Adds the text of one row, made by [`write_row`], or of several joined by commas.
    pub fn add(&mut self, row: &str) {
        if self.rows > 0 {
            self.hasher.update(b",");
        }
        self.rows += 1;
        self.hasher.update(row.as_bytes());
    }

    /// The digest in hex.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.hasher.update(b"]");
        hex(&self.hasher.finalize())
    }
}

/// Appends the canonical text of one row. `fields` come sorted by name.
pub fn write_row<'v>(
    out: &mut String,
    key: &str,
    fields: impl Iterator<Item = (&'v str, &'v Value<'v>)>,
    historical: bool,
) {
    out.push_str("{\"fields\":{");
    for (place, (name, value)) in fields.enumerate() {
        if place > 0 {
            out.push(',');
        }
        write_text(out, name);
        out.push(':');
        write_value(out, value, Layout::Canonical);
    }
    out.push_str("},\"historical\":");
    out.push_str(if historical { "true" } else { "false" });
    out.push_str(",\"key\":");
    write_text(out, key);
    out.push('}');
}

/// The digest of folded rows.
#[must_use]
pub fn state_digest(rows: &Rows, shape: &Shape<'_>) -> String {
    let mut digest = StateDigest::default();
    let mut text = String::with_capacity(512);
    for row in &rows.rows {
        text.clear();
        write_row(&mut text, rows.key(row), sorted_fields(rows, row, shape), row.historical);
        digest.add(&text);
    }
    digest.finish()
}

fn sorted_fields<'r>(
    rows: &'r Rows,
    row: &'r FoldedRow,
    shape: &'r Shape<'_>,
) -> impl Iterator<Item = (&'r str, &'r Value<'r>)> {
    let fields = shape.sorted_fields().iter().map(|index| usize::from(*index));
    fields.filter_map(|field| rows.value(row, field).map(|value| (shape.field_name(field), value)))
}

/// Lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_no_rows_is_the_one_of_the_reference() {
        assert_eq!(StateDigest::default().finish(), "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945");
    }
}
