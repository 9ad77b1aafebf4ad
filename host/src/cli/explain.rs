//! `host explain`: what a code means and what to do about it.

use plugin_api::Value;
use plugin_api::json::{Layout, text};

use super::outcome::{CommandError, Outcome};
use super::ui::Ui;
use crate::reasons::{Explanation, Fatal, Reason};

/// Explains one code, or lists all.
///
/// `own` are the reasons that the plugins found declare: code, text, remedy and the kind that declares it.
///
/// # Errors
/// `UNKNOWN_CODE` when neither the host nor a plugin has the code.
pub(super) fn run(ui: &Ui, code: Option<&str>, json: bool, own: &[OwnReason]) -> Result<Outcome, CommandError> {
    let all: Vec<Entry> = Reason::ALL
        .iter()
        .map(|reason| Entry::host(reason.explanation(), "rejection"))
        .chain(own.iter().map(Entry::own))
        .chain(Fatal::ALL.iter().map(|fatal| Entry::host(fatal.explanation(), "refusal")))
        .collect();
    let chosen: Vec<&Entry> = match code {
        None => all.iter().collect(),
        Some(code) => {
            let found: Vec<&Entry> = all.iter().filter(|entry| entry.code.eq_ignore_ascii_case(code)).collect();
            if found.is_empty() {
                return Err(unknown(code, &all).into());
            }
            found
        }
    };
    if json {
        let list = chosen.iter().map(|entry| entry.value()).collect();
        ui.data(&format!("{}\n", text(&Value::List(list), Layout::Pretty(0))))?;
        return Ok(Outcome::OK);
    }
    let texts: Vec<String> = chosen.iter().map(|entry| entry.text()).collect();
    ui.data(&texts.join("\n"))?;
    Ok(Outcome::OK)
}

/// A reason that a kind declares.
#[derive(Clone, Debug)]
pub(super) struct OwnReason {
    /// Name of the kind.
    pub(super) kind: String,
    /// Code, text and remedy.
    pub(super) reason: plugin_api::ReasonDeclaration,
}

struct Entry {
    code: String,
    what: String,
    text: String,
    remedy: String,
}

impl Entry {
    fn host(explanation: Explanation, what: &str) -> Self {
        Self {
            code: explanation.code.to_owned(),
            what: what.to_owned(),
            text: explanation.text.to_owned(),
            remedy: explanation.remedy.to_owned(),
        }
    }

    fn own(own: &OwnReason) -> Self {
        Self {
            code: own.reason.code.clone(),
            what: format!("rejection by {}", own.kind),
            text: own.reason.text.clone(),
            remedy: own.reason.remedy.clone(),
        }
    }

    fn text(&self) -> String {
        format!("{} ({})\n  {}\n  {}\n", self.code, self.what, self.text, self.remedy)
    }

    fn value(&self) -> Value<'_> {
        Value::object([
            ("code", Value::from(self.code.as_str())),
            ("what", Value::from(self.what.as_str())),
            ("text", Value::from(self.text.as_str())),
            ("remedy", Value::from(self.remedy.as_str())),
        ])
    }
}

fn unknown(code: &str, all: &[Entry]) -> crate::ledger::fatal::FatalError {
    let similar = all.iter().map(|entry| entry.code.as_str());
    let wanted = code.to_ascii_lowercase();
    let near: Vec<&str> = similar.filter(|code| code.to_ascii_lowercase().contains(&wanted)).collect();
    let hint =
        if near.is_empty() { "`host explain` lists all".to_owned() } else { format!("near: {}", near.join(", ")) };
    Fatal::UnknownCode.with(format!("no code {code:?}; {hint}"))
}
