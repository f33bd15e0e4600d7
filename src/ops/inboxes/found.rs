//! How a domain differs from what somebody knows of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    change_decoder::{ChangeDecoder, Decoded, since_adapted, transferred, with_adapted},
    renamed,
};
use crate::{
    error::OpError,
    model::{
        content_cache::ContentCache,
        contract::Contract,
        domain_summary::DomainSummary,
        name::{DomainName, RealmName, RepoName},
        notification::{self, Change, ChangeType},
        oid::Oid,
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        history::{
            difference::{Difference, PathContent, differences},
            origins::{self, Origin},
        },
    },
    repo::CodeRepo,
    store::{
        Store, TreePath,
        overview::Line,
        read::{self, Published},
    },
};

/// The state of a domain that a reader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownState {
    /// This tree.
    Tree(Oid),
    /// The versions that the repository's code is adapted to.
    Adapted,
    /// Nothing: everything in the domain is new.
    Nothing,
}

/// Whom changes are found for.
#[derive(Clone, Copy)]
pub enum Audience<'a> {
    /// A repository, which is not notified of its own changes.
    Repo(ActingRepo<'a>),
    /// Anyone: all changes, whoever made them.
    Anyone { ctx: &'a Ctx, realm: &'a RealmName, store: &'a dyn Store },
}

impl<'a> Audience<'a> {
    pub fn realm(self) -> &'a RealmName {
        match self {
            Self::Repo(acting) => acting.realm,
            Self::Anyone { realm, .. } => realm,
        }
    }

    pub fn store(self) -> &'a dyn Store {
        match self {
            Self::Repo(acting) => acting.store,
            Self::Anyone { store, .. } => store,
        }
    }

    pub fn repo(self) -> Option<&'a RepoName> {
        match self {
            Self::Repo(acting) => Some(acting.repo),
            Self::Anyone { .. } => None,
        }
    }

    /// Returns the clones on this machine of the repositories whose contracts and bindings changed, which are needed to
    /// determine whether somebody else made the changes. Empty for [`Self::Repo`], which has its own clone.
    pub fn clones(self, changes: &[FoundChange]) -> BTreeMap<&RepoName, Option<CodeRepo>> {
        let Self::Anyone { ctx, .. } = self else { return BTreeMap::new() };
        let owners: BTreeSet<_> = changes.iter().map(|(_, change, _)| &change.from).collect();
        // Without the clone, it is only less certain who made the change.
        owners.into_iter().map(|repo| (repo, ctx.clone_of(repo).unwrap_or_default())).collect()
    }

    /// Returns the repository to which the changed contract or binding belongs, if it takes part in the domain: it is
    /// notified of the change only if somebody else made it.
    pub fn owner<'o>(
        self,
        change: &'o Change,
        domain: &DomainSummary,
        clones: &'o BTreeMap<&RepoName, Option<CodeRepo>>,
    ) -> Option<ActingRepo<'o>>
    where
        'a: 'o,
    {
        match self {
            Self::Repo(acting) => change.is_mine.then_some(acting),
            Self::Anyone { realm, store, .. } => {
                let is_own = change.kind != ChangeType::ContractOffered && domain.takes_part(&change.from);
                let code = clones.get(&change.from).and_then(Option::as_ref);
                is_own.then_some(ActingRepo { realm, store, repo: &change.from, code })
            }
        }
    }
}

/// The differences between a domain and what a repository knows of it, with their meaning.
#[derive(Debug)]
pub struct Found {
    /// Changes to notify of, with the commits that introduced them.
    pub changes: Vec<FoundChange>,
    /// Paths that currently cannot be read, with the known blobs.
    pub unreadable: Vec<(TreePath, Option<Oid>)>,
    /// True if some differences need no notification.
    pub is_silent: bool,
}

/// A difference, its meaning, and the commits that introduced it.
pub type FoundChange = (Difference, Change, Vec<Origin>);

/// The approximate size of one change in memory, in bytes.
const CHANGE_WEIGHT: usize = 640;
/// The approximate size of a result without changes, with its key.
const FOUND_WEIGHT: usize = 2 << 10;

/// The latest results, by the repository (`None` for anyone), the domain, its commit, and the known state,
/// which determine the result.
static FOUND: ContentCache<(Option<RepoName>, DomainName, Oid, KnownState), Arc<Found>> = ContentCache::new(8 << 20);

impl Found {
    /// Returns how a domain differs from what the audience knows of it.
    pub fn of(
        audience: Audience<'_>,
        known: KnownState,
        domain: &DomainSummary,
        line: &Line,
    ) -> Result<Arc<Self>, OpError> {
        let key = || (audience.repo().cloned(), line.name.clone(), line.tip, known);
        let holds = audience.store().caches_in_memory();
        if let Some(held) = holds.then(|| FOUND.get(&key())).flatten() {
            return Ok(held);
        }
        let found = Arc::new(Self::read(audience, known, domain, line)?);
        // Paths that cannot be read now may become readable later.
        if holds && found.unreadable.is_empty() {
            FOUND.put(key(), Arc::clone(&found), FOUND_WEIGHT + CHANGE_WEIGHT * found.changes.len());
        }
        Ok(found)
    }

    fn read(audience: Audience<'_>, known: KnownState, domain: &DomainSummary, line: &Line) -> Result<Self, OpError> {
        let store = audience.store();
        let published = Published::in_tree(store, &line.tree);
        let differences = match (known, audience) {
            (KnownState::Tree(known), _) => {
                let differences = differences(store, Some(&known), &line.tree)?;
                let differences = renamed::pair_bindings(store, differences)?;
                match audience {
                    Audience::Repo(acting) => with_adapted(acting, (domain, &line.tip), &published, differences)?,
                    Audience::Anyone { .. } => differences,
                }
            }
            (KnownState::Adapted, Audience::Repo(acting)) => since_adapted(acting, domain, &published, &line.tree)?,
            (KnownState::Adapted, Audience::Anyone { .. }) => Vec::new(),
            (KnownState::Nothing, _) => differences(store, None, &line.tree)?,
        };
        let (mut found, mut unreadable, mut is_silent) = (Vec::new(), Vec::new(), false);
        let transferred = transferred(store, &line.tree)?;
        let me = audience.repo();
        let decoder = ChangeDecoder { store, me, domain, tree: &line.tree, published: &published, transferred };
        for difference in differences {
            match decoder.decode(&difference)? {
                Decoded::Change(change) => found.push((difference, change)),
                Decoded::Nothing => is_silent = true,
                Decoded::Unreadable => unreadable.push((difference.path, difference.old)),
            }
        }
        let paths: Vec<_> = found.iter().map(|(difference, _)| (&difference.path, difference.old)).collect();
        let had_change = |at: usize, earlier: Oid| had_change(store, audience, &found[at], earlier);
        let origins = origins::origins(store, &line.tip, &paths, &had_change)?;
        // There may be thousands.
        let mut changes = Vec::with_capacity(found.len());
        for ((difference, change), origins) in found.into_iter().zip(origins) {
            let origins = origins_of_field(store, &change, origins)?;
            changes.push((difference, *change, origins));
        }
        Ok(Self { changes, unreadable, is_silent })
    }
}

/// Returns whether an earlier blob of a contract already had this change, so that a later commit changed something else,
/// such as the description. Of what belongs to the reader, or to anyone, any other change may be an alarm.
fn had_change(
    store: &dyn Store,
    audience: Audience<'_>,
    (difference, change): &(Difference, Box<Change>),
    earlier: Oid,
) -> Result<bool, OpError> {
    let PathContent::Contract(_) = difference.of else { return Ok(false) };
    let Some(earlier) = read::readable::<Contract>(store, Some(earlier))? else { return Ok(false) };
    let is_new_version = matches!(change.kind, ChangeType::VersionChanged | ChangeType::ContractAdded);
    if is_new_version && Some(&earlier.version) != change.new_version.as_ref() {
        return Ok(false);
    }
    let Some(new) = read::readable::<Contract>(store, difference.new)? else { return Ok(false) };
    let is_others = audience.repo().is_some() && !change.is_mine;
    Ok(if is_others { change.was_made_in(&earlier, &new) } else { notification::is_same(&earlier, &new) })
}

/// If concurrent commits were merged, returns only those that made this change, such as a retirement. Returns all of
/// them if that cannot be determined.
fn origins_of_field(store: &dyn Store, change: &Change, mut origins: Vec<Origin>) -> Result<Vec<Origin>, OpError> {
    if origins.len() < 2 || change.contract.is_none() {
        return Ok(origins);
    }
    let mut made = Vec::new();
    for origin in &origins {
        let document = read::readable::<Contract>(store, origin.blob)?;
        made.push(document.is_some_and(|document| match change.kind {
            ChangeType::ContractRetired => document.retired.is_some(),
            ChangeType::ContractDeprecated => document.deprecated == change.deprecated,
            ChangeType::VersionYanked => change.yanked.iter().any(|one| document.yanked_reason(one).is_some()),
            _ => true,
        }));
    }
    if made.contains(&true) {
        let mut made = made.into_iter();
        origins.retain(|_| made.next().unwrap_or_default());
    }
    Ok(origins)
}
