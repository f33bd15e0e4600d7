//! Finds what `unevaluatedProperties` and `unevaluatedItems` refuse. These keywords were rewritten into cases. The case
//! whose conditions a value satisfies determines which parts of the value are evaluated.

use serde_json::Value;

use super::evaluate;
use super::graph::node::{Id, Lit, Table};
use super::sources::{Sources, Spot};

/// A literal of such a case that refuses a value.
pub(super) struct Refusal<'a> {
    /// The case, or the schema with the keyword if there is only one.
    pub(super) spot: Spot<'a>,
    pub(super) lit: &'a Lit,
    /// The literal for all parts that are not evaluated. `lit` may be a condition for one of them.
    pub(super) rest: &'a Lit,
    /// The schema that the keyword demands of these parts.
    pub(super) demand: Id,
    /// The names or indexes of the parts that are refused.
    pub(super) parts: Vec<String>,
}

impl<'a> Sources<'a> {
    /// Returns what `unevaluatedProperties` and `unevaluatedItems` of a sub-schema refuse.
    pub(super) fn unevaluated(&self, table: &mut Table, spot: &Spot<'a>, value: &Value) -> Vec<Refusal<'a>> {
        let (_, made) = self.graph.split(spot.id);
        let mut found = Vec::new();
        for lit in made {
            if !self.refuses(table, lit, value) {
                continue;
            }
            let case = match lit {
                Lit::AnyOf(cases) => cases.iter().find(|case| self.is_satisfied(table, **case, value)),
                _ => None,
            };
            match case {
                Some(case) => {
                    let (below, lits) = (spot.below(lit, *case), self.graph.lits(*case));
                    found.extend(lits.iter().filter_map(|lit| self.refusal(table, &below, lit, value)));
                }
                None => found.extend(self.refusal(table, spot, lit, value)),
            }
        }
        found
    }

    /// Returns whether a value satisfies the conditions of a case.
    fn is_satisfied(&self, table: &mut Table, case: Id, value: &Value) -> bool {
        let mut conditions = self.graph.lits(case).iter().filter(|lit| matches!(lit, Lit::Sub(_) | Lit::Not(_)));
        conditions.all(|lit| !self.refuses(table, lit, value))
    }

    fn refusal(&self, table: &mut Table, spot: &Spot<'a>, lit: &'a Lit, value: &Value) -> Option<Refusal<'a>> {
        if !self.refuses(table, lit, value) {
            return None;
        }
        let rest = match lit {
            Lit::DepSchema(..) => self.graph.split(spot.id).1.iter().find(|lit| matches!(lit, Lit::AddProp(..)))?,
            lit => lit,
        };
        let demand = match rest {
            Lit::AddProp(_, _, id) => *id,
            Lit::Items(_, id) => self.demand(*id),
            _ => return None,
        };
        let parts = self.refused_parts(table, lit, value)?;
        Some(Refusal { spot: spot.clone(), lit, rest, demand, parts })
    }

    /// Returns the names or indexes of the parts of a value that a literal of a case refuses.
    fn refused_parts(&self, table: &mut Table, lit: &Lit, value: &Value) -> Option<Vec<String>> {
        let refuses =
            |table: &mut Table, id: Id, part: &Value| evaluate::holds(table, self.classes.of(id), part) == Some(false);
        Some(match (lit, value) {
            (Lit::DepSchema(name, _), _) => vec![table.words.text(*name).to_string()],
            (Lit::Items(from, id), Value::Array(items)) => {
                let from = usize::try_from(*from).ok()?;
                let indexes = (from..items.len()).filter(|at| refuses(table, *id, &items[*at]));
                indexes.map(|at| at.to_string()).collect()
            }
            (Lit::AddProp(_, _, id), Value::Object(members)) => {
                let others = self.odd_members(table, lit, value);
                let names = others.into_iter().map(|name| table.words.text(name)).collect::<Vec<_>>().into_iter();
                names.filter(|name| refuses(table, *id, &members[&**name])).map(|name| name.to_string()).collect()
            }
            _ => return None,
        })
    }

    /// Returns the demand on items that match no `contains`: the last alternative.
    fn demand(&self, id: Id) -> Id {
        match self.graph.lits(id) {
            [Lit::AnyOf(ways)] if self.graph.is_case(id) => ways.last().copied().unwrap_or(id),
            _ => id,
        }
    }
}
