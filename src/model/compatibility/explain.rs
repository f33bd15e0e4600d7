//! Explains why a witness fails: the innermost keyword that refuses it, and the other schema at the same place.

use serde_json::Value;

use super::dialect::Graph;
use super::evaluate;
use super::intern::Classes;
use super::node::{Id, Lit, Sym, Table};
use super::rules::{self, Direction, Place};
use super::uri;

/// The keyword that refuses a value.
pub(super) struct Leaf {
    raw: Id,
    lit: Lit,
    path: Vec<String>,
    value: Value,
    /// The property that is not allowed, for keywords about names.
    member: Option<Sym>,
}

/// Both documents, parsed.
pub(super) struct Sources<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) classes: &'a Classes,
}

/// A difference with its explanation.
pub(super) struct Explained {
    pub(super) rule: &'static str,
    pub(super) message: String,
    /// The JSON Pointer to the place in the witness.
    pub(super) at: String,
    pub(super) pointers: [Option<String>; 2],
}

impl Leaf {
    /// Returns the node and literal to treat as allowed from then on.
    pub(super) fn mask(&self, sources: &Sources<'_>) -> Option<(Id, Lit)> {
        Some((sources.classes.of(self.raw), sources.classes.lit(&self.lit)?))
    }
}

impl Sources<'_> {
    /// Finds the keyword below `root` that refuses `value` and is not yet treated as allowed.
    pub(super) fn leaf(
        &self,
        table: &mut Table,
        root: Id,
        value: &Value,
        masked: &dyn Fn(&(Id, Lit)) -> bool,
    ) -> Option<Leaf> {
        self.walk(table, root, value, &mut Vec::new(), masked)
    }

    fn refuses(&self, table: &mut Table, lit: &Lit, value: &Value) -> bool {
        self.classes.lit(lit).is_some_and(|lit| evaluate::literal(table, &lit, value) == Some(false))
    }

    fn walk(
        &self,
        table: &mut Table,
        raw: Id,
        value: &Value,
        path: &mut Vec<String>,
        masked: &dyn Fn(&(Id, Lit)) -> bool,
    ) -> Option<Leaf> {
        let mut lits: Vec<&Lit> = self.graph.raws[raw as usize].lits.iter().collect();
        lits.sort_unstable();
        for lit in lits {
            if !self.refuses(table, lit, value) {
                continue;
            }
            let found = match lit {
                Lit::Sub(id) | Lit::DepSchema(_, id) => self.walk(table, *id, value, path, masked),
                Lit::If(condition, then, other) => {
                    let holds = evaluate::holds(table, self.classes.of(*condition), value) == Some(true);
                    self.walk(table, if holds { *then } else { *other }, value, path, masked)
                }
                Lit::AnyOf(ids) | Lit::OneOf(ids) => self.branch(table, ids, value, path, masked),
                _ => self.part(table, lit, value, path, masked),
            };
            if found.is_some() {
                return found;
            }
            let is_own = !matches!(lit, Lit::Sub(_) | Lit::DepSchema(..) | Lit::If(..) | Lit::Prop(..) | Lit::Item(..));
            let leaf = Leaf {
                raw,
                lit: lit.clone(),
                path: path.clone(),
                value: value.clone(),
                member: self.odd_member(table, lit, value),
            };
            if is_own && leaf.mask(self).is_some_and(|mask| !masked(&mask)) {
                return Some(leaf);
            }
        }
        None
    }

    /// Follows the branch in which the fewest keywords fail.
    fn branch(
        &self,
        table: &mut Table,
        ids: &[Id],
        value: &Value,
        path: &mut Vec<String>,
        masked: &dyn Fn(&(Id, Lit)) -> bool,
    ) -> Option<Leaf> {
        let counted: Vec<_> = ids.iter().map(|id| (self.failures(table, *id, value), *id)).collect();
        let least = counted.iter().map(|(count, _)| *count).min().filter(|least| *least > 0)?;
        let closest: Vec<_> = counted.into_iter().filter(|(count, _)| *count == least).map(|(_, id)| id).collect();
        let mut leaves: Vec<_> =
            closest.into_iter().filter_map(|id| self.walk(table, id, value, path, masked)).collect();
        leaves.sort_by_key(|leaf| leaf.path.len());
        let best = leaves.pop()?;
        let next = leaves.last().map_or(path.len(), |leaf| leaf.path.len());
        (best.path.len() > next).then_some(best)
    }

    /// Returns the number of keywords of a sub-schema that refuse a value.
    fn failures(&self, table: &mut Table, raw: Id, value: &Value) -> usize {
        let mut count = 0;
        for lit in &self.graph.raws[raw as usize].lits {
            if self.refuses(table, lit, value) {
                count += match lit {
                    Lit::Sub(id) => self.failures(table, *id, value),
                    // The value is of another type altogether.
                    Lit::Type(_) | Lit::Never => 100,
                    _ => 1,
                };
            }
        }
        count
    }

    fn part(
        &self,
        table: &mut Table,
        lit: &Lit,
        value: &Value,
        path: &mut Vec<String>,
        masked: &dyn Fn(&(Id, Lit)) -> bool,
    ) -> Option<Leaf> {
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
                let mut parts = Vec::new();
                for (name, member) in members {
                    let is_named = table.words.known(name).is_some_and(|name| names.contains(&name));
                    if !is_named && !patterns.iter().any(|p| table.words.matches(*p, name) == Some(true)) {
                        parts.push((name.clone(), member));
                    }
                }
                (*id, parts)
            }
            _ => return None,
        };
        if matches!(lit, Lit::AddProp(..) | Lit::Items(..))
            && matches!(self.graph.raws[id as usize].lits[..], [Lit::Never])
        {
            return None;
        }
        for (token, part) in parts {
            if evaluate::holds(table, self.classes.of(id), part) == Some(false) {
                path.push(token);
                let found = self.walk(table, id, part, path, masked);
                path.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn odd_member(&self, table: &mut Table, lit: &Lit, value: &Value) -> Option<Sym> {
        let Value::Object(members) = value else { return None };
        match lit {
            Lit::Required(name) => Some(*name),
            Lit::AddProp(names, patterns, _) => {
                let name = members.keys().find(|name| {
                    let is_named = table.words.known(name).is_some_and(|name| names.contains(&name));
                    !is_named && !patterns.iter().any(|pattern| table.words.matches(*pattern, name) == Some(true))
                })?;
                Some(table.words.symbol(name))
            }
            _ => None,
        }
    }

    /// Returns the sub-schemas below `root` that apply to a value at a path.
    fn reached(&self, table: &mut Table, root: Id, value: &Value, path: &[String]) -> Vec<Id> {
        let mut reached = Vec::new();
        let mut value = Some(value);
        let mut here = vec![root];
        for token in path.iter().map(Some).chain([None]) {
            reached.clear();
            self.in_place(table, here, value, &mut reached);
            let Some(token) = token else { break };
            here = reached.iter().flat_map(|id| self.below(table, *id, token)).collect();
            value = value.and_then(|value| match value {
                Value::Object(members) => members.get(token),
                Value::Array(items) => token.parse::<usize>().ok().and_then(|at| items.get(at)),
                _ => None,
            });
        }
        reached
    }

    fn in_place(&self, table: &mut Table, mut waiting: Vec<Id>, value: Option<&Value>, reached: &mut Vec<Id>) {
        let mut seen = std::collections::HashSet::new();
        waiting.reverse();
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) || seen.len() > 1_000 {
                continue;
            }
            reached.push(id);
            for lit in &self.graph.raws[id as usize].lits {
                match lit {
                    Lit::Sub(id) => waiting.push(*id),
                    Lit::AnyOf(ids) | Lit::OneOf(ids) => {
                        let holds = |table: &mut Table, id: Id| {
                            value.is_none_or(|value| evaluate::holds(table, self.classes.of(id), value) != Some(false))
                        };
                        waiting.extend(ids.iter().copied().filter(|id| holds(table, *id)));
                    }
                    Lit::If(_, then, other) => waiting.extend([*then, *other]),
                    Lit::DepSchema(_, id) => waiting.push(*id),
                    _ => {}
                }
            }
        }
    }

    fn below(&self, table: &mut Table, id: Id, token: &str) -> Vec<Id> {
        let symbol = table.words.known(token);
        let at = token.parse::<u64>().ok();
        let lits = &self.graph.raws[id as usize].lits;
        let mut found: Vec<_> = lits
            .iter()
            .filter_map(|lit| match lit {
                Lit::Prop(name, id) if Some(*name) == symbol => Some(*id),
                Lit::PatProp(pattern, id) if table.words.matches(*pattern, token) == Some(true) => Some(*id),
                Lit::Item(place, id) if Some(*place) == at => Some(*id),
                Lit::Items(from, id) if at.is_some_and(|at| at >= *from) => Some(*id),
                _ => None,
            })
            .collect();
        if found.is_empty() {
            found.extend(lits.iter().filter_map(|lit| match lit {
                Lit::AddProp(_, _, id) => Some(*id),
                _ => None,
            }));
        }
        found
    }

    /// Explains a leaf: the rule, the location in both schemas, and the consequence.
    pub(super) fn explain(
        &self,
        table: &mut Table,
        leaf: &Leaf,
        other_root: Id,
        witness: &Value,
        direction: Direction,
    ) -> Explained {
        let own = self.graph.raws[leaf.raw as usize].document;
        let other = self.reached(table, other_root, witness, &leaf.path);
        let same = other.iter().find_map(|id| {
            let lits = &self.graph.raws[*id as usize].lits;
            let same = lits.iter().find(|lit| rules::is_same_keyword(lit, &leaf.lit))?;
            Some((*id, same))
        });
        let names_member = leaf.member.is_some_and(|name| {
            let has = |id: &Id| {
                self.graph.raws[*id as usize].lits.iter().any(|lit| matches!(lit, Lit::Prop(n, _) if *n == name))
            };
            other.iter().any(has)
        });
        let mut pointers = [None, None];
        pointers[own] = Some(self.pointer(table, leaf.raw, &leaf.lit));
        pointers[1 - own] = match same {
            Some((id, lit)) => Some(self.pointer(table, id, lit)),
            None => other.first().map(|id| self.graph.pointer(*id)),
        };
        let at: String = leaf.path.iter().map(|token| uri::step(token)).collect();
        let place = Place {
            direction,
            lit: &leaf.lit,
            other: same.map(|(_, lit)| lit),
            value: &leaf.value,
            member: leaf.member.map(|name| table.words.text(name)),
            names_member,
        };
        let (rule, message) = rules::describe(&place, &table.words);
        Explained { rule, message, at, pointers }
    }

    /// Returns the JSON Pointer to a keyword.
    fn pointer(&self, table: &Table, raw: Id, lit: &Lit) -> String {
        let schema = self.graph.raws[raw as usize].value;
        let keyword = rules::keywords(lit).iter().find(|keyword| schema.get(**keyword).is_some());
        let below = match lit {
            Lit::Prop(name, _) | Lit::DepRequired(name, _) | Lit::DepSchema(name, _) => {
                uri::step(&table.words.text(*name))
            }
            Lit::Item(at, _) => format!("/{at}"),
            _ => String::new(),
        };
        match keyword {
            Some(keyword) => format!("{}/{keyword}{below}", self.graph.pointer(raw)),
            None => self.graph.pointer(raw),
        }
    }
}
