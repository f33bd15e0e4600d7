//! Builds objects: properties by name, and any other name by the combination of patterns that it matches.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::evaluate;
use super::flatten::State;
use super::node::{self, Id, Lit, Sym};
use super::prove::{Answer, Atom, Engine};

/// The number of patterns up to which all combinations are tried without checking that a name exists.
const FEW_PATTERNS: usize = 4;
/// The maximum number of combinations that are tried.
const MOST_CLASSES: usize = 200;
/// The maximum number of properties that are added to satisfy a `minProperties`.
const MOST_FILLED: u64 = 10_000;

/// Names, patterns, and the demand on properties that are covered by neither.
type Rest = (Box<[Sym]>, Box<[Sym]>, Atom);

/// The demands of the facts on an object.
struct Shape {
    least: u64,
    most: Option<u64>,
    /// The demands on properties whose name matches a pattern.
    matching: Vec<(Sym, Atom)>,
    /// The demands on properties that are neither named nor matched.
    others: Vec<Rest>,
    names: Vec<Atom>,
    /// Properties that must exist somewhere.
    wanted: Vec<Wanted>,
    /// The names and patterns outside of which a lenient writer sends nothing.
    closed: Option<(BTreeSet<Sym>, BTreeSet<Sym>)>,
    /// All names that the facts mention.
    known: BTreeSet<Sym>,
    patterns: Vec<Sym>,
}

enum Wanted {
    Matching(Sym, Atom),
    Other(Box<[Sym]>, Box<[Sym]>, Atom),
    Named(Atom),
}

/// A possible name of a property: one that the facts mention, or any name of a class.
enum Slot {
    Name(Sym),
    Class(Vec<bool>),
}

/// An object under construction.
#[derive(Default)]
struct Draft {
    values: BTreeMap<Sym, Rc<Value>>,
    extra: BTreeMap<Sym, Vec<Atom>>,
    maybe: bool,
    unsure: bool,
}

impl State {
    pub(super) fn object(&self, engine: &mut Engine<'_>) -> Answer {
        let shape = self.shape(engine);
        if shape.most.is_some_and(|most| shape.least > most || self.present.len() as u64 > most) {
            return Answer::Empty;
        }
        let mut draft = Draft::default();
        for name in &self.present {
            let Some(goal) = self.member(engine, &shape, *name) else { return Answer::Empty };
            match engine.goal(goal) {
                Answer::Empty => return Answer::Empty,
                found => draft.put(*name, found),
            }
        }
        for wanted in &shape.wanted {
            if !self.place(engine, &shape, wanted, &mut draft) {
                return Answer::Empty;
            }
        }
        if !self.fill(engine, &shape, &mut draft) {
            return Answer::Empty;
        }
        if draft.unsure {
            return Answer::Undecided;
        }
        let text = |name: &Sym| engine.table.words.text(*name).to_string();
        let members: Map<_, _> = draft.values.iter().map(|(name, value)| (text(name), (**value).clone())).collect();
        let value = Rc::new(Value::Object(members));
        if draft.maybe { Answer::PossibleWitness(value) } else { Answer::Witness(value) }
    }

    fn shape(&self, engine: &Engine<'_>) -> Shape {
        let mut shape = Shape {
            least: 0,
            most: None,
            matching: Vec::new(),
            others: Vec::new(),
            names: Vec::new(),
            wanted: Vec::new(),
            closed: None,
            known: self.members.keys().chain(&self.present).chain(&self.absent).copied().collect(),
            patterns: Vec::new(),
        };
        let lower = |most: &mut Option<u64>, n: u64| *most = Some(most.map_or(n, |most| most.min(n)));
        for fact in &self.facts {
            let atom = |id: Id| if fact.holds { Atom::is(id, fact.lenient) } else { Atom::is_not(id) };
            match (&engine.table.lits(fact.node)[fact.at], fact.holds) {
                (Lit::MinProps(n), true) => shape.least = shape.least.max(*n),
                (Lit::MinProps(n), false) => lower(&mut shape.most, n - 1),
                (Lit::MaxProps(n), true) => lower(&mut shape.most, *n),
                (Lit::MaxProps(n), false) => shape.least = shape.least.max(n.saturating_add(1)),
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
        // An open choice may name more properties.
        shape.closed = if self.is_settled() { self.named(engine) } else { None };
        if let Some((names, patterns)) = &shape.closed {
            shape.known.extend(names);
            shape.patterns.extend(patterns);
        }
        shape.patterns.sort_unstable();
        shape.patterns.dedup();
        shape
    }

    /// Returns the names and patterns outside of which a lenient writer sends nothing.
    fn named(&self, engine: &Engine<'_>) -> Option<(BTreeSet<Sym>, BTreeSet<Sym>)> {
        let (mut names, mut patterns, mut is_closed) = (BTreeSet::new(), BTreeSet::new(), false);
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
                // These keywords allow further properties explicitly.
                Lit::AddProp(..) | Lit::Enum(_) => return None,
                _ => {}
            }
        }
        is_closed.then_some((names, patterns))
    }

    /// Returns the demands on the property with this name, or `None` if the property is not allowed.
    fn member(&self, engine: &mut Engine<'_>, shape: &Shape, name: Sym) -> Option<Vec<Atom>> {
        if self.absent.contains(&name) {
            return None;
        }
        let text = engine.table.words.text(name);
        let value = Value::String(text.to_string());
        for atom in &shape.names {
            if evaluate::holds(&mut engine.table, atom.id(), &value) == Some(false) {
                return None;
            }
        }
        let mut matches = |pattern: &Sym| engine.table.words.matches(*pattern, &text) == Some(true);
        if let Some((names, patterns)) = &shape.closed
            && !names.contains(&name)
            && !patterns.iter().any(&mut matches)
        {
            return None;
        }
        let mut goal = self.members.get(&name).cloned().unwrap_or_default();
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
    fn class_member(shape: &Shape, signs: &[bool]) -> Option<Vec<Atom>> {
        let matches = |pattern: &Sym| shape.patterns.binary_search(pattern).is_ok_and(|at| signs[at]);
        if let Some((_, patterns)) = &shape.closed
            && !patterns.iter().any(matches)
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
    fn fresh(shape: &Shape, engine: &mut Engine<'_>, signs: &[bool], more: Option<Atom>, draft: &Draft) -> Answer {
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

    /// Returns every combination of patterns that an unknown name can match.
    fn classes(engine: &mut Engine<'_>, shape: &Shape, draft: &mut Draft) -> Vec<Vec<bool>> {
        let mut classes = vec![Vec::new()];
        for at in 0..shape.patterns.len() {
            let both = classes.into_iter().flat_map(|signs: Vec<bool>| {
                [false, true].map(|sign| signs.iter().copied().chain([sign]).collect::<Vec<_>>())
            });
            classes = both.collect();
            if at >= FEW_PATTERNS {
                classes.retain(|signs| {
                    let names = Self::names(shape, engine, signs);
                    !engine.goal(names).is_empty()
                });
            }
            if classes.len() > MOST_CLASSES {
                draft.unsure = true;
                classes.truncate(MOST_CLASSES);
            }
        }
        classes
    }

    /// Returns the demands on a name that matches the patterns in this combination.
    fn names(shape: &Shape, engine: &mut Engine<'_>, signs: &[bool]) -> Vec<Atom> {
        let mut goal = shape.names.clone();
        for (pattern, sign) in shape.patterns.iter().zip(signs) {
            let node = engine.table.node(vec![Lit::Pattern(*pattern)]);
            goal.push(if *sign { Atom::is(node, false) } else { Atom::is_not(node) });
        }
        let text = engine.table.node(vec![Lit::Type(node::STRING)]);
        goal.push(Atom::is(text, false));
        goal
    }

    /// Adds a property that a fact requires. Returns false if that is impossible.
    fn place(&self, engine: &mut Engine<'_>, shape: &Shape, wanted: &Wanted, draft: &mut Draft) -> bool {
        let unsure_before = draft.unsure;
        let slots: Vec<_> = shape.known.iter().map(|name| Slot::Name(*name)).collect();
        let classes = Self::classes(engine, shape, draft);
        let is_full = |draft: &Draft| shape.most.is_some_and(|most| draft.values.len() as u64 >= most);
        let mut is_possible = false;
        for slot in slots.into_iter().chain(classes.into_iter().map(Slot::Class)) {
            let Some((goal, named)) = self.goal_in(engine, shape, wanted, &slot) else { continue };
            let found = engine.goal(goal.clone());
            if found.is_empty() {
                continue;
            }
            let name = match slot {
                Slot::Name(name) => {
                    let is_new = !draft.values.contains_key(&name) && !self.present.contains(&name);
                    if is_new && is_full(draft) {
                        is_possible |= draft.values.len() > self.present.len();
                        continue;
                    }
                    name
                }
                Slot::Class(signs) => {
                    if is_full(draft) {
                        is_possible |= draft.values.len() > self.present.len();
                        continue;
                    }
                    match Self::fresh(shape, engine, &signs, named, draft) {
                        Answer::Empty => continue,
                        Answer::Witness(name) | Answer::PossibleWitness(name) => {
                            engine.table.words.symbol(name.as_str().unwrap_or_default())
                        }
                        Answer::Undecided => {
                            is_possible = true;
                            continue;
                        }
                    }
                }
            };
            is_possible = true;
            let extra: Vec<_> = draft.extra.get(&name).into_iter().flatten().copied().chain(goal).collect();
            match engine.goal(extra.clone()) {
                found @ (Answer::Witness(_) | Answer::PossibleWitness(_)) => {
                    draft.extra.insert(name, extra);
                    draft.unsure = unsure_before;
                    draft.put(name, found);
                    return true;
                }
                _ => continue,
            }
        }
        draft.unsure |= is_possible;
        draft.unsure
    }

    /// Returns the demands on a required property in a slot, and on its name.
    fn goal_in(
        &self,
        engine: &mut Engine<'_>,
        shape: &Shape,
        wanted: &Wanted,
        slot: &Slot,
    ) -> Option<(Vec<Atom>, Option<Atom>)> {
        let mut goal = match slot {
            Slot::Name(name) => self.member(engine, shape, *name)?,
            Slot::Class(signs) => Self::class_member(shape, signs)?,
        };
        let matches = |engine: &mut Engine<'_>, pattern: &Sym| match slot {
            Slot::Name(name) => {
                let text = engine.table.words.text(*name);
                engine.table.words.matches(*pattern, &text) == Some(true)
            }
            Slot::Class(signs) => shape.patterns.binary_search(pattern).is_ok_and(|at| signs[at]),
        };
        match wanted {
            Wanted::Matching(pattern, atom) => {
                if !matches(engine, pattern) {
                    return None;
                }
                goal.push(*atom);
            }
            Wanted::Other(names, patterns, atom) => {
                let is_named = matches!(slot, Slot::Name(name) if names.binary_search(name).is_ok());
                if is_named || patterns.iter().any(|pattern| matches(engine, pattern)) {
                    return None;
                }
                goal.push(*atom);
            }
            Wanted::Named(atom) => match slot {
                Slot::Name(name) => {
                    let text = Value::String(engine.table.words.text(*name).to_string());
                    if evaluate::holds(&mut engine.table, atom.id(), &text) == Some(true) {
                        return None;
                    }
                }
                Slot::Class(_) => return Some((goal, Some(*atom))),
            },
        }
        Some((goal, None))
    }

    /// Adds properties until there are enough. Returns false if that is impossible.
    fn fill(&self, engine: &mut Engine<'_>, shape: &Shape, draft: &mut Draft) -> bool {
        let count = |draft: &Draft| draft.values.len().max(self.present.len()) as u64;
        if shape.least <= count(draft) {
            return true;
        }
        if shape.least > MOST_FILLED {
            draft.unsure = true;
            return true;
        }
        let mut is_sure = !draft.unsure;
        for name in &shape.known {
            if count(draft) >= shape.least {
                return true;
            }
            if draft.values.contains_key(name) {
                continue;
            }
            let Some(goal) = self.member(engine, shape, *name) else { continue };
            match engine.goal(goal) {
                Answer::Empty => {}
                Answer::Undecided => is_sure = false,
                found => draft.put(*name, found),
            }
        }
        let unsure_before = draft.unsure;
        for signs in Self::classes(engine, shape, draft) {
            let Some(goal) = Self::class_member(shape, &signs) else { continue };
            let found = engine.goal(goal);
            if found.is_empty() {
                continue;
            }
            while count(draft) < shape.least {
                match Self::fresh(shape, engine, &signs, None, draft) {
                    Answer::Witness(name) | Answer::PossibleWitness(name) => {
                        let name = engine.table.words.symbol(name.as_str().unwrap_or_default());
                        draft.put(name, found.clone());
                    }
                    Answer::Empty => break,
                    Answer::Undecided => {
                        is_sure = false;
                        break;
                    }
                }
                if matches!(found, Answer::Undecided) || engine.budget.spent().is_some() {
                    is_sure = false;
                    break;
                }
            }
        }
        if count(draft) >= shape.least {
            draft.unsure = unsure_before;
            return true;
        }
        let is_impossible = is_sure && !draft.unsure;
        draft.unsure = true;
        !is_impossible
    }
}

impl Draft {
    fn put(&mut self, name: Sym, found: Answer) {
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
