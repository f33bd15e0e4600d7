//! The surfaces: each translates between its protocol and the operations, and decides nothing.

pub mod arguments;
mod background;
pub mod cli;
pub mod daemon;
pub mod graph;
pub mod hook;
pub mod http;
pub mod log;
pub mod mcp;
pub mod report;
mod supervise;
pub mod told;
