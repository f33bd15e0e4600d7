//! Finds further places at which the same difference occurs. Equal sub-schemas are one node of the table, so a
//! difference that is treated as allowed is allowed in all of them.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use serde_json::Value;

use super::evaluate;
use super::graph::node::{self, Id, Lit, Sym, Table};
use super::sources::{Sources, Spot};
use super::walk::Leaf;

/// The maximum number of sub-schemas that are visited.
const MAX_VISITED: usize = 500;

/// The maximum number of places that are tried for one difference.
const MAX_PLACES: usize = 20;

/// A step from a value to one of its parts.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Member(Sym),
    /// A member that this literal applies to, whatever its name.
    AnyMember(Lit),
    Item(u64),
}

/// A step of a path within values.
enum Token {
    One(String),
    /// A member of any name but these.
    Except(Vec<Rc<str>>),
}

impl Token {
    fn is(&self, token: &str) -> bool {
        match self {
            Self::One(one) => one == token,
            Self::Except(names) => !names.iter().any(|name| &**name == token),
        }
    }
}

/// A further place of a difference.
pub(super) struct Place {
    /// A node that requires a value to have the difference there.
    pub(super) demand: Id,
    /// The path within values.
    path: Vec<Token>,
    /// The property that is not allowed there, for keywords about names.
    pub(super) member: Option<Sym>,
}

impl Place {
    /// Returns whether a leaf is at this place.
    pub(super) fn has(&self, leaf: &Leaf<'_>) -> bool {
        leaf.path.len() == self.path.len()
            && self.path.iter().zip(&leaf.path).all(|(wanted, token)| wanted.is(token))
            && self.member.is_none_or(|name| leaf.member == Some(name))
    }
}

/// Places, and whether these are all.
pub(super) struct Places {
    pub(super) all: Vec<Place>,
    pub(super) is_complete: bool,
}

impl Places {
    /// Adds a place, unless there are too many.
    fn add(&mut self, place: Place) {
        if self.all.len() < MAX_PLACES { self.all.push(place) } else { self.is_complete = false }
    }
}

impl<'a> Sources<'a> {
    /// Returns the other places in values to which the keyword of a leaf applies, and the other properties that the
    /// `inner` document names but this keyword does not allow.
    pub(super) fn other_places(&self, table: &mut Table, (leaf, witness): (&Leaf<'a>, &Value), inner: usize) -> Places {
        let mut places = Places { all: Vec::new(), is_complete: true };
        let Some((id, lit)) = leaf.mask.clone() else { return places };
        if let Lit::AddProp(names, patterns, _) = &lit {
            let steps = steps(table, &leaf.path, witness);
            for name in self.named_at(table, inner, &leaf.path, &mut places) {
                let text = table.words.text(name);
                let is_refused = evaluate::is_other(&mut table.words, names, patterns, &text) == Some(true);
                if is_refused && leaf.member != Some(name) {
                    let object = table.node(vec![Lit::Type(node::OBJECT), Lit::Required(name)]);
                    let demand = demand(table, object, &steps);
                    let path = leaf.path.iter().cloned().map(Token::One).collect();
                    places.add(Place { demand, path, member: Some(name) });
                }
            }
        }
        if let Some(wild) = leaf.spot.of_any_name() {
            self.members_of(table, (leaf, witness), (&lit, wild), inner, &mut places);
        }
        for steps in self.spots_of(table, 1 - inner, (id, &lit), &mut places) {
            let path = steps.iter().map(|step| match step {
                Step::Member(name) => Token::One(table.words.text(*name).to_string()),
                Step::AnyMember(Lit::AddProp(names, ..)) => {
                    Token::Except(names.iter().map(|name| table.words.text(*name)).collect())
                }
                Step::AnyMember(_) => Token::Except(Vec::new()),
                Step::Item(at) => Token::One(at.to_string()),
            });
            let path = path.collect();
            let place = Place { demand: refusing(table, &lit, &steps), path, member: None };
            if !place.has(leaf) {
                places.add(place);
            }
        }
        places
    }

    /// Adds the other members that the `inner` document names, and that a literal for `wild` names applies to.
    fn members_of(
        &self,
        table: &mut Table,
        (leaf, witness): (&Leaf<'a>, &Value),
        (lit, wild): (&Lit, &Lit),
        inner: usize,
        places: &mut Places,
    ) {
        let Some((token, above)) = leaf.path.split_last() else { return };
        let mut steps = steps(table, above, witness);
        for name in self.named_at(table, inner, above, places) {
            let text = table.words.text(name);
            let applies = match wild {
                Lit::AddProp(names, patterns, _) => {
                    evaluate::is_other(&mut table.words, names, patterns, &text) == Some(true)
                }
                Lit::PatProp(pattern, _) => table.words.matches(*pattern, &text) == Some(true),
                _ => false,
            };
            if applies && **token != *text {
                steps.push(Step::Member(name));
                let path = above.iter().cloned().chain([text.to_string()]).map(Token::One).collect();
                let demand = refusing(table, lit, &steps);
                places.add(Place { demand, path, member: None });
                steps.pop();
            }
        }
    }

    /// Returns the properties that a document names for the part of a value at a path.
    fn named_at(&self, table: &mut Table, document: usize, path: &[String], places: &mut Places) -> Vec<Sym> {
        let (reached, are_all) = self.reached(table, document, None, path);
        places.is_complete &= are_all;
        let lits = reached.iter().flat_map(|spot| self.graph.lits(spot.id));
        let mut names: Vec<_> =
            lits.filter_map(|lit| if let Lit::Prop(name, _) = lit { Some(*name) } else { None }).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the paths to the sub-schemas of a document that are this node, the shortest one to each place in the
    /// document.
    fn spots_of(
        &self,
        table: &mut Table,
        document: usize,
        (id, lit): (Id, &Lit),
        places: &mut Places,
    ) -> Vec<Vec<Step>> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut waiting = VecDeque::from([(Vec::new(), vec![self.root(document)])]);
        while let Some((path, here)) = waiting.pop_front() {
            let mut reached = Vec::new();
            places.is_complete &= self.in_place(table, here, None, &mut reached);
            reached.retain(|spot| seen.insert(self.place(document, spot, table)));
            if seen.len() > MAX_VISITED {
                places.is_complete = false;
                break;
            }
            let is_same = |spot: &Spot<'a>| {
                self.classes.of(spot.id) == id
                    && self.graph.lits(spot.id).iter().any(|one| self.classes.lit(one).as_ref() == Some(lit))
            };
            if reached.iter().any(is_same) {
                found.push(path.clone());
            }
            for (step, spot) in reached.iter().flat_map(|spot| self.steps_below(spot)) {
                waiting.push_back((path.iter().cloned().chain([step]).collect(), vec![spot]));
            }
        }
        found
    }

    fn steps_below(&self, spot: &Spot<'a>) -> Vec<(Step, Spot<'a>)> {
        let below = self.graph.lits(spot.id).iter().filter_map(|lit| {
            let (step, id) = match lit {
                Lit::Prop(name, id) => (Step::Member(*name), *id),
                Lit::Item(at, id) | Lit::Items(at, id) => (Step::Item(*at), *id),
                Lit::PatProp(_, id) | Lit::AddProp(_, _, id) => (Step::AnyMember(self.classes.lit(lit)?), *id),
                _ => return None,
            };
            Some((step, spot.below(lit, id)))
        });
        below.collect()
    }
}

/// Returns the steps of a path within a value.
fn steps(table: &mut Table, path: &[String], value: &Value) -> Vec<Step> {
    let mut value = Some(value);
    let mut steps = Vec::new();
    for token in path {
        let (step, part) = match (value, token.parse::<usize>()) {
            (Some(Value::Array(items)), Ok(at)) => (Step::Item(at as u64), items.get(at)),
            (value, _) => (Step::Member(table.words.symbol(token)), value.and_then(|value| value.get(token))),
        };
        steps.push(step);
        value = part;
    }
    steps
}

/// Returns a node that requires a literal to refuse the part at a path.
fn refusing(table: &mut Table, lit: &Lit, steps: &[Step]) -> Id {
    // This node must not be one of the schemas, in which the keyword may be treated as allowed already.
    let everything = table.node(Vec::new());
    let keyword = table.node(vec![lit.clone(), Lit::Sub(everything)]);
    let refused = table.node(vec![Lit::Not(keyword)]);
    demand(table, refused, steps)
}

/// Returns a node that requires the part at a path to satisfy `inner`.
fn demand(table: &mut Table, inner: Id, steps: &[Step]) -> Id {
    steps.iter().rev().fold(inner, |inner, step| match step {
        Step::Member(name) => table.node(vec![Lit::Type(node::OBJECT), Lit::Required(*name), Lit::Prop(*name, inner)]),
        Step::AnyMember(lit) => {
            let refused = table.node(vec![Lit::Not(inner)]);
            let without = match lit {
                Lit::PatProp(pattern, _) => Lit::PatProp(*pattern, refused),
                Lit::AddProp(names, patterns, _) => Lit::AddProp(names.clone(), patterns.clone(), refused),
                lit => lit.clone(),
            };
            let without = table.node(vec![without]);
            table.node(vec![Lit::Type(node::OBJECT), Lit::Not(without)])
        }
        Step::Item(at) => table.node(vec![Lit::Type(node::ARRAY), Lit::MinItems(at + 1), Lit::Item(*at, inner)]),
    })
}
