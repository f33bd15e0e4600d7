//! The sub-schemas of both documents, and the places at which they are written.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;

use super::graph::Graph;
use super::graph::intern::Classes;
use super::graph::node::{Id, Lit, Sym, Table, index};
use super::rules;
use crate::model::{
    pointer,
    schema::{Tree, external, official, uri},
};

/// A sub-schema, and how it was reached. Equal sub-schemas occur in many places. Its JSON Pointer is searched for only
/// when it is needed, since there may be thousands of branches.
#[derive(Clone)]
pub(super) struct Spot<'a> {
    pub(super) id: Id,
    via: Option<Rc<Via<'a>>>,
}

/// A literal of a sub-schema that leads to another one.
struct Via<'a> {
    from: Spot<'a>,
    lit: &'a Lit,
    /// The JSON Pointer to the other sub-schema. Cached, since a search for further places needs the pointers to all
    /// sub-schemas on every path.
    place: OnceCell<Rc<str>>,
}

/// A sub-schema and its JSON Pointer.
type Placed<'s, 'a> = (&'s Spot<'a>, Rc<str>);

/// Both documents after reading.
pub(super) struct Sources<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) classes: &'a Classes,
    /// The roots of the old and the new document.
    pub(super) roots: [Id; 2],
}

impl<'a> Spot<'a> {
    /// Returns a child that a literal of the sub-schema names.
    pub(super) fn below(&self, lit: &'a Lit, child: Id) -> Self {
        Self { id: child, via: Some(Rc::new(Via { from: self.clone(), lit, place: OnceCell::new() })) }
    }

    /// Returns the literal that applies to the value because its name is not listed, or matches a pattern.
    pub(super) fn of_any_name(&self) -> Option<&'a Lit> {
        let mut via = self.via.as_ref()?;
        loop {
            match via.lit {
                Lit::AddProp(..) | Lit::PatProp(..) => return Some(via.lit),
                Lit::Sub(_) | Lit::AnyOf(_) | Lit::OneOf(_) | Lit::If(..) | Lit::DepSchema(..) => {
                    via = via.from.via.as_ref()?;
                }
                _ => return None,
            }
        }
    }
}

impl<'a> Sources<'a> {
    /// Returns the root of a document.
    pub(super) fn root(&self, document: usize) -> Spot<'a> {
        Spot { id: self.roots[document], via: None }
    }

    /// Returns the nodes that a document applies, possibly among other places, within an alternative, a condition, a
    /// negation or a demand on names. Treating a keyword of such a node as allowed may hide differences that other
    /// keywords cause. For the inner document (`is_inner`), whose values are refused, `anyOf`, minimum numbers of items
    /// and demands on names do not count.
    pub(super) fn alternatives(&self, document: usize, is_inner: bool) -> HashSet<Id> {
        let mut seen = HashSet::new();
        let mut waiting = vec![(self.roots[document], false)];
        while let Some((id, is_within)) = waiting.pop() {
            if !seen.insert((id, is_within)) {
                continue;
            }
            for lit in self.graph.lits(id) {
                let is_one = match lit {
                    Lit::OneOf(_) | Lit::Not(_) | Lit::If(..) | Lit::AtMost(..) => true,
                    Lit::AnyOf(_) | Lit::AtLeast(..) | Lit::PropNames(_) => !is_inner,
                    _ => false,
                };
                lit.each(&mut |child| waiting.push((child, is_within || is_one)));
            }
        }
        seen.into_iter().filter(|(_, is_within)| *is_within).map(|(id, _)| self.classes.of(id)).collect()
    }

    /// Returns the nodes with a reference out of the schemas that was replaced for this `reason`.
    pub(super) fn replaced_for(&self, reason: &str) -> Vec<Id> {
        let raws = (0..index(self.graph.len())).filter(|raw| self.graph.is_written(*raw));
        let is_replaced =
            |raw: &Id| self.graph.tree(*raw).get(external::KEYWORD).and_then(Tree::as_str) == Some(reason);
        raws.filter(is_replaced).map(|raw| self.classes.of(raw)).collect()
    }

    /// Returns the place of the first of these nodes in each document, phrased as the end of a sentence; empty if there is
    /// none below a root.
    pub(super) fn phrase(&self, nodes: &[Id]) -> String {
        let raws = (0..index(self.graph.len())).filter(|raw| self.graph.is_written(*raw));
        let parts: HashSet<_> =
            raws.filter(|raw| nodes.contains(&self.classes.of(*raw))).map(|raw| self.graph.tree(raw).id()).collect();
        let place = |document: usize| {
            let root = self.graph.documents[document].root;
            let found = root.pointer_to_any(&|part| part != root.id() && parts.contains(&part));
            found.filter(|place| metaschema_of(place).is_none())
        };
        match (place(0), place(1)) {
            (Some(old), Some(new)) if old != new => format!(" (old: {old}, new: {new})"),
            (Some(place), _) | (None, Some(place)) => format!(" (at {place})"),
            (None, None) => String::new(),
        }
    }

    /// Returns the JSON Pointer by which a sub-schema was reached in its document.
    pub(super) fn place(&self, document: usize, spot: &Spot<'a>, table: &Table) -> Rc<str> {
        let (mut at, mut unknown) = (spot, Vec::new());
        let mut place = loop {
            let Some(via) = at.via.as_deref() else { break Rc::from("") };
            if let Some(known) = via.place.get() {
                break Rc::clone(known);
            }
            unknown.push((at.id, via));
            at = &via.from;
        };
        for (id, via) in unknown.into_iter().rev() {
            if let Some(below) = self.steps(document, &place, via, id, table) {
                place = below.into();
            }
            via.place.get_or_init(|| Rc::clone(&place));
        }
        place
    }

    /// Returns the sub-schemas on the way to one, and their places, from the root on.
    fn places<'s>(&self, document: usize, spot: &'s Spot<'a>, table: &Table) -> Vec<Placed<'s, 'a>> {
        let mut way: Vec<_> = std::iter::successors(Some(spot), |spot| Some(&spot.via.as_deref()?.from)).collect();
        way.reverse();
        way.into_iter().map(|spot| (spot, self.place(document, spot, table))).collect()
    }

    /// Returns the JSON Pointer to a place in a sub-schema or, if that is in a meta-schema, to the reference to it.
    pub(super) fn shown(&self, document: usize, table: &Table, spot: &Spot<'a>, below: &str) -> String {
        let places = self.places(document, spot, table);
        let is_own = |(_, place): &&Placed<'_, 'a>| metaschema_of(place).is_none();
        let own = places.iter().take_while(is_own).count();
        let Some((last, place)) = own.checked_sub(1).map(|at| &places[at]) else { return String::new() };
        if own == places.len() {
            return format!("{place}{below}");
        }
        let schema = self.graph.tree(last.id);
        let keyword = REFERENCES.into_iter().find(|keyword| schema.get(keyword).is_some());
        keyword.map_or_else(|| place.to_string(), |keyword| format!("{place}/{keyword}"))
    }

    /// Returns the URI of the place of a sub-schema, if that is in a meta-schema.
    pub(super) fn metaschema_place(&self, document: usize, table: &Table, spot: &Spot<'a>) -> Option<String> {
        let place = self.place(document, spot, table);
        let (uri, below) = metaschema_of(&place)?;
        Some(format!("{}#{below}", uri.trim_end_matches('#')))
    }

    /// Returns the pointers to the conditions and unions on the way to a sub-schema, the innermost first.
    pub(super) fn choices(&self, document: usize, table: &Table, spot: &Spot<'a>) -> Vec<String> {
        let places = self.places(document, spot, table);
        let steps = places.iter().zip(places.iter().skip(1)).rev();
        let choice = |((_, place), (spot, _)): (&Placed<'_, 'a>, &Placed<'_, 'a>)| {
            let keyword = match spot.via.as_ref()?.lit {
                Lit::If(..) => "if",
                Lit::AnyOf(_) => "anyOf",
                Lit::OneOf(_) => "oneOf",
                _ => return None,
            };
            Some(format!("{place}/{keyword}"))
        };
        steps.filter_map(choice).collect()
    }

    /// Returns the pointer to a child that a literal of the sub-schema at `pointer` names, or `None` if the child
    /// occurs in no document.
    fn steps(&self, document: usize, pointer: &str, via: &Via<'_>, child: Id, table: &Table) -> Option<String> {
        if !self.graph.is_written(child) {
            return None;
        }
        let (schema, part) = (self.graph.tree(via.from.id), self.graph.tree(child).id());
        let is_there = |steps: &String| schema.pointer(steps).is_some_and(|found| found.id() == part);
        let named = |keyword: &str, name: Sym| format!("/{keyword}{}", uri::step(&table.words.text(name)));
        let listed = |keyword: &'static str| {
            let at = schema.get(keyword)?.items().position(|item| item.id() == part)?;
            Some(format!("/{keyword}/{at}"))
        };
        let candidates: Vec<String> = match via.lit {
            Lit::Prop(name, _) => vec![named("properties", *name)],
            Lit::PatProp(name, _) => vec![named("patternProperties", *name)],
            Lit::DepSchema(name, _) => vec![named("dependentSchemas", *name), named("dependencies", *name)],
            Lit::Item(at, _) => vec![format!("/prefixItems/{at}"), format!("/items/{at}")],
            Lit::AnyOf(_) => listed("anyOf").into_iter().collect(),
            Lit::OneOf(_) => listed("oneOf").into_iter().collect(),
            Lit::If(..) => ["/if", "/then", "/else"].map(str::to_owned).to_vec(),
            Lit::Sub(_) => ["allOf", "anyOf", "oneOf"].into_iter().filter_map(listed).collect(),
            other => rules::keywords(other).iter().map(|keyword| format!("/{keyword}")).collect(),
        };
        let here = |steps: String| format!("{pointer}{steps}");
        let written = candidates.into_iter().find(is_there).map(here);
        written.or_else(|| self.referred(document, via.from.id, child)).or_else(|| schema.pointer_to(part).map(here))
    }

    /// Returns the pointer to the target of the reference in a sub-schema that leads to `child`.
    fn referred(&self, document: usize, from: Id, child: Id) -> Option<String> {
        let part = self.graph.tree(child).id();
        let root = self.graph.documents[document].root;
        let mut targets = self.graph.targets(from, document).into_iter();
        targets.find(|pointer| root.pointer(pointer).is_some_and(|found| found.id() == part))
    }
}

/// The keywords that refer to another sub-schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Splits a pointer into a meta-schema, which was added to the document, into its URI and a pointer.
fn metaschema_of(place: &str) -> Option<(String, &str)> {
    let within = place.strip_prefix('/')?.strip_prefix(official::MEMBER)?.strip_prefix('/')?;
    let (key, below) = within.split_at(within.find('/').unwrap_or(within.len()));
    Some((pointer::unescape(key), below))
}
