//! A goal for one type of value, taken apart: literals on the one hand, choices on the other.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::evaluate;
use super::node::{self, Id, Lit, Sym};
use super::prove::{Answer, Atom, Engine};

/// The kinds of values that are searched one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];

    pub(super) fn types(self) -> u8 {
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

/// One thing that is asked of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    Atom(Atom),
    /// A literal of a node: which, whether it must hold, and whether it is read leniently.
    Lit {
        node: Id,
        at: usize,
        holds: bool,
        lenient: bool,
    },
    Present(Sym),
    Absent(Sym),
    /// Two branches of this `oneOf` hold, and this is the first of them.
    Two {
        node: Id,
        at: usize,
        first: usize,
    },
    /// A branch of a `oneOf` that must not hold, looked at only where it matters.
    Unless(Id),
}

type Choice = Rc<Vec<Vec<Item>>>;

/// A literal that concerns the kind of value that is searched.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) node: Id,
    pub(super) at: usize,
    pub(super) holds: bool,
    pub(super) lenient: bool,
}

const HOLDS: u8 = 1;
const LENIENT: u8 = 2;
const REFUSED: u8 = 4;
const UNLESS: u8 = 8;

/// Where a search stands: what was asked, and what is still to be chosen.
#[derive(Clone)]
pub(super) struct State {
    pub(super) kind: Kind,
    pub(super) types: u8,
    pub(super) goal: Rc<[Atom]>,
    pub(super) facts: Vec<Fact>,
    pub(super) present: BTreeSet<Sym>,
    pub(super) absent: BTreeSet<Sym>,
    /// What the members must satisfy, by name.
    pub(super) members: HashMap<Sym, Vec<Atom>>,
    has_values: bool,
    seen: HashMap<Id, u8>,
    open: Vec<Choice>,
}

/// What a branch would change.
#[derive(PartialEq, Eq)]
enum Outlook {
    Closed,
    Open,
    Given,
}

impl State {
    pub(super) fn new(kind: Kind, types: u8, goal: Rc<[Atom]>) -> Self {
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
        }
    }

    /// Adds atoms and all that follows from them; false if they contradict what is there.
    pub(super) fn settle(&mut self, engine: &mut Engine<'_>, atoms: impl Iterator<Item = Atom>) -> bool {
        let mut work: Vec<_> = atoms.map(Item::Atom).collect();
        work.reverse();
        self.add(engine, work)
    }

    fn add(&mut self, engine: &mut Engine<'_>, mut work: Vec<Item>) -> bool {
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
            Item::Unless(id) => {
                let seen = self.seen.entry(id).or_default();
                *seen |= UNLESS;
                *seen & HOLDS == 0
            }
            Item::Present(name) => {
                self.present.insert(name);
                !self.absent.contains(&name)
            }
            Item::Absent(name) => {
                self.absent.insert(name);
                !self.present.contains(&name)
            }
            Item::Two { node, at, first } => {
                let lits = engine.table.lits(node);
                let Lit::OneOf(ids) = &lits[at] else { return true };
                work.push(Item::Atom(Atom::is(ids[first], false)));
                let rest = ids[first + 1..].iter().map(|id| vec![Item::Atom(Atom::is(*id, false))]).collect();
                self.open.push(Rc::new(rest));
                true
            }
            Item::Lit { node, at, holds, lenient } => {
                let lits = engine.table.lits(node);
                let lit = &lits[at];
                if lit.kinds() & self.kind.types() == 0 {
                    return holds;
                }
                if !holds && !engine.masked.is_empty() && engine.masked.contains(&(node, lit.clone())) {
                    return false;
                }
                self.add_lit(engine, lit, &Fact { node, at, holds, lenient }, work)
            }
        }
    }

    fn add_node(&mut self, engine: &mut Engine<'_>, atom: Atom, work: &mut Vec<Item>) -> bool {
        let seen = self.seen.entry(atom.id()).or_default();
        if *seen & (REFUSED | UNLESS) != 0 {
            return false;
        }
        let is_known = *seen & HOLDS != 0 && (!atom.is_lenient() || *seen & LENIENT != 0);
        *seen |= HOLDS | if atom.is_lenient() { LENIENT } else { 0 };
        if is_known {
            return true;
        }
        let count = engine.table.lits(atom.id()).len();
        let lit = |at| Item::Lit { node: atom.id(), at, holds: true, lenient: atom.is_lenient() };
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
        let lit = |at| Item::Lit { node: id, at, holds: false, lenient: false };
        match count {
            0 => return false,
            1 => work.push(lit(0)),
            _ => self.open.push(Rc::new((0..count).map(|at| vec![lit(at)]).collect())),
        }
        true
    }

    fn add_lit(&mut self, engine: &mut Engine<'_>, lit: &Lit, fact: &Fact, work: &mut Vec<Item>) -> bool {
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
            (Lit::AnyOf(ids), true) => self.open.push(Rc::new(ids.iter().map(|id| vec![is(id)]).collect())),
            (Lit::AnyOf(ids), false) => work.extend(ids.iter().map(is_not)),
            (Lit::OneOf(ids), true) => {
                let branch = |at: usize| {
                    let others = ids.iter().enumerate().filter(|(other, _)| *other != at);
                    others.map(|(_, id)| Item::Unless(*id)).chain([is(&ids[at])]).collect()
                };
                self.open.push(Rc::new((0..ids.len()).map(branch).collect()));
            }
            (Lit::OneOf(ids), false) => {
                let none = ids.iter().map(is_not).collect();
                let two = |first| vec![Item::Two { node: fact.node, at: fact.at, first }];
                self.open.push(Rc::new([none].into_iter().chain((0..ids.len() - 1).map(two)).collect()));
            }
            (Lit::If(condition, then, other), true) => {
                self.open.push(Rc::new(vec![vec![is(condition), is(then)], vec![is_not(condition), is(other)]]));
            }
            (Lit::If(condition, then, other), false) => {
                let first = vec![Item::Atom(Atom::is(*condition, false)), is_not(then)];
                self.open.push(Rc::new(vec![first, vec![is_not(condition), is_not(other)]]));
            }
            (Lit::Required(name), true) => {
                self.facts.push(fact.clone());
                work.push(Item::Present(*name));
            }
            (Lit::Required(name), false) => work.push(Item::Absent(*name)),
            (Lit::DepRequired(name, names), true) => {
                self.facts.push(fact.clone());
                if !names.is_empty() {
                    let all = names.iter().map(|name| Item::Present(*name)).collect();
                    self.open.push(Rc::new(vec![vec![Item::Absent(*name)], all]));
                }
            }
            (Lit::DepRequired(name, names), false) => {
                work.push(Item::Present(*name));
                self.open.push(Rc::new(names.iter().map(|name| vec![Item::Absent(*name)]).collect()));
            }
            (Lit::DepSchema(name, id), true) => {
                self.facts.push(fact.clone());
                self.open.push(Rc::new(vec![vec![Item::Absent(*name)], vec![is(id)]]));
            }
            (Lit::DepSchema(name, id), false) => work.extend([Item::Present(*name), is_not(id)]),
            (Lit::Prop(name, id), true) => {
                self.facts.push(fact.clone());
                self.members.entry(*name).or_default().push(Atom::is(*id, fact.lenient));
            }
            (Lit::Prop(name, id), false) => {
                self.facts.push(fact.clone());
                self.members.entry(*name).or_default().push(Atom::is_not(*id));
                work.push(Item::Present(*name));
            }
            (Lit::Enum(_), true) => {
                self.has_values = true;
                self.facts.push(fact.clone());
            }
            (Lit::Enum(ids), false) => {
                self.facts.push(fact.clone());
                for id in ids {
                    let value = &engine.table.words.values[*id as usize];
                    if (value.is_array() || value.is_object()) && evaluate::type_of(value) & self.types != 0 {
                        let node = engine.value_node(*id);
                        work.push(Item::Atom(Atom::is_not(node)));
                    }
                }
            }
            (Lit::Opaque(name), _) => {
                let name = engine.table.words.text(*name);
                engine.hinder(|| name.to_string());
                self.facts.push(fact.clone());
            }
            _ => self.facts.push(fact.clone()),
        }
        true
    }

    /// Decides the goal from here: chooses while there are choices, then builds a value.
    pub(super) fn solve(mut self, engine: &mut Engine<'_>) -> Answer {
        if !engine.budget.step() {
            return Answer::Unsure;
        }
        if !self.simplify(engine, false) {
            return Answer::Empty;
        }
        if self.has_values
            && let Some(answer) = self.named_values(engine)
        {
            return answer;
        }
        if self.open.len() > 1 && !self.simplify(engine, true) {
            return Answer::Empty;
        }
        // What must hold first: it tells what must not hold apart.
        let rank = |choice: &Choice| (!is_about_what_holds(choice), choice.len());
        let Some(at) = (0..self.open.len()).min_by_key(|at| rank(&self.open[*at])) else {
            return self.build(engine);
        };
        if let Some(answer) = self.look_ahead(engine) {
            return answer;
        }
        let choice = self.open.swap_remove(at);
        let mut best = Answer::Empty;
        for branch in choice.iter() {
            let mut next = self.clone();
            if next.add(engine, branch.iter().rev().copied().collect()) {
                best = best.or(next.solve(engine));
            }
            if matches!(best, Answer::One(_)) || engine.budget.spent().is_some() {
                break;
            }
        }
        best
    }

    /// Drops branches that contradict what is there, and choices that are made; false if one has
    /// no branch left.
    fn simplify(&mut self, engine: &mut Engine<'_>, deeply: bool) -> bool {
        loop {
            let mut work = Vec::new();
            let mut kept = Vec::with_capacity(self.open.len());
            for choice in std::mem::take(&mut self.open) {
                let outlooks: Vec<_> = choice.iter().map(|branch| self.outlook(engine, branch, deeply)).collect();
                if outlooks.contains(&Outlook::Given) {
                    continue;
                }
                let left: Vec<_> = (0..choice.len()).filter(|at| outlooks[*at] == Outlook::Open).collect();
                match left[..] {
                    [] => return false,
                    [only] => work.extend(choice[only].iter().copied()),
                    _ if left.len() == choice.len() => kept.push(choice),
                    _ => kept.push(Rc::new(left.into_iter().map(|at| choice[at].clone()).collect())),
                }
            }
            self.open.append(&mut kept);
            if work.is_empty() {
                return true;
            }
            work.reverse();
            if !self.add(engine, work) {
                return false;
            }
        }
    }

    fn outlook(&self, engine: &mut Engine<'_>, branch: &[Item], deeply: bool) -> Outlook {
        let mut all = Outlook::Given;
        for item in branch {
            match self.outlook_of(engine, *item, deeply) {
                Outlook::Closed => return Outlook::Closed,
                Outlook::Open => all = Outlook::Open,
                Outlook::Given => {}
            }
        }
        all
    }

    fn outlook_of(&self, engine: &mut Engine<'_>, item: Item, deeply: bool) -> Outlook {
        let seen = |id: Id| self.seen.get(&id).copied().unwrap_or_default();
        match item {
            Item::Atom(atom) if atom.holds() => {
                let known = seen(atom.id());
                if known & (REFUSED | UNLESS) != 0 || self.is_disjoint(engine, atom.id()) {
                    Outlook::Closed
                } else if known & HOLDS != 0 && (!atom.is_lenient() || known & LENIENT != 0) {
                    Outlook::Given
                } else {
                    Outlook::Open
                }
            }
            Item::Atom(atom) => {
                let known = seen(atom.id());
                if known & HOLDS != 0 || engine.table.is_true(atom.id()) {
                    Outlook::Closed
                } else if known & REFUSED != 0 || self.is_disjoint(engine, atom.id()) {
                    Outlook::Given
                } else {
                    Outlook::Open
                }
            }
            Item::Unless(id) if seen(id) & HOLDS != 0 => Outlook::Closed,
            Item::Unless(id) if seen(id) & (UNLESS | REFUSED) != 0 => Outlook::Given,
            Item::Unless(_) => Outlook::Open,
            Item::Present(name) if self.absent.contains(&name) => Outlook::Closed,
            Item::Present(name) if self.present.contains(&name) => Outlook::Given,
            Item::Absent(name) if self.present.contains(&name) => Outlook::Closed,
            Item::Absent(name) if self.absent.contains(&name) => Outlook::Given,
            Item::Two { node, at, first } => {
                let lits = engine.table.lits(node);
                let Lit::OneOf(ids) = &lits[at] else { return Outlook::Open };
                self.outlook_of(engine, Item::Atom(Atom::is(ids[first], false)), false).open_if_given()
            }
            Item::Lit { node, at, holds, .. } => self.outlook_of_lit(engine, node, at, holds, deeply),
            _ => Outlook::Open,
        }
    }

    fn outlook_of_lit(&self, engine: &mut Engine<'_>, node: Id, at: usize, holds: bool, deeply: bool) -> Outlook {
        let lits = engine.table.lits(node);
        let lit = &lits[at];
        if lit.kinds() & self.kind.types() == 0 {
            return if holds { Outlook::Given } else { Outlook::Closed };
        }
        if holds {
            return Outlook::Open;
        }
        if !engine.masked.is_empty() && engine.masked.contains(&(node, lit.clone())) {
            return Outlook::Closed;
        }
        match lit {
            Lit::Never => Outlook::Given,
            Lit::Type(types) if self.types & !types == 0 => Outlook::Closed,
            Lit::Type(types) if self.types & types == 0 => Outlook::Given,
            Lit::Sub(id) => self.outlook_of(engine, Item::Atom(Atom::is_not(*id)), deeply),
            Lit::Not(id) => self.outlook_of(engine, Item::Atom(Atom::is(*id, false)), deeply),
            Lit::Required(name) => self.outlook_of(engine, Item::Absent(*name), deeply),
            Lit::Prop(name, _) if self.absent.contains(name) => Outlook::Closed,
            Lit::Prop(_, id) if engine.table.is_true(*id) => Outlook::Closed,
            Lit::Prop(name, id) => self.outlook_of_member(engine, *name, *id, deeply),
            _ => Outlook::Open,
        }
    }

    /// A member that must not satisfy `id`: can it, and must it?
    fn outlook_of_member(&self, engine: &mut Engine<'_>, name: Sym, id: Id, deeply: bool) -> Outlook {
        let known = self.members.get(&name).map(Vec::as_slice).unwrap_or_default();
        if self.present.contains(&name) && are_apart(engine, known, id) {
            return Outlook::Given;
        }
        if deeply {
            let goal = known.iter().copied().chain([Atom::is_not(id)]).collect();
            if engine.goal(goal).is_empty() {
                return Outlook::Closed;
            }
        }
        Outlook::Open
    }

    /// Returns whether no value of this state satisfies the node, as far as that is plain.
    fn is_disjoint(&self, engine: &mut Engine<'_>, id: Id) -> bool {
        let summary = engine.summary(id);
        if summary.types & self.types == 0 {
            return true;
        }
        if self.kind != Kind::Object {
            return false;
        }
        if summary.required.iter().any(|name| self.absent.contains(name)) {
            return true;
        }
        summary.members.iter().any(|(name, member)| {
            let is_there = self.present.contains(name) || summary.required.contains(name);
            is_there && self.members.get(name).is_some_and(|known| are_apart(engine, known, *member))
        })
    }

    /// Where the values are named, tries each.
    fn named_values(&self, engine: &mut Engine<'_>) -> Option<Answer> {
        let mut named: Option<BTreeSet<u32>> = None;
        for fact in &self.facts {
            if let (Lit::Enum(ids), true) = (&engine.table.lits(fact.node)[fact.at], fact.holds) {
                let ids: BTreeSet<_> = ids.iter().copied().collect();
                named = Some(named.map_or(ids.clone(), |named| named.intersection(&ids).copied().collect()));
            }
        }
        let mut unsure = None;
        for id in named? {
            let value = engine.table.words.values[id as usize].clone();
            for value in evaluate::spellings(&value) {
                if evaluate::type_of(&value) & self.types == 0 {
                    continue;
                }
                match engine.check(&self.goal, &value) {
                    Some(true) => return Some(Answer::One(Rc::new(value))),
                    Some(false) => {}
                    None => drop(unsure.get_or_insert(value)),
                }
            }
        }
        match unsure {
            None => Some(Answer::Empty),
            Some(_) if !self.open.is_empty() => None,
            Some(value) => Some(Answer::Maybe(Rc::new(value))),
        }
    }

    /// Looks at the facts alone: if nothing satisfies them no choice helps, and the value that does
    /// may satisfy the rest by chance.
    fn look_ahead(&self, engine: &mut Engine<'_>) -> Option<Answer> {
        let obstacle = engine.obstacle.clone();
        let found = self.value(engine);
        engine.obstacle = obstacle;
        match found {
            Answer::Empty => Some(Answer::Empty),
            Answer::One(value) if !self.goal.iter().any(|atom| atom.is_lenient()) => {
                (engine.check(&self.goal, &value) == Some(true)).then_some(Answer::One(value))
            }
            _ => None,
        }
    }

    /// Returns a value that is as the facts ask, whatever is still to be chosen.
    fn value(&self, engine: &mut Engine<'_>) -> Answer {
        match self.kind {
            Kind::Null | Kind::Boolean => self.plain(engine),
            Kind::Number => self.number(engine),
            Kind::String => self.string(engine),
            Kind::Array => self.array(engine),
            Kind::Object => self.object(engine),
        }
    }

    /// Returns whether all is chosen.
    pub(super) fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Builds a value of the facts, where all is chosen.
    fn build(self, engine: &mut Engine<'_>) -> Answer {
        let obstacle = engine.obstacle.clone();
        let found = self.value(engine);
        let value = match found {
            Answer::Empty => return Answer::Empty,
            Answer::Unsure => return self.without_unless(engine, obstacle).unwrap_or(Answer::Unsure),
            Answer::One(value) | Answer::Maybe(value) => value,
        };
        match engine.check(&self.goal, &value) {
            Some(true) => Answer::One(value),
            verdict => match self.without_unless(engine, obstacle) {
                Some(answer) => answer,
                None if verdict.is_none() => Answer::Maybe(value),
                None => Answer::Unsure,
            },
        }
    }

    /// Decides again with every other branch of a chosen `oneOf` refused in full.
    fn without_unless(&self, engine: &mut Engine<'_>, obstacle: Option<String>) -> Option<Answer> {
        let mut others: Vec<_> = self
            .seen
            .iter()
            .filter(|(_, seen)| **seen & UNLESS != 0 && **seen & REFUSED == 0)
            .map(|(id, _)| *id)
            .collect();
        others.sort_unstable();
        if others.is_empty() {
            return None;
        }
        let mut next = self.clone();
        let is_open = next.settle(engine, others.into_iter().map(Atom::is_not));
        engine.obstacle = obstacle;
        Some(if is_open { next.solve(engine) } else { Answer::Empty })
    }
}

impl Outlook {
    fn open_if_given(self) -> Self {
        if self == Self::Given { Self::Open } else { self }
    }
}

/// Returns whether a choice is between schemas that must hold.
fn is_about_what_holds(choice: &[Vec<Item>]) -> bool {
    choice.iter().flatten().any(|item| matches!(item, Item::Atom(atom) if atom.holds()))
}

/// Returns whether no value satisfies both what is known and `id`, as far as that is plain.
fn are_apart(engine: &mut Engine<'_>, known: &[Atom], id: Id) -> bool {
    let other = engine.summary(id);
    let mut types = other.types;
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
    }
    false
}
