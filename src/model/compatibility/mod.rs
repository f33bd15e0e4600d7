//! Decides whether two schemas are compatible: is every value of one a value of the other?
//!
//! Every answer is a proof, a value that the validator accepts on one side and refuses on the other, or "unknown" with
//! the reason. `verdict` asks the questions. `graph` reads both schemas into one set of keywords, `prove` searches for a
//! value that one accepts and the other refuses, with `automata` for its strings, `confirm` has the validator confirm
//! the value, and `explain` finds the keywords that differ. `docs/compatibility.md` explains the answers.

mod answer;
mod automata;
mod budget;
mod confirm;
mod discriminator;
mod evaluate;
mod explain;
mod found;
mod graph;
mod numbers;
mod places;
mod prove;
mod rules;
mod sources;
mod values;
mod verdict;

use std::time::Duration;

use serde_json::Value;

use self::answer::Identifier;
use super::{
    contract::Flow,
    schema::{Forest, PartId, Tree, metaschemas},
};

pub use answer::{
    BothReadings, Comparison, MAX_WITNESS, SchemaDifference, SchemaVerdict, ValueChange, ValuesCompared, VersionBump,
};
pub use budget::Limits;
pub use rules::{RULES, Rule};
pub use values::{VALUE_RULES, ValueRule, values};
pub use verdict::{MAX_DIFFERENCES, Options};

/// The stack size of the comparing thread, since schemas and the search may nest deeply.
const STACK: usize = 256 << 20;

/// Compares two schemas. `clock` returns the time since any fixed point, for the budget.
///
/// # Errors
///
/// Returns an error if the comparing thread could not be started or failed.
pub fn compare(
    old: &Value,
    new: &Value,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<Comparison, String> {
    let (forest, [old, new]) = forest_of([old, new]);
    compare_trees(forest.tree(old), forest.tree(new), options, clock)
}

/// Compares two schemas of one forest.
///
/// # Errors
///
/// Returns the errors of [`compare`].
pub fn compare_trees(
    old: Tree<'_>,
    new: Tree<'_>,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<Comparison, String> {
    let found = with_metaschemas([old, new], clock, |old, new| verdict::compare(old, new, options, clock))?;
    Ok(Identifier::new(old, new).comparison(found))
}

/// Returns a forest of two schemas.
fn forest_of(schemas: [&Value; 2]) -> (Forest, [PartId; 2]) {
    let mut forest = Forest::default();
    let parts = schemas.map(|schema| forest.add(schema));
    (forest.closed(), parts)
}

/// Does the work on two schemas, together with the meta-schemas that they refer to, if any.
fn with_metaschemas<T: Send>(
    schemas: [Tree<'_>; 2],
    clock: &(dyn Fn() -> Duration + Sync),
    work: impl FnOnce(Tree<'_>, Tree<'_>) -> T + Send,
) -> Result<T, String> {
    let [old, new] = schemas;
    let (forest, [old, new]) = match schemas.map(metaschemas::with_metaschemas) {
        [None, None] => return on_own_stack(clock, || work(old, new)),
        [old_whole, new_whole] => {
            let whole = |whole: Option<Value>, tree: Tree<'_>| whole.unwrap_or_else(|| tree.to_value());
            forest_of([&whole(old_whole, old), &whole(new_whole, new)])
        }
    };
    on_own_stack(clock, || work(forest.tree(old), forest.tree(new)))
}

/// Decides whether a provider's schema satisfies what a consumer `expects`: every value that the provider sends must
/// be one that the consumer expects. If consumers send, every value that they send must be one that the provider
/// accepts. In differences, `expects` is the old side and `provided` the new one.
///
/// # Errors
///
/// Returns an error if the comparing thread could not be started or failed.
pub fn satisfies(
    expects: Tree<'_>,
    provided: Tree<'_>,
    flow: Flow,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<SchemaVerdict, String> {
    let direction = flow.direction();
    let answer = with_metaschemas([expects, provided], clock, |expects, provided| {
        verdict::answer(expects, provided, direction, options, clock)
    })?;
    Ok(Identifier::new(expects, provided).verdict(answer))
}

/// Does the work, which begins by reading the clock, on a thread with a large stack. The clock counts its time there.
fn on_own_stack<T: Send>(clock: &(dyn Fn() -> Duration + Sync), work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let work = || {
        let done = work();
        clock();
        done
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| error.to_string())?;
        thread.join().map_err(|_| "the comparison failed".to_owned())
    })
}
