//! Where plugins are looked for, and in which order.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::env;

/// Why a folder is searched. The order of declaration is the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// `--plugin-dir`.
    Flag,
    /// `HOST_PLUGIN_DIR`.
    Environment,
    /// The user's data directory.
    User,
    /// The folder of the binary, or the library folder of the tree it is installed in. Trusted as the binary is.
    Binary,
}

/// What lets a plugin of a folder be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Whatever lies there: who may write there may as well replace the binary (DECISIONS 7.4).
    AsTheBinary,
    /// A pin in the folder's lock file ([`super::pins`]).
    Pins,
    /// Nothing but the operator's word, `--allow-unpinned`.
    Word,
}

/// A folder that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Absolute path; it need not exist.
    pub path: PathBuf,
    /// Why it is searched.
    pub origin: Origin,
    /// What lets its plugins be loaded. A folder that is named on the command line keeps the trust it has without that.
    pub trust: Trust,
}

/// The folders to search, the first has precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// No folder stands twice.
    pub folders: Vec<Folder>,
}

/// What the search order is made of; [`SearchPath::of_process`] reads it from the process.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Values of `--plugin-dir`.
    pub flags: Vec<PathBuf>,
    /// Value of `HOST_PLUGIN_DIR`.
    pub plugin_dir: Option<OsString>,
    /// Value of `LOCALAPPDATA`; looked at on Windows only.
    pub local_app_data: Option<OsString>,
    /// Value of `XDG_DATA_HOME`.
    pub xdg_data_home: Option<OsString>,
    /// Value of `HOME`.
    pub home: Option<OsString>,
    /// The binary.
    pub executable: Option<PathBuf>,
}

impl SearchPath {
    /// The search path of this process, with the folders that were given on the command line.
    #[must_use]
    pub fn of_process(flags: &[PathBuf]) -> Self {
        Self::new(&Places {
            flags: flags.to_vec(),
            plugin_dir: env::get(env::PLUGIN_DIR),
            local_app_data: env::get(env::LOCAL_APP_DATA).filter(|_| cfg!(windows)),
            xdg_data_home: env::get(env::XDG_DATA_HOME),
            home: env::get(env::HOME),
            executable: std::env::current_exe().and_then(|path| path.canonicalize()).ok(),
        })
    }

    /// The search path that `places` make.
    #[must_use]
    pub fn new(places: &Places) -> Self {
        let mut path = Self::default();
        for flag in &places.flags {
            path.add(flag, Origin::Flag, Trust::Word);
        }
        for folder in places.plugin_dir.iter().flat_map(std::env::split_paths) {
            path.add(&folder, Origin::Environment, Trust::Word);
        }
        if let Some(folder) = user_folder(places) {
            path.add(&folder, Origin::User, Trust::Pins);
        }
        if let Some(folder) = places.executable.as_deref().and_then(Path::parent) {
            path.add(folder, Origin::Binary, Trust::AsTheBinary);
            if let Some(tree) = folder.parent() {
                path.add(&tree.join("lib").join("host").join("plugins"), Origin::Binary, Trust::AsTheBinary);
            }
        }
        path
    }

    /// Adds a folder unless it is there already. Absolute, because the loader of the system would search its own
    /// folders for a path without a separator.
    fn add(&mut self, path: &Path, origin: Origin, trust: Trust) {
        if path.as_os_str().is_empty() {
            return;
        }
        let path = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        match self.folders.iter_mut().find(|folder| folder.path == path) {
            Some(there) if there.trust == Trust::Word => there.trust = trust,
            Some(_) => {}
            None => self.folders.push(Folder { path, origin, trust }),
        }
    }

    /// The folder that `host plugin add` copies into; `None` where the process has no data directory.
    #[must_use]
    pub fn user(&self) -> Option<&Path> {
        self.folders.iter().find(|folder| folder.trust == Trust::Pins).map(|folder| folder.path.as_path())
    }
}

/// The folder of the user's plugins.
fn user_folder(places: &Places) -> Option<PathBuf> {
    user_data(places).map(|data| data.join("host").join("plugins"))
}

/// The user's data directory. A relative `XDG_DATA_HOME` is ignored, as its specification demands.
fn user_data(places: &Places) -> Option<PathBuf> {
    let given = |value: &Option<OsString>| value.as_deref().map(OsStr::to_owned).map(PathBuf::from);
    given(&places.local_app_data)
        .or_else(|| given(&places.xdg_data_home).filter(|path| path.is_absolute()))
        .or_else(|| given(&places.home).map(|home| home.join(".local").join("share")))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(places: &Places, expected: &[(&str, Origin)]) {
        let found = SearchPath::new(places);
        let found: Vec<_> = found.folders.iter().map(|folder| (folder.path.to_str().unwrap(), folder.origin)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn folders_stand_in_the_order_flag_environment_user_binary() {
        let places = Places {
            flags: vec!["/no/f1".into(), "/no/f2".into()],
            plugin_dir: Some("/no/e1:/no/e2".into()),
            home: Some("/no/home".into()),
            executable: Some("/no/tree/bin/host".into()),
            ..Places::default()
        };
        check(
            &places,
            &[
                ("/no/f1", Origin::Flag),
                ("/no/f2", Origin::Flag),
                ("/no/e1", Origin::Environment),
                ("/no/e2", Origin::Environment),
                ("/no/home/.local/share/host/plugins", Origin::User),
                ("/no/tree/bin", Origin::Binary),
                ("/no/tree/lib/host/plugins", Origin::Binary),
            ],
        );
    }

    #[test]
    fn a_folder_that_is_given_twice_is_searched_once_and_first() {
        let places =
            Places { flags: vec!["/no/a".into()], plugin_dir: Some("/no/b:/no/a::/no/b".into()), ..Places::default() };
        check(&places, &[("/no/a", Origin::Flag), ("/no/b", Origin::Environment)]);
    }

    #[track_caller]
    fn check_trust(flag: &str, expected: Trust) {
        let places = Places {
            flags: vec![flag.into()],
            home: Some("/no/home".into()),
            executable: Some("/no/tree/bin/host".into()),
            ..Places::default()
        };
        let found = SearchPath::new(&places);
        assert_eq!((found.folders[0].origin, found.folders[0].trust), (Origin::Flag, expected));
        assert_eq!(found.user(), Some(Path::new("/no/home/.local/share/host/plugins")));
    }

    #[test]
    fn a_folder_that_is_named_is_trusted_as_it_is_without_that() {
        check_trust("/no/other", Trust::Word);
        check_trust("/no/tree/bin", Trust::AsTheBinary);
        check_trust("/no/tree/lib/host/plugins", Trust::AsTheBinary);
        check_trust("/no/home/.local/share/host/plugins", Trust::Pins);
    }

    #[test]
    fn xdg_data_home_comes_before_home() {
        let places = Places { xdg_data_home: Some("/no/x".into()), home: Some("/no/h".into()), ..Places::default() };
        check(&places, &[("/no/x/host/plugins", Origin::User)]);
    }

    #[test]
    fn a_relative_xdg_data_home_is_ignored() {
        let places = Places { xdg_data_home: Some("x".into()), home: Some("/no/h".into()), ..Places::default() };
        check(&places, &[("/no/h/.local/share/host/plugins", Origin::User)]);
    }

    #[test]
    fn local_app_data_comes_first_where_it_is_set() {
        let places =
            Places { local_app_data: Some("/no/l".into()), xdg_data_home: Some("/no/x".into()), ..Places::default() };
        check(&places, &[("/no/l/host/plugins", Origin::User)]);
    }

    #[test]
    fn a_relative_flag_becomes_absolute() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap().join("no-such-folder");
        check(
            &Places { flags: vec!["no-such-folder".into()], ..Places::default() },
            &[(here.to_str().unwrap(), Origin::Flag)],
        );
    }
}
