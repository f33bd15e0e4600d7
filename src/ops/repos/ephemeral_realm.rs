//! A realm that is fetched for one command and removed again, as in CI on a machine that has no realm.

use std::path::{Path, PathBuf};

use crate::{
    error::{ErrorCode, OpError},
    locate::{self, proposed},
    machine::home::Home,
    model::{
        name::{DomainName, RealmName, RepoName},
        repo_url::{RepoUrl, without_credentials},
        text::shell_word,
    },
    ops::{
        ctx::{Ctx, RealmContext},
        sync::{self, realm_clone::RealmLocation, url},
    },
    repo::CodeRepo,
    store::{
        StoreRef,
        git::{GitStore, UnfinishedStore},
        remote::Remote,
    },
};

/// The depth of a fetch that git takes for all of the history.
const WHOLE_HISTORY: u32 = i32::MAX.unsigned_abs();

/// A realm that is removed when this is dropped.
pub struct SnapshotRealm {
    /// The context of operations.
    pub ctx: Ctx,
    /// The place that it was fetched from.
    pub source: SnapshotSource,
    _aside: UnfinishedStore,
}

/// The place that a realm was fetched from without its history, and the folder that it is in.
#[derive(Debug, Clone)]
pub struct SnapshotSource {
    remote: Remote,
    folder: PathBuf,
}

impl SnapshotSource {
    /// Fetches the history of a domain.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn fetch_history(&self, ctx: &Ctx, domain: &DomainName) -> Result<(), OpError> {
        let link = sync::realm_clone::connection(ctx, &self.folder, &self.remote);
        link.fetch(&[StoreRef::Domain(domain.clone())], Some(WHOLE_HISTORY))
            .map_err(|error| unreachable(error.into(), &self.remote.url))
    }
}

/// Fetches the realm at a URL that the user typed, without its history, into a temporary folder. Nothing is recorded,
/// and nothing is ever pushed.
///
/// # Errors
/// Returns an error if the URL is not accepted, cannot be reached, has no realm, or has a different one than the
/// repository names.
pub fn at_url(ctx: &Ctx, typed: &str) -> Result<SnapshotRealm, OpError> {
    let url = url::absolute(ctx.env.cwd(), url::accept(typed)?);
    let (remote, listing) = sync::realm_clone::find_remote_realm(ctx, &url, false)
        .map_err(|error| unreachable(error, &url))?
        .ok_or_else(|| no_realm(typed))?;
    let aside = UnfinishedStore::new(&ctx.env.temporary_folder(), ctx.options())?;
    let fetched = sync::realm_clone::fetch_realm(ctx, &aside, &remote, &listing, Some(1))
        .map_err(|error| unreachable(error, &url))?;
    // A verdict without one of the domains could be wrong.
    if let Some(error) = fetched.left_out.into_iter().next() {
        return Err(error);
    }
    let realm = fetched.name;
    let code = CodeRepo::discover(&ctx.place())?;
    let repo = who(ctx, code.as_ref(), &realm)?;
    let source = SnapshotSource { remote, folder: aside.store.path() };
    let store = GitStore::open(&source.folder, ctx.options())?;
    let here = Ok(RealmContext::new(realm, store, repo));
    let temporary = Ctx::new(ctx.env.clone(), ctx.home.clone(), code, here);
    Ok(SnapshotRealm { ctx: Ctx { progress: ctx.progress.clone(), ..temporary }, source, _aside: aside })
}

fn no_realm(url: &str) -> OpError {
    OpError::cannot(ErrorCode::NoRealmThere, format!("{} contains no realm", without_credentials(url)))
}

/// Returns a fetch error with next steps that fit a realm that is not kept for a later sync.
fn unreachable(error: OpError, url: &str) -> OpError {
    if error.code != ErrorCode::Remote {
        return error;
    }
    let url = without_credentials(url);
    // The configuration of the clone, which somebody else may have written, is not used for the realm.
    let elsewhere = if RepoUrl::of(&url).is_relative() { "" } else { " -C /" };
    let step = format!(
        "git{elsewhere} ls-remote {}  # must work there: the configuration of this clone is not used for the realm",
        shell_word(&url)
    );
    OpError { next_steps: vec![step.into()], ..error }
}

/// A realm in a temporary home, which is removed when this is dropped.
pub struct TemporaryRealm {
    /// The context of operations.
    pub ctx: Ctx,
    /// The name of the realm.
    pub realm: RealmName,
    _folder: tempfile::TempDir,
}

/// Clones the realm at a URL that the user typed, with its history, into a temporary home that has no records of
/// clones.
///
/// # Errors
/// Returns an error if the URL is not accepted, cannot be reached, or has no realm.
pub fn clone_temporary(ctx: &Ctx, url: &str) -> Result<TemporaryRealm, OpError> {
    let temporary = ctx.env.temporary_folder();
    let folder = tempfile::tempdir_in(&temporary).map_err(OpError::io("create a directory in", temporary))?;
    let here = Err(OpError::usage("no realm was named"));
    let env = ctx.env.clone().with(locate::HOME, folder.path());
    let ctx = Ctx { progress: ctx.progress.clone(), ..Ctx::new(env, Home::new(folder.path()), None, here) };
    let found = sync::realm_clone::obtain(&ctx, RealmLocation { realm: None, url, branches: false, is_partial: false });
    let found = found.map_err(|error| unreachable(error, url))?.ok_or_else(|| no_realm(url))?;
    let realm = found.realm;
    let store = GitStore::open(&ctx.home.default_store(&realm), ctx.options())?;
    let here = Ok(RealmContext::new(realm.clone(), store, None));
    Ok(TemporaryRealm { ctx: Ctx { realm: here, ..ctx }, realm, _folder: folder })
}

/// Opens the realm of a repository on this machine: a store, or a clone that has the realm's refs.
///
/// # Errors
/// Returns the errors of [`at_url`], or an error if there is no such folder.
pub fn at_path(ctx: &Ctx, path: &Path) -> Result<SnapshotRealm, OpError> {
    let path = ctx.env.cwd().join(path);
    if !path.is_dir() {
        return Err(OpError::cannot(ErrorCode::NoDirectory, format!("no such directory: {}", path.display())));
    }
    at_url(ctx, &path.display().to_string())
}

/// Returns the repository's name in the realm, from an environment variable, its own file or git's configuration.
///
/// # Errors
/// Returns an error if the file cannot be read, or names another realm.
pub fn who(ctx: &Ctx, code: Option<&CodeRepo>, realm: &RealmName) -> Result<Option<RepoName>, OpError> {
    if let Some(name) = ctx.env.text("GIT_BLUE_REPO") {
        return Ok(Some(name.parse()?));
    }
    let Some(config) = code.map(proposed).transpose()?.flatten() else {
        let name = code.and_then(|code| code.config("blue.repo"));
        return Ok(name.map(|name| name.parse()).transpose()?);
    };
    if config.realm.name != *realm {
        let message = format!("the repository is in the realm {}, not {realm}", config.realm.name);
        return Err(OpError::cannot(ErrorCode::OtherRealm, message).next("a repository can be in only one realm"));
    }
    Ok(Some(config.repo))
}
