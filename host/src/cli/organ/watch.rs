//! Says on stderr what happens during a run.

use plugin_api::organ::{Plan, UnitEnd, Verdict};

use crate::cli::ui::Ui;
use crate::plugins::worker::Printed;
use crate::plugins::worker::session::Session;
use crate::supervisor::run::Watch;

/// Logs steps; shows what a unit printed when it did not end well.
pub(super) struct Shown<'u> {
    pub(super) ui: &'u Ui,
}

impl Watch for Shown<'_> {
    fn planned(&self, plan: &Plan) {
        tracing::info!(units = plan.units.len(), "planned");
        plan.notes.iter().for_each(|note| self.ui.note(note));
    }

    fn opened(&self, session: &Session) {
        let (identity, confinement) = (session.identity(), session.confinement());
        tracing::info!(pid = identity.pid, nonce = %identity.nonce, "session opened");
        if !confinement.missing.is_empty() {
            tracing::info!(missing = %confinement.missing, "the worker is confined in part");
        }
    }

    fn closed(&self, why: &str) {
        tracing::info!("session closed: {why}");
    }

    fn ended(&self, end: &UnitEnd, printed: &Printed) {
        let code = end.code.as_deref().unwrap_or("");
        tracing::info!(unit = %end.id, verdict = ?end.verdict, code, "unit ended");
        for (stream, text) in [("stdout", &printed.stdout), ("stderr", &printed.stderr)] {
            for line in text.lines() {
                tracing::debug!(unit = %end.id, stream, "{line}");
                if end.verdict != Verdict::Accepted {
                    self.ui.note(&format!("{} {stream}: {line}", end.id));
                }
            }
        }
        if printed.dropped > 0 {
            self.ui.note(&format!("{}: {} more bytes were printed and not kept", end.id, printed.dropped));
        }
    }
}
