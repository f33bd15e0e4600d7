//! Builds values without parts: nulls, booleans, numbers and strings that satisfy the facts.

use std::rc::Rc;

use num_rational::BigRational;
use serde_json::Value;

use super::engine::{Answer, Engine};
use super::flatten::{Kind, State};
use super::strings;
use crate::model::compatibility::{
    found::Found,
    graph::node::{self, Id, Lit},
    {evaluate, numbers},
};

impl State {
    /// Returns the values that the facts exclude explicitly.
    fn refused(&self, engine: &Engine<'_>) -> Vec<Value> {
        let mut refused = Vec::new();
        for fact in self.facts.iter().filter(|fact| !fact.holds) {
            if let Lit::Enum(ids) = &engine.table.lits(fact.node)[fact.at] {
                refused.extend(ids.iter().map(|id| engine.table.words.values[*id as usize].clone()));
            }
        }
        refused
    }

    pub fn plain(&self, engine: &mut Engine<'_>) -> Answer {
        let refused = self.refused(engine);
        let all = match self.kind {
            Kind::Null => vec![Value::Null],
            _ => vec![Value::Bool(true), Value::Bool(false)],
        };
        self.among(engine, all.into_iter().filter(|value| !refused.contains(value)))
    }

    /// Returns one of these values that satisfies the goal.
    fn among(&self, engine: &mut Engine<'_>, values: impl Iterator<Item = Value>) -> Answer {
        let mut best = Answer::Empty;
        for value in values {
            match engine.check(&self.goal, &value) {
                Some(true) => return Answer::Witness(Rc::new(value)),
                Some(false) => {}
                None => best = Answer::PossibleWitness(Rc::new(value)),
            }
        }
        best
    }

    /// Returns the sub-schemas that the facts are from.
    pub fn nodes(&self) -> impl Iterator<Item = Id> {
        self.facts.iter().map(|fact| fact.node)
    }

    pub fn number(&self, engine: &mut Engine<'_>) -> Answer {
        let mut wanted = numbers::Wanted {
            integers: self.types & (node::INTEGER | node::WHOLE) != 0,
            fractions: self.types & node::FRACTION != 0,
            excluded: self.refused(engine).iter().filter_map(Value::as_number).filter_map(numbers::rational).collect(),
            ..Default::default()
        };
        for fact in &self.facts {
            let lits = engine.table.lits(fact.node);
            let number = |id: &u32| -> &BigRational { &engine.table.words.numbers[*id as usize] };
            match (&lits[fact.at], fact.holds) {
                (Lit::Min(id, strict), true) => wanted.above(number(id), *strict),
                (Lit::Min(id, strict), false) => wanted.below(number(id), !strict),
                (Lit::Max(id, strict), true) => wanted.below(number(id), *strict),
                (Lit::Max(id, strict), false) => wanted.above(number(id), !strict),
                (Lit::Multiple(id), true) => wanted.multiples.push(number(id).clone()),
                (Lit::Multiple(id), false) => wanted.not_multiples.push(number(id).clone()),
                _ => {}
            }
        }
        if let Some(only) = wanted.only() {
            // Let the validator decide whether the only possible number is valid.
            let spellings = evaluate::spellings(&only).into_iter();
            return self.among(engine, spellings.filter(|value| evaluate::type_of(value) & self.types != 0));
        }
        // A fraction is a clearer example than a whole number in another spelling.
        if self.types & node::INTEGER == 0 && wanted.fractions && wanted.integers {
            wanted.integers = false;
            if let Found::One(value) = wanted.find() {
                return Answer::Witness(Rc::new(value));
            }
            wanted.integers = true;
        }
        let mut found = wanted.find();
        if self.types & node::INTEGER == 0 && matches!(&found, Found::One(value) if self.spelled(value).is_none()) {
            // Look for a number that is not written as an integer.
            let limit = BigRational::from_integer(evaluate::INTEGERS.into());
            wanted.above(&-&limit, true);
            wanted.below(&limit, true);
            found = wanted.find();
        }
        match found {
            Found::One(value) => {
                self.spelled(&value).map_or(Answer::Undecided, |value| Answer::Witness(Rc::new(value)))
            }
            Found::None => Answer::Empty,
            Found::Unsure => {
                engine
                    .record_obstacle(self.nodes(), || "numbers too large or too precise to compare exactly".to_owned());
                Answer::Undecided
            }
        }
    }

    /// Returns a number in a spelling that the types allow.
    fn spelled(&self, value: &Value) -> Option<Value> {
        evaluate::spellings(value).into_iter().find(|value| evaluate::type_of(value) & self.types != 0)
    }

    pub fn string(&self, engine: &mut Engine<'_>) -> Answer {
        let (lengths, excluded) = (self.limits(engine), strings::texts(self.refused(engine).iter()));
        let mut wanted = strings::Wanted { lengths, excluded, ..Default::default() };
        for fact in &self.facts {
            match (&engine.table.lits(fact.node)[fact.at], fact.holds) {
                (Lit::Pattern(pattern), holds) => wanted.patterns.push((*pattern, holds)),
                (Lit::Check(check), holds) => wanted.checks.push((*check, holds)),
                _ => {}
            }
        }
        match wanted.find(engine) {
            Found::One(text) => Answer::Witness(Rc::new(Value::String(text))),
            Found::None => Answer::Empty,
            Found::Unsure => {
                let words = &engine.table.words;
                let checks = wanted.checks.iter().map(|(id, _)| {
                    let check = &words.checks[*id as usize];
                    check.format.as_ref().map_or_else(|| check.keywords.clone(), |format| format!("format {format:?}"))
                });
                let patterns = wanted.patterns.iter().map(|(id, _)| format!("pattern {:?}", &*words.written(*id)));
                let names: Vec<_> = checks.chain(patterns).collect();
                let why = match &names[..] {
                    names if names.is_empty() || wanted.lengths.least > strings::LONGEST => {
                        format!("strings of {} characters are too long to construct", wanted.lengths.least)
                    }
                    names => format!("no rule for this combination of string keywords: {}", names.join(", ")),
                };
                engine.record_obstacle(self.nodes(), || why);
                Answer::Undecided
            }
        }
    }
}
