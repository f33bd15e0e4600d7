//! Collects what is new for a receiver: the differences between its baseline of a domain and the current domain, as
//! the repositories of the domain are notified of them, combined into one event.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    queue::{Queue, Waiting},
    receiver::Receiver,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::Binding,
        domain_summary::DomainSummary,
        hash,
        name::{ContractName, RealmName, RepoName},
        notification::ChangeType,
        rank::Rank,
    },
    ops::{
        contract::verdict::Documents,
        ctx::{ActingRepo, Ctx},
        inboxes::{
            arrival,
            found::{Audience, KnownState},
            pending::{self, Pending},
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
/// The maximum number of repositories whose imports are listed in one event. Those that need the most attention are.
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
        let wanted = self.receiver.filter.current_repos(self.store)?;
        let mut found = Found::default();
        let repos: Vec<&RepoName> = if wanted.is_empty() {
            // Every change is found once, whoever made it. The importers only add what it means for them.
            let anyone = Audience::Anyone { ctx: self.ctx, realm: self.realm, store: self.store };
            found.add(self.pending(anyone, known, domain, line)?);
            self.importers(line, domain, &found.contracts(domain))?
        } else {
            domain.repos().into_iter().filter(|repo| wanted.contains(repo)).collect()
        };
        for repo in repos {
            // Without the clone, it is only less certain who changed the repository's own contracts.
            let code = self.ctx.clone_of(repo).unwrap_or_default();
            let acting = ActingRepo { realm: self.realm, store: self.store, repo, code: code.as_ref() };
            let mut pending = self.pending(Audience::Repo(acting), known, domain, line)?;
            pending.judge(acting, overview, &self.ctx.judge())?;
            // What the repository published itself is not news, even if its clone here has not pulled it yet.
            pending.retain(|one| !one.by_other_clone);
            found.add_for(repo, pending);
        }
        Ok(found.changes(domain))
    }

    /// Returns the repositories that import `changed` contracts, those whose imports need the most attention first.
    fn importers<'d>(
        &self,
        line: &Line,
        domain: &'d DomainSummary,
        changed: &BTreeSet<ContractName>,
    ) -> Result<Vec<&'d RepoName>, OpError> {
        let (documents, judge) = (Documents::of(self.store, &line.tree), self.ctx.judge());
        let mut importers = Vec::new();
        for (repo, binding) in &domain.bindings {
            let imports = binding.imports.iter().filter(|import| changed.contains(&import.contract));
            let ranks = imports.map(|import| {
                let state = documents.state(domain, (repo, import), &judge)?;
                Ok::<_, OpError>(Rank::of_import(import, &state, domain.is_discouraged(import)))
            });
            let rank = ranks.collect::<Result<Vec<_>, _>>()?.into_iter().min();
            importers.extend(rank.map(|rank| (rank, repo)));
        }
        importers.sort_by_key(|(rank, _)| *rank);
        Ok(importers.into_iter().map(|(_, repo)| repo).take(MAX_REPOS).collect())
    }

    /// Returns the changes that an audience would be notified of.
    fn pending(
        &self,
        audience: Audience<'_>,
        known: KnownState,
        domain: &DomainSummary,
        line: &Line,
    ) -> Result<Pending, OpError> {
        let pending = Pending::in_domain(audience, known, domain, line, self.ctx.env.now())?;
        if pending.has_unreadable() {
            let message = format!("{} has files that cannot be read", line.name);
            return Err(OpError::no(ErrorCode::Damaged, message));
        }
        arrival::record(self.store, &pending.sightings, || self.ctx.env.now_here());
        Ok(pending)
    }
}

/// The subject of a change: a contract, a binding, an offer of a contract, or a repository that left.
type Subject = (Option<ContractName>, RepoName, bool);

/// The changes found so far, with the imports that each affects.
#[derive(Default)]
struct Found(BTreeMap<Subject, (Notification, Vec<ConcernedImport>)>);

impl Found {
    /// Adds changes. Of the same change it keeps the highest rank.
    fn add(&mut self, pending: Pending) {
        for one in pending.into_notifications() {
            self.entry(one);
        }
    }

    /// Adds the changes that a repository would be notified of, with what they mean for its imports.
    fn add_for(&mut self, repo: &RepoName, pending: Pending) {
        for one in pending.into_notifications() {
            let import = one.import_state.map(|state| ConcernedImport {
                repo: repo.clone(),
                state,
                was_broken: one.was_broken,
                binding: one.binding.clone(),
                verdict: one.verdict.clone(),
            });
            self.entry(one).extend(import);
        }
    }

    fn entry(&mut self, one: Notification) -> &mut Vec<ConcernedImport> {
        let is_special = matches!(one.change_type, ChangeType::ContractOffered | ChangeType::RepoLeft);
        let rank = one.rank;
        let subject = (one.contract.clone(), one.from_repo.clone(), is_special);
        let (held, imports) = self.0.entry(subject).or_insert_with(|| (one, Vec::new()));
        held.rank = held.rank.min(rank);
        imports
    }

    /// Returns the contracts that changed, or whose owner left.
    fn contracts(&self, domain: &DomainSummary) -> BTreeSet<ContractName> {
        let left = self.0.values().filter(|(one, _)| one.change_type == ChangeType::RepoLeft);
        let orphans = left.flat_map(|(one, _)| domain.served_by(&one.from_repo)).cloned();
        self.0.keys().filter_map(|(contract, ..)| contract.clone()).chain(orphans).collect()
    }

    /// Returns the changes, the most important first.
    fn changes(self, domain: &DomainSummary) -> Vec<EventChange> {
        let is_cut = domain.bindings.len() > MAX_REPOS;
        let mut found: Vec<_> = self.0.into_values().collect();
        found.sort_by_cached_key(|(one, _)| pending::key(one));
        let changes = found.into_iter().map(|(one, imports)| change(one, imports));
        changes.map(|change| if is_cut { with_more_imports(change, domain) } else { change }).collect()
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

/// Counts the imports of the contract that are not listed.
fn with_more_imports(change: EventChange, domain: &DomainSummary) -> EventChange {
    let imports =
        |binding: &&Binding| binding.imports.iter().any(|import| Some(&import.contract) == change.contract.as_ref());
    let importers = domain.bindings.values().filter(imports).count();
    EventChange { more_imports: importers.saturating_sub(change.imports.len()), ..change }
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
        more_imports: 0,
    }
}
