//! Explains why a witness fails: the innermost keyword that refuses it, and the other schema at the same place.

use std::collections::HashSet;

use serde_json::Value;

use super::discriminator::Listing;
use super::evaluate;
use super::graph::node::{Id, Lit, Sym, Table};
use super::rules::{self, Place};
use super::sources::{Sources, Spot};
use crate::model::contract::BrokenDirection;
use crate::model::schema::{Draft, uri};

/// The distance between a value and a schema of another type.
const OTHER_TYPE: usize = 1_000;
/// The distance between an object and a schema that lists other values of a member, as alternatives of a union do.
/// The more alternatives list its values, the better a member tells them apart.
const OTHER_MEMBER: usize = 30;
/// The number of alternatives above which more make no difference.
const MAX_LISTING: usize = 20;

/// The maximum nesting of alternatives that are compared with a value.
const MAX_NESTED: usize = 8;

/// The maximum number of sub-schemas that are looked at because they apply to one value.
const MAX_IN_PLACE: usize = 1_000;

/// The maximum number of properties that are tried as the reason why an object is refused.
const MAX_MEMBERS: usize = 100;

/// The keyword that refuses a value.
pub(super) struct Leaf<'a> {
    pub(super) spot: Spot<'a>,
    lit: &'a Lit,
    /// The path within the value.
    pub(super) path: Vec<String>,
    pub(super) value: Value,
    /// The property that is missing or not allowed, for keywords about names.
    pub(super) member: Option<Sym>,
    /// The node and literal of the difference, to be treated as allowed from now on. `None` if it asserts nothing.
    pub(super) mask: Option<(Id, Lit)>,
    /// The values to treat as allowed, for an alternative that a union does not have; `None` for all values.
    pub(super) foreign: Option<Id>,
}

/// A difference with its explanation.
pub(super) struct Explained {
    pub(super) rule: &'static str,
    pub(super) message: String,
    /// The JSON Pointer to the place in the witness.
    pub(super) at: String,
    pub(super) pointers: [Option<String>; 2],
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

    fn refuses(&self, table: &mut Table, lit: &Lit, value: &Value) -> bool {
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
    fn odd_members(&self, table: &mut Table, lit: &Lit, value: &Value) -> Vec<Sym> {
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

    /// Returns the sub-schemas of a document that apply to the value along a path, and whether these are all.
    pub(super) fn reached(
        &self,
        table: &mut Table,
        document: usize,
        mut value: Option<&Value>,
        path: &[String],
    ) -> (Vec<Spot<'a>>, bool) {
        let (mut reached, mut are_all) = (Vec::new(), true);
        let mut here = vec![self.root(document)];
        for token in path.iter().map(Some).chain([None]) {
            reached.clear();
            are_all &= self.in_place(table, here, value, &mut reached);
            let Some(token) = token else { break };
            here = reached.iter().flat_map(|spot| self.below(table, spot, token)).collect();
            value = value.and_then(|value| match value {
                Value::Object(members) => members.get(token),
                Value::Array(items) => token.parse::<usize>().ok().and_then(|at| items.get(at)),
                _ => None,
            });
        }
        (reached, are_all)
    }

    /// Adds the sub-schemas that apply to the same value as those that are `waiting`, and these. Returns whether none was
    /// left out because there are too many.
    pub(super) fn in_place(
        &self,
        table: &mut Table,
        mut waiting: Vec<Spot<'a>>,
        value: Option<&Value>,
        reached: &mut Vec<Spot<'a>>,
    ) -> bool {
        let mut seen = HashSet::new();
        waiting.reverse();
        while let Some(spot) = waiting.pop() {
            if !seen.insert(spot.id) {
                continue;
            }
            if seen.len() > MAX_IN_PLACE {
                return false;
            }
            for lit in self.graph.lits(spot.id) {
                let next: Vec<Id> = match lit {
                    Lit::Sub(id) | Lit::DepSchema(_, id) => vec![*id],
                    Lit::AnyOf(ids) | Lit::OneOf(ids) => {
                        let mut holds = |id: Id| {
                            value.is_none_or(|value| evaluate::holds(table, self.classes.of(id), value) != Some(false))
                        };
                        ids.iter().copied().filter(|id| holds(*id)).collect()
                    }
                    Lit::If(_, then, other) => vec![*then, *other],
                    _ => Vec::new(),
                };
                waiting.extend(next.into_iter().map(|id| spot.below(lit, id)));
            }
            reached.push(spot);
        }
        true
    }

    fn below(&self, table: &mut Table, spot: &Spot<'a>, token: &str) -> Vec<Spot<'a>> {
        let symbol = table.words.known(token);
        let at = token.parse::<u64>().ok();
        let lits = self.graph.lits(spot.id);
        let mut found: Vec<_> = lits
            .iter()
            .filter_map(|lit| match lit {
                Lit::Prop(name, id) if Some(*name) == symbol => Some((lit, *id)),
                Lit::PatProp(pattern, id) if table.words.matches(*pattern, token) == Some(true) => Some((lit, *id)),
                Lit::Item(place, id) if Some(*place) == at => Some((lit, *id)),
                Lit::Items(from, id) if at.is_some_and(|at| at >= *from) => Some((lit, *id)),
                _ => None,
            })
            .collect();
        if found.is_empty() {
            found.extend(lits.iter().filter_map(|lit| match lit {
                Lit::AddProp(_, _, id) => Some((lit, *id)),
                _ => None,
            }));
        }
        found.into_iter().map(|(lit, id)| spot.below(lit, id)).collect()
    }

    /// Describes a leaf of a document: the rule, the places on both sides, and the problem.
    pub(super) fn explain(
        &self,
        table: &mut Table,
        leaf: &Leaf<'_>,
        own: usize,
        witness: &Value,
        direction: BrokenDirection,
    ) -> Explained {
        let (other, _) = self.reached(table, 1 - own, Some(witness), &leaf.path);
        let same = other.iter().find_map(|spot| {
            let mut lits = self.graph.lits(spot.id).iter();
            Some((spot, lits.find(|lit| rules::is_same_keyword(lit, leaf.lit))?))
        });
        let named = leaf.member.filter(|_| matches!(leaf.lit, Lit::AddProp(..))).and_then(|name| {
            let text = table.words.text(name);
            let mut is_named = |lit: &&Lit| match lit {
                Lit::Prop(n, _) => *n == name,
                Lit::PatProp(pattern, _) => table.words.matches(*pattern, &text) == Some(true),
                _ => false,
            };
            other.iter().find_map(|spot| Some((spot, self.graph.lits(spot.id).iter().find(&mut is_named)?)))
        });
        let mut pointers = [None, None];
        pointers[own] = Some(self.pointer(own, table, &leaf.spot, leaf.lit));
        pointers[1 - own] = match named.or(same) {
            Some((spot, lit)) => Some(self.pointer(1 - own, table, spot, lit)),
            None => {
                let here = self.place(own, &leaf.spot, table);
                let places: Vec<_> = other.iter().map(|spot| self.place(1 - own, spot, table)).collect();
                places.iter().find(|place| **place == here).or(places.first()).cloned()
            }
        };
        let at: String = leaf.path.iter().map(|token| uri::step(token)).collect();
        let place = Place {
            direction,
            lit: leaf.lit,
            value: &leaf.value,
            member: leaf.member.map(|name| table.words.text(name)),
            names_member: named.is_some(),
            matching: match leaf.lit {
                Lit::OneOf(ids) => self.matching(table, ids, &leaf.value),
                _ => 0,
            },
        };
        let (rule, mut message) = rules::describe(&place, &table.words);
        if let Some(draft) = self.other_draft(leaf, &other) {
            message += &format!("; the same keyword means something else in {draft}, the draft of the other schema");
        } else if let Some(name) = leaf.path.last().filter(|_| other.is_empty() && is_member(witness, &at)) {
            message += &format!("; the other schema does not name {}", rules::short(&Value::from(&**name)));
        }
        Explained { rule, message, at, pointers }
    }

    /// Returns the draft of the other side, if a keyword differs only because the drafts do. Its meaning must not depend on
    /// other keywords or sub-schemas.
    fn other_draft(&self, leaf: &Leaf<'_>, other: &[Spot<'a>]) -> Option<Draft> {
        let draft = |spot: &Spot<'_>| self.graph.context(spot.id).draft;
        let here = draft(&leaf.spot);
        if !matches!(
            leaf.lit,
            Lit::Type(_) | Lit::Enum(_) | Lit::MinLength(_) | Lit::MaxLength(_) | Lit::Pattern(_) | Lit::Check(_)
        ) {
            return None;
        }
        let written = |id: Id| {
            let schema = self.graph.tree(id);
            rules::keywords(leaf.lit).iter().find_map(|keyword| Some((keyword, schema.get(keyword)?)))
        };
        let keyword = written(leaf.spot.id)?;
        other.iter().filter(|spot| written(spot.id) == Some(keyword)).map(draft).find(|there| *there != here)
    }

    /// Returns the number of alternatives that a value matches.
    fn matching(&self, table: &mut Table, ids: &[Id], value: &Value) -> usize {
        ids.iter().filter(|id| evaluate::holds(table, self.classes.of(**id), value) == Some(true)).count()
    }

    /// Returns the JSON Pointer to a keyword.
    fn pointer(&self, document: usize, table: &Table, spot: &Spot<'_>, lit: &Lit) -> String {
        let place = self.place(document, spot, table);
        let schema = self.graph.tree(spot.id);
        let keyword = rules::keywords(lit).iter().find(|keyword| schema.get(keyword).is_some());
        let below = match lit {
            Lit::Prop(name, _) | Lit::PatProp(name, _) | Lit::DepRequired(name, _) | Lit::DepSchema(name, _) => {
                uri::step(&table.words.text(*name))
            }
            Lit::Item(at, _) => format!("/{at}"),
            _ => String::new(),
        };
        match keyword {
            Some(keyword) => format!("{place}/{keyword}{below}"),
            None => place,
        }
    }
}

/// Returns whether a JSON Pointer leads to a member of an object.
fn is_member(value: &Value, pointer: &str) -> bool {
    let parent = pointer.rsplit_once('/').and_then(|(parent, _)| value.pointer(parent));
    parent.is_some_and(Value::is_object)
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
        let mut lits: Vec<&'a Lit> = sources.graph.lits(spot.id).iter().collect();
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
            let mask = sources.classes.lit(lit).map(|lit| (sources.classes.of(spot.id), lit));
            if sources.only_applies(lit) || mask.is_none() {
                continue;
            }
            let odd = sources.odd_members(table, lit, value);
            let (spot, path, value) = (spot.clone(), self.path.clone(), value.clone());
            let mut leaf = Leaf { spot, lit, path, value, member: None, mask, foreign };
            let members = odd.iter().copied().map(Some).chain(odd.is_empty().then_some(None));
            for member in members {
                leaf.member = member;
                if (self.accepted)(&leaf) {
                    return Some(leaf);
                }
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

    /// Follows the closest branch. If several are as close, or none is, follows one only to a part of the value.
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

    /// Returns the alternatives that the other document does not have, or else all. Of these, returns the one at the place
    /// of an alternative that accepts the value there, or else all.
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
