//! The demands of the facts on an object: on properties by name, and on any other name by the combination of patterns
//! that it matches.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::engine::{Answer, Atom, Engine};
use super::flatten::{Fence, Kind, State};
use super::naming::Part;
use crate::model::compatibility::{
    automata::repetition::Lengths,
    evaluate,
    graph::node::{self, Id, Lit, Sym},
};

/// The number of patterns up to which all combinations are tried without checking that a name exists.
const FEW_PATTERNS: usize = 4;
/// The maximum number of combinations that are tried.
const MAX_CLASSES: usize = 200;

/// Names, patterns, and the demand on properties that are covered by neither.
pub type Rest = (Box<[Sym]>, Box<[Sym]>, Atom);

/// The demands of the facts on an object.
#[derive(Default)]
pub struct Shape {
    pub least: u64,
    pub most: Option<u64>,
    /// The demands on properties whose name matches a pattern.
    pub matching: Vec<(Sym, Atom)>,
    /// The demands on properties that are neither named nor matched.
    pub others: Vec<Rest>,
    pub names: Vec<Atom>,
    /// Properties that must exist somewhere.
    pub wanted: Vec<Wanted>,
    /// The only names and patterns of properties that a lenient sender sends.
    pub closed: Option<Rc<Fence>>,
    /// All names that the facts mention.
    pub known: BTreeSet<Sym>,
    pub patterns: Vec<Sym>,
}

pub enum Wanted {
    Matching(Sym, Atom),
    Other(Box<[Sym]>, Box<[Sym]>, Atom),
    Named(Atom),
}

/// A possible name of a property: one that the facts mention, or any name of a class.
pub enum Slot {
    Name(Sym),
    Class(Vec<bool>),
}

/// An object under construction.
#[derive(Default, Clone)]
pub struct Draft {
    pub values: BTreeMap<Sym, Rc<Value>>,
    pub extra: BTreeMap<Sym, Vec<Atom>>,
    pub maybe: bool,
    pub unsure: bool,
}

impl State {
    pub fn shape(&self, engine: &mut Engine<'_>) -> Shape {
        let Lengths { least, most } = self.limits(engine);
        let known = self.members.keys().chain(&self.present).chain(&self.absent).copied().collect();
        let mut shape = Shape { least, most, known, ..Shape::default() };
        let is_certain = !self.may_name(engine, Part::OtherProperties);
        for fact in &self.facts {
            let lenient = fact.lenient && is_certain;
            let atom = |id: Id| if fact.holds { Atom::is(id, lenient) } else { Atom::is_not(id) };
            match (&engine.table.lits(fact.node)[fact.at], fact.holds) {
                (Lit::PatProp(pattern, id), holds) => {
                    shape.patterns.push(*pattern);
                    if holds {
                        shape.matching.push((*pattern, atom(*id)));
                    } else {
                        shape.wanted.push(Wanted::Matching(*pattern, atom(*id)));
                    }
                }
                (Lit::AddProp(names, patterns, id), holds) => {
                    shape.known.extend(names);
                    shape.patterns.extend(patterns);
                    if holds {
                        shape.others.push((names.clone(), patterns.clone(), atom(*id)));
                    } else {
                        shape.wanted.push(Wanted::Other(names.clone(), patterns.clone(), atom(*id)));
                    }
                }
                (Lit::PropNames(id), true) => shape.names.push(Atom::is(*id, false)),
                (Lit::PropNames(id), false) => shape.wanted.push(Wanted::Named(Atom::is_not(*id))),
                _ => {}
            }
        }
        shape.closed = self.sent(engine);
        if let Some(fence) = &shape.closed {
            shape.known.extend(&fence.names);
            shape.patterns.extend(&fence.patterns);
        }
        shape.patterns.sort_unstable();
        shape.patterns.dedup();
        // A name that is chosen for a demand on names must still be free to satisfy the others.
        shape.wanted.sort_by_key(|wanted| !matches!(wanted, Wanted::Named(_)));
        shape
    }

    /// Returns the only names and patterns of properties that a lenient sender may send, or `None` if
    /// there is no such limit, for example because it must send more properties than it names.
    pub fn sent(&self, engine: &mut Engine<'_>) -> Option<Rc<Fence>> {
        if self.kind != Kind::Object {
            return None;
        }
        let Fence { mut names, mut patterns } = Fence::default();
        let (mut is_closed, mut least, mut of_names) = (false, 0, Vec::new());
        for fact in self.facts.iter().filter(|fact| fact.lenient && fact.holds) {
            match &engine.table.lits(fact.node)[fact.at] {
                Lit::Prop(name, _) => {
                    names.insert(*name);
                    is_closed = true;
                }
                Lit::PatProp(pattern, _) => {
                    patterns.insert(*pattern);
                    is_closed = true;
                }
                Lit::Required(name) | Lit::DepSchema(name, _) => drop(names.insert(*name)),
                Lit::DepRequired(name, others) => names.extend(others.iter().chain([name])),
                Lit::Names(condition) => engine.table.add_names(*condition, &mut names, &mut patterns),
                // These keywords allow further properties explicitly. What an unread schema names is unknown.
                Lit::AddProp(..) | Lit::Enum(_) | Lit::Opaque(..) => return None,
                Lit::MinProps(n) => least = least.max(*n),
                Lit::PropNames(id) => of_names.push(*id),
                _ => {}
            }
        }
        let is_closed = is_closed && (!patterns.is_empty() || engine.table.has_names(&names, &of_names, least));
        let fence = is_closed.then_some(Fence { names, patterns })?;
        self.with_open_choices(engine, fence, least > 0).map(Rc::new)
    }

    /// Returns the demands on the property with this name, or `None` if the property is not allowed.
    pub fn member(&self, engine: &mut Engine<'_>, shape: &Shape, name: Sym) -> Option<Vec<Atom>> {
        if self.absent.contains(&name) {
            return None;
        }
        engine.budget.visit(1 + self.open.len() + shape.patterns.len() + shape.names.len());
        let text = engine.table.words.text(name);
        let value = Value::String(text.to_string());
        for atom in &shape.names {
            if evaluate::holds(&mut engine.table, atom.id(), &value) == Some(false) {
                return None;
            }
        }
        let mut goal = self.members.get(&name).cloned().unwrap_or_default();
        self.certain(engine, Part::Property(name), &mut goal);
        let mut matches = |pattern: &Sym| engine.table.words.matches(*pattern, &text) == Some(true);
        if let Some(fence) = &shape.closed
            && !fence.names.contains(&name)
            && !fence.patterns.iter().any(&mut matches)
        {
            return None;
        }
        for (pattern, atom) in &shape.matching {
            if matches(pattern) {
                goal.push(*atom);
            }
        }
        for (names, patterns, atom) in &shape.others {
            if names.binary_search(&name).is_err() && !patterns.iter().any(&mut matches) {
                goal.push(*atom);
            }
        }
        Some(goal)
    }

    /// Returns the demands on a property with an unknown name that matches exactly these patterns, or `None` if no
    /// such property is allowed.
    pub fn class_member(shape: &Shape, signs: &[bool]) -> Option<Vec<Atom>> {
        let matches = |pattern: &Sym| shape.patterns.binary_search(pattern).is_ok_and(|at| signs[at]);
        if let Some(fence) = &shape.closed
            && !fence.patterns.iter().any(matches)
        {
            return None;
        }
        let mut goal: Vec<_> =
            shape.matching.iter().filter(|(pattern, _)| matches(pattern)).map(|(_, atom)| *atom).collect();
        for (_, patterns, atom) in &shape.others {
            if !patterns.iter().any(matches) {
                goal.push(*atom);
            }
        }
        Some(goal)
    }

    /// Returns a name of the class that is neither known nor already used.
    pub fn fresh(shape: &Shape, engine: &mut Engine<'_>, signs: &[bool], more: Option<Atom>, draft: &Draft) -> Answer {
        let mut goal = Self::names(shape, engine, signs);
        goal.extend(more);
        let used: BTreeSet<Sym> = shape.known.iter().chain(draft.values.keys()).copied().collect();
        let mut used: Vec<_> = used
            .into_iter()
            .map(|name| {
                let text = Value::String(engine.table.words.text(name).to_string());
                engine.table.words.value(&text)
            })
            .collect();
        used.sort_unstable();
        if !used.is_empty() {
            let node = engine.table.node(vec![Lit::Enum(used)]);
            goal.push(Atom::is_not(node));
        }
        let named = engine.table.node(vec![Lit::Type(node::STRING), Lit::MinLength(1)]);
        let readable = goal.iter().copied().chain([Atom::is(named, false)]).collect();
        match engine.goal(readable) {
            Answer::Witness(name) => Answer::Witness(name),
            _ => engine.goal(goal),
        }
    }

    /// Returns this name if it belongs to the class whose names satisfy `names`, and is neither known nor already used.
    /// Numbering the names of a large object is much faster than solving for each.
    pub fn if_fresh(shape: &Shape, engine: &mut Engine<'_>, names: &[Atom], text: &str, draft: &Draft) -> Option<Sym> {
        let value = Value::from(text);
        let is_in = |atom: &Atom| evaluate::holds(&mut engine.table, atom.id(), &value) == Some(atom.holds());
        if !names.iter().all(is_in) {
            return None;
        }
        let name = engine.table.words.symbol(text);
        (!shape.known.contains(&name) && !draft.values.contains_key(&name)).then_some(name)
    }

    /// Returns every combination of patterns that an unknown name can match, and whether these are all. If there are
    /// many patterns, combinations whose properties cannot satisfy what is wanted are left out.
    pub fn classes(engine: &mut Engine<'_>, shape: &Shape, wanted: Option<&Wanted>) -> (Vec<Vec<bool>>, bool) {
        let mut classes = vec![Vec::new()];
        let mut is_complete = true;
        for at in 0..shape.patterns.len() {
            let both = classes.into_iter().flat_map(|signs: Vec<bool>| {
                [false, true].map(|sign| signs.iter().copied().chain([sign]).collect::<Vec<_>>())
            });
            classes = both.collect();
            if at >= FEW_PATTERNS {
                classes.retain(|signs| {
                    let names = Self::names(shape, engine, signs);
                    !engine.goal(Self::partial(shape, wanted, signs)).is_empty() && !engine.goal(names).is_empty()
                });
            }
            if classes.len() > MAX_CLASSES {
                is_complete = false;
                classes.truncate(MAX_CLASSES);
            }
        }
        (classes, is_complete)
    }

    /// Returns demands on a property whose name matches the first patterns in this combination. There may be more.
    fn partial(shape: &Shape, wanted: Option<&Wanted>, signs: &[bool]) -> Vec<Atom> {
        let matches =
            |pattern: &Sym| shape.patterns.binary_search(pattern).is_ok_and(|at| signs.get(at) == Some(&true));
        let refuses =
            |pattern: &Sym| shape.patterns.binary_search(pattern).is_ok_and(|at| signs.get(at) == Some(&false));
        let mut goal: Vec<_> =
            shape.matching.iter().filter(|(pattern, _)| matches(pattern)).map(|(_, atom)| *atom).collect();
        for (_, patterns, atom) in &shape.others {
            goal.extend(patterns.iter().all(refuses).then_some(*atom));
        }
        if let Some(Wanted::Matching(_, atom) | Wanted::Other(_, _, atom)) = wanted {
            goal.push(*atom);
        }
        goal
    }

    /// Returns the demands on a name that matches the patterns in this combination.
    pub fn names(shape: &Shape, engine: &mut Engine<'_>, signs: &[bool]) -> Vec<Atom> {
        let mut goal = shape.names.clone();
        for (pattern, sign) in shape.patterns.iter().zip(signs) {
            let node = engine.table.node(vec![Lit::Pattern(*pattern)]);
            goal.push(if *sign { Atom::is(node, false) } else { Atom::is_not(node) });
        }
        let text = engine.table.node(vec![Lit::Type(node::STRING)]);
        goal.push(Atom::is(text, false));
        goal
    }
}

impl Draft {
    pub fn put(&mut self, name: Sym, found: Answer) {
        match found {
            Answer::Witness(value) => drop(self.values.insert(name, value)),
            Answer::PossibleWitness(value) => {
                self.maybe = true;
                self.values.insert(name, value);
            }
            _ => self.unsure = true,
        }
    }
}
