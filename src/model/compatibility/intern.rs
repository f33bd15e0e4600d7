//! Gives equal sub-schemas of both documents the same number, whatever they are called, even if they are recursive.
//!
//! Sub-schemas that are not recursive are numbered bottom up. All others start in one class, and a class is split if
//! its members differ in a literal or in the class of a child, until no class can be split (partition refinement).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use super::dialect::Graph;
use super::node::{Id, Lit, Table};

/// The most rounds of refinement. Real schemas need fewer than ten.
const MOST_ROUNDS: usize = 200;

/// The node of each raw sub-schema.
pub(super) struct Classes {
    class: Vec<Id>,
    alias: Vec<Id>,
    is_true: Vec<bool>,
}

impl Classes {
    /// Returns the node of a raw sub-schema.
    pub(super) fn of(&self, raw: Id) -> Id {
        self.class[self.alias[raw as usize] as usize]
    }

    /// Converts a raw literal. Returns `None` if it asserts nothing.
    pub(super) fn lit(&self, lit: &Lit) -> Option<Lit> {
        (!self.is_vacuous(lit)).then(|| lit.map(&mut |id| self.of(id)))
    }

    fn is_vacuous(&self, lit: &Lit) -> bool {
        let is_true = |id: &Id| self.is_true[self.alias[*id as usize] as usize];
        match lit {
            Lit::AtLeast(_, 0) => true,
            Lit::Items(_, id) | Lit::AddProp(_, _, id) | Lit::Sub(id) | Lit::DepSchema(_, id) | Lit::PropNames(id) => {
                is_true(id)
            }
            Lit::If(_, then, other) => is_true(then) && is_true(other),
            _ => false,
        }
    }
}

/// Builds the table of a graph. Fails if references form a cycle that never reaches a value.
pub(super) fn intern(mut graph: Graph<'_>) -> Result<(Table, Classes, Graph<'_>), String> {
    let mut classes =
        Classes { class: vec![0; graph.raws.len()], alias: aliases(&graph)?, is_true: vec![false; graph.raws.len()] };
    loop {
        let more: Vec<_> = (0..graph.raws.len())
            .filter(|at| !classes.is_true[*at] && graph.raws[*at].lits.iter().all(|lit| classes.is_vacuous(lit)))
            .collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|at| classes.is_true[at] = true);
    }
    let mut known = Known::default();
    let cyclic = name_bottom_up(&graph, &mut classes, &mut known);
    refine(&graph, &mut classes, &mut known, &cyclic);
    let mut table = Table::default();
    table.words = std::mem::take(&mut graph.words);
    for at in known.first {
        table.push(classes.signature(&graph, at));
    }
    find_loop(&table)?;
    Ok((table, classes, graph))
}

/// A fingerprint of the literals of a node: 128 bits of a hash with random keys. Keeping the literals for each round
/// would take many times the memory.
type Print = (u64, u64);

/// The nodes that have a number.
#[derive(Default)]
struct Known {
    prints: HashMap<Print, Id>,
    /// The first raw sub-schema of each node.
    first: Vec<usize>,
    keys: (RandomState, RandomState),
}

impl Known {
    fn print(&self, lits: &[Lit]) -> Print {
        (self.keys.0.hash_one(lits), self.keys.1.hash_one(lits))
    }
}

impl Classes {
    /// Returns the literals of a raw sub-schema, with children replaced by their classes.
    fn signature(&self, graph: &Graph<'_>, at: usize) -> Vec<Lit> {
        let mut lits: Vec<_> = graph.raws[at].lits.iter().filter_map(|lit| self.lit(lit)).collect();
        lits.sort_unstable();
        lits.dedup();
        lits
    }
}

/// Numbers all sub-schemas without recursion below them, leaves first. Returns the others.
fn name_bottom_up(graph: &Graph<'_>, classes: &mut Classes, known: &mut Known) -> Vec<usize> {
    let own: Vec<_> = (0..graph.raws.len()).filter(|at| classes.alias[*at] as usize == *at).collect();
    let mut parents: Vec<Vec<Id>> = vec![Vec::new(); graph.raws.len()];
    let mut missing = vec![0u32; graph.raws.len()];
    for at in &own {
        for lit in graph.raws[*at].lits.iter().filter(|lit| !classes.is_vacuous(lit)) {
            lit.map(&mut |id| {
                parents[classes.alias[id as usize] as usize].push(id_of(*at));
                missing[*at] += 1;
                id
            });
        }
    }
    let mut ready: Vec<_> = own.iter().copied().filter(|at| missing[*at] == 0).collect();
    let mut is_named = vec![false; graph.raws.len()];
    while let Some(at) = ready.pop() {
        let print = known.print(&classes.signature(graph, at));
        let fresh = id_of(known.first.len());
        classes.class[at] = *known.prints.entry(print).or_insert(fresh);
        if classes.class[at] == fresh {
            known.first.push(at);
        }
        is_named[at] = true;
        for parent in std::mem::take(&mut parents[at]) {
            let parent = parent as usize;
            missing[parent] -= 1;
            if missing[parent] == 0 {
                ready.push(parent);
            }
        }
    }
    own.into_iter().filter(|at| !is_named[*at]).collect()
}

/// Numbers the recursive sub-schemas by partition refinement.
fn refine(graph: &Graph<'_>, classes: &mut Classes, known: &mut Known, cyclic: &[usize]) {
    let start = known.first.len();
    cyclic.iter().for_each(|at| classes.class[*at] = id_of(start));
    for round in 0.. {
        // If the rounds are used up, giving each its own class is still correct.
        let is_last = round >= MOST_ROUNDS;
        let mut split: HashMap<Print, Id> = HashMap::new();
        let mut first = Vec::new();
        let mut next = Vec::with_capacity(cyclic.len());
        for at in cyclic {
            let fresh = id_of(start + first.len());
            let print = known.print(&classes.signature(graph, *at));
            let class = if is_last { fresh } else { *split.entry(print).or_insert(fresh) };
            if class == fresh {
                first.push(*at);
            }
            next.push(class);
        }
        let is_stable = cyclic.iter().zip(&next).all(|(at, class)| classes.class[*at] == *class);
        cyclic.iter().zip(next).for_each(|(at, class)| classes.class[*at] = class);
        if is_stable || is_last {
            known.first.append(&mut first);
            return;
        }
    }
}

fn id_of(count: usize) -> Id {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the final target of each sub-schema that is only a reference.
fn aliases(graph: &Graph<'_>) -> Result<Vec<Id>, String> {
    let target = |at: Id| match graph.raws[at as usize].lits[..] {
        [Lit::Sub(id)] => Some(id),
        _ => None,
    };
    let count = u32::try_from(graph.raws.len()).unwrap_or(u32::MAX);
    (0..count)
        .map(|start| {
            let (mut at, mut steps) = (start, 0);
            while let Some(next) = target(at) {
                at = next;
                steps += 1;
                if steps > graph.raws.len() {
                    return Err(round(&graph.pointer(start)));
                }
            }
            Ok(at)
        })
        .collect()
}

fn round(place: &str) -> String {
    format!("the references at {place:?} go round without reaching a value")
}

/// Fails if a node depends on itself for the same value.
fn find_loop(table: &Table) -> Result<(), String> {
    let mut done = vec![0u8; table.nodes.len()];
    for start in 0..table.nodes.len() {
        if done[start] != 0 {
            continue;
        }
        let mut stack = vec![(start, children(table, start))];
        done[start] = 1;
        while let Some((at, rest)) = stack.last_mut() {
            match rest.pop() {
                None => {
                    done[*at] = 2;
                    stack.pop();
                }
                Some(next) if done[next] == 0 => {
                    done[next] = 1;
                    stack.push((next, children(table, next)));
                }
                Some(next) if done[next] == 1 => {
                    return Err("references go round without reaching a value".to_owned());
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

fn children(table: &Table, at: usize) -> Vec<usize> {
    table.nodes[at].iter().flat_map(Lit::in_place).map(|id| id as usize).collect()
}
