//! Finds the project of a call. Each call is resolved separately, so that the `cwd` of one call does not affect others.
//! The order is: the `cwd` argument, `-C` or `GIT_BLUE_DIR`, `CLAUDE_PROJECT_DIR`, the client's roots, and the server's
//! own folder and its parents.

use std::path::{Path, PathBuf};

use super::{
    open::{Project, open},
    settings::Settings,
};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    locate,
    model::{name::RealmName, percent},
    platform::paths,
    repo::CodeRepo,
};

/// The maximum number of realms for which a next step is suggested.
const MAX_REALMS: usize = 4;
/// The maximum number of folders that are tried, from the server's own upwards.
const MAX_LEVELS: usize = 20;

/// The beginning of the reason for a command that may have to run in another folder.
const IN_THE_REPOSITORY: &str = "run in the repository: ";

/// Why no project was found.
#[derive(Debug)]
pub enum NoProject {
    /// The project cannot be opened, or the request is invalid.
    Failed(OpError),
    /// No place is in a realm. Asking the client for its roots may help.
    Nowhere(TriedPlaces),
}

/// The places that were tried, and the next steps of their errors.
#[derive(Debug, Default)]
pub struct TriedPlaces {
    places: Vec<String>,
    steps: Vec<NextStep>,
    /// The realms of this machine.
    realms: Vec<String>,
    /// Whether calls have the argument `realm`.
    takes_realm: bool,
}

impl TriedPlaces {
    /// Returns the places on one line.
    pub fn places(&self) -> String {
        self.places.join("; ")
    }
}

impl From<OpError> for NoProject {
    fn from(error: OpError) -> Self {
        Self::Failed(error)
    }
}

/// The roots of the client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Roots {
    /// The client was not asked yet.
    #[default]
    Unasked,
    /// The client has no roots, did not answer, or cannot be asked. The text says which.
    Unknown(&'static str),
    /// The folders of the roots.
    Known(Vec<PathBuf>),
}

/// Finds the project of a call.
///
/// # Errors
/// Returns an error if there is no project, or the named place is not in one.
pub fn find(
    settings: &Settings,
    cwd: Option<&str>,
    realm: Option<RealmName>,
    roots: &Roots,
) -> Result<Project, NoProject> {
    let mut search =
        Search { settings, realm: realm.or_else(|| settings.realm.clone()), tried: TriedPlaces::default() };
    if let Some(cwd) = cwd {
        let folder = folder(cwd)?;
        return search.only("cwd", &folder);
    }
    search.tried.places.push("cwd: not given".into());
    if !settings.is_shared
        && let Some(found) = search.named()?
    {
        return Ok(found);
    }
    match roots {
        Roots::Known(folders) if folders.is_empty() => search.tried.places.push("roots: the client has none".into()),
        Roots::Known(folders) => {
            for folder in folders {
                if let Some(found) = search.at("roots", folder)? {
                    return Ok(found);
                }
            }
        }
        Roots::Unknown(why) => search.tried.places.push(format!("roots: {why}")),
        // The client is asked only if no other place is in a project, since asking costs a round trip.
        Roots::Unasked => {}
    }
    if settings.is_shared {
        // A client that can name its roots is asked before the whole realm is used.
        return if *roots == Roots::Unasked { Err(NoProject::Nowhere(search.lost())) } else { search.whole_realm() };
    }
    let above = settings.env.cwd().ancestors().take(MAX_LEVELS);
    let has_mark = |folder: &Path| folder.join(".git").exists() || folder.join(".blue/config.yaml").exists();
    let marked = above.filter(|folder| has_mark(folder) || CodeRepo::is_bare_at(folder));
    let mut is_marked = false;
    for folder in marked {
        is_marked = true;
        if let Some(found) = search.at("the server's directory", folder)? {
            return Ok(found);
        }
        // A submodule or another repository inside of a joined one is not part of it.
        if folder.join(".git").exists() {
            break;
        }
    }
    if !is_marked {
        search
            .tried
            .places
            .push(format!("the server's directory: {} is not in a repository", settings.env.cwd().display()));
    }
    // A named realm can be read from any folder.
    match search.realm {
        Some(realm) => Ok(Project { folder: settings.env.cwd().to_owned(), realm: Some(realm) }),
        None => Err(NoProject::Nowhere(search.lost())),
    }
}

/// Finds the project of a call that may name a realm. A server of one realm accepts only that realm's name. A server
/// outside of any realm accepts any name.
///
/// # Errors
/// Returns an error in the cases of [`find`], and if another realm is named.
pub fn find_named(
    settings: &Settings,
    cwd: Option<&str>,
    realm: Option<RealmName>,
    roots: &Roots,
) -> Result<Project, NoProject> {
    let Some(named) = realm.as_ref().filter(|_| !settings.all_realms) else {
        return find(settings, cwd, realm, roots);
    };
    let project = match find(settings, cwd, None, roots) {
        Err(NoProject::Nowhere(_)) if *roots != Roots::Unasked => return find(settings, cwd, realm, roots),
        found => found?,
    };
    match &open(&settings.env, &project)?.realm {
        Ok(here) if here.realm != *named => {
            let message = format!("this server is limited to the realm {}", here.realm);
            Err(OpError::usage(message).next("start it with --all-realms to use other realms").into())
        }
        _ => Ok(project),
    }
}

/// Returns the error that lists the places that were tried.
pub fn not_found_error(tried: &TriedPlaces) -> OpError {
    let message = format!("no repository that is in a realm was found; tried: {}", tried.places());
    let error = OpError::cannot(ErrorCode::NotInRealm, message);
    // If a repository says where its realm is, that step is enough.
    if let Some(step) = tried.steps.first() {
        return error.next(step.clone()).next("or pass cwd: the absolute path of a directory in another repository");
    }
    let error = error.next("pass cwd: the absolute path of a directory in the repository");
    let error = match tried.realms.first().filter(|_| tried.takes_realm) {
        Some(realm) => {
            error.next(format!("or pass realm, such as {realm}: calls that need no repository work without cwd"))
        }
        None => error,
    };
    match &tried.realms[..] {
        [] => error.next(format!("git blue init --realm …  # {IN_THE_REPOSITORY}create and join a realm")),
        [only] => error.next(format!("git blue init --realm {only}  # {IN_THE_REPOSITORY}join the only realm here")),
        several => several.iter().take(MAX_REALMS).fold(error, |error, name| {
            error.next(format!(
                "git blue init --realm {name}  # {IN_THE_REPOSITORY}join this realm, if it is the right one"
            ))
        }),
    }
}

/// Returns a step with a command that runs in the folder that the user named, which need not be that of the server.
fn at_named(step: &NextStep, folder: &Path) -> NextStep {
    match step {
        NextStep::Command { command, reason } => {
            let reason = reason.trim_start_matches(IN_THE_REPOSITORY).to_owned();
            NextStep::Command { command: command.clone(), reason }.in_folder(&folder.display().to_string())
        }
        other => other.clone(),
    }
}

/// Returns the names of the realms of this machine; empty if they cannot be read.
fn known(settings: &Settings) -> Vec<String> {
    let known = locate::home(&settings.env).ok().and_then(|home| home.realms().ok());
    known.into_iter().flatten().map(|known| known.name.to_string()).collect()
}

struct Search<'a> {
    settings: &'a Settings,
    realm: Option<RealmName>,
    tried: TriedPlaces,
}

impl Search<'_> {
    /// Tries the places that were named when the server was started.
    fn named(&mut self) -> Result<Option<Project>, NoProject> {
        let settings = self.settings;
        match &settings.folder {
            Some((source, folder)) => return self.only(source, folder).map(Some),
            None => self.tried.places.push("-C, GIT_BLUE_DIR: not set".into()),
        }
        match &settings.project_dir {
            Some(folder) => Ok(self.at("CLAUDE_PROJECT_DIR", folder)?),
            None => {
                self.tried.places.push("CLAUDE_PROJECT_DIR: not set".into());
                Ok(None)
            }
        }
    }

    /// Returns a project without a repository, in the named realm or in the only realm of this machine.
    fn whole_realm(mut self) -> Result<Project, NoProject> {
        let folder = self.settings.env.cwd().to_owned();
        if self.realm.is_none() {
            let known = locate::home(&self.settings.env)?.realms().map_err(OpError::from)?;
            let names: Vec<_> = known.iter().map(|known| known.name.as_str()).collect();
            match &known[..] {
                [only] => self.realm = Some(only.name.clone()),
                [] => self.tried.places.push("realm: there is none on this machine".into()),
                _ => self.tried.places.push(format!("realm: not given, and there are {}", names.join(", "))),
            }
        }
        match self.realm {
            Some(realm) => Ok(Project { folder, realm: Some(realm) }),
            None => Err(NoProject::Nowhere(self.lost())),
        }
    }

    /// Tries only the place that the user named.
    fn only(&mut self, source: &str, folder: &Path) -> Result<Project, NoProject> {
        match self.at(source, folder)? {
            Some(found) => Ok(found),
            None => {
                let error = not_found_error(&self.lost());
                let next_steps = error.next_steps.iter().map(|step| at_named(step, folder)).collect();
                Err(OpError { next_steps, ..error }.into())
            }
        }
    }

    /// Returns the places that were tried.
    fn lost(&mut self) -> TriedPlaces {
        let takes_realm = self.settings.all_realms;
        TriedPlaces { realms: known(self.settings), takes_realm, ..std::mem::take(&mut self.tried) }
    }

    fn at(&mut self, source: &str, folder: &Path) -> Result<Option<Project>, OpError> {
        if !folder.is_dir() {
            self.tried.places.push(format!("{source}: no such directory: {}", folder.display()));
            return Ok(None);
        }
        let project = Project { folder: folder.to_owned(), realm: self.realm.clone() };
        let ctx = open(&self.settings.env, &project)?;
        match &ctx.realm {
            // A damaged realm is still the right one.
            Err(error) if matches!(error.code, ErrorCode::NotInRealm | ErrorCode::UnknownRealm) => {
                self.tried.places.push(format!("{source}: {}", error.message));
                let joins = |step: &&NextStep| {
                    let starts = |with: &str| step.command().is_some_and(|text| text.starts_with(with));
                    let init =
                        if error.code == ErrorCode::UnknownRealm { "git blue init " } else { "git blue init --url " };
                    starts(init) || starts("git checkout ")
                };
                self.tried.steps.extend(error.next_steps.iter().filter(joins).cloned());
                Ok(None)
            }
            _ => Ok(Some(project)),
        }
    }
}

/// Parses the `cwd` argument.
fn folder(cwd: &str) -> Result<PathBuf, OpError> {
    let path = Path::new(cwd);
    let shown = path.display();
    let wrong =
        |message: String| OpError::usage(message).next("pass the absolute path of a directory in the repository");
    if !path.is_absolute() {
        return Err(wrong(format!("cwd must be an absolute path, and {cwd:?} is not")));
    }
    if path.components().any(|part| part.as_os_str() == ".git") {
        return Err(wrong(format!("cwd {shown} is inside a .git directory")));
    }
    match path.metadata() {
        Ok(at) if at.is_dir() => Ok(path.to_owned()),
        Ok(_) => Err(wrong(format!("cwd {shown} is a file, not a directory"))),
        Err(error) => Err(wrong(format!("cwd {shown} cannot be used: {error}"))),
    }
}

/// Returns the folder of a root's `file://` URI.
pub fn root(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let bytes = percent::decode_strictly(path).filter(|bytes| !bytes.contains(&0))?;
    paths::of_uri(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_file_uris() {
        for (uri, expected) in [
            ("file:///home/ada/work", Some("/home/ada/work")),
            ("file://localhost/a%20b/%C3%A9", Some("/a b/é")),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:///a%00b", None),
            ("file://", None),
            ("https://example.com/a", None),
            ("/home/ada", None),
        ] {
            assert_eq!(root(uri), expected.map(PathBuf::from), "{uri}");
        }
    }
}
