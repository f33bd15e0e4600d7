//! The cache changes no answer: whatever is done to the realm or to the cache file, every answer is the same as without
//! the cache.

mod damage;
mod flat;
mod sequences;
mod settled;
mod world;
