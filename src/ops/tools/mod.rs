//! Runs programs for the user: commands that are declared as tools for MCP clients, and scripts of the user's
//! repository.

pub mod declared;
pub mod environment;
pub mod script;
