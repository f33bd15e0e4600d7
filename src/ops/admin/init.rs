//! `realm_admin_init`: creates a realm, without joining it.

use std::path::{Path, PathBuf};

use crate::{
    error::{ErrorCode, OpError},
    machine::home::{KnownRealm, recordable},
    model::{
        name::RealmName,
        realm::{Cycles, FORMAT, Realm},
    },
    ops::{
        Operation,
        ctx::Ctx,
        message::Message,
        runs,
        sync::{self, url},
    },
    store::{
        Change, Edit, Parents, Store as _, StoreError, codec,
        git::{self, GitStore},
        layout, read,
    },
    wire::{Answer, RealmInit},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("realm_admin_init", &["realm", "admin", "init"], "Create a realm");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The realm's name
    #[cfg_attr(feature = "cli", arg(long, value_name = "REALM"))]
    pub name: RealmName,
    /// The path of the store [default: below $GIT_BLUE_HOME]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATH"))]
    pub path: Option<PathBuf>,
    /// Share the realm at this URL
    #[cfg_attr(feature = "cli", arg(long, value_name = "URL"))]
    pub url: Option<String>,
    /// Store the realm in branches, for hosts that accept no other refs
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, requires = "url"))]
    pub branches: bool,
}

runs!(RealmInit, run);

/// Creates the realm, or records one whose store already exists.
///
/// # Errors
/// Returns an error if this machine has a realm of that name, or something else is at the path.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmInit>, OpError> {
    url::refuse_credentials(request.url.as_deref())?;
    let name = &request.name;
    let url = request.url.as_deref().map(|url| url::typed(&ctx.place(), &ctx.home, url)).transpose()?;
    for known in ctx.home.realms()? {
        if known.name == *name {
            let message = format!("this machine already has a realm {name}, at {}", known.path.display());
            return Err(OpError::no(ErrorCode::RealmExists, message).next(format!("git blue realm admin join {name}")));
        }
        if known.name.collides_with(name) {
            let message = format!("{name} differs from the realm {} only in case", known.name);
            return Err(OpError::no(ErrorCode::NameCollision, message));
        }
    }
    let path = match &request.path {
        Some(path) => ctx.env.cwd().join(path),
        None => ctx.home.default_store(name),
    };
    recordable(&path)?;
    let created = if is_there(ctx, name, &path)? { Ok(false) } else { create(ctx, name, &path).map(|()| true) };
    // Another process may have been faster.
    let created = created.or_else(|error| if is_there(ctx, name, &path)? { Ok(false) } else { Err(error) })?;
    let path = dunce::canonicalize(&path).unwrap_or(path);
    // A store whose record was lost still knows where it is shared.
    let is_kept = !created && request.path.is_none();
    let url = url.or_else(|| if is_kept { recorded_url(ctx, &path) } else { None });
    let known = KnownRealm { name: name.clone(), path: path.clone(), url: url.clone(), former_urls: Vec::new() };
    ctx.home.record_realm(&known)?;
    if let Some(url) = &url {
        sync::realm_clone::record(ctx, &known, url, request.branches)?;
    }
    let body = RealmInit { realm: name.clone(), path: path.display().to_string(), url, created };
    Ok(Answer::new(body).next(format!("git blue init --realm {name}  # in each repository that joins")))
}

/// Returns whether the store of the realm is at a path.
fn is_there(ctx: &Ctx, name: &RealmName, path: &Path) -> Result<bool, OpError> {
    let store = match GitStore::open(path, ctx.options()) {
        Err(StoreError::NotAStore { .. }) => return Ok(false),
        store => store?,
    };
    let found = read::realm(&store)?;
    if found.name != *name {
        let message = format!("{} contains the realm {}, not {name}", path.display(), found.name);
        return Err(OpError::no(ErrorCode::OtherRealm, message));
    }
    Ok(true)
}

/// Returns the URL at which the realm of a store is shared.
fn recorded_url(ctx: &Ctx, path: &Path) -> Option<String> {
    let remotes = GitStore::open(path, ctx.options()).ok()?.remotes();
    remotes.into_iter().find(|remote| remote.name == sync::realm_clone::origin()).map(|remote| remote.url)
}

fn create(ctx: &Ctx, name: &RealmName, path: &Path) -> Result<(), OpError> {
    let in_the_way =
        path.symlink_metadata().is_ok() && !path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if in_the_way {
        let message = format!("{} already exists, and is not the store of a realm", path.display());
        return Err(OpError::no(ErrorCode::PathTaken, message).next("choose another path with --path"));
    }
    let first = Change {
        edits: vec![(
            layout::realm(),
            Edit::Put(codec::encode(&Realm { format: FORMAT, name: name.clone(), cycles: Cycles::default() })),
        )],
        message: Message { subject: format!("create realm {name}"), ..Message::default() }.text(),
        author: ctx.signature()?,
        committer: None,
        parents: Parents::Tip,
    };
    git::create(path, &first, ctx.options())?;
    Ok(())
}
