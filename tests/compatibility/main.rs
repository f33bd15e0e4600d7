//! Compatibility: every verdict is right, every witness is confirmed, and nothing takes long.

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
