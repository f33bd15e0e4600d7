//! Determines the realm and the repository: from the flag, the variables, `.blue/config.yaml` and git's configuration,
//! in that order.

pub mod config;
pub mod renamed;
pub mod unknown;
pub mod url;

use std::{collections::BTreeMap, path::PathBuf};

pub use config::{CONFIG, proposed, proposed_at};

use crate::{
    env::{Env, REALM, REPO},
    error::{ErrorCode, OpError},
    machine::home::{Home, KnownRealm},
    model::{
        name::{RealmName, RepoName},
        oid::Oid,
        text::{shell_path, shell_word},
    },
    repo::CodeRepo,
    store::{
        Store, StoreError, StoreRef,
        codec::Config,
        git::{GitStore, Options},
        overview::Overview,
        read,
    },
};

/// The variable with the path of the user's own folder.
pub const HOME: &str = "GIT_BLUE_HOME";

/// A realm of this machine, and the repository of the caller.
pub struct RealmContext {
    /// The realm.
    pub realm: RealmName,
    /// Its store.
    pub store: Box<dyn Store>,
    /// The name of the repository that contains the current folder; `None` outside of one.
    pub repo: Option<RepoName>,
    /// The URL at which the realm is shared according to the repository, if this machine has not recorded one.
    pub unrecorded_url: Option<String>,
    /// The URL to which the user moved the realm, if the repository still has the former one.
    pub moved_url: Option<String>,
}

impl RealmContext {
    /// Creates the context of a realm whose URL is the recorded one, or unknown.
    pub fn new(realm: RealmName, store: impl Store + 'static, repo: Option<RepoName>) -> Self {
        Self { realm, store: Box::new(store), repo, unrecorded_url: None, moved_url: None }
    }

    /// Returns the commit of the realm's own ref; `None` if it cannot be read.
    pub fn tip(&self) -> Option<Oid> {
        self.store.tip(&StoreRef::Realm).ok().flatten()
    }
}

/// Returns the user's own folder.
///
/// # Errors
/// Returns an error if no variable contains its path.
pub fn home(env: &Env) -> Result<Home, OpError> {
    let own = env.var(HOME).map(PathBuf::from);
    if let Some(folder) = own.as_ref().filter(|folder| folder.is_relative()) {
        let message = format!("{HOME} is {:?}, which is not an absolute path", folder.display().to_string());
        return Err(OpError::cannot(ErrorCode::NoHome, message));
    }
    let folder = own.or_else(|| Some(env.home()?.join(".blue")));
    folder.map(Home::new).ok_or_else(|| {
        OpError::cannot(
            ErrorCode::NoHome,
            "cannot find the realms on this machine: neither GIT_BLUE_HOME nor HOME is set",
        )
        .next("set GIT_BLUE_HOME to a directory of your own")
    })
}

/// Returns the record of a realm on this machine.
///
/// # Errors
/// Returns an error if there is none.
pub fn known(home: &Home, realm: &RealmName) -> Result<KnownRealm, OpError> {
    home.realm(realm)?.ok_or_else(|| unknown::error(None, home, realm, None))
}

/// Opens a realm of this machine on behalf of its repository `repo`, regardless of the working directory.
///
/// # Errors
/// Returns an error if this machine does not have the realm, or the realm does not have that repository.
pub fn in_realm(
    home: &Home,
    realm: &RealmName,
    repo: Option<&RepoName>,
    options: Options,
) -> Result<RealmContext, OpError> {
    let known = known(home, realm)?;
    let store = open(home, &known, options)?;
    require_realm(&known, &store)?;
    if let Some(repo) = repo {
        let overview = Overview::open(&store)?;
        if !overview.repos().contains_key(repo) {
            return Err(match renamed::newer(&store, repo)? {
                Some(newer) => renamed::was_renamed(repo, &newer).next(format!("use the name {newer}")),
                None => unknown::repo(realm, repo, overview.repos().keys()),
            });
        }
    }
    Ok(RealmContext::new(realm.clone(), store, repo.cloned()))
}

/// Returns the folder of a repository on this machine, which may be recorded under a former name.
///
/// # Errors
/// Returns an error if this machine's records, or the realm, cannot be read.
pub fn folder(home: &Home, realm: &RealmName, store: &dyn Store, repo: &RepoName) -> Result<Option<PathBuf>, OpError> {
    let mut paths = home.repo_paths(realm)?;
    if let Some(path) = paths.remove(repo) {
        return Ok(Some(path));
    }
    for name in renamed::names(store, repo)? {
        if let Some(path) = paths.remove(&name) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the folders of the repositories on this machine, by their current names.
///
/// # Errors
/// Returns an error if this machine's records, or the realm, cannot be read.
pub fn folders(home: &Home, realm: &RealmName, store: &dyn Store) -> Result<BTreeMap<RepoName, PathBuf>, OpError> {
    let mut found = BTreeMap::new();
    for (name, path) in home.repo_paths(realm)? {
        match renamed::current(store, &name)? {
            Some(current) if current == name => drop(found.insert(name, path)),
            Some(current) => drop(found.entry(current).or_insert(path)),
            None => {}
        }
    }
    Ok(found)
}

/// Finds the realm, and the name of the repository that contains the folder of `env`.
///
/// # Errors
/// Returns an error if nothing names a realm, this machine does not have the realm, or the repository's proposal
/// contradicts what the user recorded.
pub fn find(
    env: &Env,
    home: &Home,
    code: Option<&CodeRepo>,
    flag: Option<RealmName>,
    options: Options,
) -> Result<RealmContext, OpError> {
    let proposed = code.map(proposed).transpose()?.flatten();
    let config = |key| code.and_then(|code| code.config(key));
    let variable = |name| env.text(name).map(str::to_owned);
    let is_explicit = flag.is_some();
    let named = match flag {
        Some(realm) => Some(realm),
        None => match by_default(env, code, proposed.as_ref())? {
            None => code.map(|code| of_store(home, code)).transpose()?.flatten(),
            named => named,
        },
    };
    let realm = named.ok_or_else(|| no_realm(env, home, code))?;
    let repo: Option<RepoName> = match variable(REPO) {
        Some(text) => Some(text.parse()?),
        None => match &proposed {
            // A repository that proposes another realm has no name in this one.
            Some(config) => Some(config.repo.clone()).filter(|_| config.realm.name == realm),
            None => config("blue.repo").map(|text| text.parse()).transpose()?,
        },
    };
    // The proposal of a repository is only compared with what the user recorded, and never used in place of it.
    let unknown = || unknown::error(unknown::ci_command(env).as_deref(), home, &realm, proposed.as_ref());
    let known = home.realm(&realm)?.ok_or_else(unknown)?;
    config::same_url(&known, proposed.as_ref(), code, options)?;
    let store = open(home, &known, options)?;
    require_realm(&known, &store)?;
    let repo = match repo.iter().try_for_each(|repo| renamed::refuse(&store, &realm, repo)) {
        // If the realm was named explicitly, it can still be read and synced, only without a current repository.
        Err(error) if is_explicit && error.code == ErrorCode::Renamed => None,
        result => result.map(|()| repo)?,
    };
    let unrecorded_url = config::unrecorded_url(&known, proposed.as_ref());
    let moved_url = config::moved_url(&known, proposed.as_ref());
    Ok(RealmContext { unrecorded_url, moved_url, ..RealmContext::new(realm, store, repo) })
}

/// Returns the realm whose store is this repository, if there is one.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn of_store(home: &Home, code: &CodeRepo) -> Result<Option<RealmName>, OpError> {
    let folder = |path: &std::path::Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let own = folder(code.common_dir());
    Ok(home.realms()?.into_iter().find(|known| folder(&known.path) == own).map(|known| known.name))
}

/// Returns the realm that is used if the user names none.
///
/// # Errors
/// Returns an error if the name is invalid, or the file that contains it cannot be read.
pub fn default_realm(env: &Env, code: Option<&CodeRepo>) -> Result<Option<RealmName>, OpError> {
    by_default(env, code, code.map(proposed).transpose()?.flatten().as_ref())
}

fn by_default(env: &Env, code: Option<&CodeRepo>, proposed: Option<&Config>) -> Result<Option<RealmName>, OpError> {
    Ok(match (env.text(REALM), proposed) {
        (Some(text), _) => Some(text.parse()?),
        (None, Some(config)) => Some(config.realm.name.clone()),
        (None, None) => code.and_then(|code| code.config("blue.realm")).map(|text| text.parse()).transpose()?,
    })
}

/// Opens the store of a realm. The error for a missing store says how to get the realm back.
///
/// # Errors
/// Returns an error if the store is missing or cannot be opened.
pub fn open(home: &Home, known: &KnownRealm, options: Options) -> Result<GitStore, OpError> {
    GitStore::open(&known.path, options).map_err(|error| unopened(home, known, error))
}

/// Opens the store of a realm even if the ref of the realm is lost.
///
/// # Errors
/// Returns the other errors of [`open`].
pub fn open_to_repair(home: &Home, known: &KnownRealm, options: Options) -> Result<GitStore, OpError> {
    GitStore::open_to_repair(&known.path, options).map_err(|error| unopened(home, known, error))
}

fn unopened(home: &Home, known: &KnownRealm, error: StoreError) -> OpError {
    match error {
        StoreError::NotAStore { .. } => missing_store_error(home, known),
        error => error.into(),
    }
}

fn missing_store_error(home: &Home, known: &KnownRealm) -> OpError {
    let (realm, path) = (&known.name, known.path.display());
    let message = if known.path.exists() {
        format!("{path} is not the store of the realm {realm}")
    } else {
        format!("the store of the realm {realm} is missing from {path}")
    };
    OpError::cannot(ErrorCode::NoStore, message).next(obtain_again(home, known))
}

/// Returns the step that replaces a store that is missing or cannot be used.
pub fn obtain_again(home: &Home, known: &KnownRealm) -> String {
    let (realm, path) = (&known.name, shell_path(&known.path));
    let config = shell_path(&home.folder().join("config"));
    let away = if known.path.exists() { format!("mv {path} {path}.old && ") } else { String::new() };
    let (again, what) = match &known.url {
        Some(url) => (format!("git blue init --url {}", shell_word(url)), "fetch the realm again"),
        None => (format!("git blue init --realm {realm}"), "start over with an empty realm"),
    };
    let left =
        if known.path.exists() { format!("; what was not pushed is then only in {path}.old") } else { String::new() };
    format!(
        "git config --file {config} --remove-section blue.realm.{realm} && {away}{again}  # {what}, unless you can \
            restore the store from a backup{left}"
    )
}

/// Checks that the store contains the expected realm, and was not replaced with another one.
///
/// # Errors
/// Returns an error if it contains another realm, or cannot be read.
pub fn require_realm(known: &KnownRealm, store: &GitStore) -> Result<(), OpError> {
    let found = read::realm(store)?;
    if found.name != known.name {
        let message = format!("{} contains the realm {}, not {}", known.path.display(), found.name, known.name);
        return Err(OpError::cannot(ErrorCode::OtherRealm, message));
    }
    Ok(())
}

fn no_realm(env: &Env, home: &Home, code: Option<&CodeRepo>) -> OpError {
    let Some(code) = code else {
        let message = format!("{} is not in a git repository", env.cwd().display());
        return OpError::cannot(ErrorCode::NotInRealm, message)
            .next("change to a repository of a realm, pass -C DIR, or name a realm: --realm NAME");
    };
    let place: PathBuf = code.workdir().unwrap_or_else(|| env.cwd().to_owned());
    let message = format!("{} is not in a realm", place.display());
    let error = OpError::cannot(ErrorCode::NotInRealm, message);
    match &unknown::known(home)[..] {
        [] => error.next("git blue init --realm …  # create and join a realm"),
        [only] => error.next(format!("git blue init --realm {only}  # join it")),
        [first, ..] => error.next(format!("git blue init --realm {first}  # join it, or another: git blue realm list")),
    }
}
