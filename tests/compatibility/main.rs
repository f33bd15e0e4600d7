//! Compatibility: verdicts are right, witnesses are confirmed, and comparisons are fast.

mod budgets;
mod census;
mod corpus;
mod expects;
mod fuzz;
mod large;
mod laws;
mod pairs;
mod places;
mod recursion;
mod rules;
mod world;
