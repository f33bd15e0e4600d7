//! Decides a goal that is already split into facts and choices: takes branches while there are choices, then builds a
//! value from the facts.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::branch::BranchStatus;
use super::engine::{Answer, Atom, Engine, Obstacle};
use super::flatten::{Branches, Choice, EXCLUDED, Item, Kind, REFUSED, State};
use super::sender;
use super::summary::are_apart;
use crate::model::compatibility::{
    evaluate,
    graph::node::{Lit, Sym},
};

/// The number of choices among required schemas at which trying all combinations takes too long.
const MANY: usize = 8;

impl State {
    /// Decides the goal: takes branches while there are choices, then builds a value.
    pub fn solve(mut self, engine: &mut Engine<'_>) -> Answer {
        if !engine.budget.step() || !engine.budget.visit(self.facts.len()) {
            return Answer::Undecided;
        }
        self.sent = self.sent(engine);
        if let Some(answer) = self.by_last_property(engine) {
            return answer;
        }
        if !self.simplify(engine, false) {
            return Answer::Empty;
        }
        if self.has_values
            && let Some(answer) = self.enumerated_values(engine)
        {
            return answer;
        }
        let is_wide = self.open.len() > 1 || self.open.iter().any(|choice| choice.len() > MANY);
        if is_wide && !self.simplify(engine, true) {
            return Answer::Empty;
        }
        let Some(at) = self.next_choice() else {
            return self.build(engine);
        };
        if let Some(answer) = self.look_ahead(engine) {
            return answer;
        }
        let choice = match self.discriminator(engine) {
            Some(name) => Branches::choice(vec![vec![Item::Present(name)], vec![Item::Absent(name)]]),
            None => self.open.swap_remove(at),
        };
        let mut best = Answer::Empty;
        for branch in choice.iter() {
            let mut next = self.clone();
            if next.add(engine, branch.iter().rev().copied().collect()) {
                best = best.or(next.solve(engine));
            }
            if matches!(best, Answer::Witness(_)) || engine.budget.spent().is_some() {
                break;
            }
        }
        best
    }

    /// If exactly one more property is required, and its possible names are known, tries each name.
    /// All other properties are then fully known.
    fn by_last_property(&mut self, engine: &mut Engine<'_>) -> Option<Answer> {
        if self.kind != Kind::Object {
            return None;
        }
        let limits = self.limits(engine);
        self.most = limits.most;
        let count = self.present.len() as u64;
        let fence = self.fences.iter().find(|fence| fence.patterns.is_empty()).cloned();
        let is_last = limits.most == Some(count + 1) && limits.least > count;
        let fence = fence.filter(|_| self.open.len() > 1 && is_last)?;
        let names: Vec<_> = fence.names.iter().filter(|name| !self.present.contains(name)).copied().collect();
        let mut best = Answer::Empty;
        for name in names {
            let mut next = self.clone();
            if !self.is_barred(engine, name) && next.add(engine, vec![Item::Present(name)]) {
                best = best.or(next.solve(engine));
            }
            if matches!(best, Answer::Witness(_)) || engine.budget.spent().is_some() {
                break;
            }
        }
        Some(best)
    }

    /// Returns the choice to take next. Choices between schemas that must hold come first, since they rule out the
    /// most. If there are many of those, but only one refusal, the refusal comes first, since it shows which of them
    /// matter. Choices about whether a property is absent come last.
    fn next_choice(&self) -> Option<usize> {
        let holding = self.open.iter().filter(|choice| is_about_what_holds(choice)).count();
        let refusals = self.open.iter().filter(|choice| is_refusal(choice)).count();
        let is_only_refusal = refusals == 1 && holding >= MANY;
        let rank = |choice: &Choice| {
            if is_only_refusal && is_refusal(choice) {
                0
            } else if is_about_what_holds(choice) {
                1
            } else if matches!(choice[0][..], [Item::Absent(_)]) {
                3
            } else {
                2
            }
        };
        (0..self.open.len()).min_by_key(|at| (rank(&self.open[*at]), self.open[*at].len()))
    }

    /// Returns a property with known values whose presence alone decides many refusals.
    fn discriminator(&self, engine: &mut Engine<'_>) -> Option<Sym> {
        let mut decided: BTreeMap<Sym, usize> = BTreeMap::new();
        for branch in self.open.iter().filter(|choice| is_refusal(choice)).flat_map(|choice| choice.iter()) {
            let [Item::Lit(fact)] = branch[..] else { continue };
            let Lit::Prop(name, id) = engine.table.lits(fact.node)[fact.at] else { continue };
            let Some(known) = self.members.get(&name).filter(|_| !self.present.contains(&name)) else { continue };
            if are_apart(engine, known, id) {
                *decided.entry(name).or_default() += 1;
            }
        }
        decided.into_iter().filter(|(_, count)| *count >= MANY).max_by_key(|(_, count)| *count).map(|(name, _)| name)
    }

    /// Drops branches that contradict the facts, and choices that are already satisfied. Returns false if a choice has
    /// no branch left. Leaves the rest as it is once the budget is spent.
    fn simplify(&mut self, engine: &mut Engine<'_>, deeply: bool) -> bool {
        loop {
            let mut work = Vec::new();
            let mut kept = Vec::with_capacity(self.open.len());
            // Keep all choices until all are judged, since each may name properties for a sender.
            for choice in self.open.clone() {
                let statuses: Vec<_> = choice.iter().map(|branch| self.branch_status(engine, branch, deeply)).collect();
                if engine.budget.spent().is_some() {
                    return true;
                }
                if statuses.contains(&BranchStatus::Given) {
                    continue;
                }
                let left: Vec<_> = (0..choice.len()).filter(|at| statuses[*at] == BranchStatus::Open).collect();
                match left[..] {
                    [] => return false,
                    [only] => work.extend(choice[only].iter().copied()),
                    _ if left.len() == choice.len() => kept.push(choice),
                    _ => kept.push(Branches::choice(left.into_iter().map(|at| choice[at].clone()).collect())),
                }
            }
            self.open = kept;
            if work.is_empty() {
                return true;
            }
            work.reverse();
            if !self.add(engine, work) {
                return false;
            }
        }
    }

    /// Tries each value if the schemas enumerate the values.
    fn enumerated_values(&self, engine: &mut Engine<'_>) -> Option<Answer> {
        let mut named: Option<BTreeSet<u32>> = None;
        for fact in &self.facts {
            if let (Lit::Enum(ids), true) = (&engine.table.lits(fact.node)[fact.at], fact.holds) {
                let ids: BTreeSet<_> = ids.iter().copied().collect();
                named = Some(named.map_or(ids.clone(), |named| named.intersection(&ids).copied().collect()));
            }
        }
        let mut unsure = None;
        for id in named? {
            let value = engine.table.words.values[id as usize].clone();
            let all = if engine.table.words.tells_spellings {
                evaluate::all_spellings(&value)
            } else {
                Some(evaluate::spellings(&value))
            };
            if all.is_none() {
                unsure.get_or_insert_with(|| value.clone());
            }
            for value in all.unwrap_or_else(|| vec![value]) {
                if evaluate::type_of(&value) & self.types == 0 {
                    continue;
                }
                match engine.check(&self.goal, &value) {
                    Some(true) if self.is_sent(engine, &value) => return Some(Answer::Witness(Rc::new(value))),
                    // A schema that was not read may name more.
                    Some(true) if engine.table.words.external.is_some() => drop(unsure.get_or_insert(value)),
                    Some(_) => {}
                    None => drop(unsure.get_or_insert(value)),
                }
            }
        }
        match unsure {
            None => Some(Answer::Empty),
            Some(_) if !self.open.is_empty() => None,
            Some(value) => Some(Answer::PossibleWitness(Rc::new(value))),
        }
    }

    /// Returns whether the lenient senders of the goal send a value.
    fn is_sent(&self, engine: &mut Engine<'_>, value: &Value) -> bool {
        let mut lenient = self.goal.iter().filter(|atom| atom.is_lenient());
        lenient.all(|atom| sender::is_sent(&mut engine.table, atom.id(), value))
    }

    /// Tries to decide without the open choices. If nothing satisfies the facts, no choice helps; otherwise the value
    /// found may happen to satisfy the rest.
    fn look_ahead(&self, engine: &mut Engine<'_>) -> Option<Answer> {
        let obstacle = engine.obstacle.clone();
        let found = self.value(engine);
        engine.obstacle = obstacle;
        match found {
            Answer::Empty => Some(Answer::Empty),
            Answer::Witness(value) if !self.goal.iter().any(|atom| atom.is_lenient()) => {
                (engine.check(&self.goal, &value) == Some(true)).then_some(Answer::Witness(value))
            }
            _ => None,
        }
    }

    /// Returns a value that satisfies the facts, ignoring open choices.
    fn value(&self, engine: &mut Engine<'_>) -> Answer {
        match self.kind {
            Kind::Null | Kind::Boolean => self.plain(engine),
            Kind::Number => self.number(engine),
            Kind::String => self.string(engine),
            Kind::Array => self.array(engine),
            Kind::Object => self.object(engine),
        }
    }

    /// Builds a value from the facts. There must be no open choices.
    fn build(self, engine: &mut Engine<'_>) -> Answer {
        let obstacle = engine.obstacle.clone();
        let found = self.value(engine);
        let value = match found {
            Answer::Empty => return Answer::Empty,
            Answer::Undecided => return self.otherwise(engine, obstacle).unwrap_or(Answer::Undecided),
            Answer::Witness(value) | Answer::PossibleWitness(value) => value,
        };
        match engine.check(&self.goal, &value) {
            Some(true) => Answer::Witness(value),
            verdict => match self.otherwise(engine, obstacle) {
                Some(answer) => answer,
                None if verdict.is_none() => Answer::PossibleWitness(value),
                None => Answer::Undecided,
            },
        }
    }

    /// Decides the goal in other ways, if building a value did not.
    fn otherwise(&self, engine: &mut Engine<'_>, obstacle: Option<Obstacle>) -> Option<Answer> {
        if let Some(answer) = self.every_value(engine) {
            engine.obstacle = obstacle;
            return Some(answer);
        }
        self.refusing_excluded(engine, obstacle)
    }

    /// Decides the goal again, with all other branches of a chosen `oneOf` refused explicitly.
    fn refusing_excluded(&self, engine: &mut Engine<'_>, obstacle: Option<Obstacle>) -> Option<Answer> {
        let mut others: Vec<_> = self
            .seen
            .iter()
            .filter(|(_, seen)| **seen & EXCLUDED != 0 && **seen & REFUSED == 0)
            .map(|(id, _)| *id)
            .collect();
        others.sort_unstable();
        if others.is_empty() {
            return None;
        }
        let mut next = self.clone();
        let is_open = next.settle(engine, others.into_iter().map(Atom::is_not));
        engine.obstacle = obstacle;
        Some(if is_open { next.solve(engine) } else { Answer::Empty })
    }
}

/// Returns whether a choice is between the literals of a schema that must not hold.
fn is_refusal(choice: &[Vec<Item>]) -> bool {
    choice.iter().all(|branch| matches!(branch[..], [Item::Lit(fact)] if !fact.holds))
}

/// Returns whether a choice is between schemas that must hold.
fn is_about_what_holds(choice: &[Vec<Item>]) -> bool {
    choice.iter().flatten().any(|item| matches!(item, Item::Atom(atom) if atom.holds()))
}
