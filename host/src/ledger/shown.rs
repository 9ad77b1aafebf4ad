//! The lines by which artifacts show who said something, when, how sure and from what (L 9.1).
//!
//! Made once for each record, where its texts are at hand: a fold writes them about three times, from all over memory.

use plugin_api::json::write_text;
use plugin_api::rules::time::Timestamp;

use super::record::{Confidence, ObservationId, Source};

/// What the lines are made of.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'o> {
    /// When it was observed.
    pub observed_at: Timestamp,
    /// Who says so.
    pub actor: &'o str,
    /// How sure.
    pub confidence: Confidence,
    /// What it rests on.
    pub evidence: &'o str,
    /// Its id.
    pub id: ObservationId,
    /// Where it came from.
    pub source: &'o Source,
    /// Id of the message that brought it.
    pub message_id: Option<&'o str>,
}

/// The members of an entry behind its value, as JSON lines without indentation: strings hold no raw line feed, so each
/// line can be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(Box<str>);

impl Shown {
    /// Makes the lines.
    #[must_use]
    pub fn new(origin: &Origin<'_>) -> Self {
        let mut out = String::with_capacity(256 + origin.evidence.len());
        out.push_str("\"observed_at\": \"");
        origin.observed_at.write_to(&mut out);
        out.push_str("\",\n\"actor\": ");
        write_text(&mut out, origin.actor);
        out.push_str(",\n\"confidence\": \"");
        out.push_str(origin.confidence.as_str());
        out.push_str("\",\n\"evidence\": ");
        write_text(&mut out, origin.evidence);
        out.push_str(",\n\"observation_id\": \"");
        origin.id.write_to(&mut out);
        out.push_str("\",\n\"source\": ");
        origin.source.write_json(&mut out);
        if let Some(message_id) = origin.message_id {
            out.push_str(",\n\"message_id\": ");
            write_text(&mut out, message_id);
        }
        Self(out.into_boxed_str())
    }

    /// Appends the lines, each behind `indent`: a line feed and blanks.
    pub fn write_to(&self, out: &mut String, indent: &str) {
        for line in self.0.split('\n') {
            out.push_str(indent);
            out.push_str(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::record::Label;

    #[test]
    fn every_member_stands_on_a_line_of_its_own() {
        let shown = Shown::new(&Origin {
            observed_at: Timestamp::parse("2026-09-17T19:00:00.5Z").expect("a time"),
            actor: "m:w",
            confidence: Confidence::High,
            evidence: "says \"so\"",
            id: ObservationId::parse("obs-0cb15eebe26dd713").expect("an id"),
            source: &Source::Journal(Label { index: 3, id: Some("a\nb".into()) }),
            message_id: Some("a b"),
        });
        let mut out = String::new();
        shown.write_to(&mut out, "\n  ");
        assert_eq!(
            out,
            concat!(
                "\n  \"observed_at\": \"2026-09-17T19:00:00.500000Z\",",
                "\n  \"actor\": \"m:w\",",
                "\n  \"confidence\": \"high\",",
                "\n  \"evidence\": \"says \\\"so\\\"\",",
                "\n  \"observation_id\": \"obs-0cb15eebe26dd713\",",
                "\n  \"source\": \"journal:message[3] id=a\\nb\",",
                "\n  \"message_id\": \"a b\"",
            )
        );
    }
}
