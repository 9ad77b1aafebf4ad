//! The conformance suite, on the kind as it is linked in.

#[test]
fn it_conforms() {
    plugin_api::testkit::assert_kind(&host_issue_debt::rules::IssueDebt);
}
