//! Folders into which nothing may be written, and the ways to spell them.

use std::os::unix::fs::symlink;
use std::path::Path;

use host_tests::{HostCommand, World};

/// A forbidden place and one spelling of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The code with which it is refused.
    pub(crate) code: &'static str,
    /// The spelling, relative to the world; the current folder is the world's.
    pub(crate) path: &'static str,
    /// Whether the spelling is given as it stands, relative to the current folder.
    pub(crate) relative: bool,
    /// What the spelling is.
    pub(crate) what: &'static str,
}

const fn place(code: &'static str, path: &'static str, what: &'static str) -> Place {
    Place { code, path, relative: false, what }
}

/// Every forbidden place. [`build`] makes what they stand on.
pub(crate) const FORBIDDEN: [Place; 19] = [
    place("SHARED_PATH_REFUSED", "shared", "the shared folder"),
    place("SHARED_PATH_REFUSED", "shared/new/deep", "below the shared folder"),
    place("SHARED_PATH_REFUSED", "to-shared", "a link to the shared folder"),
    place("SHARED_PATH_REFUSED", "to-shared/new/deep", "a linked parent of a path that does not exist yet"),
    place("SHARED_PATH_REFUSED", "to-nothing-in-shared", "a link to what does not exist yet in the shared folder"),
    place("SHARED_PATH_REFUSED", "free/../shared/new", "two dots into the shared folder"),
    place("SHARED_PATH_REFUSED", "to-sub/../new", "two dots behind a link into the shared folder"),
    place("SHARED_PATH_REFUSED", "new/../shared/x", "two dots behind what does not exist"),
    place("SHARED_PATH_REFUSED", "link-to-link/new", "a link to a link"),
    Place { code: "SHARED_PATH_REFUSED", path: "shared/new", relative: true, what: "a relative path" },
    Place { code: "SHARED_PATH_REFUSED", path: "./free/../shared", relative: true, what: "a relative path with dots" },
    place("REPO_PATH_REFUSED", "repository", "a work tree"),
    place("REPO_PATH_REFUSED", "repository/a/b/c", "deep in a work tree"),
    place("REPO_PATH_REFUSED", "repository/.git/x", "the folder of git itself"),
    place("REPO_PATH_REFUSED", "worktree/x", "a work tree whose .git is a file"),
    place("REPO_PATH_REFUSED", "bare.git/x", "a bare repository"),
    place("REPO_PATH_REFUSED", "to-repository/x", "a link into a work tree"),
    place("REPO_PATH_REFUSED", "free/../repository/x", "two dots into a work tree"),
    Place { code: "REPO_PATH_REFUSED", path: "repository/x", relative: true, what: "a relative path into a work tree" },
];

/// Places that look forbidden and are not.
pub(crate) const FREE: [&str; 6] = ["free", "shared-2/x", "shar/x", "shared/../free/x", "half-bare/x", "gitted/x"];

/// Makes the folders and links that the places stand on.
pub(crate) fn build(world: &World) {
    for folder in
        ["shared/sub", "free", "repository/.git", "repository/a", "shared-2", "bare.git/objects", "bare.git/refs"]
    {
        world.folder(folder);
    }
    world.write("worktree/.git", "gitdir: /elsewhere\n");
    world.write("bare.git/HEAD", "ref: refs/heads/main\n");
    world.write("half-bare/HEAD", "ref: refs/heads/main\n");
    world.folder("half-bare/objects");
    world.write("gitted/.gitignore", "");
    for (link, to) in [
        ("to-shared", "shared"),
        ("to-sub", "shared/sub"),
        ("to-nothing-in-shared", "shared/nothing"),
        ("link-to-link", "to-shared"),
        ("to-repository", "repository"),
    ] {
        symlink(world.path(to), Path::new(&world.path(link))).unwrap();
    }
}

impl Place {
    /// The argument that spells this place, with `name` below it unless it is empty.
    pub(crate) fn argument(self, world: &World, name: &str) -> String {
        let path = if self.relative { self.path.to_owned() } else { format!("{}/{}", world.path(""), self.path) };
        if name.is_empty() { path } else { format!("{path}/{name}") }
    }
}

/// A command that runs in the world's own folder and knows the shared one.
pub(crate) fn guarded(world: &World, command: HostCommand) -> HostCommand {
    command.inside(&world.path("")).env("ROOSYNC_SHARED_PATH", &world.path("shared"))
}
