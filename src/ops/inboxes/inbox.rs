//! The inboxes of readers. An inbox is a ref of this machine whose tree contains, for each domain, the domain's tree as
//! the reader last knew it, and the notifications delivered in the last 30 days. A damaged record counts as missing.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

use crate::ops::ctx::own_signature;
use crate::{
    error::OpError,
    model::{
        name::{DomainName, ReaderName, RepoName},
        oid::Oid,
    },
    store::{
        Change, Edit, EntryKind, Parents, Store, StoreRef, TreePath, codec, layout, read, unless_damaged, write::write,
    },
    wire::Notification,
};

/// The number of days for which delivered notifications are kept.
const KEPT_DAYS: i64 = 30;
/// The number of days after which a notification expires.
const EXPIRED_DAYS: i64 = 7;
/// The maximum number of delivered notifications that are kept.
const MAX_DELIVERED: usize = 1_000;

/// The current state of an inbox.
#[derive(Debug, Clone, Default)]
pub struct Inbox {
    /// Its ref, and the tree that it holds.
    at: Option<(StoreRef, Oid)>,
    /// The tree of the repository's shared inbox.
    shared: Option<Oid>,
}

/// A reader's baselines in all domains, read at once.
#[derive(Debug, Default)]
pub struct Baselines(BTreeMap<String, Recorded>);

/// A recorded baseline.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    tree: Oid,
    /// Whether it is in the reader's own inbox. A baseline in the shared inbox also moves when other readers are
    /// notified.
    is_own: bool,
}

impl Baselines {
    /// Returns the tree of a domain as the reader knew it.
    pub fn of(&self, domain: &DomainName) -> Option<Oid> {
        self.0.get(domain.as_str()).map(|recorded| recorded.tree)
    }

    /// Returns whether the reader's own inbox has a baseline of a domain.
    pub fn is_own(&self, domain: &DomainName) -> bool {
        self.0.get(domain.as_str()).is_some_and(|recorded| recorded.is_own)
    }
}

/// A delivered notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveredNotification {
    /// The time.
    pub at: Timestamp,
    /// The notification.
    pub notification: Notification,
}

/// The number of delivered notifications that one delivery left no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Dropped {
    /// The time of the delivery.
    at: Timestamp,
    count: usize,
}

/// The notifications that one answer delivers to a reader. It is recorded once the answer has reached the reader.
#[derive(Debug, Clone, Default)]
pub struct Receipt {
    /// The reader's new baselines.
    pub baselines: Vec<Baseline>,
    /// The notifications that were delivered.
    pub delivered: Vec<Notification>,
}

/// The baseline of a reader in a domain: the domain's tree, except for paths still pending.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The domain.
    pub domain: DomainName,
    /// The domain's tree.
    pub tree: Oid,
    /// The pending paths, each with the blob that the reader knew, if any.
    pub pending: Vec<(TreePath, Option<Oid>)>,
}

impl Baseline {
    /// Returns the edits that store it in a folder.
    fn edits(&self, folder: &TreePath) -> impl Iterator<Item = (TreePath, Edit)> {
        // From the end, because each removal moves the entries after it.
        let mut pending: Vec<_> = self.pending.iter().collect();
        pending.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        let pending = pending.into_iter().map(|(path, known)| {
            let edit = known.map_or(Edit::Remove, |blob| Edit::Link(EntryKind::Blob, blob));
            (path.below(folder), edit)
        });
        std::iter::once((folder.clone(), Edit::Link(EntryKind::Tree, self.tree))).chain(pending)
    }
}

impl Inbox {
    /// Returns a reader's inbox, or the repository's shared one if the reader has none.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn open(store: &dyn Store, repo: &RepoName, reader: &ReaderName) -> Result<Self, OpError> {
        let own = StoreRef::Inbox(repo.clone(), Some(reader.clone()));
        let shared = Self::at(store, &StoreRef::Inbox(repo.clone(), None))?.unwrap_or_default();
        Ok(match Self::at(store, &own)? {
            Some(inbox) => Self { shared: shared.tree(), ..inbox },
            None => shared,
        })
    }

    fn tree(&self) -> Option<Oid> {
        self.at.as_ref().map(|(_, tree)| *tree)
    }

    fn at(store: &dyn Store, name: &StoreRef) -> Result<Option<Self>, OpError> {
        let Some(tip) = store.tip(name)? else {
            return Ok(None);
        };
        Ok(tree_of(store, tip)?.map(|tree| Self { at: Some((name.clone(), tree)), shared: None }))
    }

    /// Returns the delivered notifications, oldest first. They do not affect what is pending.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn delivered(&self, store: &dyn Store) -> Result<Vec<DeliveredNotification>, OpError> {
        self.at.as_ref().map_or_else(|| Ok(Vec::new()), |(name, tree)| delivered_in(store, name, tree))
    }

    /// Returns how many notifications were delivered in the last 30 days and are not kept, because there were too many.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn dropped(&self, store: &dyn Store, now: Timestamp) -> Result<usize, OpError> {
        let Some((name, tree)) = &self.at else { return Ok(0) };
        Ok(dropped_in(store, name, tree, now)?.iter().map(|one| one.count).sum())
    }

    /// Returns the reader's baseline in a domain, if any: the tree of its last delivery or, if the repository joined
    /// the domain after that, the domain's tree at that time.
    ///
    /// # Errors
    /// Returns an error if the inbox cannot be read.
    pub fn baseline(&self, store: &dyn Store, domain: &DomainName) -> Result<Option<Oid>, OpError> {
        let places = [(self.tree(), layout::baseline(domain)), (self.shared, layout::joined(domain))];
        for (tree, path) in places {
            let Some(tree) = tree else { continue };
            let entry = unless_damaged(read::lookup(store, &tree, path.as_str()))?;
            if let Some(entry) = entry.filter(|entry| entry.kind == EntryKind::Tree) {
                return Ok(Some(entry.id));
            }
        }
        Ok(None)
    }

    /// Returns the reader's baselines of all domains, as [`Self::baseline`] does for one.
    ///
    /// # Errors
    /// Returns an error if the inbox cannot be read.
    pub fn baselines(&self, store: &dyn Store) -> Result<Baselines, OpError> {
        let mut found = BTreeMap::new();
        let is_reader = matches!(self.at, Some((StoreRef::Inbox(_, Some(_)), _)));
        let places = [(self.shared, layout::JOINED, false), (self.tree(), layout::BASELINES, is_reader)];
        for (tree, folder, is_own) in places {
            let Some(tree) = tree else { continue };
            let entries = unless_damaged(read::folder(store, &tree, folder))?;
            let trees = entries.into_iter().filter(|entry| entry.kind == EntryKind::Tree);
            found.extend(trees.map(|entry| (entry.name, Recorded { tree: entry.id, is_own })));
        }
        Ok(Baselines(found))
    }
}

/// Returns the tree of an inbox's commit.
fn tree_of(store: &dyn Store, tip: Oid) -> Result<Option<Oid>, OpError> {
    Ok(unless_damaged(store.commit(&tip).map(|commit| Some(commit.tree)))?)
}

/// Returns the delivered notifications in a tree of an inbox, oldest first.
fn delivered_in(store: &dyn Store, name: &StoreRef, tree: &Oid) -> Result<Vec<DeliveredNotification>, OpError> {
    Ok(unless_damaged(read::file(store, name, tree, &layout::delivered()))?.unwrap_or_default())
}

/// Returns the notifications of the last 30 days that a tree of an inbox does not keep, by delivery.
fn dropped_in(store: &dyn Store, name: &StoreRef, tree: &Oid, now: Timestamp) -> Result<Vec<Dropped>, OpError> {
    let all: Vec<Dropped> = unless_damaged(read::file(store, name, tree, &layout::dropped()))?.unwrap_or_default();
    Ok(all.into_iter().filter(|one| !is_older(one.at, now, KEPT_DAYS)).collect())
}

/// Records a delivery in the reader's own inbox and the repository's shared one. `now` is called only if there is
/// something to write.
///
/// # Errors
/// Returns an error if the store cannot be written; the reader is then notified again.
pub fn record(
    store: &dyn Store,
    repo: &RepoName,
    reader: &ReaderName,
    receipt: &Receipt,
    now: impl Fn() -> jiff::Zoned,
) -> Result<(), OpError> {
    if receipt.baselines.is_empty() && receipt.delivered.is_empty() {
        return Ok(());
    }
    let own = StoreRef::Inbox(repo.clone(), Some(reader.clone()));
    let shared = StoreRef::Inbox(repo.clone(), None);
    let is_known = |inbox: &Inbox, baseline: &Baseline| -> Result<bool, OpError> {
        Ok(baseline.pending.is_empty() && inbox.baseline(store, &baseline.domain)? == Some(baseline.tree))
    };
    for name in [own, shared] {
        // Most deliveries contain nothing new, so there is nothing to write.
        if let (true, Some(held)) = (receipt.delivered.is_empty(), Inbox::at(store, &name)?)
            && receipt.baselines.iter().map(|baseline| is_known(&held, baseline)).all(|known| known.unwrap_or(false))
        {
            continue;
        }
        // A new reader starts from the shared inbox, with its baselines for all domains, including those that this
        // receipt does not mention.
        let start = Inbox::open(store, repo, reader)?.tree();
        append(store, &name, receipt, start, &now())?;
    }
    Ok(())
}

/// Starts the inbox of a reader that has none, from the repository's shared one. The reader is notified of what follows,
/// even if other readers see it first. `now` is called only if there is something to write.
///
/// # Errors
/// Returns an error if the store cannot be written; the reader's first receipt then starts it.
pub fn begin(
    store: &dyn Store,
    repo: &RepoName,
    reader: &ReaderName,
    now: impl Fn() -> jiff::Zoned,
) -> Result<(), OpError> {
    let own = StoreRef::Inbox(repo.clone(), Some(reader.clone()));
    if store.tip(&own)?.is_some() {
        return Ok(());
    }
    let start = Inbox::open(store, repo, reader)?.tree();
    write(store, &own, |tip| match tip {
        Some(_) => Ok::<_, OpError>(None),
        None => added(store, (&own, None), &Receipt::default(), start, &now()).map(Some),
    })?;
    Ok(())
}

/// Records the current state of a domain as known to its members, in their shared inboxes. It is the baseline of future
/// readers, and of existing readers that have none in this domain.
///
/// # Errors
/// Returns an error if the store cannot be written.
pub fn set_baseline(
    store: &dyn Store,
    repos: &[RepoName],
    domain: &DomainName,
    known: &NewBaseline,
    now: &jiff::Zoned,
) -> Result<(), OpError> {
    for repo in repos {
        let mut edits = Vec::new();
        for path in [layout::baseline(domain), layout::joined(domain)] {
            match known {
                NewBaseline::Tree(tree) => edits.push((path, Edit::Link(EntryKind::Tree, *tree))),
                NewBaseline::Empty(document) => {
                    edits.push((path.clone(), Edit::Remove));
                    edits.push((layout::domain().below(&path), Edit::Put(document.clone())));
                }
            }
        }
        commit(store, &StoreRef::Inbox(repo.clone(), None), edits, now)?;
    }
    Ok(())
}

/// Records the first baselines of a repository in its shared inbox, like [`set_baseline`]. `now` is called only if
/// there is something to write.
///
/// # Errors
/// Returns an error if the store cannot be written.
pub fn start(
    store: &dyn Store,
    repo: &RepoName,
    baselines: &[Baseline],
    now: impl Fn() -> jiff::Zoned,
) -> Result<(), OpError> {
    let mut edits = Vec::new();
    for baseline in baselines {
        for folder in [layout::baseline(&baseline.domain), layout::joined(&baseline.domain)] {
            edits.extend(baseline.edits(&folder));
        }
    }
    if edits.is_empty() { Ok(()) } else { commit(store, &StoreRef::Inbox(repo.clone(), None), edits, &now()) }
}

/// The new baseline of a domain's members.
#[derive(Debug, Clone)]
pub enum NewBaseline {
    /// Everything in this tree.
    Tree(Oid),
    /// Only this `domain.json`.
    Empty(Vec<u8>),
}

/// Adds a delivery to an inbox. A new inbox takes over the content of the tree `start`.
fn append(
    store: &dyn Store,
    name: &StoreRef,
    receipt: &Receipt,
    start: Option<Oid>,
    now: &jiff::Zoned,
) -> Result<(), OpError> {
    write(store, name, |tip| added(store, (name, tip), receipt, start, now).map(Some))?;
    Ok(())
}

fn added(
    store: &dyn Store,
    (name, tip): (&StoreRef, Option<Oid>),
    receipt: &Receipt,
    start: Option<Oid>,
    now: &jiff::Zoned,
) -> Result<Change, OpError> {
    let mut edits = Vec::new();
    if let (None, Some(tree)) = (tip, start)
        && let Some(entry) = unless_damaged(read::lookup(store, &tree, layout::BASELINES))?
    {
        edits.extend(unless_damaged(store.entries(&entry.id))?.into_iter().filter_map(|entry| {
            let domain: DomainName = entry.name.parse().ok()?;
            let replaced = receipt.baselines.iter().any(|baseline| baseline.domain == domain);
            (!replaced).then(|| (layout::baseline(&domain), Edit::Link(entry.kind, entry.id)))
        }));
    }
    let before = tip.map_or(Ok(start), |tip| tree_of(store, tip))?;
    for baseline in &receipt.baselines {
        let folder = layout::baseline(&baseline.domain);
        match before.filter(|_| matches!(name, StoreRef::Inbox(_, None))) {
            Some(tree) => edits.extend(known_to_others(store, &tree, baseline)?.edits(&folder)),
            None => edits.extend(baseline.edits(&folder)),
        }
    }
    let mut told = before.map(|tree| delivered_in(store, name, &tree)).transpose()?.unwrap_or_default();
    let at = now.timestamp();
    // A notification that another reader was sent at the same time is listed once.
    let again: BTreeSet<_> = receipt.delivered.iter().map(|one| &one.id).collect();
    told.retain(|told| !is_older(told.at, at, KEPT_DAYS) && !again.contains(&told.notification.id));
    told.extend(receipt.delivered.iter().cloned().map(|notification| DeliveredNotification { at, notification }));
    let count = keep_most_urgent(&mut told);
    edits.push((layout::delivered(), Edit::Put(codec::encode(&told))));
    let mut dropped = before.map(|tree| dropped_in(store, name, &tree, at)).transpose()?.unwrap_or_default();
    dropped.extend((count > 0).then_some(Dropped { at, count }));
    edits.extend((!dropped.is_empty()).then(|| (layout::dropped(), Edit::Put(codec::encode(&dropped)))));
    Ok(local_change(edits, now))
}

/// Drops the least urgent notifications beyond the maximum, and of equal ones the oldest. The others stay in order. Returns
/// the number of those that were dropped.
fn keep_most_urgent(told: &mut Vec<DeliveredNotification>) -> usize {
    let surplus = told.len().saturating_sub(MAX_DELIVERED);
    if surplus == 0 {
        return 0;
    }
    let mut order: Vec<_> = (0..told.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(told[place].notification.rank));
    let dropped: BTreeSet<_> = order.into_iter().take(surplus).collect();
    let mut place = 0..;
    told.retain(|_| place.next().is_none_or(|place| !dropped.contains(&place)));
    surplus
}

/// Returns a reader's baseline as the shared inbox, with the tree `shared`, records it. What is pending for this reader may
/// be known to others: it is recorded as they know it.
fn known_to_others(store: &dyn Store, shared: &Oid, baseline: &Baseline) -> Result<Baseline, OpError> {
    let folder = layout::baseline(&baseline.domain);
    let Some(known) = unless_damaged(read::lookup(store, shared, folder.as_str()))? else {
        return Ok(baseline.clone());
    };
    let blob = |tree: &Oid, path: &TreePath| {
        Ok::<_, OpError>(unless_damaged(read::lookup(store, tree, path.as_str()))?.map(|entry| entry.id))
    };
    let mut pending = Vec::new();
    for (path, _) in &baseline.pending {
        let shown = blob(&known.id, path)?;
        if shown != blob(&baseline.tree, path)? {
            pending.push((path.clone(), shown));
        }
    }
    Ok(Baseline { pending, ..baseline.clone() })
}

fn commit(store: &dyn Store, name: &StoreRef, edits: Vec<(TreePath, Edit)>, now: &jiff::Zoned) -> Result<(), OpError> {
    write(store, name, |_| Ok::<_, OpError>(Some(local_change(edits.clone(), now))))?;
    Ok(())
}

/// Returns a change of a ref of this machine. Such a ref is never shared, and the change must work without a git
/// identity.
pub fn local_change(edits: Vec<(TreePath, Edit)>, now: &jiff::Zoned) -> Change {
    Change {
        edits,
        message: "told\n".into(),
        author: own_signature(now.clone()),
        committer: None,
        parents: Parents::None,
    }
}

/// Returns whether a delivery or an arrival at `at` is too old to be kept.
pub fn is_forgotten(at: Timestamp, now: Timestamp) -> bool {
    is_older(at, now, KEPT_DAYS)
}

/// Removes notifications that were delivered more than 30 days ago. Returns their number.
///
/// The caller must hold the lock of `name`.
///
/// # Errors
/// Returns an error if the inbox cannot be written.
pub fn prune(store: &dyn Store, name: &StoreRef, tip: Oid, now: &jiff::Zoned) -> Result<usize, OpError> {
    let mut told = Inbox::at(store, name)?.unwrap_or_default().delivered(store)?;
    let before = told.len();
    told.retain(|told| !is_older(told.at, now.timestamp(), KEPT_DAYS));
    let forgotten = before - told.len();
    if forgotten > 0 {
        let edits = vec![(layout::delivered(), Edit::Put(codec::encode(&told)))];
        store.commit_change(name, Some(tip), &local_change(edits, now))?;
    }
    Ok(forgotten)
}

/// Returns whether a change that arrived at `at` is expired.
pub fn is_expired(at: Timestamp, now: Timestamp) -> bool {
    is_older(at, now, EXPIRED_DAYS)
}

fn is_older(at: Timestamp, now: Timestamp, days: i64) -> bool {
    at.checked_add((days * 24).hours()).is_ok_and(|end| end < now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::rank::Rank,
        testing::{make, memory::MemoryStore},
    };

    fn receipt(id: &str) -> Receipt {
        let told = serde_json::json!({
            "id": id, "type": "binding_added", "change_type": "BindingAdded", "realm": "acme", "domain": "orders",
            "contract": null, "from_repo": "shop", "changes": {"old_version": null, "new_version": null},
            "rollback": false, "version_count": 1, "affects_me": false, "state": "pending",
            "created_at": "2026-01-24T11:00:00Z", "arrived_at": "2026-01-24T11:00:00Z"
        });
        Receipt { delivered: vec![serde_json::from_value(told).unwrap()], ..Receipt::default() }
    }

    #[test]
    fn deliveries_at_the_same_time_are_all_listed() {
        let (repo, reader) = ("billing".parse().unwrap(), "agent".parse().unwrap());
        let deliver = |store: &MemoryStore, id: &str| {
            record(store, &repo, &reader, &receipt(id), || make::change("", []).author.time).unwrap();
        };
        let delivered = |store: &MemoryStore| Inbox::open(store, &repo, &reader).unwrap().delivered(store).unwrap();
        let (store, other) = (MemoryStore::new(), MemoryStore::new());
        deliver(&store, "first");
        deliver(&other, "first");
        deliver(&other, "meanwhile");
        store.race_next_with(layout::delivered().as_str(), &codec::encode(&delivered(&other)));
        deliver(&store, "last");
        let ids: Vec<_> = delivered(&store).into_iter().map(|one| one.notification.id).collect();
        assert_eq!(ids, ["first", "meanwhile", "last"]);
    }

    #[test]
    fn the_most_urgent_deliveries_are_kept() {
        let (repo, reader) = ("billing".parse().unwrap(), "agent".parse().unwrap());
        let store = MemoryStore::new();
        let mut all = Receipt::default();
        for (id, rank) in (0..MAX_DELIVERED + 2).map(|n| (n, if n == 0 { Rank::Broken } else { Rank::Binding })) {
            let one = receipt(&id.to_string()).delivered.remove(0);
            all.delivered.push(Notification { rank, ..one });
        }
        record(&store, &repo, &reader, &all, || make::change("", []).author.time).unwrap();
        let kept = Inbox::open(&store, &repo, &reader).unwrap().delivered(&store).unwrap();
        let ids: Vec<_> = kept.iter().map(|one| one.notification.id.as_str()).collect();
        assert_eq!((ids.len(), &ids[..3]), (MAX_DELIVERED, &["0", "3", "4"][..]));
        let later = receipt("later");
        record(&store, &repo, &reader, &later, || make::change("", []).author.time).unwrap();
        let (inbox, now) = (Inbox::open(&store, &repo, &reader).unwrap(), make::change("", []).author.time.timestamp());
        assert_eq!(inbox.dropped(&store, now).unwrap(), 3);
        assert_eq!(inbox.dropped(&store, now.checked_add((31 * 24).hours()).unwrap()).unwrap(), 0);
    }
}
