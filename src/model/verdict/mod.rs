//! What a change of a contract means, with proof: one place answers for two documents, and every surface
//! speaks from it.

mod answer;
mod import;
mod promise;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt,
    rc::Rc,
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use answer::{
    BothReadings, BrokenDirection, Compared, MAX_WITNESS, SchemaDifference, SchemaReading, SchemaVerdict, VersionBump,
};
pub use import::{Holds, ImportState, States, compared_versions};
pub use promise::{Promise, needed_bump};

use super::{
    compatibility::{self, Limits, Options, Reading},
    contract::Contract,
    hash,
    schema::Budget,
    version::Version,
};

/// Keywords that say nothing of the values.
const WORDS: &[&str] = &["$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"];
/// Least time that a comparison is begun with.
const LEAST: Duration = Duration::from_millis(20);

/// What a comparison said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Proved: what one side sends, the other one accepts.
    Compatible,
    /// Refuted by a value that the validator confirmed on both sides.
    Breaks,
    /// Neither proved nor refuted.
    Unknown,
}

/// The answer for two versions of a contract, in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What was found.
    pub verdict: Outcome,
    /// The direction that was asked about.
    pub direction: BrokenDirection,
    /// How the schema of whoever writes the values was read.
    pub reading: SchemaReading,
    /// The version that is compared from.
    pub old_version: Version,
    /// The version that is compared to.
    pub new_version: Version,
    /// The first difference, with a value that shows it; none where nothing breaks.
    pub difference: Option<SchemaDifference>,
    /// How many further differences were found in this direction.
    pub more: usize,
    /// Why the answer is unknown.
    pub reason: Option<String>,
}

impl Verdict {
    /// Returns the verdict of a version against itself.
    fn same(version: &Version) -> Self {
        Self {
            verdict: Outcome::Compatible,
            direction: BrokenDirection::Backwards,
            reading: SchemaReading::Lenient,
            old_version: version.clone(),
            new_version: version.clone(),
            difference: None,
            more: 0,
            reason: None,
        }
    }

    /// Returns it as the end of a sentence: `1.2.0 refuses {"id":1} (widened-type at /id: 1 is not a string),
    /// which 1.3.0 allows`.
    pub fn phrase(&self) -> String {
        let (sender, reader) = match self.direction {
            BrokenDirection::Backwards => (&self.new_version, &self.old_version),
            BrokenDirection::Forwards => (&self.old_version, &self.new_version),
        };
        match (&self.difference, &self.reason) {
            (Some(difference), _) => {
                format!("{reader} refuses {}, which {sender} allows", difference.phrase())
            }
            (None, Some(reason)) => {
                format!("whether {reader} accepts all that {sender} allows is unknown: {reason}")
            }
            (None, None) => format!("{reader} accepts all that {sender} allows"),
        }
    }
}

/// Where comparisons are kept from one request to the next.
pub trait Keeps {
    /// Returns what is kept under a key.
    fn get(&self, key: &str) -> Option<Compared>;
    /// Keeps a comparison; where that cannot be done, nothing happens.
    fn put(&self, key: &str, compared: &Compared);
}

/// Judges documents in one request: values against schemas, and schemas against each other. Everything is
/// compared once, and within the time that the request has.
pub struct Judge<'a> {
    values: Budget,
    clock: Box<dyn Fn() -> Duration + Sync + 'a>,
    left: Cell<Duration>,
    known: RefCell<BTreeMap<String, Rc<Compared>>>,
    keeps: Option<Box<dyn Keeps + 'a>>,
}

impl fmt::Debug for Judge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<'a> Judge<'a> {
    /// Returns a judge. `clock` tells the time since any fixed moment, `whole` is how long schemas may be
    /// compared in all.
    pub fn new(values: Budget, clock: impl Fn() -> Duration + Sync + 'a, whole: Duration) -> Self {
        Self {
            values,
            clock: Box::new(clock),
            left: Cell::new(whole),
            known: RefCell::new(BTreeMap::new()),
            keeps: None,
        }
    }

    /// Returns it with a place where comparisons are kept.
    #[must_use]
    pub fn keeping(self, keeps: Option<Box<dyn Keeps + 'a>>) -> Self {
        Self { keeps, ..self }
    }

    /// Returns how long values may be judged.
    pub fn values(&self) -> &Budget {
        &self.values
    }

    /// Returns what is to be said of two documents in one direction; nothing where neither schema says
    /// anything of values.
    pub fn verdict(&self, old: &Contract, new: &Contract, direction: BrokenDirection) -> Option<Verdict> {
        if says_nothing(&old.schema.0) && says_nothing(&new.schema.0) {
            return None;
        }
        let (compared, reading) = (self.compare(old, new), reading(old, new));
        let (verdict, difference, reason) = match compared.of(direction, reading) {
            SchemaVerdict::Compatible => (Outcome::Compatible, None, None),
            SchemaVerdict::Incompatible { difference } => (Outcome::Breaks, Some((**difference).clone()), None),
            SchemaVerdict::Unknown { reason, .. } => (Outcome::Unknown, None, Some(reason.clone())),
        };
        let found = compared.differences.iter().filter(|one| one.direction == direction && one.reading == reading);
        let more = if difference.is_some() { found.count().saturating_sub(1) } else { 0 };
        let (old_version, new_version) = (old.version.clone(), new.version.clone());
        Some(Verdict { verdict, direction, reading, old_version, new_version, difference, more, reason })
    }

    /// Returns all that is known of two documents.
    pub fn compare(&self, old: &Contract, new: &Contract) -> Rc<Compared> {
        if old.schema == new.schema {
            return Rc::new(Compared::equal());
        }
        let reading = reading(old, new);
        let key = key(&old.schema.0, &new.schema.0, reading);
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let kept = self.keeps.as_ref().and_then(|keeps| keeps.get(&key));
        let compared = Rc::new(kept.unwrap_or_else(|| self.compare_now(old, new, reading, &key)));
        if compared.is_final() {
            self.known.borrow_mut().insert(key, Rc::clone(&compared));
        }
        compared
    }

    fn compare_now(&self, old: &Contract, new: &Contract, reading: SchemaReading, key: &str) -> Compared {
        let left = self.left.get();
        if left < LEAST {
            let reason = "there was no time left in this answer: git blue contract diff takes its own";
            return Compared::unknown(reason, Some("time"));
        }
        let limits = Limits::default();
        let limits = Limits { time: limits.time.min(left), differences: limits.differences.min(left), ..limits };
        let reading = match reading {
            SchemaReading::Lenient => Reading::Lenient,
            SchemaReading::Strict => Reading::Strict,
        };
        let options = Options { reading, limits, ..Options::default() };
        let begun = (self.clock)();
        let found = compatibility::compare(&old.schema.0, &new.schema.0, &options, &*self.clock);
        self.left.set(left.saturating_sub((self.clock)().saturating_sub(begun)));
        match found {
            Ok(found) => {
                let compared = Compared::from(found);
                if let Some(keeps) = self.keeps.as_ref().filter(|_| compared.is_final()) {
                    keeps.put(key, &compared);
                }
                compared
            }
            Err(error) => Compared::unknown(&error, Some("time")),
        }
    }
}

/// Returns how two documents are read: strictly where either of them asks for it.
fn reading(old: &Contract, new: &Contract) -> SchemaReading {
    let is_strict = [old, new].iter().any(|one| one.compatibility.reading == SchemaReading::Strict);
    if is_strict { SchemaReading::Strict } else { SchemaReading::Lenient }
}

/// Returns what a comparison is kept under: both schemas to the letter, and the reading.
fn key(old: &Value, new: &Value, reading: SchemaReading) -> String {
    let word = if reading == SchemaReading::Strict { "strict" } else { "lenient" };
    let [old, new] = [old, new].map(|schema| hash::of_text(schema.to_string()));
    format!("{old}-{new}-{word}")
}

fn says_nothing(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords.keys().all(|keyword| WORDS.contains(&&**keyword)),
        other => *other == Value::Bool(true),
    }
}
