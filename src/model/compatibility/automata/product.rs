//! Runs several automata at once, and finds a shortest string that some accept and others refuse.

use std::collections::HashMap;
use std::mem;

use super::automaton::{DEAD, MATCHED, Machine};
use super::bytes::{BYTES, PREFERRED, is_continuation, split};
use crate::model::compatibility::{budget::Budget, found::Found};

/// The maximum number of states of a product automaton that are visited.
pub const MAX_STATES: usize = 60_000;

/// Several automata that read the same string.
pub struct Product {
    pub dfas: Vec<Machine>,
    pub wanted: Vec<(Vec<(usize, bool)>, bool)>,
    pub least: u64,
    pub most: Option<u64>,
}

impl Product {
    /// Returns a shortest string that satisfies the demands.
    pub fn find(&self, budget: &mut Budget<'_>) -> Found<String> {
        let Some(start) = self.start() else { return Found::Unsure };
        let alphabet = self.alphabet();
        let mut known: HashMap<(Vec<u32>, u64), usize> = HashMap::from([((start.clone(), 0), 0)]);
        let mut order = vec![(start, 0u64, 0usize, 0u8)];
        let mut at = 0;
        while at < order.len() {
            if order.len() > MAX_STATES || (at % 16 == 0 && !budget.step()) {
                return Found::Unsure;
            }
            let (states, count, ..) = order[at].clone();
            if count >= self.least && self.accepts(&states) {
                return spell(&order, at).map_or(Found::Unsure, Found::One);
            }
            for byte in &alphabet {
                let count = if is_continuation(*byte) { count } else { count + 1 };
                if self.most.is_some_and(|most| count > most) {
                    continue;
                }
                let count = if self.most.is_none() { count.min(self.least) } else { count };
                let Some(next) = self.next(&states, *byte) else { continue };
                let fresh = order.len();
                known.entry((next.clone(), count)).or_insert_with(|| {
                    order.push((next, count, at, *byte));
                    fresh
                });
            }
            at += 1;
        }
        Found::None
    }

    pub fn start(&self) -> Option<Vec<u32>> {
        self.dfas.iter().map(Machine::start).collect()
    }

    /// Returns one byte of each class that the automata distinguish, preferring letters.
    pub fn alphabet(&self) -> Vec<u8> {
        let mut classes = BYTES.map(|byte| u8::from(is_continuation(byte)));
        for machine in &self.dfas {
            split(&mut classes, &machine.byte_classes());
        }
        let mut is_seen = [false; 256];
        let mut is_first = |byte: u8| !mem::replace(&mut is_seen[usize::from(classes[usize::from(byte)])], true);
        PREFERRED.iter().copied().filter(|byte| is_first(*byte)).collect()
    }

    pub fn next(&self, states: &[u32], byte: u8) -> Option<Vec<u32>> {
        let next: Vec<_> = self.dfas.iter().zip(states).map(|(machine, state)| machine.next(*state, byte)).collect();
        let fails = |(at, part): &(usize, bool)| next[*at] == if *part { DEAD } else { MATCHED };
        let holds = |(at, part): &(usize, bool)| next[*at] == if *part { MATCHED } else { DEAD };
        let is_hopeless = self
            .wanted
            .iter()
            .any(|(parts, sign)| if *sign { parts.iter().any(fails) } else { parts.iter().all(holds) });
        (!is_hopeless).then_some(next)
    }

    pub fn accepts(&self, states: &[u32]) -> bool {
        let has_matched = |at: usize| self.dfas[at].accepts(states[at]);
        self.wanted.iter().all(|(parts, sign)| parts.iter().all(|(at, part)| has_matched(*at) == *part) == *sign)
    }
}

fn spell(order: &[(Vec<u32>, u64, usize, u8)], mut at: usize) -> Option<String> {
    let mut bytes = Vec::new();
    while at != 0 {
        bytes.push(order[at].3);
        at = order[at].2;
    }
    bytes.reverse();
    String::from_utf8(bytes).ok()
}
