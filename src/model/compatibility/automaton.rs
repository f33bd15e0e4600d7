//! Compiles patterns to automata, and searches for a string that some accept and others refuse.

use std::collections::HashMap;
use std::rc::Rc;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

use super::budget::Budget;
use super::counted::{self, Counted, Lengths};
use super::found::Found;
use super::looking::{self, Looking};
use super::stretch;

/// The size limit of the automaton of one pattern, in bytes.
const MOST_BYTES: usize = 4 << 20;
/// The number of states of a nondeterministic automaton from which on its characters are better not read byte by byte.
const LARGE: usize = 5_000;
/// The maximum number of states of a product automaton that are visited.
pub(super) const MOST_STATES: usize = 60_000;
/// The length up to which characters are counted one by one.
const SHORT: u64 = 64;

thread_local! {
    /// The automaton of all texts, which rejects bytes that are no UTF-8.
    static ANY_TEXT: Option<Rc<Dfa>> = dfa("^(?s:.)*$");
}

type Dfa = dense::DFA<Vec<u32>>;

/// A pattern: a conjunction of regular expressions that must match, or must not match.
pub(super) struct Pattern {
    parts: Vec<(Machine, bool)>,
    /// The lengths of the texts that match, of those that the parts accept.
    pub(super) lengths: Lengths,
}

impl From<Vec<(Machine, bool)>> for Pattern {
    fn from(parts: Vec<(Machine, bool)>) -> Self {
        Self { parts, lengths: Lengths::default() }
    }
}

/// The automaton of a regular expression.
#[derive(Clone)]
enum Machine {
    Plain(Rc<Dfa>),
    /// One with look-arounds.
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
        // Counted classes of all scripts have few states if a character is one step.
        let looking = if nfa.states().len() > LARGE { Self::looking(regex) } else { None };
        looking.or_else(|| determinized(&nfa).map(Self::Plain))
    }

    fn looking(regex: &str) -> Option<Self> {
        Looking::build(regex).filter(|looking| looking.is_exact).map(|looking| Self::Looking(Rc::new(looking)))
    }

    fn start(&self) -> Option<u32> {
        match self {
            Self::Plain(dfa) => {
                let input = Input::new("").anchored(Anchored::No);
                dfa.start_state_forward(&input).ok().map(|id| id.as_u32())
            }
            Self::Looking(_) => Some(looking::START),
        }
    }

    /// Returns the state after a byte, [`MATCHED`] or [`DEAD`].
    fn next(&self, state: u32, byte: u8) -> u32 {
        match self {
            _ if state == MATCHED || state == DEAD => state,
            Self::Plain(dfa) => {
                let to = dfa.next_state(StateID::new_unchecked(state as usize), byte);
                match () {
                    () if dfa.is_match_state(to) => MATCHED,
                    () if dfa.is_dead_state(to) => DEAD,
                    () => to.as_u32(),
                }
            }
            Self::Looking(looking) => match looking.next(state, byte) {
                None => DEAD,
                Some(to) if looking.is_done(to) => MATCHED,
                Some(to) => to,
            },
        }
    }

    fn accepts(&self, state: u32) -> bool {
        match self {
            _ if state == MATCHED || state == DEAD => state == MATCHED,
            Self::Plain(dfa) => dfa.is_match_state(dfa.next_eoi_state(StateID::new_unchecked(state as usize))),
            Self::Looking(looking) => looking.accepts(state),
        }
    }

    /// Returns a key that is the same for bytes that the automaton does not distinguish.
    fn byte_key(&self, byte: u8) -> Vec<u32> {
        match self {
            Self::Plain(dfa) => vec![u32::from(dfa.byte_classes().get(byte))],
            Self::Looking(looking) => looking.byte_key(byte),
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
    let config = thompson::Config::new().which_captures(thompson::WhichCaptures::None);
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
        .dfa_size_limit(Some(MOST_BYTES))
        .determinize_size_limit(Some(2 * MOST_BYTES));
    dense::Builder::new().configure(config).build_from_nfa(nfa).ok().map(Rc::new)
}

impl Pattern {
    /// Compiles a `pattern` keyword. Returns `None` if it is not regular in the strict sense, or too large.
    pub(super) fn compile(pattern: &str) -> Option<Self> {
        let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
        let simple = counted::simplify(&translated);
        let Counted { regex, lengths } =
            simple.unwrap_or_else(|| Counted { regex: translated.into(), lengths: Lengths::default() });
        if let Some(machine) = Machine::plain(&regex) {
            return Some(Self { parts: vec![(machine, true)], lengths });
        }
        Self::look_first(&regex).or_else(|| Some(Self { parts: vec![(Machine::looking(&regex)?, true)], lengths }))
    }

    /// Compiles a pattern that begins with look-aheads: `^(?!A)B` matches what `^B` matches, unless A matches at the start.
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

    /// Compiles a pattern that matches all that a `pattern` keyword with back-references matches, and more.
    pub(super) fn around(pattern: &str) -> Option<Self> {
        let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
        Some(vec![(Machine::Looking(Rc::new(Looking::build(&translated)?)), true)].into())
    }

    /// Compiles one of this program's own regular expressions.
    pub(super) fn own(regex: &str) -> Option<Self> {
        Some(vec![(Machine::Plain(dfa(regex)?), true)].into())
    }

    /// Returns the pattern that matches exactly these texts.
    pub(super) fn literals<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let all: Vec<_> = texts.map(escape).collect();
        Self::own(&format!("^(?:{})$", all.join("|")))
    }

    /// Returns the memory use of the pattern in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.parts.iter().map(|(machine, _)| machine.memory()).sum()
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() { escaped.push(c) } else { escaped.push_str(&format!("\\x{{{:x}}}", u32::from(c))) }
    }
    escaped
}

/// Returns the strings that a pattern such as `^a$` or `^(a|b)$` matches, or `None` for other patterns.
pub(super) fn texts(pattern: &str) -> Option<Vec<String>> {
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
    let (mut depth, mut escaped, mut in_class) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth -= 1;
                if depth == 0 {
                    return is_one_branch(&text[at + 1..]).then(|| (&text[3..at], wanted, &text[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns whether an expression has no `|` outside of all groups.
fn is_one_branch(text: &str) -> bool {
    let (mut depth, mut escaped, mut in_class) = (0, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth -= 1,
            '|' if !in_class && depth == 0 => return false,
            _ => {}
        }
    }
    true
}

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

/// The state of a pattern that has already matched, regardless of what follows.
const MATCHED: u32 = u32::MAX;
/// The state of a pattern that cannot match, regardless of what follows.
const DEAD: u32 = u32::MAX - 1;

pub(super) struct Product {
    dfas: Vec<Machine>,
    wanted: Vec<(Vec<(usize, bool)>, bool)>,
    least: u64,
    most: Option<u64>,
}

impl Product {
    fn find(&self, budget: &mut Budget<'_>) -> Found<String> {
        let Some(start) = self.start() else { return Found::Unsure };
        let alphabet = self.alphabet();
        let mut known: HashMap<(Vec<u32>, u64), usize> = HashMap::from([((start.clone(), 0), 0)]);
        let mut order = vec![(start, 0u64, 0usize, 0u8)];
        let mut at = 0;
        while at < order.len() {
            if order.len() > MOST_STATES || (at % 16 == 0 && !budget.step()) {
                return Found::Unsure;
            }
            let (states, count, ..) = order[at].clone();
            if count >= self.least && self.accepts(&states) {
                return spell(&order, at).map_or(Found::Unsure, Found::One);
            }
            for byte in &alphabet {
                let is_start = byte & 0xC0 != 0x80;
                let count = if is_start { count + 1 } else { count };
                if self.most.is_some_and(|most| count > most) {
                    continue;
                }
                let count = if self.most.is_none() { count.min(self.least) } else { count };
                let Some(next) = self.next(&states, *byte) else { continue };
                let fresh = order.len();
                known.entry((next.clone(), count)).or_insert_with(|| {
                    order.push((next, count, at, *byte));
                    fresh
                });
            }
            at += 1;
        }
        Found::None
    }

    pub(super) fn start(&self) -> Option<Vec<u32>> {
        self.dfas.iter().map(Machine::start).collect()
    }

    /// Returns one byte of each class that the automata distinguish, preferring letters.
    pub(super) fn alphabet(&self) -> Vec<u8> {
        let rank = |byte: u8| match byte {
            b'a'..=b'z' => 0,
            b'0'..=b'9' => 1,
            b'A'..=b'Z' => 2,
            b'!'..=b'~' => 3,
            b' ' => 4,
            0x80.. => 5,
            _ => 6,
        };
        let mut bytes: Vec<u8> = (0..=255).collect();
        bytes.sort_by_key(|byte| (rank(*byte), *byte));
        let mut seen = std::collections::HashSet::new();
        bytes.retain(|byte| {
            let kind: Vec<_> = self.dfas.iter().map(|machine| machine.byte_key(*byte)).collect();
            seen.insert((kind, byte & 0xC0 == 0x80))
        });
        bytes
    }

    pub(super) fn next(&self, states: &[u32], byte: u8) -> Option<Vec<u32>> {
        let next: Vec<_> = self.dfas.iter().zip(states).map(|(machine, state)| machine.next(*state, byte)).collect();
        let fails = |(at, part): &(usize, bool)| next[*at] == if *part { DEAD } else { MATCHED };
        let holds = |(at, part): &(usize, bool)| next[*at] == if *part { MATCHED } else { DEAD };
        let is_hopeless = self
            .wanted
            .iter()
            .any(|(parts, sign)| if *sign { parts.iter().any(fails) } else { parts.iter().all(holds) });
        (!is_hopeless).then_some(next)
    }

    pub(super) fn accepts(&self, states: &[u32]) -> bool {
        let has_matched = |at: usize| self.dfas[at].accepts(states[at]);
        self.wanted.iter().all(|(parts, sign)| parts.iter().all(|(at, part)| has_matched(*at) == *part) == *sign)
    }
}

fn spell(order: &[(Vec<u32>, u64, usize, u8)], mut at: usize) -> Option<String> {
    let mut bytes = Vec::new();
    while at != 0 {
        bytes.push(order[at].3);
        at = order[at].2;
    }
    bytes.reverse();
    String::from_utf8(bytes).ok()
}
