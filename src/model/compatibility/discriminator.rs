//! Properties that tell the alternatives of a union apart: each alternative lists different values for them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::evaluate;
use super::graph::node::{self, Id, Lit, Sym, Table};
use super::sources::Sources;

/// The schemas that list the values of each member, one for each alternative that does.
pub(super) type Listing = HashMap<Sym, Vec<Id>>;

impl Sources<'_> {
    /// Returns the schemas in some alternatives that list the values of a member.
    pub(super) fn listing(&self, alternatives: &[Id]) -> Listing {
        let mut listing = Listing::new();
        for id in alternatives {
            let mut members = HashMap::new();
            self.listed_members(*id, &mut members);
            members.into_iter().for_each(|(name, schema)| listing.entry(name).or_default().push(schema));
        }
        listing
    }

    fn listed_members(&self, raw: Id, members: &mut HashMap<Sym, Id>) {
        for lit in self.graph.lits(raw) {
            match lit {
                Lit::Prop(name, id) if self.listed_values(*id).is_some() => drop(members.insert(*name, *id)),
                Lit::Sub(id) => self.listed_members(*id, members),
                _ => {}
            }
        }
    }

    /// Returns the values that a schema lists, if it lists them.
    pub(super) fn listed_values(&self, raw: Id) -> Option<&[u32]> {
        self.graph.lits(raw).iter().find_map(|lit| match lit {
            Lit::Enum(values) => Some(&values[..]),
            Lit::Sub(id) => self.graph.lits(*id).iter().find_map(|lit| match lit {
                Lit::Enum(values) => Some(&values[..]),
                _ => None,
            }),
            _ => None,
        })
    }

    /// Returns a node that accepts the values that no alternative is meant for, or `None` if `value` is not one of
    /// them. No alternative is meant for a value if none lists the value of its discriminator. `reached` returns the
    /// sub-schemas that the other document applies there: the values that they list must be different ones too.
    /// Otherwise an existing alternative was changed, rather than a new one added.
    pub(super) fn foreign(
        &self,
        table: &mut Table,
        alternatives: &[Id],
        value: &Value,
        reached: impl FnOnce(&mut Table) -> Vec<Id>,
    ) -> Option<Id> {
        let members = value.as_object()?;
        let mut unmatched = Vec::new();
        for (name, schemas) in self.listing(alternatives) {
            let Some(member) = members.get(&*table.words.text(name)) else { continue };
            if schemas.len() < 2 || !self.are_disjoint(&schemas) {
                continue;
            }
            if schemas.iter().any(|id| evaluate::holds(table, self.classes.of(*id), member) != Some(false)) {
                return None;
            }
            unmatched.push((name, schemas));
        }
        if unmatched.is_empty() {
            return None;
        }
        unmatched.sort_unstable();
        let other = self.listing(&reached(table));
        let (name, schemas) = unmatched.into_iter().find(|(name, schemas)| {
            let new = other.get(name).into_iter().flatten();
            other.contains_key(name) && self.are_disjoint(&schemas.iter().chain(new).copied().collect::<Vec<_>>())
        })?;
        let lists = |id: Id| self.listing(&[id]).contains_key(&name);
        let others: Vec<_> = alternatives.iter().filter(|id| !lists(**id)).collect();
        let not = |id: &Id| Lit::Not(self.classes.of(*id));
        let unlisted = table.node(schemas.iter().map(not).collect());
        let object = [Lit::Type(node::OBJECT), Lit::Required(name), Lit::Prop(name, unlisted)];
        Some(table.node(object.into_iter().chain(others.into_iter().map(not)).collect()))
    }

    /// Returns whether no value is listed by two of the schemas.
    fn are_disjoint(&self, schemas: &[Id]) -> bool {
        let mut seen = HashSet::new();
        schemas.iter().flat_map(|id| self.listed_values(*id).unwrap_or_default()).all(|value| seen.insert(*value))
    }
}
