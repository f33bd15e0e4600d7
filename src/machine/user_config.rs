//! Reads the user's own git configuration: `~/.gitconfig` and similar files. The configuration of repositories and of
//! the system is ignored.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use gix::{
    bstr::ByteSlice as _,
    config::{
        File, Source,
        file::{Metadata, includes, init},
    },
};

use crate::{platform::paths, store::StoreError};

/// The values of one subsection, by lower-case key. If a key occurs more than once, the last value counts.
pub type Values = BTreeMap<String, String>;

/// Returns the subsections of `blue` whose names start with `prefix`, with the prefix removed, in order of first
/// occurrence.
///
/// # Errors
/// Returns an error if a file cannot be read as configuration.
pub fn subsections(vars: &BTreeMap<OsString, OsString>, prefix: &str) -> Result<Vec<(String, Values)>, StoreError> {
    read(vars)?.map_or_else(|| Ok(Vec::new()), |config| subsections_of(&config, prefix))
}

/// Returns the subsections in one file, like [`subsections`].
///
/// # Errors
/// Returns an error if a value is not UTF-8.
pub(super) fn subsections_of(config: &File, prefix: &str) -> Result<Vec<(String, Values)>, StoreError> {
    let (mut found, mut places) = (Vec::<(String, Values)>::new(), BTreeMap::new());
    for section in config.sections_by_name("blue").into_iter().flatten() {
        let name = section.header().subsection_name().and_then(|name| name.to_str().ok()?.strip_prefix(prefix));
        let Some(name) = name else { continue };
        let at = *places.entry(name.to_owned()).or_insert_with(|| {
            found.push((name.to_owned(), Values::new()));
            found.len() - 1
        });
        for key in section.value_names() {
            // A key without a value is true.
            let value = section.value_implicit(key.as_ref()).flatten().unwrap_or_else(|| "true".into());
            let value = value.to_str().map_err(|error| {
                StoreError::git(format!("read blue.{prefix}{name}.{key} of your git configuration"))(error)
            })?;
            found[at].1.insert(key.to_lowercase(), value.to_owned());
        }
    }
    Ok(found)
}

/// Parses a value as a boolean by git's rules. Returns `None` if it is not one.
pub fn boolean(value: &str) -> Option<bool> {
    gix::config::Boolean::try_from(gix::bstr::BStr::new(value)).ok().map(|value| value.is_true())
}

/// Returns whether a value is true by git's rules.
pub fn is_true(value: &str) -> bool {
    boolean(value) == Some(true)
}

/// Returns the value of a key, such as `blue.tokenCommand`. If it occurs more than once, the last value counts.
///
/// # Errors
/// Returns an error if a file cannot be read as configuration.
pub fn value(vars: &BTreeMap<OsString, OsString>, key: &str) -> Result<Option<String>, StoreError> {
    let value = read(vars)?.and_then(|config| config.string(key));
    Ok(value.and_then(|value| value.to_str().ok().map(str::to_owned)))
}

fn read(vars: &BTreeMap<OsString, OsString>) -> Result<Option<File>, StoreError> {
    let var = |name: &str| vars.get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned();
    let home = paths::home(var);
    let paths = match vars.get(&OsString::from("GIT_CONFIG_GLOBAL")) {
        // An empty value means no file.
        Some(one) => vec![PathBuf::from(one)],
        None => {
            let folder = var("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".config")));
            let files = [folder.map(|folder| folder.join("git/config")), home.as_ref().map(|at| at.join(".gitconfig"))];
            files.into_iter().flatten().collect()
        }
    };
    let files = paths.into_iter().filter(|path| path.is_file()).map(|path| Metadata::from(Source::User).at(path));
    let includes = includes::Options::follow_without_conditional(home.as_deref().map(Path::new));
    let options = init::Options { includes, lossy: true, ignore_io_errors: false };
    File::from_paths_metadata(files, options).map_err(StoreError::git("read your git configuration"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_files_and_their_includes_are_read() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".config/git/config", "[blue \"x.one\"]\n\tSome = a\n\tother = \"b c\"\n[blue \"y.no\"]\n\tsome = z\n");
        write(
            ".gitconfig",
            "[blue \"x.one\"]\n\tsome = d\n[include]\n\tpath = more\n[includeIf \"gitdir:/x\"]\n\tpath = not\n",
        );
        write("more", "[blue \"x.two\"]\n\tsome = e\n");
        write("not", "[blue \"x.three\"]\n\tsome = f\n");
        let mut vars = BTreeMap::from([("HOME".into(), home.path().into())]);
        let shown = |vars: &BTreeMap<OsString, OsString>| format!("{:?}", subsections(vars, "x.").unwrap());
        assert_eq!(shown(&vars), r#"[("one", {"other": "b c", "some": "d"}), ("two", {"some": "e"})]"#);
        assert_eq!(value(&vars, "blue.x.one.some").unwrap().as_deref(), Some("d"));
        assert_eq!(value(&vars, "blue.some").unwrap(), None);
        vars.insert("GIT_CONFIG_GLOBAL".into(), home.path().join("more").into());
        assert_eq!(shown(&vars), r#"[("two", {"some": "e"})]"#);
        vars.insert("GIT_CONFIG_GLOBAL".into(), "".into());
        assert_eq!(shown(&vars), "[]");
        vars.insert("GIT_CONFIG_GLOBAL".into(), home.path().join("broken").into());
        write("broken", "[blue\n");
        assert!(subsections(&vars, "x.").is_err());
    }
}
