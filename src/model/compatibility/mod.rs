//! Decides whether two schemas are compatible: is every value of one a value of the other?
//!
//! Every answer is a proof, a value that the validator accepts on one side and refuses on the other, or "unknown" with
//! the reason. The search is in `prove`; `docs/compatibility.md` explains the answers.

mod answer;
mod approximate;
mod array;
mod automaton;
mod branch;
mod budget;
mod choose;
mod confirm;
mod counted;
mod counting;
mod cyclic;
mod dialect;
mod evaluate;
mod every;
mod explain;
mod flatten;
mod formats;
mod found;
mod graph;
mod intern;
mod items;
mod leaf;
mod looking;
mod naming;
mod node;
mod numbers;
mod object;
mod places;
mod product;
mod prove;
mod rules;
mod same_pattern;
mod search;
mod sent;
mod shape;
mod steps;
mod stretch;
mod strings;
mod summary;
mod unevaluated;
mod values;
mod verdict;

use std::time::Duration;

use serde_json::Value;

use super::{
    contract::Flow,
    schema::{Forest, PartId, Tree, metaschemas},
};

pub use answer::{BothReadings, MAX_WITNESS, SchemaDifference, SchemaVerdict, ValueChange, VersionBump};
pub use budget::Limits;
pub use rules::{RULES, Rule};
pub use values::{VALUE_RULES, ValueComparison, ValueRule, values};
pub use verdict::{Comparison, MAX_DIFFERENCES, Options};

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
    let mut forest = Forest::default();
    let (old, new) = (forest.add(old), forest.add(new));
    let forest = forest.closed();
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
    if let Some((forest, [old, new])) = with_metaschemas(old, new) {
        let (old, new) = (forest.tree(old), forest.tree(new));
        return on_own_stack(|| verdict::compare(old, new, options, clock));
    }
    on_own_stack(|| verdict::compare(old, new, options, clock))
}

/// Returns both schemas with the meta-schemas that they refer to, or `None` if they refer to none.
fn with_metaschemas(old: Tree<'_>, new: Tree<'_>) -> Option<(Forest, [PartId; 2])> {
    let whole = [old, new].map(metaschemas::with_metaschemas);
    if whole.iter().all(Option::is_none) {
        return None;
    }
    let mut forest = Forest::default();
    let mut add = |tree: Tree<'_>, whole: &Option<Value>| match whole {
        Some(whole) => forest.add(whole),
        None => forest.add(&tree.to_value()),
    };
    let parts = [add(old, &whole[0]), add(new, &whole[1])];
    Some((forest.closed(), parts))
}

/// Decides whether a provider's schema satisfies what a consumer `expects`: every value that the provider sends must
/// be one that the consumer expects. If consumers send, every value that they send must be one that the provider
/// accepts. In differences, `expects` is the old side and `provided` the new one.
///
/// # Errors
///
/// Returns an error if the comparing thread could not be started or failed.
pub fn satisfies(
    expects: &Value,
    provided: &Value,
    flow: Flow,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<SchemaVerdict, String> {
    let direction = flow.direction();
    let mut forest = Forest::default();
    let (expects, provided) = (forest.add(expects), forest.add(provided));
    let forest = forest.closed();
    let (expects, provided) = (forest.tree(expects), forest.tree(provided));
    if let Some((forest, [expects, provided])) = with_metaschemas(expects, provided) {
        let (expects, provided) = (forest.tree(expects), forest.tree(provided));
        return on_own_stack(|| verdict::answer(expects, provided, direction, options, clock));
    }
    on_own_stack(|| verdict::answer(expects, provided, direction, options, clock))
}

fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| error.to_string())?;
        thread.join().map_err(|_| "the comparison failed".to_owned())
    })
}
