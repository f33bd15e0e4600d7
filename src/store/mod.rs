//! Storage: the traits that every store implements, their errors, the layout of files, and their format. Outside of
//! tests, [`git`] is the only implementation.

pub mod append_only;
mod cache;
pub mod codec;
mod comparisons;
mod contract_index;
mod error;
pub mod git;
pub mod history;
pub mod layout;
pub mod merge;
pub mod overview;
mod port;
pub mod read;
pub mod remote;
pub mod sessions;
mod snapshot;
pub mod store_at;
pub mod tree_file;
pub mod validate_incoming;
pub mod write;

pub use cache::{CachedData, FileCache};
pub use comparisons::Comparisons;
pub use error::{StoreError, unless_damaged};
pub use layout::{StoreRef, TreePath};
pub use port::{
    Change, CommitInfo, DomainRefs, Edit, Entry, EntryKind, Lease, Objects, Parents, RefListing, Signature, Store,
};
