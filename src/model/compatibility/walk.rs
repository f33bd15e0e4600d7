//! Walks from the root of a document to the innermost keyword that refuses a value.

use std::collections::HashSet;

use serde_json::Value;

use super::discriminator::Listing;
use super::evaluate;
use super::graph::node::{Id, Lit, Sym, Table};
use super::sources::{Sources, Spot};
use crate::model::schema::uri;

/// The distance between a value and a schema of another type.
const OTHER_TYPE: usize = 1_000;
/// The distance between an object and a schema that lists different values for one of its members, as the alternatives
/// of a union do. The more alternatives list values of a member, the better it tells them apart.
const OTHER_MEMBER: usize = 30;
/// The number of alternatives beyond which further ones do not increase the distance.
const MAX_LISTING: usize = 20;

/// The maximum nesting of alternatives that are compared with a value.
const MAX_NESTED: usize = 8;

/// The maximum number of properties that are tried as the reason why an object is refused.
const MAX_MEMBERS: usize = 100;

/// The keyword that refuses a value.
pub(super) struct Leaf<'a> {
    pub(super) spot: Spot<'a>,
    pub(super) lit: &'a Lit,
    /// The path within the value.
    pub(super) path: Vec<String>,
    pub(super) value: Value,
    /// The property that is missing or not allowed, for keywords about names.
    pub(super) member: Option<Sym>,
    /// The node and literal of the difference, to be treated as allowed from now on. `None` if it asserts nothing.
    pub(super) mask: Option<(Id, Lit)>,
    /// The values to treat as allowed, for an alternative that a union does not have; `None` for all values.
    pub(super) foreign: Option<Id>,
    /// Whether the keyword is `unevaluatedProperties` or `unevaluatedItems`. The refused item is the member then.
    pub(super) is_unevaluated: bool,
}

impl<'a> Sources<'a> {
    /// Finds the first keyword that refuses `value` and is `accepted`. `document` is 0 for the old
    /// document, and 1 for the new one.
    pub(super) fn leaf(
        &self,
        table: &mut Table,
        document: usize,
        value: &Value,
        accepted: &dyn Fn(&Leaf<'a>) -> bool,
    ) -> Option<Leaf<'a>> {
        let mut walk = Walk { sources: self, document, value, path: Vec::new(), accepted };
        walk.spot(table, &self.root(document), value)
    }

    /// Returns whether a literal only applies a sub-schema, which is the one that refuses values. Arrays and objects that
    /// must not have further items or properties are refused by the literal itself.
    fn only_applies(&self, lit: &Lit) -> bool {
        match lit {
            Lit::Items(_, id) | Lit::AddProp(_, _, id) => self.graph.lits(*id) != [Lit::Never],
            Lit::Sub(_) | Lit::DepSchema(..) | Lit::If(..) => true,
            lit => matches!(lit, Lit::Prop(..) | Lit::Item(..) | Lit::PatProp(..)),
        }
    }

    pub(super) fn refuses(&self, table: &mut Table, lit: &Lit, value: &Value) -> bool {
        self.classes.lit(lit).is_some_and(|lit| evaluate::literal(table, &lit, value) == Some(false))
    }

    /// Returns how far a value is from an alternative: the number of keywords that refuse it,
    /// weighted by how well they distinguish alternatives. `listing` is from [`Self::listing`].
    fn distance(&self, table: &mut Table, raw: Id, value: &Value, listing: &Listing) -> usize {
        self.distance_within(table, raw, value, listing, MAX_NESTED)
    }

    fn distance_within(&self, table: &mut Table, raw: Id, value: &Value, listing: &Listing, levels: usize) -> usize {
        let Some(levels) = levels.checked_sub(1) else { return 1 };
        let mut distance = 0;
        for lit in self.graph.lits(raw) {
            if self.refuses(table, lit, value) {
                distance += match lit {
                    Lit::Sub(id) => self.distance_within(table, *id, value, listing, levels),
                    Lit::AnyOf(ids) | Lit::OneOf(ids) => {
                        let each = ids.iter().map(|id| self.distance_within(table, *id, value, listing, levels));
                        each.min().unwrap_or_default().max(1)
                    }
                    Lit::Type(_) | Lit::Never => OTHER_TYPE,
                    Lit::Enum(values)
                        if !values.iter().any(|one| is_like(&table.words.values[*one as usize], value)) =>
                    {
                        OTHER_TYPE
                    }
                    Lit::Prop(name, id) if self.listed_values(*id).is_some() => {
                        OTHER_MEMBER * listing.get(name).map_or(1, Vec::len).min(MAX_LISTING)
                    }
                    _ => 1,
                };
            }
        }
        distance
    }

    /// Returns the properties that are missing or not allowed, for keywords about names.
    pub(super) fn odd_members(&self, table: &mut Table, lit: &Lit, value: &Value) -> Vec<Sym> {
        let Value::Object(members) = value else { return Vec::new() };
        let is_odd = |table: &mut Table, name: &str| match lit {
            Lit::PropNames(id) => evaluate::holds(table, self.classes.of(*id), &Value::from(name)) == Some(false),
            Lit::AddProp(names, patterns, _) => {
                evaluate::is_other(&mut table.words, names, patterns, name) != Some(false)
            }
            _ => false,
        };
        match lit {
            Lit::Required(name) => vec![*name],
            Lit::DepRequired(_, names) => {
                names.iter().copied().filter(|name| !members.contains_key(&*table.words.text(*name))).collect()
            }
            _ => {
                let odd: Vec<_> = members.keys().filter(|name| is_odd(table, name)).take(MAX_MEMBERS).collect();
                odd.into_iter().map(|name| table.words.symbol(name)).collect()
            }
        }
    }
}

/// Returns whether two values have the same type.
fn is_like(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// A walk from the root of a document to the keyword that refuses a value.
struct Walk<'s, 'a> {
    sources: &'s Sources<'a>,
    document: usize,
    /// The whole value.
    value: &'s Value,
    /// The path within the value.
    path: Vec<String>,
    accepted: &'s dyn Fn(&Leaf<'a>) -> bool,
}

impl<'a> Walk<'_, 'a> {
    fn spot(&mut self, table: &mut Table, spot: &Spot<'a>, value: &Value) -> Option<Leaf<'a>> {
        let sources = self.sources;
        let (written, _) = sources.graph.split(spot.id);
        let mut lits: Vec<&'a Lit> = written.iter().collect();
        lits.sort_unstable();
        for lit in lits {
            if !sources.refuses(table, lit, value) {
                continue;
            }
            let foreign = match lit {
                Lit::AnyOf(ids) | Lit::OneOf(ids) => self.foreign(table, ids, value),
                _ => None,
            };
            let found = match lit {
                Lit::Sub(id) | Lit::DepSchema(_, id) => self.child(table, spot, lit, *id, value),
                Lit::If(condition, then, other) => {
                    let holds = evaluate::holds(table, sources.classes.of(*condition), value) == Some(true);
                    self.child(table, spot, lit, if holds { *then } else { *other }, value)
                }
                Lit::AnyOf(ids) | Lit::OneOf(ids) if foreign.is_none() => self.branch(table, spot, lit, ids, value),
                _ => self.part(table, spot, lit, value),
            };
            if found.is_some() {
                return found;
            }
            if sources.only_applies(lit) {
                continue;
            }
            let odd = sources.odd_members(table, lit, value);
            let leaf = self.leaf((spot, lit), lit, foreign, value);
            if let Some(leaf) = leaf.and_then(|leaf| self.accepted(leaf, &odd)) {
                return Some(leaf);
            }
        }
        // A part may be unevaluated because another keyword refuses the value, so these come last.
        self.unevaluated(table, spot, value)
    }

    /// Returns a leaf whose mask is `lit`, the literal to treat as allowed, and which is explained by `shown`. Returns
    /// `None` if `lit` asserts nothing.
    fn leaf(
        &self,
        (spot, lit): (&Spot<'a>, &Lit),
        shown: &'a Lit,
        foreign: Option<Id>,
        value: &Value,
    ) -> Option<Leaf<'a>> {
        let classes = self.sources.classes;
        let mask = Some((classes.of(spot.id), classes.lit(lit)?));
        let (spot, path, value) = (spot.clone(), self.path.clone(), value.clone());
        Some(Leaf { spot, lit: shown, path, value, member: None, mask, foreign, is_unevaluated: false })
    }

    /// Returns the leaf with the first of these members for which it is accepted.
    fn accepted(&self, mut leaf: Leaf<'a>, members: &[Sym]) -> Option<Leaf<'a>> {
        let mut members = members.iter().copied().map(Some).chain(members.is_empty().then_some(None));
        members
            .any(|member| {
                leaf.member = member;
                (self.accepted)(&leaf)
            })
            .then_some(leaf)
    }

    /// Returns what `unevaluatedProperties` or `unevaluatedItems` refuses.
    fn unevaluated(&mut self, table: &mut Table, spot: &Spot<'a>, value: &Value) -> Option<Leaf<'a>> {
        for refusal in self.sources.unevaluated(table, spot, value) {
            let found = if *self.sources.graph.lits(refusal.demand) == [Lit::Never] {
                let members: Vec<_> = refusal.parts.iter().map(|part| table.words.symbol(part)).collect();
                let leaf = self.leaf((&refusal.spot, refusal.lit), refusal.rest, None, value);
                leaf.and_then(|leaf| self.accepted(Leaf { is_unevaluated: true, ..leaf }, &members))
            } else {
                let parts = refusal.parts.iter();
                let parts = parts.filter_map(|token| Some((token.clone(), value.pointer(&uri::step(token))?)));
                self.within_parts(table, (&refusal.spot, refusal.rest), refusal.demand, parts.collect())
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn child(&mut self, table: &mut Table, spot: &Spot<'a>, lit: &'a Lit, id: Id, value: &Value) -> Option<Leaf<'a>> {
        self.spot(table, &spot.below(lit, id), value)
    }

    /// Returns the values that no alternative is meant for, if `value` is one of them.
    fn foreign(&self, table: &mut Table, alternatives: &[Id], value: &Value) -> Option<Id> {
        let reached = |table: &mut Table| {
            let (spots, _) = self.sources.reached(table, 1 - self.document, Some(self.value), &self.path);
            spots.iter().map(|spot| spot.id).collect()
        };
        self.sources.foreign(table, alternatives, value, reached)
    }

    /// Follows the closest branch. If several branches are equally close, or all are far from the value, follows a
    /// branch only if it leads to a deeper part of the value than all others.
    fn branch(
        &mut self,
        table: &mut Table,
        spot: &Spot<'a>,
        lit: &'a Lit,
        ids: &[Id],
        value: &Value,
    ) -> Option<Leaf<'a>> {
        let listing = self.sources.listing(ids);
        let counted: Vec<_> = ids.iter().map(|id| (self.sources.distance(table, *id, value, &listing), *id)).collect();
        let least = counted.iter().map(|(count, _)| *count).min().filter(|least| *least > 0)?;
        let closest: Vec<_> = counted.into_iter().filter(|(count, _)| *count == least).map(|(_, id)| id).collect();
        let closest = if closest.len() > 1 { self.changed(table, spot, lit, closest) } else { closest };
        if let ([only], true) = (&closest[..], least < OTHER_MEMBER) {
            return self.child(table, spot, lit, *only, value);
        }
        let mut leaves: Vec<_> = closest.into_iter().filter_map(|id| self.child(table, spot, lit, id, value)).collect();
        leaves.sort_by_key(|leaf| leaf.path.len());
        let best = leaves.pop()?;
        let next = leaves.last().map_or(self.path.len(), |leaf| leaf.path.len());
        (best.path.len() > next).then_some(best)
    }

    /// Narrows down the alternatives: to those that the other document does not have, if there are any, and then to the
    /// one at whose place the other document has a sub-schema that applies to the value, if there is one.
    fn changed(&self, table: &mut Table, spot: &Spot<'a>, lit: &'a Lit, alternatives: Vec<Id>) -> Vec<Id> {
        let (sources, other) = (self.sources, 1 - self.document);
        let (reached, _) = sources.reached(table, other, Some(self.value), &self.path);
        let theirs: HashSet<_> = reached
            .iter()
            .flat_map(|spot| sources.graph.lits(spot.id))
            .flat_map(|lit| if let Lit::AnyOf(ids) | Lit::OneOf(ids) = lit { &ids[..] } else { &[] })
            .map(|id| sources.classes.of(*id))
            .collect();
        let kept = |wanted: &dyn Fn(&Id) -> bool| {
            let kept: Vec<_> = alternatives.iter().copied().filter(wanted).collect();
            if kept.is_empty() { alternatives.clone() } else { kept }
        };
        let changed = kept(&|id| !theirs.contains(&sources.classes.of(*id)));
        let places: HashSet<_> = reached.iter().map(|spot| sources.place(other, spot, table)).collect();
        let is_there = |id: &&Id| places.contains(&sources.place(self.document, &spot.below(lit, **id), table));
        match changed.iter().find(is_there) {
            Some(id) => vec![*id],
            None => changed,
        }
    }

    fn part(&mut self, table: &mut Table, spot: &Spot<'a>, lit: &'a Lit, value: &Value) -> Option<Leaf<'a>> {
        let (id, parts): (Id, Vec<(String, &Value)>) = match (lit, value) {
            (Lit::Prop(name, id), Value::Object(members)) => {
                let name = table.words.text(*name);
                (*id, members.get(&*name).map(|member| (name.to_string(), member)).into_iter().collect())
            }
            (Lit::Item(at, id), Value::Array(items)) => {
                let at = usize::try_from(*at).ok()?;
                (*id, items.get(at).map(|item| (at.to_string(), item)).into_iter().collect())
            }
            (Lit::Items(from, id), Value::Array(items)) => {
                let from = usize::try_from(*from).ok()?;
                (*id, items.iter().enumerate().skip(from).map(|(at, item)| (at.to_string(), item)).collect())
            }
            (Lit::PatProp(pattern, id), Value::Object(members)) => {
                let parts = members.iter().filter(|(name, _)| table.words.matches(*pattern, name) == Some(true));
                (*id, parts.map(|(name, member)| (name.clone(), member)).collect())
            }
            (Lit::AddProp(names, patterns, id), Value::Object(members)) => {
                let words = &mut table.words;
                let others =
                    members.iter().filter(|(name, _)| evaluate::is_other(words, names, patterns, name) != Some(false));
                (*id, others.map(|(name, member)| (name.clone(), member)).collect())
            }
            _ => return None,
        };
        if !self.sources.only_applies(lit) {
            return None;
        }
        self.within_parts(table, (spot, lit), id, parts)
    }

    /// Returns the first keyword of `id` that refuses one of the parts of a value.
    fn within_parts(
        &mut self,
        table: &mut Table,
        (spot, lit): (&Spot<'a>, &'a Lit),
        id: Id,
        parts: Vec<(String, &Value)>,
    ) -> Option<Leaf<'a>> {
        for (token, part) in parts {
            if evaluate::holds(table, self.sources.classes.of(id), part) == Some(false) {
                self.path.push(token);
                let found = self.child(table, spot, lit, id, part);
                self.path.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }
}
