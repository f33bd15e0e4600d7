//! What is new for a receiver: the difference between what it knows of a domain and what that holds, as each
//! repository of the domain would be told, put together into one event.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    queue::{Queue, Waiting},
    receiver::Receiver,
};
use crate::{
    error::OpError,
    model::{
        domain_summary::DomainSummary,
        hash,
        name::{RealmName, RepoName},
        rank::Rank,
    },
    ops::{
        ctx::{Acting, Ctx},
        notify::{
            arrival,
            pending::{self, Known, Pending},
        },
    },
    store::{
        Store,
        overview::{Line, Overview},
    },
    wire::{ConcernedImport, Event, News, NewsChange, Notification},
};

/// Most changes in one event.
const MAX_CHANGES: usize = 100;
/// Most repositories whose imports are judged for one event.
const MAX_REPOS: usize = 200;

/// A realm that is looked at for a receiver.
pub struct Collecting<'a> {
    pub ctx: &'a Ctx,
    pub realm: &'a RealmName,
    pub store: &'a dyn Store,
    pub receiver: &'a Receiver,
}

/// Returns how the realm stands: equal before and after means that there is nothing new.
///
/// # Errors
/// Returns an error if the refs cannot be read.
pub fn standing(store: &dyn Store) -> Result<String, OpError> {
    let tips = store.domains()?.into_iter().map(|(name, tip)| format!("{name} {tip}\n"));
    Ok(hash::of_text(tips.collect::<String>()))
}

impl Collecting<'_> {
    /// Adds what is new to a queue, and notes that it was. A receiver that is new hears what comes from now on. Where an
    /// event of a domain waits, what changes meanwhile is the next one: a receiver that is away has one for each domain.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read, or the queue not be recorded.
    pub fn run(&self, queue: &mut Queue) -> Result<(), OpError> {
        let seen = standing(self.store)?;
        if seen == queue.seen {
            return Ok(());
        }
        let overview = Overview::open(self.store)?;
        for line in overview.domains() {
            let known = queue.known(&line.name);
            if known == Some(line.tree) || queue.is_waiting(&line.name) {
                continue;
            }
            if !queue.is_new && self.receiver.filter.has_domain(&line.name) {
                let known = known.map_or(Known::Nothing, Known::Tree);
                match self.event(&overview, line, known) {
                    Ok(event) => queue.waiting.extend(event),
                    // It is `check`'s to report. What comes after it is told once it can be read.
                    Err(error) if error.code == crate::error::ErrorCode::Damaged => continue,
                    Err(error) => return Err(error),
                }
            }
            queue.know(&line.name, line.tree);
        }
        queue.seen = seen;
        queue.save(self.store, &self.receiver.name, &self.ctx.env.now_here())
    }

    fn event(&self, overview: &Overview<'_>, line: &Line, known: Known) -> Result<Option<Waiting>, OpError> {
        let domain = overview.summary(line)?;
        let now = self.ctx.env.now();
        let mut changes = self.changes(overview, line, &domain, known)?;
        changes.retain(|change| self.receiver.filter.has_rank(change.severity));
        let Some(first) = changes.first() else { return Ok(None) };
        let severity = first.severity;
        let more_changes = changes.len().saturating_sub(MAX_CHANGES);
        changes.truncate(MAX_CHANGES);
        let parts = [self.receiver.name.as_str(), self.realm.as_str(), line.name.as_str(), &line.tip.to_string()];
        let data = News { realm: self.realm.clone(), commit: Some(line.tip), severity, changes, more_changes };
        let event =
            Event { subject: Some(line.name.clone()), ..event(id(&parts), "git-blue.domain.changed", data, now) };
        Ok(Some(Waiting { event, tries: 0, next: now, problem: None }))
    }

    /// Returns the changes, each once, what matters most first.
    fn changes(
        &self,
        overview: &Overview<'_>,
        line: &Line,
        domain: &DomainSummary,
        known: Known,
    ) -> Result<Vec<NewsChange>, OpError> {
        let members: Vec<&RepoName> =
            domain.repos().into_iter().filter(|repo| self.receiver.filter.has_repo(repo)).collect();
        let mut found: BTreeMap<String, (Notification, Vec<ConcernedImport>)> = BTreeMap::new();
        // What one of two repositories did is news to the other one; the rest matters for its imports alone.
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

    /// Adds what a repository would be told.
    fn add(
        &self,
        overview: &Overview<'_>,
        line: &Line,
        domain: &DomainSummary,
        (repo, known): (&RepoName, Known),
        found: &mut BTreeMap<String, (Notification, Vec<ConcernedImport>)>,
    ) -> Result<(), OpError> {
        let acting = Acting { realm: self.realm, store: self.store, repo, code: None };
        let mut pending = Pending::in_domain(acting, known, domain, line, self.ctx.env.now())?;
        pending.judge(acting, overview, &self.ctx.judge())?;
        arrival::record(self.store, &pending.sightings, || self.ctx.env.now_here());
        for one in pending.notifications {
            let import = one.import_satisfied.map(|holds| ConcernedImport {
                repo: repo.clone(),
                holds,
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
pub fn event(id: String, kind: &'static str, data: News, time: jiff::Timestamp) -> Event {
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

/// Returns an id that is the same wherever the parts are.
pub fn id(parts: &[&str]) -> String {
    hash::of_text(parts.join("\n"))[..32].to_owned()
}

/// Returns an event that says nothing, to try a receiver.
pub fn test(ctx: &Ctx, realm: &RealmName, receiver: &Receiver) -> Event {
    let now = ctx.env.now();
    let data =
        News { realm: realm.clone(), commit: None, severity: Rank::default(), changes: Vec::new(), more_changes: 0 };
    let parts = [receiver.name.as_str(), realm.as_str(), &now.to_string(), &ctx.env.seed().to_string()];
    event(id(&parts), "git-blue.test", data, now)
}

fn change(one: Notification, imports: Vec<ConcernedImport>) -> NewsChange {
    NewsChange {
        text: one.phrase(),
        id: one.id,
        change_type: one.change_type,
        severity: one.rank,
        contract: one.contract,
        from_repo: one.from_repo,
        author: one.author,
        changes: one.changes,
        coalesced: one.coalesced,
        created_at: one.created_at,
        imports,
    }
}
