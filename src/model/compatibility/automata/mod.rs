//! Strings that satisfy patterns: compiles patterns to automata, and searches for a string that some automata accept and
//! others refuse.

pub mod approximate;
pub mod automaton;
mod bytes;
pub mod formats;
mod long_string;
mod lookaround;
mod lookaround_steps;
mod product;
pub mod repetition;
pub mod search;
