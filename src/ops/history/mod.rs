//! Reads the history of a ref.

pub mod arrivals;
pub mod difference;
pub mod filter;
pub mod first_parents;
pub mod origins;
pub mod walk;
