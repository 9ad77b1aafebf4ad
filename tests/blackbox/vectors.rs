//! The golden vectors, played by their own runner: the product is judged by the same program as everywhere else.

use std::process::{Command, Stdio};

use host_tests::artifacts;

#[test]
fn every_golden_vector_passes() {
    let tests = artifacts::repository().join("tests");
    let out = Command::new("python3")
        .arg(tests.join("tools/run_vectors.py"))
        .arg("--host")
        .arg(artifacts::host())
        .arg("--vectors")
        .arg(tests.join("vectors/ledger"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&out.stdout);
    assert_eq!(
        stdout.lines().next_back(),
        Some("448 passed, 0 failed"),
        "{stdout}\n{}",
        String::from_utf8_lossy(&out.stderr)
    );
    assert!(out.status.success());
}
