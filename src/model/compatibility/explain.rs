//! Explains why a witness fails: the innermost keyword that refuses it, and the other schema at the same place.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::evaluate;
use super::graph::node::{Id, Lit, Table};
use super::rules::{self, Place};
use super::sources::{Sources, Spot};
use super::walk::Leaf;
use crate::model::contract::BrokenDirection;
use crate::model::schema::{uri, words};

/// The maximum number of sub-schemas that are looked at because they apply to one value.
const MAX_IN_PLACE: usize = 1_000;

/// A difference with its explanation.
pub(super) struct Explained {
    pub(super) rule: &'static str,
    pub(super) message: String,
    /// The JSON Pointer to the place in the witness.
    pub(super) at: String,
    pub(super) pointers: [Option<String>; 2],
}

impl<'a> Sources<'a> {
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

    /// Adds the `waiting` sub-schemas, and all others that apply to the same value because of them, to `reached`.
    /// Returns `false` if there are too many, so that some were left out.
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
            // The conditions of a case are branches that are reached without it, too.
            let lits = if self.graph.is_case(spot.id) { &[] } else { self.graph.lits(spot.id) };
            for lit in lits {
                let next: Vec<Id> = match lit {
                    Lit::DepSchema(_, id) if self.graph.is_case(*id) => Vec::new(),
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
                Lit::AddProp(names, patterns, id)
                    if evaluate::is_other(&mut table.words, names, patterns, token) != Some(false) =>
                {
                    Some((lit, *id))
                }
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
        let same = other
            .iter()
            .find_map(|spot| Some((spot, self.keywords(spot.id).find(|lit| rules::is_same_keyword(lit, leaf.lit))?)));
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
                let here = self.shown(own, table, &leaf.spot, "");
                let places: Vec<_> = other.iter().map(|spot| self.shown(1 - own, table, spot, "")).collect();
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
            is_unevaluated: leaf.is_unevaluated,
            matching: match leaf.lit {
                Lit::OneOf(ids) => self.matching(table, ids, &leaf.value),
                _ => 0,
            },
        };
        let (rule, mut message) = rules::describe(&place, &table.words);
        if let Some(difference) = self.other_draft(leaf, &other) {
            message += &difference;
        } else if let Some((name, above)) =
            leaf.path.split_last().filter(|_| other.is_empty() && is_member(witness, &at))
            && !self.is_of_condition(table, 1 - own, witness, (above, name))
        {
            message += &format!("; the other schema does not name {}", rules::short(&Value::from(&**name)));
        } else if self.is_unchanged(&pointers)
            && let Some(choice) = self.changed_choice(own, table, &leaf.spot)
        {
            message += &format!("; it applies because {choice} changed");
        }
        if let Some(uri) = self.metaschema_place(own, table, &leaf.spot) {
            message += &format!("; see {uri}");
        }
        Explained { rule, message, at, pointers }
    }

    /// Returns whether a document names the property at a path in the condition of an `if`.
    fn is_of_condition(
        &self,
        table: &mut Table,
        document: usize,
        witness: &Value,
        (above, name): (&[String], &str),
    ) -> bool {
        let (around, _) = self.reached(table, document, Some(witness), above);
        let (mut names, mut patterns) = (BTreeSet::new(), BTreeSet::new());
        for lit in around.iter().flat_map(|spot| self.graph.lits(spot.id)) {
            if let Lit::If(condition, ..) = lit {
                table.add_names(self.classes.of(*condition), &mut names, &mut patterns);
            }
        }
        table.words.known(name).is_some_and(|name| names.contains(&name))
            || patterns.iter().any(|pattern| table.words.matches(*pattern, name) == Some(true))
    }

    /// Returns the literals of a sub-schema that come from one keyword each.
    fn keywords(&self, id: Id) -> impl Iterator<Item = &'a Lit> + use<'a> {
        let (written, made) = self.graph.split(id);
        written.iter().chain(made.iter().filter(|lit| matches!(lit, Lit::AddProp(..) | Lit::Items(..))))
    }

    /// Returns whether both pointers are the same and lead to equal keywords.
    fn is_unchanged(&self, pointers: &[Option<String>; 2]) -> bool {
        let [Some(old), Some(new)] = pointers else { return false };
        let part = |document: usize| Some(self.graph.documents[document].root.pointer(old)?.id());
        old == new && part(0).is_some() && part(0) == part(1)
    }

    /// Returns the pointer to the innermost keyword that selects the sub-schema and is not the same in the other document.
    fn changed_choice(&self, own: usize, table: &Table, spot: &Spot<'_>) -> Option<String> {
        self.choices(own, table, spot).into_iter().find(|place| {
            let part = |document: usize| Some(self.graph.documents[document].root.pointer(place)?.id());
            part(own).zip(part(1 - own)).is_some_and(|(here, there)| here != there)
        })
    }

    /// If both documents have the same keyword, but their drafts read it differently, returns how the other draft reads
    /// it. Considers only keywords whose meaning does not depend on other keywords or on sub-schemas.
    fn other_draft(&self, leaf: &Leaf<'_>, other: &[Spot<'a>]) -> Option<String> {
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
        let mut drafts = other.iter().filter(|spot| written(spot.id) == Some(keyword)).map(draft);
        let there = drafts.find(|there| *there != here)?;
        Some(if words::is_of(keyword.0, there) {
            format!("; the same keyword means something else in {there}, the draft of the other schema")
        } else {
            format!("; {:?} is not a keyword of {there}, the draft of the other schema", keyword.0)
        })
    }

    /// Returns the number of alternatives that a value matches.
    fn matching(&self, table: &mut Table, ids: &[Id], value: &Value) -> usize {
        ids.iter().filter(|id| evaluate::holds(table, self.classes.of(**id), value) == Some(true)).count()
    }

    /// Returns the JSON Pointer to a keyword.
    pub(super) fn pointer(&self, document: usize, table: &Table, spot: &Spot<'_>, lit: &Lit) -> String {
        let schema = self.graph.tree(spot.id);
        let keyword = rules::keywords(lit).iter().find(|keyword| schema.get(keyword).is_some());
        let below = match lit {
            Lit::Prop(name, _) | Lit::PatProp(name, _) | Lit::DepRequired(name, _) | Lit::DepSchema(name, _) => {
                uri::step(&table.words.text(*name))
            }
            Lit::Item(at, _) => format!("/{at}"),
            _ => String::new(),
        };
        self.shown(document, table, spot, &keyword.map_or_else(String::new, |keyword| format!("/{keyword}{below}")))
    }
}

/// Returns whether a JSON Pointer leads to a member of an object.
fn is_member(value: &Value, pointer: &str) -> bool {
    let parent = pointer.rsplit_once('/').and_then(|(parent, _)| value.pointer(parent));
    parent.is_some_and(Value::is_object)
}
