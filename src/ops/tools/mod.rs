//! Programs that are run for the user: those that he declares as tools for MCP clients, and scripts of his
//! repository.

pub mod declared;
pub mod environment;
pub mod script;
