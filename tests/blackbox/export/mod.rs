//! The export adapter: declarations, windows, shapes, messages, hostile content (L 4, L 5, N1, N4, N5, N7, N8, N18, N19).

mod declarations;
mod hostile;
mod messages;
mod shapes;

use host_tests::{Export, Observation, World};
use serde_json::{Value, json};

/// A message about `o/r#1` that every rule accepts.
fn message() -> Value {
    host_tests::Message::from(Observation::issue(1).field("eat_hours", 1)).json()
}

/// Folds `export`, given as a value, in a new world; the window of the checkpoint when accepted, else the code.
fn window(export: &Value, flags: &[&str]) -> Result<Value, String> {
    let world = World::new();
    let out = world.debt().fold_with(&Export::of(export), flags);
    if out.code() == 0 {
        Ok(world.debt().snapshot()["checkpoint"]["window"].clone())
    } else {
        Err(out.first_error_code().to_owned())
    }
}

/// The window of a full export of one message under `path`.
fn full(path: &str) -> Value {
    json!({"kind": "full", "archives": [], "messages": 1, "ignored": 0, "path": path})
}
