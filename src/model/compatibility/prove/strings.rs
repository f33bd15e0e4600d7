//! Finds strings that satisfy lengths, patterns and formats, and are not excluded.

use std::rc::Rc;

use super::engine::Engine;
use crate::model::compatibility::{
    automata::{approximate, automaton::Pattern, formats, repetition::Lengths, search::Search},
    found::Found,
    graph::node::{Check, Sym},
};
use serde_json::Value;

/// The maximum number of candidates that are tried.
const TRIES: usize = 24;
/// The maximum number of candidates of stricter patterns.
const FEW_TRIES: usize = 4;
/// The maximum length of a string that is built.
pub const LONGEST: u64 = 1 << 20;
/// The maximum length of a string that is searched for character by character. Longer ones repeat a character of it.
const LONGEST_SEARCHED: u64 = 64;
/// The maximum number of excluded strings that become part of the automaton.
const MAX_EXCLUDED: usize = 20_000;

/// The demands on a string.
#[derive(Debug, Default)]
pub struct Wanted {
    pub lengths: Lengths,
    pub patterns: Vec<(Sym, bool)>,
    pub checks: Vec<(u32, bool)>,
    pub excluded: Vec<String>,
}

impl Wanted {
    /// Finds a string that satisfies the demands.
    pub fn find(&self, engine: &mut Engine<'_>) -> Found<String> {
        if self.lengths.is_empty() || self.is_contradiction(engine) {
            return Found::None;
        }
        if self.lengths.least > LONGEST {
            return Found::Unsure;
        }
        if self.patterns.is_empty() && self.checks.is_empty() {
            return self.find_plain();
        }
        self.find_matching(engine)
    }

    fn is_contradiction(&self, engine: &Engine<'_>) -> bool {
        let is_both = |list: &[(u32, bool)]| list.iter().any(|(id, sign)| *sign && list.contains(&(*id, false)));
        let check = |id: &u32| &engine.table.words.checks[*id as usize];
        let is_implied = |(one, sign): &(u32, bool)| {
            *sign && self.checks.iter().any(|(other, sign)| !sign && implies(check(one), check(other)))
        };
        is_both(&self.patterns) || is_both(&self.checks) || self.checks.iter().any(is_implied)
    }

    /// Finds a string if there are no patterns. Every length except zero allows enough strings.
    fn find_plain(&self) -> Found<String> {
        let Lengths { least, most } = self.lengths;
        let lengths = least..=most.unwrap_or(u64::MAX).min(least + 1);
        for length in lengths {
            let length = usize::try_from(length).unwrap_or_default();
            for letter in "abcdefghijklmnopqrstuvwxyz0123456789_-".chars() {
                let text: String = std::iter::repeat_n(letter, length).collect();
                if !self.excluded.contains(&text) {
                    return Found::One(text);
                }
            }
        }
        match most {
            Some(0) => Found::None,
            _ => (0..=self.excluded.len())
                .map(|n| char::from_u32(0x4E00 + u32::try_from(n).unwrap_or_default()).unwrap_or('a'))
                .map(|letter| std::iter::repeat_n(letter, usize::try_from(least.max(1)).unwrap_or(1)).collect())
                .find(|text: &String| !self.excluded.contains(text))
                .map_or(Found::Unsure, Found::One),
        }
    }

    fn find_matching(&self, engine: &mut Engine<'_>) -> Found<String> {
        let mut wanted = Automata::default();
        let (mut is_exact, mut inside) = (self.checks.is_empty(), Vec::new());
        for (pattern, sign) in &self.patterns {
            match engine.pattern(*pattern) {
                Some(compiled) => wanted.outer.push((compiled, *sign)),
                None => {
                    is_exact = false;
                    let (text, signed) = (engine.table.words.text(*pattern), |one| (Rc::new(one), true));
                    let [less, more] = if *sign { [within(&text), around(&text)] } else { [None, None] };
                    inside.extend(less.map(signed));
                    wanted.outer.extend(more.map(signed));
                }
            }
        }
        wanted.inner = wanted.outer.iter().cloned().chain(inside).collect();
        let mut samples: Vec<String> = Vec::new();
        for (check, sign) in &self.checks {
            let format = engine.table.words.checks[*check as usize].format.clone();
            if let Some(known) = format.and_then(|name| formats::known(&name)) {
                let (outer, inner) = if *sign { (known.around, known.within) } else { (known.within, known.around) };
                wanted.outer.extend(engine.own_pattern(outer).map(|compiled| (compiled, *sign)));
                wanted.inner.extend(engine.own_pattern(inner).map(|compiled| (compiled, *sign)));
                samples.extend(known.good.iter().map(|good| (*good).to_owned()));
            }
        }
        if !is_exact {
            samples.extend(formats::ODD.iter().map(|text| (*text).to_owned()));
            for (pattern, _) in &self.patterns {
                samples.extend(jsonschema_regex::pattern_witness(&engine.table.words.text(*pattern)));
            }
            if let Some(text) = samples.into_iter().find(|text| self.accepts(engine, text) == Some(true)) {
                return Found::One(text);
            }
        }
        let mut is_sure = true;
        for case in wanted.cases(self.lengths) {
            match self.find_case(engine, &case, is_exact) {
                Found::One(text) => return Found::One(text),
                Found::None => {}
                Found::Unsure => is_sure = false,
            }
        }
        if is_sure { Found::None } else { Found::Unsure }
    }

    fn find_case(&self, engine: &mut Engine<'_>, case: &Automata, is_exact: bool) -> Found<String> {
        if case.lengths.least > LONGEST {
            return Found::Unsure;
        }
        if (!is_exact || case.lengths.least > LONGEST_SEARCHED)
            && let Some(text) = self.find_inside(engine, case)
        {
            return Found::One(text);
        }
        let mut excluded: Vec<String> = self.excluded.clone();
        excluded.retain(|text| self.matches(engine, text) != Some(false));
        let is_long = excluded.len() > MAX_EXCLUDED;
        let mut is_sure = true;
        for _ in 0..TRIES {
            let literals = (!excluded.is_empty() && !is_long)
                .then(|| Pattern::literals(excluded.iter().map(String::as_str)))
                .flatten();
            let mut all: Vec<_> = case.outer.iter().map(|(pattern, sign)| (&**pattern, *sign)).collect();
            all.extend(literals.as_ref().map(|literals| (literals, false)));
            let search = Search { patterns: all, lengths: case.lengths };
            match search.find(&mut engine.budget) {
                Found::One(text) => match self.accepts(engine, &text) {
                    Some(true) => return Found::One(text),
                    verdict if is_long || excluded.contains(&text) || verdict.is_none() && !is_sure => {
                        return Found::Unsure;
                    }
                    verdict => {
                        let longer = formats::ODD.iter().map(|odd| format!("{text}{odd}"));
                        if let Some(text) = longer.into_iter().find(|text| self.accepts(engine, text) == Some(true)) {
                            return Found::One(text);
                        }
                        is_sure &= verdict.is_some();
                        excluded.push(text);
                    }
                },
                Found::None if is_sure => return Found::None,
                _ => return Found::Unsure,
            }
        }
        Found::Unsure
    }

    /// Finds a string that satisfies stricter patterns, by repeating a character of a short one if it must be long.
    fn find_inside(&self, engine: &mut Engine<'_>, case: &Automata) -> Option<String> {
        let Lengths { least, most } = case.lengths;
        let mut excluded = self.excluded.clone();
        excluded.truncate(TRIES);
        for _ in 0..FEW_TRIES {
            let literals = Pattern::literals(excluded.iter().map(String::as_str)).filter(|_| !excluded.is_empty());
            let mut patterns: Vec<_> = case.inner.iter().map(|(pattern, sign)| (&**pattern, *sign)).collect();
            patterns.extend(literals.as_ref().map(|literals| (literals, false)));
            let search = Search { patterns, lengths: Lengths { least: least.min(LONGEST_SEARCHED), most } };
            let Found::One(text) = search.find(&mut engine.budget) else { return None };
            if let Some(text) = self.lengthened(engine, &text, least) {
                return Some(text);
            }
            excluded.push(text);
        }
        None
    }

    /// Repeats a character of a string until it is long enough. Returns `None` if no such string satisfies the demands.
    fn lengthened(&self, engine: &mut Engine<'_>, text: &str, least: u64) -> Option<String> {
        let missing = usize::try_from(least.saturating_sub(text.chars().count() as u64)).ok()?;
        if missing == 0 {
            return (self.accepts(engine, text) == Some(true)).then(|| text.to_owned());
        }
        let repeated = |(at, letter): (usize, char)| {
            let more: String = std::iter::repeat_n(letter, missing).collect();
            format!("{}{more}{}", &text[..at], &text[at..])
        };
        text.char_indices().map(repeated).find(|text| self.accepts(engine, text) == Some(true))
    }

    /// Returns whether a string satisfies the demands, by the validator's own checks.
    fn accepts(&self, engine: &mut Engine<'_>, text: &str) -> Option<bool> {
        if self.excluded.iter().any(|excluded| excluded == text) { Some(false) } else { self.matches(engine, text) }
    }

    /// Returns whether a string satisfies all demands, even if it is excluded.
    fn matches(&self, engine: &mut Engine<'_>, text: &str) -> Option<bool> {
        let length = text.chars().count() as u64;
        if length < self.lengths.least || self.lengths.most.is_some_and(|most| length > most) {
            return Some(false);
        }
        let words = &mut engine.table.words;
        let mut result = Some(true);
        let patterns: Vec<_> = self.patterns.iter().map(|(id, sign)| (words.matches(*id, text), *sign)).collect();
        let checks: Vec<_> = self.checks.iter().map(|(id, sign)| (words.passes(*id, text), *sign)).collect();
        for (found, sign) in patterns.into_iter().chain(checks) {
            match found {
                Some(found) if found != sign => return Some(false),
                None => result = None,
                Some(_) => {}
            }
        }
        result
    }
}

/// The automata of a search, and the length of the string.
#[derive(Default, Clone)]
struct Automata {
    /// Automata that every wanted string satisfies: of the patterns, and of what encloses the formats.
    outer: Vec<(Rc<Pattern>, bool)>,
    /// Automata whose strings also satisfy the formats.
    inner: Vec<(Rc<Pattern>, bool)>,
    lengths: Lengths,
}

impl Automata {
    /// Returns searches that together cover all strings: a text does not match a pattern with lengths if the automaton
    /// refuses it, or if it is too short or too long.
    fn cases(mut self, lengths: Lengths) -> Vec<Self> {
        self.lengths = lengths;
        let mut cases = vec![self.clone()];
        for (pattern, sign) in self.outer.iter().filter(|(pattern, _)| pattern.lengths != Lengths::default()) {
            let within = |case: &Self, lengths: Lengths| Self { lengths: case.lengths.and(lengths), ..case.clone() };
            cases = if *sign {
                cases.iter().map(|case| within(case, pattern.lengths)).collect()
            } else {
                cases
                    .into_iter()
                    .flat_map(|case| {
                        let mut without = case.clone();
                        without.outer.retain(|(other, _)| !Rc::ptr_eq(other, pattern));
                        without.inner.retain(|(other, _)| !Rc::ptr_eq(other, pattern));
                        let outside: Vec<_> =
                            pattern.lengths.outside().map(|lengths| within(&without, lengths)).collect();
                        std::iter::once(case).chain(outside)
                    })
                    .collect()
            };
            cases.retain(|case| !case.lengths.is_empty());
        }
        cases
    }
}

/// Returns whether every string that passes one check is known to pass the other.
fn implies(one: &Check, other: &Check) -> bool {
    match (&one.format, &other.format) {
        (Some(one), Some(other)) => formats::implies(one, other),
        // JSON in an encoding is decoded first.
        _ => one.encoding.is_some() && one.encoding == other.encoding && !other.is_json,
    }
}

/// Returns a pattern whose strings mostly match a pattern without an automaton.
fn within(pattern: &str) -> Option<Pattern> {
    [30, 4].into_iter().find_map(|most| Pattern::compile(&approximate::narrowed(pattern, most)?))
}

/// Returns a pattern that matches everything that a pattern without an automaton matches.
fn around(pattern: &str) -> Option<Pattern> {
    Pattern::superset(pattern).or_else(|| Pattern::compile(&approximate::widened(pattern)?))
}

/// Returns the values that are strings.
pub fn texts<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<String> {
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}
