//! Wiring: finds the repository and the realm, and hands every surface what it works with.

use std::path::PathBuf;

use crate::{
    env::Env,
    error::{Kind, OpError},
    model::name::{RealmName, RepoName},
    ops::{
        ctx::{Ctx, Here, options},
        realm_admin_join,
    },
    store::{
        codec::Config,
        git::{
            GitStore,
            code::{CodeRepo, Place},
            home::{Home, KnownRealm},
        },
        read,
    },
    surface::{
        cli::{self, Output},
        log,
    },
};

/// Names the realm instead of the repository's own word.
const REALM: &str = "GIT_BLUE_REALM";
/// Names the repository instead of its own word.
const REPO: &str = "GIT_BLUE_REPO";
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
        Some(code) => realm_admin_join::proposed(code)?,
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
    let found = read::realm(&store)?;
    if found.name != realm {
        let message = format!("{} holds the realm {}, not {realm}", known.path.display(), found.name);
        return Err(OpError::cannot("other-realm", message));
    }
    Ok(Here { realm, store: Box::new(store), repo })
}

/// What a repository proposes is compared with what the user recorded, and never followed.
fn trusted(home: &Home, realm: &RealmName, proposed: Option<&Config>) -> Result<KnownRealm, OpError> {
    let url = proposed.filter(|config| config.realm.name == *realm).and_then(|config| config.realm.url.clone());
    let Some(known) = home.realm(realm)? else {
        let at = url.map(|url| format!(" (said to be shared at {url})")).unwrap_or_default();
        let message = format!("the realm {realm}{at} is not known on this machine");
        return Err(OpError::cannot("not-in-realm", message).next(format!("git blue init --realm {realm}")));
    };
    realm_admin_join::same_url(home, &known, proposed)?;
    Ok(known)
}

fn no_realm(env: &Env, code: Option<&CodeRepo>) -> OpError {
    let place: PathBuf = code.and_then(CodeRepo::workdir).unwrap_or_else(|| env.cwd().to_owned());
    let message = format!("{} is not in a realm", place.display());
    OpError::cannot("not-in-realm", message).next("git blue init --realm NAME: bring it into one")
}
