//! Ledger kind `issue-debt`: what each issue still owes before it can be closed. `rules` holds all of it.

pub mod rules;

plugin_api::export_plugin! { kinds: [rules::IssueDebt] }
