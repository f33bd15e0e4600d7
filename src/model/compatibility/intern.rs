//! One number for equal sub-schemas: of both documents, whatever they are called, also recursive.
//!
//! Partition refinement: all nodes start in one class, and a class splits where its members differ
//! in a literal or in the class of a child, until nothing splits.

use std::collections::HashMap;

use super::dialect::Graph;
use super::node::{Id, Lit, Table};

/// Which node of the table each raw sub-schema is.
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

    /// Returns the literal of the table that a raw literal is, none if it asserts nothing.
    pub(super) fn lit(&self, lit: &Lit) -> Option<Lit> {
        (!self.is_vacuous(lit)).then(|| lit.map(&mut |id| self.of(id)))
    }

    fn is_vacuous(&self, lit: &Lit) -> bool {
        match lit {
            Lit::AtLeast(_, 0) => true,
            Lit::Items(_, id) | Lit::AddProp(_, _, id) | Lit::Sub(id) | Lit::DepSchema(_, id) | Lit::PropNames(id) => {
                self.is_true[self.alias[*id as usize] as usize]
            }
            _ => false,
        }
    }
}

/// Builds the table of a graph; fails where references go round without reaching a value.
pub(super) fn intern(graph: Graph) -> Result<(Table, Classes, Graph), String> {
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
    let mut count = 1;
    let signatures = loop {
        let mut known: HashMap<Vec<Lit>, Id> = HashMap::new();
        let mut next = vec![0; graph.raws.len()];
        for (at, raw) in graph.raws.iter().enumerate() {
            if classes.alias[at] as usize != at {
                continue;
            }
            let mut lits: Vec<_> = raw.lits.iter().filter_map(|lit| classes.lit(lit)).collect();
            lits.sort_unstable();
            lits.dedup();
            let fresh = u32::try_from(known.len()).unwrap_or(u32::MAX);
            next[at] = *known.entry(lits).or_insert(fresh);
        }
        classes.class = next;
        if known.len() == count {
            break known;
        }
        count = known.len();
    };
    let mut nodes: Vec<(Vec<Lit>, Id)> = signatures.into_iter().collect();
    nodes.sort_unstable_by_key(|(_, id)| *id);
    let mut graph = graph;
    let mut table = Table::default();
    table.words = std::mem::take(&mut graph.words);
    for (lits, _) in nodes {
        table.push(lits);
    }
    find_loop(&table)?;
    Ok((table, classes, graph))
}

/// Returns for each sub-schema that is only a reference what it finally refers to.
fn aliases(graph: &Graph) -> Result<Vec<Id>, String> {
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
                    return Err(round(&graph.raws[start as usize].pointer));
                }
            }
            Ok(at)
        })
        .collect()
}

fn round(place: &str) -> String {
    format!("the references at {place:?} go round without reaching a value")
}

/// Fails where a node needs itself for the same value.
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
