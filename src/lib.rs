//! `git blue`: contracts between git repositories, kept as git objects under `refs/blue/*`.
//!
//! See `docs/architecture.md` for how the parts hang together. In short: [`model`] holds meaning,
//! `store` what storage must promise, `ops` one operation a file, and the surfaces translate.

// A failure is an error with a next step, not a panic; what cannot happen says why: unreachable!.
#![deny(clippy::unwrap_used, clippy::expect_used)]

pub mod env;
pub mod error;
pub mod forge;
pub mod locate;
pub mod machine;
pub mod model;
pub mod ops;
pub mod repo;
pub mod store;
pub mod surface;
pub mod testing;
pub mod wire;
