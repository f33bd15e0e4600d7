//! Builds objects: the required properties, then those that must exist somewhere, then others until there are enough.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::engine::{Answer, Atom, Engine};
use super::flatten::State;
use super::shape::{Draft, Shape, Slot, Wanted};
use crate::model::compatibility::{evaluate, graph::node::Sym};

/// The maximum number of times that required properties are placed elsewhere.
const MAX_PLACINGS: usize = 30;
/// The maximum number of properties that are added to satisfy a `minProperties`.
const MAX_FILLED: u64 = 70_000;

/// The result of adding a property.
enum Placed {
    In(Draft),
    Nowhere,
    Undecided,
}

impl State {
    pub fn object(&self, engine: &mut Engine<'_>) -> Answer {
        let shape = self.shape(engine);
        if shape.most.is_some_and(|most| shape.least > most || self.present.len() as u64 > most) {
            return Answer::Empty;
        }
        let mut draft = Draft::default();
        for name in &self.present {
            let Some(goal) = self.member(engine, &shape, *name) else { return Answer::Empty };
            if engine.budget.spent().is_some() {
                return Answer::Undecided;
            }
            match engine.goal(goal) {
                Answer::Empty => return Answer::Empty,
                found => draft.put(*name, found),
            }
        }
        let mut tries = shape.wanted.len();
        let mut found = self.place_all(engine, &shape, &shape.wanted, draft.clone(), &mut tries);
        if found.as_ref().is_some_and(|found| found.unsure) && shape.wanted.len() > 1 && !draft.unsure {
            if !shape.wanted.iter().all(|wanted| self.has_place(engine, &shape, wanted)) {
                return Answer::Empty;
            }
            let mut tries = shape.wanted.len() + MAX_PLACINGS;
            found = self.place_all(engine, &shape, &shape.wanted, draft, &mut tries);
        }
        let Some(draft) = found else {
            // A name that satisfies several of the demands on names might exist, but was not tried.
            let names = shape.wanted.iter().filter(|wanted| matches!(wanted, Wanted::Named(_))).count();
            return if shape.most.is_some() && names > 1 { Answer::Undecided } else { Answer::Empty };
        };
        if draft.unsure {
            return Answer::Undecided;
        }
        let text = |name: &Sym| engine.table.words.text(*name).to_string();
        let members: Map<_, _> = draft.values.iter().map(|(name, value)| (text(name), (**value).clone())).collect();
        let value = Rc::new(Value::Object(members));
        if draft.maybe { Answer::PossibleWitness(value) } else { Answer::Witness(value) }
    }

    /// Returns whether there may be a place for a property that a fact requires, regardless of the others.
    fn has_place(&self, engine: &mut Engine<'_>, shape: &Shape, wanted: &Wanted) -> bool {
        let names = shape.known.iter().map(|name| Slot::Name(*name));
        let (classes, is_complete) = Self::classes(engine, shape, Some(wanted));
        let mut slots = names.chain(classes.into_iter().map(Slot::Class));
        !is_complete
            || slots.any(|slot| match self.goal_in(engine, shape, wanted, &slot) {
                None => false,
                Some((goal, _)) => !engine.goal(goal).is_empty(),
            })
    }

    /// Adds all properties that the facts require, then others until there are enough. Returns `None` if that is
    /// impossible, and an unsure draft if it was not decided.
    fn place_all(
        &self,
        engine: &mut Engine<'_>,
        shape: &Shape,
        wanted: &[Wanted],
        draft: Draft,
        tries: &mut usize,
    ) -> Option<Draft> {
        let Some((first, rest)) = wanted.split_first() else {
            let mut draft = draft;
            return self.fill(engine, shape, &mut draft).then_some(draft);
        };
        let mut unsure = None;
        let names: BTreeSet<Sym> = shape.known.iter().chain(draft.values.keys()).copied().collect();
        let slots = names.into_iter().map(Slot::Name);
        let (classes, is_complete) = Self::classes(engine, shape, Some(first));
        if !is_complete {
            unsure = Some(Draft { unsure: true, ..Draft::default() });
        }
        for slot in slots.chain(classes.into_iter().map(Slot::Class)) {
            if engine.budget.spent().is_some() {
                return Some(Draft { unsure: true, ..Draft::default() });
            }
            let found = match self.place(engine, shape, first, slot, &draft) {
                Placed::Nowhere => continue,
                Placed::In(draft) if *tries > 0 && engine.budget.spent().is_none() => {
                    *tries -= 1;
                    self.place_all(engine, shape, rest, draft, tries)
                }
                _ => Some(Draft { unsure: true, ..Draft::default() }),
            };
            match found {
                Some(found) if !found.unsure => return Some(found),
                Some(found) => unsure = Some(found),
                None => {}
            }
        }
        unsure
    }

    /// Adds a property that a fact requires, in one slot.
    fn place(&self, engine: &mut Engine<'_>, shape: &Shape, wanted: &Wanted, slot: Slot, draft: &Draft) -> Placed {
        let Some((goal, named)) = self.goal_in(engine, shape, wanted, &slot) else { return Placed::Nowhere };
        if engine.goal(goal.clone()).is_empty() {
            return Placed::Nowhere;
        }
        let is_full = shape.most.is_some_and(|most| draft.values.len() as u64 >= most);
        let name = match slot {
            Slot::Name(name) if is_full && !draft.values.contains_key(&name) => return Placed::Nowhere,
            Slot::Name(name) => name,
            Slot::Class(_) if is_full => return Placed::Nowhere,
            Slot::Class(signs) => match Self::fresh(shape, engine, &signs, named, draft) {
                Answer::Empty => return Placed::Nowhere,
                Answer::Undecided => return Placed::Undecided,
                Answer::Witness(name) | Answer::PossibleWitness(name) => {
                    engine.table.words.symbol(name.as_str().unwrap_or_default())
                }
            },
        };
        let all: Vec<_> = draft.extra.get(&name).into_iter().flatten().copied().chain(goal).collect();
        match engine.goal(all.clone()) {
            Answer::Empty => Placed::Nowhere,
            Answer::Undecided => Placed::Undecided,
            found => {
                let mut draft = draft.clone();
                draft.extra.insert(name, all);
                draft.put(name, found);
                Placed::In(draft)
            }
        }
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
        if shape.least > MAX_FILLED {
            let why = || format!("objects of {} properties are too large to construct", shape.least);
            engine.record_obstacle(self.nodes(), why);
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
        let (classes, is_complete) = Self::classes(engine, shape, None);
        is_sure &= is_complete;
        for signs in classes {
            let Some(goal) = Self::class_member(shape, &signs) else { continue };
            let found = engine.goal(goal);
            if found.is_empty() {
                continue;
            }
            let (names, mut base, mut number) = (Self::names(shape, engine, &signs), None::<String>, 0u64);
            while count(draft) < shape.least {
                number += 1;
                let numbered = base.as_ref().map(|base| format!("{base}{number}"));
                let numbered = numbered.and_then(|text| Self::if_fresh(shape, engine, &names, &text, draft));
                let name = match numbered {
                    Some(name) => name,
                    None => match Self::fresh(shape, engine, &signs, None, draft) {
                        Answer::Witness(name) | Answer::PossibleWitness(name) => {
                            let text = name.as_str().unwrap_or_default();
                            base.get_or_insert_with(|| text.to_owned());
                            engine.table.words.symbol(text)
                        }
                        Answer::Empty => break,
                        Answer::Undecided => {
                            is_sure = false;
                            break;
                        }
                    },
                };
                draft.put(name, found.clone());
                if matches!(found, Answer::Undecided) || !engine.budget.visit(names.len() + 1) {
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
