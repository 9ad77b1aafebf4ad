//! One message of an export: its id, author, time and content, and the judgement of many (L 5).
//!
//! Whatever a single message holds is at worst a rejection (N1).

use std::borrow::Cow;

use plugin_api::json::{self, Document, Layout, RawEntries};
use plugin_api::rules::text::{is_blank, strip};
use plugin_api::rules::time::Timestamp;
use plugin_api::{Refusal, Value};
use serde_json::value::RawValue;

use super::admit::{Admitted, admit};
use super::envelope::{self, TextKind};
use super::kind::KindFailure;
use super::observation::{Defaults, Draft, draft, refusal};
use super::record::{Label, Record, Rejection, Source};
use super::records::Records;
use super::shape::Shape;
use super::shown::{Origin, Shown};
use crate::reasons::Reason;

const ID_KEYS: [&str; 4] = ["messageId", "message_id", "id", "uuid"];
const AUTHOR_KEYS: [&str; 5] = ["author", "actor", "lane", "from", "sender"];
const TIME_KEYS: [&str; 6] = ["createdAt", "created_at", "observedAt", "observed_at", "timestamp", "ts"];
const CONTENT_KEYS: [&str; 4] = ["content", "body", "message", "text"];

/// What the judgement of messages needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The time of the fold.
    pub now: Timestamp,
    /// Allowed clock skew in microseconds; `None` when the check is off (D4).
    pub skew: Option<i64>,
    /// Whether an actor other than the author is refused (D8).
    pub strict_author: bool,
}

impl Rules {
    /// Latest time that an observation may have, when its message was sent at `sent`.
    #[must_use]
    pub fn latest(&self, sent: Option<Timestamp>) -> Option<Timestamp> {
        let base = sent.map_or(self.now, |sent| sent.min(self.now));
        self.skew.map(|skew| base.plus_micros(skew))
    }
}

/// An author that differs from the actor of an accepted observation (D8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorDiffers {
    /// Source of the record.
    pub source: String,
    /// Who the envelope says.
    pub actor: String,
    /// Who posted it.
    pub author: String,
}

/// What a run of messages came to, in message order.
#[derive(Debug, Default)]
pub struct Judgement {
    /// Accepted observations.
    pub records: Vec<Record>,
    /// Refused messages.
    pub rejections: Vec<Rejection>,
    /// Messages that are prose.
    pub ignored: usize,
    /// Prose that is the first part of a cut envelope.
    pub split: Vec<Label>,
    /// Accepted observations whose actor is not the author.
    pub differs: Vec<ActorDiffers>,
    /// Room in which the lines of a record are made.
    scratch: String,
}

impl Judgement {
    /// Appends what later messages came to. The records go into a list of their own, made for all of them at once.
    pub fn extend(&mut self, later: Self, records: &mut Records) {
        records.append(later.records);
        self.rejections.extend(later.rejections);
        self.ignored += later.ignored;
        self.split.extend(later.split);
        self.differs.extend(later.differs);
    }
}

/// Judges messages whose first has index `first`, with one call of the kind.
///
/// # Errors
/// [`KindFailure`] when the kind gave no usable answer.
pub fn judge(messages: &[&RawValue], first: usize, rules: &Rules, shape: &Shape<'_>) -> Result<Judgement, KindFailure> {
    judge_decoded(
        &(first..).zip(messages).map(|(index, raw)| decode(index, read_parts(raw))).collect::<Vec<_>>(),
        rules,
        shape,
    )
}

/// The same for messages that were read already, and hold nothing that is in doubt.
///
/// # Errors
/// [`KindFailure`] when the kind gave no usable answer.
pub fn judge_values(
    messages: Vec<Value<'_>>,
    first: usize,
    rules: &Rules,
    shape: &Shape<'_>,
) -> Result<Judgement, KindFailure> {
    let decoded = (first..).zip(messages).map(|(index, value)| decode(index, parts(value)));
    judge_decoded(&decoded.collect::<Vec<_>>(), rules, shape)
}

type Decoded<'a> = (Label, Result<Message<'a>, Refusal>);

fn judge_decoded(decoded: &[Decoded<'_>], rules: &Rules, shape: &Shape<'_>) -> Result<Judgement, KindFailure> {
    let documents: Vec<_> = decoded.iter().map(|(_, message)| message.as_ref().ok().map(Message::document)).collect();
    let mut outcomes = Vec::with_capacity(decoded.len());
    let mut drafts = Vec::with_capacity(decoded.len());
    for ((_, message), document) in decoded.iter().zip(&documents) {
        outcomes.push(match (message, document) {
            (Err(refusal), _) => Outcome::Rejected(refusal.clone()),
            (Ok(_), None | Some(Reading::Prose)) => Outcome::Prose,
            (Ok(_), Some(Reading::Split)) => Outcome::Split,
            (Ok(_), Some(Reading::Refused(refusal))) => Outcome::Rejected(refusal.clone()),
            (Ok(message), Some(Reading::Envelope(document))) => match message.draft(document, rules, shape) {
                Err(refusal) => Outcome::Rejected(refusal),
                Ok(draft) => {
                    drafts.push(draft);
                    Outcome::Drafted
                }
            },
        });
    }
    let mut admitted = admit(drafts, shape)?.into_iter();
    let mut judgement = Judgement::default();
    for ((label, message), outcome) in decoded.iter().zip(outcomes) {
        let author = message.as_ref().ok().and_then(|message| message.author.as_ref());
        let result = match outcome {
            Outcome::Prose => Err(None),
            Outcome::Split => {
                judgement.split.push(label.clone());
                Err(None)
            }
            Outcome::Rejected(refusal) => Err(Some(refusal)),
            Outcome::Drafted => admitted.next().map_or(Err(None), |verdict| verdict.map_err(Some)),
        };
        match result.and_then(|admitted| judgement.accept(label, admitted, author, rules).map_err(Some)) {
            Ok(()) => {}
            Err(None) => judgement.ignored += 1,
            Err(Some(Refusal { code, detail })) => {
                judgement.rejections.push(Rejection { source: label.to_string(), reason: code, detail });
            }
        }
    }
    Ok(judgement)
}

enum Outcome {
    Prose,
    Split,
    Rejected(Refusal),
    Drafted,
}

impl Judgement {
    /// Check 18, then the record.
    fn accept(
        &mut self,
        label: &Label,
        admitted: Admitted<'_>,
        author: Option<&Value<'_>>,
        rules: &Rules,
    ) -> Result<(), Refusal> {
        let actor = admitted.observation.actor;
        let other = author.and_then(Value::as_text).filter(|author| admitted.names_actor && *author != actor);
        let source = Source::Journal(label.clone());
        if let Some(author) = other {
            if rules.strict_author {
                let detail = format!("actor is {actor:?}, the message's author is {author:?}");
                return Err(refusal(Reason::ActorDiffersFromAuthor, detail));
            }
            self.differs.push(ActorDiffers {
                source: source.to_string(),
                actor: actor.to_owned(),
                author: author.to_owned(),
            });
        }
        self.records.push(admitted.into_record(source, &mut self.scratch));
        Ok(())
    }
}

impl Admitted<'_> {
    /// The record of this observation; `scratch` is overwritten. `note` and `head_transition` are not folded (L 7).
    #[must_use]
    pub fn into_record(self, source: Source, scratch: &mut String) -> Record {
        let observation = self.observation;
        let shown = Shown::new(
            &Origin {
                observed_at: observation.rendered_at.as_str(),
                actor: observation.actor,
                confidence: observation.confidence,
                evidence: &observation.evidence,
                id: self.id,
                source: &source,
                message_id: observation.message_id.as_deref(),
            },
            scratch,
        );
        Record {
            identity: observation.identity,
            observed_at: observation.observed_at,
            actor: observation.actor.into(),
            id: self.id,
            source,
            message_id: observation.message_id.map(Into::into),
            fields: observation.fields,
            shown,
        }
    }
}

/// A message with what an observation may take from it.
struct Message<'a> {
    content: Content<'a>,
    author: Option<Value<'static>>,
    time: Option<Value<'a>>,
    message_id: Option<Value<'a>>,
}

enum Content<'a> {
    Text(Cow<'a, str>),
    Inline(Document<'a>),
    Other,
}

enum Reading<'m> {
    Prose,
    Split,
    Refused(Refusal),
    Envelope(Cow<'m, Document<'m>>),
}

impl Message<'_> {
    fn document(&self) -> Reading<'_> {
        match &self.content {
            Content::Other => Reading::Prose,
            Content::Inline(document) => {
                envelope::check(document).map_or_else(Reading::Refused, |()| Reading::Envelope(Cow::Borrowed(document)))
            }
            Content::Text(text) => match envelope::classify(text) {
                TextKind::Prose => Reading::Prose,
                TextKind::SplitEnvelope => Reading::Split,
                TextKind::Envelope => envelope::parse(text)
                    .map_or_else(Reading::Refused, |document| Reading::Envelope(Cow::Owned(document))),
            },
        }
    }

    fn draft<'m>(&'m self, document: &'m Document<'m>, rules: &Rules, shape: &Shape<'_>) -> Result<Draft<'m>, Refusal> {
        let sent = self.time.as_ref().and_then(Value::as_text).and_then(|text| Timestamp::parse(text).ok());
        let defaults = Defaults {
            actor: self.author.as_ref(),
            observed_at: self.time.as_ref(),
            message_id: self.message_id.as_ref(),
            latest: rules.latest(sent),
            ..Defaults::default()
        };
        draft(&document.value, &defaults, shape)
    }
}

fn decode<'a>(index: usize, parts: Result<Parts<'a>, Unreadable<'a>>) -> Decoded<'a> {
    let mut label = Label { index, id: None };
    let message = match parts {
        Ok(parts) => {
            label.id = parts.id.as_ref().filter(|id| !is_empty(id)).map(|id| printed_id(id).into());
            parts.message()
        }
        Err((id, refusal)) => {
            label.id = id.filter(|id| !is_empty(id)).map(|id| printed_id(&id).into());
            Err(refusal)
        }
    };
    (label, message)
}

/// The parts of a message that count, each as a document of its own.
struct Parts<'a> {
    id: Option<Value<'a>>,
    author: Option<Value<'a>>,
    time: Option<Value<'a>>,
    content: Option<Document<'a>>,
}

type Unreadable<'a> = (Option<Value<'a>>, Refusal);

/// The parts of a message that was read as a whole, and in which no key is repeated.
fn parts(message: Value<'_>) -> Result<Parts<'_>, Unreadable<'_>> {
    let Value::Object(mut entries) = message else {
        return Err((None, refusal(Reason::InvalidRecord, "the message is not an object")));
    };
    let mut part = |keys: &[&str]| {
        let index = first_present(&entries, keys, |value| value.is_null() || value.as_text() == Some(""))?;
        Some(std::mem::replace(&mut entries[index].1, Value::Null))
    };
    let document = |value| Document { value, duplicate: None, big_integer: None };
    Ok(Parts {
        id: part(&ID_KEYS),
        author: part(&AUTHOR_KEYS),
        time: part(&TIME_KEYS),
        content: part(&CONTENT_KEYS).map(document),
    })
}

/// Reads a message as a whole, or part by part when something in it that need not count is not fit to be read.
fn read_parts(raw: &RawValue) -> Result<Parts<'_>, Unreadable<'_>> {
    if let Ok(Document { value, duplicate: None, big_integer: None }) = json::read_raw(raw) {
        return parts(value);
    }
    match json::object_entries(raw) {
        Err(error) => Err((None, refusal(Reason::UnparsableEnvelope, error.to_string()))),
        Ok(None) => Err((None, refusal(Reason::InvalidRecord, "the message is not an object"))),
        Ok(Some(entries)) => read_each(&entries),
    }
}

fn read_each<'a>(entries: &RawEntries<'a>) -> Result<Parts<'a>, Unreadable<'a>> {
    let part = |keys: &[&str]| -> Result<Option<Document<'a>>, Refusal> {
        let Some(index) = first_present(entries, keys, |raw| matches!(raw.get(), "null" | "\"\"")) else {
            return Ok(None);
        };
        let (key, raw) = &entries[index];
        json::read_raw(raw).map(Some).map_err(|error| refusal(Reason::UnparsableEnvelope, format!("{key}: {error}")))
    };
    let id = part(&ID_KEYS).map_err(|refusal| (None, refusal))?;
    let (id, repeated) = id.map_or((None, None), |id| (Some(id.value), id.duplicate));
    let rest = || {
        let outermost = json::repeated_key(entries.iter().map(|(key, _)| key.as_ref()));
        if let Some(key) = outermost.or(repeated.as_deref()) {
            return Err(refusal(Reason::DuplicateKey, format!("key {key:?} stands twice in the message")));
        }
        let author = part(&AUTHOR_KEYS)?;
        if let Some(key) = author.as_ref().and_then(|author| author.duplicate.as_ref()) {
            return Err(refusal(Reason::DuplicateKey, format!("key {key:?} stands twice in the message's author")));
        }
        Ok((author.map(|author| author.value), part(&TIME_KEYS)?.map(|time| time.value), part(&CONTENT_KEYS)?))
    };
    match rest() {
        Ok((author, time, content)) => Ok(Parts { id, author, time, content }),
        Err(refusal) => Err((id, refusal)),
    }
}

/// Place of the first of `keys` that is present: its value is neither null nor the empty string.
fn first_present<V>(entries: &[(Cow<'_, str>, V)], keys: &[&str], is_absent: impl Fn(&V) -> bool) -> Option<usize> {
    keys.iter().find_map(|key| {
        // As in the reference, the last of two equal keys counts; the message is refused for them anyway.
        let index = entries.iter().rposition(|(name, _)| name == key)?;
        (!is_absent(&entries[index].1)).then_some(index)
    })
}

impl<'a> Parts<'a> {
    fn message(self) -> Result<Message<'a>, Refusal> {
        let Some(content) = self.content else {
            return Err(refusal(Reason::UnparsableEnvelope, "the message has no content"));
        };
        Ok(Message {
            author: self.author.and_then(|author| normalised_author(&author)).map(Value::Text),
            time: self.time,
            message_id: self.id.map(|id| match id {
                Value::Text(text) => Value::Text(text),
                Value::Null
                | Value::Bool(_)
                | Value::Integer(_)
                | Value::BigInteger(_)
                | Value::Float(_)
                | Value::List(_)
                | Value::Object(_) => Value::from(printed_id(&id)),
            }),
            content: match content.value {
                Value::Text(text) => Content::Text(text),
                Value::Object(_) => Content::Inline(content),
                Value::Null
                | Value::Bool(_)
                | Value::Integer(_)
                | Value::BigInteger(_)
                | Value::Float(_)
                | Value::List(_) => Content::Other,
            },
        })
    }
}

/// 0, false, `[]` or `{}`: such an id is not shown in a label.
fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Integer(0) => true,
        Value::Float(number) => *number == 0.0,
        Value::List(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Text(text) => text.is_empty(),
        Value::Bool(true) | Value::Integer(_) | Value::BigInteger(_) => false,
    }
}

fn printed_id(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.clone().into_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null
        | Value::Integer(_)
        | Value::BigInteger(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Object(_) => json::text(value, Layout::Canonical),
    }
}

/// The author as a lane, not validated (L 5).
fn normalised_author(author: &Value<'_>) -> Option<Cow<'static, str>> {
    let stripped = |text: &str| Some(strip(text).to_owned()).filter(|text| !text.is_empty());
    match author {
        Value::Text(text) => stripped(text).map(Cow::Owned),
        Value::Object(_) => {
            let text = |key: &&str| author.get(key).and_then(Value::as_text).filter(|text| !is_blank(text)).map(strip);
            let machines = ["machineId", "machine_id", "machine", "host"];
            let workspaces = ["workspace", "workspaceId", "workspace_id", "lane"];
            let left = machines.iter().find_map(text);
            let right = workspaces.iter().find_map(text);
            if let (Some(left), Some(right)) = (left, right) {
                return Some(Cow::Owned(format!("{left}:{right}")));
            }
            let names = ["lane", "login", "name", "actor", "author", "id"];
            names.iter().find_map(text).map(|name| Cow::Owned(name.to_owned()))
        }
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::BigInteger(_) | Value::Float(_) | Value::List(_) => {
            None
        }
    }
}
