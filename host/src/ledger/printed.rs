//! Short texts that a batch lends: one buffer for all of them, instead of an allocation for each.

use plugin_api::Value;
use smallvec::SmallVec;

use super::kind::BatchObservation;
use super::record::Identity;

/// Texts behind each other in one buffer.
#[derive(Debug, Default)]
pub struct Printed {
    text: String,
    ends: Vec<usize>,
}

impl Printed {
    /// Prints the integers of an entity, and a time: what a [`BatchObservation`] cannot borrow from the fold.
    pub fn add(&mut self, identity: &Identity, observed_at: &str) {
        for value in identity.entity.iter().filter(|value| value.as_text().is_none()) {
            super::shape::push_printed(&mut self.text, value);
            self.ends.push(self.text.len());
        }
        self.text.push_str(observed_at);
        self.ends.push(self.text.len());
    }

    /// Lends what was added, in the same order.
    pub fn lend(&self) -> Lender<'_> {
        Lender { printed: self, start: 0, next: 0 }
    }
}

/// Walks through the texts of a [`Printed`].
pub struct Lender<'p> {
    printed: &'p Printed,
    start: usize,
    next: usize,
}

impl<'p> Lender<'p> {
    /// The observation that was added next.
    pub fn observation<'a>(&mut self, identity: &'a Identity, actor: &'a str, evidence: &'a str) -> BatchObservation<'a>
    where
        'p: 'a,
    {
        let entity = identity.entity.iter().map(|value| self.entity(value)).collect();
        BatchObservation { entity, actor, evidence, observed_at: self.text() }
    }

    fn entity<'a>(&mut self, value: &'a Value<'static>) -> &'a str
    where
        'p: 'a,
    {
        match value.as_text() {
            Some(text) => text,
            None => self.text(),
        }
    }

    fn text(&mut self) -> &'p str {
        let end = self.printed.ends.get(self.next).copied().unwrap_or(self.start);
        let text = self.printed.text.get(self.start..end).unwrap_or_default();
        self.start = end;
        self.next += 1;
        text
    }
}

/// The printed values of an entity, owned.
#[must_use]
pub fn entity_texts(identity: &Identity) -> SmallVec<[String; 2]> {
    let print = |value: &Value<'_>| {
        let mut out = String::new();
        super::shape::push_printed(&mut out, value);
        out
    };
    identity.entity.iter().map(print).collect()
}
