//! Wiring: finds the repository and the realm, and hands every surface what it works with.

use std::path::{Path, PathBuf};

use crate::{
    env::{Env, REALM, REPO},
    error::{Kind, OpError},
    machine::home::{Home, KnownRealm},
    model::name::{RealmName, RepoName},
    ops::{
        admin,
        ctx::{Ctx, Here, options},
        repos::renamed,
    },
    repo::{CodeRepo, Place},
    store::{codec::Config, git::GitStore, overview::Overview, read},
    surface::{
        cli::{self, Output},
        log,
    },
};

/// Where the user's own folder lies.
const HOME: &str = "GIT_BLUE_HOME";

/// Runs the process. Returns the exit code.
pub fn main() -> u8 {
    // Not locked: a server writes from where its runtime does.
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let env = match Env::from_process() {
        Ok(env) => env,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(err, "fatal: cannot read the current folder: {error}");
            return Kind::Cannot.exit_code();
        }
    };
    if let Err(error) = log::start(&env) {
        use std::io::Write as _;
        let _ = writeln!(err, "warning: nothing is logged: {}: {error}", log::VARIABLE);
    }
    let arguments: Vec<_> = env.arguments().to_vec();
    let mut output = Output::new(&env, &mut out, &mut err);
    cli::run(env, &arguments, &mut output)
}

/// Returns what operations work with, in the folder of `env`. A realm that is not found is kept as
/// an error: some operations do without.
///
/// # Errors
/// Where the repository around the folder cannot be opened, or there is no home folder.
pub fn ctx(env: Env, realm: Option<RealmName>) -> Result<Ctx, OpError> {
    let home = home(&env)?;
    let place = Place { cwd: env.cwd().to_owned(), vars: env.vars().clone(), in_hook: env.in_hook() };
    let code = CodeRepo::discover(&place)?;
    let here = find(&env, &home, code.as_ref(), realm);
    match &here {
        Ok(here) => tracing::debug!(realm = ?here.realm, repo = ?here.repo, folder = ?env.cwd(), "found"),
        Err(error) => tracing::debug!(code = error.code, folder = ?env.cwd(), "found no realm"),
    }
    Ok(Ctx { env, home, code, here })
}

/// Returns what operations work with in a realm of this machine, wherever the program was started:
/// without a repository, or in the work tree of `repo`, if it lies on this machine.
///
/// # Errors
/// Where there is no home folder, or the realm does not have that repository.
pub fn in_realm(env: Env, realm: &RealmName, repo: Option<&RepoName>) -> Result<Ctx, OpError> {
    let home = home(&env)?;
    let known = trusted(&home, realm, None)?;
    let store = GitStore::open(&known.path, options(&env))?;
    held(&known, &store)?;
    if let Some(repo) = repo
        && !Overview::open(&store)?.repos().contains_key(repo)
    {
        let message = format!("the realm {realm} has no repository {repo}");
        return Err(OpError::no("unknown-repo", message));
    }
    let folder = repo.map(|repo| home.repo_path(repo)).transpose()?.flatten().filter(|folder| folder.is_dir());
    let env = env.at(folder.as_deref().unwrap_or(Path::new("/")));
    let place = Place { cwd: env.cwd().to_owned(), vars: env.vars().clone(), in_hook: false };
    let code = folder.map(|_| CodeRepo::discover(&place)).transpose()?.flatten();
    let here = Here { realm: realm.clone(), store: Box::new(store), repo: repo.cloned() };
    Ok(Ctx { env, home, code, here: Ok(here) })
}

/// Returns the user's own folder.
///
/// # Errors
/// Where no variable says where it is.
pub fn home(env: &Env) -> Result<Home, OpError> {
    let folder = env.var(HOME).map(|folder| env.cwd().join(folder)).or_else(|| Some(env.home()?.join(".blue")));
    folder.map(Home::new).ok_or_else(|| {
        OpError::cannot("no-home", "neither GIT_BLUE_HOME nor HOME is set, so the realms of this machine are not found")
            .next("set GIT_BLUE_HOME to a folder of your own")
    })
}

/// Which realm, which repository: the flag, the variables, `.blue/config.yaml`, git's configuration.
fn find(env: &Env, home: &Home, code: Option<&CodeRepo>, flag: Option<RealmName>) -> Result<Here, OpError> {
    let proposed = match code {
        Some(code) => admin::join::proposed(code)?,
        None => None,
    };
    let config = |key| code.and_then(|code| code.config(key));
    let variable = |name| env.text(name).map(str::to_owned);
    let named = match flag {
        Some(realm) => Some(realm),
        None => match variable(REALM) {
            Some(text) => Some(text.parse()?),
            None => match &proposed {
                Some(config) => Some(config.realm.name.clone()),
                None => config("blue.realm").map(|text| text.parse()).transpose()?,
            },
        },
    };
    let realm = named.ok_or_else(|| no_realm(env, code))?;
    let repo: Option<RepoName> = match variable(REPO) {
        Some(text) => Some(text.parse()?),
        None => match &proposed {
            // Elsewhere than in the realm it proposes, the repository is nobody.
            Some(config) => Some(config.repo.clone()).filter(|_| config.realm.name == realm),
            None => config("blue.repo").map(|text| text.parse()).transpose()?,
        },
    };
    let known = trusted(home, &realm, proposed.as_ref())?;
    let store = GitStore::open(&known.path, options(env))?;
    held(&known, &store)?;
    repo.iter().try_for_each(|repo| renamed::refuse(&store, repo))?;
    Ok(Here { realm, store: Box::new(store), repo })
}

/// A store that somebody else's took the place of is not the realm.
fn held(known: &KnownRealm, store: &GitStore) -> Result<(), OpError> {
    let found = read::realm(store)?;
    if found.name != known.name {
        let message = format!("{} holds the realm {}, not {}", known.path.display(), found.name, known.name);
        return Err(OpError::cannot("other-realm", message));
    }
    Ok(())
}

/// What a repository proposes is compared with what the user recorded, and never followed.
fn trusted(home: &Home, realm: &RealmName, proposed: Option<&Config>) -> Result<KnownRealm, OpError> {
    let url = proposed.filter(|config| config.realm.name == *realm).and_then(|config| config.realm.url.clone());
    let Some(known) = home.realm(realm)? else {
        let at = url.map(|url| format!(" (said to be shared at {url})")).unwrap_or_default();
        let message = format!("the realm {realm}{at} is not known on this machine");
        return Err(OpError::cannot("not-in-realm", message).next(format!("git blue init --realm {realm}")));
    };
    admin::join::same_url(home, &known, proposed)?;
    Ok(known)
}

fn no_realm(env: &Env, code: Option<&CodeRepo>) -> OpError {
    let place: PathBuf = code.and_then(CodeRepo::workdir).unwrap_or_else(|| env.cwd().to_owned());
    let message = format!("{} is not in a realm", place.display());
    OpError::cannot("not-in-realm", message).next("git blue init --realm NAME: bring it into one")
}
