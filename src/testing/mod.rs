//! Helpers shared by tests: a store in memory that is stricter than git, one that fails, and sealed git environments.

#![expect(clippy::expect_used, reason = "a test that cannot be set up fails")]

pub mod example;
pub mod faulty;
#[cfg(feature = "cli")]
pub mod fuzz;
pub mod make;
pub mod memory;
pub mod sandbox;
