//! The queue of a receiver: a ref of this machine whose tree contains the baseline of each domain, and the events that
//! were not delivered.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    error::OpError,
    model::{
        name::{DomainName, ReaderName},
        oid::Oid,
    },
    ops::inboxes::inbox::local_change,
    store::{Edit, EntryKind, Store, StoreError, StoreRef, codec, layout, read, write::write},
    wire::{Event, EventLine},
};

/// The maximum number of attempts to deliver an event. With the pauses in between, they take about a day.
pub const MAX_TRIES: u32 = 32;
/// The maximum number of abandoned events that are kept.
const MAX_DEAD: usize = 100;
/// The first pause between attempts, in seconds. Each further one is twice as long.
const FIRST_PAUSE: u64 = 5;
/// The maximum pause between attempts, in seconds.
const LONGEST_PAUSE: u64 = 3_600;

/// The state of one receiver, as `queue.json` records it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Queue {
    /// The waiting events, oldest first.
    pub waiting: Vec<Waiting>,
    /// The events that could not be delivered, oldest first.
    pub failed: Vec<Waiting>,
    /// The fingerprint of the realm when changes were last collected.
    pub seen: String,
    /// Whether nothing is recorded about this receiver yet.
    #[serde(skip)]
    pub is_new: bool,
    /// The domains that have changes after those in a waiting event.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    delayed: BTreeSet<DomainName>,
    #[serde(skip)]
    known: BTreeMap<String, Oid>,
    #[serde(skip)]
    changed: Vec<(DomainName, Oid)>,
}

/// An event that was not delivered yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Waiting {
    pub event: Event,
    pub tries: u32,
    pub next: Timestamp,
    pub problem: Option<String>,
}

impl Queue {
    /// Returns the queue of a receiver. A damaged record counts as missing.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn of(store: &dyn Store, name: &ReaderName) -> Result<Self, OpError> {
        let place = StoreRef::Receiver(name.clone());
        let Some(tip) = store.tip(&place)? else {
            return Ok(Self { is_new: true, ..Self::default() });
        };
        let read = || -> Result<Self, StoreError> {
            let tree = store.commit(&tip)?.tree;
            let known = read::folder(store, &tree, layout::BASELINES)?.into_iter();
            let queue: Self = read::file(store, &place, &tree, &layout::queue())?.unwrap_or_default();
            let known =
                known.filter(|entry| entry.kind == EntryKind::Tree).map(|entry| (entry.name, entry.id)).collect();
            Ok(Self { known, ..queue })
        };
        match read() {
            Err(error) if error.is_damage() => Ok(Self { is_new: true, ..Self::default() }),
            result => Ok(result?),
        }
    }

    /// Returns the baseline of a domain.
    pub fn known(&self, domain: &DomainName) -> Option<Oid> {
        self.known.get(domain.as_str()).copied()
    }

    /// Sets the baseline of a domain, which takes effect once the waiting events are delivered.
    pub fn set_baseline(&mut self, domain: &DomainName, tree: Oid) {
        self.known.insert(domain.to_string(), tree);
        self.changed.push((domain.clone(), tree));
    }

    /// Returns the domains that have a waiting event.
    pub fn waiting_domains(&self) -> HashSet<DomainName> {
        self.waiting.iter().filter_map(|one| one.event.subject.clone()).collect()
    }

    /// Records that a domain has changes after those in its waiting event. They are collected once it is delivered.
    pub fn delay(&mut self, domain: &DomainName) {
        self.delayed.insert(domain.clone());
    }

    /// Removes a delivered event.
    pub fn record_success(&mut self, id: &str) {
        if let Some(at) = self.waiting.iter().position(|one| one.event.id == id) {
            let delivered = self.waiting.remove(at);
            self.release(&delivered);
        }
    }

    /// Causes delayed changes to be collected, since the event that delayed them is no longer waiting.
    fn release(&mut self, waited: &Waiting) {
        if waited.event.subject.as_ref().is_some_and(|domain| self.delayed.remove(domain)) {
            self.seen.clear();
        }
    }

    /// Records a failed attempt: the event is retried later, or abandoned. An attempt that was made before it was due does
    /// not count, because a user or a job may make many of them.
    pub fn record_failure(&mut self, id: &str, problem: String, now: Timestamp, chance: u64) {
        let Some(at) = self.waiting.iter().position(|one| one.event.id == id) else { return };
        let one = &mut self.waiting[at];
        one.problem = Some(problem);
        if now < one.next {
            return;
        }
        one.tries += 1;
        one.next = now
            .saturating_add(jiff::SignedDuration::try_from(pause(one.tries, chance)).unwrap_or_default())
            .unwrap_or(now);
        if one.tries >= MAX_TRIES {
            let failed = self.waiting.remove(at);
            self.release(&failed);
            self.failed.push(failed);
            let surplus = self.failed.len().saturating_sub(MAX_DEAD);
            self.failed.drain(..surplus);
        }
    }

    /// Queues abandoned events again: those with these ids, or all if there are no ids. Returns their ids.
    pub fn requeue(&mut self, ids: &[String], now: Timestamp) -> Vec<String> {
        let is_meant = |one: &Waiting| ids.is_empty() || ids.contains(&one.event.id);
        let (meant, failed): (Vec<_>, Vec<_>) = std::mem::take(&mut self.failed).into_iter().partition(is_meant);
        self.failed = failed;
        let found = meant.iter().map(|one| one.event.id.clone()).collect();
        let fresh = meant.into_iter().map(|one| Waiting { tries: 0, next: now, ..one });
        // They are older than the waiting events.
        self.waiting.splice(..0, fresh);
        found
    }

    /// Returns the first event of each domain. The events of a domain are delivered in order.
    pub fn next_per_domain(&self) -> Vec<&Waiting> {
        let mut seen = HashSet::new();
        self.waiting.iter().filter(|one| seen.insert(&one.event.subject)).collect()
    }

    /// Writes the queue.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn save(&mut self, store: &dyn Store, name: &ReaderName, now: &jiff::Zoned) -> Result<(), OpError> {
        let changed = std::mem::take(&mut self.changed);
        let known = |(domain, tree): &(DomainName, Oid)| (layout::baseline(domain), Edit::Link(EntryKind::Tree, *tree));
        let mut edits: Vec<_> = changed.iter().map(known).collect();
        edits.push((layout::queue(), Edit::Put(codec::encode(self))));
        let place = StoreRef::Receiver(name.clone());
        write(store, &place, |_| Ok::<_, OpError>(Some(local_change(edits.clone(), now))))?;
        self.is_new = false;
        Ok(())
    }
}

impl Waiting {
    /// Returns the event as it appears in answers.
    pub fn line(&self, is_dead: bool) -> EventLine {
        let Event { id, subject, data, .. } = &self.event;
        EventLine {
            id: id.clone(),
            domain: subject.clone(),
            text: data.changes.first().map(|change| change.text.clone()).unwrap_or_default(),
            tries: self.tries,
            next_try: (!is_dead).then_some(self.next),
            problem: self.problem.clone(),
        }
    }
}

/// Returns the pause after a number of failures. Half of it is random, so that events that failed together are not
/// retried together.
fn pause(tries: u32, chance: u64) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << tries.saturating_sub(1).min(20)).min(LONGEST_PAUSE) * 1_000;
    Duration::from_millis(whole / 2 + chance % (whole / 2 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_an_hour_and_are_half_random() {
        for chance in [0, 1, 999_999_937, u64::MAX] {
            let seconds = |tries| pause(tries, chance).as_secs_f64();
            assert!((2.5..=5.0).contains(&seconds(1)) && (5.0..=10.0).contains(&seconds(2)));
            assert!((1_800.0..=3_600.0).contains(&seconds(12)) && (1_800.0..=3_600.0).contains(&seconds(MAX_TRIES)));
        }
        assert_ne!(pause(3, 1), pause(3, 5_000));
        let longest: u64 = (1..=MAX_TRIES).map(|tries| pause(tries, u64::MAX).as_secs()).sum();
        assert!((12 * 3_600..30 * 3_600).contains(&longest), "about a day: {longest}");
    }
}
