//! Simplifies patterns with long repetitions, whose automata would be too large.
//!
//! A pattern may match anywhere, so repetitions at its ends can be cut to their minimum:
//! `.{1,2048}` is equivalent to `.`. And `^.{1,2048}$` is `^.*$` with a length between 1 and 2,048.

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// The maximum number of repetitions that stay part of the automaton.
const FEW: u32 = 100;

/// A simpler pattern, equivalent to the original for strings whose length is within the limits.
#[derive(Debug, PartialEq, Eq)]
pub struct WithLengths {
    pub regex: String,
    pub lengths: Lengths,
}

/// Limits of a number of characters, items or properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lengths {
    pub least: u64,
    pub most: Option<u64>,
}

impl Lengths {
    /// Returns the limits that both set.
    pub fn and(self, other: Self) -> Self {
        let most = [self.most, other.most].into_iter().flatten().min();
        Self { least: self.least.max(other.least), most }
    }

    /// Returns the lengths outside of the limits.
    pub fn outside(self) -> impl Iterator<Item = Self> {
        let shorter = self.least.checked_sub(1).map(|most| Self { least: 0, most: Some(most) });
        let longer = self.most.map(|most| Self { least: most.saturating_add(1), most: None });
        shorter.into_iter().chain(longer)
    }

    /// Returns whether no length is within the limits.
    pub fn is_empty(self) -> bool {
        self.most.is_some_and(|most| self.least > most)
    }
}

/// Simplifies a regular expression in Rust's syntax. Returns `None` if there is nothing to simplify.
pub fn simplify(regex: &str) -> Option<WithLengths> {
    let hir = regex_syntax::parse(regex).ok()?;
    if let Some((hir, lengths)) = split(&hir) {
        return Some(WithLengths { regex: hir.to_string(), lengths });
    }
    let relaxed = relax(relax(hir.clone(), End::Last), End::First);
    (relaxed != hir).then(|| WithLengths { regex: relaxed.to_string(), lengths: Lengths::default() })
}

/// Splits `^AX{m,n}B$` into `^AX*B$` and limits on the length. A, X and B must have fixed lengths.
fn split(hir: &Hir) -> Option<(Hir, Lengths)> {
    let mut pieces = Vec::new();
    collect_pieces(hir, &mut pieces);
    let (first, last) = (pieces.first()?.kind(), pieces.last()?.kind());
    if !matches!((first, last), (HirKind::Look(Look::Start), HirKind::Look(Look::End))) {
        return None;
    }
    let mut varying = pieces.iter().enumerate().filter(|(_, piece)| length(piece).is_none());
    let (at, repeated) = varying.next().filter(|_| varying.next().is_none())?;
    let HirKind::Repetition(repetition) = repeated.kind() else { return None };
    if repetition.max.unwrap_or(repetition.min) <= FEW {
        return None;
    }
    let one = length(&repetition.sub).filter(|one| *one > 0)?;
    let others = pieces.iter().filter_map(|piece| length(piece)).try_fold(0u64, u64::checked_add)?;
    let limit = |count: u32| one.checked_mul(u64::from(count))?.checked_add(others);
    let most = match repetition.max {
        Some(max) => Some(limit(max)?),
        None => None,
    };
    let lengths = Lengths { least: limit(repetition.min)?, most };
    let any = Hir::repetition(Repetition { min: 0, max: None, ..repetition.clone() });
    let parts = pieces.iter().enumerate().map(|(n, piece)| if n == at { any.clone() } else { (*piece).clone() });
    Some((Hir::concat(parts.collect()), lengths))
}

/// Collects the expressions that follow each other, including those inside groups.
fn collect_pieces<'h>(hir: &'h Hir, pieces: &mut Vec<&'h Hir>) {
    match hir.kind() {
        HirKind::Concat(parts) => parts.iter().for_each(|part| collect_pieces(part, pieces)),
        HirKind::Capture(group) => collect_pieces(&group.sub, pieces),
        _ => pieces.push(hir),
    }
}

/// Returns the number of characters that an expression matches, if it is always the same.
fn length(hir: &Hir) -> Option<u64> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => Some(std::str::from_utf8(&literal.0).ok()?.chars().count() as u64),
        HirKind::Class(Class::Unicode(_)) => Some(1),
        HirKind::Class(Class::Bytes(class)) => class.is_ascii().then_some(1),
        HirKind::Repetition(Repetition { min, max, sub, .. }) if *max == Some(*min) => {
            length(sub)?.checked_mul(u64::from(*min))
        }
        HirKind::Repetition(_) => None,
        HirKind::Capture(group) => length(&group.sub),
        HirKind::Concat(parts) => parts.iter().try_fold(0u64, |sum, part| sum.checked_add(length(part)?)),
        HirKind::Alternation(branches) => {
            let first = length(branches.first()?)?;
            branches.iter().all(|branch| length(branch) == Some(first)).then_some(first)
        }
    }
}

/// An end of a pattern.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// Reduces a repetition at an end of a pattern to its minimum.
fn relax(hir: Hir, end: End) -> Hir {
    match hir.into_kind() {
        HirKind::Repetition(Repetition { min: 0, .. }) => Hir::empty(),
        HirKind::Repetition(Repetition { min: 1, sub, .. }) => relax(*sub, end),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition { max: Some(repetition.min), ..repetition }),
        HirKind::Capture(group) => relax(*group.sub, end),
        HirKind::Alternation(branches) => {
            Hir::alternation(branches.into_iter().map(|branch| relax(branch, end)).collect())
        }
        HirKind::Concat(parts) => relax_sequence(parts.into(), end),
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
    }
}

fn relax_sequence(mut parts: std::collections::VecDeque<Hir>, end: End) -> Hir {
    loop {
        let part = match end {
            End::First => parts.pop_front(),
            End::Last => parts.pop_back(),
        };
        let Some(part) = part else { return Hir::empty() };
        let part = relax(part, end);
        if *part.kind() == HirKind::Empty {
            continue;
        }
        match end {
            End::First => parts.push_front(part),
            End::Last => parts.push_back(part),
        }
        return Hir::concat(parts.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simplified(regex: &str) -> (String, u64, Option<u64>) {
        let WithLengths { regex, lengths } = simplify(regex).expect(regex);
        (regex, lengths.least, lengths.most)
    }

    #[test]
    fn lengths_are_separated_from_characters() {
        assert_eq!(simplified("^[a-c]{1,2048}$").1, 1);
        assert_eq!(simplified("^[a-c]{1,2048}$").2, Some(2048));
        assert_eq!(simplified(r"^arn:([ab]{3}):(?:xy){0,200}(?:!|\?)$").1, 9);
        assert_eq!(simplified(r"^arn:([ab]{3}):(?:xy){0,200}(?:!|\?)$").2, Some(409));
        assert_eq!(simplified("^(é{300,})$").1, 300);
        assert_eq!(simplified("^(é{300,})$").2, None);
    }

    #[test]
    fn ends_are_reduced_to_their_minimum() {
        let reduced = [
            ("[ab]{1,2048}", "[ab]"),
            ("^[ab]{0,2048}", "^"),
            ("x[ab]{2,9}(?:c|d)*", "x[ab]{2}"),
            ("(?:y*)(?:xa*|b{2,})", "x|b{2}"),
        ];
        for (regex, simple) in reduced {
            let simple = regex_syntax::parse(simple).unwrap().to_string();
            assert_eq!(simplified(regex), (simple, 0, None), "{regex}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for regex in ["^[ab]{1,20}$", "^[ab]{1,200}c{0,9}$", "^(?:a|bc){1,200}$", "^a{200}$", "a(?:", "^a$", "a"] {
            assert_eq!(simplify(regex), None, "{regex}");
        }
    }

    /// Matches by the regex engine agree with those of the simplified pattern and the lengths.
    #[test]
    fn simplified_patterns_match_the_same_texts() {
        let pieces = ["a", "[ab]", "^", "$", "(a|b)", "a{0,2}", "b{1,3}", "(?:ab){2,101}", "[ab]{1,101}", "(b*a){1,2}"];
        let texts: Vec<String> = (1..128u32)
            .map(|n| (0..n.ilog2().min(6)).map(|bit| if n >> bit & 1 == 1 { 'a' } else { 'b' }).collect())
            .chain([99, 101, 102, 202, 203, 204].map(|n| "ab".repeat(n / 2) + if n % 2 == 1 { "a" } else { "" }))
            .collect();
        let mut count = 0;
        for first in pieces {
            for (second, third) in pieces.iter().flat_map(|one| pieces.map(|two| (one, two))) {
                let regex = format!("{first}{second}{third}");
                let Some(simple) = simplify(&regex) else { continue };
                let [old, new] = [&regex, &simple.regex].map(|regex| fancy_regex::Regex::new(regex).unwrap());
                for text in &texts {
                    let long = text.chars().count() as u64;
                    let fits = long >= simple.lengths.least && simple.lengths.most.is_none_or(|most| long <= most);
                    assert_eq!(
                        old.is_match(text).unwrap(),
                        fits && new.is_match(text).unwrap(),
                        "{regex} {simple:?} {text}"
                    );
                }
                count += 1;
            }
        }
        assert!(count > 400, "{count}");
    }
}
