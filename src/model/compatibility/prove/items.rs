//! Finds a value for each item of an array, all different if the array must have unique items.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::engine::{Answer, Atom, Engine};
use crate::model::compatibility::graph::node::{Id, Lit};

/// The maximum number of orders in which different items are chosen.
const MAX_ORDERS: usize = 8;
/// The maximum number of members that are tried to tell objects apart.
const MAX_MEMBERS: usize = 4;

/// Builds an array from the demands on each item.
pub fn items(engine: &mut Engine<'_>, unique: bool, repeated: bool, mut goals: Vec<Vec<Atom>>) -> Option<Value> {
    if repeated {
        repeat(engine, &mut goals)?;
    }
    let mut order: Vec<usize> = (0..goals.len()).collect();
    for _ in 0..MAX_ORDERS {
        match in_order(engine, unique, &goals, &order) {
            Ok(mut items) => {
                items.sort_unstable_by_key(|(at, _)| *at);
                return Some(items.into_iter().map(|(_, item)| (*item).clone()).collect());
            }
            // If no value is left for an item, the next attempt chooses that item first.
            Err(stuck) if unique && order[0] != stuck => {
                order.retain(|at| *at != stuck);
                order.insert(0, stuck);
            }
            Err(_) => return None,
        }
    }
    None
}

/// Chooses the items in this order. Returns the index of the first one that has no value.
fn in_order(
    engine: &mut Engine<'_>,
    unique: bool,
    goals: &[Vec<Atom>],
    order: &[usize],
) -> Result<Vec<(usize, Rc<Value>)>, usize> {
    let mut items: Vec<Rc<Value>> = Vec::with_capacity(goals.len());
    let mut before: Option<&[Atom]> = None;
    for at in order {
        let goal = &goals[*at][..];
        let similar = if before != Some(goal) {
            None
        } else if unique {
            another(engine, goal, &items)
        } else {
            items.last().cloned()
        };
        before = Some(goal);
        if let Some(value) = similar {
            items.push(value);
            continue;
        }
        let goal = if unique { distinct(engine, goal.to_vec(), &items) } else { goal.to_vec() };
        match engine.goal(goal) {
            Answer::Witness(value) | Answer::PossibleWitness(value) => items.push(value),
            _ => return Err(*at),
        }
    }
    Ok(order.iter().copied().zip(items).collect())
}

/// Returns an object that satisfies a goal, with a member whose value differs from that of every
/// item. Excluding the values of one member is easier than excluding whole objects.
pub fn another(engine: &mut Engine<'_>, goal: &[Atom], items: &[Rc<Value>]) -> Option<Rc<Value>> {
    let last = items.last().filter(|last| last.is_object())?;
    let all: Vec<&Value> = items.iter().map(|item| &**item).collect();
    for differs in differing(engine, last, &all) {
        let goal = goal.iter().copied().chain([Atom::is(differs, false)]).collect();
        if let Answer::Witness(value) = engine.goal(goal) {
            return Some(value);
        }
    }
    None
}

/// Returns schemas of values that differ from all of these in one number or string, at the place of one in `like`.
fn differing(engine: &mut Engine<'_>, like: &Value, all: &[&Value]) -> Vec<Id> {
    match like {
        Value::String(_) | Value::Number(_) => {
            let known: BTreeSet<u32> = all.iter().map(|value| engine.table.words.value(value)).collect();
            let known = engine.table.node(vec![Lit::Enum(known.into_iter().collect())]);
            vec![engine.table.node(vec![Lit::Not(known)])]
        }
        Value::Object(members) => {
            let mut found = Vec::new();
            for (name, member) in members {
                let others: Vec<&Value> = all.iter().filter_map(|value| value.get(name)).collect();
                let symbol = engine.table.words.symbol(name);
                for inner in differing(engine, member, &others) {
                    found.push(engine.table.node(vec![Lit::Required(symbol), Lit::Prop(symbol, inner)]));
                }
                if found.len() >= MAX_MEMBERS {
                    break;
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

/// Requires two indexes to have the same value.
fn repeat(engine: &mut Engine<'_>, goals: &mut [Vec<Atom>]) -> Option<()> {
    for one in 0..goals.len() {
        for other in one + 1..goals.len() {
            let both: Vec<_> = goals[one].iter().chain(&goals[other]).copied().collect();
            if let Answer::Witness(value) | Answer::PossibleWitness(value) = engine.goal(both) {
                let id = engine.table.words.value(&value);
                let node = engine.table.node(vec![Lit::Enum(vec![id])]);
                goals[one] = vec![Atom::is(node, false)];
                goals[other] = vec![Atom::is(node, false)];
                return Some(());
            }
        }
    }
    None
}

/// Requires the value of a goal to differ from all of these.
pub fn distinct(engine: &mut Engine<'_>, goal: Vec<Atom>, items: &[Rc<Value>]) -> Vec<Atom> {
    if items.is_empty() {
        return goal;
    }
    let mut ids: Vec<_> = items.iter().map(|item| engine.table.words.value(item)).collect();
    ids.sort_unstable();
    let node = engine.table.node(vec![Lit::Enum(ids)]);
    goal.into_iter().chain([Atom::is_not(node)]).collect()
}
