//! Events of a plugin arrive in the host's log.

use host::ledger::kind::Kind as _;
use plugin_api::{Counts, LedgerView};

use crate::world::{World, lines};

#[track_caller]
fn check(plugin: &str, kind: &str, expected: &str) {
    let world = World::with(&[plugin]);
    world.kind(kind).summary(&LedgerView { rows: &[], counts: Counts::default() }).expect("a summary");
    let logged = lines();
    assert!(logged.iter().any(|line| line == expected), "{logged:#?}");
}

#[test]
fn an_event_keeps_level_message_module_and_fields() {
    check(
        "shelf",
        "shelf",
        "INFO plugin message=summary asked plugin=test-plugin-shelf module=test_plugin_shelf \
         fields={\"rows\":0,\"ratio\":0.5,\"odd\":\"NaN\",\"live\":true,\"who\":\"shelf\"}",
    );
}

#[test]
fn an_event_without_fields_has_none() {
    check("garden", "pond", "WARN plugin message=a pond was asked plugin=test-plugin-garden module=test_plugin_garden");
}

#[test]
fn a_panic_that_a_call_reports_is_logged_below_the_default_level() {
    let world = World::with(&["panics"]);
    let failure = world.kind("panics").summary(&LedgerView { rows: &[], counts: Counts::default() });
    assert!(failure.is_err());
    let logged = lines();
    let line = logged.iter().find(|line| line.contains("message=in summary")).expect("logged");
    assert!(line.starts_with("DEBUG plugin "), "{line}");
}
