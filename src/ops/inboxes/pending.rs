//! The pending notifications of a reader: the net difference between its baselines and the current domains. They do not
//! depend on history, so rewritten history cannot break them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    arrival::{Arrivals, FirstSeen, Paths},
    found::{Audience, Found, KnownState},
    import_effects::{self, Detail},
    inbox::{self, Baseline, Inbox, Receipt},
    notification::{notification, orphaning},
    writer::{Writer, farthest},
};
use crate::{
    error::OpError,
    model::{
        binding::Binding,
        clock,
        domain_summary::DomainSummary,
        name::{DomainName, ReaderName},
        notification::ChangeType,
        oid::Oid,
        rank::Rank,
        verdict::Judge,
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        history::difference::differences,
    },
    store::{
        Store, TreePath,
        overview::{Line, Overview},
        read,
    },
    wire::{BindingsChanged, Notification, State},
};

/// Returns the name of the person at the command line, as a reader.
pub fn cli_reader() -> ReaderName {
    "cli".parse().unwrap_or_else(|_| unreachable!("it is a name"))
}

/// The maximum number of notifications in one answer.
pub const MAX_DELIVERED: usize = 20;
/// The maximum number of notifications that keep their verdict. Thousands may be pending, of which few are shown.
const MAX_DETAILED: usize = 200;
/// The maximum number of binding changes that are listed individually. If there are more, they are counted.
const MAX_BINDINGS: usize = 3;

/// Returns the sort key of a notification as text: the most important come first, and among equals the newest.
pub fn key(one: &Notification) -> String {
    let contract = one.contract.as_ref().map_or("~", |contract| contract.as_str());
    let when = if one.in_future { one.arrived_at } else { one.created_at };
    let age = i64::MAX.saturating_sub(when.as_microsecond());
    format!("{} {age:019} {}/{contract} {}", one.rank as u8, one.domain, one.id)
}

/// Returns whether `text` has the form of a [`key`].
pub fn is_key(text: &str) -> bool {
    let parts: Vec<_> = text.split(' ').collect();
    matches!(parts[..], [_, age, place, _] if age.len() == 19 && place.contains('/'))
}

/// All pending notifications of one reader.
#[derive(Debug, Default)]
pub struct Pending {
    /// The changes to notify of. Those that have been judged are sorted, the most important first.
    changes: Vec<PendingChange>,
    /// Paths that currently cannot be read. Their baseline is not changed.
    kept: Vec<(DomainName, TreePath, Option<Oid>)>,
    /// The domains that were examined.
    seen: BTreeMap<DomainName, Seen>,
    /// Changes that are seen for the first time. A caller that may write records them.
    pub sightings: Vec<FirstSeen>,
    /// The number of changes that are too old to be listed.
    pub forgotten: usize,
}

/// A notification, and the files whose change it is about.
#[derive(Debug)]
struct PendingChange {
    notification: Notification,
    /// The files, each with the blob in the reader's baseline.
    paths: Vec<(TreePath, Option<Oid>)>,
}

/// A domain that was examined.
#[derive(Debug, Clone, Copy)]
struct Seen {
    tree: Oid,
    /// Whether the reader's own inbox needs no new baseline, unless it is notified of something in the domain.
    is_recorded: bool,
}

impl Pending {
    /// Returns the notifications. Those that have been judged are sorted, the most important first.
    pub fn notifications(&self) -> impl Iterator<Item = &Notification> {
        self.changes.iter().map(|change| &change.notification)
    }

    /// Returns the notifications, to change them.
    pub fn notifications_mut(&mut self) -> impl Iterator<Item = &mut Notification> {
        self.changes.iter_mut().map(|change| &mut change.notification)
    }

    /// Returns the notifications without what a receipt needs.
    pub fn into_notifications(self) -> impl Iterator<Item = Notification> {
        self.changes.into_iter().map(|change| change.notification)
    }

    /// Keeps only the notifications that `keeps` accepts.
    pub fn retain(&mut self, keeps: impl Fn(&Notification) -> bool) {
        self.changes.retain(|change| keeps(&change.notification));
    }

    /// Returns whether the domains have files that cannot be read, whose changes are therefore unknown.
    pub fn has_unreadable(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Finds the pending notifications of `reader` in the domains of the current repository, judged and sorted by
    /// importance. Domains that equal their baseline are not read.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn of(
        ctx: &Ctx,
        acting: ActingRepo<'_>,
        reader: &ReaderName,
        overview: &Overview<'_>,
        judge: &Judge<'_>,
    ) -> Result<Self, OpError> {
        let now = ctx.env.now();
        let baselines = Inbox::open(acting.store, acting.repo, reader)?.baselines(acting.store)?;
        let mut pending = Self::default();
        for line in overview.domains_of(acting.repo) {
            let (known, is_own) = (baselines.of(&line.name), baselines.is_own(&line.name));
            if known == Some(line.tree) || (known.is_none() && line.is_as_adapted(acting.repo)) {
                if !is_own {
                    pending.seen.insert(line.name.clone(), Seen { tree: line.tree, is_recorded: false });
                }
                continue;
            }
            match overview.summary(line) {
                Ok(domain) if domain.takes_part(acting.repo) => {
                    let known = known.map_or(KnownState::Adapted, KnownState::Tree);
                    let is_silent = pending.add_domain(Audience::Repo(acting), known, &domain, line, now)?;
                    if let Some(seen) = pending.seen.get_mut(&line.name) {
                        seen.is_recorded = is_own && !is_silent;
                    }
                }
                Ok(_) => {}
                // A damaged domain does not hide the others; `check` reports it.
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error.into()),
            }
        }
        if pending.notifications().any(|one| one.by_other_clone)
            && read::names_taken_twice(acting.store, overview.repos())?.contains(acting.repo)
        {
            // The other repository of this name may have written it.
            pending.notifications_mut().for_each(|one| one.by_other_clone = false);
        }
        pending.sort();
        pending.judge(acting, overview, judge)?;
        Ok(pending)
    }

    /// Finds what is new in one domain.
    ///
    /// # Errors
    /// Returns an error if the domain cannot be read.
    pub fn in_domain(
        audience: Audience<'_>,
        known: KnownState,
        domain: &DomainSummary,
        line: &Line,
        now: jiff::Timestamp,
    ) -> Result<Self, OpError> {
        let mut pending = Self::default();
        pending.add_domain(audience, known, domain, line, now)?;
        Ok(pending)
    }

    /// Adds what is new in one domain. Returns whether the reader's baseline moves without a notification: there is no
    /// change to notify of, or a change that does not concern the reader.
    fn add_domain(
        &mut self,
        audience: Audience<'_>,
        known: KnownState,
        domain: &DomainSummary,
        line: &Line,
        now: jiff::Timestamp,
    ) -> Result<bool, OpError> {
        let (store, name, tree) = (audience.store(), &line.name, line.tree);
        let found = Found::of(audience, known, domain, line)?;
        self.seen.insert(name.clone(), Seen { tree, is_recorded: false });
        let unreadable = found.unreadable.iter().cloned();
        self.kept.extend(unreadable.map(|(path, known)| (name.clone(), path, known)));
        if found.changes.is_empty() {
            return Ok(true);
        }
        let arrivals = Arrivals::of(store, name)?;
        let new = first_seen(store, &arrivals, &tree)?;
        let paths: Option<BTreeSet<_>> = new.as_ref().map(|new| new.iter().map(|(path, _)| path).collect());
        let is_new = |path: &TreePath| paths.as_ref().is_none_or(|paths| paths.contains(path));
        let binding = audience.repo().and_then(|repo| domain.bindings.get(repo));
        let imports = binding.map(Binding::by_contract).unwrap_or_default();
        let clones = audience.clones(&found.changes);
        let mut is_silent = found.is_silent;
        self.changes.reserve(found.changes.len());
        for (difference, change, origins) in &found.changes {
            let owner = audience.owner(change, domain, &clones);
            let Some((writer, origin)) = farthest(owner, &line.tip, origins) else { continue };
            if writer == Some(Writer::ThisClone) && audience.repo().is_some() {
                is_silent = true;
                continue;
            }
            let created_at = if clock::is_ahead(origin.time, now) { now } else { origin.time };
            let arrived_at = match arrivals.known {
                Some(known) if known == tree => arrivals.when(&difference.path, difference.new, created_at),
                _ if is_new(&difference.path) => now,
                _ => arrivals.when(&difference.path, difference.new, created_at),
            };
            if inbox::is_forgotten(arrived_at, now) {
                self.forgotten += 1;
                is_silent = true;
                continue;
            }
            let import = change.contract.as_ref().and_then(|contract| imports.get(contract)).copied();
            let one = notification(audience.realm(), (domain, import), (change, origin, writer), arrived_at, now);
            let one = Notification { former: difference.old, ..one };
            let left = Some(&change.from).filter(|_| change.kind == ChangeType::RepoLeft);
            let served = left.into_iter().flat_map(|left| domain.served_by(left));
            let orphans: Vec<_> = served.filter(|contract| imports.contains_key(*contract)).cloned().collect();
            self.changes.push(PendingChange {
                notification: if orphans.is_empty() { one } else { orphaning(one, orphans) },
                paths: vec![(difference.path.clone(), difference.old)],
            });
        }
        if audience.repo().is_some() {
            self.combine_offers(name);
        }
        if arrivals.known != Some(tree) {
            self.sightings.push(FirstSeen { domain: name.clone(), tip: line.tip, paths: new });
        }
        Ok(is_silent)
    }

    /// Combines the offer of a new contract with the notification that it was added.
    fn combine_offers(&mut self, domain: &DomainName) {
        let is_offer = |one: &Notification| one.change_type == ChangeType::ContractOffered && one.domain == *domain;
        let offers: Vec<_> = self.notifications().filter(|one| is_offer(one)).map(|one| one.contract.clone()).collect();
        for contract in offers {
            let is_of = |one: &PendingChange, kind| {
                let one = &one.notification;
                one.domain == *domain && one.contract == contract && one.change_type == kind && one.also.is_empty()
            };
            let added = |one: &PendingChange| is_of(one, ChangeType::ContractAdded) && !one.notification.is_back();
            let Some(added) = self.changes.iter().position(added) else { continue };
            let PendingChange { paths, .. } = self.changes.remove(added);
            if let Some(offer) = self.changes.iter_mut().find(|one| is_of(one, ChangeType::ContractOffered)) {
                offer.notification.also.push(ChangeType::ContractAdded);
                offer.paths.extend(paths);
            }
        }
    }

    fn sort(&mut self) {
        self.changes.sort_by_cached_key(|change| key(&change.notification));
    }

    /// Judges the changes of imported contracts, and sorts all notifications by importance.
    ///
    /// # Errors
    /// Returns an error if a domain cannot be read.
    pub fn judge(&mut self, acting: ActingRepo<'_>, overview: &Overview<'_>, judge: &Judge<'_>) -> Result<(), OpError> {
        self.judge_in(State::Pending, acting, overview, judge)
    }

    /// Does the same as [`Self::judge`] for the changes that nobody has seen for too long, which only a list shows.
    ///
    /// # Errors
    /// Returns an error if a domain cannot be read.
    pub fn judge_expired(
        &mut self,
        acting: ActingRepo<'_>,
        overview: &Overview<'_>,
        judge: &Judge<'_>,
    ) -> Result<(), OpError> {
        self.judge_in(State::Expired, acting, overview, judge)
    }

    fn judge_in(
        &mut self,
        state: State,
        acting: ActingRepo<'_>,
        overview: &Overview<'_>,
        judge: &Judge<'_>,
    ) -> Result<(), OpError> {
        let is_due = |one: &Notification| one.affects_me && one.state == state;
        if self.notifications().filter(|one| is_due(one)).count() > MAX_DETAILED {
            let due = self.notifications_mut().filter(|one| is_due(one));
            import_effects::judge(acting, overview, judge, Detail::Effect, due)?;
            self.sort();
        }
        let due = self.notifications_mut().filter(|one| is_due(one)).take(MAX_DETAILED);
        import_effects::judge(acting, overview, judge, Detail::Verdict, due)?;
        self.sort();
        Ok(())
    }

    /// Returns the notifications for one answer: the first `most` that `fits` accepts. Changes of bindings are only
    /// counted if there are many.
    pub fn first(&self, most: usize, mut fits: impl FnMut(&Notification) -> bool) -> NotificationBatch {
        let due = || self.notifications().filter(|one| one.state == State::Pending);
        let bindings: Vec<_> = due().filter(|one| one.rank == Rank::Binding).collect();
        let is_folded = bindings.len() > MAX_BINDINGS;
        let listed = || due().filter(|one| !is_folded || one.rank != Rank::Binding);
        let notifications: Vec<_> = listed().take(most).take_while(|one| fits(one)).cloned().collect();
        let more = listed().count() - notifications.len();
        let domains: BTreeSet<_> = bindings.iter().map(|one| &one.domain).collect();
        let counted = BindingsChanged { changes: bindings.len(), domains: domains.len() };
        let receipt = self.receipt(|one| {
            (is_folded && one.rank == Rank::Binding && one.state == State::Pending)
                || notifications.iter().any(|told| told.id == one.id)
        });
        let expired = self.notifications().filter(|one| one.state == State::Expired).count() + self.forgotten;
        NotificationBatch { bindings_changed: is_folded.then_some(counted), notifications, more, expired, receipt }
    }

    /// Returns the receipt for the notifications that `tells` accepts.
    pub fn receipt(&self, tells: impl Fn(&Notification) -> bool) -> Receipt {
        let (mut delivered, mut moved) = (Vec::new(), BTreeSet::new());
        let mut pending: BTreeMap<&DomainName, Vec<(TreePath, Option<Oid>)>> = BTreeMap::new();
        for PendingChange { notification: one, paths } in &self.changes {
            if tells(one) {
                delivered.push(Notification { state: State::Seen, ..one.clone() });
                moved.insert(&one.domain);
            } else {
                pending.entry(&one.domain).or_default().extend(paths.iter().cloned());
            }
        }
        for (domain, path, known) in &self.kept {
            pending.entry(domain).or_default().push((path.clone(), *known));
        }
        let seen = self.seen.iter().filter(|(domain, seen)| !seen.is_recorded || moved.contains(domain));
        let baseline = |(domain, seen): (&DomainName, &Seen)| Baseline {
            domain: domain.clone(),
            tree: seen.tree,
            pending: pending.remove(domain).unwrap_or_default(),
        };
        Receipt { baselines: seen.map(baseline).collect(), delivered }
    }
}

/// The notifications in one answer.
#[derive(Debug, Default)]
pub struct NotificationBatch {
    /// The notifications, the most important first.
    pub notifications: Vec<Notification>,
    /// The number of changed bindings, if there are too many to list.
    pub bindings_changed: Option<BindingsChanged>,
    /// The number of notifications that are pending for later answers.
    pub more: usize,
    /// The number of unseen notifications that are too old to be delivered.
    pub expired: usize,
    /// The receipt to record once the answer has reached its reader.
    pub receipt: Receipt,
}

/// Returns what this machine sees for the first time in a domain's tree. Returns `None` if it has never seen the
/// domain.
fn first_seen(store: &dyn Store, arrivals: &Arrivals, tree: &Oid) -> Result<Option<Paths>, OpError> {
    let Some(known) = arrivals.known else {
        return Ok(None);
    };
    let differences = differences(store, Some(&known), tree)?;
    Ok(Some(differences.into_iter().map(|difference| (difference.path, difference.new)).collect()))
}
