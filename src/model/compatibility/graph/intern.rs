//! Gives equal sub-schemas of both documents the same number, whatever their names, even if they are recursive.
//!
//! Sub-schemas that are not recursive are numbered bottom up. All others start in one class. A class is split if its
//! members differ in a literal or in the class of a child, until no class can be split (partition refinement).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use super::Graph;
use super::cyclic;
use super::node::{Id, Lit, Table, index};

/// The maximum number of refinement rounds. Real schemas need fewer than ten.
const MAX_ROUNDS: usize = 200;
/// The number of times that a recursive sub-schema may be looked at in all rounds together, if that is more than
/// [`FEWEST_ROUNDS`].
const MAX_LOOKS: usize = 2_000_000;
const FEWEST_ROUNDS: usize = 20;

/// The node of each raw sub-schema.
pub struct Classes {
    class: Vec<Id>,
    alias: Vec<Id>,
    is_true: Vec<bool>,
}

impl Classes {
    /// Returns the node of a raw sub-schema.
    pub fn of(&self, raw: Id) -> Id {
        self.class[self.alias[raw as usize] as usize]
    }

    /// Converts a raw literal. Returns `None` if it asserts nothing.
    pub fn lit(&self, lit: &Lit) -> Option<Lit> {
        match lit {
            // It asserts nothing, but a lenient sender may send the property that it names.
            Lit::DepSchema(name, _) if self.is_vacuous(lit) => Some(Lit::DepRequired(*name, Vec::new())),
            _ => (!self.is_vacuous(lit)).then(|| lit.map(&mut |id| self.of(id))),
        }
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

/// Builds the table of a graph. Fails if the meaning of a sub-schema depends on itself.
pub fn intern(mut graph: Graph<'_>) -> Result<(Table, Classes, Graph<'_>), String> {
    cyclic::unroll(&mut graph)?;
    let mut classes =
        Classes { class: vec![0; graph.len()], alias: aliases(&graph), is_true: vec![false; graph.len()] };
    let own: Vec<_> = (0..graph.len()).filter(|at| classes.alias[*at] as usize == *at).collect();
    mark_true(&graph, &mut classes, &own);
    let mut known = Known::default();
    let cyclic = name_bottom_up(&graph, &mut classes, &mut known, own);
    refine(&graph, &mut classes, &mut known, &cyclic);
    let mut table = Table::default();
    table.words = std::mem::take(&mut graph.words);
    let first = std::mem::take(&mut known.first);
    // The other indexes take more memory than the nodes.
    drop(known);
    for at in first {
        table.push(classes.signature(&graph, at));
    }
    Ok((table, classes, graph))
}

/// A fingerprint of the literals of a node: a 128-bit hash with random keys. Keeping the literals themselves for each
/// round would take many times the memory.
type Print = (u64, u64);

/// The nodes numbered so far.
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
        let mut lits: Vec<_> = graph.lits(index(at)).iter().filter_map(|lit| self.lit(lit)).collect();
        lits.sort_unstable();
        lits.dedup();
        lits
    }
}

/// Marks the sub-schemas that assert nothing, leaves first.
fn mark_true(graph: &Graph<'_>, classes: &mut Classes, own: &[usize]) {
    let parents = Parents::of(graph, classes, own);
    // For each sub-schema, how many literals at its beginning assert nothing.
    let mut vacuous = vec![0; graph.len()];
    let mut open = own.to_vec();
    while let Some(at) = open.pop() {
        let lits = graph.lits(index(at));
        vacuous[at] += lits[vacuous[at]..].iter().take_while(|lit| classes.is_vacuous(lit)).count();
        if vacuous[at] == lits.len() && !classes.is_true[at] {
            classes.is_true[at] = true;
            open.extend(parents.of_child(at).iter().map(|parent| *parent as usize));
        }
    }
}

/// Numbers all sub-schemas that contain no recursion, leaves first. Returns the others.
fn name_bottom_up(graph: &Graph<'_>, classes: &mut Classes, known: &mut Known, own: Vec<usize>) -> Vec<usize> {
    let parents = Parents::of(graph, classes, &own);
    let mut missing = vec![0u32; graph.len()];
    for at in &parents.parents {
        missing[*at as usize] += 1;
    }
    let mut ready: Vec<_> = own.iter().copied().filter(|at| missing[*at] == 0).collect();
    let mut is_named = vec![false; graph.len()];
    while let Some(at) = ready.pop() {
        let print = known.print(&classes.signature(graph, at));
        let fresh = index(known.first.len());
        classes.class[at] = *known.prints.entry(print).or_insert(fresh);
        if classes.class[at] == fresh {
            known.first.push(at);
        }
        is_named[at] = true;
        for parent in parents.of_child(at) {
            let parent = *parent as usize;
            missing[parent] -= 1;
            if missing[parent] == 0 {
                ready.push(parent);
            }
        }
    }
    own.into_iter().filter(|at| !is_named[*at]).collect()
}

/// The parents of each sub-schema, in one list; `starts` has the offset of each child's parents.
struct Parents {
    starts: Vec<u32>,
    parents: Vec<Id>,
}

impl Parents {
    fn of(graph: &Graph<'_>, classes: &Classes, own: &[usize]) -> Self {
        let each = |take: &mut dyn FnMut(usize, usize)| {
            for at in own {
                for lit in graph.lits(index(*at)).iter().filter(|lit| !classes.is_vacuous(lit)) {
                    lit.each(&mut |id| take(*at, classes.alias[id as usize] as usize));
                }
            }
        };
        let mut starts = vec![0u32; graph.len() + 1];
        each(&mut |_, child| starts[child + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut parents = vec![0; starts[graph.len()] as usize];
        each(&mut |parent, child| {
            parents[next[child] as usize] = index(parent);
            next[child] += 1;
        });
        Self { starts, parents }
    }

    fn of_child(&self, child: usize) -> &[Id] {
        &self.parents[self.starts[child] as usize..self.starts[child + 1] as usize]
    }
}

/// Numbers the recursive sub-schemas: all start in one class, which is split until no class changes.
fn refine(graph: &Graph<'_>, classes: &mut Classes, known: &mut Known, cyclic: &[usize]) {
    let start = known.first.len();
    cyclic.iter().for_each(|at| classes.class[*at] = index(start));
    let most = (MAX_LOOKS / cyclic.len().max(1)).clamp(FEWEST_ROUNDS, MAX_ROUNDS);
    for round in 0.. {
        // After the last round, giving each sub-schema its own class is still correct.
        let is_last = round >= most;
        let mut split: HashMap<Print, Id> = HashMap::new();
        let mut first = Vec::new();
        let mut next = Vec::with_capacity(cyclic.len());
        for at in cyclic {
            let fresh = index(start + first.len());
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

/// Returns the final target of each sub-schema that is only a reference.
fn aliases(graph: &Graph<'_>) -> Vec<Id> {
    let target = |at: &Id| match graph.lits(*at) {
        [Lit::Sub(id)] => Some(*id),
        _ => None,
    };
    let last = |start| std::iter::successors(Some(start), target).last().unwrap_or(start);
    (0..index(graph.len())).map(last).collect()
}
