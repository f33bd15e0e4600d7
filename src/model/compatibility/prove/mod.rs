//! Searches for a value that some schemas accept and others refuse, or proves that there is none.

mod array;
mod branch;
mod choose;
mod counting;
mod engine;
mod exhaustive;
mod flatten;
mod items;
mod mask;
mod naming;
mod object;
mod scalar;
pub mod sender;
mod shape;
mod strings;
mod summary;

pub use engine::{Answer, Atom, Engine};
