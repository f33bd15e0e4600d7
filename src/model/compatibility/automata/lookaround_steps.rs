//! Reads a pattern with look-arounds into the steps of a nondeterministic automaton over classes of characters.

use std::collections::BTreeSet;

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// The maximum number of steps of one pattern.
const MAX_STEPS: usize = 1_500;
/// The maximum nesting of expressions, and of look-arounds.
const DEEPEST: usize = 100;

/// The number of a step.
pub type StepId = usize;

/// A step of the automaton. It holds at a position if the steps after it hold from there.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// One character of a set comes next, and the step holds after it.
    Char(usize, StepId),
    Either(StepId, StepId),
    /// The first step matches what follows, or does not; and the second step holds.
    Ahead(StepId, bool, StepId),
    /// An expression matches what precedes, or does not; and the step holds.
    Behind(usize, bool, StepId),
    AtStart(StepId),
    AtEnd(StepId),
    Match,
    /// The end of a loop that is still being read.
    Never,
}

/// The steps of a pattern.
#[derive(Debug, Default)]
pub struct Steps {
    pub steps: Vec<Step>,
    /// The nesting of look-aheads around each step.
    pub levels: Vec<usize>,
    pub first: StepId,
    /// The first steps of the expressions in look-behinds.
    pub behinds: Vec<StepId>,
    pub sets: Vec<ClassUnicode>,
    /// False if the steps may match more than the pattern does.
    pub is_exact: bool,
}

/// Reads a pattern in the syntax of the validator. Returns `None` if it is too large, or cannot be
/// expressed as steps. A back-reference is read as its group, which matches at least as much.
pub fn read(pattern: &str) -> Option<Steps> {
    let tree = Expr::parse_tree(pattern).ok()?;
    if tree.contains_subroutines {
        return None;
    }
    let mut groups = Vec::new();
    collect_groups(&tree.expr, &mut groups, 0)?;
    let steps = Steps { is_exact: true, ..Steps::default() };
    let mut reader = Reader { steps, groups, level: 0, depth: 0, is_plain: false, is_negated: false };
    let end = reader.add(Step::Match)?;
    reader.steps.first = reader.expression(&tree.expr, end)?;
    Some(reader.steps)
}

fn collect_groups<'e>(expr: &'e Expr, groups: &mut Vec<&'e Expr>, depth: usize) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    match expr {
        Expr::Group(inner) => {
            groups.push(inner);
            collect_groups(inner, groups, depth + 1)
        }
        Expr::Concat(parts) | Expr::Alt(parts) => {
            parts.iter().try_for_each(|part| collect_groups(part, groups, depth + 1))
        }
        Expr::LookAround(inner, _) | Expr::Repeat { child: inner, .. } => collect_groups(inner, groups, depth + 1),
        _ => Some(()),
    }
}

struct Reader<'e> {
    steps: Steps,
    groups: Vec<&'e Expr>,
    level: usize,
    depth: usize,
    /// Whether the expression must not contain look-arounds or anchors.
    is_plain: bool,
    /// Whether the expression is in a negative look-around. If it matches more there, the whole pattern matches less.
    is_negated: bool,
}

impl<'e> Reader<'e> {
    fn add(&mut self, step: Step) -> Option<StepId> {
        (self.steps.steps.len() < MAX_STEPS).then_some(())?;
        self.steps.steps.push(step);
        self.steps.levels.push(self.level);
        Some(self.steps.steps.len() - 1)
    }

    /// Adds the steps of an expression, after which `next` must hold. Returns the first of them.
    fn expression(&mut self, expr: &'e Expr, next: StepId) -> Option<StepId> {
        self.depth += 1;
        (self.depth < DEEPEST).then_some(())?;
        let first = match expr {
            Expr::Empty => Some(next),
            Expr::Any { newline, crlf: false } => self.class(if *newline { "(?s:.)" } else { "." }, false, next),
            Expr::Literal { val, casei } => val.chars().rev().try_fold(next, |next, letter| {
                self.class(&regex_syntax::escape(letter.encode_utf8(&mut [0; 4])), *casei, next)
            }),
            Expr::Delegate { inner, casei } => self.class(inner, *casei, next),
            Expr::Concat(parts) => parts.iter().rev().try_fold(next, |next, part| self.expression(part, next)),
            Expr::Alt(parts) => {
                let (last, others) = parts.split_last()?;
                let last = self.expression(last, next)?;
                others.iter().rev().try_fold(last, |rest, part| {
                    let first = self.expression(part, next)?;
                    self.add(Step::Either(first, rest))
                })
            }
            Expr::Group(inner) => self.expression(inner, next),
            Expr::Repeat { child, lo, hi, .. } => self.repeat(child, *lo, *hi, next),
            Expr::Backref { group, casei: false } if !self.is_negated => {
                self.steps.is_exact = false;
                let group = *self.groups.get(group.checked_sub(1)?)?;
                // Its look-arounds and anchors held where the group matched, but need not hold here.
                let was_plain = std::mem::replace(&mut self.is_plain, true);
                let first = self.expression(group, next)?;
                self.is_plain = was_plain;
                Some(first)
            }
            Expr::LookAround(inner, look) if !self.is_plain => self.look(inner, *look, next),
            Expr::Assertion(assertion) if !self.is_plain => self.assertion(*assertion, next),
            _ => None,
        };
        self.depth -= 1;
        first
    }

    fn repeat(&mut self, child: &'e Expr, lo: usize, hi: usize, next: StepId) -> Option<StepId> {
        let mut first = next;
        if hi == usize::MAX {
            let again = self.add(Step::Never)?;
            let body = self.expression(child, again)?;
            self.steps.steps[again] = Step::Either(body, next);
            first = again;
        } else {
            (hi.saturating_sub(lo) < MAX_STEPS).then_some(())?;
            for _ in lo..hi {
                let body = self.expression(child, first)?;
                first = self.add(Step::Either(body, next))?;
            }
        }
        (lo < MAX_STEPS).then_some(())?;
        (0..lo).try_fold(first, |next, _| self.expression(child, next))
    }

    fn look(&mut self, inner: &'e Expr, look: LookAround, next: StepId) -> Option<StepId> {
        let is_wanted = matches!(look, LookAround::LookAhead | LookAround::LookBehind);
        let was_negated = self.is_negated;
        self.is_negated |= !is_wanted;
        if matches!(look, LookAround::LookAhead | LookAround::LookAheadNeg) {
            self.level += 1;
            let end = self.add(Step::Match)?;
            let first = self.expression(inner, end)?;
            (self.level, self.is_negated) = (self.level - 1, was_negated);
            return self.add(Step::Ahead(first, is_wanted, next));
        }
        self.is_plain = true;
        let end = self.add(Step::Match)?;
        let first = self.expression(inner, end)?;
        (self.is_plain, self.is_negated) = (false, was_negated);
        self.steps.behinds.push(first);
        self.add(Step::Behind(self.steps.behinds.len() - 1, is_wanted, next))
    }

    fn assertion(&mut self, assertion: Assertion, next: StepId) -> Option<StepId> {
        match assertion {
            Assertion::StartText => self.add(Step::AtStart(next)),
            Assertion::EndText => self.add(Step::AtEnd(next)),
            Assertion::WordBoundary => self.word_boundary(true, next),
            Assertion::NotWordBoundary => self.word_boundary(false, next),
            _ => None,
        }
    }

    /// Adds the demand that a word begins or ends here, or that none does.
    fn word_boundary(&mut self, is_wanted: bool, next: StepId) -> Option<StepId> {
        let end = self.add(Step::Match)?;
        let behind = self.class(r"\w", false, end)?;
        self.steps.behinds.push(behind);
        let behind = self.steps.behinds.len() - 1;
        self.level += 1;
        let end = self.add(Step::Match)?;
        let ahead = self.class(r"\w", false, end)?;
        self.level -= 1;
        let mut side = |is_behind: bool| {
            let after = self.add(Step::Ahead(ahead, is_behind != is_wanted, next))?;
            self.add(Step::Behind(behind, is_behind, after))
        };
        let (one, other) = (side(true)?, side(false)?);
        self.add(Step::Either(one, other))
    }

    fn class(&mut self, regex: &str, is_caseless: bool, next: StepId) -> Option<StepId> {
        let regex = if is_caseless { format!("(?i:{regex})") } else { regex.to_owned() };
        let hir = regex_automata::util::syntax::parse(&regex).ok()?;
        let set = match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => class.clone(),
            HirKind::Class(Class::Bytes(class)) => class.to_unicode_class()?,
            HirKind::Literal(literal) => {
                let mut letters = std::str::from_utf8(&literal.0).ok()?.chars();
                let letter = letters.next().filter(|_| letters.next().is_none())?;
                ClassUnicode::new([regex_syntax::hir::ClassUnicodeRange::new(letter, letter)])
            }
            _ => return None,
        };
        let known = self.steps.sets.iter().position(|known| *known == set);
        let at = known.unwrap_or(self.steps.sets.len());
        if known.is_none() {
            self.steps.sets.push(set);
        }
        self.add(Step::Char(at, next))
    }
}

/// The characters in classes that no set of a pattern splits.
#[derive(Debug)]
pub struct Alphabet {
    /// The first code point of each segment, with its class.
    pub segments: Vec<(u32, usize)>,
    /// The sets that contain each class.
    pub sets_of: Vec<BTreeSet<usize>>,
}

impl Alphabet {
    pub fn of(sets: &[ClassUnicode]) -> Self {
        let ranges = sets.iter().flat_map(|set| set.iter());
        let mut cuts: BTreeSet<u32> =
            ranges.flat_map(|range| [u32::from(range.start()), u32::from(range.end()) + 1]).collect();
        cuts.insert(0);
        cuts.retain(|cut| *cut <= u32::from(char::MAX));
        let mut alphabet = Self { segments: Vec::new(), sets_of: Vec::new() };
        for cut in cuts {
            let has = |set: &ClassUnicode| {
                let at = set.ranges().partition_point(|range| u32::from(range.end()) < cut);
                set.ranges().get(at).is_some_and(|range| u32::from(range.start()) <= cut)
            };
            let within: BTreeSet<_> = (0..sets.len()).filter(|at| has(&sets[*at])).collect();
            let known = alphabet.sets_of.iter().position(|known| *known == within);
            let class = known.unwrap_or(alphabet.sets_of.len());
            if known.is_none() {
                alphabet.sets_of.push(within);
            }
            alphabet.segments.push((cut, class));
        }
        alphabet
    }
}
