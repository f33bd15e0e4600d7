//! Records the first baselines of repositories that another machine made members of domains. Without one, a reader is
//! notified of nothing until it has looked once.

use super::{
    change_decoder::since_adapted,
    inbox::{self, Baseline, Inbox},
    pending::cli_reader,
};
use crate::{
    error::OpError,
    model::name::{RealmName, RepoName},
    ops::ctx::{ActingRepo, Ctx},
    store::{
        Store,
        overview::{Line, Overview},
        read::Published,
    },
};

/// Records what a repository knows of each domain in which it has no baseline: everything that is there now, apart from
/// newer versions than those that its code is adapted to.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the store cannot be written.
pub fn record(ctx: &Ctx, realm: &RealmName, store: &dyn Store, repos: &[RepoName]) -> Result<(), OpError> {
    let overview = Overview::open(store)?;
    for repo in repos {
        let acting = ActingRepo { realm, store, repo, code: None };
        let held = Inbox::open(store, repo, &cli_reader())?.baselines(store)?;
        let missing = overview.domains_of(repo).filter(|line| held.of(&line.name).is_none());
        let found: Vec<_> = missing.map(|line| baseline(acting, &overview, line)).collect::<Result<_, _>>()?;
        inbox::start(store, repo, &found.into_iter().flatten().collect::<Vec<_>>(), || ctx.env.now_here())?;
    }
    Ok(())
}

/// Returns the baseline for a domain as it is. Returns `None` if the domain is damaged.
fn baseline(acting: ActingRepo<'_>, overview: &Overview<'_>, line: &Line) -> Result<Option<Baseline>, OpError> {
    let baseline = Baseline { domain: line.name.clone(), tree: line.tree, pending: Vec::new() };
    if line.is_as_adapted(acting.repo) {
        return Ok(Some(baseline));
    }
    let domain = match overview.summary(line) {
        Ok(domain) if domain.takes_part(acting.repo) => domain,
        Ok(_) => return Ok(None),
        Err(error) if error.is_damage() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let published = Published::in_tree(acting.store, &line.tree);
    let newer = since_adapted(acting, &domain, &published, &line.tree)?;
    let pending = newer.into_iter().map(|difference| (difference.path, difference.old)).collect();
    Ok(Some(Baseline { pending, ..baseline }))
}
