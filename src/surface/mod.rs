//! The interfaces of the program. Each translates between its protocol and the operations, and makes no decisions
//! itself.

pub mod arguments;
mod background;
pub mod cli;
pub mod daemon;
mod escape;
pub mod graph;
pub mod hook;
pub mod http;
mod locked;
pub mod log;
pub mod mcp;
pub mod publication_summary;
pub mod report;
mod supervise;
mod value_lines;
