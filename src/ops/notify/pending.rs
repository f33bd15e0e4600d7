//! The pending notifications of a reader: the net difference between its baselines and the current domains. They do not
//! depend on history, so rewritten history cannot break them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    arrival::{Arrivals, FirstSeen, Paths},
    inbox::{self, Baseline, Inbox, Receipt},
    judged,
};
use crate::{
    error::OpError,
    model::{
        binding::{Binding, Import},
        clock,
        domain_summary::{ContractSummary, DomainSummary},
        held::Held,
        name::{ContractName, DomainName, ReaderName, RepoName},
        notification::{self, Change, ChangeType},
        oid::Oid,
        rank::Rank,
        transfer::Transfers,
        verdict::{ImportState, Judge},
        version::Version,
    },
    ops::{
        ctx::Acting,
        history::{
            difference::{self, Difference, PathContent, differences},
            origins::{self, Origin},
        },
    },
    store::{
        StoreRef, TreePath, layout,
        overview::{Line, Overview},
        read::{self, Published},
    },
    wire::{BindingsChanged, JudgedBy, Notification, State, VersionChange},
};

/// Returns the name of the person at the command line, as a reader.
pub fn person() -> ReaderName {
    "cli".parse().unwrap_or_else(|_| unreachable!("it is a name"))
}

/// The maximum number of notifications in one answer.
pub const MAX_TOLD: usize = 20;
/// The maximum number of imports whose schemas are compared before sorting. Notifications of the others are sorted by
/// the imports' ranges.
const MAX_JUDGED: usize = 200;
/// The maximum number of binding changes that are listed individually. If there are more, they are counted.
const MAX_BINDINGS: usize = 3;

/// Returns the sort key of a notification as text: the most important come first, and among equals the newest.
pub fn key(one: &Notification) -> String {
    let contract = one.contract.as_ref().map_or("~", |contract| contract.as_str());
    let when = if one.ahead_of_clock { one.arrived_at } else { one.created_at };
    let age = i64::MAX.saturating_sub(when.as_microsecond());
    format!("{} {age:019} {}/{contract} {}", one.rank as u8, one.domain, one.id)
}

/// Returns whether a text has the form of a [`key`].
pub fn is_key(text: &str) -> bool {
    let parts: Vec<_> = text.split(' ').collect();
    matches!(parts[..], [_, age, place, _] if age.len() == 19 && place.contains('/'))
}

/// All pending notifications of one reader.
#[derive(Debug, Default)]
pub struct Pending {
    /// The notifications. Those that have been judged are sorted, the most important first.
    pub notifications: Vec<Notification>,
    /// The path of each notification, with the blob in the reader's baseline.
    paths: Vec<(DomainName, TreePath, Option<Oid>)>,
    /// Paths that currently cannot be read. Their baseline is not changed.
    kept: Vec<(DomainName, TreePath, Option<Oid>)>,
    /// The domains that were examined.
    seen: BTreeMap<DomainName, Seen>,
    /// Changes that are seen for the first time. A caller that may write records them.
    pub sightings: Vec<FirstSeen>,
}

/// A domain that was examined.
#[derive(Debug, Clone, Copy)]
struct Seen {
    tree: Oid,
    /// Whether the reader's own inbox needs no new baseline, unless it is notified of something in the domain.
    is_recorded: bool,
}

/// What a reader knows of a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownState {
    /// This tree.
    Tree(Oid),
    /// The versions that the repository's code is adapted to.
    Adapted,
    /// Nothing: everything in the domain is new.
    Nothing,
}

impl Pending {
    /// Finds the pending notifications of `reader` in the domains of the asking repository. A domain that equals its
    /// baseline is not read.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn of(
        acting: Acting<'_>,
        reader: &ReaderName,
        now: jiff::Timestamp,
        overview: &Overview<'_>,
    ) -> Result<Self, OpError> {
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
                    let is_silent = pending.add_domain(acting, known, &domain, line, now)?;
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
        pending.sort();
        Ok(pending)
    }

    /// Finds what is new to the asking repository in one domain.
    ///
    /// # Errors
    /// Returns an error if the domain cannot be read.
    pub fn in_domain(
        acting: Acting<'_>,
        known: KnownState,
        domain: &DomainSummary,
        line: &Line,
        now: jiff::Timestamp,
    ) -> Result<Self, OpError> {
        let mut pending = Self::default();
        pending.add_domain(acting, known, domain, line, now)?;
        Ok(pending)
    }

    /// Adds what is new in one domain. Returns whether the reader's baseline moves without a notification: there is no
    /// change to notify of, or a change that does not concern the reader.
    fn add_domain(
        &mut self,
        acting: Acting<'_>,
        known: KnownState,
        domain: &DomainSummary,
        line: &Line,
        now: jiff::Timestamp,
    ) -> Result<bool, OpError> {
        let (name, tree) = (&line.name, line.tree);
        let found = Found::of(acting, known, domain, line)?;
        self.seen.insert(name.clone(), Seen { tree, is_recorded: false });
        let unreadable = found.unreadable.iter().cloned();
        self.kept.extend(unreadable.map(|(path, known)| (name.clone(), path, known)));
        if found.changes.is_empty() {
            return Ok(true);
        }
        let arrivals = Arrivals::of(acting.store, name)?;
        let new = first_seen(acting, &arrivals, &tree)?;
        let paths: Option<BTreeSet<_>> = new.as_ref().map(|new| new.iter().map(|(path, _)| path).collect());
        let is_new = |path: &TreePath| paths.as_ref().is_none_or(|paths| paths.contains(path));
        let imports = domain.bindings.get(acting.repo).map(Binding::by_contract).unwrap_or_default();
        let mut is_silent = found.is_silent;
        for (difference, change, origin) in &found.changes {
            if change.is_mine && !is_by_another(acting, origin) {
                is_silent = true;
                continue;
            }
            let created_at = if clock::is_ahead(origin.time, now) { now } else { origin.time };
            let arrived_at = match arrivals.known {
                Some(known) if known == tree => arrivals.when(&difference.path, difference.new, created_at),
                _ if is_new(&difference.path) => now,
                _ => arrivals.when(&difference.path, difference.new, created_at),
            };
            let import = change.contract.as_ref().and_then(|contract| imports.get(contract)).copied();
            self.notifications.push(notification(acting, (domain, import), (change, origin), arrived_at, now));
            self.paths.push((name.clone(), difference.path.clone(), difference.old));
        }
        if arrivals.known != Some(tree) {
            self.sightings.push(FirstSeen { domain: name.clone(), tree, paths: new });
        }
        Ok(is_silent)
    }

    fn sort(&mut self) {
        let all = self.notifications.drain(..).zip(self.paths.drain(..));
        let mut all: Vec<_> = all.map(|(one, path)| (key(&one), one, path)).collect();
        all.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        (self.notifications, self.paths) = all.into_iter().map(|(_, one, path)| (one, path)).unzip();
    }

    /// Judges the changes of imported contracts, and sorts all notifications by importance.
    ///
    /// # Errors
    /// Returns an error if a domain cannot be read.
    pub fn judge(&mut self, acting: Acting<'_>, overview: &Overview<'_>, judge: &Judge<'_>) -> Result<(), OpError> {
        let due = self.notifications.iter_mut().filter(|one| one.affects_me && one.state == State::Pending);
        judged::judge(acting, overview, judge, due.take(MAX_JUDGED))?;
        self.sort();
        Ok(())
    }

    /// Returns the notifications for one answer: the first `most` that `fits` accepts. Changes of bindings are only
    /// counted if there are many.
    pub fn first(&self, most: usize, mut fits: impl FnMut(&Notification) -> bool) -> NotificationBatch {
        let due = || self.notifications.iter().filter(|one| one.state == State::Pending);
        let bindings: Vec<_> = due().filter(|one| one.rank == Rank::Binding).collect();
        let is_folded = bindings.len() > MAX_BINDINGS;
        let listed = || due().filter(|one| !is_folded || one.rank != Rank::Binding);
        let notifications: Vec<_> = listed().take(most).take_while(|one| fits(one)).cloned().collect();
        let more = listed().count() - notifications.len();
        let domains: BTreeSet<_> = bindings.iter().map(|one| &one.domain).collect();
        let counted = BindingsChanged { changes: bindings.len(), domains: domains.len() };
        let receipt = self.receipt(|_, one| {
            (is_folded && one.rank == Rank::Binding && one.state == State::Pending)
                || notifications.iter().any(|told| told.id == one.id)
        });
        NotificationBatch { bindings_changed: is_folded.then_some(counted), notifications, more, receipt }
    }

    /// Returns the receipt for delivering the notifications that `tells` accepts. It is called with their index.
    pub fn receipt(&self, tells: impl Fn(usize, &Notification) -> bool) -> Receipt {
        let (mut told, mut moved) = (Vec::new(), BTreeSet::new());
        let mut untold: BTreeMap<&DomainName, Vec<(TreePath, Option<Oid>)>> = BTreeMap::new();
        for (at, (one, (domain, path, known))) in self.notifications.iter().zip(&self.paths).enumerate() {
            if tells(at, one) {
                told.push(Notification { state: State::Seen, ..one.clone() });
                moved.insert(domain);
            } else {
                untold.entry(domain).or_default().push((path.clone(), *known));
            }
        }
        for (domain, path, known) in &self.kept {
            untold.entry(domain).or_default().push((path.clone(), *known));
        }
        let seen = self.seen.iter().filter(|(domain, seen)| !seen.is_recorded || moved.contains(domain));
        let baseline = |(domain, seen): (&DomainName, &Seen)| Baseline {
            domain: domain.clone(),
            tree: seen.tree,
            untold: untold.remove(domain).unwrap_or_default(),
        };
        Receipt { baselines: seen.map(baseline).collect(), told }
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
    /// The receipt to record once the answer has reached its reader.
    pub receipt: Receipt,
}

/// The differences between a domain and what a repository knows of it, with their meaning.
#[derive(Debug)]
struct Found {
    /// Changes to notify of, with the commits that introduced them.
    changes: Vec<(Difference, Change, Origin)>,
    /// Paths that currently cannot be read, with the known blobs.
    unreadable: Vec<(TreePath, Option<Oid>)>,
    /// Whether there are differences that need no notification.
    is_silent: bool,
}

/// The approximate size of one change in memory, in bytes.
const CHANGE_WEIGHT: usize = 640;
/// The approximate size of a result without changes, with its key.
const FOUND_WEIGHT: usize = 2 << 10;

/// The latest results, by the asking repository, the domain, its commit, and the known state. These determine the
/// result.
static FOUND: Held<(RepoName, DomainName, Oid, KnownState), Arc<Found>> = Held::new(8 << 20);

impl Found {
    /// Returns how a domain differs from what the asking repository knows of it.
    fn of(acting: Acting<'_>, known: KnownState, domain: &DomainSummary, line: &Line) -> Result<Arc<Self>, OpError> {
        let key = || (acting.repo.clone(), line.name.clone(), line.tip, known);
        let holds = acting.store.holds();
        if let Some(held) = holds.then(|| FOUND.get(&key())).flatten() {
            return Ok(held);
        }
        let found = Arc::new(Self::read(acting, known, domain, line)?);
        // Paths that cannot be read now may become readable later.
        if holds && found.unreadable.is_empty() {
            FOUND.put(key(), Arc::clone(&found), FOUND_WEIGHT + CHANGE_WEIGHT * found.changes.len());
        }
        Ok(found)
    }

    fn read(acting: Acting<'_>, known: KnownState, domain: &DomainSummary, line: &Line) -> Result<Self, OpError> {
        let published = Published::in_tree(acting.store, &line.tree);
        let differences = match known {
            KnownState::Tree(known) => {
                with_adapted(acting, domain, &published, differences(acting.store, Some(&known), &line.tree)?)?
            }
            KnownState::Adapted => since_adapted(acting, domain, &published, &line.tree)?,
            KnownState::Nothing => differences(acting.store, None, &line.tree)?,
        };
        let (mut found, mut unreadable, mut is_silent) = (Vec::new(), Vec::new(), false);
        let transferred = transferred(acting, &line.tree)?;
        let look = Look { acting, domain, tree: &line.tree, published: &published, transferred };
        for difference in differences {
            match look.meaning(&difference)? {
                Meaning::Change(change) => found.push((difference, change)),
                Meaning::Nothing => is_silent = true,
                Meaning::Unreadable => unreadable.push((difference.path, difference.old)),
            }
        }
        let paths: Vec<_> = found.iter().map(|(difference, _)| (&difference.path, difference.new)).collect();
        let origins = origins::origins(acting, &line.tip, &paths)?;
        let changes =
            found.into_iter().zip(origins).map(|((difference, change), origin)| (difference, *change, origin));
        Ok(Self { changes: changes.collect(), unreadable, is_silent })
    }
}

/// What a difference means to the reader.
enum Meaning {
    Change(Box<Change>),
    Nothing,
    Unreadable,
}

/// A look at a domain.
struct Look<'a> {
    acting: Acting<'a>,
    domain: &'a DomainSummary,
    tree: &'a Oid,
    published: &'a Published<'a>,
    /// The contracts that were offered to another repository.
    transferred: BTreeSet<ContractName>,
}

impl Look<'_> {
    fn meaning(&self, difference: &Difference) -> Result<Meaning, OpError> {
        let Self { acting, domain, published, .. } = *self;
        let (store, name, path, me) = (acting.store, &domain.info.name, difference.path.as_str(), acting.repo);
        let change = match &difference.of {
            PathContent::Contract(contract) => {
                let versions = published.of(contract)?;
                let change = |delta| notification::contract_change(name, &versions, me, path, &delta);
                match difference.delta(store)?.map(change) {
                    Some(Some(change)) if difference.old.is_none() => Some(self.first(change)?),
                    other => other,
                }
            }
            PathContent::Binding(repo) => {
                difference.delta(store)?.map(|delta| notification::binding_change(name, me, repo, path, &delta))
            }
            PathContent::Transfers(contract) => difference.delta(store)?.map(|delta| {
                let offered = domain.contracts.get(contract).filter(|offered| offered.retired.is_none())?;
                let change = notification::offer_change(name, (contract, &offered.version), me, path, &delta);
                change.filter(|change| change.from == offered.owner)
            }),
        };
        Ok(match change {
            Some(Some(change)) => Meaning::Change(Box::new(change)),
            Some(None) => Meaning::Nothing,
            None => Meaning::Unreadable,
        })
    }

    /// Returns what a contract that the reader has never seen means: nothing if it was retired meanwhile and is not
    /// imported, and another owner if this repository owned it before.
    fn first(&self, change: Change) -> Result<Option<Change>, OpError> {
        let Some(contract) = &change.contract else { return Ok(Some(change)) };
        let binding = self.domain.bindings.get(self.acting.repo);
        match change.kind {
            ChangeType::ContractRetired if binding.is_none_or(|own| own.import(contract).is_none()) => Ok(None),
            ChangeType::ContractAdded if !change.is_mine && self.was_mine(contract)? => {
                Ok(Some(Change { kind: ChangeType::OwnerChanged, ..change }))
            }
            _ => Ok(Some(change)),
        }
    }

    /// Returns whether this repository offered a contract to its present owner.
    fn was_mine(&self, contract: &ContractName) -> Result<bool, OpError> {
        if !self.transferred.contains(contract) {
            return Ok(false);
        }
        let within = StoreRef::Domain(self.domain.info.name.clone());
        match read::file::<Transfers>(self.acting.store, &within, self.tree, &layout::transfers(contract)) {
            Ok(record) => {
                let mut transfers = record.into_iter().flat_map(|record| record.transfers);
                Ok(transfers.any(|one| one.from == *self.acting.repo))
            }
            Err(error) if error.is_damage() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the contracts of a domain that were offered to another repository.
fn transferred(acting: Acting<'_>, tree: &Oid) -> Result<BTreeSet<ContractName>, OpError> {
    let files = read::folder(acting.store, tree, layout::TRANSFERS)?;
    Ok(files.iter().filter_map(|file| layout::stem(&file.name)).collect())
}

/// Returns the notifications for a machine without a baseline: it is assumed to know the versions that the
/// repository's code is adapted to, and the current state of everything else.
fn since_adapted(
    acting: Acting<'_>,
    domain: &DomainSummary,
    published: &Published<'_>,
    tree: &Oid,
) -> Result<Vec<Difference>, OpError> {
    let imports = domain.bindings.get(acting.repo).into_iter().flat_map(|binding| &binding.imports);
    let behind: Vec<_> = imports.filter_map(|import| Some((&import.contract, behind(domain, import)?))).collect();
    if behind.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let current = difference::blobs(acting.store, tree, layout::CONTRACTS)?;
    for (contract, version) in behind {
        let path = layout::contract(contract);
        let old = published.document(contract, version)?;
        let new = current.get(&format!("{contract}.json")).copied();
        if let (Some(_), Some(_)) = (old, new) {
            found.push(Difference { path, old, new, of: PathContent::Contract(contract.clone()) });
        }
    }
    Ok(found)
}

/// Treats a contract without a baseline as changed since the version that the repository's code is adapted to.
fn with_adapted(
    acting: Acting<'_>,
    domain: &DomainSummary,
    published: &Published<'_>,
    mut differences: Vec<Difference>,
) -> Result<Vec<Difference>, OpError> {
    let imports = domain.bindings.get(acting.repo).map(Binding::by_contract).unwrap_or_default();
    for difference in differences.iter_mut().filter(|one| one.old.is_none() && one.new.is_some()) {
        if let PathContent::Contract(name) = &difference.of
            && let Some(version) = imports.get(name).and_then(|import| behind(domain, import))
        {
            difference.old = published.document(name, version)?;
        }
    }
    Ok(differences)
}

/// Returns the version that the code of an import was written against, if it is not the current one.
fn behind<'i>(domain: &DomainSummary, import: &'i Import) -> Option<&'i Version> {
    let current = domain.contracts.get(&import.contract).map(|contract| &contract.version);
    import.adapted().filter(|version| Some(*version) != current)
}

/// Returns what this machine sees for the first time in a domain's tree. Returns `None` if it has never seen the
/// domain.
fn first_seen(acting: Acting<'_>, arrivals: &Arrivals, tree: &Oid) -> Result<Option<Paths>, OpError> {
    let Some(known) = arrivals.known else {
        return Ok(None);
    };
    let differences = differences(acting.store, Some(&known), tree)?;
    Ok(Some(differences.into_iter().map(|difference| (difference.path, difference.new)).collect()))
}

fn notification(
    acting: Acting<'_>,
    (domain, import): (&DomainSummary, Option<&Import>),
    (change, origin): (&Change, &Origin),
    arrived_at: jiff::Timestamp,
    now: jiff::Timestamp,
) -> Notification {
    let change = change.clone();
    // Judged by the range only; callers that show the notification have the documents judged.
    let state = import.map(|import| ImportState { standing: domain.standing(import), verdict: None });
    let offered = change.contract.as_ref().and_then(|contract| domain.contracts.get(contract));
    let is_leaving = offered.is_some_and(ContractSummary::is_leaving);
    let standing = import.zip(state.as_ref()).map(|(import, state)| Rank::of_import(import, state, is_leaving));
    let expired = inbox::is_expired(arrived_at, now);
    Notification {
        id: change.id,
        kind: change.kind.type_word().to_owned(),
        change_type: change.kind,
        rank: Rank::of_change(change.kind, standing, change.is_mine),
        realm: acting.realm.clone(),
        domain: change.domain,
        contract: change.contract,
        from_repo: change.from,
        author: Some(origin.author.clone()),
        source_commit: origin.source_commit.clone(),
        by_another: change.is_mine,
        changes: VersionChange { old_version: change.old_version, new_version: change.new_version },
        rollback: change.rollback,
        coalesced: change.coalesced,
        affects_me: import.is_some(),
        binding: import.map(|import| import.binding.clone()).unwrap_or_default(),
        import_satisfied: state.as_ref().map(ImportState::holds),
        judged_by: state.as_ref().map(JudgedBy::of),
        verdict: None,
        state: if expired { State::Expired } else { State::Pending },
        created_at: origin.time,
        ahead_of_clock: clock::is_ahead(origin.time, now),
        arrived_at,
    }
}

/// Returns whether somebody else changed what belongs to this repository: in the name of another repository, or in its
/// own name but neither as its user nor from a commit of this clone.
fn is_by_another(acting: Acting<'_>, origin: &Origin) -> bool {
    if origin.repo.as_deref() != Some(acting.repo.as_str()) {
        return true;
    }
    let Some(code) = acting.code else { return false };
    let is_author = |email: String| origin.author.ends_with(&format!("<{email}>"));
    let source = origin.source_commit.as_ref().and_then(|commit| commit.parse().ok());
    !code.config("user.email").is_some_and(is_author) && !source.is_some_and(|commit| code.has(&commit))
}
