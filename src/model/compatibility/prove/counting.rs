//! Decides whether an array can contain the required numbers of items that satisfy certain schemas.
//!
//! An item is described by which of these schemas it satisfies. Arrays are built item by item. Only
//! the counts so far are kept, capped at the required numbers.

use std::collections::BTreeMap;

use super::engine::{Atom, Engine};
use crate::model::compatibility::graph::node::Id;

/// The maximum number of schemas whose items are counted.
const MAX_COUNTED: usize = 5;
/// The maximum number of combinations of numbers that are visited.
const MAX_STATES: usize = 20_000;

/// A demand on the number of items that satisfy a schema, or do not.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    pub id: Id,
    /// True to count the items that satisfy the schema, false to count the others.
    pub holds: bool,
    /// True to read the schema leniently.
    pub lenient: bool,
    /// The index from which items are counted.
    pub first: u64,
    pub least: u64,
    pub most: Option<u64>,
}

/// The result of counting.
pub enum Counted {
    /// No array satisfies the demands.
    Impossible,
    /// The demands on each item of a shortest array that may satisfy them.
    Items(Vec<Vec<Atom>>),
    /// Undecided.
    Unknown,
}

/// The demands on the items of an array.
pub struct Counting<'s> {
    pub demands: &'s [Demand],
    /// The demands on the item at an index, read leniently or not.
    pub item: &'s dyn Fn(u64, bool) -> Vec<Atom>,
    /// The index from which all items have the same demands.
    pub uniform_from: u64,
    pub least: u64,
    pub most: Option<u64>,
}

/// For each length, the counts that an array can have, each with the counts before its last item
/// and the kind of that item.
type Layers = Vec<BTreeMap<Vec<u64>, (Vec<u64>, usize)>>;

impl Counting<'_> {
    pub fn solve(&self, engine: &mut Engine<'_>) -> Counted {
        let mut ids: Vec<_> = self.demands.iter().map(|demand| demand.id).collect();
        ids.sort_unstable();
        ids.dedup();
        let needed = self.demands.iter().fold(0u64, |all, demand| all.saturating_add(demand.least));
        let longest = self.least.max(self.uniform_from).saturating_add(needed);
        let longest = self.most.map_or(longest, |most| longest.min(most));
        if ids.len() > MAX_COUNTED || longest > MAX_STATES as u64 {
            return Counted::Unknown;
        }
        let mut layers: Layers = vec![BTreeMap::from([(vec![0; self.demands.len()], (Vec::new(), 0))])];
        let mut kinds = Vec::new();
        let mut states = 0;
        for length in 0..=longest {
            let layer = &layers[layers.len() - 1];
            if length >= self.least
                && let Some(end) = layer.keys().find(|counts| self.is_met(counts))
            {
                return Counted::Items(self.items(&ids, &layers, end.clone()));
            }
            states += layer.len();
            if states > MAX_STATES || engine.budget.spent().is_some() {
                return Counted::Unknown;
            }
            if length <= self.uniform_from {
                kinds = self.kinds(engine, &ids, length);
            }
            let mut next = BTreeMap::new();
            for counts in layers[layers.len() - 1].keys() {
                for kind in &kinds {
                    if let Some(more) = self.with(&ids, counts, *kind, length) {
                        next.entry(more).or_insert_with(|| (counts.clone(), *kind));
                    }
                }
            }
            layers.push(next);
        }
        Counted::Impossible
    }

    fn is_met(&self, counts: &[u64]) -> bool {
        self.demands.iter().zip(counts).all(|(demand, count)| *count >= demand.least)
    }

    /// Returns the kinds of items that an index may have: a bit for each schema that holds.
    fn kinds(&self, engine: &mut Engine<'_>, ids: &[Id], at: u64) -> Vec<usize> {
        let is_lenient = self.demands.iter().any(|demand| demand.lenient);
        let readings = if is_lenient { &[false, true][..] } else { &[false] };
        let mut fits = |kind: &usize| {
            readings.iter().any(|leniently| !engine.goal(self.goal(ids, at, *kind, *leniently)).is_empty())
        };
        (0..1usize << ids.len()).filter(|kind| fits(kind)).collect()
    }

    fn goal(&self, ids: &[Id], at: u64, kind: usize, leniently: bool) -> Vec<Atom> {
        let mut goal = (self.item)(at, leniently);
        for (n, id) in ids.iter().enumerate() {
            let holds = kind >> n & 1 == 1;
            let lenient = leniently && self.demands.iter().any(|demand| demand.id == *id && demand.lenient);
            goal.push(if holds { Atom::is(*id, lenient) } else { Atom::is_not(*id) });
        }
        goal
    }

    /// Returns the counts after one more item, or `None` if they are too high.
    fn with(&self, ids: &[Id], counts: &[u64], kind: usize, at: u64) -> Option<Vec<u64>> {
        let mut next = counts.to_vec();
        for (demand, count) in self.demands.iter().zip(&mut next) {
            let n = ids.binary_search(&demand.id).unwrap_or_default();
            if at < demand.first || (kind >> n & 1 == 1) != demand.holds {
                continue;
            }
            match demand.most {
                Some(most) if *count >= most => return None,
                Some(_) => *count += 1,
                None => *count = demand.least.min(*count + 1),
            }
        }
        Some(next)
    }

    fn items(&self, ids: &[Id], layers: &Layers, mut counts: Vec<u64>) -> Vec<Vec<Atom>> {
        let mut items = Vec::new();
        for at in (1..layers.len()).rev() {
            let (before, kind) = &layers[at][&counts];
            items.push(self.goal(ids, at as u64 - 1, *kind, true));
            counts.clone_from(before);
        }
        items.reverse();
        items
    }
}
