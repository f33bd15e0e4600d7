//! The context of an operation: where it was called, its realm and its repository.

use std::{cell::RefCell, path::Path, time::Duration};

use jiff::Timestamp;

pub use super::acting_repo::ActingRepo;
use super::{
    progress::RequestProgress,
    repos::{identity, joined},
};
pub use crate::locate::RealmContext;
use crate::{
    env::Env,
    error::{CliOption, ErrorCode, NextStep, OpError},
    locate,
    machine::{
        home::{Home, KnownRealm},
        user_config,
    },
    model::{
        name::{RealmName, RepoName},
        schema::Budget,
        verdict::Judge,
    },
    repo::{CodeRepo, DiscoverOptions},
    store::{
        FileCache, Signature, StoreError,
        git::{GitStore, Options},
    },
};

/// The time limit for comparing schemas in one request.
const REQUEST_COMPARES: Duration = Duration::from_secs(30);
/// The time limit in a hook, while git waits.
const HOOK_COMPARES: Duration = Duration::from_secs(2);
/// The time limit for answers that only show the current state.
const QUICK_COMPARES: Duration = Duration::from_secs(2);

/// The context of an operation.
pub struct Ctx {
    /// The environment: time, variables, current folder.
    pub env: Env,
    /// The records of this machine.
    pub home: Home,
    /// The user's repository that contains the current folder, if there is one.
    pub code: Option<CodeRepo>,
    /// The realm and the current repository, or why there are none. Some operations need neither.
    pub realm: Result<RealmContext, OpError>,
    /// The time at which the realm is read; `None` for the current state.
    pub as_of: Option<Timestamp>,
    /// The progress of the current request. Servers reuse the rest of the context for the next one.
    pub progress: RefCell<RequestProgress>,
}

impl Ctx {
    /// Creates the context of an operation on the current state.
    pub fn new(env: Env, home: Home, code: Option<CodeRepo>, realm: Result<RealmContext, OpError>) -> Self {
        Self { env, home, code, realm, as_of: None, progress: RefCell::default() }
    }

    /// Finds the repository and realm of the current folder in `env`. If no realm is found, the error is stored,
    /// because some operations do not need a realm.
    ///
    /// # Errors
    /// Returns an error if the repository cannot be opened, or there is no home folder.
    pub fn open(env: Env, realm: Option<RealmName>) -> Result<Self, OpError> {
        let home = locate::home(&env)?;
        let code = CodeRepo::discover(&place(&env))?;
        let here = locate::find(&env, &home, code.as_ref(), realm, options(&env));
        let here = here.map_err(|error| joined::explain_missing_config(&home, code.as_ref(), options(&env), error));
        match &here {
            Ok(here) => tracing::debug!(realm = ?here.realm, repo = ?here.repo, folder = ?env.cwd(), "found"),
            Err(error) => tracing::debug!(code = error.code.as_str(), folder = ?env.cwd(), "found no realm"),
        }
        Ok(Self::new(env, home, code, here))
    }

    /// Opens a realm of this machine independently of the current folder: in the working tree of `repo` if that is on
    /// this machine, and without a repository otherwise.
    ///
    /// # Errors
    /// Returns an error if there is no home folder, or the realm does not have that repository.
    pub fn in_realm(env: Env, realm: &RealmName, repo: Option<&RepoName>) -> Result<Self, OpError> {
        let home = locate::home(&env)?;
        let here = locate::in_realm(&home, realm, repo, options(&env))?;
        let folder = repo.map(|repo| locate::folder(&home, realm, &*here.store, repo)).transpose()?.flatten();
        let folder = folder.filter(|folder| folder.is_dir());
        let code = folder.as_deref().map(|folder| clone_in(&env, folder)).transpose()?.flatten();
        let env = env.at(folder.as_deref().unwrap_or(Path::new("/"))).without_repository();
        Ok(Self::new(env, home, code, Ok(here)))
    }

    /// Returns the clone of a repository, if it is on this machine, with the configuration of its user. Configuration
    /// that was passed to this command only, such as another identity with `git -c`, does not apply to the clone.
    ///
    /// # Errors
    /// Returns an error if this machine's records cannot be read, or the clone cannot be opened.
    pub fn clone_of(&self, repo: &RepoName) -> Result<Option<CodeRepo>, OpError> {
        let here = self.realm()?;
        let folder = locate::folder(&self.home, &here.realm, &*here.store, repo)?.filter(|folder| folder.is_dir());
        let vars = self.env.clone().of_hook().vars().clone();
        let place = |cwd| DiscoverOptions { cwd, vars: vars.clone(), in_hook: true };
        Ok(folder.map(|folder| CodeRepo::discover(&place(folder))).transpose()?.flatten())
    }

    /// Opens the repository that contains another folder, regardless of variables that refer to this one.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub fn other_repo(&self, folder: &Path) -> Result<Option<CodeRepo>, StoreError> {
        let vars = self.env.vars_for_other_repo();
        CodeRepo::discover(&DiscoverOptions { cwd: folder.to_owned(), vars, in_hook: false })
    }

    /// Returns the path from the folder in which the command was started to the root of the working tree, with which
    /// the paths in printed commands start: empty at the root, and `../` for each folder below it.
    pub fn up_to_root(&self) -> String {
        let root = self.code.as_ref().and_then(CodeRepo::workdir).and_then(|root| dunce::canonicalize(root).ok());
        let below = root.zip(dunce::canonicalize(self.env.cwd()).ok());
        let below = below.and_then(|(root, cwd)| Some(cwd.strip_prefix(root).ok()?.components().count()));
        "../".repeat(below.unwrap_or_default())
    }

    /// Returns whether this is the context of a server whose client named no directory.
    pub fn is_nowhere(&self) -> bool {
        self.env.is_long_running() && self.env.cwd() == Path::new("/")
    }

    /// Returns the realm.
    ///
    /// # Errors
    /// Returns the error that says why it was not found.
    pub fn realm(&self) -> Result<&RealmContext, OpError> {
        self.realm.as_ref().map_err(Clone::clone)
    }

    /// Returns the realm and the current repository.
    ///
    /// # Errors
    /// Returns an error if there is no realm or no repository.
    pub fn acting_repo(&self) -> Result<ActingRepo<'_>, OpError> {
        let here = self.realm()?;
        let repo = here.repo.as_ref().ok_or_else(|| {
            let message = if self.is_nowhere() {
                "no directory of a repository in the realm was given"
            } else {
                "this directory is not in a repository of the realm"
            };
            OpError::cannot(ErrorCode::NotInRepo, message)
                .next(NextStep::option(CliOption::Folder, "change to a repository of the realm, or pass -C DIR"))
        })?;
        Ok(ActingRepo { realm: &here.realm, store: &*here.store, repo, code: self.code.as_ref() })
    }

    /// Returns the realm and the current repository, if this clone may write: its user joined it,
    /// and the realm still has the same repository under the name.
    ///
    /// # Errors
    /// Returns an error that says why it may not write.
    pub fn require_writable(&self) -> Result<ActingRepo<'_>, OpError> {
        self.in_present()?;
        let acting = self.acting_repo()?;
        identity::require(&self.home, self.code()?, acting)?;
        Ok(acting)
    }

    /// Returns the realm for a change that needs no repository. Outside of a repository, this is always allowed;
    /// inside, the repository must be allowed to write.
    ///
    /// # Errors
    /// Returns an error if there is no realm, or the repository may not write.
    pub fn require_writable_realm(&self) -> Result<&RealmContext, OpError> {
        self.in_present()?;
        let here = self.realm()?;
        if here.repo.is_some() && self.code.is_some() {
            self.require_writable()?;
        }
        Ok(here)
    }

    /// Returns the realm and the current repository, to record the state of readers and sessions. A
    /// clone must be allowed to write; outside of one, the caller names the repository.
    ///
    /// # Errors
    /// Returns an error if there is no repository, or the clone may not write.
    pub fn require_reader(&self) -> Result<ActingRepo<'_>, OpError> {
        self.in_present()?;
        if self.code.is_some() { self.require_writable() } else { self.acting_repo() }
    }

    /// Returns the user's repository.
    ///
    /// # Errors
    /// Returns an error if the current folder is not in a repository.
    pub fn code(&self) -> Result<&CodeRepo, OpError> {
        self.code.as_ref().ok_or_else(|| {
            let message = if self.is_nowhere() {
                "no directory in a git repository was named".to_owned()
            } else {
                format!("{} is not in a git repository", self.env.cwd().display())
            };
            OpError::cannot(ErrorCode::NotInGit, message)
                .next(NextStep::option(CliOption::Folder, "change to a repository, or pass -C DIR"))
        })
    }

    /// Returns the user's git identity and the time.
    ///
    /// # Errors
    /// Returns an error if git has no identity configured.
    pub fn signature(&self) -> Result<Signature, OpError> {
        let of = |part: &str, upper: &str| {
            let named = self.env.text(&format!("GIT_COMMITTER_{upper}")).map(str::to_owned);
            let keys = ["committer", "user"].map(|section| format!("{section}.{part}"));
            let own = || keys.iter().find_map(|key| self.code.as_ref()?.config(key));
            let global = || keys.iter().find_map(|key| self.place().global_config(key));
            named.or_else(own).or_else(global)
        };
        match (of("name", "NAME"), of("email", "EMAIL")) {
            (Some(name), Some(email)) => Ok(Signature { name, email, time: self.env.now_here() }),
            (name, email) => Err(no_identity(name.is_none(), email.is_none())),
        }
    }

    /// Returns the value of a configuration key: the repository's, or the user's outside of a repository.
    pub fn setting(&self, key: &str) -> Option<String> {
        match &self.code {
            Some(code) => code.config(key),
            None => self.place().global_config(key),
        }
    }

    /// Returns the program that a configuration key names.
    pub fn program(&self, key: &str) -> Option<String> {
        match &self.code {
            Some(code) => code.program(key),
            None => self.place().global_config(key),
        }
    }

    /// Returns whether sessions are shared with remotes.
    pub fn shares_sessions(&self) -> bool {
        self.setting("blue.shareSessions").is_some_and(|value| user_config::is_true(&value))
    }

    /// Returns the user's git identity, or the program's own if git has none, because maintenance must work without
    /// one.
    pub fn upkeep_signature(&self) -> Signature {
        self.signature().unwrap_or_else(|_| own_signature(self.env.now_here()))
    }

    /// Returns how the user's repositories are discovered.
    pub fn place(&self) -> DiscoverOptions {
        place(&self.env)
    }

    /// Returns the time limit for all comparisons of one request.
    pub fn budget(&self) -> Budget {
        let budget = Budget::new(self.env.check_timeout()).measured_by(self.env.cpu_stopwatch());
        budget.cancelled_by(self.progress().flag())
    }

    /// Returns a judge that validates values and compares schemas within the time limit of this request.
    pub fn judge(&self) -> Judge<'_> {
        if self.env.in_hook() {
            self.judge_within(HOOK_COMPARES).in_hook()
        } else {
            self.judge_within(REQUEST_COMPARES)
        }
    }

    /// Returns a judge with a shorter time limit, for notifications that are added to an answer.
    pub fn quick_judge(&self) -> Judge<'_> {
        self.judge_within(QUICK_COMPARES)
    }

    fn judge_within(&self, whole: Duration) -> Judge<'_> {
        let cache = self.realm.as_ref().ok().and_then(|here| here.store.cache());
        Judge::new(self.budget(), self.progress().clock(self.env.cpu_stopwatch()), whole)
            .with_answers(cache.map(FileCache::comparisons))
    }

    /// Returns the progress of the current request.
    pub fn progress(&self) -> RequestProgress {
        self.progress.borrow().clone()
    }

    /// Opens the store of a realm of this machine.
    ///
    /// # Errors
    /// Returns an error if the store is missing or cannot be opened.
    pub fn open_store(&self, known: &KnownRealm) -> Result<GitStore, OpError> {
        locate::open(&self.home, known, self.options())
    }

    /// Opens the store of a realm of this machine, even if the ref of the realm is lost.
    ///
    /// # Errors
    /// Returns the other errors of [`Self::open_store`].
    pub fn open_store_to_repair(&self, known: &KnownRealm) -> Result<GitStore, OpError> {
        locate::open_to_repair(&self.home, known, self.options())
    }

    /// Returns how stores wait for locks.
    pub fn options(&self) -> Options {
        options(&self.env)
    }
}

fn place(env: &Env) -> DiscoverOptions {
    DiscoverOptions { cwd: env.cwd().to_owned(), vars: env.vars().clone(), in_hook: env.in_hook() }
}

fn clone_in(env: &Env, folder: &Path) -> Result<Option<CodeRepo>, OpError> {
    let place = DiscoverOptions { cwd: env.cwd().join(folder), vars: env.vars_for_other_repo(), in_hook: false };
    Ok(CodeRepo::discover(&place)?)
}

/// Returns the error for a user whose name, email or both git does not know.
fn no_identity(lacks_name: bool, lacks_email: bool) -> OpError {
    let missing = match (lacks_name, lacks_email) {
        (true, false) => "name",
        (false, true) => "email",
        _ => "identity",
    };
    let message = format!("git does not know your {missing}, which every change to a realm records");
    OpError::cannot(ErrorCode::NoIdentity, message)
        .next_if(lacks_name, "git config --global user.name \"Your Name\"")
        .next_if(lacks_email, "git config --global user.email you@example.com")
}

/// Returns the program's own identity, for changes that no user made.
pub fn own_signature(time: jiff::Zoned) -> Signature {
    Signature { name: "git blue".into(), email: "git-blue@localhost".into(), time }
}

/// Returns how stores wait for locks, and whether they use their caches.
pub fn options(env: &Env) -> Options {
    Options {
        lock_timeout: env.lock_timeout(),
        seed: env.seed(),
        cache: env.cache(),
        holds: env.is_long_running() && env.cache(),
        on_wait: env.on_wait(),
    }
}
