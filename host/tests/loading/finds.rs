//! Who serves a name.

use host::plugins::{Claim, Registry};

use crate::build;
use crate::world::{World, file_name, search};

fn claims(registry: &Registry) -> Vec<(String, Claim)> {
    let names = registry.entries().iter().flat_map(|entry| &entry.names);
    names.map(|served| (served.name.clone(), served.claim.clone())).collect()
}

#[test]
fn a_library_without_a_manifest_is_no_plugin() {
    let world = World::with(&["shelf"]);
    // A library that every Rust build has: a procedural macro.
    let deps = std::env::current_exe().expect("this test").parent().expect("its folder").to_owned();
    let names = std::fs::read_dir(deps).expect("listed").map(|entry| entry.expect("an entry").path());
    let other = names.into_iter().find(|path| path.to_string_lossy().contains("libserde_derive"));
    world.add(&other.expect("serde_derive was built"), &format!("other{}", std::env::consts::DLL_SUFFIX));
    assert_eq!(claims(&world.registry()), [("shelf".to_owned(), Claim::Holds)]);
}

#[test]
fn a_name_is_found_with_dashes_and_underscores_alike() {
    let world = World::with(&["garden"]);
    let registry = world.registry();
    let mut found = registry.find("pond").expect("found");
    assert_eq!((found.name, found.inspected.static_tls), ("pond", false));
    found = registry.find("garden").expect("found");
    assert_eq!(found.inspected.manifest.package, "test-plugin-garden");
    assert_eq!(found.inspected.manifest.kinds, ["garden", "pond"]);
}

#[test]
fn an_unknown_name_gets_the_known_ones_and_the_folders() {
    let world = World::with(&["garden"]);
    let error = world.open("shed").map(drop).expect_err("no such plugin");
    let folder = world.path().display();
    assert_eq!(error.to_string(), format!("no plugin serves shed; there is garden, pond; searched {folder}"));
    assert_eq!(error.code().code(), "PLUGIN_NOT_FOUND");
}

#[test]
fn a_folder_that_does_not_exist_is_searched_in_vain() {
    let world = World::with(&[]);
    let registry = Registry::discover(&search(&[&world.path().join("none")]));
    assert_eq!(registry.searched().iter().filter(|searched| searched.unreadable.is_some()).count(), 1);
    assert!(registry.find("shed").is_err_and(|error| error.to_string().contains("there is none at all")));
}

#[test]
fn a_name_twice_in_one_folder_is_an_error_that_names_both_files() {
    let world = World::with(&["shelf", "garden"]);
    let first = world.add(&build::plugin("shelf"), "a.so");
    let second = world.path().join(file_name("shelf"));
    let error = world.open("shelf").map(drop).expect_err("two files");
    assert_eq!(
        error.to_string(),
        format!("shelf is served by both {} and {}; remove one of them", first.display(), second.display())
    );
    assert_eq!(error.code().code(), "PLUGIN_AMBIGUOUS");
    world.kind("garden");
}

#[test]
fn across_folders_the_first_wins_and_the_other_is_listed_as_shadowed() {
    let (first, second) = (World::with(&["garden"]), World::with(&["shelf", "garden"]));
    let registry = Registry::discover(&search(&[first.path(), second.path()]));
    let winner = first.path().join(file_name("garden"));
    assert_eq!(
        claims(&registry),
        [
            ("garden".to_owned(), Claim::Holds),
            ("pond".to_owned(), Claim::Holds),
            ("garden".to_owned(), Claim::Shadowed(winner.clone())),
            ("pond".to_owned(), Claim::Shadowed(winner.clone())),
            ("shelf".to_owned(), Claim::Holds),
        ]
    );
    assert_eq!(registry.find("pond").expect("found").entry.file, winner);
}
