//! What goes out of git: a receiver is a reader whom the news are brought. Each has, on a ref of this machine, what
//! it knows of each domain, and the events that have not arrived yet.

pub mod carry;
pub mod collect;
mod program;
mod queue;
pub mod receiver;
pub mod run;
mod text;
