//! Strings that satisfy patterns: compiles patterns to automata, and searches for a string that some automata accept and
//! others refuse.

pub mod approximate;
pub mod automaton;
pub mod formats;
pub mod long_string;
pub mod lookaround;
pub mod lookaround_steps;
pub mod product;
pub mod repetition;
pub mod search;
