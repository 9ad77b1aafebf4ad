//! Kinds that misbehave in each call.

#![expect(clippy::panic, reason = "that is what it is for")]

use std::sync::atomic::{AtomicBool, Ordering};

use plugin_api::{
    Entity, EntityDeclaration, EntityKey, EntityKeyType, Failure, FieldDeclaration, FieldType, KeyPart,
    KindDeclaration, LedgerKind, LedgerView, ObservationView, Refusal, StatusText, Value, VerbAnswer, VerbCall,
    VerbDeclaration, VerdictDeclaration,
};

plugin_api::export_plugin! { kinds: [Panics, Liar, Brittle] }

/// Panics in each call.
#[derive(Default)]
pub struct Panics;

/// Answers nonsense in each call.
#[derive(Default)]
pub struct Liar;

/// Panics while it is closed, once it was asked for its status.
#[derive(Default)]
pub struct Brittle {
    asked: AtomicBool,
}

fn declaration(name: &str) -> KindDeclaration {
    KindDeclaration {
        name: name.to_owned(),
        version: "0.1.0".to_owned(),
        description: "Misbehaves".to_owned(),
        workspace: "tests".to_owned(),
        entity: EntityDeclaration {
            keys: vec![EntityKey { name: "n".to_owned(), kind: EntityKeyType::Index }],
            row_key: vec![KeyPart::Key("n".to_owned())],
            printed: "<n>".to_owned(),
        },
        fields: vec![
            FieldDeclaration {
                name: "state".to_owned(),
                kind: FieldType::Enum(vec!["on".to_owned(), "off".to_owned()]),
                description: "On or off.".to_owned(),
            },
            FieldDeclaration {
                name: "odd".to_owned(),
                kind: FieldType::Custom("odd".to_owned()),
                description: "Anything.".to_owned(),
            },
        ],
        verdict: VerdictDeclaration { field: "state".to_owned(), terminal: "off".to_owned() },
        due: None,
        checks_observations: true,
        reasons: Vec::new(),
        verbs: vec![VerbDeclaration {
            name: "ask".to_owned(),
            aliases: Vec::new(),
            help: "Asks".to_owned(),
            exit_codes: Vec::new(),
            arguments: Vec::new(),
        }],
        accepted: Vec::new(),
        refused: Vec::new(),
    }
}

impl LedgerKind for Panics {
    const NAME: &'static str = "panics";

    fn declaration(&self) -> KindDeclaration {
        declaration("panics")
    }

    fn check(&self, observation: &ObservationView<'_>) -> Result<(), Refusal> {
        if observation.evidence == "check" {
            panic!("in check of {}", observation.actor);
        }
        Ok(())
    }

    fn normalise(&self, field: &str, _: &Value<'_>, _: &Entity<'_>) -> Result<Value<'static>, Refusal> {
        panic!("in normalise of {field}");
    }

    fn summary(&self, _: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        panic!("in summary");
    }

    fn status(&self, _: &LedgerView<'_>, _: usize) -> Result<StatusText, Failure> {
        let thread = std::thread::spawn(|| panic!("in a thread of its own"));
        std::panic::resume_unwind(match thread.join() {
            Err(payload) => payload,
            Ok(()) => Box::new("the thread did not panic"),
        })
    }

    fn verb(&self, _: &VerbCall<'_>) -> Result<VerbAnswer, Failure> {
        panic!("in verb");
    }
}

impl LedgerKind for Liar {
    const NAME: &'static str = "liar";

    fn declaration(&self) -> KindDeclaration {
        declaration("liar")
    }

    fn check(&self, observation: &ObservationView<'_>) -> Result<(), Refusal> {
        match observation.evidence {
            "fine" => Ok(()),
            code => Err(Refusal::new(code, "made up")),
        }
    }

    fn normalise(&self, _: &str, value: &Value<'_>, _: &Entity<'_>) -> Result<Value<'static>, Refusal> {
        if value.is_null() { Ok(Value::Float(f64::NAN)) } else { Ok(Value::integer(u64::MAX)) }
    }

    fn summary(&self, _: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        Ok(vec![("odd".to_owned(), Value::Float(f64::INFINITY))])
    }

    fn status(&self, _: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, Failure> {
        Ok(StatusText { head: Vec::new(), rows: vec![String::new(); max_rows + 1] })
    }

    fn verb(&self, _: &VerbCall<'_>) -> Result<VerbAnswer, Failure> {
        Ok(VerbAnswer::Answer { exit: 16, text: String::new(), json: Value::object::<String>([]) })
    }
}

impl LedgerKind for Brittle {
    const NAME: &'static str = "brittle";

    fn declaration(&self) -> KindDeclaration {
        declaration("brittle")
    }

    fn summary(&self, _: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        Err(Failure::new("own_code", "cannot count"))
    }

    fn status(&self, _: &LedgerView<'_>, _: usize) -> Result<StatusText, Failure> {
        self.asked.store(true, Ordering::Relaxed);
        Ok(StatusText::default())
    }
}

impl Drop for Brittle {
    fn drop(&mut self) {
        if *self.asked.get_mut() {
            panic!("in drop");
        }
    }
}
