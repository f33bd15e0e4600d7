//! Decides whether a lenient sender sends a value: whether it names all properties in the alternatives that it follows.
//! Used so that a counterexample for the lenient reading remains one while it is shrunk.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;

use super::flatten::MAX_TOGETHER;
use crate::model::compatibility::{
    evaluate,
    graph::node::{Id, Lit, Sym, Table},
};

/// The maximum number of schemas that are followed. Beyond it, the value counts as sent.
const MAX_FOLLOWED: usize = 20_000;

/// The maximum number of schemas within a condition. The names in others do not count.
const MAX_OF_CONDITION: usize = 500;

/// Returns whether the lenient sender of a schema sends a valid value.
pub fn is_sent(table: &mut Table, id: Id, value: &Value) -> bool {
    Walk { table, followed: 0, has_unread: false }.sends(&[id], value)
}

/// Returns the same as [`is_sent`], but `false` if too many schemas are followed, or one that was not read.
pub fn is_surely_sent(table: &mut Table, id: Id, value: &Value) -> bool {
    let mut walk = Walk { table, followed: 0, has_unread: false };
    walk.sends(&[id], value) && walk.followed <= MAX_FOLLOWED && !walk.has_unread
}

impl Table {
    /// Returns the node that demands nothing, but names the properties that a condition is about.
    pub fn names_of(&mut self, condition: Id) -> Id {
        self.node(vec![Lit::Names(condition)])
    }

    /// Returns the schemas within a condition that apply to the same value. What it excludes counts too: it is about that.
    pub fn within_condition(&self, condition: Id) -> Vec<Id> {
        let (mut waiting, mut seen) = (vec![condition], BTreeSet::new());
        while let Some(id) = waiting.pop() {
            if seen.len() < MAX_OF_CONDITION && seen.insert(id) {
                waiting.extend(self.lits(id).iter().flat_map(Lit::in_place));
            }
        }
        seen.into_iter().collect()
    }

    /// Returns the literals of a condition and of the schemas within it.
    pub fn of_condition(&self, condition: Id) -> Vec<Lit> {
        self.within_condition(condition).into_iter().flat_map(|id| self.lits(id).to_vec()).collect()
    }

    /// Adds the names and patterns of the properties that a condition is about.
    pub fn add_names(&self, condition: Id, names: &mut BTreeSet<Sym>, patterns: &mut BTreeSet<Sym>) {
        for lit in self.of_condition(condition) {
            match lit {
                Lit::Prop(name, _) | Lit::Required(name) | Lit::DepSchema(name, _) => drop(names.insert(name)),
                Lit::DepRequired(name, others) => names.extend(others.into_iter().chain([name])),
                Lit::PatProp(pattern, _) => drop(patterns.insert(pattern)),
                _ => {}
            }
        }
    }

    /// Returns whether at least `least` of these names may satisfy the schemas of names. Otherwise,
    /// a lenient sender must send properties that it does not name.
    pub fn has_names(&mut self, names: &BTreeSet<Sym>, of_names: &[Id], least: u64) -> bool {
        if least == 0 {
            return true;
        }
        let mut allowed = 0;
        for name in names {
            let value = Value::from(&*self.words.text(*name));
            let is_barred = of_names.iter().any(|id| evaluate::holds(self, *id, &value) == Some(false));
            allowed += u64::from(!is_barred);
        }
        allowed >= least
    }
}

struct Walk<'t> {
    table: &'t mut Table,
    followed: usize,
    /// Whether a schema that is followed was not read, so that what it names is unknown.
    has_unread: bool,
}

/// The demands and names of the schemas that are followed for one value.
#[derive(Clone, Default)]
struct Followed {
    waiting: Vec<Id>,
    /// The alternatives of each choice, one of which is followed.
    choices: Vec<Vec<Vec<Id>>>,
    names: BTreeSet<Sym>,
    patterns: BTreeSet<Sym>,
    names_properties: bool,
    allows_others: bool,
    /// The minimum number of properties, and the schemas of their names.
    least: u64,
    of_names: Vec<Id>,
    /// The index of each member, by its name.
    places: Rc<HashMap<Sym, usize>>,
    /// The schemas of each member or item: those that apply to it, and those of `contains` that it satisfies.
    parts: BTreeMap<usize, (Vec<Id>, Vec<Id>)>,
}

impl Walk<'_> {
    fn sends(&mut self, ids: &[Id], value: &Value) -> bool {
        let is_plain = !value.is_object() && !value.is_array();
        let members = value.as_object().into_iter().flat_map(|members| members.keys().enumerate());
        let words = &self.table.words;
        let places = members.filter_map(|(at, name)| Some((words.known(name)?, at))).collect();
        is_plain
            || self.follow(Followed { waiting: ids.to_vec(), places: Rc::new(places), ..Followed::default() }, value)
    }

    fn follow(&mut self, mut all: Followed, value: &Value) -> bool {
        loop {
            while let Some(id) = all.waiting.pop() {
                self.followed += 1;
                if self.followed > MAX_FOLLOWED {
                    return true;
                }
                for lit in self.table.lits(id).iter() {
                    self.add(&mut all, lit, value);
                }
            }
            match all.choices.pop() {
                None => return self.names_all(&all, value) && self.sends_parts(&all, value),
                Some(branches) if branches.len() == 1 => all.waiting.extend(branches.into_iter().flatten()),
                Some(branches) => {
                    return branches.into_iter().any(|branch| {
                        let mut next = all.clone();
                        next.waiting.extend(branch);
                        self.follow(next, value)
                    });
                }
            }
        }
    }

    fn add(&mut self, all: &mut Followed, lit: &Lit, value: &Value) {
        let has = |table: &Table, name: Sym| value.get(&*table.words.text(name)).is_some();
        match lit {
            Lit::Sub(id) => all.waiting.push(*id),
            Lit::If(condition, then, other) => match evaluate::holds(self.table, *condition, value) {
                Some(false) => all.waiting.extend([*other, self.table.names_of(*condition)]),
                _ => all.waiting.extend([*condition, *then]),
            },
            Lit::AnyOf(ids) | Lit::OneOf(ids) => {
                let holds = |id: &Id| evaluate::holds(self.table, *id, value) != Some(false);
                let matching: Vec<_> = ids.iter().copied().filter(holds).collect();
                let is_wide = matches!(lit, Lit::AnyOf(_)) && (2..=MAX_TOGETHER).contains(&matching.len());
                let together = is_wide.then(|| matching.clone());
                all.choices.push(matching.iter().map(|id| vec![*id]).chain(together).collect());
            }
            Lit::DepSchema(name, id) => {
                all.names.insert(*name);
                all.waiting.extend(has(self.table, *name).then_some(*id));
            }
            Lit::DepRequired(name, names) => all.names.extend(names.iter().chain([name])),
            Lit::Required(name) => drop(all.names.insert(*name)),
            Lit::Enum(_) => all.allows_others = true,
            Lit::Prop(name, _) => {
                all.names.insert(*name);
                all.names_properties = true;
            }
            Lit::PatProp(pattern, _) => {
                all.patterns.insert(*pattern);
                all.names_properties = true;
            }
            Lit::AddProp(..) => all.allows_others = true,
            Lit::Opaque(..) => self.has_unread = true,
            Lit::MinProps(n) => all.least = all.least.max(*n),
            Lit::PropNames(id) => all.of_names.push(*id),
            Lit::Names(condition) => {
                self.table.add_names(*condition, &mut all.names, &mut all.patterns);
                self.add_named_parts(all, *condition, value);
            }
            _ => {}
        }
        self.add_parts(all, lit, value);
    }

    /// Adds what a condition is about within the parts of the value.
    fn add_named_parts(&mut self, all: &mut Followed, condition: Id, value: &Value) {
        for lit in self.table.of_condition(condition) {
            let about = match lit {
                Lit::Prop(name, id) => Lit::Prop(name, self.table.names_of(id)),
                Lit::Item(_, id) | Lit::Items(_, id) => Lit::Items(0, self.table.names_of(id)),
                _ => continue,
            };
            self.add_parts(all, &about, value);
        }
    }

    fn add_parts(&mut self, all: &mut Followed, lit: &Lit, value: &Value) {
        let mut apply = |at: usize, id: Id| all.parts.entry(at).or_default().0.push(id);
        match (lit, value) {
            (Lit::Prop(name, id), Value::Object(_)) => {
                if let Some(at) = all.places.get(name) {
                    apply(*at, *id);
                }
            }
            (Lit::PatProp(..) | Lit::AddProp(..), Value::Object(members)) => {
                for (at, name) in members.keys().enumerate() {
                    if let Some(id) = self.schema_of(lit, name) {
                        apply(at, id);
                    }
                }
            }
            (Lit::Item(at, id), Value::Array(_)) => apply(usize::try_from(*at).unwrap_or(usize::MAX), *id),
            (Lit::Items(from, id), Value::Array(items)) => {
                (0..items.len()).filter(|at| *at as u64 >= *from).for_each(|at| apply(at, *id));
            }
            (Lit::AtLeast(id, _), Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    if evaluate::holds(self.table, *id, item) != Some(false) {
                        all.parts.entry(at).or_default().1.push(*id);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the schema that a literal has for a property.
    fn schema_of(&mut self, lit: &Lit, name: &str) -> Option<Id> {
        let words = &mut self.table.words;
        match lit {
            Lit::PatProp(pattern, id) => (words.matches(*pattern, name) == Some(true)).then_some(*id),
            Lit::AddProp(names, patterns, id) => {
                (evaluate::is_other(words, names, patterns, name) != Some(false)).then_some(*id)
            }
            _ => None,
        }
    }

    fn names_all(&mut self, all: &Followed, value: &Value) -> bool {
        let Some(members) = value.as_object().filter(|_| all.names_properties && !all.allows_others) else {
            return true;
        };
        if all.patterns.is_empty() && !self.table.has_names(&all.names, &all.of_names, all.least) {
            return true;
        }
        let words = &mut self.table.words;
        members.keys().all(|name| {
            words.known(name).is_some_and(|name| all.names.contains(&name))
                || all.patterns.iter().any(|pattern| words.matches(*pattern, name) == Some(true))
        })
    }

    fn sends_parts(&mut self, all: &Followed, value: &Value) -> bool {
        let parts: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(members) => members.values().collect(),
            _ => Vec::new(),
        };
        all.parts.iter().all(|(at, (ids, more))| match parts.get(*at) {
            None => true,
            Some(part) => self.sends(ids, part) || self.sends(&[&ids[..], more].concat(), part),
        })
    }
}
