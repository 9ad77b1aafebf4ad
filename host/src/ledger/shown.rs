//! The lines by which artifacts show who said something, when, how sure and from what (L 9.1).
//!
//! Made once for each record, where its texts are at hand: a fold writes them about three times, from all over memory.

use plugin_api::json::write_text;

use super::record::{Confidence, ObservationId, Source};

/// What the lines are made of.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'o> {
    /// When it was observed, rendered.
    pub observed_at: &'o str,
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

/// The members of an entry behind its value, as lines of JSON without indentation, so that each can be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    lines: Box<str>,
    /// Where each line ends; the last is there only with a message id.
    ends: [u32; LINES],
}

/// Lines of an entry that came with a message id.
const LINES: usize = 7;

impl Shown {
    /// Makes the lines. `scratch` is overwritten; it saves an allocation for each of many.
    #[must_use]
    pub fn new(origin: &Origin<'_>, scratch: &mut String) -> Self {
        scratch.clear();
        let mut made = Lines { out: scratch, ends: [0; LINES], count: 0 };
        made.line("\"observed_at\": \"", |out| out.push_str(origin.observed_at), "\",");
        made.line("\"actor\": ", |out| write_text(out, origin.actor), ",");
        made.line("\"confidence\": \"", |out| out.push_str(origin.confidence.as_str()), "\",");
        made.line("\"evidence\": ", |out| write_text(out, origin.evidence), ",");
        made.line("\"observation_id\": \"", |out| origin.id.write_to(out), "\",");
        let more = if origin.message_id.is_some() { "," } else { "" };
        made.line("\"source\": ", |out| origin.source.write_json(out), more);
        if let Some(message_id) = origin.message_id {
            made.line("\"message_id\": ", |out| write_text(out, message_id), "");
        }
        Self { lines: made.out.as_str().into(), ends: made.ends }
    }

    /// Appends the lines, each behind `indent`: a line feed and blanks.
    pub fn write_to(&self, out: &mut String, indent: &str) {
        let mut start = 0;
        for end in self.ends.iter().map(|end| *end as usize).filter(|end| *end > 0) {
            out.push_str(indent);
            out.push_str(self.lines.get(start..end).unwrap_or_default());
            start = end;
        }
    }
}

struct Lines<'s> {
    out: &'s mut String,
    ends: [u32; LINES],
    count: usize,
}

impl Lines<'_> {
    fn line(&mut self, before: &str, write: impl FnOnce(&mut String), behind: &str) {
        self.out.push_str(before);
        write(self.out);
        self.out.push_str(behind);
        // Texts of 4 GB do not fit a message.
        self.ends[self.count] = u32::try_from(self.out.len()).unwrap_or(u32::MAX);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::record::Label;

    #[test]
    fn every_member_stands_on_a_line_of_its_own() {
        let shown = Shown::new(
            &Origin {
                observed_at: "2026-09-17T19:00:00.500000Z",
                actor: "m:w",
                confidence: Confidence::High,
                evidence: "says \"so\"",
                id: ObservationId::parse("obs-0cb15eebe26dd713").expect("an id"),
                source: &Source::Journal(Label { index: 3, id: Some("a\nb".into()) }),
                message_id: Some("a b"),
            },
            &mut String::new(),
        );
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
