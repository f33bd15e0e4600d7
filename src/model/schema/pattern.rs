//! Estimates the size of the patterns of a schema once they are compiled.
//!
//! `[a-z]{1000}` has a thousand states of about 100 bytes each, and all patterns are compiled before anything is
//! validated. The estimate is rough, and too high rather than too low.

use std::collections::BTreeSet;

use super::{Part, Problem, Tree};

/// The maximum number of states of all patterns of a schema.
const MAX_STATES: u64 = 500_000;
/// The fixed cost of a pattern, in states.
const PATTERN: u64 = 200;
/// The number of states of a class that contains much of Unicode, such as `\w`.
const UNICODE_CLASS: u64 = 50;
/// The number of states of a property of characters, such as `\p{L}`.
const UNICODE_PROPERTY: u64 = 400;
/// The number of states of a class that may contain more than ASCII.
const CLASS: u64 = 5;

/// Returns the problem if the patterns of a schema are too large to compile.
pub fn problem(schema: Tree<'_>) -> Option<Problem> {
    let mut patterns = BTreeSet::new();
    collect(schema, &mut patterns);
    let all = patterns.iter().fold(0u64, |all, pattern| all.saturating_add(PATTERN).saturating_add(states(pattern)));
    if all <= MAX_STATES {
        return None;
    }
    let largest = patterns.iter().max_by_key(|pattern| states(pattern))?;
    let shown: String = largest.chars().take(40).collect();
    let which = match patterns.len() {
        1 => format!("the pattern {shown:?} is too large"),
        count => format!("its {count} patterns are too large in total (the largest is {shown:?})"),
    };
    let message = format!("{which}; limit lengths with maxLength instead of {{n}} in a pattern");
    Some(Problem { part: Part::Size, pointer: String::new(), message })
}

/// Collects everything that is, or could be, a pattern.
fn collect<'a>(schema: Tree<'a>, found: &mut BTreeSet<&'a str>) {
    for (key, value) in schema.members() {
        match key {
            "pattern" => found.extend(value.as_str()),
            "patternProperties" => found.extend(value.members().map(|(name, _)| name)),
            _ => {}
        }
        collect(value, found);
    }
    schema.items().for_each(|item| collect(item, found));
}

/// Returns the approximate number of states of a pattern.
fn states(pattern: &str) -> u64 {
    // The states of each open group, and of its last element, which a quantifier repeats.
    let mut groups = vec![(0u64, 0u64)];
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let states = match c {
            '(' => {
                groups.push((0, 0));
                continue;
            }
            ')' if groups.len() > 1 => groups.pop().map_or(0, |(whole, last)| whole.saturating_add(last)),
            '{' => match count(rest.clone()) {
                Some(count) => {
                    rest.by_ref().take_while(|c| *c != '}').for_each(drop);
                    if let Some((_, last)) = groups.last_mut() {
                        *last = last.saturating_mul(count.max(1));
                    }
                    continue;
                }
                None => 1,
            },
            '\\' => escape(&mut rest),
            '[' => class(&mut rest),
            '.' => CLASS,
            _ => 1,
        };
        if let Some((whole, last)) = groups.last_mut() {
            *whole = whole.saturating_add(*last);
            *last = states;
        }
    }
    groups.iter().fold(0u64, |all, (whole, last)| all.saturating_add(*whole).saturating_add(*last))
}

/// Returns the upper bound of a quantifier.
fn count(rest: impl Iterator<Item = char>) -> Option<u64> {
    let inner: String = rest.take_while(|c| *c != '}').take(40).collect();
    inner.split(',').filter_map(|number| number.trim().parse().ok()).max()
}

/// Reads what follows a backslash. The braces of `\p{L}` and `\u{1F600}` are no quantifier.
fn escape(rest: &mut std::str::Chars<'_>) -> u64 {
    let Some(c) = rest.next() else { return 1 };
    if matches!(c, 'p' | 'P' | 'u' | 'x') && rest.as_str().starts_with('{') {
        rest.by_ref().take_while(|c| *c != '}').for_each(drop);
    }
    match c {
        'p' | 'P' => UNICODE_PROPERTY,
        'w' | 'W' | 'd' | 'D' | 's' | 'S' => UNICODE_CLASS,
        _ => 1,
    }
}

fn class(rest: &mut std::str::Chars<'_>) -> u64 {
    let mut states = 1;
    while let Some(c) = rest.next() {
        match c {
            ']' => break,
            '\\' => {
                let least = if rest.as_str().starts_with('u') { CLASS } else { 1 };
                states = states.max(least).max(escape(rest));
            }
            '^' => states = states.max(CLASS),
            c if !c.is_ascii() => states = states.max(CLASS),
            _ => {}
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Forest;
    use serde_json::{Value, json};

    fn refused(schema: &Value) -> Option<Part> {
        let (forest, root) = Forest::of(schema);
        problem(forest.tree(root)).map(|problem| problem.part)
    }

    #[test]
    fn quantifiers_multiply_states() {
        for (pattern, expected) in [
            ("", 0),
            ("^abc$", 5),
            ("[a-z]{1000}", 1000),
            ("^[a-z0-9-]{1,63}$", 65),
            (r"\w{2}x", 101),
            ("(ab{3}){10}c", 41),
            ("((a{1000}){1000}){1000}", 1_000_000_000),
            ("a{,5}{x}", 8),
            (r"a{\w{9}", 452),
            (r"\{2\}", 3),
            (r"\p{L}{1000}", 400_000),
            (r"[\p{L}\u{1F600}]{10}", 4_000),
            (r"\u{1F600}{3}\x{41}", 4),
            ("(((", 0),
            (")]}{", 4),
            (r"a\", 2),
        ] {
            assert_eq!(states(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn ordinary_patterns_are_accepted_and_many_large_ones_are_refused() {
        let heap = |n: usize, text: &str| json!({"anyOf": (0..n).map(|at| json!({"pattern": format!("{text}{at}")})).collect::<Vec<_>>()});
        assert_eq!(refused(&heap(1_000, "^[a-z][a-z0-9-]{1,63}$")), None);
        assert_eq!(refused(&json!({"pattern": r"^[\u0020-\uffff]{1,4096}$"})), None);
        for (n, text) in [(1_000, "[a-z]{1000}"), (500, r"\w{200}"), (3_000, "a")] {
            assert_eq!(refused(&heap(n, text)), Some(Part::Size), "{n} of {text}");
        }
    }
}
