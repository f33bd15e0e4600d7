//! Records the root commits of a repository that joined before its first commit.

use super::{identity, joined};
use crate::{
    error::OpError,
    model::realm::Repo,
    ops::{ctx::Ctx, domain, message::Message},
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
    let Some(held) = identity::entry(acting)? else {
        return Ok(());
    };
    if held.roots.is_empty() {
        record(ctx, acting.store, &now)?;
    }
    joined::write(&ctx.home, code, acting.realm, acting.repo, true)
}

fn record(ctx: &Ctx, store: &dyn Store, now: &Repo) -> Result<(), OpError> {
    domain::change_realm(ctx, store, || {
        let repos = read::repos(store)?.repos;
        let Some(held) = repos.get(&now.name).filter(|held| held.roots.is_empty()) else {
            return Ok(None);
        };
        let document = identity::with_facts(held, now);
        let subject = format!("record the root commits of {}", now.name);
        let edits = vec![(layout::repo(&now.name), Edit::Put(codec::encode(&document)))];
        Ok(Some((edits, Message { repo: Some(&now.name), ..Message::of(ctx, subject) })))
    })?;
    Ok(())
}
