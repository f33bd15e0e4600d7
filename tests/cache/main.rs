//! The cache never changes an answer, whatever happens to the realm or to the cache file.

mod comparisons;
mod contract_index;
mod damage;
mod flat;
mod sequences;
mod settled_refs;
mod world;
