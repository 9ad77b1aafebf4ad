//! What the system refuses a worker. Where the kernel cannot confine, the worker says so and the test says what it saw.

use serde_json::json;

use crate::world::{spec, started, text};

#[test]
fn memory_and_files_are_capped() {
    let mut spec = spec();
    spec.memory = Some(256 << 20);
    spec.open_files = Some(64);
    let mut worker = started(&spec);
    let got = text(&mut worker, &json!({ "do": "allocate", "number": 1_u64 << 30 }));
    assert!(got.contains("memory allocation failed"), "{got}");
    assert_eq!(text(&mut worker, &json!({ "do": "allocate", "number": 1 << 20 })), "got it");
    let files = text(&mut worker, &json!({ "do": "open_files" }));
    assert!(files.ends_with("then Some(24)"), "too many open files: {files}");
}

#[test]
fn files_are_read_where_the_unit_may_see_them_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let seen = dir.path().join("seen");
    std::fs::create_dir(&seen).unwrap();
    for folder in [dir.path(), seen.as_path()] {
        std::io::Write::write_all(&mut std::fs::File::create(folder.join("a")).unwrap(), b"content").unwrap();
    }
    let mut spec = spec();
    spec.visible = vec![seen.to_string_lossy().into_owned()];
    let mut worker = started(&spec);
    let confinement = worker.confinement().clone();
    let path = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    assert_eq!(text(&mut worker, &json!({ "do": "read", "text": path(seen.join("a")) })), "content");
    let other = text(&mut worker, &json!({ "do": "read", "text": path(dir.path().join("a")) }));
    let written = text(&mut worker, &json!({ "do": "write", "text": path(seen.join("b")) }));
    let executed = text(&mut worker, &json!({ "do": "execute", "text": "/bin/true" }));
    if confinement.files {
        assert_eq!([&other, &written, &executed], ["PermissionDenied"; 3]);
    } else {
        eprintln!("not confined: {}", confinement.missing);
        assert!(confinement.missing.contains("no Landlock"), "{}", confinement.missing);
        assert_eq!((other.as_str(), written.as_str()), ("content", "written"));
    }
}

#[test]
fn connections_are_refused_where_the_kernel_can() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut worker = started(&spec());
    let told = text(&mut worker, &json!({ "do": "connect", "text": address }));
    assert_eq!(told, if worker.confinement().tcp { "PermissionDenied" } else { "connected" });
}

#[test]
fn the_host_is_not_signalled_where_the_kernel_can() {
    let mut worker = started(&spec());
    let told = text(&mut worker, &json!({ "do": "signal", "number": std::process::id() }));
    assert_eq!(told, if worker.confinement().signals { "PermissionDenied" } else { "signalled" });
}
