//! Rewrites `unevaluatedProperties` and `unevaluatedItems` into cases.
//!
//! Which properties are evaluated depends on which branches hold. Each combination of branches
//! becomes an alternative, which treats the remaining properties like `additionalProperties`.
//! Exactly one branch of a `oneOf` holds. If there are many combinations, each property gets a
//! condition instead: it is evaluated, or satisfies the demand.

use std::collections::{BTreeMap, BTreeSet};

use super::node::{self, Id, Lit, Sym};
use super::{Graph, Unevaluated};

/// The maximum number of combinations of branches; schemas with more are not rewritten.
const MAX_CASES: usize = 128;
/// The maximum number of combinations that each become an alternative.
const FEW_CASES: usize = 8;
/// The maximum number of sub-schemas that are visited.
const MAX_VISITS: usize = 1_000;

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

/// Returns the literals that are equivalent to `unevaluated…: child` in the schema `id`.
pub fn rewrite(graph: &mut Graph<'_>, id: Id, kind: Unevaluated, child: Id) -> Vec<Lit> {
    let mut walk = Walk { of: id, kind, guards: Vec::new(), parts: Vec::new(), choices: Vec::new(), visits: 0 };
    let collected = walk.collect(graph, id, 0);
    let cases = collected.and_then(|()| walk.cases());
    let are_few = cases.as_ref().is_some_and(|cases| cases.len() <= FEW_CASES);
    if let (Some(()), false, Unevaluated::Properties) = (collected, are_few, kind)
        && let Some(lits) = by_name(graph, id, &walk.parts, child)
    {
        return lits;
    }
    let Some(cases) = cases else {
        let name = graph.words.symbol("unevaluated properties or items with many branches");
        return vec![Lit::Opaque(name, id)];
    };
    by_case(graph, (id, kind, child), &walk, cases).into_iter().collect()
}

/// Returns a condition for each property that some branches evaluate: if it is there, one of them holds, or its value
/// satisfies `child`. Returns `None` if branches evaluate properties by pattern.
fn by_name(graph: &mut Graph<'_>, id: Id, parts: &[Part], child: Id) -> Option<Vec<Lit>> {
    let (mut always, mut patterns) = (BTreeSet::new(), BTreeSet::new());
    let mut guarded: BTreeMap<Sym, Vec<Id>> = BTreeMap::new();
    let mut all = Vec::new();
    for part in parts {
        let is_guarded = !part.guards.is_empty();
        match part.what {
            What::Name(name) if is_guarded => guarded.entry(name).or_default().push(guard(graph, id, part)),
            What::All if is_guarded => all.push(guard(graph, id, part)),
            What::Name(name) => drop(always.insert(name)),
            What::Pattern(pattern) if !is_guarded => drop(patterns.insert(pattern)),
            What::All => return Some(Vec::new()),
            _ => return None,
        }
    }
    for name in guarded.keys().copied().collect::<Vec<_>>() {
        let text = graph.words.text(name);
        let is_matched = patterns.iter().any(|pattern| graph.words.matches(*pattern, &text) == Some(true));
        if is_matched || always.contains(&name) {
            guarded.remove(&name);
            always.insert(name);
        }
    }
    let names: BTreeSet<Sym> = always.iter().chain(guarded.keys()).copied().collect();
    let mut lits = vec![Lit::AddProp(names.into_iter().collect(), patterns.into_iter().collect(), child)];
    for (name, mut ways) in guarded {
        if *graph.lits(child) != [Lit::Never] {
            ways.push(graph.add(vec![Lit::Prop(name, child)], id));
        }
        let any = graph.add(vec![Lit::AnyOf(ways)], id);
        lits.push(Lit::DepSchema(name, any));
    }
    if all.is_empty() {
        return Some(lits);
    }
    all.push(graph.add(lits, id));
    Some(vec![Lit::AnyOf(all)])
}

/// Adds a schema that holds if all branches that lead to a part hold.
fn guard(graph: &mut Graph<'_>, id: Id, part: &Part) -> Id {
    let lit = |(branch, holds): &(Id, bool)| if *holds { Lit::Sub(*branch) } else { Lit::Not(*branch) };
    graph.add(part.guards.iter().map(lit).collect(), id)
}

/// Returns an alternative for each combination of branches, or `None` if nothing is left unevaluated.
fn by_case(graph: &mut Graph<'_>, of: (Id, Unevaluated, Id), walk: &Walk, cases: Vec<Case>) -> Option<Lit> {
    let (id, kind, child) = of;
    if let [case] = &cases[..]
        && case.is_empty()
    {
        return rest(graph, id, kind, &walk.parts, child);
    }
    let cases = cases.into_iter().map(|case| {
        let is_active = |part: &&Part| part.guards.iter().all(|(branch, wanted)| case.get(branch) == Some(wanted));
        let active: Vec<_> = walk.parts.iter().filter(is_active).cloned().collect();
        let sides = case.iter().map(|(branch, holds)| if *holds { Lit::Sub(*branch) } else { Lit::Not(*branch) });
        let lits = sides.chain(rest(graph, id, kind, &active, child)).collect();
        graph.add(lits, id)
    });
    Some(Lit::AnyOf(cases.collect()))
}

/// Returns the demands on the unevaluated parts, or `None` if there are none.
fn rest(graph: &mut Graph<'_>, id: Id, kind: Unevaluated, parts: &[Part], child: Id) -> Option<Lit> {
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
    if kind == Unevaluated::Properties {
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
    kind: Unevaluated,
    guards: Vec<(Id, bool)>,
    parts: Vec<Part>,
    /// The branches of every `oneOf` that applies whichever branches hold.
    choices: Vec<Vec<Id>>,
    visits: usize,
}

/// The branches, each with whether it holds.
type Case = BTreeMap<Id, bool>;

impl Walk {
    /// Returns the combinations of branches that are possible. Returns `None` if there are too many.
    fn cases(&self) -> Option<Vec<Case>> {
        let guards: BTreeSet<Id> = self.parts.iter().flat_map(|part| &part.guards).map(|(id, _)| *id).collect();
        let mut cases = vec![Case::new()];
        for branches in &self.choices {
            cases = cases.iter().flat_map(|case| choose(case, branches, &guards)).collect();
            (cases.len() <= MAX_CASES).then_some(())?;
        }
        for branch in guards {
            let both = |case: Case| {
                let with = |holds| Case::from([(branch, holds)]).into_iter().chain(case.clone()).collect();
                if case.contains_key(&branch) { vec![case] } else { vec![with(true), with(false)] }
            };
            cases = cases.into_iter().flat_map(both).collect();
            (cases.len() <= MAX_CASES).then_some(())?;
        }
        Some(cases)
    }

    /// Collects what `id` evaluates. Returns `None` if there is too much to collect, or references form a cycle.
    fn collect(&mut self, graph: &mut Graph<'_>, id: Id, depth: usize) -> Option<()> {
        self.visits += 1;
        if self.visits > MAX_VISITS || depth > MAX_VISITS {
            return None;
        }
        if id != self.of && graph.evaluates_all.contains(&(id, self.kind)) {
            self.parts.push(Part { guards: self.guards.clone(), what: What::All });
            return Some(());
        }
        for lit in graph.lits(id).to_vec() {
            let what = match (&lit, self.kind) {
                (Lit::Prop(name, _), Unevaluated::Properties) => Some(What::Name(*name)),
                (Lit::PatProp(pattern, _), Unevaluated::Properties) => Some(What::Pattern(*pattern)),
                (Lit::AddProp(..), Unevaluated::Properties) | (Lit::Items(..), Unevaluated::Items) => Some(What::All),
                (Lit::Item(at, _), Unevaluated::Items) => Some(What::First(at + 1)),
                (Lit::AtLeast(id, _) | Lit::AtMost(id, _), Unevaluated::Items) => Some(What::Matching(*id)),
                _ => None,
            };
            self.parts.extend(what.map(|what| Part { guards: self.guards.clone(), what }));
            match lit {
                Lit::Opaque(..) => return None,
                Lit::Sub(id) => self.collect(graph, id, depth + 1)?,
                Lit::AnyOf(_) | Lit::OneOf(_) => {
                    if let (Lit::OneOf(ids), []) = (&lit, &self.guards[..]) {
                        self.choices.push(ids.clone());
                    }
                    for id in lit.in_place() {
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

/// Returns the ways to extend a case so that exactly one of the branches holds. Distinguishes only
/// the `relevant` branches.
fn choose(case: &Case, branches: &[Id], relevant: &BTreeSet<Id>) -> Vec<Case> {
    let (told_apart, others): (Vec<Id>, Vec<Id>) = branches.iter().partition(|branch| relevant.contains(branch));
    let with = |chosen: Option<usize>| {
        let mut case = case.clone();
        for (at, branch) in told_apart.iter().enumerate() {
            let holds = chosen == Some(at);
            if *case.entry(*branch).or_insert(holds) != holds {
                return None;
            }
        }
        Some(case)
    };
    let other = (!others.is_empty()).then_some(None);
    (0..told_apart.len()).map(Some).chain(other).filter_map(with).collect()
}
