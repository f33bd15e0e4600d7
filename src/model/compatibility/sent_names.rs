//! Compares the properties that two schemas name. A lenient sender sends no others, so a schema that names others sends
//! other values, even if the same ones are valid.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use super::budget::Budget;
use super::graph::node::{self, Id, Lit, Sym, Table};

/// The properties or items of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Property(Sym),
    Matching(Sym),
    OtherProperties,
    Items,
}

/// The properties that a schema names for one value, in all alternatives together.
#[derive(Default)]
struct Named {
    /// The properties that a lenient sender may send.
    sent: BTreeSet<Part>,
    /// True if it sends no others.
    is_closed: bool,
    /// The schemas of each part.
    below: BTreeMap<Part, BTreeSet<Id>>,
}

/// The state of a walk through the schemas that apply to one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Reached {
    id: Id,
    types: u8,
    /// True if a schema around it allows properties that it does not name.
    is_open: bool,
}

/// Returns whether two schemas are known to name the same properties at each place.
pub(super) fn are_same(table: &Table, budget: &mut Budget<'_>, old: Id, new: Id) -> bool {
    let mut seen = HashSet::new();
    let mut waiting = vec![[BTreeSet::from([old]), BTreeSet::from([new])]];
    while let Some(sides) = waiting.pop() {
        if sides[0] == sides[1] || !seen.insert(sides.clone()) {
            continue;
        }
        let [old, new] = sides.map(|ids| Named::of(table, budget, ids));
        if budget.spent().is_some() || !old.is_same(&new) {
            return false;
        }
        let parts: BTreeSet<_> = old.below.keys().chain(new.below.keys()).copied().collect();
        waiting.extend(parts.into_iter().map(|part| [old.schemas(part), new.schemas(part)]));
    }
    true
}

impl Named {
    fn of(table: &Table, budget: &mut Budget<'_>, ids: BTreeSet<Id>) -> Self {
        let (mut named, mut seen) = (Self::default(), HashSet::new());
        let mut waiting: Vec<_> = ids.into_iter().map(|id| Reached { id, types: node::ANY, is_open: false }).collect();
        while let Some(reached) = waiting.pop() {
            if !seen.insert(reached) || !budget.visit(1) {
                continue;
            }
            let nodes = conjunction(table, reached.id);
            let lits = || nodes.iter().flat_map(|lits| lits.iter());
            let types = lits().fold(reached.types, |types, lit| types & types_of(lit));
            let is_open = reached.is_open || lits().any(allows_others);
            for lit in lits().filter(|lit| lit.kinds() & types != 0) {
                named.add(table, lit, is_open);
                waiting.extend(alternatives(lit).into_iter().map(|id| Reached { id, types, is_open }));
            }
        }
        named
    }

    fn add(&mut self, table: &Table, lit: &Lit, is_open: bool) {
        let mut below = |part, id: &Id| {
            self.below.entry(part).or_default().insert(*id);
        };
        match lit {
            Lit::Prop(name, id) => below(Part::Property(*name), id),
            Lit::PatProp(pattern, id) => below(Part::Matching(*pattern), id),
            Lit::AddProp(_, _, id) => below(Part::OtherProperties, id),
            Lit::Item(_, id) | Lit::Items(_, id) | Lit::AtLeast(id, _) => below(Part::Items, id),
            _ => {}
        }
        if is_open {
            return;
        }
        self.is_closed |= matches!(lit, Lit::Prop(..) | Lit::PatProp(..));
        match lit {
            Lit::Prop(_, id) if matches!(table.nodes[*id as usize][..], [Lit::Never]) => {}
            Lit::Prop(name, _) | Lit::Required(name) | Lit::DepSchema(name, _) => {
                self.sent.insert(Part::Property(*name));
            }
            Lit::DepRequired(name, others) => {
                self.sent.extend(others.iter().chain([name]).map(|name| Part::Property(*name)));
            }
            Lit::PatProp(pattern, _) => drop(self.sent.insert(Part::Matching(*pattern))),
            _ => {}
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.is_closed == other.is_closed && (!self.is_closed || self.sent == other.sent)
    }

    /// Returns the schemas of a part. A property that is not named has those of the other properties.
    fn schemas(&self, part: Part) -> BTreeSet<Id> {
        let others = (part != Part::Items).then_some(Part::OtherProperties);
        let found = self.below.get(&part).or_else(|| self.below.get(&others?));
        found.cloned().unwrap_or_default()
    }
}

/// Returns the literals of a schema, and those of each schema that it includes.
fn conjunction(table: &Table, id: Id) -> Vec<Rc<[Lit]>> {
    let (mut waiting, mut seen, mut found) = (vec![id], HashSet::new(), Vec::new());
    while let Some(id) = waiting.pop() {
        if seen.insert(id) {
            let lits = table.lits(id);
            waiting.extend(lits.iter().filter_map(|lit| if let Lit::Sub(id) = lit { Some(*id) } else { None }));
            found.push(lits);
        }
    }
    found
}

fn types_of(lit: &Lit) -> u8 {
    match lit {
        Lit::Never => 0,
        Lit::Type(types) => *types,
        _ => node::ANY,
    }
}

/// Returns whether a lenient sender may also send properties that are not named.
fn allows_others(lit: &Lit) -> bool {
    matches!(lit, Lit::AddProp(..) | Lit::Enum(_) | Lit::Opaque(..))
}

fn alternatives(lit: &Lit) -> Vec<Id> {
    match lit {
        Lit::Sub(_) | Lit::Not(_) => Vec::new(),
        lit => lit.in_place(),
    }
}
