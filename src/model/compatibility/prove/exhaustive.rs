//! Tries every array or object that the facts allow, if there are few. Constraints that are too
//! entangled to be satisfied one at a time usually allow few values.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::array::fewer_than;
use super::engine::{Answer, Atom, Engine};
use super::flatten::{Kind, State};
use super::shape::Shape;
use crate::model::compatibility::{
    evaluate,
    graph::node::{self, Lit, Sym},
};

/// The maximum number of arrays or objects that are tried.
const MAX_VALUES: usize = 5_000;
/// The maximum number of values of one item or property, and of names of properties.
const MAX_EACH: u64 = 12;

impl State {
    /// Decides the goal by trying all values. Returns `None` unless there are known to be few.
    /// There must be no open choices.
    pub fn every_value(&self, engine: &mut Engine<'_>) -> Option<Answer> {
        // `fewer_than` returns only one spelling of each value.
        if engine.table.words.tells_spellings || !engine.masked.is_empty() {
            return None;
        }
        let values = match self.kind {
            Kind::Array => self.every_array(engine)?,
            Kind::Object => self.every_object(engine)?,
            _ => return None,
        };
        for value in values {
            if !engine.budget.step() {
                return None;
            }
            if !self.facts_hold(engine, &value)? {
                continue;
            }
            if engine.check(&self.goal, &value)? {
                return Some(Answer::Witness(Rc::new(value)));
            }
        }
        Some(Answer::Empty)
    }

    fn facts_hold(&self, engine: &mut Engine<'_>, value: &Value) -> Option<bool> {
        for fact in &self.facts {
            let lits = engine.table.lits(fact.node);
            if evaluate::literal(&mut engine.table, &lits[fact.at], value)? != fact.holds {
                return Some(false);
            }
        }
        Some(true)
    }

    fn every_array(&self, engine: &mut Engine<'_>) -> Option<Vec<Value>> {
        let mut shape = self.array_shape(engine);
        self.shorten(engine, &mut shape, &mut true);
        let mut all = if shape.least == 0 { vec![Vec::new()] } else { Vec::new() };
        let mut longest = vec![Vec::new()];
        // Unique items run out by themselves if there are few values.
        let most = shape.most.or(shape.unique.then_some(u64::MAX))?;
        for at in 0..most {
            let items = fewer_than(engine, &shape.any_item(at), MAX_EACH)?;
            // A wanted item may name more properties for a lenient sender.
            if shape.names_more() && items.iter().any(|item| item.is_object() || item.is_array()) {
                return None;
            }
            let longer = longest.iter().flat_map(|array: &Vec<Rc<Value>>| {
                let items = items.iter().filter(|item| !shape.unique || !array.contains(item));
                items.map(|item| array.iter().cloned().chain([Rc::clone(item)]).collect::<Vec<_>>())
            });
            longest = longer.take(MAX_VALUES).collect();
            if longest.is_empty() {
                break;
            }
            if at + 1 >= shape.least {
                all.extend(longest.iter().cloned());
            }
            if longest.len() >= MAX_VALUES || all.len() >= MAX_VALUES {
                return None;
            }
        }
        Some(all.iter().map(|array| array.iter().map(|item| (**item).clone()).collect()).collect())
    }

    fn every_object(&self, engine: &mut Engine<'_>) -> Option<Vec<Value>> {
        let shape = self.shape(engine);
        let mut all = vec![Map::new()];
        for name in self.every_name(engine, &shape)? {
            let goal = self.member(engine, &shape, name);
            let members = goal.map_or(Some(Vec::new()), |goal| fewer_than(engine, &goal, MAX_EACH))?;
            let text = engine.table.words.text(name);
            let with = |object: &Map<String, Value>, member: &Value| {
                let mut object = object.clone();
                object.insert(text.to_string(), member.clone());
                object
            };
            let more: Vec<_> =
                all.iter().flat_map(|object| members.iter().map(|member| with(object, member))).collect();
            if self.present.contains(&name) {
                all.clear();
            }
            all.extend(more);
            if all.len() > MAX_VALUES {
                return None;
            }
        }
        Some(all.into_iter().map(Value::Object).collect())
    }

    /// Returns all names that properties can have, if they are few.
    fn every_name(&self, engine: &mut Engine<'_>, shape: &Shape) -> Option<BTreeSet<Sym>> {
        let fences = self.fences.iter().chain(shape.closed.as_deref());
        if let Some(fence) = fences.into_iter().find(|fence| fence.patterns.is_empty()) {
            return (fence.names.len() as u64 <= MAX_EACH).then(|| fence.names.clone());
        }
        if shape.names.is_empty() {
            return None;
        }
        let text = engine.table.node(vec![Lit::Type(node::STRING)]);
        let goal: Vec<_> = shape.names.iter().copied().chain([Atom::is(text, false)]).collect();
        let names = fewer_than(engine, &goal, MAX_EACH)?;
        names.iter().map(|name| Some(engine.table.words.symbol(name.as_str()?))).collect()
    }
}
