//! Splits a goal for one type of value into facts (literals) and choices. `choose` then takes the choices.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::rc::Rc;

use super::engine::{Atom, Engine};
use super::naming::Naming;
use super::summary::are_apart;
use crate::model::compatibility::{
    automata::repetition::Lengths,
    evaluate,
    graph::node::{self, Id, Lit, Sym},
};

/// The kinds of values, which are searched one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub const ALL: [Self; 6] = [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];

    pub fn types(self) -> u8 {
        match self {
            Self::Null => node::NULL,
            Self::Boolean => node::BOOLEAN,
            Self::Number => node::NUMBER,
            Self::String => node::STRING,
            Self::Array => node::ARRAY,
            Self::Object => node::OBJECT,
        }
    }
}

/// A literal of a node, by its index there, whether it must hold, and whether it is read leniently.
#[derive(Debug, Clone, Copy)]
pub struct Fact {
    pub node: Id,
    pub at: usize,
    pub holds: bool,
    pub lenient: bool,
}

/// One demand on a value.
#[derive(Debug, Clone, Copy)]
pub enum Item {
    Atom(Atom),
    Lit(Fact),
    Present(Sym),
    Absent(Sym),
    /// None of the arrays and objects that this `enum` lists.
    Unlisted(Fact),
    /// At least two branches of this `oneOf` hold, and this is the first of them.
    AtLeastTwo {
        node: Id,
        at: usize,
        first: usize,
    },
    /// No branch of this `oneOf` holds except one. The others are considered only where it matters.
    NoOtherBranch {
        node: Id,
        at: usize,
        only: usize,
    },
}

pub type Choice = Rc<Branches>;

/// The branches of a choice, one of which must hold.
pub struct Branches {
    branches: Vec<Vec<Item>>,
    /// Whether any branch is lenient. Only lenient branches name properties.
    pub is_lenient: bool,
    /// The names in the branches. Cached, since they are needed for each property of an object.
    pub naming: OnceCell<Naming>,
}

impl Branches {
    pub fn choice(branches: Vec<Vec<Item>>) -> Choice {
        let is_lenient = branches.iter().flatten().any(|item| match item {
            Item::Atom(atom) => atom.is_lenient(),
            Item::Lit(fact) => fact.lenient,
            _ => false,
        });
        Rc::new(Self { branches, is_lenient, naming: OnceCell::new() })
    }
}

impl Deref for Branches {
    type Target = [Vec<Item>];

    fn deref(&self) -> &[Vec<Item>] {
        &self.branches
    }
}

/// The maximum number of alternatives of an `anyOf` that a lenient sender is assumed to follow at once.
pub const MAX_TOGETHER: usize = 8;

pub const HOLDS: u8 = 1;
pub const LENIENT: u8 = 2;
pub const REFUSED: u8 = 4;
pub const EXCLUDED: u8 = 8;

/// The state of a search: the facts so far, and the open choices.
#[derive(Clone)]
pub struct State {
    pub kind: Kind,
    pub types: u8,
    pub goal: Rc<[Atom]>,
    pub facts: Vec<Fact>,
    pub present: BTreeSet<Sym>,
    pub absent: BTreeSet<Sym>,
    /// The demands on properties, by name.
    pub members: HashMap<Sym, Vec<Atom>>,
    pub has_values: bool,
    pub seen: HashMap<Id, u8>,
    pub open: Vec<Choice>,
    /// The only names and patterns that the facts allow for properties.
    pub fences: Vec<Fence>,
    /// The only names and patterns of the properties that a lenient sender sends, once these are known for certain.
    pub sent: Option<Rc<Fence>>,
    /// The maximum number of properties.
    pub most: Option<u64>,
}

/// Names and patterns. Properties that are in neither are not allowed.
#[derive(Debug, Clone, Default)]
pub struct Fence {
    pub names: BTreeSet<Sym>,
    pub patterns: BTreeSet<Sym>,
}

impl Fence {
    /// Returns whether a property is outside of it.
    fn excludes(&self, engine: &mut Engine<'_>, name: Sym) -> bool {
        if self.names.contains(&name) {
            return false;
        }
        let text = engine.table.words.text(name);
        !self.patterns.iter().any(|pattern| engine.table.words.matches(*pattern, &text) != Some(false))
    }
}

/// Returns whether another alternative of a `oneOf` accepts everything that a lenient sender of the alternative `only`
/// sends, but not everything that `only` allows. This happens with open objects that no constant tells apart. The
/// author of such a schema means `anyOf`: taken literally, it allows nothing to be sent, and every change of it would
/// be compatible.
fn is_shadowed(engine: &mut Engine<'_>, ids: &[Id], only: usize) -> bool {
    others(ids, only).any(|other| {
        !are_distinct(engine, ids[only], other)
            && engine.goal(vec![Atom::is(ids[only], true), Atom::is_not(other)]).is_empty()
            && !engine.goal(vec![Atom::is(ids[only], false), Atom::is_not(other)]).is_empty()
    })
}

/// Returns whether a required property, or the type, tells the values of two nodes apart.
fn are_distinct(engine: &mut Engine<'_>, one: Id, other: Id) -> bool {
    let [one, other] = [one, other].map(|id| engine.summary(id));
    one.types & other.types == 0
        || one.members.iter().any(|(name, member)| {
            let is_required = one.required.contains(name) || other.required.contains(name);
            let of_other = other.members.iter().find(|(known, _)| known == name).filter(|_| is_required);
            of_other.is_some_and(|(_, known)| are_apart(engine, &[Atom::is(*known, false)], *member))
        })
}

/// Returns all branches of a `oneOf` except one.
pub fn others(ids: &[Id], only: usize) -> impl Iterator<Item = Id> {
    ids.iter().enumerate().filter(move |(at, _)| *at != only).map(|(_, id)| *id)
}

impl State {
    pub fn new(kind: Kind, types: u8, goal: Rc<[Atom]>) -> Self {
        Self {
            kind,
            types,
            goal,
            facts: Vec::new(),
            present: BTreeSet::new(),
            absent: BTreeSet::new(),
            members: HashMap::new(),
            has_values: false,
            seen: HashMap::new(),
            open: Vec::new(),
            fences: Vec::new(),
            sent: None,
            most: None,
        }
    }

    /// Adds atoms and their consequences. Returns false if they contradict the facts.
    pub fn settle(&mut self, engine: &mut Engine<'_>, atoms: impl Iterator<Item = Atom>) -> bool {
        let mut work: Vec<_> = atoms.map(Item::Atom).collect();
        work.reverse();
        self.add(engine, work)
    }

    pub fn add(&mut self, engine: &mut Engine<'_>, mut work: Vec<Item>) -> bool {
        while let Some(item) = work.pop() {
            if !self.add_one(engine, item, &mut work) {
                return false;
            }
        }
        true
    }

    fn add_one(&mut self, engine: &mut Engine<'_>, item: Item, work: &mut Vec<Item>) -> bool {
        match item {
            Item::Atom(atom) if atom.holds() => self.add_node(engine, atom, work),
            Item::Atom(atom) => self.refuse(engine, atom.id(), work),
            Item::NoOtherBranch { node, at, only } => {
                let lits = engine.table.lits(node);
                let Lit::OneOf(ids) = &lits[at] else { return true };
                engine.budget.visit(ids.len());
                others(ids, only).all(|id| {
                    let seen = self.seen.entry(id).or_default();
                    *seen |= EXCLUDED;
                    *seen & HOLDS == 0
                })
            }
            Item::Present(name) => {
                self.present.insert(name);
                !self.absent.contains(&name)
            }
            Item::Absent(name) => {
                self.absent.insert(name);
                !self.present.contains(&name)
            }
            Item::Unlisted(fact) if !self.has_values => {
                let lits = engine.table.lits(fact.node);
                let Lit::Enum(ids) = &lits[fact.at] else { return true };
                work.extend(self.parted(engine, ids).into_iter().map(|node| Item::Atom(Atom::is_not(node))));
                true
            }
            Item::Unlisted(_) => true,
            Item::AtLeastTwo { node, at, first } => {
                let lits = engine.table.lits(node);
                let Lit::OneOf(ids) = &lits[at] else { return true };
                work.push(Item::Atom(Atom::is(ids[first], false)));
                let rest = ids[first + 1..].iter().map(|id| vec![Item::Atom(Atom::is(*id, false))]).collect();
                self.open.push(Branches::choice(rest));
                true
            }
            Item::Lit(fact) => {
                let lits = engine.table.lits(fact.node);
                let lit = &lits[fact.at];
                if lit.kinds() & self.kind.types() == 0 {
                    return fact.holds;
                }
                if !fact.holds
                    && let Some(rest) = engine.mask_of(fact.node, lit)
                {
                    work.extend(rest.map(|rest| Item::Atom(Atom::is_not(rest))));
                    return rest.is_some();
                }
                self.add_lit(engine, lit, fact, work)
            }
        }
    }

    fn add_node(&mut self, engine: &mut Engine<'_>, atom: Atom, work: &mut Vec<Item>) -> bool {
        let seen = self.seen.entry(atom.id()).or_default();
        if *seen & (REFUSED | EXCLUDED) != 0 {
            return false;
        }
        let is_known = *seen & HOLDS != 0 && (!atom.is_lenient() || *seen & LENIENT != 0);
        *seen |= HOLDS | if atom.is_lenient() { LENIENT } else { 0 };
        if is_known {
            return true;
        }
        let count = engine.table.lits(atom.id()).len();
        let lit = |at| Item::Lit(Fact { node: atom.id(), at, holds: true, lenient: atom.is_lenient() });
        work.extend((0..count).rev().map(lit));
        true
    }

    fn refuse(&mut self, engine: &mut Engine<'_>, id: Id, work: &mut Vec<Item>) -> bool {
        let seen = self.seen.entry(id).or_default();
        if *seen & HOLDS != 0 {
            return false;
        }
        if *seen & REFUSED != 0 {
            return true;
        }
        *seen |= REFUSED;
        let count = engine.table.lits(id).len();
        let lit = |at| Item::Lit(Fact { node: id, at, holds: false, lenient: false });
        match count {
            0 => return false,
            1 => work.push(lit(0)),
            _ => self.open.push(Branches::choice((0..count).map(|at| vec![lit(at)]).collect())),
        }
        true
    }

    fn add_lit(&mut self, engine: &mut Engine<'_>, lit: &Lit, fact: Fact, work: &mut Vec<Item>) -> bool {
        let is = |id: &Id| Item::Atom(Atom::is(*id, fact.lenient));
        let is_not = |id: &Id| Item::Atom(Atom::is_not(*id));
        match (lit, fact.holds) {
            (Lit::Never, holds) => return !holds,
            (Lit::Type(types), holds) => {
                self.types &= if holds { *types } else { !types };
                return self.types != 0;
            }
            (Lit::Sub(id), true) | (Lit::Not(id), false) => {
                let lenient = fact.lenient && fact.holds;
                work.push(Item::Atom(Atom::is(*id, lenient)));
            }
            (Lit::Sub(id), false) | (Lit::Not(id), true) => work.push(is_not(id)),
            (Lit::AnyOf(ids), true) => {
                // A lenient sender may follow several alternatives, and then sends what any of them names.
                let is_wide = fact.lenient && self.kind == Kind::Object && (2..=MAX_TOGETHER).contains(&ids.len());
                let together = is_wide.then(|| ids.iter().map(is).collect());
                let branches = ids.iter().map(|id| vec![is(id)]).chain(together);
                self.open.push(Branches::choice(branches.collect()));
            }
            (Lit::AnyOf(ids), false) => work.extend(ids.iter().map(is_not)),
            (Lit::OneOf(ids), true) => {
                let (node, at) = (fact.node, fact.at);
                let mut branch = |only: usize| {
                    if fact.lenient && self.kind == Kind::Object && is_shadowed(engine, ids, only) {
                        engine.record_obstacle([node], || {
                            "an object with the names of one alternative of \"oneOf\" is valid for another, too"
                                .to_owned()
                        });
                        return vec![is(&ids[only])];
                    }
                    vec![Item::NoOtherBranch { node, at, only }, is(&ids[only])]
                };
                self.open.push(Branches::choice((0..ids.len()).map(&mut branch).collect()));
            }
            (Lit::OneOf(ids), false) => {
                let none = ids.iter().map(is_not).collect();
                let two = |first| vec![Item::AtLeastTwo { node: fact.node, at: fact.at, first }];
                self.open.push(Branches::choice([none].into_iter().chain((0..ids.len() - 1).map(two)).collect()));
            }
            (Lit::If(condition, then, other), true) => {
                let has_parts = matches!(self.kind, Kind::Array | Kind::Object);
                let named = (fact.lenient && has_parts).then(|| engine.table.names_of(*condition));
                let fails = [is_not(condition), is(other)].into_iter().chain(named.as_ref().map(is));
                self.open.push(Branches::choice(vec![vec![is(condition), is(then)], fails.collect()]));
            }
            (Lit::If(condition, then, other), false) => {
                let first = vec![Item::Atom(Atom::is(*condition, false)), is_not(then)];
                self.open.push(Branches::choice(vec![first, vec![is_not(condition), is_not(other)]]));
            }
            (Lit::Required(_) | Lit::DepRequired(..) | Lit::DepSchema(..) | Lit::Prop(..), _) => {
                self.add_member(lit, fact, work)
            }
            (Lit::Names(condition), true) => {
                self.facts.push(fact);
                if fact.lenient {
                    self.name_below(engine, *condition, work);
                }
            }
            (Lit::Names(_), false) => return false,
            (Lit::Enum(_), true) => {
                self.has_values = true;
                self.facts.push(fact);
            }
            (Lit::Enum(_), false) => {
                self.facts.push(fact);
                // Comes last: it is not needed if the values to try are listed, and takes much memory.
                work.insert(0, Item::Unlisted(fact));
            }
            (Lit::Opaque(name, _), _) => {
                let name = engine.table.words.text(*name);
                engine.record_obstacle([fact.node], || name.to_string());
                self.facts.push(fact);
            }
            (Lit::AddProp(names, patterns, id), true) if matches!(*engine.table.lits(*id), [Lit::Never]) => {
                self.facts.push(fact);
                let (names, patterns) = (names.iter().copied().collect(), patterns.iter().copied().collect());
                self.fences.push(Fence { names, patterns });
            }
            _ => self.facts.push(fact),
        }
        true
    }

    /// Adds the properties that a condition is about within the parts of the value.
    fn name_below(&mut self, engine: &mut Engine<'_>, condition: Id, work: &mut Vec<Item>) {
        for lit in engine.table.of_condition(condition) {
            match (self.kind, lit) {
                (Kind::Object, Lit::Prop(name, id)) if engine.names_properties(id) => {
                    let below = engine.table.names_of(id);
                    self.members.entry(name).or_default().push(Atom::is(below, true));
                }
                (Kind::Array, Lit::Items(_, id) | Lit::Item(_, id)) if engine.names_properties(id) => {
                    let below = engine.table.names_of(id);
                    let items = engine.table.node(vec![Lit::Items(0, below)]);
                    work.push(Item::Atom(Atom::is(items, true)));
                }
                _ => {}
            }
        }
    }

    /// Returns the nodes of the arrays and objects among some values, until the budget is spent.
    fn parted(&self, engine: &mut Engine<'_>, ids: &[u32]) -> Vec<Id> {
        let is_parted = |engine: &Engine<'_>, id: u32| {
            let value = &engine.table.words.values[id as usize];
            (value.is_array() || value.is_object()) && evaluate::type_of(value) & self.types != 0
        };
        let mut nodes = Vec::new();
        for id in ids {
            if engine.budget.spent().is_some() {
                break;
            }
            if is_parted(engine, *id) {
                nodes.push(engine.value_node(*id));
            }
        }
        nodes
    }

    /// Returns the limits that the facts set on the length of a string, or on the number of items or properties.
    pub fn limits(&self, engine: &Engine<'_>) -> Lengths {
        let mut limits = Lengths::default();
        for fact in &self.facts {
            let lits = engine.table.lits(fact.node);
            let (least, most) = match (&lits[fact.at], fact.holds) {
                (Lit::MinLength(n) | Lit::MinItems(n) | Lit::MinProps(n), true) => (*n, None),
                (Lit::MinLength(n) | Lit::MinItems(n) | Lit::MinProps(n), false) => (0, Some(n - 1)),
                (Lit::MaxLength(n) | Lit::MaxItems(n) | Lit::MaxProps(n), true) => (0, Some(*n)),
                (Lit::MaxLength(n) | Lit::MaxItems(n) | Lit::MaxProps(n), false) => (n.saturating_add(1), None),
                _ => continue,
            };
            limits = limits.and(Lengths { least, most });
        }
        limits
    }

    /// Returns whether the facts do not allow a property.
    pub fn is_barred(&self, engine: &mut Engine<'_>, name: Sym) -> bool {
        let is_full = self.most.is_some_and(|most| self.present.len() as u64 >= most);
        self.absent.contains(&name)
            || is_full && !self.present.contains(&name)
            || self.sent.as_ref().is_some_and(|fence| fence.excludes(engine, name))
            || self.fences.iter().any(|fence| fence.excludes(engine, name))
    }

    /// Adds a literal about one property.
    fn add_member(&mut self, lit: &Lit, fact: Fact, work: &mut Vec<Item>) {
        let is = |id: &Id| Item::Atom(Atom::is(*id, fact.lenient));
        let is_not = |id: &Id| Item::Atom(Atom::is_not(*id));
        match (lit, fact.holds) {
            (Lit::Required(name), true) => {
                self.facts.push(fact);
                work.push(Item::Present(*name));
            }
            (Lit::Required(name), false) => work.push(Item::Absent(*name)),
            (Lit::DepRequired(name, names), true) => {
                self.facts.push(fact);
                if !names.is_empty() {
                    let all = names.iter().map(|name| Item::Present(*name)).collect();
                    self.open.push(Branches::choice(vec![vec![Item::Absent(*name)], all]));
                }
            }
            (Lit::DepRequired(name, names), false) => {
                work.push(Item::Present(*name));
                self.open.push(Branches::choice(names.iter().map(|name| vec![Item::Absent(*name)]).collect()));
            }
            (Lit::DepSchema(name, id), true) => {
                self.facts.push(fact);
                // A lenient sender sends what the schema names only together with the property.
                let beside = fact.lenient.then_some(Item::Present(*name));
                let holds = beside.into_iter().chain([is(id)]).collect();
                self.open.push(Branches::choice(vec![vec![Item::Absent(*name)], holds]));
            }
            (Lit::DepSchema(name, id), false) => work.extend([Item::Present(*name), is_not(id)]),
            (Lit::Prop(name, id), true) => {
                self.facts.push(fact);
                self.members.entry(*name).or_default().push(Atom::is(*id, fact.lenient));
            }
            (Lit::Prop(name, id), false) => {
                self.facts.push(fact);
                self.members.entry(*name).or_default().push(Atom::is_not(*id));
                work.push(Item::Present(*name));
            }
            _ => {}
        }
    }
}
