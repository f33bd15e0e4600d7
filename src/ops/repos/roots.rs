//! Records the root commits of a repository that joined before its first commit, or whose history was rewritten.

use super::{identity, joined};
use crate::{
    error::OpError,
    model::{oid::Oid, realm::Repo},
    ops::{
        ctx::{ActingRepo, Ctx},
        domain,
        message::Message,
    },
    repo::CodeRepo,
    store::{Edit, Store, codec, layout, read},
};

/// Records the root commits of a joined clone that had none when it joined. Hooks, `status` and syncs call it each
/// time; it reads the clone's mark, and writes only once.
///
/// # Errors
/// Returns an error if the clone or the realm cannot be read or written.
pub fn record_roots(ctx: &Ctx) -> Result<(), OpError> {
    let (Some(code), Ok(acting)) = (&ctx.code, ctx.acting_repo()) else {
        return Ok(());
    };
    let Some(joined) = joined::read(&ctx.home, code)? else {
        return Ok(());
    };
    if joined.has_roots || !joined.is_of(acting.realm, acting.repo) {
        return Ok(());
    }
    let now = identity::of(code, acting.repo)?;
    if now.roots.is_empty() {
        return Ok(());
    }
    record(ctx, acting.store, &now, |held| Ok(held.roots.is_empty()))?;
    joined::write(&ctx.home, code, acting.realm, acting.repo, true)
}

/// Records the root commits of a commit that shares no history with the published one. While the clone still has a
/// recorded root commit, this is certainly the same repository: git removes that commit months later.
///
/// # Errors
/// Returns an error if the clone or the realm cannot be read or written.
pub fn record_rewritten(ctx: &Ctx, acting: ActingRepo<'_>, code: &CodeRepo, commit: &Oid) -> Result<(), OpError> {
    let now = Repo { name: acting.repo.clone(), url: None, roots: code.roots(commit)? };
    record(ctx, acting.store, &now, |held| Ok(identity::has_a_root(code, held)?))
}

/// Adds root commits to an entry if `is_same` holds for it.
fn record(
    ctx: &Ctx,
    store: &dyn Store,
    now: &Repo,
    is_same: impl Fn(&Repo) -> Result<bool, OpError>,
) -> Result<(), OpError> {
    domain::change_realm(ctx, store, || {
        let repos = read::repos(store)?.repos;
        let Some(held) = repos.get(&now.name) else { return Ok(None) };
        let document = identity::with_facts(held, now);
        if document == *held || !is_same(held)? {
            return Ok(None);
        }
        let subject = format!("record the root commits of {}", now.name);
        let edits = vec![(layout::repo(&now.name), Edit::Put(codec::encode(&document)))];
        Ok(Some((edits, Message { repo: Some(&now.name), ..Message::of(ctx, subject) })))
    })?;
    Ok(())
}
