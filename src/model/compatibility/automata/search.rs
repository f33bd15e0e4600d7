//! Searches for a string that some patterns match and others do not.

use super::automaton::{ANY_TEXT, Machine, Pattern};
use super::long_string;
use super::product::Product;
use super::repetition::Lengths;
use crate::model::compatibility::{budget::Budget, found::Found};

/// The length up to which characters are counted one by one.
const SHORT: u64 = 64;

/// The demands on a string: patterns whose automata must or must not accept it, and its length in characters.
pub struct Search<'a> {
    pub patterns: Vec<(&'a Pattern, bool)>,
    pub lengths: Lengths,
}

impl Search<'_> {
    /// Returns a shortest string that satisfies the demands.
    pub fn find(&self, budget: &mut Budget<'_>) -> Found<String> {
        let Lengths { least, most } = self.lengths;
        if least > SHORT {
            match long_string::find(&self.product(None), self.lengths, budget) {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::compatibility::budget::Limits;

    fn found(pattern: &str, least: u64, most: Option<u64>) -> Found<String> {
        let now = || Duration::ZERO;
        let mut budget = Budget::new(&now, Limits::default());
        let pattern = Pattern::of(pattern).unwrap();
        Search { patterns: vec![(&pattern, true)], lengths: Lengths { least, most } }.find(&mut budget)
    }

    #[test]
    fn long_texts_are_found_or_excluded() {
        let length = |found: Found<String>| match found {
            Found::One(text) => Some(text.chars().count()),
            Found::None => None,
            Found::Unsure => panic!("unsure"),
        };
        assert_eq!(length(found(r"^(?=.*[0-9])[a-zé0-9]{2,80}$", 65, None)), Some(80));
        assert_eq!(length(found(r"^(?=.*[0-9])[a-zé0-9]{2,80}$", 81, None)), None);
        assert_eq!(length(found(r"^(?!a)b{70}$", 65, Some(70))), Some(70));
        assert_eq!(length(found("^(ab)+$", 101, None)), Some(102));
        assert_eq!(length(found("^(ab)+$", 101, Some(101))), None);
        assert_eq!(length(found("(?<=é)x{3}", 1_000_000, None)), Some(1_000_000));
        assert_eq!(length(found("^a(?=b)c", 65, None)), None);
    }
}
