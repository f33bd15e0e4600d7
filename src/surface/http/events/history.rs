//! The recent changes of a realm, for current subscribers and those that reconnect. The notifications for a repository
//! are computed once, and only if it has subscribers.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque, btree_map::Entry},
    sync::Arc,
    time::{Duration, Instant},
};

use super::event::{Changes, Checkpoint, EventBatch, Position};
use crate::{
    error::{ErrorCode, OpError},
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
    wire::{Notification, NotificationFilter, SessionLine, State, all_realms::NotificationForRepo},
};

/// The maximum number of events, and of changes, that are remembered.
const MAX_REMEMBERED: usize = 2_000;
/// The age at which what may be new to an audience is read again.
const CURRENT_AGE: Duration = Duration::from_secs(1);

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
    /// What may be new to clients that reconnect, cached for [`CURRENT_AGE`], because they all reconnect at the same
    /// time.
    current: BTreeMap<Audience, (Instant, Current)>,
}

/// What may be new to an audience: its notifications that are not seen yet, and all sessions.
#[derive(Debug, Default)]
struct Current {
    changes: Changes,
    /// The reason that some notifications or sessions cannot be read, if any.
    problem: Option<String>,
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
        self.current.clear();
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
        let is_unread = |delta: &Delta| !delta.batches.contains_key(audience);
        if self.deltas.range(start..).any(is_unread) {
            self.read_later(contexts, realm, audience, start)?;
        }
        for delta in self.deltas.range(start..) {
            let Some(batch) = delta.batches.get(audience).cloned() else { continue };
            missed.push((batch, if missed.is_empty() { received } else { 0 }));
        }
        Ok(missed)
    }

    /// Reads earlier changes for an audience that had no subscribers at the time. What it has seen since, or what a
    /// later change replaced, is left out.
    fn read_later(
        &mut self,
        contexts: &Contexts,
        realm: &RealmName,
        audience: &Audience,
        start: usize,
    ) -> Result<(), OpError> {
        let known = &self.current(contexts, realm, audience)?.changes.notifications;
        let known: BTreeSet<_> = known.iter().map(|one| one.notification.id.clone()).collect();
        let ctx = contexts.realm(realm)?;
        let mut realm_changes = RealmChanges::new(&ctx);
        for delta in self.deltas.range_mut(start..) {
            delta.changes_for(contexts, &mut realm_changes, audience, |one| known.contains(&one.id))?;
        }
        Ok(())
    }

    /// Returns what may be new to an audience.
    fn current(&mut self, contexts: &Contexts, realm: &RealmName, audience: &Audience) -> Result<&Current, OpError> {
        self.current.retain(|_, (read, _)| read.elapsed() < CURRENT_AGE);
        match self.current.entry(audience.clone()) {
            Entry::Occupied(held) => Ok(&held.into_mut().1),
            Entry::Vacant(free) => Ok(&free.insert((Instant::now(), current(contexts, realm, audience)?)).1),
        }
    }

    /// Returns what arrived since a checkpoint of another process.
    fn since_another(
        &mut self,
        contexts: &Contexts,
        realm: &RealmName,
        audience: &Audience,
        last: &Checkpoint,
    ) -> Result<Arc<EventBatch>, OpError> {
        // The clock was corrected since, so the times cannot be compared.
        let is_of_future = last.at > contexts.env().now().as_second();
        let current = self.current(contexts, realm, audience)?;
        let changes = current.changes.since(if is_of_future { i64::MIN } else { last.at });
        let problem = current.problem.clone();
        let batch = EventBatch::new(realm, [last, &self.seen.checkpoint], audience.as_ref(), &changes);
        Ok(Arc::new(match problem {
            // The problem has the client's own position, so the client asks for these events again when it reconnects.
            Some(problem) => batch.then(EventBatch::problem(realm, last, &problem)),
            None => batch,
        }))
    }
}

/// Reads what may be new to an audience. A notification that expired meanwhile was not seen either.
fn current(contexts: &Contexts, realm: &RealmName, audience: &Audience) -> Result<Current, OpError> {
    let wanted = list::Request { filter: NotificationFilter::All, ..Default::default() };
    let narrowed = RealmFilter { realm: Some(realm.clone()), repo: audience.clone() };
    let all = all_realms::notifications(contexts, &narrowed, &wanted, &ALL)?.body;
    let problem = all.problems.into_iter().next().map(|problem| problem.message);
    let mut notifications = all.notifications;
    notifications.retain(|one| one.notification.state != State::Seen);
    let whole = RealmFilter { repo: None, ..narrowed };
    let sessions = all_realms::sessions(contexts, &whole, true, &ALL)?.body.sessions;
    let sessions = sessions.into_iter().map(|one| one.session).collect();
    Ok(Current { changes: Changes { notifications, sessions }, problem })
}

impl Delta {
    /// Returns the events of this delta for an audience: the notifications that are `known`, and the sessions.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn changes_for(
        &mut self,
        contexts: &Contexts,
        realm_changes: &mut RealmChanges<'_>,
        audience: &Audience,
        known: impl Fn(&Notification) -> bool,
    ) -> Result<Arc<EventBatch>, OpError> {
        if let Some(batch) = self.batches.get(audience) {
            return Ok(batch.clone());
        }
        let batch = match audience.as_ref().map(|repo| realm_changes.current_name(repo)).transpose() {
            Ok(Some(current)) => self.batch(realm_changes, audience, vec![current], known)?,
            Ok(None) => self.batch(realm_changes, audience, contexts.repos(&self.realm)?, known)?,
            // The repository has left since.
            Err(error) if error.code == ErrorCode::UnknownRepo => {
                EventBatch::problem(&self.realm, &self.marks[1], &error.message)
            }
            Err(error) => return Err(error),
        };
        let batch = Arc::new(batch);
        self.batches.insert(audience.clone(), batch.clone());
        Ok(batch)
    }

    /// Reads the events about these repositories.
    fn batch(
        &self,
        realm_changes: &mut RealmChanges<'_>,
        audience: &Audience,
        repos: Vec<RepoName>,
        known: impl Fn(&Notification) -> bool,
    ) -> Result<EventBatch, OpError> {
        let mut notifications = Vec::new();
        for repo in repos {
            let found = realm_changes.notifications(&self.changed, &repo)?.into_iter().filter(&known);
            let of_repo = |notification| NotificationForRepo { current_repo: repo.clone(), notification };
            notifications.extend(found.map(of_repo));
        }
        notifications.sort_by_cached_key(|one| pending::key(&one.notification));
        let changes = Changes { notifications, sessions: self.sessions.clone() };
        let [before, after] = &self.marks;
        Ok(EventBatch::new(&self.realm, [before, after], audience.as_ref(), &changes))
    }

    /// Returns the number of events, but at least one.
    fn size(&self) -> usize {
        self.batches.values().map(|batch| batch.count()).sum::<usize>().max(1)
    }
}
