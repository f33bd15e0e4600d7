//! Records the first baselines of repositories that another machine made members of domains. Without one, a reader is
//! notified of nothing until it has looked once.

use std::collections::BTreeMap;

use super::{
    change_decoder::since_adapted,
    inbox::{self, Baseline, Inbox},
    pending::cli_reader,
};
use crate::{
    error::OpError,
    model::{
        domain::Domain,
        name::{DomainName, RealmName, RepoName},
        oid::Oid,
    },
    ops::ctx::{ActingRepo, Ctx},
    store::{
        CommitInfo, Store, StoreError, layout,
        overview::{Line, Overview},
        read::{self, Published},
    },
};

/// The tips of the domains that were on this machine before it fetched others.
pub type TipsBefore = BTreeMap<DomainName, Oid>;

/// Records what a repository knows of each domain in which it has no baseline, apart from newer versions than those that
/// its code is adapted to. A repository that had joined `before` the domain was fetched knows what was there when it
/// became a member; one that joins now knows everything that is there now.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the store cannot be written.
pub fn record(
    ctx: &Ctx,
    realm: &RealmName,
    store: &dyn Store,
    repos: &[RepoName],
    before: Option<&TipsBefore>,
) -> Result<(), OpError> {
    let overview = Overview::open(store)?;
    for repo in repos {
        let acting = ActingRepo { realm, store, repo, code: None };
        let held = Inbox::open(store, repo, &cli_reader())?.baselines(store)?;
        let missing = overview.domains_of(repo).filter(|line| held.of(&line.name).is_none());
        let found: Vec<_> = missing.map(|line| baseline(acting, &overview, line, before)).collect::<Result<_, _>>()?;
        inbox::start(store, repo, &found.into_iter().flatten().collect::<Vec<_>>(), || ctx.env.now_here())?;
    }
    Ok(())
}

/// Returns the baseline for a domain. Returns `None` if the domain is damaged.
fn baseline(
    acting: ActingRepo<'_>,
    overview: &Overview<'_>,
    line: &Line,
    before: Option<&TipsBefore>,
) -> Result<Option<Baseline>, OpError> {
    let tree = match before {
        Some(before) => tree_when_joined(acting, line, before.get(&line.name))?,
        None => line.tree,
    };
    let baseline = Baseline { domain: line.name.clone(), tree, pending: Vec::new() };
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

/// Returns the domain's tree in the commit that made the repository a member. Returns that of the tip if the repository
/// was a member `before`, so that its baseline was lost.
fn tree_when_joined(acting: ActingRepo<'_>, line: &Line, before: Option<&Oid>) -> Result<Oid, StoreError> {
    if let Some(before) = before
        && takes_part(acting, before)?.is_some()
    {
        return Ok(line.tree);
    }
    let Some(mut first) = takes_part(acting, &line.tip)? else { return Ok(line.tree) };
    while let Some(earlier) = first.parents.iter().find_map(|parent| takes_part(acting, parent).transpose()) {
        first = earlier?;
    }
    Ok(first.tree)
}

/// Returns a commit of a domain in which the repository takes part. Returns `None` if it does not, or the commit is
/// missing or damaged.
fn takes_part(acting: ActingRepo<'_>, commit: &Oid) -> Result<Option<CommitInfo>, StoreError> {
    let (store, repo) = (acting.store, acting.repo);
    let found = (|| {
        let commit = store.commit(commit)?;
        let info = read::lookup(store, &commit.tree, layout::domain().as_str())?.map(|entry| entry.id);
        let is_member = read::readable::<Domain>(store, info)?.is_some_and(|info| info.has_member(repo));
        let takes_part = is_member || read::lookup(store, &commit.tree, layout::binding(repo).as_str())?.is_some();
        Ok(takes_part.then_some(commit))
    })();
    match found {
        Err(error) if StoreError::is_damage(&error) => Ok(None),
        found => found,
    }
}
