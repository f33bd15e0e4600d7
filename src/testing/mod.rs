//! What tests share: an in-memory store that is stricter than git, one that fails, and
//! sealed git environments.

pub mod faulty;
pub mod make;
pub mod memory;
pub mod sandbox;
