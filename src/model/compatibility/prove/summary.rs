//! A rough summary of the values that a node accepts. It ignores alternatives, and shows cheaply
//! that two nodes have no value in common.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::engine::{Atom, Engine};
use crate::model::compatibility::{
    automata::automaton,
    evaluate,
    graph::node::{self, Id, Lit, Sym},
};

/// The maximum nesting of nodes for the same value. Deeper nodes are assumed to accept anything.
const DEEPEST: usize = 500;
/// The maximum number of properties in a summary.
const MAX_MEMBERS: usize = 64;

/// A superset of the values that a node accepts.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// The types that a value may have.
    pub types: u8,
    /// The accepted values, if they are few and enumerated.
    pub values: Option<BTreeSet<u32>>,
    /// The accepted strings, if they are few and enumerated.
    pub texts: Option<BTreeSet<Sym>>,
    pub required: BTreeSet<Sym>,
    /// The schemas of properties.
    pub members: Vec<(Sym, Id)>,
}

impl Engine<'_> {
    /// Returns the summary of a node.
    pub fn summary(&mut self, id: Id) -> Rc<Summary> {
        self.summary_within(id, 0)
    }

    fn summary_within(&mut self, id: Id, depth: usize) -> Rc<Summary> {
        if let Some(known) = self.summaries.get(&id) {
            return Rc::clone(known);
        }
        let mut summary = Summary { types: node::ANY, ..Summary::default() };
        if depth < DEEPEST {
            for lit in self.table.lits(id).iter() {
                self.add(&mut summary, lit, depth);
            }
            summary.members.truncate(MAX_MEMBERS);
        }
        let summary = Rc::new(summary);
        self.summaries.insert(id, Rc::clone(&summary));
        summary
    }

    fn text_of(&self, value: u32) -> Option<String> {
        self.table.words.values[value as usize].as_str().map(str::to_owned)
    }

    fn symbols(&mut self, texts: &[String]) -> BTreeSet<Sym> {
        texts.iter().map(|text| self.table.words.symbol(text)).collect()
    }

    fn add(&mut self, summary: &mut Summary, lit: &Lit, depth: usize) {
        match lit {
            Lit::Never => summary.types = 0,
            Lit::Type(types) => summary.types &= types,
            Lit::Enum(ids) => {
                let types = ids.iter().map(|id| evaluate::types_written(&self.table.words.values[*id as usize]));
                summary.types &= types.fold(0, |all, one| all | one);
                meet(&mut summary.values, Some(&ids.iter().copied().collect()));
                let texts: Vec<_> = ids.iter().filter_map(|id| self.text_of(*id)).collect();
                meet(&mut summary.texts, Some(&self.symbols(&texts)));
            }
            Lit::Pattern(pattern) => {
                let texts = automaton::texts(&self.table.words.text(*pattern));
                meet(&mut summary.texts, texts.map(|texts| self.symbols(&texts)).as_ref());
            }
            Lit::Required(name) => drop(summary.required.insert(*name)),
            Lit::Prop(name, id) => summary.members.push((*name, *id)),
            Lit::Sub(id) => {
                let inner = self.summary_within(*id, depth + 1);
                summary.types &= inner.types;
                meet(&mut summary.values, inner.values.as_ref());
                meet(&mut summary.texts, inner.texts.as_ref());
                summary.required.extend(&inner.required);
                summary.members.extend(&inner.members);
            }
            Lit::Not(id) => {
                if let [Lit::Type(types)] = self.table.lits(*id)[..] {
                    summary.types &= !types;
                }
            }
            Lit::AnyOf(ids) | Lit::OneOf(ids) => {
                let (mut types, mut values, mut texts) = (0, Some(BTreeSet::new()), Some(BTreeSet::new()));
                for id in ids {
                    let inner = self.summary_within(*id, depth + 1);
                    types |= inner.types;
                    values = join(values, inner.values.as_ref());
                    if inner.types & node::STRING != 0 {
                        texts = join(texts, inner.texts.as_ref());
                    }
                }
                summary.types &= types;
                meet(&mut summary.values, values.as_ref());
                meet(&mut summary.texts, texts.as_ref());
            }
            _ => {}
        }
    }
}

/// Returns the union of two sets, if both are known.
fn join(all: Option<BTreeSet<u32>>, some: Option<&BTreeSet<u32>>) -> Option<BTreeSet<u32>> {
    all.zip(some).map(|(mut all, some)| {
        all.extend(some);
        all
    })
}

/// Keeps only the values that are also among the others, if those are known.
fn meet(values: &mut Option<BTreeSet<u32>>, others: Option<&BTreeSet<u32>>) {
    let Some(others) = others else { return };
    *values = Some(match values.take() {
        Some(values) => values.intersection(others).copied().collect(),
        None => others.clone(),
    });
}

/// Returns whether it is certain that no value satisfies both `known` and `id`.
pub fn are_apart(engine: &mut Engine<'_>, known: &[Atom], id: Id) -> bool {
    let other = engine.summary(id);
    let mut types = other.types;
    let mut texts = other.texts.clone();
    for atom in known {
        types &= engine.types(*atom);
        if types == 0 {
            return true;
        }
        if !atom.holds() {
            continue;
        }
        let one = engine.summary(atom.id());
        if let (Some(one), Some(other)) = (&one.values, &other.values)
            && one.is_disjoint(other)
        {
            return true;
        }
        if let (Some(some), Some(others)) = (&one.texts, &mut texts) {
            others.retain(|text| some.contains(text));
        } else if one.texts.is_some() {
            texts.clone_from(&one.texts);
        }
    }
    types == node::STRING && texts.is_some_and(|texts| texts.is_empty())
}
