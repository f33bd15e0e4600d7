//! Determines which properties a schema can name for a lenient sender. It sends those that any
//! schema it follows names, so they are known only once no open choice can name more.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use super::engine::{Atom, Engine};
use super::flatten::{Branches, Fence, Item, State};
use crate::model::compatibility::graph::node::{Id, Lit, Sym};

/// The maximum number of sub-schemas that are visited. Schemas with more are assumed to name anything.
const MAX_VISITS: usize = 500;

/// A part of a value.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    Property(Sym),
    OtherProperties,
    Items,
}

/// The parts for which a schema has a sub-schema that names properties within them, and what it names in the value
/// itself.
#[derive(Debug, Default)]
pub struct Naming {
    properties: BTreeSet<Sym>,
    others: bool,
    items: bool,
    named: Fence,
    /// Whether it may allow properties that it does not name.
    allows_others: bool,
    /// Whether it restricts the names of properties.
    restricts_names: bool,
}

impl Naming {
    fn anything() -> Self {
        Self { others: true, items: true, allows_others: true, ..Self::default() }
    }

    fn add(&mut self, more: &Self) {
        self.properties.extend(&more.properties);
        self.others |= more.others;
        self.items |= more.items;
        self.named.names.extend(&more.named.names);
        self.named.patterns.extend(&more.named.patterns);
        self.allows_others |= more.allows_others;
        self.restricts_names |= more.restricts_names;
    }

    /// Adds what a literal names in the value itself.
    fn add_named(&mut self, lit: &Lit) {
        match lit {
            Lit::Prop(name, _) | Lit::Required(name) | Lit::DepSchema(name, _) => drop(self.named.names.insert(*name)),
            Lit::DepRequired(name, others) => self.named.names.extend(others.iter().chain([name])),
            Lit::PatProp(pattern, _) => drop(self.named.patterns.insert(*pattern)),
            // With a minimum, a sender may have to send more than it names. What an unread schema names is unknown.
            Lit::AddProp(..) | Lit::Enum(_) | Lit::MinProps(_) | Lit::Opaque(..) => self.allows_others = true,
            Lit::PropNames(_) => self.restricts_names = true,
            _ => {}
        }
    }

    fn covers(&self, part: Part) -> bool {
        match part {
            Part::Property(name) => self.others || self.properties.contains(&name),
            Part::OtherProperties => self.others || !self.properties.is_empty(),
            Part::Items => self.items,
        }
    }
}

impl State {
    /// Reads demands on a part strictly if an open choice may name more properties within it.
    pub fn certain(&self, engine: &mut Engine<'_>, part: Part, atoms: &mut [Atom]) {
        if atoms.iter().any(|atom| atom.is_lenient()) && self.may_name(engine, part) {
            atoms.iter_mut().for_each(|atom| *atom = atom.strict());
        }
    }

    /// Adds everything that open choices may name to a fence that the facts set, or returns `None` if a choice may lift
    /// it. `has_least` is whether the facts demand a number of properties.
    pub fn with_open_choices(&self, engine: &mut Engine<'_>, mut fence: Fence, has_least: bool) -> Option<Fence> {
        for choice in self.open.iter().filter(|choice| choice.is_lenient) {
            let naming = choice.naming.get_or_init(|| engine.naming_of(choice));
            if naming.allows_others || has_least && naming.restricts_names {
                return None;
            }
            engine.budget.visit(naming.named.names.len() + naming.named.patterns.len());
            fence.names.extend(&naming.named.names);
            fence.patterns.extend(&naming.named.patterns);
        }
        Some(fence)
    }

    /// Returns whether an open choice may name more properties within a part.
    pub fn may_name(&self, engine: &mut Engine<'_>, part: Part) -> bool {
        let mut lenient = self.open.iter().filter(|choice| choice.is_lenient);
        lenient.any(|choice| choice.naming.get_or_init(|| engine.naming_of(choice)).covers(part))
    }
}

impl Engine<'_> {
    /// Returns the members that are named by the branches of a choice, when read leniently.
    fn naming_of(&mut self, choice: &Branches) -> Naming {
        let mut all = Naming::default();
        for item in choice.iter().flatten() {
            match item {
                Item::Atom(atom) if atom.is_lenient() => all.add(&self.naming(atom.id())),
                Item::Lit(fact) if fact.lenient => all.add(&Naming::anything()),
                _ => {}
            }
        }
        all
    }

    fn naming(&mut self, id: Id) -> Rc<Naming> {
        if let Some(known) = self.namings.get(&id) {
            return Rc::clone(known);
        }
        let mut naming = Naming::default();
        let (mut waiting, mut seen) = (vec![id], HashSet::new());
        while let Some(next) = waiting.pop() {
            if !seen.insert(next) {
                continue;
            }
            if seen.len() > MAX_VISITS {
                naming = Naming::anything();
                break;
            }
            for lit in self.table.lits(next).iter() {
                naming.add_named(lit);
                match lit {
                    Lit::Prop(name, child) if self.names_properties(*child) => drop(naming.properties.insert(*name)),
                    Lit::PatProp(_, child) | Lit::AddProp(_, _, child) => {
                        naming.others |= self.names_properties(*child);
                    }
                    Lit::Item(_, child) | Lit::Items(_, child) | Lit::AtLeast(child, _) => {
                        naming.items |= self.names_properties(*child);
                    }
                    Lit::Not(_) => {}
                    Lit::Names(condition) => waiting.extend(self.table.within_condition(*condition)),
                    other => waiting.extend(other.in_place()),
                }
            }
        }
        let naming = Rc::new(naming);
        self.namings.insert(id, Rc::clone(&naming));
        naming
    }

    /// Returns whether a schema names properties of a value or of a part of it, or allows others explicitly.
    pub fn names_properties(&mut self, id: Id) -> bool {
        if let Some(known) = self.names_any.get(&id) {
            return *known;
        }
        let (mut waiting, mut seen) = (vec![id], HashSet::new());
        let mut found = false;
        while let Some(next) = waiting.pop().filter(|_| !found) {
            if !seen.insert(next) {
                continue;
            }
            found = seen.len() > MAX_VISITS;
            for lit in self.table.lits(next).iter() {
                match lit {
                    Lit::Prop(..)
                    | Lit::PatProp(..)
                    | Lit::AddProp(..)
                    | Lit::Required(_)
                    | Lit::DepRequired(..)
                    | Lit::DepSchema(..) => found = true,
                    Lit::Enum(ids) => {
                        let values = &self.table.words.values;
                        let is_part = |id: &u32| values[*id as usize].is_object() || values[*id as usize].is_array();
                        found |= ids.iter().any(is_part);
                    }
                    Lit::Not(_) | Lit::PropNames(_) | Lit::AtMost(..) => {}
                    other => other.each(&mut |child| waiting.push(child)),
                }
            }
        }
        if found {
            self.names_any.insert(id, true);
        } else {
            self.names_any.extend(seen.into_iter().map(|id| (id, false)));
        }
        found
    }
}
