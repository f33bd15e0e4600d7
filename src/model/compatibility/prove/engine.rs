//! Decides whether there is a value that some schemas accept and others refuse. This is the core of the engine.
//!
//! `a` is within `b` exactly if no value satisfies `a` and not `b`. A goal is a set of signed nodes; its answer is a
//! value, a proof that there is none, or neither. If a goal occurs again within itself, it is assumed to be empty
//! there: the smallest value of a goal contains no smaller value of the same goal. Conclusions from such an assumption
//! are kept only while the assumption is in effect, and permanently once they depend on no assumption.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::flatten::{Kind, State};
use super::naming::Naming;
use super::summary::Summary;
use crate::model::{
    compatibility::{
        automata::automaton::Pattern,
        budget::Budget,
        evaluate,
        graph::node::{self, Id, Lit, Sym, Table},
    },
    text::cut,
};

/// The maximum nesting of goals; deeper ones are undecided. The stack of the engine's thread is large enough for it.
const DEEPEST: usize = 3_000;

/// The maximum number of characters of a pattern in the reason why the search could not decide.
const LONGEST_SHOWN: usize = 200;

/// A node and its sign: whether it must hold, and whether it is read leniently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(u32);

impl Atom {
    /// Returns the atom of a schema that must hold. Reading it leniently closes the objects whose properties it names.
    pub fn is(id: Id, lenient: bool) -> Self {
        Self(id << 2 | u32::from(lenient))
    }

    /// Returns the atom of a schema that must not hold.
    pub fn is_not(id: Id) -> Self {
        Self(id << 2 | 2)
    }

    pub fn id(self) -> Id {
        self.0 >> 2
    }

    pub fn holds(self) -> bool {
        self.0 & 2 == 0
    }

    pub fn is_lenient(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the atom without a lenient reading. More values satisfy it.
    pub fn strict(self) -> Self {
        Self(self.0 & !1)
    }
}

/// The answer about a goal.
#[derive(Debug, Clone)]
pub enum Answer {
    /// No value satisfies the goal.
    Empty,
    /// This value satisfies the goal.
    Witness(Rc<Value>),
    /// This value satisfies the goal if the parts that could not be evaluated hold.
    PossibleWitness(Rc<Value>),
    /// Undecided.
    Undecided,
}

impl Answer {
    /// Combines the answers of two alternatives.
    pub fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Empty => 0,
            Self::Undecided => 1,
            Self::PossibleWitness(_) => 2,
            Self::Witness(_) => 3,
        }
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }
}

pub(super) enum Memo {
    /// Being decided, at this position of the stack.
    Open(usize),
    /// Empty, provided that the goals at these positions of the stack are.
    EmptyIf(StackPositions),
    Solid(Answer),
}

type Goal = Rc<[Atom]>;

/// A set of stack positions, one bit each. Positions too deep to have their own bit share the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct StackPositions(u128);

impl StackPositions {
    fn one(at: usize) -> Self {
        Self(1 << at.min(127))
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Removes the position `at`. A shared bit is kept until its first position is reached.
    fn without(self, at: usize) -> Self {
        if at > 127 { self } else { Self(self.0 & !(1 << at)) }
    }
}

/// The search, with all its results.
pub struct Engine<'a> {
    pub table: Table,
    pub budget: Budget<'a>,
    pub(super) memo: HashMap<Goal, Memo>,
    /// The assumptions that were used below each open goal.
    used: Vec<StackPositions>,
    /// The goals that are empty under an assumption, in order of discovery.
    trail: Vec<Goal>,
    patterns: HashMap<Sym, Option<Rc<Pattern>>>,
    own_patterns: HashMap<&'static str, Option<Rc<Pattern>>>,
    pub summaries: HashMap<Id, Rc<Summary>>,
    pub namings: HashMap<Id, Rc<Naming>>,
    /// The schemas that are known to name properties, or not to.
    pub names_any: HashMap<Id, bool>,
    /// Differences that were found before and are treated as allowed.
    pub masked: HashMap<(Id, Lit), Masked>,
    /// The first feature that prevented a decision.
    pub obstacle: Option<Obstacle>,
}

/// How far a difference is treated as allowed.
#[derive(Debug, Clone, Copy)]
pub struct Masked {
    /// The node to violate instead of the literal; `None` if nothing violates it.
    pub rest: Option<Id>,
    /// The types for which it is allowed, if it was allowed by types.
    pub types: u8,
}

/// A feature that prevented a decision.
#[derive(Debug, Clone)]
pub struct Obstacle {
    /// Its description.
    pub why: String,
    /// The sub-schemas that have it.
    pub nodes: Vec<Id>,
}

impl<'a> Engine<'a> {
    pub fn new(table: Table, budget: Budget<'a>) -> Self {
        Self {
            table,
            budget,
            memo: HashMap::new(),
            used: Vec::new(),
            trail: Vec::new(),
            patterns: HashMap::new(),
            own_patterns: HashMap::new(),
            summaries: HashMap::new(),
            namings: HashMap::new(),
            names_any: HashMap::new(),
            masked: HashMap::new(),
            obstacle: None,
        }
    }

    /// Records why the search could not decide, and the sub-schemas that it is about.
    pub fn record_obstacle(&mut self, nodes: impl IntoIterator<Item = Id>, why: impl FnOnce() -> String) {
        if self.obstacle.is_none() {
            self.obstacle = Some(Obstacle { why: why(), nodes: nodes.into_iter().collect() });
        }
    }

    /// Decides whether a value satisfies all of these atoms.
    pub fn goal(&mut self, atoms: Vec<Atom>) -> Answer {
        let Some(goal) = self.normal(atoms) else { return Answer::Empty };
        match self.memo.get(&goal) {
            Some(Memo::Solid(answer)) => return answer.clone(),
            Some(Memo::Open(at)) => {
                self.depend_on(StackPositions::one(*at));
                return Answer::Empty;
            }
            Some(Memo::EmptyIf(places)) => {
                self.depend_on(*places);
                return Answer::Empty;
            }
            None => {}
        }
        if !self.budget.step() {
            return Answer::Undecided;
        }
        if self.used.len() >= DEEPEST {
            self.record_obstacle([], || {
                format!("only a value that is more than {DEEPEST} levels deep may show a difference")
            });
            return Answer::Undecided;
        }
        self.decide(&goal)
    }

    /// Sorts a goal and drops redundant atoms. Returns `None` if it contradicts itself.
    fn normal(&self, mut atoms: Vec<Atom>) -> Option<Goal> {
        atoms.sort_unstable();
        atoms.dedup();
        let mut kept: Vec<Atom> = Vec::with_capacity(atoms.len());
        for atom in &atoms {
            let is_true = self.table.is_true(atom.id());
            if !atom.holds() && (is_true || kept.last().is_some_and(|last| last.id() == atom.id() && last.holds())) {
                return None;
            }
            let is_doubled = atom.is_lenient() && kept.last().is_some_and(|last| last.id() == atom.id());
            if is_doubled {
                kept.pop();
            }
            if !is_true {
                kept.push(*atom);
            }
        }
        Some(kept.into())
    }

    fn depend_on(&mut self, positions: StackPositions) {
        if let Some(used) = self.used.last_mut() {
            *used = used.with(positions);
        }
    }

    fn decide(&mut self, goal: &Goal) -> Answer {
        let at = self.used.len();
        let trail = self.trail.len();
        self.memo.insert(Rc::clone(goal), Memo::Open(at));
        self.used.push(StackPositions::default());
        let answer = self.by_type(goal);
        let used = self.used.pop().unwrap_or_default().without(at);
        if self.budget.spent().is_some() {
            // Results found after the budget ran out are discarded.
            self.memo.remove(goal);
            for known in self.trail.drain(trail..) {
                self.memo.remove(&known);
            }
            return Answer::Undecided;
        }
        self.budget.keep(goal.len() * 4 + 96);
        if let Answer::Witness(value) | Answer::PossibleWitness(value) = &answer {
            self.budget.keep(heap_size(value));
        }
        self.settle_trail(trail, at, answer.is_empty().then_some(used));
        let memo = match answer {
            Answer::Empty if used != StackPositions::default() => {
                self.trail.push(Rc::clone(goal));
                self.depend_on(used);
                Memo::EmptyIf(used)
            }
            // A value is valid under any assumption, and "undecided" claims nothing.
            _ => Memo::Solid(answer.clone()),
        };
        self.memo.insert(Rc::clone(goal), memo);
        answer
    }

    /// Resolves the conclusions that depend on the goal at a position. If that goal is empty, they now depend on its
    /// assumptions, if any. Otherwise they are dropped.
    fn settle_trail(&mut self, from: usize, at: usize, empty_if: Option<StackPositions>) {
        let place = StackPositions::one(at);
        for known in self.trail.split_off(from) {
            let Some(Memo::EmptyIf(places)) = self.memo.get(&known) else { continue };
            let places = match (places.has(place), empty_if) {
                (false, _) => *places,
                (true, Some(used)) => places.without(at).with(used),
                (true, None) => {
                    self.memo.remove(&known);
                    continue;
                }
            };
            if places == StackPositions::default() {
                self.memo.insert(known, Memo::Solid(Answer::Empty));
            } else {
                self.memo.insert(Rc::clone(&known), Memo::EmptyIf(places));
                self.trail.push(known);
            }
        }
    }

    fn by_type(&mut self, goal: &Goal) -> Answer {
        let mut types = node::ANY;
        for atom in goal.iter() {
            types &= self.types(*atom);
        }
        let mut best = Answer::Empty;
        for kind in Kind::ALL {
            if types & kind.types() == 0 {
                continue;
            }
            let mut state = State::new(kind, types & kind.types(), Rc::clone(goal));
            let found = if state.settle(self, goal.iter().copied()) { state.solve(self) } else { Answer::Empty };
            best = best.or(found);
            if matches!(best, Answer::Witness(_)) {
                break;
            }
        }
        best
    }

    /// Returns a superset of the types that a value of this atom can have.
    pub fn types(&mut self, atom: Atom) -> u8 {
        if atom.holds() {
            return self.summary(atom.id()).types;
        }
        match &*self.table.lits(atom.id()) {
            [Lit::Type(types)] => node::ANY & !types,
            _ => node::ANY,
        }
    }

    /// Returns the node that only this value satisfies, built from the parts of the value, if any.
    pub fn value_node(&mut self, id: u32) -> Id {
        let value = self.table.words.values[id as usize].clone();
        self.budget.keep(heap_size(&value) + (count_parts(&value) + 1) * VALUE_NODE);
        let lits = match &value {
            Value::Array(items) => {
                let count = items.len() as u64;
                let items = items.iter().enumerate().map(|(at, item)| Lit::Item(at as u64, self.constant(item)));
                let items: Vec<_> = items.collect();
                let least = (count > 0).then_some(Lit::MinItems(count));
                [Lit::Type(node::ARRAY), Lit::MaxItems(count)].into_iter().chain(least).chain(items).collect()
            }
            Value::Object(members) => {
                let mut names: Vec<_> = members.keys().map(|name| self.table.words.symbol(name)).collect();
                let required: Vec<_> = names.iter().map(|name| Lit::Required(*name)).collect();
                let members: Vec<_> =
                    names.iter().zip(members.values()).map(|(n, v)| Lit::Prop(*n, self.constant(v))).collect();
                names.sort_unstable();
                let never = self.table.node(vec![Lit::Never]);
                let rest = Lit::AddProp(names.into(), Box::default(), never);
                [Lit::Type(node::OBJECT), rest].into_iter().chain(required).chain(members).collect()
            }
            _ => vec![Lit::Enum(vec![id])],
        };
        self.table.node(lits)
    }

    fn constant(&mut self, value: &Value) -> Id {
        let id = self.table.words.value(value);
        self.table.node(vec![Lit::Enum(vec![id])])
    }

    /// Returns whether a value satisfies a goal.
    pub fn check(&mut self, goal: &[Atom], value: &Value) -> Option<bool> {
        let mut result = Some(true);
        for atom in goal {
            match evaluate::holds(&mut self.table, atom.id(), value) {
                Some(holds) if holds != atom.holds() => return Some(false),
                Some(_) => {}
                None => result = None,
            }
        }
        result
    }

    /// Returns the automaton of a pattern, or `None` if it cannot be built or is too large.
    pub fn pattern(&mut self, pattern: Sym) -> Option<Rc<Pattern>> {
        let known = self.patterns.get(&pattern).cloned();
        let text = self.table.words.text(pattern);
        let compiled = known.clone().unwrap_or_else(|| Pattern::of(&text));
        match &compiled {
            Some(compiled) if known.is_none() => self.budget.keep(compiled.bytes()),
            Some(_) => {}
            None => {
                let written = self.table.words.written(pattern);
                let why = if refers_back(&written) {
                    "has a back-reference, which is not compared"
                } else {
                    "is too complex to compare"
                };
                self.record_obstacle([], || format!("the pattern {:?} {why}", cut(&*written, LONGEST_SHOWN)));
            }
        }
        self.patterns.insert(pattern, compiled.clone());
        compiled
    }

    /// Returns the automaton of one of this program's own regular expressions.
    pub fn own_pattern(&mut self, regex: &'static str) -> Option<Rc<Pattern>> {
        self.own_patterns.entry(regex).or_insert_with(|| Pattern::of_own(regex)).clone()
    }
}

/// Returns whether a regular expression has a back-reference: `\1` or `\k<name>`.
fn refers_back(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && matches!(characters.next(), Some('1'..='9' | 'k')) {
            return true;
        }
    }
    false
}

/// The size of a node of a map, in bytes. It has room for eleven members.
const MAP_NODE: usize = 11 * (size_of::<String>() + size_of::<Value>()) + 24;
/// The overhead of an allocation, in bytes.
const ALLOCATION: usize = 16;

/// The approximate size of a node for a value, with the demand on it, in bytes.
const VALUE_NODE: usize = 400;

fn count_parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

/// Returns the number of bytes that a value occupies on the heap.
fn heap_size(value: &Value) -> usize {
    match value {
        Value::String(text) => ALLOCATION + text.len(),
        Value::Array(items) => {
            ALLOCATION + items.iter().map(|item| size_of::<Value>() + heap_size(item)).sum::<usize>()
        }
        Value::Object(members) => {
            let nodes = members.len().div_ceil(8) * MAP_NODE;
            nodes + members.iter().map(|(name, member)| ALLOCATION + name.len() + heap_size(member)).sum::<usize>()
        }
        _ => 0,
    }
}
