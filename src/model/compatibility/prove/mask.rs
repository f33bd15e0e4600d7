//! Treats differences that were found as allowed, so that the search finds further ones.

use std::collections::hash_map::Entry;

use serde_json::Value;

use super::engine::{Answer, Engine, Memo};
use crate::model::compatibility::{
    evaluate,
    graph::node::{self, Id, Lit},
};

/// The maximum number of nodes that are searched for a difference that is treated as allowed.
const MOST_ALLOWING: usize = 50;

/// Returns the types of the values that are treated like this one.
fn types_like(value: &Value) -> u8 {
    match evaluate::type_of(value) {
        kind @ (node::ARRAY | node::OBJECT) => kind,
        _ => node::ANY & !(node::ARRAY | node::OBJECT),
    }
}

impl Engine<'_> {
    /// Treats a difference as allowed from now on. If it was not masked before, then only for some values: those of the node
    /// `foreign` if there is one; for types, listed values and unions, those like `value`, since what allows everything
    /// would hide what other alternatives refuse. Goals that were empty stay empty. Returns whether this allows more than
    /// before.
    pub fn mask(&mut self, id: Id, lit: Lit, foreign: Option<Id>, value: &Value) -> bool {
        self.memo.retain(|_, memo| matches!(memo, Memo::Solid(Answer::Empty)));
        let rest = match (&lit, foreign) {
            (_, Some(foreign)) => self.with_alternative(&lit, foreign),
            (Lit::Type(types), None) => Some(self.table.node(vec![Lit::Type(types | types_like(value))])),
            (Lit::Enum(ids), None) => {
                let listed = ids.iter().map(|id| types_like(&self.table.words.values[*id as usize]));
                let types = listed.fold(types_like(value), std::ops::BitOr::bitor);
                Some(self.table.node(vec![Lit::Type(types)]))
            }
            (_, None) => {
                let like = self.table.node(vec![Lit::Type(types_like(value))]);
                self.with_alternative(&lit, like)
            }
        };
        match self.masked.entry((id, lit)) {
            Entry::Vacant(entry) => drop(entry.insert(rest)),
            Entry::Occupied(mut entry) => return entry.insert(None).is_some(),
        }
        true
    }

    /// Returns a node of a union with another alternative. Other literals have none.
    fn with_alternative(&mut self, union: &Lit, alternative: Id) -> Option<Id> {
        let and = |ids: &[Id]| ids.iter().copied().chain([alternative]).collect();
        let union = match union {
            Lit::AnyOf(ids) => Lit::AnyOf(and(ids)),
            Lit::OneOf(ids) => Lit::OneOf(and(ids)),
            _ => return None,
        };
        Some(self.table.node(vec![union]))
    }

    /// Returns the node to violate instead of a literal that is treated as allowed, if it is: `None` within if nothing
    /// violates it.
    pub fn mask_of(&self, node: Id, lit: &Lit) -> Option<Option<Id>> {
        if self.masked.is_empty() { None } else { self.masked.get(&(node, lit.clone())).copied() }
    }

    /// Returns whether a difference in a node is treated as allowed, so that a value may satisfy the node that violates
    /// it. Looks at the first nodes only.
    pub fn allows_more(&self, id: Id) -> bool {
        let mut waiting = vec![id];
        let mut at = 0;
        while !self.masked.is_empty() && at < waiting.len().min(MOST_ALLOWING) {
            let id = waiting[at];
            if self.masked.keys().any(|(node, _)| *node == id) {
                return true;
            }
            for lit in self.table.lits(id).iter() {
                lit.each(&mut |child| waiting.push(child));
            }
            at += 1;
        }
        false
    }

    /// Removes all differences from the allowed ones.
    pub fn unmask(&mut self) {
        if !self.masked.is_empty() {
            self.masked.clear();
            self.memo.clear();
        }
    }
}
