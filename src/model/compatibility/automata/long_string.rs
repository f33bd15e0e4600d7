//! Finds a long string that automata accept, or proves that none exists, without counting to it.

use std::collections::HashMap;

use super::bytes::is_continuation;
use super::product::{MAX_STATES, Product};
use super::repetition::Lengths;
use crate::model::compatibility::{budget::Budget, found::Found};
use crate::model::components;

/// The reachable states of a product of automata from which some string is accepted.
struct Graph {
    /// For each state, its outgoing edges: a byte and the next state. State 0 is the first one.
    edges: Vec<Vec<(u8, u32)>>,
    accepts: Vec<bool>,
}

/// Returns a string within the limits that the product accepts. Returns [`Found::Unsure`] if there
/// are too many states, or if repeating a part of a shorter string does not give a suitable length.
pub fn find(product: &Product, lengths: Lengths, budget: &mut Budget<'_>) -> Found<String> {
    let Some(graph) = Graph::of(product, budget) else { return Found::Unsure };
    if graph.edges.is_empty() {
        return Found::None;
    }
    match graph.order() {
        Ok(order) => graph.longest(&order, lengths),
        Err(state) => graph.repeated(state, lengths),
    }
}

fn characters(text: &[u8]) -> u64 {
    text.iter().filter(|byte| !is_continuation(**byte)).count() as u64
}

/// Returns the string that leads to a state.
fn spelled(best: &[Option<(u64, u8, usize)>], mut state: usize) -> Found<String> {
    let mut text = Vec::new();
    while let Some((_, byte, before)) = best[state].filter(|_| state != 0) {
        text.push(byte);
        state = before;
    }
    text.reverse();
    String::from_utf8(text).map_or(Found::Unsure, Found::One)
}

impl Graph {
    fn of(product: &Product, budget: &mut Budget<'_>) -> Option<Self> {
        let start = product.start()?;
        let alphabet = product.alphabet();
        let mut known: HashMap<Vec<u32>, usize> = HashMap::from([(start.clone(), 0)]);
        let (mut order, mut edges) = (vec![start], Vec::new());
        while let Some(states) = order.get(edges.len()).cloned() {
            if order.len() > MAX_STATES || edges.len() % 16 == 0 && !budget.step() {
                return None;
            }
            let mut to = Vec::new();
            for byte in &alphabet {
                let Some(next) = product.next(&states, *byte) else { continue };
                let fresh = order.len();
                let id = *known.entry(next.clone()).or_insert(fresh);
                if id == fresh {
                    order.push(next);
                }
                to.push((*byte, u32::try_from(id).ok()?));
            }
            edges.push(to);
        }
        let accepts = order.iter().map(|states| product.accepts(states)).collect();
        Some(Self { edges, accepts }.trimmed())
    }

    /// Removes the edges to states from which nothing is accepted. If the first state is one of them, removes
    /// everything.
    fn trimmed(mut self) -> Self {
        let edges = self.edges.iter().map(|to| to.iter().map(|(_, to)| *to));
        let is_alive = components::reaches(self.edges.len(), edges, |state| self.accepts[state]);
        if is_alive.first() != Some(&true) {
            self.edges.clear();
        }
        self.edges.iter_mut().for_each(|to| to.retain(|(_, to)| is_alive[*to as usize]));
        self
    }

    /// Returns the states in an order in which all edges lead forwards, or else a state that leads back to itself.
    fn order(&self) -> Result<Vec<usize>, usize> {
        let (mut marks, mut order) = (vec![0u8; self.edges.len()], Vec::new());
        let mut path = vec![(0, 0)];
        while let Some((state, at)) = path.last_mut() {
            marks[*state] = 1;
            match self.edges[*state].get(*at) {
                Some((_, to)) => {
                    *at += 1;
                    let to = *to as usize;
                    match marks[to] {
                        0 => path.push((to, 0)),
                        1 => return Err(to),
                        _ => {}
                    }
                }
                None => {
                    marks[*state] = 2;
                    order.push(*state);
                    path.pop();
                }
            }
        }
        order.reverse();
        Ok(order)
    }

    /// Returns the longest accepted string. There must be finitely many.
    fn longest(&self, order: &[usize], lengths: Lengths) -> Found<String> {
        // The length of the longest text that leads to a state, with its last byte and the state before it.
        let mut best: Vec<Option<(u64, u8, usize)>> = vec![None; self.edges.len()];
        best[0] = Some((0, 0, 0));
        for state in order {
            let Some((length, ..)) = best[*state] else { continue };
            for (byte, to) in &self.edges[*state] {
                let (length, to) = (length + u64::from(!is_continuation(*byte)), *to as usize);
                if best[to].is_none_or(|(known, ..)| known < length) {
                    best[to] = Some((length, *byte, *state));
                }
            }
        }
        let accepted = (0..best.len()).filter(|state| self.accepts[*state] && best[*state].is_some());
        let Some(last) = accepted.max_by_key(|state| best[*state]) else { return Found::None };
        match best[last] {
            Some((length, ..)) if length < lengths.least => Found::None,
            Some((length, ..)) if lengths.most.is_none_or(|most| length <= most) => spelled(&best, last),
            _ => Found::Unsure,
        }
    }

    /// Returns a string that goes around a loop at a state as often as necessary.
    fn repeated(&self, state: usize, lengths: Lengths) -> Found<String> {
        let parts = self.path(0, |to| to == state, false).zip(self.path(state, |to| to == state, true));
        let Some(((before, around), after)) = parts.zip(self.path(state, |to| self.accepts[to], false)) else {
            return Found::Unsure;
        };
        let once = characters(&before) + characters(&after);
        let times = lengths.least.saturating_sub(once).div_ceil(characters(&around).max(1));
        let Ok(times) = usize::try_from(times) else { return Found::Unsure };
        if lengths.most.is_some_and(|most| once + times as u64 * characters(&around) > most) {
            return Found::Unsure;
        }
        String::from_utf8([before, around.repeat(times), after].concat()).map_or(Found::Unsure, Found::One)
    }

    /// Returns the shortest path from a state to an end, of at least one byte if `moves`.
    fn path(&self, from: usize, is_end: impl Fn(usize) -> bool, moves: bool) -> Option<Vec<u8>> {
        if !moves && is_end(from) {
            return Some(Vec::new());
        }
        let mut seen = vec![false; self.edges.len()];
        let (mut queue, mut at) = (vec![(from, 0, 0u8)], 0);
        while let Some((state, ..)) = queue.get(at).copied() {
            for (byte, to) in &self.edges[state] {
                let to = *to as usize;
                if is_end(to) {
                    let mut text = vec![*byte];
                    let mut here = at;
                    while here != 0 {
                        text.push(queue[here].2);
                        here = queue[here].1;
                    }
                    text.reverse();
                    return Some(text);
                }
                if !std::mem::replace(&mut seen[to], true) {
                    queue.push((to, at, *byte));
                }
            }
            at += 1;
        }
        None
    }
}
