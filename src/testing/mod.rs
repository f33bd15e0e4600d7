//! What tests share: an in-memory store that is stricter than git, and sealed git environments.

pub mod make;
pub mod memory;
pub mod sandbox;
