//! Collects the differences of a direction: treats the known ones as allowed, and searches for others.

use std::collections::HashSet;

use serde_json::Value;

use super::{Judge, sides};
use crate::model::{
    compatibility::{
        answer::SchemaDifference,
        graph::node::Lit,
        prove::{Answer, Atom},
        walk::Leaf,
    },
    contract::{BrokenDirection, SchemaReading},
};

/// The maximum number of sub-schemas that are listed for refusing values that one and the same sub-schema accepts.
const MAX_OF_A_PLACE: usize = 3;

impl<'a> Judge<'a> {
    /// Searches for further differences, treating the known ones as allowed. Returns whether all were found and listed.
    pub(super) fn collect(&mut self, direction: BrokenDirection, first: SchemaDifference) -> bool {
        let reading = first.reading;
        let (_, outer) = sides(direction);
        let most = self.differences.len() + self.options.most_differences;
        let table = &mut self.engine.table;
        let leaf = first.witness.as_ref().and_then(|witness| self.sources.leaf(table, outer, witness, &|_| true));
        self.engine.unmask();
        let mut next = Some((first, leaf));
        let (mut are_all_listed, mut general) = (true, HashSet::new());
        let are_all_found = loop {
            let Some((difference, leaf)) = next.take() else { break false };
            let witness = difference.witness.clone();
            let is_crowded = self.is_crowded(&difference);
            are_all_listed &= !is_crowded;
            // A keyword that was treated as allowed for some values only is listed once.
            let mask = leaf.as_ref().filter(|leaf| leaf.foreign.is_none()).and_then(|leaf| leaf.mask.clone());
            let is_repeated = mask.is_some_and(|mask| self.is_explained(&mask.1, &difference) || !general.insert(mask))
                || self.is_listed_with_message(&difference);
            if !is_crowded && !is_repeated {
                if self.differences.len() == most {
                    break false;
                }
                self.differences.push(difference);
            }
            let Some((leaf, witness)) = leaf.zip(witness) else { break false };
            are_all_listed &= self.elsewhere(direction, reading, (&leaf, &witness), most);
            let Some((id, lit)) = leaf.mask else { break false };
            if !self.engine.mask(id, lit, leaf.foreign, &leaf.value) || !self.engine.budget.look() {
                break false;
            }
            let value = match self.ask(direction, reading) {
                Answer::Witness(value) | Answer::PossibleWitness(value) => value,
                Answer::Empty => break !self.may_hide(outer),
                Answer::Undecided => break false,
            };
            let masked = self.engine.masked.clone();
            let is_new = |leaf: &Leaf<'a>| {
                leaf.mask.as_ref().is_some_and(|mask| match masked.get(mask) {
                    None => true,
                    Some(masked) => masked.rest.is_some() && leaf.foreign.is_none(),
                })
            };
            next = self.confirm(direction, reading, (*value).clone(), Some(&is_new));
        };
        self.engine.unmask();
        are_all_found && are_all_listed
    }

    /// Returns whether what is treated as allowed may allow values that are further differences.
    fn may_hide(&self, outer: usize) -> bool {
        let mut alternatives = self.sources.alternatives(outer, false);
        alternatives.extend(self.sources.alternatives(1 - outer, true));
        let is_union = |lit: &Lit| matches!(lit, Lit::AnyOf(_) | Lit::OneOf(_));
        let masked = self.engine.masked.iter();
        let mut general = masked.filter(|(key, one)| !is_union(&key.1) || one.rest.is_none() || one.types != 0);
        general.any(|((id, lit), _)| is_union(lit) || alternatives.contains(id))
    }

    /// Returns whether a value that a union refuses is listed, with an alternative that refuses it.
    fn is_explained(&self, lit: &Lit, found: &SchemaDifference) -> bool {
        let is_same = |one: &SchemaDifference| one.direction == found.direction && one.witness == found.witness;
        matches!(lit, Lit::AnyOf(_) | Lit::OneOf(_)) && self.differences.iter().any(is_same)
    }

    /// Returns whether enough differences are already listed in which the same sub-schema accepts the value, and others
    /// refuse it.
    fn is_crowded(&self, found: &SchemaDifference) -> bool {
        fn places(one: &SchemaDifference) -> (Option<&str>, Option<&str>) {
            let (accepting, refusing) = match one.direction {
                BrokenDirection::Backwards => (&one.new_pointer, &one.old_pointer),
                BrokenDirection::Forwards => (&one.old_pointer, &one.new_pointer),
            };
            // The last step is the keyword.
            let refusing = refusing.as_ref().and_then(|pointer| Some(pointer.rsplit_once('/')?.0));
            (accepting.as_deref(), refusing)
        }
        let (accepting, refusing) = places(found);
        let is_other = |one: &SchemaDifference| {
            let (place, other) = places(one);
            one.direction == found.direction && place == accepting && other != refusing
        };
        accepting.is_some() && self.differences.iter().filter(|one| is_other(one)).count() >= MAX_OF_A_PLACE
    }

    /// Returns whether a difference at the same place is listed.
    fn is_listed(&self, found: &SchemaDifference) -> bool {
        self.differences.iter().any(|one| place(one) == place(found))
    }

    /// Returns whether a difference with the same place and message is already listed: another case of the same
    /// `unevaluated…` keyword has it too.
    fn is_listed_with_message(&self, found: &SchemaDifference) -> bool {
        self.differences.iter().any(|one| place(one) == place(found) && one.message == found.message)
    }

    /// Searches for the same difference at other places. Returns whether all were found and listed.
    fn elsewhere(
        &mut self,
        direction: BrokenDirection,
        reading: SchemaReading,
        (leaf, witness): (&Leaf<'a>, &Value),
        most: usize,
    ) -> bool {
        let (inner, _) = sides(direction);
        let places = self.sources.other_places(&mut self.engine.table, (leaf, witness), inner);
        let mut is_complete = places.is_complete;
        for place in places.all {
            if !self.engine.budget.look() {
                return false;
            }
            let atoms = self.atoms(direction, reading).into_iter().chain([Atom::is(place.demand, false)]);
            let value = match self.engine.goal(atoms.collect()) {
                Answer::Witness(value) | Answer::PossibleWitness(value) => value,
                Answer::Empty => continue,
                Answer::Undecided => {
                    is_complete = false;
                    continue;
                }
            };
            let is_there = |found: &Leaf<'a>| found.mask == leaf.mask && place.has(found);
            match self.confirm(direction, reading, (*value).clone(), Some(&is_there)) {
                Some((found, _)) if self.is_listed(&found) => {}
                Some(_) if self.differences.len() == most => return false,
                Some((found, _)) if !self.is_crowded(&found) => self.differences.push(found),
                _ => is_complete = false,
            }
        }
        is_complete
    }
}

/// Returns the place of a difference.
fn place(one: &SchemaDifference) -> (BrokenDirection, &str, Option<&str>, Option<&str>) {
    (one.direction, &one.rule, one.old_pointer.as_deref(), one.new_pointer.as_deref())
}
