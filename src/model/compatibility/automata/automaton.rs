//! Compiles patterns to automata.

use std::{cell::RefCell, rc::Rc, thread::LocalKey};

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

use super::bytes::BYTES;
use super::lookaround::{self, Looking};
use super::repetition::{self, Lengths, WithLengths};
use crate::model::compatibility::recent::Recent;

/// The size limit of the automaton of one pattern, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// The size of a nondeterministic automaton, in states, above which it is better to read a
/// character as one step than byte by byte.
const LARGE: usize = 5_000;

thread_local! {
    /// The automaton of all strings, which rejects bytes that are not UTF-8.
    pub static ANY_TEXT: Option<Rc<Dfa>> = dfa("^(?s:.)*$");
}

type Dfa = dense::DFA<Vec<u32>>;

/// A pattern: a conjunction of regular expressions that must match, or must not match.
pub struct Pattern {
    pub parts: Vec<(Machine, bool)>,
    /// The limits on the length. A text matches if the parts accept it and its length is within the limits.
    pub lengths: Lengths,
}

impl From<Vec<(Machine, bool)>> for Pattern {
    fn from(parts: Vec<(Machine, bool)>) -> Self {
        Self { parts, lengths: Lengths::default() }
    }
}

/// The automaton of a regular expression.
#[derive(Clone)]
pub enum Machine {
    Plain(Rc<Dfa>),
    /// The automaton of a regular expression with look-arounds.
    Looking(Rc<Looking>),
}

impl Machine {
    /// Builds the automaton of a regular expression in the syntax of the validator.
    fn build(regex: &str) -> Option<Self> {
        Self::plain(regex).or_else(|| Self::looking(regex))
    }

    /// Builds the automaton of a regular expression without look-arounds.
    fn plain(regex: &str) -> Option<Self> {
        let nfa = nfa(regex)?;
        // Repeated Unicode classes have few states if a character is one step.
        let looking = if nfa.states().len() > LARGE { Self::looking(regex) } else { None };
        looking.or_else(|| determinized(&nfa).map(Self::Plain))
    }

    fn looking(regex: &str) -> Option<Self> {
        Looking::build(regex).filter(|looking| looking.is_exact).map(|looking| Self::Looking(Rc::new(looking)))
    }

    pub fn start(&self) -> Option<u32> {
        match self {
            Self::Plain(dfa) => {
                let input = Input::new("").anchored(Anchored::No);
                dfa.start_state_forward(&input).ok().map(|id| id.as_u32())
            }
            Self::Looking(_) => Some(lookaround::START),
        }
    }

    /// Returns the state after a byte, [`MATCHED`] or [`DEAD`].
    pub fn next(&self, state: u32, byte: u8) -> u32 {
        match self {
            _ if state == MATCHED || state == DEAD => state,
            Self::Plain(dfa) => {
                let to = dfa.next_state(StateID::new_unchecked(state as usize), byte);
                if dfa.is_match_state(to) {
                    MATCHED
                } else if dfa.is_dead_state(to) {
                    DEAD
                } else {
                    to.as_u32()
                }
            }
            Self::Looking(looking) => match looking.next(state, byte) {
                None => DEAD,
                Some(to) if looking.is_done(to) => MATCHED,
                Some(to) => to,
            },
        }
    }

    pub fn accepts(&self, state: u32) -> bool {
        match self {
            _ if state == MATCHED || state == DEAD => state == MATCHED,
            Self::Plain(dfa) => dfa.is_match_state(dfa.next_eoi_state(StateID::new_unchecked(state as usize))),
            Self::Looking(looking) => looking.accepts(state),
        }
    }

    /// Returns the class of each byte. The automaton does not distinguish bytes of the same class.
    pub fn byte_classes(&self) -> [u8; 256] {
        match self {
            Self::Plain(dfa) => BYTES.map(|byte| dfa.byte_classes().get(byte)),
            Self::Looking(looking) => looking.byte_classes(),
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Plain(dfa) => dfa.memory_usage(),
            Self::Looking(looking) => looking.memory(),
        }
    }
}

/// Builds the nondeterministic automaton of a regular expression in Rust's syntax.
fn nfa(regex: &str) -> Option<thompson::NFA> {
    let config =
        thompson::Config::new().which_captures(thompson::WhichCaptures::None).nfa_size_limit(Some(2 * MAX_BYTES));
    thompson::Compiler::new().configure(config).build(regex).ok()
}

/// Builds the automaton of a regular expression in Rust's syntax.
fn dfa(regex: &str) -> Option<Rc<Dfa>> {
    determinized(&nfa(regex)?)
}

fn determinized(nfa: &thompson::NFA) -> Option<Rc<Dfa>> {
    let config = dense::Config::new()
        .match_kind(MatchKind::All)
        .start_kind(StartKind::Unanchored)
        .dfa_size_limit(Some(MAX_BYTES))
        .determinize_size_limit(Some(2 * MAX_BYTES));
    dense::Builder::new().configure(config).build_from_nfa(nfa).ok().map(Rc::new)
}

type RecentPatterns = RefCell<Recent<Option<Rc<Pattern>>>>;

thread_local! {
    static PATTERNS: RecentPatterns = RefCell::default();
    static OWN_PATTERNS: RecentPatterns = RefCell::default();
}

fn recent(
    patterns: &'static LocalKey<RecentPatterns>,
    text: &str,
    compile: impl FnOnce(&str) -> Option<Pattern>,
) -> Option<Rc<Pattern>> {
    patterns.with_borrow_mut(|patterns| {
        patterns.get(text, || {
            let compiled = compile(text).map(Rc::new);
            let size = compiled.as_ref().map_or(0, |compiled| compiled.bytes());
            (compiled, size)
        })
    })
}

impl Pattern {
    /// Returns the automaton of a `pattern` keyword, or `None` if it has back-references, or is too large.
    pub fn of(pattern: &str) -> Option<Rc<Self>> {
        recent(&PATTERNS, pattern, Self::compile)
    }

    /// Returns the automaton of one of this program's own regular expressions.
    pub fn of_own(regex: &str) -> Option<Rc<Self>> {
        recent(&OWN_PATTERNS, regex, Self::own)
    }

    /// Compiles a `pattern` keyword. Returns `None` if it has back-references, or is too large.
    pub fn compile(pattern: &str) -> Option<Self> {
        let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
        let simple = repetition::simplify(&translated);
        let WithLengths { regex, lengths } =
            simple.unwrap_or_else(|| WithLengths { regex: translated.into(), lengths: Lengths::default() });
        if let Some(machine) = Machine::plain(&regex) {
            return Some(Self { parts: vec![(machine, true)], lengths });
        }
        Self::look_first(&regex).or_else(|| Some(Self { parts: vec![(Machine::looking(&regex)?, true)], lengths }))
    }

    /// Compiles a pattern that begins with look-aheads: `^(?!A)B` matches what `^B` matches, unless A matches at the
    /// start.
    fn look_first(translated: &str) -> Option<Self> {
        let mut rest = translated.strip_prefix('^')?;
        let mut parts = Vec::new();
        while let Some((body, wanted, after)) = leading_look(rest) {
            parts.push((Machine::build(&format!("^(?:{body})"))?, wanted));
            rest = after;
        }
        parts.push((Machine::build(&format!("^(?:{rest})"))?, true));
        (parts.len() > 1).then(|| parts.into())
    }

    /// Compiles an over-approximation of a `pattern` keyword with back-references: it matches everything that the
    /// keyword matches, and possibly more.
    pub fn superset(pattern: &str) -> Option<Self> {
        let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
        Some(vec![(Machine::Looking(Rc::new(Looking::build(&translated)?)), true)].into())
    }

    /// Compiles one of this program's own regular expressions.
    pub fn own(regex: &str) -> Option<Self> {
        Some(vec![(Machine::Plain(dfa(regex)?), true)].into())
    }

    /// Returns the pattern that matches exactly these strings.
    pub fn literals<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let all: Vec<_> = texts.map(regex_syntax::escape).collect();
        Self::own(&format!("^(?:{})$", all.join("|")))
    }

    /// Returns the memory use of the pattern in bytes.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|(machine, _)| machine.memory()).sum()
    }
}

/// Returns the strings that a pattern such as `^a$` or `^(a|b)$` matches, or `None` for other patterns.
pub fn texts(pattern: &str) -> Option<Vec<String>> {
    let body = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let group = body.strip_prefix("(?:").or_else(|| body.strip_prefix('(')).and_then(|body| body.strip_suffix(')'));
    match group {
        Some(group) => group.split('|').map(literal).collect(),
        None => Some(vec![literal(body)?]),
    }
}

/// Returns the text that an expression without operators matches.
fn literal(expression: &str) -> Option<String> {
    let mut letters = expression.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.push(letters.next().filter(char::is_ascii_punctuation)?),
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' | '|' => return None,
            letter => text.push(letter),
        }
    }
    Some(text)
}

/// Splits `(?!A)B` into A, false and B; `(?=A)B` into A, true and B.
fn leading_look(text: &str) -> Option<(&str, bool, &str)> {
    let wanted = text.starts_with("(?=");
    if !wanted && !text.starts_with("(?!") {
        return None;
    }
    let (end, ..) = structure(text).find(|(_, c, depth)| *c == ')' && *depth == 0)?;
    let rest = &text[end + 1..];
    let is_one_branch = structure(rest).all(|(_, c, depth)| c != '|' || depth != 0);
    is_one_branch.then(|| (&text[3..end], wanted, rest))
}

/// Returns the closing parentheses and bars of an expression outside of classes, each with its offset and the number
/// of open groups there.
fn structure(text: &str) -> impl Iterator<Item = (usize, char, i32)> {
    let (mut depth, mut escaped, mut in_class) = (0, false, false);
    text.char_indices().filter_map(move |(at, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth -= 1;
                return Some((at, c, depth));
            }
            '|' if !in_class => return Some((at, c, depth)),
            _ => {}
        }
        None
    })
}

/// The state of a pattern that has already matched, regardless of what follows.
pub const MATCHED: u32 = u32::MAX;
/// The state of a pattern that cannot match, regardless of what follows.
pub const DEAD: u32 = u32::MAX - 1;
