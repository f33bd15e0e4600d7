//! What the store keeps at hand changes no answer: whatever is done to the realm or to the kept file
//! itself, every question gets the answer that it gets without it.

mod damage;
mod flat;
mod sequences;
mod settled;
mod world;
