//! The result of one comparison: both directions, both readings, the differences and the bump.

use std::time::Duration;

use serde_json::Value;

use super::budget::{Budget, Limits};
use super::confirm::{self, Side};
use super::dialect::Graph;
use super::explain::Sources;
use super::intern;
use super::node::Id;
use super::prove::{Answer, Atom, Engine};
use super::rules::Direction;
use crate::model::schema::{Draft, Tree, document::Document};

/// A way to read a schema as a description of what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// As written: an open object may have any further property.
    Strict,
    /// The writer sends only the properties that the schema names; objects without named properties are open.
    Lenient,
}

/// The options of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether every value of the new schema must be a value of the old one.
    pub backwards: bool,
    /// Whether every value of the old schema must be a value of the new one.
    pub forwards: bool,
    /// The reading that determines breaks and bumps.
    pub reading: Reading,
    /// The maximum number of differences to search for.
    pub most_differences: usize,
    /// The limits of the comparison.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        let limits = Limits::default();
        Self { backwards: true, forwards: true, reading: Reading::Lenient, most_differences: 20, limits }
    }
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Compatibility is proved.
    Compatible,
    /// Compatibility is refuted, with this value as one counterexample.
    Incompatible(Box<Difference>),
    /// Neither is known.
    Unknown(Unknown),
}

impl Verdict {
    /// Returns whether compatibility is proved.
    pub fn is_compatible(&self) -> bool {
        matches!(self, Self::Compatible)
    }

    /// Returns whether compatibility is refuted.
    pub fn is_incompatible(&self) -> bool {
        matches!(self, Self::Incompatible(_))
    }
}

/// One place where the schemas differ, with a value that shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The direction that it breaks.
    pub direction: Direction,
    /// The reading under which it breaks.
    pub reading: Reading,
    /// The id of the rule, from the catalogue.
    pub rule: &'static str,
    /// A sentence that says what is wrong with the value.
    pub message: String,
    /// The JSON Pointer to the place in the old schema.
    pub old_pointer: Option<String>,
    /// The JSON Pointer to the place in the new schema.
    pub new_pointer: Option<String>,
    /// A value that one side accepts and the other refuses, both confirmed by the validator.
    pub witness: Value,
    /// The JSON Pointer to the place in the witness.
    pub at: String,
}

/// The reason why a question is undecided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The reason, in words.
    pub reason: String,
    /// The limit that was reached, if the budget ran out: time, memory or steps.
    pub spent: Option<&'static str>,
    /// Whether a value was found that the validator did not confirm.
    pub unconfirmed: bool,
}

/// Both readings of one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    /// The verdict for the schema as written.
    pub strict: Verdict,
    /// The verdict for what a lenient writer sends.
    pub lenient: Verdict,
}

impl Readings {
    /// Returns the verdict of a reading.
    pub fn of(&self, reading: Reading) -> &Verdict {
        match reading {
            Reading::Strict => &self.strict,
            Reading::Lenient => &self.lenient,
        }
    }
}

/// The smallest version bump that a change of a schema needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bump {
    /// The change breaks a promise.
    Major,
    /// The change affects which values are valid.
    Minor,
    /// The change affects the wording only.
    Patch,
    /// The bump is undecided, but at least minor.
    Unknown,
}

/// The complete result of comparing two schemas.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Is every value of the new schema a value of the old one?
    pub backwards: Readings,
    /// Is every value of the old schema a value of the new one?
    pub forwards: Readings,
    /// The differences by direction, limited by [`Options`].
    pub differences: Vec<Difference>,
    /// The bump that the change needs.
    pub bump: Bump,
    /// The steps that the search took.
    pub steps: u64,
}

/// Compares two schemas. `clock` measures elapsed time.
pub(super) fn compare(
    old: Tree<'_>,
    new: Tree<'_>,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Comparison {
    judged(old, new, options, clock, |judge| judge.comparison()).unwrap_or_else(|why| undecided(&why))
}

/// Decides one direction in the selected reading.
pub(super) fn answer(
    old: Tree<'_>,
    new: Tree<'_>,
    direction: Direction,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Verdict {
    let answer = |mut judge: Judge<'_>| judge.readings(direction).of(options.reading).clone();
    judged(old, new, options, clock, answer).unwrap_or_else(|why| unknown(&why))
}

/// Reads two schemas and judges them. Returns an error if they cannot be read.
fn judged<T>(
    old: Tree<'_>,
    new: Tree<'_>,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
    judge: impl FnOnce(Judge<'_>) -> T,
) -> Result<T, String> {
    for schema in [old, new] {
        if let Some(uri) = schema.get("$schema").and_then(Tree::as_str).filter(|uri| Draft::of(uri).is_none()) {
            return Err(format!("the dialect {uri:?} is not known"));
        }
    }
    let budget = Budget::new(clock, options.limits);
    let documents = [Document::new(old), Document::new(new)];
    let (graph, roots) = Graph::read(&documents)?;
    let (table, classes, graph) = intern::intern(graph)?;
    let sources = Sources { graph: &graph, classes: &classes, roots };
    let engine = Engine::new(table, budget);
    let sides = [Side::new(&documents[0]), Side::new(&documents[1])];
    Ok(judge(Judge { engine, sources, sides, options, differences: Vec::new() }))
}

fn unknown(why: &str) -> Verdict {
    Verdict::Unknown(Unknown { reason: why.to_owned(), spent: None, unconfirmed: false })
}

fn undecided(why: &str) -> Comparison {
    let readings = || Readings { strict: unknown(why), lenient: unknown(why) };
    Comparison { backwards: readings(), forwards: readings(), differences: Vec::new(), bump: Bump::Unknown, steps: 0 }
}

fn bump(backwards: &Readings, forwards: &Readings, options: &Options) -> Bump {
    let asked = [(backwards, options.backwards), (forwards, options.forwards)];
    let asked: Vec<_> = asked.iter().filter(|(_, is_asked)| *is_asked).map(|(r, _)| r.of(options.reading)).collect();
    if asked.iter().any(|verdict| verdict.is_incompatible()) {
        return Bump::Major;
    }
    if asked.iter().any(|verdict| !verdict.is_compatible()) {
        return Bump::Unknown;
    }
    if backwards.strict.is_compatible() && forwards.strict.is_compatible() { Bump::Patch } else { Bump::Minor }
}

struct Judge<'a> {
    engine: Engine<'a>,
    sources: Sources<'a>,
    sides: [Side<'a>; 2],
    options: &'a Options,
    differences: Vec<Difference>,
}

/// The time limit for shrinking one witness.
const SHRINKING: Duration = Duration::from_millis(150);

impl Judge<'_> {
    /// Decides both directions and collects differences.
    fn comparison(mut self) -> Comparison {
        let backwards = self.readings(Direction::Backwards);
        let forwards = self.readings(Direction::Forwards);
        self.engine.budget.end_verdicts();
        let options = self.options;
        for (direction, readings, is_asked) in
            [(Direction::Backwards, &backwards, options.backwards), (Direction::Forwards, &forwards, options.forwards)]
        {
            let decisive = readings.of(options.reading);
            let shown = if decisive.is_incompatible() { decisive } else { &readings.strict };
            if let (Verdict::Incompatible(first), true) = (shown, is_asked) {
                self.collect(direction, (**first).clone());
            }
        }
        let bump = bump(&backwards, &forwards, options);
        let steps = self.engine.budget.steps;
        Comparison { backwards, forwards, differences: self.differences, bump, steps }
    }

    /// Returns the root node of a document.
    fn root(&self, document: usize) -> Id {
        self.sources.classes.of(self.sources.roots[document])
    }

    /// Returns whether both documents are the same, or say the same in other words.
    fn is_same(&self) -> bool {
        let [old, new] = self.sources.graph.documents;
        let is_ambiguous = self.engine.table.words.is_ambiguous;
        old.root.id() == new.root.id() || !is_ambiguous && self.root(0) == self.root(1)
    }

    fn readings(&mut self, direction: Direction) -> Readings {
        if self.is_same() {
            return Readings { strict: Verdict::Compatible, lenient: Verdict::Compatible };
        }
        let strict = self.verdict(direction, Reading::Strict);
        if strict.is_compatible() {
            return Readings { strict, lenient: Verdict::Compatible };
        }
        let lenient = self.verdict(direction, Reading::Lenient);
        let strict = match (&strict, &lenient) {
            // Every value that a lenient writer sends may also be sent by a strict one.
            (Verdict::Unknown(_), Verdict::Incompatible(difference)) => {
                Verdict::Incompatible(Box::new(Difference { reading: Reading::Strict, ..(**difference).clone() }))
            }
            _ => strict,
        };
        Readings { strict, lenient }
    }

    fn verdict(&mut self, direction: Direction, reading: Reading) -> Verdict {
        self.engine.unmask();
        self.engine.obstacle = None;
        match self.proved(direction, reading) {
            Verdict::Unknown(unknown) => self.listed(direction, reading).unwrap_or(Verdict::Unknown(unknown)),
            known => known,
        }
    }

    /// Has the validator decide about each value of a schema that lists its values.
    fn listed(&mut self, direction: Direction, reading: Reading) -> Option<Verdict> {
        let [old, new] = &mut self.sides;
        let (inner, outer) = if sides(direction).0 == 0 { (old, new) } else { (new, old) };
        let Some(witness) = confirm::among_named(inner, outer)? else { return Some(Verdict::Compatible) };
        // A lenient writer does not send every value that is listed beside names of properties.
        if reading == Reading::Lenient && !inner.only_names() {
            return None;
        }
        self.confirm(direction, reading, witness).map(|(difference, _)| Verdict::Incompatible(Box::new(difference)))
    }

    fn proved(&mut self, direction: Direction, reading: Reading) -> Verdict {
        match self.ask(direction, reading) {
            Answer::Empty if self.engine.table.words.is_ambiguous => {
                self.engine.hinder(|| "a dynamic reference with more than one possible target".to_owned());
                self.unknown(false)
            }
            Answer::Empty => Verdict::Compatible,
            Answer::Undecided => self.unknown(false),
            Answer::Witness(value) | Answer::PossibleWitness(value) => {
                match self.confirm(direction, reading, (*value).clone()) {
                    Some((difference, _)) => Verdict::Incompatible(Box::new(difference)),
                    None => self.unknown(true),
                }
            }
        }
    }

    fn ask(&mut self, direction: Direction, reading: Reading) -> Answer {
        let (inner, outer) = sides(direction);
        let (inner, outer) = (self.root(inner), self.root(outer));
        self.engine.goal(vec![Atom::is(inner, reading == Reading::Lenient), Atom::is_not(outer)])
    }

    fn unknown(&mut self, unconfirmed: bool) -> Verdict {
        let spent = self.engine.budget.spent();
        let reason = match (spent, self.engine.obstacle.take()) {
            (Some(spent), _) => format!("the {spent} limit was reached"),
            (None, Some(obstacle)) => obstacle,
            (None, None) if unconfirmed => "the validator did not confirm the counterexample".to_owned(),
            (None, None) => "no rule covers this case".to_owned(),
        };
        Verdict::Unknown(Unknown { reason, spent, unconfirmed })
    }

    /// Confirms a value with the validator, shrinks it, and explains why it fails.
    fn confirm(
        &mut self,
        direction: Direction,
        reading: Reading,
        value: Value,
    ) -> Option<(Difference, Option<(Id, super::node::Lit)>)> {
        let (inner, outer) = sides(direction);
        let [old, new] = &mut self.sides;
        [&mut *old, &mut *new].into_iter().for_each(|side| side.turn_to(&value));
        let (inner_side, outer_side) = if inner == 0 { (&*old, &*new) } else { (&*new, &*old) };
        if !confirm::is_witness(inner_side, outer_side, &value) {
            return None;
        }
        let started = self.engine.budget.elapsed();
        let budget = &self.engine.budget;
        let time_left = || SHRINKING.saturating_sub(budget.elapsed().saturating_sub(started));
        let witness = confirm::shrink(inner_side, outer_side, value, &time_left);
        let masked = self.engine.masked.clone();
        let table = &mut self.engine.table;
        let leaf = self.sources.leaf(table, outer, &witness, &|mask| masked.contains(mask));
        let mask = leaf.as_ref().and_then(|leaf| leaf.mask(&self.sources));
        let explained = leaf.map(|leaf| self.sources.explain(table, &leaf, outer, &witness, direction));
        let (rule, message, at, [old_pointer, new_pointer]) = match explained {
            Some(found) => (found.rule, found.message, found.at, found.pointers),
            None if direction == Direction::Forwards => {
                ("narrowed-alternatives", "the value is refused".to_owned(), String::new(), [None, None])
            }
            None => ("widened-alternatives", "the value is refused".to_owned(), String::new(), [None, None]),
        };
        Some((Difference { direction, reading, rule, message, old_pointer, new_pointer, witness, at }, mask))
    }

    /// Searches for further differences, treating the known ones as allowed.
    fn collect(&mut self, direction: Direction, first: Difference) {
        let reading = first.reading;
        let (_, outer) = sides(direction);
        let table = &mut self.engine.table;
        let leaf = self.sources.leaf(table, outer, &first.witness, &|_| false);
        let mut mask = leaf.and_then(|leaf| leaf.mask(&self.sources));
        self.differences.push(first);
        self.engine.unmask();
        let mut found = 1;
        while found < self.options.most_differences {
            let Some((id, lit)) = mask.take() else { break };
            if !self.engine.mask(id, lit) || !self.engine.budget.look() {
                break;
            }
            let (Answer::Witness(value) | Answer::PossibleWitness(value)) = self.ask(direction, reading) else { break };
            let Some((difference, next)) = self.confirm(direction, reading, (*value).clone()) else { break };
            mask = next;
            if mask.is_some() {
                self.differences.push(difference);
                found += 1;
            }
        }
        self.engine.unmask();
    }
}

/// Returns which document's values must be within the other's, as indexes.
fn sides(direction: Direction) -> (usize, usize) {
    match direction {
        Direction::Backwards => (1, 0),
        Direction::Forwards => (0, 1),
    }
}
