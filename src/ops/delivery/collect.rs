//! Collects what is new for a receiver: the differences between its baseline of a domain and the current domain, as
//! each repository of the domain would be notified of them, combined into one event.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    queue::{Queue, Waiting},
    receiver::Receiver,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        domain_summary::DomainSummary,
        hash,
        name::{RealmName, RepoName},
        rank::Rank,
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        inboxes::{
            arrival,
            pending::{self, KnownState, Pending},
        },
    },
    store::{
        Store,
        overview::{Line, Overview},
    },
    wire::{ConcernedImport, Event, EventChange, EventData, Notification},
};

/// The maximum number of changes in one event.
const MAX_CHANGES: usize = 100;
/// The maximum number of repositories whose imports are judged for one event.
const MAX_REPOS: usize = 200;

/// A realm and the receiver that changes are collected for.
pub struct ChangeCollector<'a> {
    pub ctx: &'a Ctx,
    pub realm: &'a RealmName,
    pub store: &'a dyn Store,
    pub receiver: &'a Receiver,
}

/// Returns a fingerprint of the realm's refs. If it has not changed, there is nothing new.
///
/// # Errors
/// Returns an error if the refs cannot be read.
pub fn refs_fingerprint(store: &dyn Store) -> Result<String, OpError> {
    let tips = store.domains()?.into_iter().map(|(name, tip)| format!("{name} {tip}\n"));
    Ok(hash::of_text(tips.collect::<String>()))
}

impl ChangeCollector<'_> {
    /// Adds new changes to a queue and records them as known. A new receiver starts with the current state. While an
    /// event of a domain is waiting, further changes are collected for the next event, so a receiver that is
    /// unreachable has at most one event per domain.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read, or the queue cannot be recorded.
    pub fn run(&self, queue: &mut Queue) -> Result<(), OpError> {
        let seen = refs_fingerprint(self.store)?;
        if seen == queue.seen {
            return Ok(());
        }
        let overview = Overview::open(self.store)?;
        let waiting = queue.waiting_domains();
        let mut is_complete = true;
        for line in overview.domains() {
            let known = queue.known(&line.name);
            if known == Some(line.tree) {
                continue;
            }
            if waiting.contains(&line.name) {
                queue.delay(&line.name);
                continue;
            }
            if !queue.is_new && self.receiver.filter.has_domain(&line.name) {
                let known = known.map_or(KnownState::Nothing, KnownState::Tree);
                match self.event(&overview, line, known) {
                    Ok(event) => queue.waiting.extend(event),
                    // `check` reports a damaged domain. Its changes are collected once it can be read; a repair moves
                    // no ref.
                    Err(error) if error.code == ErrorCode::Damaged => {
                        is_complete = false;
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            }
            queue.set_baseline(&line.name, line.tree);
        }
        queue.seen = if is_complete { seen } else { String::new() };
        queue.save(self.store, &self.receiver.name, &self.ctx.env.now_here())
    }

    fn event(&self, overview: &Overview<'_>, line: &Line, known: KnownState) -> Result<Option<Waiting>, OpError> {
        let domain = overview.summary(line)?;
        let now = self.ctx.env.now();
        let mut changes = self.changes(overview, line, &domain, known)?;
        changes.retain(|change| self.receiver.filter.has_rank(change.rank));
        let Some(first) = changes.first() else { return Ok(None) };
        let rank = first.rank;
        let more_changes = changes.len().saturating_sub(MAX_CHANGES);
        changes.truncate(MAX_CHANGES);
        let parts = [self.receiver.name.as_str(), self.realm.as_str(), line.name.as_str(), &line.tip.to_string()];
        let data = EventData { realm: self.realm.clone(), commit: Some(line.tip), rank, changes, more_changes };
        let event =
            Event { subject: Some(line.name.clone()), ..event(id(&parts), "git-blue.domain.changed", data, now) };
        Ok(Some(Waiting { event, tries: 0, next: now, problem: None }))
    }

    /// Returns the changes without duplicates, the most important first.
    fn changes(
        &self,
        overview: &Overview<'_>,
        line: &Line,
        domain: &DomainSummary,
        known: KnownState,
    ) -> Result<Vec<EventChange>, OpError> {
        let members: Vec<&RepoName> =
            domain.repos().into_iter().filter(|repo| self.receiver.filter.has_repo(repo)).collect();
        let mut found: BTreeMap<String, (Notification, Vec<ConcernedImport>)> = BTreeMap::new();
        // Two repositories together see every change, because a change of one is new to the other. Further repositories
        // matter only if they import something that changed.
        let is_few = !self.receiver.filter.repos.is_empty();
        let (first, rest) = members.split_at(if is_few { members.len() } else { members.len().min(2) });
        for repo in first {
            self.add(overview, line, domain, (repo, known), &mut found)?;
        }
        let changed: BTreeSet<_> = found.values().filter_map(|(one, _)| one.contract.clone()).collect();
        let imports = |repo: &RepoName| {
            let binding = domain.bindings.get(repo);
            binding.is_some_and(|binding| binding.imports.iter().any(|import| changed.contains(&import.contract)))
        };
        for repo in rest.iter().filter(|repo| imports(repo)).take(MAX_REPOS) {
            self.add(overview, line, domain, (repo, known), &mut found)?;
        }
        let mut found: Vec<_> = found.into_values().collect();
        found.sort_by_cached_key(|(one, _)| pending::key(one));
        Ok(found.into_iter().map(|(one, imports)| change(one, imports)).collect())
    }

    /// Adds the changes that a repository would be notified of.
    fn add(
        &self,
        overview: &Overview<'_>,
        line: &Line,
        domain: &DomainSummary,
        (repo, known): (&RepoName, KnownState),
        found: &mut BTreeMap<String, (Notification, Vec<ConcernedImport>)>,
    ) -> Result<(), OpError> {
        let acting = ActingRepo { realm: self.realm, store: self.store, repo, code: None };
        let mut pending = Pending::in_domain(acting, known, domain, line, self.ctx.env.now())?;
        if pending.has_unreadable() {
            let message = format!("{} has files that cannot be read", line.name);
            return Err(OpError::no(ErrorCode::Damaged, message));
        }
        pending.judge(acting, overview, &self.ctx.judge())?;
        arrival::record(self.store, &pending.sightings, || self.ctx.env.now_here());
        for one in pending.notifications {
            let import = one.import_state.map(|state| ConcernedImport {
                repo: repo.clone(),
                state,
                binding: one.binding.clone(),
                verdict: one.verdict.clone(),
            });
            let (held, imports) = found.entry(one.id.clone()).or_insert_with(|| (one.clone(), Vec::new()));
            held.rank = held.rank.min(one.rank);
            imports.extend(import);
        }
        Ok(())
    }
}

/// Returns an event without a subject.
pub fn event(id: String, kind: &'static str, data: EventData, time: jiff::Timestamp) -> Event {
    Event {
        specversion: "1.0".into(),
        id,
        source: format!("git-blue:/realms/{}", data.realm),
        kind: kind.into(),
        subject: None,
        time,
        datacontenttype: "application/json".into(),
        data,
    }
}

/// Returns an id that depends only on `parts`.
pub fn id(parts: &[&str]) -> String {
    hash::of_text(parts.join("\n"))[..32].to_owned()
}

/// Returns an event without changes, to test a receiver.
pub fn test(ctx: &Ctx, realm: &RealmName, receiver: &Receiver) -> Event {
    let now = ctx.env.now();
    let data =
        EventData { realm: realm.clone(), commit: None, rank: Rank::default(), changes: Vec::new(), more_changes: 0 };
    let parts = [receiver.name.as_str(), realm.as_str(), &now.to_string(), &ctx.env.seed().to_string()];
    event(id(&parts), "git-blue.test", data, now)
}

fn change(one: Notification, imports: Vec<ConcernedImport>) -> EventChange {
    EventChange {
        text: one.phrase(),
        id: one.id,
        change_type: one.change_type,
        also: one.also,
        rank: one.rank,
        contract: one.contract,
        from_repo: one.from_repo,
        author: one.author,
        changes: one.changes,
        version_count: one.version_count,
        created_at: one.created_at,
        imports,
    }
}
