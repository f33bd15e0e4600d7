//! Treats differences that were found as allowed, so that the search finds further ones.

use serde_json::Value;

use super::engine::{Answer, Engine, Masked, Memo};
use crate::model::compatibility::{
    evaluate,
    graph::node::{self, Id, Lit},
};

/// The maximum number of nodes that are searched for a difference that is treated as allowed.
const MAX_ALLOWING: usize = 50;

/// Returns the type of a value. All numbers have one.
fn type_of(value: &Value) -> u8 {
    match evaluate::type_of(value) {
        kind if kind & node::NUMBER != 0 => node::NUMBER,
        kind => kind,
    }
}

impl Engine<'_> {
    /// Treats a difference as allowed from now on, so that the search finds others. At first, it is allowed only for
    /// some values: for those of the node `foreign` if there is one, or, if the keyword is about types, listed values
    /// or a union, for those of the type of `value`. Allowing it for all values at once would hide what other
    /// alternatives refuse. Goals that were proved empty stay empty. Returns whether more is allowed than before.
    pub fn mask(&mut self, id: Id, lit: Lit, foreign: Option<Id>, value: &Value) -> bool {
        self.memo.retain(|_, memo| matches!(memo, Memo::Solid(Answer::Empty)));
        let key = (id, lit);
        let masked = match (foreign, self.masked.get(&key).copied()) {
            (_, Some(Masked { rest: None, .. })) => return false,
            (Some(foreign), None) => Masked { rest: self.with_alternative(&key.1, foreign), types: 0 },
            (None, None) => self.allowing_type(&key.1, 0, value),
            (None, Some(Masked { types: types @ 1.., .. })) => self.allowing_type(&key.1, types, value),
            (_, Some(masked)) => Masked { rest: None, ..masked },
        };
        self.masked.insert(key, masked);
        true
    }

    /// Allows values of this type too, besides those of the types `before`.
    fn allowing_type(&mut self, lit: &Lit, before: u8, value: &Value) -> Masked {
        let types = before | type_of(value);
        let rest = match lit {
            _ if types == before || types == node::ANY => None,
            Lit::Type(named) => Some(self.table.node(vec![Lit::Type(named | types)])),
            Lit::Enum(ids) => {
                let listed = ids.iter().map(|id| type_of(&self.table.words.values[*id as usize]));
                let types = listed.fold(types, std::ops::BitOr::bitor);
                Some(self.table.node(vec![Lit::Type(types)]))
            }
            union => {
                let alternative = self.table.node(vec![Lit::Type(types)]);
                self.with_alternative(union, alternative)
            }
        };
        Masked { rest, types }
    }

    /// Returns a node of a union that also allows the values of another alternative. Other literals have none.
    fn with_alternative(&mut self, union: &Lit, alternative: Id) -> Option<Id> {
        let union = match union {
            Lit::AnyOf(ids) => Lit::AnyOf(ids.iter().copied().chain([alternative]).collect()),
            Lit::OneOf(ids) => {
                // Its values must match no other alternative.
                let other = |id: &Id| self.table.node(vec![Lit::Sub(*id), Lit::Not(alternative)]);
                let others: Vec<_> = ids.iter().map(other).collect();
                Lit::OneOf(others.into_iter().chain([alternative]).collect())
            }
            _ => return None,
        };
        Some(self.table.node(vec![union]))
    }

    /// Returns the node to violate instead of a literal, if the literal is treated as allowed. The inner `None` means
    /// that nothing violates it.
    pub fn mask_of(&self, node: Id, lit: &Lit) -> Option<Option<Id>> {
        if self.masked.is_empty() { None } else { self.masked.get(&(node, lit.clone())).map(|one| one.rest) }
    }

    /// Returns whether a difference in a node is treated as allowed, so that a value may satisfy the node that violates
    /// it. Looks at the first nodes only.
    pub fn allows_more(&self, id: Id) -> bool {
        let mut waiting = vec![id];
        let mut at = 0;
        while !self.masked.is_empty() && at < waiting.len().min(MAX_ALLOWING) {
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
