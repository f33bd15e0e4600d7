//! Searches for a value that some schemas accept and others refuse, or proves that there is none.

pub mod array;
pub mod branch;
pub mod choose;
pub mod counting;
pub mod engine;
pub mod exhaustive;
pub mod flatten;
pub mod items;
pub mod mask;
pub mod naming;
pub mod object;
pub mod scalar;
pub mod sender;
pub mod shape;
pub mod strings;
pub mod summary;

pub use engine::{Answer, Atom, Engine};
