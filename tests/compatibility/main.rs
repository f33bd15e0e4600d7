//! Compatibility: verdicts are right, witnesses are confirmed, and comparisons are fast.

mod budgets;
mod bumps;
mod corpus;
mod expects;
mod fuzz;
mod keywords;
mod large;
mod laws;
mod lists;
mod pairs;
mod places;
mod recursion;
mod rules;
mod texts;
#[path = "../testutils/whole.rs"]
mod whole;
mod world;
