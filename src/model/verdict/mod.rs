//! Judges the consequences of a change to a contract, with proof. Every operation uses this module to compare two
//! documents.

mod basis;
mod expects;
pub mod flow;
mod import;
mod outcome;
mod promise;
mod unnamed;
mod used;
mod values;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    convert::Infallible,
    fmt,
    rc::Rc,
    time::Duration,
};

use serde::{
    Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::Value;

pub use super::{
    compatibility::{
        BothReadings, Comparison, MAX_WITNESS, NothingValid, SchemaDifference, SchemaVerdict, ValueChange,
        ValuesCompared, VersionBump, is_same_language,
    },
    contract::{BrokenDirection, SchemaReading},
};
pub use basis::Basis;
pub use flow::{FLOW, FLOW_REVERSED};
pub use import::{ImportEffect, ImportState, States, UnreadableDocument, needed_versions, of_documents};
pub use outcome::{Outcome, Verdict};
pub use promise::{Promise, declared, needed_bump};
pub use values::values_compared;

use self::outcome::outcome;
use super::{
    binding::Import,
    compatibility::{self, Limits, Options},
    contract::Contract,
    hash,
    json::Json,
    oid::Oid,
    schema::{Budget, Forest, words::DESCRIPTIVE},
};

/// The minimum remaining time to start a comparison.
const LEAST: Duration = Duration::from_millis(20);
/// The reason that a comparison is not started.
const NO_TIME: &str = "the time limit for all comparisons of this command was reached";

/// Answers that earlier requests computed with the same engine. A key determines its answer.
pub trait Answers {
    /// Returns the answer to a question, as JSON.
    fn get(&self, key: &str) -> Option<&[u8]>;

    /// Stores an answer, as JSON.
    fn put(&self, key: &str, answer: &[u8]);
}

/// Judges documents in one request: values against schemas, and schemas against each other. Every comparison is made
/// only once, and within the time limit of the request.
pub struct Judge<'a> {
    values: Budget,
    clock: Box<dyn Fn() -> Duration + Sync + 'a>,
    left: Cell<Duration>,
    max_witness: usize,
    is_in_hook: bool,
    known: RefCell<BTreeMap<String, Rc<Comparison>>>,
    /// The proofs made so far: by key, whether importers work with the new schema.
    proofs: RefCell<BTreeMap<String, bool>>,
    expects_answers: RefCell<BTreeMap<String, (SchemaVerdict, Vec<String>)>>,
    answers: Option<Box<dyn Answers + 'a>>,
}

impl fmt::Debug for Judge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<'a> Judge<'a> {
    /// Creates a judge. `clock` returns the time since any fixed point, and `whole` is the time limit for all
    /// comparisons of schemas.
    pub fn new(values: Budget, clock: impl Fn() -> Duration + Sync + 'a, whole: Duration) -> Self {
        Self {
            values,
            clock: Box::new(clock),
            left: Cell::new(whole),
            max_witness: MAX_WITNESS,
            is_in_hook: false,
            known: RefCell::new(BTreeMap::new()),
            proofs: RefCell::new(BTreeMap::new()),
            expects_answers: RefCell::new(BTreeMap::new()),
            answers: None,
        }
    }

    /// Looks answers up, and stores new ones.
    #[must_use]
    pub fn with_answers(self, answers: Option<impl Answers + 'a>) -> Self {
        Self { answers: answers.map(|answers| Box::new(answers) as Box<dyn Answers>), ..self }
    }

    /// Returns a stored answer, or computes it. Stores it if it is decided, and every comparison had its full time.
    fn answer<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        is_decided: impl Fn(&T) -> bool,
        compute: impl FnOnce() -> T,
    ) -> T {
        self.try_answer(key, is_decided, || Ok::<_, Infallible>(compute())).unwrap_or_else(|never| match never {})
    }

    fn stored<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_slice(self.answers.as_ref()?.get(key)?).ok()
    }

    fn try_answer<T: Serialize + DeserializeOwned, E>(
        &self,
        key: &str,
        is_decided: impl Fn(&T) -> bool,
        compute: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(answers) = &self.answers else { return compute() };
        if let Some(stored) = self.stored(key) {
            return Ok(stored);
        }
        let found = compute()?;
        let json =
            (is_decided(&found) && self.left.get() >= Limits::default().time).then(|| serde_json::to_vec(&found));
        // A witness may be nested too deeply to be read back.
        if let Some(Ok(json)) = json.filter(|json| json.as_deref().is_ok_and(is_readable::<T>)) {
            answers.put(key, &json);
        }
        Ok(found)
    }

    /// Returns the stored verdict of an import, or computes it; and whether all documents were read. `documents` are
    /// the ids of the objects that contain the [`needed_versions`]. They need not be read if the verdict is stored.
    ///
    /// # Errors
    /// Returns the errors of `compute`.
    pub fn import_verdict<E>(
        &self,
        import: &Import,
        documents: &[Oid],
        compute: impl FnOnce() -> Result<(Option<Verdict>, bool), E>,
    ) -> Result<(Option<Verdict>, bool), E> {
        let adapted = import.adapted().map(ToString::to_string).unwrap_or_default();
        let expects = import.expects.as_ref().map(|expects| hash::of_text(expects.to_string())).unwrap_or_default();
        let documents: String = documents.iter().map(|id| format!("-{id}")).collect();
        let key = format!("import{documents}-{adapted}-{expects}-{}", self.max_witness);
        let is_decided = |(verdict, is_whole): &(Option<Verdict>, bool)| {
            *is_whole && verdict.as_ref().is_none_or(|one| one.verdict != Outcome::Unknown)
        };
        self.try_answer(&key, is_decided, compute)
    }

    /// Returns a judge whose comparisons have their witnesses in full.
    #[must_use]
    pub fn with_whole_witnesses(self) -> Self {
        Self { max_witness: usize::MAX, ..self }
    }

    /// Returns a judge for a hook, whose time limit is shorter than that of a command.
    #[must_use]
    pub fn in_hook(self) -> Self {
        Self { is_in_hook: true, ..self }
    }

    /// Returns whether a hook's time limit was reached. A command, which has more time, may still decide.
    pub fn ran_out_in_hook(&self) -> bool {
        self.is_in_hook && self.left.get() < LEAST
    }

    /// Returns the time budget for validating values.
    pub fn values(&self) -> &Budget {
        &self.values
    }

    /// Returns the verdict on the schemas of two documents in one direction. Returns `None` if neither schema
    /// restricts values.
    pub fn verdict(&self, old: &Contract, new: &Contract, direction: BrokenDirection) -> Option<Verdict> {
        if says_nothing(&old.schema) && says_nothing(&new.schema) {
            return None;
        }
        let (compared, reading) = (self.compare(old, new), reading(old, new));
        let (verdict, difference, reason) = outcome(compared.of(direction, reading));
        let found = compared.breaking(direction, reading).count();
        let more = if difference.is_some() { found.saturating_sub(1) } else { 0 };
        let more_differences = more > 0 && compared.more;
        let versions = Verdict::compatible(&old.version, &new.version);
        Some(Verdict { verdict, direction, reading, difference, more, more_differences, reason, ..versions })
    }

    /// Returns the finding that a contract's schema allows nothing. Does not ask if there is an agreed value, which shows
    /// the opposite.
    pub fn nothing_valid(&self, contract: &Contract) -> Option<NothingValid> {
        if says_nothing(&contract.schema) || !contract.value.is_null() {
            return None;
        }
        let find = || {
            let (forest, [root]) = Forest::of_schemas([&contract.schema]);
            let find =
                |options: &Options| compatibility::nothing_valid(forest.tree(root), options.limits, &*self.clock);
            self.within(SchemaReading::Strict, find).flatten()
        };
        self.answer(&format!("nothing-{}", hash::of_text(contract.schema.to_string())), |_| true, find)
    }

    /// Returns the verdict on two documents for the side that does not own the contract: whether code written for the
    /// older one works with the newer one. Returns `None` if neither schema restricts values.
    pub fn for_importers(&self, old: &Contract, new: &Contract) -> Option<Verdict> {
        if let Some(reversed) = flow::verdict(old, new) {
            return Some(reversed);
        }
        let direction = new.flow.direction();
        if self.suits_importers(old, new) {
            let verdict = Verdict::compatible(&old.version, &new.version);
            return Some(Verdict { direction, reading: reading(old, new), ..verdict });
        }
        self.verdict(old, new, direction)
    }

    /// Returns whether code that is adapted to one document, and that another one broke already, is broken further by a
    /// third one: at a place that both older ones refuse. Returns `None` if this is unknown.
    pub fn breaks_further(&self, adapted: &Contract, before: &Contract, now: &Contract) -> Option<bool> {
        if before.flow != now.flow || adapted.flow != now.flow {
            return None;
        }
        let direction = now.flow.direction();
        let [since, all] = [before, adapted].map(|old| (self.compare(old, now), reading(old, now)));
        if ![&since, &all].iter().all(|(found, reading)| found.of(direction, *reading).is_decided()) {
            return None;
        }
        let [mut added, breaking] = [&since, &all].map(|(found, reading)| found.breaking(direction, *reading));
        let is_known = |added: &SchemaDifference| all.0.more || breaking.clone().any(|one| one.is_same_place(added));
        Some(since.0.more || added.any(is_known))
    }

    /// Returns whether a document breaks code at the place of a `difference`, since an older document that broke it too.
    pub fn breaks_at(&self, difference: &SchemaDifference, before: &Contract, now: &Contract) -> bool {
        let since = self.compare(before, now);
        since.breaking(now.flow.direction(), reading(before, now)).any(|added| added.is_same_place(difference))
    }

    /// Returns whether the side that does not own the contract is proved to work with the new schema, without the full
    /// comparison, which takes several times as long. A full one that was made already answers this too.
    fn suits_importers(&self, old: &Contract, new: &Contract) -> bool {
        if says_nothing(&old.schema) && says_nothing(&new.schema) || old.schema == new.schema {
            return false;
        }
        let (reading, direction) = (reading(old, new), new.flow.direction());
        let key = self.key(&old.schema, &new.schema, reading);
        if let Some(compared) = self.compared(&key) {
            return compared.of(direction, reading).is_compatible();
        }
        let key = format!("{key}-{direction:?}");
        if let Some(is_proved) = self.proofs.borrow().get(&key) {
            return *is_proved;
        }
        let compute = || {
            let found = self.within(reading, |options| {
                let (forest, parts) = Forest::of_schemas([&old.schema, &new.schema]);
                let [old, new] = parts.map(|part| forest.tree(part));
                compatibility::is_proved(old, new, direction, options, &*self.clock)
            });
            matches!(found, Some(Ok(true)))
        };
        let is_proved = self.answer(&key, |is_proved| *is_proved, compute);
        self.proofs.borrow_mut().insert(key, is_proved);
        is_proved
    }

    /// Returns the full comparison of the schemas of two documents.
    pub fn compare(&self, old: &Contract, new: &Contract) -> Rc<Comparison> {
        if old.schema == new.schema {
            return Rc::new(Comparison::equal());
        }
        let reading = reading(old, new);
        let key = self.key(&old.schema, &new.schema, reading);
        if let Some(known) = self.compared(&key) {
            return known;
        }
        let compute = || {
            let found = self.within(reading, |options| {
                let (forest, parts) = Forest::of_schemas([&old.schema, &new.schema]);
                let [old, new] = parts.map(|part| forest.tree(part));
                compatibility::compare_trees(old, new, options, &*self.clock)
            });
            match found {
                Some(Ok(found)) => found.clipped(self.max_witness),
                Some(Err(bug)) => Comparison::unknown(&bug, None),
                None => Comparison::unknown(NO_TIME, Some("time")),
            }
        };
        let compared = Rc::new(self.answer(&key, Comparison::is_decided, compute));
        self.known.borrow_mut().insert(key, Rc::clone(&compared));
        compared
    }

    /// Returns the full comparison with a key if it was made before.
    fn compared(&self, key: &str) -> Option<Rc<Comparison>> {
        if let Some(known) = self.known.borrow().get(key) {
            return Some(Rc::clone(known));
        }
        let stored = Rc::new(self.stored(key)?);
        self.known.borrow_mut().insert(key.to_owned(), Rc::clone(&stored));
        Some(stored)
    }

    /// Returns the cache key of a comparison: the exact text of both schemas, the reading, and the limit of witnesses.
    fn key(&self, old: &Json, new: &Json, reading: SchemaReading) -> String {
        let word = if reading == SchemaReading::Strict { "strict" } else { "lenient" };
        let [old, new] = [old, new].map(|schema| hash::of_text(schema.to_string()));
        format!("{old}-{new}-{word}-{}", self.max_witness)
    }

    /// Runs a comparison within the remaining time. Returns `None` if there is too little.
    fn within<T>(&self, reading: SchemaReading, work: impl FnOnce(&Options) -> T) -> Option<T> {
        let left = self.left.get();
        if left < LEAST {
            return None;
        }
        let limits = Limits::default();
        let limits = Limits { time: limits.time.min(left), differences: limits.differences.min(left), ..limits };
        let begun = (self.clock)();
        let found = work(&Options { reading, limits, ..Options::default() });
        self.left.set(left.saturating_sub((self.clock)().saturating_sub(begun)));
        Some(found)
    }
}

fn is_readable<T: DeserializeOwned>(json: &[u8]) -> bool {
    serde_json::from_slice::<T>(json).is_ok()
}

/// Returns how to read two documents: strictly if either of them requires it.
fn reading(old: &Contract, new: &Contract) -> SchemaReading {
    let is_strict = [old, new].iter().any(|one| one.compatibility.reading == SchemaReading::Strict);
    if is_strict { SchemaReading::Strict } else { SchemaReading::Lenient }
}

fn says_nothing(schema: &Json) -> bool {
    match schema.parsed() {
        Ok(Value::Object(keywords)) => keywords.keys().all(|keyword| DESCRIPTIVE.contains(&&**keyword)),
        Ok(other) => *other == Value::Bool(true),
        // Reads the names only, since the text is large.
        Err(text) => serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text)
            .is_ok_and(|keywords| keywords.keys().all(|keyword| DESCRIPTIVE.contains(&&**keyword))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use serde_json::json;

    /// Returns a contract whose schema is expensive to compare.
    fn contract(kind: &str) -> Contract {
        let branch =
            |n: usize| json!({"properties": {format!("p{n}"): {"type": kind}, format!("q{}", n % 7): {"minimum": n}}});
        let mut contract = Contract::new("orders".parse().unwrap(), "shop".parse().unwrap());
        contract.schema = json!({"anyOf": (0..60).map(branch).collect::<Vec<_>>()}).into();
        contract
    }

    #[test]
    fn large_schema_may_say_nothing_too() {
        for count in [1, 30_000] {
            assert!(says_nothing(&json!({"title": "t", "examples": vec![0; count]}).into()));
            assert!(!says_nothing(&json!({"enum": vec![0; count]}).into()));
            assert!(!says_nothing(&json!(vec![0; count]).into()));
        }
    }

    /// Remembers everything, as a list of keys.
    #[derive(Default)]
    struct Keys(RefCell<Vec<String>>);

    impl Answers for &Keys {
        fn get(&self, _: &str) -> Option<&[u8]> {
            None
        }

        fn put(&self, key: &str, _: &[u8]) {
            self.0.borrow_mut().push(key.to_owned());
        }
    }

    #[test]
    fn answer_that_cannot_be_read_back_is_not_stored() {
        let stored = |levels: usize| {
            let schema = |inner: &str| (0..levels).fold(json!({"type": inner}), |inner, _| json!({"items": inner}));
            let schema = |inner| json!({"minItems": 1, "contains": schema(inner), "type": "array"});
            let [mut old, mut new] = [contract("integer"), contract("integer")];
            (old.schema, new.schema) = (schema("string").into(), schema("integer").into());
            let keys = Keys::default();
            let judge =
                Judge::new(Budget::default(), || Duration::ZERO, Duration::from_secs(9)).with_answers(Some(&keys));
            assert!(judge.compare(&old, &new).is_decided());
            drop(judge);
            keys.0.into_inner().len()
        };
        assert_eq!([stored(5), stored(150)], [1, 0]);
    }

    #[test]
    fn schemas_are_compared_in_full_only_if_they_break_importers() {
        let asked = |properties: Value| {
            let [mut old, mut new] = [contract("integer"), contract("integer")];
            old.schema = json!({"properties": {"id": {"type": "integer"}}}).into();
            new.schema = json!({"properties": properties}).into();
            let keys = Keys::default();
            let judge =
                Judge::new(Budget::default(), || Duration::ZERO, Duration::from_secs(9)).with_answers(Some(&keys));
            let verdict = judge.for_importers(&old, &new).unwrap();
            assert_eq!(Some(&verdict), judge.verdict(&old, &new, BrokenDirection::Backwards).as_ref());
            drop(judge);
            (verdict.verdict, keys.0.into_inner().len())
        };
        // The second one is the full comparison.
        assert_eq!(asked(json!({"id": {"type": "integer"}, "note": {"type": "string"}})), (Outcome::Compatible, 2));
        assert_eq!(asked(json!({"id": {"type": "number"}})), (Outcome::Breaks, 1));
    }

    #[test]
    fn undecided_comparison_is_made_only_once() {
        // Every look at the clock takes a second, so that the time runs out.
        let looks = AtomicU64::new(0);
        let clock = || Duration::from_secs(looks.fetch_add(1, Ordering::Relaxed));
        let judge = Judge::new(Budget::default(), clock, Duration::from_secs(1_000));
        let (old, new) = (contract("integer"), contract("number"));
        let first = judge.compare(&old, &new);
        assert!(matches!(first.forwards.strict, SchemaVerdict::Unknown { spent: Some(_), .. }), "{first:?}");
        let looked = looks.load(Ordering::Relaxed);
        assert!(Rc::ptr_eq(&judge.compare(&old, &new), &first));
        assert_eq!(looks.load(Ordering::Relaxed), looked);
    }

    #[test]
    fn only_the_time_limit_of_a_hook_is_shorter_than_that_of_a_command() {
        let judge = |whole: u64| Judge::new(Budget::default(), || Duration::ZERO, Duration::from_secs(whole));
        assert!(judge(0).in_hook().ran_out_in_hook());
        assert!(!judge(1).in_hook().ran_out_in_hook());
        assert!(!judge(0).ran_out_in_hook());
    }
}
