//! An accepted observation with its source: what the fold works on.

use std::fmt;

use plugin_api::Value;
use plugin_api::json::write_escaped;
use plugin_api::rules::time::Timestamp;
use smallvec::SmallVec;

use super::shown::Shown;

/// Id of an observation: the first 64 bits of the SHA-256 of its canonical text (L 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObservationId(u64);

impl ObservationId {
    /// The id that starts a digest.
    #[must_use]
    pub fn from_digest(digest: &[u8]) -> Self {
        Self(digest.iter().take(8).fold(0, |id, byte| id << 8 | u64::from(*byte)))
    }

    /// Reads `obs-` and 16 lower-case hex digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("obs-")?;
        let lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if hex.len() != 16 || !hex.bytes().all(lower_hex) {
            return None;
        }
        u64::from_str_radix(hex, 16).ok().map(Self)
    }

    /// Appends the printed id.
    pub fn write_to(self, out: &mut String) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut buffer = *b"obs-0000000000000000";
        let bytes = self.0.to_be_bytes();
        for (places, byte) in buffer[4..].chunks_exact_mut(2).zip(bytes) {
            places[0] = HEX[usize::from(byte >> 4)];
            places[1] = HEX[usize::from(byte & 0xf)];
        }
        // Hex digits behind a prefix, all ASCII.
        out.push_str(std::str::from_utf8(&buffer).unwrap_or_default());
    }
}

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "obs-{:016x}", self.0)
    }
}

/// How sure the sender is. It plays no part in what wins (N2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// `low`
    Low,
    /// `medium`, the default
    Medium,
    /// `high`
    High,
}

impl Confidence {
    /// Every level, in the order of `schema.json`.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The printed word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Exactly one of the three words.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// Where a record came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A row of the baseline.
    Baseline,
    /// A history entry of the prior snapshot.
    Checkpoint,
    /// A message of the export.
    Journal(Label),
    /// `append`.
    Command,
}

impl Source {
    /// Appends the text that artifacts show, as the inside of a JSON string.
    pub fn write_to(&self, out: &mut String) {
        match self {
            Self::Baseline => out.push_str("baseline"),
            Self::Checkpoint => out.push_str("checkpoint"),
            Self::Command => out.push_str("command"),
            Self::Journal(label) => {
                out.push_str("journal:");
                label.write_to(out);
            }
        }
    }
}

impl Source {
    /// Appends the text as a JSON string.
    pub fn write_json(&self, out: &mut String) {
        out.push('"');
        match self {
            Self::Baseline | Self::Checkpoint | Self::Command => self.write_to(out),
            Self::Journal(label) => {
                out.push_str("journal:");
                label.write_index(out);
                if let Some(id) = &label.id {
                    out.push_str(ID_MARK);
                    // Only an id can hold a character that needs an escape.
                    write_escaped(out, id);
                }
            }
        }
        out.push('"');
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write_to(&mut out);
        f.write_str(&out)
    }
}

/// Stands between a message's index and its id.
const ID_MARK: &str = " id=";

/// Which message of the export: its index and, when it has one, its id as text (L 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Index from 0.
    pub index: usize,
    /// The id as printed; `None` when absent, 0, false or empty.
    pub id: Option<Box<str>>,
}

impl Label {
    /// Appends `message[<i>]` and, with an id, ` id=<id>`.
    pub fn write_to(&self, out: &mut String) {
        self.write_index(out);
        if let Some(id) = &self.id {
            out.push_str(ID_MARK);
            out.push_str(id);
        }
    }

    fn write_index(&self, out: &mut String) {
        out.push_str("message[");
        out.push_str(itoa::Buffer::new().format(self.index));
        out.push(']');
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write_to(&mut out);
        f.write_str(&out)
    }
}

/// What a row is about: its key and its entity values in declared order.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// Row key.
    pub key: Box<str>,
    /// `Text` or `Integer` values in declared order.
    pub entity: SmallVec<[Value<'static>; 2]>,
}

/// Values by index of the declared field.
pub type FieldValues = SmallVec<[(u8, Value<'static>); 2]>;

/// An accepted observation.
#[derive(Clone, Debug)]
pub struct Record {
    /// The row.
    pub identity: Identity,
    /// When it was observed.
    pub observed_at: Timestamp,
    /// Who says so.
    pub actor: Box<str>,
    /// Digest of its content, or the id that the prior snapshot kept.
    pub id: ObservationId,
    /// Where it came from.
    pub source: Source,
    /// Id of the message that brought it.
    pub message_id: Option<Box<str>>,
    /// Its values, normalised.
    pub fields: FieldValues,
    /// How artifacts show where it comes from, confidence and evidence included: nothing is decided on those (N2).
    pub shown: Shown,
}

impl Record {
    /// The order in which later wins (L 8): instant, then actor, then id.
    #[must_use]
    pub fn rank(&self) -> (Timestamp, &str, ObservationId) {
        (self.observed_at, &self.actor, self.id)
    }
}

/// An observation that was refused while the rest folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Which message or row.
    pub source: String,
    /// Reason code.
    pub reason: String,
    /// What is wrong, in words.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_nothing_else_does() {
        let id = ObservationId::from_digest(&[0x0c, 0xb1, 0x5e, 0xeb, 0xe2, 0x6d, 0xd7, 0x13, 0xff]);
        assert_eq!(id.to_string(), "obs-0cb15eebe26dd713");
        let mut out = String::new();
        id.write_to(&mut out);
        assert_eq!(out, "obs-0cb15eebe26dd713");
        assert_eq!(ObservationId::parse("obs-0cb15eebe26dd713"), Some(id));
        for bad in [
            "obs-0CB15EEBE26DD713",
            "obs-0cb15eebe26dd71",
            "obs-0cb15eebe26dd7133",
            "0cb15eebe26dd713",
            "obs-+cb15eebe26dd713",
        ] {
            assert_eq!(ObservationId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_label_shows_the_id_only_when_there_is_one() {
        assert_eq!(Label { index: 3, id: None }.to_string(), "message[3]");
        assert_eq!(
            Source::Journal(Label { index: 0, id: Some("m 1".into()) }).to_string(),
            "journal:message[0] id=m 1"
        );
    }
}
