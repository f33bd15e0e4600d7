//! `git blue`: contracts between git repositories, kept as git objects under `refs/blue/*`.
//!
//! [`Machine`] opens realms and the repositories in them. Their answers are the types of [`wire`], which are also the
//! output of `git blue … --json`, MCP and HTTP. See `docs/library.md`.
//!
//! ```
//! # let example = git_blue::testing::example::Example::new();
//! # let (machine, folder) = (example.machine(), example.folder("access"));
//! // let machine = git_blue::Machine::open()?;
//! let repository = machine.repository(&folder)?;
//! for change in repository.pending(&Default::default())?.body.notifications {
//!     println!("{} {:?}", change.domain, change.contract);
//! }
//! # Ok::<(), git_blue::Error>(())
//! ```
//!
//! Only what this page lists is the library. The other modules are public for the program, the tests, the benches and
//! the fuzz targets of this package, and change without notice.

// Failures are errors with next steps, never panics. Unreachable code says why: `unreachable!`.
#![deny(clippy::unwrap_used, clippy::expect_used)]

#[doc(hidden)]
pub mod env;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod forge;
mod library;
#[doc(hidden)]
pub mod locate;
#[doc(hidden)]
pub mod machine;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod ops;
#[doc(hidden)]
pub mod platform;
#[doc(hidden)]
pub mod repo;
#[doc(hidden)]
pub mod store;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod surface;
#[doc(hidden)]
pub mod testing;
pub mod types;
pub mod wire;

pub use library::{Error, Machine, Realm, Repository, compare_schemas};
#[doc(inline)]
pub use model::compatibility;

/// Compiles the examples in `docs/library.md`.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Documentation;
