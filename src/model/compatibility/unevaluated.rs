//! Rewrites `unevaluatedProperties` and `unevaluatedItems` into cases.
//!
//! Which properties are evaluated depends on which branches hold. Every combination of branches becomes an
//! alternative, in which the remaining properties are treated as by `additionalProperties`.

use std::collections::BTreeSet;

use super::dialect::Graph;
use super::node::{self, Id, Lit, Sym};

/// The maximum number of branches; schemas with more are not rewritten.
const MOST: usize = 7;
/// The maximum number of sub-schemas that are visited.
const MOST_VISITS: usize = 1_000;

/// The kind of parts that are left unevaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Properties,
    Items,
}

/// The properties or items that one sub-schema evaluates if the branches that lead to it hold.
#[derive(Debug, Clone)]
struct Part {
    guards: Vec<(Id, bool)>,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Name(Sym),
    Pattern(Sym),
    First(u64),
    Matching(Id),
    All,
}

/// Returns the literal that is equivalent to `unevaluated…: child` in the schema `id`, or `None` if nothing is left
/// unevaluated.
pub(super) fn rewrite(graph: &mut Graph<'_>, id: Id, kind: Kind, child: Id) -> Option<Lit> {
    let mut walk = Walk { of: id, kind, guards: Vec::new(), parts: Vec::new(), visits: 0 };
    let collected = walk.collect(graph, id, 0);
    let parts = walk.parts;
    let mut opaque = || Lit::Opaque(graph.words.symbol("unevaluated properties or items with many branches"), id);
    if collected.is_none() {
        return Some(opaque());
    }
    let branches: BTreeSet<Id> = parts.iter().flat_map(|part| &part.guards).map(|(id, _)| *id).collect();
    let branches: Vec<_> = branches.into_iter().collect();
    if branches.len() > MOST {
        return Some(opaque());
    }
    if branches.is_empty() {
        return rest(graph, id, kind, &parts, child);
    }
    let cases = (0..1u32 << branches.len()).map(|case| {
        let holds = |branch: Id| branches.iter().position(|b| *b == branch).is_some_and(|at| case >> at & 1 == 1);
        let mut lits: Vec<_> =
            branches.iter().map(|branch| if holds(*branch) { Lit::Sub(*branch) } else { Lit::Not(*branch) }).collect();
        let active: Vec<_> = parts
            .iter()
            .filter(|part| part.guards.iter().all(|(branch, wanted)| holds(*branch) == *wanted))
            .cloned()
            .collect();
        lits.extend(rest(graph, id, kind, &active, child));
        graph.add(lits, id)
    });
    Some(Lit::AnyOf(cases.collect()))
}

/// Returns the demands on the unevaluated parts, or `None` if there are none.
fn rest(graph: &mut Graph<'_>, id: Id, kind: Kind, parts: &[Part], child: Id) -> Option<Lit> {
    let (mut names, mut patterns, mut first, mut matching) = (BTreeSet::new(), BTreeSet::new(), 0, BTreeSet::new());
    for part in parts {
        match part.what {
            What::Name(name) => drop(names.insert(name)),
            What::Pattern(pattern) => drop(patterns.insert(pattern)),
            What::First(count) => first = first.max(count),
            What::Matching(id) => drop(matching.insert(id)),
            What::All => return None,
        }
    }
    if kind == Kind::Properties {
        return Some(Lit::AddProp(names.into_iter().collect(), patterns.into_iter().collect(), child));
    }
    if matching.is_empty() {
        return Some(Lit::Items(first, child));
    }
    let either = graph.add(vec![Lit::AnyOf(matching.into_iter().chain([child]).collect())], id);
    Some(Lit::Items(first, either))
}

/// A walk through the sub-schemas that apply to the same value.
struct Walk {
    of: Id,
    kind: Kind,
    guards: Vec<(Id, bool)>,
    parts: Vec<Part>,
    visits: usize,
}

impl Walk {
    /// Collects what `id` evaluates. Returns `None` if there is too much to collect, or references form a cycle.
    fn collect(&mut self, graph: &mut Graph<'_>, id: Id, depth: usize) -> Option<()> {
        self.visits += 1;
        if self.visits > MOST_VISITS || depth > MOST_VISITS {
            return None;
        }
        if id != self.of && graph.evaluates_all.contains(&(id, self.kind)) {
            self.parts.push(Part { guards: self.guards.clone(), what: What::All });
            return Some(());
        }
        for lit in graph.lits(id).to_vec() {
            let what = match (&lit, self.kind) {
                (Lit::Prop(name, _), Kind::Properties) => Some(What::Name(*name)),
                (Lit::PatProp(pattern, _), Kind::Properties) => Some(What::Pattern(*pattern)),
                (Lit::AddProp(..), Kind::Properties) | (Lit::Items(..), Kind::Items) => Some(What::All),
                (Lit::Item(at, _), Kind::Items) => Some(What::First(at + 1)),
                (Lit::AtLeast(id, _) | Lit::AtMost(id, _), Kind::Items) => Some(What::Matching(*id)),
                _ => None,
            };
            self.parts.extend(what.map(|what| Part { guards: self.guards.clone(), what }));
            match lit {
                Lit::Opaque(..) => return None,
                Lit::Sub(id) => self.collect(graph, id, depth + 1)?,
                Lit::AnyOf(ids) | Lit::OneOf(ids) => {
                    for id in ids {
                        self.guarded(graph, (id, true), id, depth)?;
                    }
                }
                Lit::If(condition, then, other) => {
                    self.guarded(graph, (condition, true), condition, depth)?;
                    self.guarded(graph, (condition, true), then, depth)?;
                    self.guarded(graph, (condition, false), other, depth)?;
                }
                Lit::DepSchema(name, id) => {
                    let present = graph.add(vec![Lit::Type(node::OBJECT), Lit::Required(name)], id);
                    self.guarded(graph, (present, true), id, depth)?;
                }
                _ => {}
            }
        }
        Some(())
    }

    fn guarded(&mut self, graph: &mut Graph<'_>, guard: (Id, bool), id: Id, depth: usize) -> Option<()> {
        self.guards.push(guard);
        let done = self.collect(graph, id, depth + 1);
        self.guards.pop();
        done
    }
}
