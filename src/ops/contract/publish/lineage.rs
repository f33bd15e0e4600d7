//! How a commit is related to the one that was published before: it follows or replaces it, or is refused.

use super::work::Work;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        domain_view::{DomainView, Subject},
        name::{DomainName, RepoName},
        oid::Oid,
        publish::Direction,
        version::Version,
    },
    ops::{
        domain,
        publish::{behind, candidate, concurrent},
    },
    store::read,
};

/// The relation of a commit to the previously published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// A descendant of the published commit, or the first published commit.
    Grew,
    /// A replacement for the published commit: the branch was amended, rebased or reset.
    Replaced,
}

impl Work<'_> {
    /// Refuses to publish from a stale clone: the last published commit must be an ancestor of the new one, or have
    /// been replaced in this clone. Only the user can know that it was dropped in another clone, and must then ask for
    /// a rollback.
    pub fn require_successor(&self, view: &DomainView) -> Result<Lineage, OpError> {
        let (lineage, name) = (self.lineage(view)?, &view.info.name);
        let writes = lineage == Lineage::Replaced || self.is_to_record(view);
        if writes && let Some(missing) = self.missing_side(view)? {
            return Err(self.fetch_first(name, &missing)?);
        }
        Ok(lineage)
    }

    /// Returns whether the commit shares no history with the published one that it replaces, as after a rebase of the root
    /// commit.
    pub fn is_rewritten(&self, view: &DomainView, lineage: Lineage) -> Result<bool, OpError> {
        let published = view.sources.get(self.acting.repo).and_then(|source| source.commit);
        match published.filter(|it| lineage == Lineage::Replaced && self.code.has(it)) {
            Some(published) => Ok(self.code.merge_base(&published, self.commit)?.is_none()),
            None => Ok(false),
        }
    }

    /// Refuses to publish a commit that is no longer on the publishing branch, in this clone or at origin.
    pub fn require_on_branch(&self, name: &DomainName) -> Result<(), OpError> {
        for tip in self.code.branch_tips(self.branch) {
            if self.code.is_ancestor(self.commit, &tip?.1)? {
                return Ok(());
            }
        }
        let message =
            format!("{} is no longer on {}; nothing was published in {name}", self.commit.short(), self.branch);
        Err(OpError::no(ErrorCode::NotPublishingBranch, message))
    }

    /// Returns the commit that this one lacks, if two machines published concurrently: the last published commit is then
    /// older than both. Neither is asked for while they conflict: the next commit of either machine decides.
    fn missing_side(&self, view: &DomainView) -> Result<Option<Oid>, OpError> {
        let (name, conflicts) = (&view.info.name, &view.conflicts);
        let is_in_conflict = conflicts.bindings.contains(self.acting.repo)
            || conflicts.contracts.keys().any(|contract| self.candidate.declares(name, contract));
        if self.direction == Direction::Rollback || is_in_conflict {
            return Ok(None);
        }
        let Some(source) = view.sources.get(self.acting.repo) else { return Ok(None) };
        let side = concurrent::one_side(self.code, source, self.commit)?;
        Ok(side.map(|side| side.missing))
    }

    fn lineage(&self, view: &DomainView) -> Result<Lineage, OpError> {
        let Some(published) = view.sources.get(self.acting.repo).and_then(|source| source.commit) else {
            return readable_source(view, self.acting.repo).map(|()| Lineage::Grew);
        };
        if self.code.is_ancestor(&published, self.commit)? {
            return Ok(Lineage::Grew);
        }
        let tip = self.code.reference(&format!("refs/heads/{}", self.branch))?;
        // A published commit that is still on the branch was not replaced; the new commit is merely older.
        if tip.map(|tip| self.code.is_ancestor(&published, &tip)).transpose()?.unwrap_or_default() {
            return self.require_rollback(view, &published).map(|()| Lineage::Grew);
        }
        let is_older = self.code.is_ancestor(self.commit, &published)?;
        if self.direction == Direction::Rollback || self.replaces(&published, is_older)? {
            return Ok(Lineage::Replaced);
        }
        if is_older {
            let (domain, commit) = (&view.info.name, self.commit.short());
            let message = format!("{domain} was already published from {}, which contains {commit}", published.short());
            let pull = behind::pull(self.code, self.branch, &published, "get the published commit")?;
            return Err(OpError::no(ErrorCode::OlderCommit, message).next(pull));
        }
        Err(self.fetch_first(&view.info.name, &published)?)
    }

    /// Returns the error for a commit that lacks a published one.
    fn fetch_first(&self, domain: &DomainName, published: &Oid) -> Result<OpError, OpError> {
        if self.code.is_shallow()? {
            let commit = published.short();
            let message = format!("{domain} was published from {commit}, which this shallow clone does not contain");
            let pull = behind::pull(self.code, self.branch, published, "if that commit is newer")?;
            let error = OpError::no(ErrorCode::Shallow, message).next(pull);
            return Ok(error.next("git fetch --unshallow  # otherwise; then publish again"));
        }
        let is_here = self.code.has(published);
        let reason = match behind::absent(self.acting, self.code, domain, published)? {
            Some(absent) => format!("then publish again; if {absent} stays missing, it is not pushed yet"),
            None => "then publish again".to_owned(),
        };
        let replace = behind::replace(self.code, self.branch, (self.commit, published))?;
        let refused = replace.is_some().then(|| (self.rolls_back)().err()).flatten();
        let before = refused.map(|error| error.next_steps).unwrap_or_default();
        // Merging what was removed from the history would bring it back.
        let pull = if replace.is_some() && self.code.origin_url().is_none() && is_here {
            None
        } else {
            Some(behind::pull(self.code, self.branch, published, &reason)?)
        };
        let first = match (is_here, &pull) {
            (false, _) => ": fetch first, then merge it",
            (true, Some(_)) => ": merge it first",
            (true, None) => "",
        };
        let (from, commit) = (published.short(), self.commit.short());
        let message = format!("{domain} was published from {from}, which is not in the history of {commit}{first}");
        let reclaim =
            "git blue realm admin reclaim --reason \"…\"  # if that commit does not belong to this repository";
        let is_own = self.code.is_in_a_ref(published)?;
        Ok(OpError::no(ErrorCode::FetchFirst, message)
            .next_all(pull)
            .next_all(before)
            .next_all(replace)
            .next_if(!is_own, reclaim))
    }

    /// Returns whether the commit replaces the published one in this clone. An older one does so only if the branch was
    /// really taken back: while its upstream has the published commit, the clone is merely behind.
    fn replaces(&self, published: &Oid, is_older: bool) -> Result<bool, OpError> {
        Ok(if is_older {
            behind::is_dropped(self.code, self.branch, published)?
        } else {
            self.code.replaced(self.branch, published)?
        })
    }

    /// Refuses an older commit, unless the user asks for a rollback.
    fn require_rollback(&self, view: &DomainView, published: &Oid) -> Result<(), OpError> {
        if self.direction == Direction::Rollback {
            return Ok(());
        }
        let (domain, commit) = (&view.info.name, self.commit.short());
        let message = format!("{domain} was already published from {}, and {commit} is older", published.short());
        Err(OpError::no(ErrorCode::OlderCommit, message).next(if self.was_published(domain)? {
            format!("git blue contract publish --commit {commit} --rollback --reason \"…\"  # roll back")
        } else {
            "to bring its content back, commit it under new versions: not all of its versions were published".to_owned()
        }))
    }

    /// Returns whether every version that the commit declares in a domain was published.
    fn was_published(&self, domain: &DomainName) -> Result<bool, OpError> {
        let declared = candidate::at(self.code, self.commit)?;
        let names = declared.contracts_in(domain).map(|(name, _)| name.clone()).collect();
        let view = read::contracts_at(self.store(), domain, &domain::tip(self.store(), domain)?, &names)?;
        let is_published = |(name, version): (_, &Version)| {
            let is_known = || view.versions.get(name).is_some_and(|known| known.contains(version));
            version.is_auto() || (!version.is_prerelease() && is_known())
        };
        let mut wanted = declared.contracts_in(domain).map(|(name, one)| (name, &one.document.version));
        Ok(wanted.all(is_published))
    }

    /// Returns the newer commit that was published before, if this is a rollback to an older commit of the branch.
    pub fn newer(&self, view: &DomainView) -> Result<Option<Oid>, OpError> {
        let published = view.sources.get(self.acting.repo).and_then(|source| source.commit);
        let published = published.filter(|it| self.direction == Direction::Rollback && it != self.commit);
        let is_older = |published: &Oid| self.code.is_ancestor(self.commit, published);
        Ok(if published.as_ref().map_or(Ok(false), is_older)? { published } else { None })
    }
}

/// Refuses to publish if the last published commit cannot be read, because then it is unknown whether this clone is
/// behind.
fn readable_source(view: &DomainView, repo: &RepoName) -> Result<(), OpError> {
    match view.damage.iter().find(|damage| damage.subject == Subject::Source(repo.clone())) {
        Some(damage) => {
            let message = format!("cannot tell what was published last: {}: {}", damage.file, damage.problem);
            Err(OpError::cannot(ErrorCode::Damaged, message))
        }
        None => Ok(()),
    }
}
