//! Sub-schemas that refer to themselves for the same value, such as `{"anyOf": [{"type": "string"}, {"$ref": "#"}]}`.
//!
//! JSON Schema leaves their meaning open (2020-12 Core, section 9.4.1). The validator treats a reference that it
//! reaches again for the same value as satisfied. If there is no negation on the cycle, this gives the greatest fixed
//! point, wherever the validator starts, so the reference can be replaced by `true`. Cycles through a negation remain
//! undecided.

use std::collections::{BTreeMap, HashMap};

use super::Graph;
use super::node::{Id, Lit, index};
use crate::model::components;

/// The maximum number of sub-schemas of one cycle.
const MAX_MEMBERS: usize = 64;
/// The maximum number of sub-schemas that are added to unroll all cycles.
const MAX_COPIES: usize = 10_000;

/// Replaces each reference that is reached again for the same value by `true`.
///
/// # Errors
/// Returns an error if such a reference passes a negation, or cycles are too large.
pub fn unroll(graph: &mut Graph<'_>) -> Result<(), String> {
    let own = graph.len();
    let edges: Vec<Vec<usize>> = (0..own).map(|at| in_place(graph, at)).collect();
    let component = components::of(&edges);
    let mut cycles: BTreeMap<usize, Vec<Id>> = BTreeMap::new();
    for (at, of) in component.iter().enumerate() {
        // The sub-schema is part of a cycle if one of its edges stays within the component.
        if edges[at].iter().any(|to| component[*to] == *of) {
            cycles.entry(*of).or_default().push(index(at));
        }
    }
    if cycles.is_empty() {
        return Ok(());
    }
    let truth = graph.add(Vec::new(), 0);
    for members in cycles.values() {
        Cycle { members, truth, copies: HashMap::new() }.unroll(graph)?;
        if graph.len() - own > MAX_COPIES {
            return Err(message(graph, members));
        }
    }
    Ok(())
}

fn in_place(graph: &Graph<'_>, at: usize) -> Vec<usize> {
    graph.lits(index(at)).iter().flat_map(Lit::in_place).map(|id| id as usize).collect()
}

fn message(graph: &Graph<'_>, members: &[Id]) -> String {
    let place = members.first().map(|first| graph.pointer(*first)).unwrap_or_default();
    format!("the references at {place:?} form a cycle without reaching a value")
}

/// A set of sub-schemas that all depend on each other for the same value.
struct Cycle<'m> {
    members: &'m [Id],
    /// The sub-schema that always holds.
    truth: Id,
    /// The copies of each member, by the set of members on the path to it, as a bit mask.
    copies: HashMap<(usize, u64), Id>,
}

impl Cycle<'_> {
    fn unroll(&mut self, graph: &mut Graph<'_>) -> Result<(), String> {
        let negates = |lit: &Lit| lit.negated().iter().any(|id| self.members.contains(id));
        let is_negated = self.members.iter().any(|id| graph.lits(*id).iter().any(negates));
        if is_negated || self.members.len() > MAX_MEMBERS {
            return Err(message(graph, self.members));
        }
        let lits: Vec<_> = (0..self.members.len()).map(|at| self.below(graph, at, 1 << at)).collect();
        self.members.iter().zip(lits).for_each(|(id, lits)| graph.set(*id, lits));
        Ok(())
    }

    /// Returns the literals of a member that was reached through the members in `path`.
    fn below(&mut self, graph: &mut Graph<'_>, at: usize, path: u64) -> Vec<Lit> {
        let lits = graph.lits(self.members[at]).to_vec();
        lits.iter()
            .map(|lit| if lit.in_place().is_empty() { lit.clone() } else { self.lit(graph, lit, path) })
            .collect()
    }

    fn lit(&mut self, graph: &mut Graph<'_>, lit: &Lit, path: u64) -> Lit {
        lit.map(&mut |child| match self.members.iter().position(|member| *member == child) {
            None => child,
            Some(at) if path & (1 << at) != 0 => self.truth,
            Some(_) if self.copies.len() > MAX_COPIES => self.truth,
            Some(at) => self.copy(graph, at, path | (1 << at)),
        })
    }

    fn copy(&mut self, graph: &mut Graph<'_>, at: usize, path: u64) -> Id {
        if let Some(copy) = self.copies.get(&(at, path)) {
            return *copy;
        }
        let lits = self.below(graph, at, path);
        let copy = graph.copy(lits, self.members[at]);
        self.copies.insert((at, path), copy);
        copy
    }
}
