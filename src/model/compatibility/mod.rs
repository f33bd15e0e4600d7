//! Decides whether two schemas are compatible: is every value of one a value of the other?
//!
//! Every answer is a proof, a value that the validator accepts on one side and refuses on the other, or "unknown" with
//! the reason. `verdict` asks the questions. `graph` reads both schemas into one set of keywords, `prove` searches for a
//! value that one accepts and the other refuses, with `automata` for its strings, `confirm` has the validator confirm
//! the value, `walk` finds the keyword that refuses it, and `explain` describes the difference. `docs/compatibility.md` explains the answers.

mod answer;
mod automata;
mod budget;
mod confirm;
mod discriminator;
mod evaluate;
mod explain;
mod found;
mod graph;
mod nothing;
mod numbers;
mod places;
mod prove;
mod recent;
mod rules;
mod sent_names;
mod sources;
mod unevaluated;
mod values;
mod verdict;
mod walk;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use serde_json::Value;

use self::answer::Identifier;
use super::{
    contract::{BrokenDirection, Flow},
    schema::{Forest, PartId, Tree, metaschemas},
    stack,
};

pub use answer::{
    BothReadings, Comparison, MAX_WITNESS, SchemaDifference, SchemaVerdict, ValueChange, ValuesCompared, VersionBump,
    is_same_language,
};
pub use budget::Limits;
pub use nothing::NothingValid;
pub use rules::{RULES, Rule};
pub use values::{VALUE_RULES, ValueRule, values};
pub use verdict::Options;

/// Compares two schemas. `clock` returns the time since any fixed point, for the budget.
///
/// # Errors
///
/// Returns an error if the comparison panicked.
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
    let found = with_metaschemas([old, new], |old, new| verdict::compare(old, new, options, clock))?;
    Ok(Identifier::new(old, new).comparison(found))
}

/// Returns a forest of two schemas, whose references are encoded.
fn forest_of(schemas: [&Value; 2]) -> (Forest, [PartId; 2]) {
    let mut forest = Forest::default();
    let parts = schemas.map(|schema| {
        let part = forest.add(schema);
        forest.encoded(part)
    });
    (forest.closed(), parts)
}

/// Does the work on two schemas, together with the meta-schemas that they refer to, if any.
fn with_metaschemas<T>(schemas: [Tree<'_>; 2], work: impl FnOnce(Tree<'_>, Tree<'_>) -> T) -> Result<T, String> {
    let [old, new] = schemas;
    let (forest, [old, new]) = match schemas.map(metaschemas::with_metaschemas) {
        [None, None] => return on_large_stack(|| work(old, new)),
        [old_whole, new_whole] => {
            let whole = |whole: Option<Value>, tree: Tree<'_>| whole.unwrap_or_else(|| tree.to_value());
            forest_of([&whole(old_whole, old), &whole(new_whole, new)])
        }
    };
    on_large_stack(|| work(forest.tree(old), forest.tree(new)))
}

/// Decides whether a provider's schema satisfies what a consumer `expects`: every value that the provider sends must
/// be one that the consumer expects. If consumers send, every value that they send must be one that the provider
/// accepts. In differences, `expects` is the old side and `provided` the new one.
///
/// # Errors
///
/// Returns an error if the comparison panicked.
pub fn satisfies(
    expects: Tree<'_>,
    provided: Tree<'_>,
    flow: Flow,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<SchemaVerdict, String> {
    let direction = flow.direction();
    let answer = with_metaschemas([expects, provided], |expects, provided| {
        verdict::answer(expects, provided, direction, options, clock)
    })?;
    Ok(Identifier::new(expects, provided).verdict(answer))
}

/// Returns whether two schemas of one forest are proved to be compatible in one direction, without looking for what
/// breaks it.
///
/// # Errors
///
/// Returns an error if the proof panicked.
pub fn is_proved(
    old: Tree<'_>,
    new: Tree<'_>,
    direction: BrokenDirection,
    options: &Options,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<bool, String> {
    with_metaschemas([old, new], |old, new| verdict::is_proved(old, new, direction, options, clock))
}

/// Returns the finding that a schema allows nothing, or no object with the properties that it names; `None` if it allows
/// something, or that is undecided.
pub fn nothing_valid(schema: Tree<'_>, limits: Limits, clock: &(dyn Fn() -> Duration + Sync)) -> Option<NothingValid> {
    let found = with_metaschemas([schema, schema], |schema, _| nothing::find(schema, limits, clock));
    found.and_then(|found| found).unwrap_or_default()
}

/// Does the work on a large stack. A panic is an error in the comparison, which leaves it undecided.
fn on_large_stack<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let work = AssertUnwindSafe(|| stack::for_comparisons(work));
    catch_unwind(work).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        format!("the comparison panicked (a bug in git blue): {text}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_in_a_comparison_is_told() {
        let found = on_large_stack(|| (0..7).map(|at| [0; 3][at]).sum::<usize>());
        assert!(found.unwrap_err().starts_with("the comparison panicked (a bug in git blue): index out of bounds"));
    }
}
