//! Sends changes to receivers outside of git. A receiver is a reader to which changes are pushed. A ref of this machine
//! stores its baselines and the events that were not delivered yet.

pub mod collect;
pub mod deliver;
mod program;
mod queue;
pub mod receiver;
pub mod run;
mod text;
