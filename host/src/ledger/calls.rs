//! The dashboard calls that a lane makes by hand, as the reference prints them (L 10.3).

/// Posts an observation.
#[must_use]
pub fn append_observation(workspace: &str) -> String {
    format!(
        "roosync_dashboard(action:\"append\", type:\"workspace\", workspace:\"{workspace}\", content:\"[OBS] {{...}}\")"
    )
}

/// Reads the journal.
#[must_use]
pub fn read_journal(workspace: &str) -> String {
    format!("roosync_dashboard(action:\"read\", type:\"workspace\", workspace:\"{workspace}\", section:\"all\")")
}

/// Publishes the status.
#[must_use]
pub fn write_snapshot(workspace: &str) -> String {
    format!(
        "roosync_dashboard(action:\"update\", type:\"workspace\", workspace:\"{workspace}\", section:\"status\", \
         content:\"<snapshots/status.md>\")   # ai-01 ONLY"
    )
}
