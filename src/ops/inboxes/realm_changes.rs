//! Finds what became pending between two reads of a realm, and which sessions changed. Only the domains and sessions
//! that changed in between are read.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    arrival,
    found::{Audience, KnownState},
    import_effects::{self, Detail},
    inbox::Inbox,
    pending::{self, Pending},
};
use crate::{
    error::OpError,
    model::{
        domain_summary::DomainSummary,
        hash,
        name::{DomainName, RepoName},
        oid::Oid,
        session::SessionId,
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        repos::unknown,
    },
    store::{
        Store, StoreError, StoreRef,
        overview::Line,
        read,
        sessions::{self, SessionFilter},
    },
    wire::{Notification, SessionLine, State},
};

/// The refs of a realm at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefTips {
    realm: Option<Oid>,
    domains: BTreeMap<DomainName, Oid>,
    sessions: BTreeMap<RepoName, Oid>,
}

/// The domains and sessions that changed between two reads.
#[derive(Debug, Clone, Default)]
pub struct ChangedRefs {
    domains: Vec<Step<DomainName>>,
    sessions: Vec<Step<RepoName>>,
}

/// A ref that moved: its name, its previous commit, if any, and its new commit.
#[derive(Debug, Clone)]
struct Step<N> {
    name: N,
    from: Option<Oid>,
    to: Oid,
}

/// Reads the changes. Each domain is read once, however many repositories ask.
pub struct RealmChanges<'c> {
    ctx: &'c Ctx,
    read: BTreeMap<Oid, Option<(Line, DomainSummary)>>,
}

impl RefTips {
    /// Returns the current refs of the realm.
    ///
    /// # Errors
    /// Returns an error if they cannot be listed.
    pub fn of(ctx: &Ctx) -> Result<Self, OpError> {
        let store = &*ctx.realm()?.store;
        Ok(Self {
            realm: store.tip(&StoreRef::Realm)?,
            domains: store.domains()?.into_iter().collect(),
            sessions: store.sessions()?.into_iter().collect(),
        })
    }

    /// Returns a short id that is the same for the same refs, in every process.
    pub fn id(&self) -> String {
        let realm = self.realm.map(|tip| tip.to_string()).unwrap_or_default();
        hash::short_id(&[&realm, &lines(&self.domains), &lines(&self.sessions)])
    }

    /// Returns what changed between these refs and later ones.
    pub fn until(&self, later: &Self) -> ChangedRefs {
        ChangedRefs { domains: steps(&self.domains, &later.domains), sessions: steps(&self.sessions, &later.sessions) }
    }
}

fn lines<N: std::fmt::Display>(tips: &BTreeMap<N, Oid>) -> String {
    tips.iter().map(|(name, tip)| format!("{name} {tip}\n")).collect()
}

fn steps<N: Ord + Clone>(before: &BTreeMap<N, Oid>, after: &BTreeMap<N, Oid>) -> Vec<Step<N>> {
    let moved = after.iter().filter(|(name, tip)| before.get(*name) != Some(*tip));
    moved.map(|(name, to)| Step { name: name.clone(), from: before.get(name).copied(), to: *to }).collect()
}

impl<'c> RealmChanges<'c> {
    /// Returns a reader of the realm's changes.
    pub fn new(ctx: &'c Ctx) -> Self {
        Self { ctx, read: BTreeMap::new() }
    }

    /// Returns the name that the realm has for a repository, which may have been renamed.
    ///
    /// # Errors
    /// Returns an error if the realm does not have the repository, or cannot be read.
    pub fn current_name(&self, repo: &RepoName) -> Result<RepoName, OpError> {
        let here = self.ctx.realm()?;
        unknown::current_name(&here.realm, &*here.store, repo)
    }

    /// Returns the notifications that `repo` did not have before the change, most important first.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn notifications(&mut self, changed: &ChangedRefs, repo: &RepoName) -> Result<Vec<Notification>, OpError> {
        let mut concerned = Vec::new();
        for step in &changed.domains {
            if self.domain(&step.name, step.to)?.is_some_and(|(_, domain)| domain.takes_part(repo)) {
                concerned.push(step);
            }
        }
        if concerned.is_empty() {
            return Ok(Vec::new());
        }
        let here = self.ctx.realm()?;
        // Without the clone, it is only less certain who changed the repository's own contracts.
        let code = self.ctx.clone_of(repo).unwrap_or_default();
        let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo, code: code.as_ref() };
        let inbox = Inbox::open(acting.store, repo, &pending::cli_reader())?;
        let mut found = Vec::new();
        for step in concerned {
            found.extend(self.in_domain(acting, &inbox, step)?);
        }
        found.sort_by_cached_key(pending::key);
        Ok(found)
    }

    fn in_domain(
        &mut self,
        acting: ActingRepo<'_>,
        inbox: &Inbox,
        step: &Step<DomainName>,
    ) -> Result<Vec<Notification>, OpError> {
        let now = self.ctx.env.now();
        let known = inbox.baseline(acting.store, &step.name)?.map_or(KnownState::Adapted, KnownState::Tree);
        let Some((line, domain)) = self.domain(&step.name, step.to)? else { return Ok(Vec::new()) };
        let mut after = Pending::in_domain(Audience::Repo(acting), known, domain, line, now)?;
        after.retain(|one| one.state == State::Pending);
        if after.notifications().next().is_none() {
            return Ok(Vec::new());
        }
        let tree = line.tree;
        arrival::record(acting.store, &after.sightings, || self.ctx.env.now_here());
        let before = self.ids_before(acting, known, step);
        after.retain(|one| !before.contains(&one.id));
        let judge = self.ctx.quick_judge();
        if let Some((_, domain)) = self.domain(&step.name, step.to)? {
            import_effects::in_domain(acting, domain, &tree, (&judge, Detail::Verdict), after.notifications_mut())?;
        }
        Ok(after.into_notifications().collect())
    }

    /// Returns the ids of the notifications that were pending before the change. If that state cannot be read, nothing
    /// counts as pending, since a repeated notification is better than a lost one.
    fn ids_before(&mut self, acting: ActingRepo<'_>, known: KnownState, step: &Step<DomainName>) -> BTreeSet<String> {
        let now = self.ctx.env.now();
        let Some(from) = step.from else { return BTreeSet::new() };
        let Ok(Some((line, domain))) = self.domain(&step.name, from) else { return BTreeSet::new() };
        let before = Pending::in_domain(Audience::Repo(acting), known, domain, line, now).unwrap_or_default();
        before.into_notifications().map(|one| one.id).collect()
    }

    /// Returns a domain at a commit; `None` if it was removed or is damaged. `check` reports damage.
    fn domain(&mut self, name: &DomainName, tip: Oid) -> Result<Option<&(Line, DomainSummary)>, OpError> {
        if !self.read.contains_key(&tip) {
            let read = match read_domain(&*self.ctx.realm()?.store, name, tip) {
                Ok(read) => Some(read).filter(|(_, domain)| !domain.info.removed),
                Err(error) if error.is_damage() => None,
                Err(error) => return Err(error.into()),
            };
            self.read.insert(tip, read);
        }
        Ok(self.read.get(&tip).and_then(Option::as_ref))
    }

    /// Returns the sessions that were started, continued or ended, by id.
    ///
    /// # Errors
    /// Returns an error if the sessions cannot be read.
    pub fn sessions(&self, changed: &ChangedRefs) -> Result<Vec<SessionLine>, OpError> {
        let mut moved = BTreeMap::new();
        for step in &changed.sessions {
            let before = step.from.map(|from| self.sessions_at(&step.name, &from)).transpose()?.unwrap_or_default();
            let after = self.sessions_at(&step.name, &step.to)?.into_iter();
            moved.extend(after.filter(|(id, line)| before.get(id).is_none_or(|old| has_moved(old, line))));
        }
        Ok(moved.into_values().collect())
    }

    fn sessions_at(&self, repo: &RepoName, tip: &Oid) -> Result<BTreeMap<SessionId, SessionLine>, OpError> {
        let (store, now) = (&*self.ctx.realm()?.store, self.ctx.env.now());
        let mut lines = BTreeMap::new();
        for which in [SessionFilter::Open, SessionFilter::Ended] {
            let (found, _) = sessions::at(store, repo, tip, which)?;
            lines.extend(found.iter().map(|one| (one.id.clone(), SessionLine::new(one, now, false))));
        }
        Ok(lines)
    }
}

fn read_domain(store: &dyn Store, name: &DomainName, tip: Oid) -> Result<(Line, DomainSummary), StoreError> {
    let tree = store.commit(&tip)?.tree;
    let summary = read::summary_of(store, name, &tree)?;
    Ok((Line::of(name.clone(), tip, tree, &summary), summary))
}

fn has_moved(old: &SessionLine, new: &SessionLine) -> bool {
    (old.last_activity, old.ended_at, &old.active_rfc) != (new.last_activity, new.ended_at, &new.active_rfc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: &str) -> Oid {
        digit.repeat(40).parse().unwrap()
    }

    fn standing(domains: &[(&str, &str)]) -> RefTips {
        let domains = domains.iter().map(|(name, digit)| (name.parse().unwrap(), oid(digit)));
        RefTips { domains: domains.collect(), ..RefTips::default() }
    }

    #[test]
    fn refs_with_another_commit_have_changed() {
        let before = standing(&[("gone", "1"), ("moves", "2"), ("stays", "3")]);
        let after = standing(&[("moves", "4"), ("new", "5"), ("stays", "3")]);
        let changed = before.until(&after);
        let moved: Vec<_> = changed.domains.iter().map(|step| (step.name.as_str(), step.from, step.to)).collect();
        assert_eq!(moved, [("moves", Some(oid("2")), oid("4")), ("new", None, oid("5"))]);
    }

    #[test]
    fn every_ref_affects_the_id() {
        let before = standing(&[("a", "1"), ("b", "2")]);
        assert_eq!(before.id(), before.clone().id());
        for after in [standing(&[("a", "1")]), standing(&[("a", "2"), ("b", "2")]), RefTips::default()] {
            assert_ne!(before.id(), after.id());
        }
        let session = BTreeMap::from([("a".parse().unwrap(), oid("1"))]);
        assert_ne!(before.id(), RefTips { sessions: session, ..before.clone() }.id());
        assert_ne!(before.id(), RefTips { realm: Some(oid("9")), ..before.clone() }.id());
    }
}
