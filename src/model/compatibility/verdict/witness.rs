//! Confirms a value that one schema allows and the other refuses, and explains why it is refused.

use std::time::Duration;

use serde_json::Value;

use super::{Judge, sides};
use crate::model::{
    compatibility::{
        answer::SchemaDifference, confirm, evaluate, graph::node::Table, prove::sender, rules::ALTERNATIVES, walk::Leaf,
    },
    contract::{BrokenDirection, SchemaReading},
};

/// The time limit for shrinking one witness.
const SHRINKING: Duration = Duration::from_millis(150);

impl<'a> Judge<'a> {
    /// Confirms a value with the validator, shrinks it, and explains why it fails: by the first keyword that `accepted`
    /// accepts, or by the first keyword of all if there is no such function. Returns `None` if the value is not
    /// confirmed, or no keyword is accepted.
    pub(super) fn confirm(
        &mut self,
        direction: BrokenDirection,
        reading: SchemaReading,
        value: Value,
        accepted: Option<&dyn Fn(&Leaf<'a>) -> bool>,
    ) -> Option<(SchemaDifference, Option<Leaf<'a>>)> {
        let (inner, outer) = sides(direction);
        self.sides.iter_mut().for_each(|side| side.prepare_for(&value));
        let [inner_side, outer_side] = [inner, outer].map(|side| &self.sides[side]);
        let roots = [inner, outer].map(|side| self.root(side));
        let (sources, table) = (&self.sources, &mut self.engine.table);
        let is_witness = |table: &mut Table, value: &Value| {
            confirm::is_witness(inner_side, outer_side, value)
                // The validator ignores references out of the schemas.
                && (table.words.external.is_none()
                    || evaluate::holds(table, roots[0], value) == Some(true)
                        && evaluate::holds(table, roots[1], value) == Some(false))
                && accepted.is_none_or(|accepted| sources.leaf(table, outer, value, accepted).is_some())
        };
        if !is_witness(table, &value) {
            return None;
        }
        let started = self.engine.budget.elapsed();
        let budget = &self.engine.budget;
        let time_left = || SHRINKING.saturating_sub(budget.elapsed().saturating_sub(started));
        let is_sent = reading == SchemaReading::Lenient && sender::is_sent(table, roots[0], &value);
        let is_smaller = |table: &mut Table, value: &Value| {
            is_witness(table, value) && (!is_sent || sender::is_sent(table, roots[0], value))
        };
        let witness = confirm::shrink(value, &mut |value| is_smaller(table, value), &time_left);
        let leaf = sources.leaf(table, outer, &witness, accepted.unwrap_or(&|_| true));
        let explained = leaf.as_ref().map(|leaf| sources.explain(table, leaf, outer, &witness, direction));
        let (rule, message, at, [old_pointer, new_pointer]) = match explained {
            Some(found) => (found.rule, found.message, found.at, found.pointers),
            None => {
                let [narrow, wide] = ALTERNATIVES;
                let rule = if direction == BrokenDirection::Forwards { narrow } else { wide };
                (rule, "the value is refused".to_owned(), String::new(), [None, None])
            }
        };
        let difference = SchemaDifference {
            rule: rule.to_owned(),
            direction,
            reading,
            message,
            old_pointer,
            new_pointer,
            witness_bytes: witness.to_string().len(),
            witness: Some(witness),
            at,
            id: None,
        };
        Some((difference, leaf))
    }
}
