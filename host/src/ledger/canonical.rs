//! The canonical text of an observation and its id (L 3), and the envelope line (L 4).

use plugin_api::json::{Layout, write_text, write_value};
use sha2::{Digest as _, Sha256};

use super::observation::{OBSERVATION_SCHEMA, Observation};
use super::record::ObservationId;
use super::shape::Shape;

/// What starts an envelope line.
pub const ENVELOPE_PREFIX: &str = "[OBS]";

/// The id of an observation. `scratch` is overwritten; it saves an allocation for each of many.
#[must_use]
pub fn observation_id(scratch: &mut String, observation: &Observation<'_>, shape: &Shape<'_>) -> ObservationId {
    scratch.clear();
    write(scratch, observation, shape, None);
    ObservationId::from_digest(&Sha256::digest(scratch.as_bytes()))
}

/// The line to post, without a line feed.
#[must_use]
pub fn envelope_line(observation: &Observation<'_>, id: ObservationId, shape: &Shape<'_>) -> String {
    let mut line = format!("{ENVELOPE_PREFIX} ");
    write(&mut line, observation, shape, Some(id));
    line
}

/// Keys in sorted order. Without an id it is the digested form, which leaves out `message_id` too.
fn write(out: &mut String, observation: &Observation<'_>, shape: &Shape<'_>, id: Option<ObservationId>) {
    out.push_str("{\"actor\":");
    write_text(out, observation.actor);
    out.push_str(",\"confidence\":\"");
    out.push_str(observation.confidence.as_str());
    out.push_str("\",\"entity\":{");
    for (place, (index, name)) in shape.sorted_keys().enumerate() {
        key(out, place, name);
        if let Some(value) = observation.identity.entity.get(index) {
            write_value(out, value, Layout::Canonical);
        }
    }
    out.push_str("},\"evidence\":");
    write_text(out, &observation.evidence);
    out.push_str(",\"fields\":{");
    let present =
        shape.sorted_fields().iter().filter_map(|index| observation.fields.iter().find(|(field, _)| field == index));
    for (place, (index, value)) in present.enumerate() {
        key(out, place, shape.field_name(usize::from(*index)));
        write_value(out, value, Layout::Canonical);
    }
    out.push_str("},\"head_transition\":");
    out.push_str(if observation.head_transition { "true" } else { "false" });
    out.push_str(",\"ledger\":");
    write_text(out, shape.ledger());
    if let Some(message_id) = observation.message_id.as_deref().filter(|_| id.is_some()) {
        out.push_str(",\"message_id\":");
        write_text(out, message_id);
    }
    if let Some(note) = observation.note.as_deref() {
        out.push_str(",\"note\":");
        write_text(out, note);
    }
    if let Some(id) = id {
        out.push_str(",\"observation_id\":\"");
        id.write_to(out);
        out.push('"');
    }
    out.push_str(",\"observed_at\":\"");
    out.push_str(observation.rendered_at.as_str());
    out.push_str("\",\"schema\":\"");
    out.push_str(OBSERVATION_SCHEMA);
    out.push_str("\"}");
}

fn key(out: &mut String, place: usize, name: &str) {
    if place > 0 {
        out.push(',');
    }
    write_text(out, name);
    out.push(':');
}
