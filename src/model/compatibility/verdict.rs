//! The result of one comparison: both directions, both readings, the differences and the bump.

mod differences;
mod witness;

use std::time::Duration;

use serde_json::Value;

use super::answer::{BothReadings, Comparison, SchemaDifference, SchemaVerdict, VersionBump};
use super::budget::{Budget, Limits};
use super::confirm::{self, Side};
use super::graph::dialect;
use super::graph::intern;
use super::graph::node::Id;
use super::prove::sender;
use super::prove::{Answer, Atom, Engine};
use super::sent_names;
use super::sources::Sources;
use crate::model::{
    contract::{BrokenDirection, SchemaReading},
    schema::{Draft, Tree, document::Document},
};

/// The maximum number of differences in each direction.
const MAX_DIFFERENCES: usize = 20;

/// The options of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether every value of the new schema must be a value of the old one.
    pub backwards: bool,
    /// Whether every value of the old schema must be a value of the new one.
    pub forwards: bool,
    /// The reading that determines breaks and bumps.
    pub reading: SchemaReading,
    /// The maximum number of differences to search for in each direction.
    pub most_differences: usize,
    /// The limits of the comparison.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            backwards: true,
            forwards: true,
            reading: SchemaReading::Lenient,
            most_differences: MAX_DIFFERENCES,
            limits,
        }
    }
}

/// Compares two schemas. `clock` measures elapsed time.
pub(super) fn compare(
    old: Tree<'_>,
    new: Tree<'_>,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Comparison {
    judged(old, new, options, clock, |judge| judge.comparison()).unwrap_or_else(|why| Comparison::unknown(&why, None))
}

/// Decides one direction in the selected reading.
pub(super) fn answer(
    old: Tree<'_>,
    new: Tree<'_>,
    direction: BrokenDirection,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> SchemaVerdict {
    let answer = |mut judge: Judge<'_>| judge.readings(direction).of(options.reading).clone();
    judged(old, new, options, clock, answer).unwrap_or_else(|why| SchemaVerdict::unknown(&why, None))
}

/// Returns whether one direction in the selected reading is proved, without looking for what breaks it.
pub(super) fn is_proved(
    old: Tree<'_>,
    new: Tree<'_>,
    direction: BrokenDirection,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> bool {
    let is_proved =
        |mut judge: Judge<'_>| judge.is_same() || matches!(judge.ask(direction, options.reading), Answer::Empty);
    judged(old, new, options, clock, is_proved).unwrap_or_default()
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
    let (graph, roots) = dialect::read(&documents)?;
    let (table, classes, graph) = intern::intern(graph)?;
    let sources = Sources { graph: &graph, classes: &classes, roots };
    let engine = Engine::new(table, budget);
    let sides = [Side::new(&documents[0]), Side::new(&documents[1])];
    Ok(judge(Judge { engine, sources, sides, options, differences: Vec::new() }))
}

fn incompatible(difference: SchemaDifference) -> SchemaVerdict {
    SchemaVerdict::Incompatible { difference: Box::new(difference) }
}

/// Returns the bump that the verdicts need. `is_sent_alike` is whether lenient senders send the same if the same values
/// are valid.
fn bump(
    backwards: &BothReadings,
    forwards: &BothReadings,
    options: &Options,
    is_sent_alike: impl FnOnce() -> bool,
) -> VersionBump {
    let asked = [(backwards, options.backwards), (forwards, options.forwards)];
    let asked: Vec<_> = asked.iter().filter(|(_, is_asked)| *is_asked).map(|(r, _)| r.of(options.reading)).collect();
    if asked.iter().any(|verdict| verdict.is_incompatible()) {
        return VersionBump::Major;
    }
    if asked.iter().any(|verdict| !verdict.is_compatible()) {
        return VersionBump::Unknown;
    }
    let is_same_language = backwards.strict.is_compatible() && forwards.strict.is_compatible();
    if is_same_language && (options.reading == SchemaReading::Strict || is_sent_alike()) {
        VersionBump::Patch
    } else {
        VersionBump::Minor
    }
}

struct Judge<'a> {
    engine: Engine<'a>,
    sources: Sources<'a>,
    sides: [Side<'a>; 2],
    options: &'a Options,
    differences: Vec<SchemaDifference>,
}

/// The time limit for validating the values that a schema lists.
const LISTING: Duration = Duration::from_millis(250);

impl<'a> Judge<'a> {
    /// Decides both directions and collects differences.
    fn comparison(mut self) -> Comparison {
        let [backwards, forwards] = self.directions();
        let bump = bump(&backwards, &forwards, self.options, || self.names_the_same());
        self.engine.budget.end_verdicts();
        let options = self.options;
        let mut more = false;
        for (direction, readings, is_asked) in [
            (BrokenDirection::Backwards, &backwards, options.backwards),
            (BrokenDirection::Forwards, &forwards, options.forwards),
        ] {
            let decisive = readings.of(options.reading);
            let shown = if decisive.is_incompatible() { decisive } else { &readings.strict };
            more |= match shown {
                _ if !is_asked => false,
                SchemaVerdict::Incompatible { difference } => !self.collect(direction, (**difference).clone()),
                SchemaVerdict::Unknown { .. } => true,
                SchemaVerdict::Compatible => false,
            };
        }
        Comparison { backwards, forwards, differences: self.differences, more, bump }
    }

    /// Returns the root node of a document.
    fn root(&self, document: usize) -> Id {
        self.sources.classes.of(self.sources.roots[document])
    }

    /// Returns whether both documents are equal or equivalent.
    fn is_same(&self) -> bool {
        let [old, new] = self.sources.graph.documents;
        old.root.id() == new.root.id() || self.root(0) == self.root(1)
    }

    /// Returns whether both documents are known to name the same properties.
    fn names_the_same(&mut self) -> bool {
        let (old, new) = (self.root(0), self.root(1));
        self.is_same() || sent_names::are_same(&self.engine.table, &mut self.engine.budget, old, new)
    }

    /// Decides both directions. All questions share the time limit, so those that were asked come first, and the strict
    /// reading before the lenient one, which takes longer.
    fn directions(&mut self) -> [BothReadings; 2] {
        let both = [BrokenDirection::Backwards, BrokenDirection::Forwards];
        if self.options.backwards {
            let [backwards, forwards] = both.map(|direction| self.strict(direction));
            [self.with_lenient(both[0], backwards), self.with_lenient(both[1], forwards)]
        } else {
            let forwards = self.readings(BrokenDirection::Forwards);
            [self.readings(BrokenDirection::Backwards), forwards]
        }
    }

    fn readings(&mut self, direction: BrokenDirection) -> BothReadings {
        let strict = self.strict(direction);
        self.with_lenient(direction, strict)
    }

    fn strict(&mut self, direction: BrokenDirection) -> SchemaVerdict {
        if self.is_same() { SchemaVerdict::Compatible } else { self.verdict(direction, SchemaReading::Strict) }
    }

    /// Decides the lenient reading of a direction, given the verdict of the strict one.
    fn with_lenient(&mut self, direction: BrokenDirection, strict: SchemaVerdict) -> BothReadings {
        if strict.is_compatible() {
            return BothReadings { strict, lenient: SchemaVerdict::Compatible };
        }
        let lenient = self.verdict(direction, SchemaReading::Lenient);
        let lenient = match (lenient, &strict) {
            (SchemaVerdict::Unknown { .. }, SchemaVerdict::Incompatible { difference })
                if self.is_sent(direction, difference.witness.as_ref()) =>
            {
                incompatible(SchemaDifference { reading: SchemaReading::Lenient, ..(**difference).clone() })
            }
            (lenient, _) => lenient,
        };
        let strict = match (&strict, &lenient) {
            // Every value that a lenient sender sends may also be sent by a strict one.
            (SchemaVerdict::Unknown { .. }, SchemaVerdict::Incompatible { difference }) => {
                incompatible(SchemaDifference { reading: SchemaReading::Strict, ..(**difference).clone() })
            }
            _ => strict,
        };
        BothReadings { strict, lenient }
    }

    /// Returns whether a lenient sender sends a value that is allowed on one side and refused on the other.
    fn is_sent(&mut self, direction: BrokenDirection, witness: Option<&Value>) -> bool {
        let inner = self.root(sides(direction).0);
        witness.is_some_and(|witness| sender::is_surely_sent(&mut self.engine.table, inner, witness))
    }

    fn verdict(&mut self, direction: BrokenDirection, reading: SchemaReading) -> SchemaVerdict {
        self.engine.unmask();
        self.engine.obstacle = None;
        match self.proved(direction, reading) {
            unknown @ SchemaVerdict::Unknown { .. } => self.listed(direction, reading).unwrap_or(unknown),
            known => known,
        }
    }

    /// Validates each value of a schema that lists its values.
    fn listed(&mut self, direction: BrokenDirection, reading: SchemaReading) -> Option<SchemaVerdict> {
        if self.engine.table.words.external.is_some() {
            return None;
        }
        let [old, new] = &mut self.sides;
        let (inner, outer) = if sides(direction).0 == 0 { (old, new) } else { (new, old) };
        let (budget, started) = (&self.engine.budget, self.engine.budget.elapsed());
        let time_left = || LISTING.saturating_sub(budget.elapsed().saturating_sub(started));
        let witness = confirm::among_enumerated(inner, outer, &time_left)?;
        let Some(witness) = witness else { return Some(SchemaVerdict::Compatible) };
        // A lenient sender does not send every value that is listed next to property names.
        if reading == SchemaReading::Lenient && !inner.only_enumerates() {
            return None;
        }
        self.confirm(direction, reading, witness, None).map(|(difference, _)| incompatible(difference))
    }

    fn proved(&mut self, direction: BrokenDirection, reading: SchemaReading) -> SchemaVerdict {
        match self.ask(direction, reading) {
            Answer::Empty => SchemaVerdict::Compatible,
            Answer::Undecided => self.unknown(false),
            Answer::Witness(value) | Answer::PossibleWitness(value) => {
                // What a lenient sender sends depends on all schemas that it follows.
                let is_sure = reading == SchemaReading::Strict || self.engine.table.words.external.is_none();
                match self.confirm(direction, reading, (*value).clone(), None) {
                    Some((difference, _)) if is_sure || self.is_sent(direction, difference.witness.as_ref()) => {
                        incompatible(difference)
                    }
                    _ => self.unknown(true),
                }
            }
        }
    }

    fn ask(&mut self, direction: BrokenDirection, reading: SchemaReading) -> Answer {
        let atoms = self.atoms(direction, reading);
        self.engine.goal(atoms.to_vec())
    }

    fn atoms(&self, direction: BrokenDirection, reading: SchemaReading) -> [Atom; 2] {
        let (inner, outer) = sides(direction);
        [Atom::is(self.root(inner), reading == SchemaReading::Lenient), Atom::is_not(self.root(outer))]
    }

    fn unknown(&mut self, unconfirmed: bool) -> SchemaVerdict {
        let spent = self.engine.budget.spent();
        let reason = match (spent, self.engine.obstacle.take()) {
            (Some(spent), _) => format!("the {spent} limit was reached"),
            (None, Some(obstacle)) => obstacle.why + &self.sources.phrase(&obstacle.nodes),
            (None, None) if let Some(external) = self.engine.table.words.external => {
                let reason = self.engine.table.words.text(external).to_string();
                let nodes = self.sources.replaced_for(&reason);
                reason + &self.sources.phrase(&nodes)
            }
            (None, None) if unconfirmed => "the validator did not confirm the counterexample".to_owned(),
            (None, None) => "no rule covers this case".to_owned(),
        };
        SchemaVerdict::unknown(&reason, spent)
    }
}

/// Returns which document's values must be within the other's, as indexes.
fn sides(direction: BrokenDirection) -> (usize, usize) {
    match direction {
        BrokenDirection::Backwards => (1, 0),
        BrokenDirection::Forwards => (0, 1),
    }
}
