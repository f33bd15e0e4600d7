//! Builds a deterministic automaton of a pattern with look-arounds, over UTF-8.
//!
//! The text after a position determines which steps hold there, so strings are read backwards
//! first: each set of steps that can hold is a node, and each character leads to another node.
//! Reversing the edges gives a nondeterministic automaton that reads forwards, which is then
//! determinized. What precedes a position matters only to look-behinds; it is a part of each node.

use std::collections::{BTreeSet, HashMap};

use super::bytes::{BYTES, is_continuation};
use super::lookaround_steps::{self, Alphabet, Step, StepId, Steps};
use crate::model::compatibility::graph::node::index;
use crate::model::components;

/// The maximum number of nodes, and of states.
const MAX_NODES: usize = 1_500;
const MAX_STATES: usize = 3_000;
/// The maximum number of steps that are visited.
const MAX_WORK: usize = 1_500_000;

/// An automaton over UTF-8. A state is the state between two characters, times the number of nodes in the tree of
/// bytes, plus a node of that tree.
pub struct Looking {
    /// For each state and class of characters, the next state.
    next: Vec<Vec<u32>>,
    accepts: Vec<bool>,
    /// For each state, whether it accepts every string; in `never`, whether it accepts none.
    always: Vec<bool>,
    never: Vec<bool>,
    bytes: Bytes,
    /// False if the automaton may accept strings that the pattern does not match.
    pub is_exact: bool,
}

/// The state before the first character.
pub const START: u32 = 0;

impl Looking {
    /// Builds the automaton of a pattern in the syntax of the validator.
    pub fn build(pattern: &str) -> Option<Self> {
        let steps = lookaround_steps::read(pattern)?;
        let alphabet = Alphabet::of(&steps.sets);
        let graph = Graph::build(&steps, &alphabet)?;
        let (next, accepts) = graph.determinize()?;
        let never_leads_to = |is_goal: &dyn Fn(usize) -> bool| {
            let edges = next.iter().map(|row| row.iter().copied());
            components::reaches(next.len(), edges, is_goal).into_iter().map(|reaches| !reaches).collect()
        };
        let (always, never) = (never_leads_to(&|at| !accepts[at]), never_leads_to(&|at| accepts[at]));
        Some(Self { next, accepts, always, never, bytes: Bytes::of(&alphabet), is_exact: steps.is_exact })
    }

    /// Returns the state after a byte, or `None` if no accepted string continues with it.
    pub fn next(&self, state: u32, byte: u8) -> Option<u32> {
        let count = self.bytes.count();
        let (at, node) = (state / count, state % count);
        match self.bytes.after(node, byte) {
            After::Nothing => None,
            After::Node(node) => Some(at * count + node),
            After::Class(class) => {
                let to = self.next[at as usize][class];
                (!self.never[to as usize]).then_some(to * count)
            }
        }
    }

    pub fn accepts(&self, state: u32) -> bool {
        state.is_multiple_of(self.bytes.count()) && self.accepts[(state / self.bytes.count()) as usize]
    }

    /// Returns whether every string is accepted from this state.
    pub fn is_done(&self, state: u32) -> bool {
        state.is_multiple_of(self.bytes.count()) && self.always[(state / self.bytes.count()) as usize]
    }

    /// Returns the class of each byte. Bytes of the same class lead to the same states from every state.
    pub fn byte_classes(&self) -> [u8; 256] {
        let mut known = HashMap::new();
        BYTES.map(|byte| {
            let fresh = u8::try_from(known.len()).unwrap_or(u8::MAX);
            *known.entry(self.bytes.column(byte)).or_insert(fresh)
        })
    }

    /// Returns the approximate memory use in bytes.
    pub fn memory(&self) -> usize {
        self.next.iter().map(|row| 24 + row.len() * 4).sum::<usize>() + self.bytes.nodes.len() * 256
    }
}

/// A set of steps.
type Set = Vec<bool>;

/// A position in a string: the state of the look-behinds before it, the steps that hold there,
/// whether it is the first position, and whether the pattern matches there or later.
type Node = (u32, Set, bool, bool);

/// The nodes, and the edges between them in the direction of reading.
struct Graph {
    /// For each node, its successors by class.
    edges: Vec<Vec<BTreeSet<u32>>>,
    starts: BTreeSet<u32>,
    ends: Vec<bool>,
}

impl Graph {
    fn build(steps: &Steps, alphabet: &Alphabet) -> Option<Self> {
        let behind = Behind::build(steps, alphabet)?;
        let classes = alphabet.sets_of.len();
        let positions: Vec<_> =
            std::iter::once((0, true)).chain((0..behind.sets.len()).map(|at| (at, false))).collect();
        let mut known: HashMap<Node, u32> = HashMap::new();
        let mut graph = Self { edges: Vec::new(), starts: BTreeSet::new(), ends: Vec::new() };
        let mut add = |graph: &mut Self, open: &mut Vec<(u32, Node)>, node: Node| {
            let fresh = index(graph.edges.len());
            let id = *known.entry(node.clone()).or_insert(fresh);
            if id == fresh {
                if node.2 && node.3 {
                    graph.starts.insert(id);
                }
                graph.edges.push(vec![BTreeSet::new(); classes]);
                graph.ends.push(false);
                open.push((id, node));
            }
            id
        };
        let (mut open, mut work) = (Vec::new(), 0);
        for (state, is_start) in &positions {
            let holds = holding(steps, &behind.matched[*state], *is_start, None);
            let is_found = holds[steps.first];
            let id = add(&mut graph, &mut open, (index(*state), holds, *is_start, is_found));
            graph.ends[id as usize] = true;
        }
        while let Some((id, node)) = open.pop() {
            if node.2 {
                // Nothing precedes the first position.
                continue;
            }
            for class in 0..classes {
                for (before, is_start) in positions.iter().filter(|(at, _)| behind.next[*at][class] == node.0) {
                    work += steps.steps.len();
                    (work <= MAX_WORK).then_some(())?;
                    let after = Some((&node.1, &alphabet.sets_of[class]));
                    let holds = holding(steps, &behind.matched[*before], *is_start, after);
                    let is_found = node.3 || holds[steps.first];
                    let to = add(&mut graph, &mut open, (index(*before), holds, *is_start, is_found));
                    (graph.edges.len() <= MAX_NODES).then_some(())?;
                    graph.edges[to as usize][class].insert(id);
                }
            }
        }
        Some(graph)
    }

    /// Returns the states after each class, and which of them accept.
    fn determinize(&self) -> Option<(Vec<Vec<u32>>, Vec<bool>)> {
        let classes = self.edges.first().map_or(0, Vec::len);
        let mut known: HashMap<BTreeSet<u32>, u32> = HashMap::from([(self.starts.clone(), START)]);
        let mut states = vec![self.starts.clone()];
        let mut next: Vec<Vec<u32>> = Vec::new();
        while next.len() < states.len() {
            let state = states[next.len()].clone();
            let mut row = Vec::with_capacity(classes);
            for class in 0..classes {
                let to: BTreeSet<u32> =
                    state.iter().flat_map(|node| &self.edges[*node as usize][class]).copied().collect();
                let fresh = index(states.len());
                let id = *known.entry(to.clone()).or_insert(fresh);
                if id == fresh {
                    states.push(to);
                }
                row.push(id);
            }
            (states.len() <= MAX_STATES).then_some(())?;
            next.push(row);
        }
        let accepts = states.iter().map(|state| state.iter().any(|node| self.ends[*node as usize])).collect();
        Some((next, accepts))
    }
}

/// Returns the steps that hold at a position. `after` contains the steps that hold at the next
/// position and the sets that contain the character in between; it is `None` at the end.
fn holding(steps: &Steps, behind: &[bool], is_start: bool, after: Option<(&Set, &BTreeSet<usize>)>) -> Set {
    let mut holds = vec![false; steps.steps.len()];
    let deepest = steps.levels.iter().copied().max().unwrap_or_default();
    // Steps within look-aheads come first, since the steps around them depend on them.
    for level in (0..=deepest).rev() {
        loop {
            let mut changes = false;
            for at in (0..holds.len()).filter(|at| steps.levels[*at] == level) {
                if holds[at] {
                    continue;
                }
                holds[at] = match steps.steps[at] {
                    Step::Char(set, next) => after.is_some_and(|(later, sets)| sets.contains(&set) && later[next]),
                    Step::Either(one, other) => holds[one] || holds[other],
                    Step::Ahead(first, wanted, next) => holds[first] == wanted && holds[next],
                    Step::Behind(at, wanted, next) => behind[at] == wanted && holds[next],
                    Step::AtStart(next) => is_start && holds[next],
                    Step::AtEnd(next) => after.is_none() && holds[next],
                    Step::Match => true,
                    Step::Never => false,
                };
                changes |= holds[at];
            }
            if !changes {
                break;
            }
        }
    }
    holds
}

/// The deterministic automaton that tracks what look-behinds match.
struct Behind {
    sets: Vec<BTreeSet<StepId>>,
    next: Vec<Vec<u32>>,
    /// For each state, which look-behinds match there.
    matched: Vec<Vec<bool>>,
}

impl Behind {
    fn build(steps: &Steps, alphabet: &Alphabet) -> Option<Self> {
        let start = closure(steps, steps.behinds.iter().copied());
        let mut all = Self { sets: vec![start], next: Vec::new(), matched: Vec::new() };
        while all.next.len() < all.sets.len() {
            let set = all.sets[all.next.len()].clone();
            let mut row = Vec::new();
            for sets in &alphabet.sets_of {
                let moved = set.iter().filter_map(|at| match steps.steps[*at] {
                    Step::Char(class, next) if sets.contains(&class) => Some(next),
                    _ => None,
                });
                let to = closure(steps, moved.chain(steps.behinds.iter().copied()));
                let known = all.sets.iter().position(|known| *known == to);
                row.push(index(known.unwrap_or(all.sets.len())));
                if known.is_none() {
                    all.sets.push(to);
                }
            }
            (all.sets.len() <= MAX_NODES).then_some(())?;
            all.next.push(row);
        }
        let ends: Vec<BTreeSet<StepId>> = steps.behinds.iter().map(|first| ends_of(steps, *first)).collect();
        all.matched = all.sets.iter().map(|set| ends.iter().map(|ends| !set.is_disjoint(ends)).collect()).collect();
        Some(all)
    }
}

fn closure(steps: &Steps, from: impl Iterator<Item = StepId>) -> BTreeSet<StepId> {
    let mut all = BTreeSet::new();
    let mut open: Vec<_> = from.collect();
    while let Some(at) = open.pop() {
        if all.insert(at)
            && let Step::Either(one, other) = steps.steps[at]
        {
            open.extend([one, other]);
        }
    }
    all
}

/// Returns the final steps of the expression that begins with a step.
fn ends_of(steps: &Steps, first: StepId) -> BTreeSet<StepId> {
    let mut seen = BTreeSet::new();
    let mut open = vec![first];
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        match steps.steps[at] {
            Step::Either(one, other) => open.extend([one, other]),
            Step::Char(_, next) => open.push(next),
            _ => {}
        }
    }
    seen.into_iter().filter(|at| matches!(steps.steps[*at], Step::Match)).collect()
}

/// Reads the classes of characters from their bytes in UTF-8.
struct Bytes {
    /// The targets of the first byte, then of the low six bits of each further one.
    nodes: Vec<Vec<After>>,
}

/// The target of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum After {
    Nothing,
    Node(u32),
    Class(usize),
}

impl Bytes {
    fn of(alphabet: &Alphabet) -> Self {
        let mut bytes = Self { nodes: vec![Vec::new()] };
        let mut known = HashMap::new();
        for byte in 0..=255u32 {
            let after = match byte {
                0x00..=0x7F => After::Class(class_of(alphabet, byte)),
                0xC2..=0xDF => bytes.tail(alphabet, &mut known, (byte & 0x1F) << 6, 1, 0x80),
                0xE0..=0xEF => bytes.tail(alphabet, &mut known, (byte & 0x0F) << 12, 2, 0x800),
                0xF0..=0xF4 => bytes.tail(alphabet, &mut known, (byte & 0x07) << 18, 3, 0x1_0000),
                _ => After::Nothing,
            };
            bytes.nodes[0].push(after);
        }
        bytes
    }

    /// Returns the target of the last `count` bytes of the code points from `low`.
    fn tail(
        &mut self,
        alphabet: &Alphabet,
        known: &mut HashMap<Vec<After>, u32>,
        low: u32,
        count: u32,
        least: u32,
    ) -> After {
        let high = low + (1 << (6 * count)) - 1;
        let last = alphabet.segments.partition_point(|(first, _)| *first <= low);
        let is_uniform = alphabet.segments.get(last).is_none_or(|(first, _)| *first > high)
            && low >= least
            && high <= u32::from(char::MAX)
            && (high < 0xD800 || low > 0xDFFF);
        let row: Vec<After> = match count {
            0 if low < least => return After::Nothing,
            0 => return char::from_u32(low).map_or(After::Nothing, |_| After::Class(class_of(alphabet, low))),
            _ if is_uniform => vec![self.tail(alphabet, known, low, count - 1, least); 64],
            _ => {
                let step = 1 << (6 * (count - 1));
                (0..64).map(|n| self.tail(alphabet, known, low + n * step, count - 1, least)).collect()
            }
        };
        if row.iter().all(|after| *after == After::Nothing) {
            return After::Nothing;
        }
        let fresh = index(self.nodes.len());
        let id = *known.entry(row.clone()).or_insert(fresh);
        if id == fresh {
            self.nodes.push(row);
        }
        After::Node(id)
    }

    fn count(&self) -> u32 {
        index(self.nodes.len())
    }

    fn after(&self, node: u32, byte: u8) -> After {
        match node {
            0 => self.nodes[0][byte as usize],
            _ if is_continuation(byte) => self.nodes[node as usize][(byte & 0x3F) as usize],
            _ => After::Nothing,
        }
    }

    fn column(&self, byte: u8) -> Vec<After> {
        (0..self.count()).map(|node| self.after(node, byte)).collect()
    }
}

fn class_of(alphabet: &Alphabet, point: u32) -> usize {
    let at = alphabet.segments.partition_point(|(first, _)| *first <= point);
    alphabet.segments[at.saturating_sub(1)].1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(looking: &Looking, text: &str) -> bool {
        let mut state = START;
        for byte in text.bytes() {
            match looking.next(state, byte) {
                Some(to) => state = to,
                None => return false,
            }
        }
        looking.accepts(state)
    }

    /// Returns all strings of up to `most` of these letters.
    fn texts(letters: &[char], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut longest = all.clone();
        for _ in 0..most {
            longest =
                longest.iter().flat_map(|text| letters.iter().map(move |letter| format!("{text}{letter}"))).collect();
            all.extend(longest.clone());
        }
        all
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, count: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % count
        }

        fn pattern(&mut self, depth: u64, is_plain: bool) -> String {
            let of = |random: &mut Self| random.pattern(depth.saturating_sub(1), is_plain);
            match self.below(if depth == 0 { 6 } else { 18 }) {
                0 => "a".into(),
                1 => "b".into(),
                2 => "[ab]".into(),
                3 => "[^a]".into(),
                4 => ["é", ".", r"\w", r"\W"][self.below(4) as usize].into(),
                5 if is_plain => String::new(),
                5 => ["^", "$", r"\b", r"\B"][self.below(4) as usize].into(),
                6 | 7 => format!("(?:{})*", of(self)),
                8 => format!("(?:{})?", of(self)),
                9 => format!("(?:{}){{1,2}}", of(self)),
                10 => format!("(?:{}|{})", of(self), of(self)),
                11..=13 => format!("{}{}", of(self), of(self)),
                _ if is_plain => of(self),
                14 => format!("(?={})", of(self)),
                15 => format!("(?!{})", of(self)),
                16 => format!("(?<={})", self.pattern(depth - 1, true)),
                _ => format!("(?<!{})", self.pattern(depth - 1, true)),
            }
        }
    }

    #[test]
    fn look_arounds_match_what_the_validator_matches() {
        let texts = texts(&['a', 'b', 'é', ' '], 3);
        let (mut random, mut compared) = (Random(7), 0);
        for _ in 0..300 {
            let pattern = random.pattern(4, false);
            let (Some(looking), Ok(regex)) = (Looking::build(&pattern), fancy_regex::Regex::new(&pattern)) else {
                continue;
            };
            for text in &texts {
                let Ok(expected) = regex.is_match(text) else { continue };
                assert_eq!(matches(&looking, text), expected, "{pattern} {text:?}");
            }
            compared += 1;
        }
        assert!(compared > 200, "{compared}");
    }

    #[test]
    fn back_references_match_at_least_what_the_validator_matches() {
        let texts = texts(&['a', 'b', ' '], 3);
        let (mut random, mut compared) = (Random(11), 0);
        for _ in 0..200 {
            let [group, between, rest] = [2, 1, 2].map(|depth| random.pattern(depth, false));
            let pattern = format!(r"({group}){between}\1{}", rest.replace('a', r"\1"));
            let (Some(looking), Ok(regex)) = (Looking::build(&pattern), fancy_regex::Regex::new(&pattern)) else {
                continue;
            };
            for text in texts.iter().filter(|text| regex.is_match(text).unwrap_or_default()) {
                assert!(matches(&looking, text), "{pattern} {text:?}");
            }
            compared += usize::from(!looking.is_exact);
        }
        assert!(compared > 10, "{compared}");
    }

    #[test]
    fn characters_are_read_from_any_number_of_bytes() {
        for (pattern, yes, no) in [
            ("^[é-ÿ](?!.)", &["é", "ÿ"][..], &["è", "\u{100}", "e"][..]),
            ("^[\u{fff}-\u{1001}](?!.)", &["\u{fff}", "\u{1001}"], &["\u{ffe}", "\u{1002}"]),
            ("^[\u{ffff}-\u{10001}](?!.)", &["\u{ffff}", "\u{10000}", "\u{10001}"], &["\u{fffe}", "\u{10002}"]),
            (r"^\p{Lu}(?!.)", &["A", "É", "Ж", "\u{10400}"], &["a", "é", "ж", "\u{10428}", "1"]),
            ("^.(?!.)", &["a", "\u{10ffff}", "\u{d7ff}", "\u{e000}"], &["", "\n", "ab"]),
        ] {
            let looking = Looking::build(pattern).unwrap();
            yes.iter().for_each(|text| assert!(matches(&looking, text), "{pattern} {text:?}"));
            no.iter().for_each(|text| assert!(!matches(&looking, text), "{pattern} {text:?}"));
        }
    }
}
