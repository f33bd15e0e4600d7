//! A commit of the publishing branch, compared with what the repository has published in each domain.

use std::collections::BTreeSet;

use super::{
    behind::{self, MAX_HISTORY, is_behind},
    candidate::{self, Sources},
    concurrent::{self, OneSide},
    dispute, references,
};
use crate::repo::blue_files::{self, CONTRACTS, is_read};
use crate::{
    error::OpError,
    locate::renamed,
    model::{
        binding::Binding, contract::Contract, domain::Source, domain_view::DomainView, name::DomainName, oid::Oid,
    },
    ops::{contract, ctx::ActingRepo},
    repo::CodeRepo,
    store::{EntryKind, Objects as _, history, layout, read},
};

/// The maximum number of former tips of a branch that are searched for a published commit that was dropped since.
const MAX_FORMER_TIPS: usize = 20;

/// The domains to examine.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// The domains that are named in the commit, or in the branch before its last update. A hook has time only for
    /// these.
    Named,
    /// Every domain in which the repository has published, with its last published commit.
    All(&'a Sources),
}

impl Scope<'_> {
    /// Returns what the repository published last in a domain.
    ///
    /// # Errors
    /// Returns an error if the domain cannot be read.
    pub fn source(self, acting: ActingRepo<'_>, domain: &DomainName) -> Result<Option<Source>, OpError> {
        match self {
            Self::All(published) => Ok(published.get(domain).cloned()),
            Self::Named => match acting.store.domain_tip(domain)? {
                Some(tip) => contract::publish::source(acting, domain, &tip),
                None => Ok(None),
            },
        }
    }
}

/// A commit of the publishing branch, and where the branch was before.
pub(super) struct BranchCommit<'a> {
    acting: ActingRepo<'a>,
    code: &'a CodeRepo,
    branch: &'a str,
    commit: Oid,
    /// Its tree.
    pub(super) tree: Oid,
    /// The tree of the branch before it moved to the commit, or of the commit's parent.
    pub(super) tree_before: Option<Oid>,
    former_tips: Vec<Oid>,
    /// Whether the branch was amended, rebased or reset to the commit.
    is_rewritten: bool,
    /// The tip of the branch, if it is another commit.
    tip: Option<Oid>,
}

impl<'a> BranchCommit<'a> {
    /// Finds where the branch was before the commit.
    pub(super) fn of(
        acting: ActingRepo<'a>,
        code: &'a CodeRepo,
        branch: &'a str,
        commit: Oid,
    ) -> Result<Self, OpError> {
        let this = code.commit(&commit)?;
        let former_tips = code.previous_tips(branch, MAX_FORMER_TIPS)?;
        let moved_from = former_tips.first().copied().filter(|before| code.has(before));
        let before = moved_from.or_else(|| this.parents.first().copied().filter(|parent| code.has(parent)));
        Ok(Self {
            acting,
            code,
            branch,
            commit,
            tree: this.tree,
            tree_before: before.map(|before| code.tree_of(&before)).transpose()?,
            is_rewritten: match moved_from {
                Some(from) => !this.parents.contains(&from) && !code.is_ancestor(&from, &commit)?,
                None => false,
            },
            former_tips,
            tip: code.reference(&format!("refs/heads/{branch}"))?.filter(|tip| *tip != commit),
        })
    }

    /// Returns whether what the commit has of a domain still has to be published, after `source` was.
    pub(super) fn is_unpublished(
        &self,
        domain: &str,
        is_declared: bool,
        source: Option<&Source>,
        scope: Scope<'_>,
    ) -> Result<bool, OpError> {
        let Some(source) = source else {
            return Ok(is_declared && !declared_in(self.code, &self.tree, domain)?.is_empty());
        };
        for published in source.commits() {
            if self.is_unpublished_after(&published, domain, scope)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_unpublished_after(&self, published: &Oid, domain: &str, scope: Scope<'_>) -> Result<bool, OpError> {
        let code = self.code;
        // A later commit of the branch may have been published before `blue.publish` was set to pushed.
        if *published == self.commit || self.is_later(published)? {
            return Ok(false);
        }
        if !code.has(published) {
            return Ok(matches!(scope, Scope::All(_)) || self.has_moved(domain)?);
        }
        Ok(differ_in(code, [&code.tree_of(published)?, &self.tree], domain)? || self.is_dropped(published)?)
    }

    /// Returns whether a commit of the branch comes after this one.
    fn is_later(&self, other: &Oid) -> Result<bool, OpError> {
        match &self.tip {
            Some(tip) => Ok(self.code.is_ancestor(&self.commit, other)? && self.code.is_ancestor(other, tip)?),
            None => Ok(false),
        }
    }

    /// Returns whether the branch no longer has a commit. If a branch was amended, rebased or reset, no other clone may
    /// have the commit that was published from it.
    fn is_dropped(&self, source: &Oid) -> Result<bool, OpError> {
        Ok((self.is_rewritten || self.former_tips.contains(source)) && !self.code.is_ancestor(source, &self.commit)?)
    }

    /// Returns whether the commit changed a domain. This may mean reading all of its files, so it is asked only where the
    /// result matters.
    pub(super) fn has_moved(&self, domain: &str) -> Result<bool, OpError> {
        self.tree_before.map_or(Ok(true), |before| differ_in(self.code, [&before, &self.tree], domain))
    }

    /// Returns the published commit that publishing this commit would undo, if this commit is behind it. `newer`
    /// caches, for the next domains, which published commit was found to be newer.
    pub(super) fn published_instead(
        &self,
        domain: &DomainName,
        source: Option<&Source>,
        newer: &mut Option<Oid>,
    ) -> Result<Option<Oid>, OpError> {
        let (Self { code, branch, commit, .. }, Some(source)) = (self, source) else { return Ok(None) };
        if let Some(OneSide { contained: Some(side), missing }) = concurrent::one_side(code, source, commit)?
            && !differ_in(code, [&code.tree_of(&side)?, &self.tree], domain.as_str())?
        {
            // Both commits are published, and publishing this one again would undo the other.
            return Ok(Some(missing));
        }
        let Some(published) = source.commit else { return Ok(None) };
        if *newer != Some(published) && is_behind(code, branch, commit, &published)? {
            *newer = Some(published);
        }
        let is_behind = *newer == Some(published)
            || self.has_nothing_new(&published, domain)?
            || self.is_pushed_without_news(&published, domain)?;
        Ok(is_behind.then_some(published))
    }

    /// Returns whether the commit lacks the published one and has nothing new in a domain: it has the
    /// same files as the newest published commit that it descends from.
    fn has_nothing_new(&self, published: &Oid, domain: &DomainName) -> Result<bool, OpError> {
        let Self { acting, code, branch, commit, .. } = self;
        let Some(tip) = acting.store.domain_tip(domain)? else { return Ok(false) };
        if !behind::lacks(code, branch, commit, published)? {
            return Ok(false);
        }
        let mut seen = BTreeSet::from([*published]);
        let names = renamed::names(acting.store, acting.repo)?;
        for change in history::since(acting.store, &tip, &[], MAX_HISTORY)? {
            let former = dispute::source(*acting, &names, domain, &change)?.and_then(|source| source.commit);
            if let Some(former) = former
                && seen.insert(former)
                && code.is_ancestor(&former, commit)?
            {
                let trees = [&code.tree_of(&former)?, &code.tree_of(commit)?];
                return Ok(!differ_in(code, trees, domain.as_str())?);
            }
        }
        Ok(false)
    }

    /// Returns whether the commit, which lacks the published one, was pushed, and contains nothing that the realm does
    /// not have. Somebody else must have pulled it, added commits, and published those.
    fn is_pushed_without_news(&self, published: &Oid, domain: &DomainName) -> Result<bool, OpError> {
        let Self { acting, code, branch, commit, .. } = self;
        let Some(upstream) = code.upstream(branch)? else { return Ok(false) };
        // A shallow clone may have the published commit beyond its boundary.
        if code.is_shallow()?
            || !code.is_ancestor(commit, &upstream)?
            || !behind::lacks(code, branch, commit, published)?
        {
            return Ok(false);
        }
        if code.is_ancestor(published, &upstream)? {
            return Ok(true);
        }
        let Some(tip) = acting.store.domain_tip(domain)? else { return Ok(false) };
        let declared = candidate::at(code, commit)?;
        let contracts: Vec<_> = declared.contracts_in(domain).map(|(_, one)| &one.document).collect();
        let names = contracts.iter().map(|contract| contract.name.clone()).collect();
        let mut view = read::contracts_at(acting.store, domain, &tip, &names)?;
        for contract in contracts.iter().filter(|contract| contract.version.is_auto()) {
            let versions = view.versions.get(&contract.name).into_iter().flatten();
            let wanted: Vec<_> = versions.map(|version| (contract.name.clone(), version.clone())).collect();
            read::load_versions(acting.store, &mut view, &acting.store.commit(&tip)?.tree, &wanted)?;
        }
        if contracts.iter().any(|contract| is_news(&view, contract)) {
            return Ok(false);
        }
        match declared.bindings.get(domain) {
            Some(binding) => was_published(*acting, &tip, &binding.document.as_written()),
            None => Ok(true),
        }
    }
}

/// Returns whether two trees differ in what concerns a domain: its contracts, its binding, and the files that these
/// refer to.
///
/// # Errors
/// Returns an error if a tree cannot be read.
pub fn differ_in(code: &CodeRepo, trees: [&Oid; 2], domain: &str) -> Result<bool, OpError> {
    let [before, after] = trees;
    if before == after {
        return Ok(false);
    }
    let folders = |tree: &Oid| {
        let entry = |path: String| Ok::<_, OpError>(read::lookup(code, tree, &path)?.map(|entry| entry.id));
        Ok::<_, OpError>([entry(format!("{CONTRACTS}/{domain}"))?, entry(blue_files::binding(domain))?])
    };
    if folders(before)? != folders(after)? && declared_in(code, before, domain)? != declared_in(code, after, domain)? {
        return Ok(true);
    }
    // The same files refer to the same paths. Most refer to none.
    let referred = references::blobs(code, after, domain)?;
    Ok(!referred.is_empty() && references::blobs(code, before, domain)? != referred)
}

/// Returns the entries of a tree that declare something in a domain, by name: the files of its contracts, and its binding
/// without a name. Something in place of the folder, such as a submodule, declares what publishing refuses.
fn declared_in(code: &CodeRepo, tree: &Oid, domain: &str) -> Result<Vec<(String, Oid)>, OpError> {
    let folder = format!("{CONTRACTS}/{domain}");
    let in_place = read::lookup(code, tree, &folder)?.filter(|entry| entry.kind == EntryKind::Other);
    let contracts = read::folder(code, tree, &folder)?.into_iter();
    let binding = read::lookup(code, tree, &blue_files::binding(domain))?;
    let contracts = contracts
        .filter(|entry| is_read(&entry.name, entry.kind == EntryKind::Blob))
        .map(|entry| (entry.name, entry.id));
    let others = in_place.into_iter().chain(binding).map(|entry| (String::new(), entry.id));
    Ok(contracts.chain(others).collect())
}

/// Returns whether the realm has neither the version of a contract nor a later one. With `version: auto`, the content
/// decides.
fn is_news(view: &DomainView, contract: &Contract) -> bool {
    let known = || view.versions.get(&contract.name).into_iter().flatten();
    if contract.version.is_auto() {
        let content = contract.computed_content_hash();
        let is_same =
            |version| view.document(&contract.name, version).is_some_and(|one| one.computed_content_hash() == content);
        return !known().any(is_same);
    }
    let current = view.contracts.get(&contract.name).map(|current| &current.version);
    !known().any(|version| *version == contract.version) && current.is_none_or(|current| contract.version > *current)
}

/// Returns whether the repository published a binding before, in the domain with this tip.
fn was_published(acting: ActingRepo<'_>, tip: &Oid, binding: &Binding) -> Result<bool, OpError> {
    let names = renamed::names(acting.store, acting.repo)?;
    let mut seen = BTreeSet::new();
    for commit in history::since(acting.store, tip, &[], MAX_HISTORY)? {
        let tree = acting.store.commit(&commit)?.tree;
        for name in &names {
            let Some(held) = read::lookup(acting.store, &tree, layout::binding(name).as_str())? else { continue };
            if seen.insert(held.id)
                && let Some(held) = read::readable::<Binding>(acting.store, Some(held.id))?
                && held.as_written() == *binding
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
