//! Files that an organ may write: whole, and only where the operator allowed it.

use std::path::{Path, PathBuf};

use plugin_api::Failure;
use plugin_api::organ::services::{Done, OutputWrite};

use super::{Outside, failure};
use crate::store::resolve::{self, RealProbe};
use crate::store::{Guard, Mode, replace};

/// Files that an organ may write.
#[derive(Debug)]
pub(super) struct Outputs {
    allowed: Vec<PathBuf>,
    guard: Guard,
    outside: Outside,
}

impl Outputs {
    pub(super) fn new(allowed: Vec<PathBuf>, shared: Option<PathBuf>, outside: Outside) -> Self {
        Self { allowed, guard: Guard::new(shared), outside }
    }

    pub(super) fn write(&self, request: &OutputWrite) -> Result<Done, Failure> {
        let refused = |error: &dyn std::error::Error| {
            let text = format!("{}; choose a local path outside of every repository", failure::chain(error));
            Failure::new("refused", text)
        };
        let resolved = resolve::resolve(&RealProbe, Path::new(&request.path)).map_err(|error| refused(&error))?;
        if !self.allows(&resolved) {
            let listed: Vec<_> = self.allowed.iter().map(|path| path.display().to_string()).collect();
            let remedy = "give it as the value of an argument of type output";
            return Err(failure::not_granted(format!("writing {}", request.path), &listed, remedy));
        }
        let target = self.guard.check(&resolved).map_err(|error| refused(&error))?;
        replace(&self.outside.disk, &target, Mode::Default, request.text.as_bytes()).map_err(|error| {
            let text = format!("{}; what was there is untouched; check space and permissions", failure::chain(&error));
            Failure::new("unwritable", text)
        })?;
        Ok(Done {})
    }

    /// Whether a resolved path is one that was allowed, or lies in a folder that was.
    fn allows(&self, path: &Path) -> bool {
        self.allowed.iter().any(|allowed| {
            let Ok(root) = resolve::resolve(&RealProbe, allowed) else { return false };
            root == path || (root.is_dir() && resolve::lies_in(&RealProbe, &root, path).is_ok_and(|inside| inside))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plugins::services::testing;
    use crate::store::testing::{Home, put, text};

    #[track_caller]
    fn check(home: &Home, allowed: &[&str], path: &str, expected: Result<(), &str>) {
        let allowed = allowed.iter().map(|name| home.at(name)).collect();
        let outputs = Outputs::new(allowed, Some(home.at("shared")), testing::outside());
        let path = home.at(path);
        let answer = outputs.write(&OutputWrite { path: path.display().to_string(), text: "new".into() });
        assert_eq!(answer.map(|_| ()).map_err(|failure| failure.code), expected.map_err(str::to_owned));
        assert_eq!(text(&path).as_deref() == Some("new"), expected.is_ok());
    }

    #[test]
    fn an_allowed_file_is_replaced_and_its_neighbour_is_not() {
        let home = Home::new();
        put(&home.at("out"), b"old");
        check(&home, &["out"], "out", Ok(()));
        check(&home, &["out"], "other", Err("not_granted"));
        check(&home, &["out"], "../out", Err("not_granted"));
        check(&home, &[], "out2", Err("not_granted"));
    }

    #[test]
    fn in_an_allowed_folder_every_file_may_be_written() {
        let home = Home::new();
        fs::create_dir(home.at("folder")).unwrap();
        check(&home, &["folder"], "folder/a/b", Ok(()));
        check(&home, &["folder"], "folder/../c", Err("not_granted"));
        check(&home, &["absent"], "absent/a", Err("not_granted"));
        check(&home, &["folder"], "folder", Err("unwritable"));
    }

    #[test]
    fn what_the_guard_refuses_is_refused_though_it_was_granted() {
        let home = Home::new();
        fs::create_dir_all(home.at("shared")).unwrap();
        fs::create_dir_all(home.at("repo/.git")).unwrap();
        check(&home, &["shared"], "shared/a", Err("refused"));
        check(&home, &["repo"], "repo/a", Err("refused"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_an_allowed_folder_is_not_granted() {
        let home = Home::new();
        fs::create_dir_all(home.at("folder")).unwrap();
        fs::create_dir_all(home.at("elsewhere")).unwrap();
        std::os::unix::fs::symlink(home.at("elsewhere"), home.at("folder/link")).unwrap();
        check(&home, &["folder"], "folder/link/a", Err("not_granted"));
    }
}
