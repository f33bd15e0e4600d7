//! Commands that the user declares as tools for MCP clients.

pub mod declared;
pub mod environment;
