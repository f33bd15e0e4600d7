//! The recent changes of a realm, for current subscribers and those that reconnect. The notifications for a repository
//! are computed once, and only if it has subscribers.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::Entry},
    sync::Arc,
};

use super::event::{Changes, Checkpoint, EventBatch, Position};
use crate::{
    error::OpError,
    model::name::{RealmName, RepoName},
    ops::{
        ctx::Ctx,
        inboxes::{
            pending,
            realm_changes::{ChangedRefs, RealmChanges, RefTips},
        },
        notifications::list,
    },
    surface::http::{
        all_realms::{self, ALL, RealmFilter},
        context::Contexts,
    },
    wire::{NotificationFilter, SessionLine, all_realms::NotificationForRepo},
};

/// The maximum number of events, and of changes, that are remembered.
const MAX_REMEMBERED: usize = 2_000;

/// The subscribers of one repository, or of all repositories.
pub type Audience = Option<RepoName>;
/// A batch of events, and the number of its events that the client already received.
pub type Missed = (Arc<EventBatch>, usize);

/// The state of a realm, and the time at which it was read.
#[derive(Debug, Default)]
pub struct RealmSnapshot {
    checkpoint: Checkpoint,
    tips: RefTips,
}

/// The last seen state of a realm, and the changes before it.
#[derive(Debug, Default)]
pub struct History {
    seen: RealmSnapshot,
    deltas: VecDeque<Delta>,
    /// The pending changes, for clients that reconnect after another process served them.
    pending: BTreeMap<Audience, Changes>,
}

/// The changes between two reads.
#[derive(Debug)]
pub struct Delta {
    realm: RealmName,
    marks: [Checkpoint; 2],
    changed: ChangedRefs,
    sessions: Vec<SessionLine>,
    /// The events for each audience that has subscribed.
    batches: BTreeMap<Audience, Arc<EventBatch>>,
}

impl RealmSnapshot {
    /// Reads the current state of a realm. Later changes belong to the next read.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    pub fn now(ctx: &Ctx) -> Result<Self, OpError> {
        let at = ctx.env.now().as_second();
        let tips = RefTips::of(ctx)?;
        Ok(Self { checkpoint: Checkpoint { at, state: tips.id() }, tips })
    }
}

impl History {
    /// Continues from the last snapshot, or starts with this one.
    ///
    /// # Errors
    /// Returns an error if the sessions cannot be read.
    pub fn begin(&mut self, ctx: &Ctx, snapshot: RealmSnapshot) -> Result<(), OpError> {
        if self.seen.checkpoint.state.is_empty() {
            self.seen = snapshot;
        } else if let Some(delta) = self.delta(ctx, &snapshot)? {
            self.push(delta, snapshot);
        }
        Ok(())
    }

    /// Returns the time and state of the last snapshot.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.seen.checkpoint
    }

    /// Returns the changes between the last snapshot and this one, if there are any.
    ///
    /// # Errors
    /// Returns an error if the sessions cannot be read.
    pub fn delta(&self, ctx: &Ctx, snapshot: &RealmSnapshot) -> Result<Option<Delta>, OpError> {
        if snapshot.checkpoint.state == self.seen.checkpoint.state {
            return Ok(None);
        }
        let changed = self.seen.tips.until(&snapshot.tips);
        let sessions = RealmChanges::new(ctx).sessions(&changed)?;
        let marks = [self.seen.checkpoint.clone(), snapshot.checkpoint.clone()];
        Ok(Some(Delta { realm: ctx.realm()?.realm.clone(), marks, changed, sessions, batches: BTreeMap::new() }))
    }

    /// Adds a delta, and drops the oldest ones beyond the limit.
    pub fn push(&mut self, delta: Delta, snapshot: RealmSnapshot) {
        self.seen = snapshot;
        self.pending.clear();
        self.deltas.push_back(delta);
        while self.deltas.len() > 1 && self.deltas.iter().map(Delta::size).sum::<usize>() > MAX_REMEMBERED {
            self.deltas.pop_front();
        }
    }

    /// Returns the events after a position that an audience missed.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn since(
        &mut self,
        contexts: &Contexts,
        realm: &RealmName,
        audience: &Audience,
        last: &Position,
    ) -> Result<Vec<Missed>, OpError> {
        if last.checkpoint == self.seen.checkpoint {
            return Ok(Vec::new());
        }
        let Some(start) = self.deltas.iter().position(|delta| delta.marks[0] == last.checkpoint) else {
            // The position comes from another process.
            return if last.checkpoint.state == self.seen.checkpoint.state {
                Ok(Vec::new())
            } else {
                Ok(vec![(self.since_another(contexts, realm, audience, &last.checkpoint)?, 0)])
            };
        };
        // For another audience, events are counted differently.
        let received = if last.repo == *audience { last.received } else { 0 };
        let mut missed = Vec::new();
        for delta in self.deltas.range_mut(start..) {
            let batch = delta.cached_changes_for(contexts, audience)?;
            missed.push((batch, if missed.is_empty() { received } else { 0 }));
        }
        Ok(missed)
    }

    /// Returns what arrived since a checkpoint of another process.
    fn since_another(
        &mut self,
        contexts: &Contexts,
        realm: &RealmName,
        audience: &Audience,
        last: &Checkpoint,
    ) -> Result<Arc<EventBatch>, OpError> {
        let everything = match self.pending.entry(audience.clone()) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(free) => free.insert(everything(contexts, realm, audience)?),
        };
        let changes = everything.since(last.at);
        Ok(Arc::new(EventBatch::new(realm, [last, &self.seen.checkpoint], audience.as_ref(), &changes)))
    }
}

/// Returns everything that is pending for an audience, and all sessions.
fn everything(contexts: &Contexts, realm: &RealmName, audience: &Audience) -> Result<Changes, OpError> {
    let wanted = list::Request { filter: NotificationFilter::Pending, ..Default::default() };
    let narrowed = RealmFilter { realm: Some(realm.clone()), repo: audience.clone() };
    let notifications = all_realms::notifications(contexts, &narrowed, &wanted, &ALL)?.body.notifications;
    let whole = RealmFilter { repo: None, ..narrowed };
    let sessions = all_realms::sessions(contexts, &whole, true, &ALL)?.body.sessions;
    Ok(Changes { notifications, sessions: sessions.into_iter().map(|one| one.session).collect() })
}

impl Delta {
    /// Returns the events of this delta for an audience.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn changes_for(
        &mut self,
        contexts: &Contexts,
        realm_changes: &mut RealmChanges<'_>,
        audience: &Audience,
    ) -> Result<Arc<EventBatch>, OpError> {
        if let Some(batch) = self.batches.get(audience) {
            return Ok(batch.clone());
        }
        let repos = match audience {
            Some(repo) => vec![repo.clone()],
            None => contexts.repos(&self.realm)?,
        };
        let mut notifications = Vec::new();
        for repo in repos {
            let found = realm_changes.notifications(&self.changed, &repo)?.into_iter();
            let of_repo = |notification| NotificationForRepo { current_repo: repo.clone(), notification };
            notifications.extend(found.map(of_repo));
        }
        notifications.sort_by_cached_key(|one| pending::key(&one.notification));
        let changes = Changes { notifications, sessions: self.sessions.clone() };
        let [before, after] = &self.marks;
        let batch = Arc::new(EventBatch::new(&self.realm, [before, after], audience.as_ref(), &changes));
        self.batches.insert(audience.clone(), batch.clone());
        Ok(batch)
    }

    /// Returns the same as [`Self::changes_for`], opening the realm only if needed.
    fn cached_changes_for(&mut self, contexts: &Contexts, audience: &Audience) -> Result<Arc<EventBatch>, OpError> {
        match self.batches.get(audience) {
            Some(batch) => Ok(batch.clone()),
            None => self.changes_for(contexts, &mut RealmChanges::new(&contexts.realm(&self.realm)?), audience),
        }
    }

    /// Returns the number of events, but at least one.
    fn size(&self) -> usize {
        self.batches.values().map(|batch| batch.count()).sum::<usize>().max(1)
    }
}
