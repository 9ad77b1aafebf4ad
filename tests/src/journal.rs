//! Builders of observations, messages and exports.
//!
//! The defaults make an observation that every rule accepts, by the lane `po-1:w` about `o/r#<n>` or `m#gpu<n>`, so
//! that a test names only what it is about.

use serde_json::{Map, Value, json};

/// An observation under construction: the envelope's JSON object.
#[derive(Clone, Debug)]
pub struct Observation(Map<String, Value>);

impl Observation {
    /// About issue `o/r#<number>`, without fields.
    #[must_use]
    pub fn issue(number: u64) -> Self {
        Self::about(json!({"repo": "o/r", "issue": number}))
    }

    /// About device `m#gpu<index>`, without fields.
    #[must_use]
    pub fn gpu(index: u64) -> Self {
        Self::about(json!({"machine": "m", "gpu_index": index}))
    }

    /// About another entity, without fields.
    #[must_use]
    pub fn about(entity: Value) -> Self {
        let mut envelope = Map::new();
        envelope.insert("actor".to_owned(), json!("po-1:w"));
        envelope.insert("observed_at".to_owned(), json!("2026-09-17T19:00:00Z"));
        envelope.insert("evidence".to_owned(), json!("gh issue view"));
        envelope.insert("entity".to_owned(), entity);
        envelope.insert("fields".to_owned(), json!({}));
        Self(envelope)
    }

    /// Says that a field has a value.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Some(Value::Object(fields)) = self.0.get_mut("fields") {
            fields.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Sets a key of the envelope, whatever it is.
    #[must_use]
    pub fn key(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Removes a key of the envelope.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.shift_remove(name);
        self
    }

    /// Sets the time.
    #[must_use]
    pub fn at(self, observed_at: &str) -> Self {
        self.key("observed_at", observed_at)
    }

    /// Sets the actor.
    #[must_use]
    pub fn by(self, actor: &str) -> Self {
        self.key("actor", actor)
    }

    /// The bare JSON, as for a file.
    #[must_use]
    pub fn json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// The bare JSON as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.json().to_string()
    }

    /// The line as posted.
    #[must_use]
    pub fn line(&self) -> String {
        format!("[OBS] {}", self.text())
    }
}

/// A message under construction.
#[derive(Clone, Debug)]
pub struct Message(Map<String, Value>);

impl Message {
    /// A message with this content, written by `po-1:w` the day before the world's time. It has no id.
    #[must_use]
    pub fn new(content: impl Into<Value>) -> Self {
        let mut message = Map::new();
        message.insert("timestamp".to_owned(), json!("2026-09-30T00:00:00Z"));
        message.insert("author".to_owned(), json!({"machineId": "po-1", "workspace": "w"}));
        message.insert("content".to_owned(), content.into());
        Self(message)
    }

    /// Sets a key, whatever it is.
    #[must_use]
    pub fn key(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Removes a key.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.shift_remove(name);
        self
    }

    /// Sets the id.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        self.key("id", id)
    }

    /// Sets the time.
    #[must_use]
    pub fn at(self, time: &str) -> Self {
        self.key("timestamp", time)
    }

    /// The message as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

impl From<&Observation> for Message {
    fn from(observation: &Observation) -> Self {
        Self::new(observation.line())
    }
}

impl From<Observation> for Message {
    fn from(observation: Observation) -> Self {
        Self::from(&observation)
    }
}

/// An export under construction.
#[derive(Clone, Debug)]
pub struct Export {
    window: Option<&'static str>,
    messages: Vec<String>,
    raw: Option<String>,
}

impl Export {
    /// An export that says it covers the whole journal.
    #[must_use]
    pub fn full() -> Self {
        Self { window: Some("full"), messages: Vec::new(), raw: None }
    }

    /// An export that says it covers a tail.
    #[must_use]
    pub fn tail() -> Self {
        Self { window: Some("incremental"), messages: Vec::new(), raw: None }
    }

    /// An export with exactly this value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        Self::raw(value.to_string())
    }

    /// An export with exactly this text, which need not be JSON.
    #[must_use]
    pub fn raw(text: impl Into<String>) -> Self {
        Self { window: None, messages: Vec::new(), raw: Some(text.into()) }
    }

    /// Adds a message.
    #[must_use]
    pub fn with(self, message: impl Into<Message>) -> Self {
        let text = message.into().json().to_string();
        self.with_raw(&text)
    }

    /// Adds messages in order.
    #[must_use]
    pub fn with_all<M: Into<Message>>(self, messages: impl IntoIterator<Item = M>) -> Self {
        messages.into_iter().fold(self, Self::with)
    }

    /// Adds a message as JSON text, for what a JSON value cannot hold: repeated keys, lone surrogates, huge numbers.
    #[must_use]
    pub fn with_raw(mut self, message: &str) -> Self {
        self.messages.push(message.to_owned());
        self
    }

    /// The export as JSON text.
    #[must_use]
    pub fn text(&self) -> String {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let window = self.window.map(|kind| format!(r#""window":{{"kind":"{kind}"}},"#)).unwrap_or_default();
        format!(r#"{{{window}"messages":[{}]}}"#, self.messages.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_the_json_that_it_was_told_to_be() {
        let export = Export::tail().with(Message::new("hello").without("author").without("timestamp"));
        assert_eq!(export.text(), r#"{"window":{"kind":"incremental"},"messages":[{"content":"hello"}]}"#);
    }

    #[test]
    fn an_observation_keeps_the_order_of_its_keys() {
        let observation = Observation::gpu(1).without("evidence").without("observed_at").field("state", "held");
        let text = r#"{"actor":"po-1:w","entity":{"machine":"m","gpu_index":1},"fields":{"state":"held"}}"#;
        assert_eq!(observation.text(), text);
    }
}
