//! Searches for a string that some patterns match and others do not.

use super::automaton::{ANY_TEXT, Machine, Pattern};
use super::budget::Budget;
use super::counted::Lengths;
use super::found::Found;
use super::product::Product;
use super::stretch;

/// The length up to which characters are counted one by one.
const SHORT: u64 = 64;

/// The demands on a string: patterns whose automata must or must not accept it, and its length in characters.
pub(super) struct Search<'a> {
    pub(super) patterns: Vec<(&'a Pattern, bool)>,
    pub(super) lengths: Lengths,
}

impl Search<'_> {
    /// Returns a shortest string that satisfies the demands.
    pub(super) fn find(&self, budget: &mut Budget<'_>) -> Found<String> {
        let Lengths { least, most } = self.lengths;
        if least > SHORT {
            match stretch::find(&self.product(None), self.lengths, budget) {
                Found::Unsure => {}
                found => return found,
            }
        }
        match self.product(None).find(budget) {
            Found::One(text) if most.is_some_and(|most| text.chars().count() as u64 > most) => {
                self.product(most).find(budget)
            }
            found => found,
        }
    }

    fn product(&self, most: Option<u64>) -> Product {
        let mut dfas = Vec::new();
        let mut wanted = Vec::new();
        for (pattern, sign) in &self.patterns {
            let first = dfas.len();
            dfas.extend(pattern.parts.iter().map(|(machine, _)| machine.clone()));
            let parts = pattern.parts.iter().enumerate().map(|(at, (_, sign))| (first + at, *sign)).collect();
            wanted.push((parts, *sign));
        }
        if let Some(text) = ANY_TEXT.with(Clone::clone) {
            wanted.push((vec![(dfas.len(), true)], true));
            dfas.push(Machine::Plain(text));
        }
        Product { dfas, wanted, least: self.lengths.least, most }
    }
}
