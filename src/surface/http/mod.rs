//! Serves the realms of this machine over HTTP to this machine's user: JSON as `--json` prints it, MCP, and pages for a
//! browser.
//!
//! Operations are synchronous and run on a few dedicated threads; only waiting for clients is asynchronous. No request
//! is answered before [`access`] has allowed it.

mod access;
mod address;
mod all_realms;
mod answer;
mod body;
mod catch_up;
mod connections;
pub mod context;
mod each_realm;
mod events;
mod handler;
mod listen;
mod notify;
pub mod openapi;
mod page;
mod peer;
mod recurring;
mod routes;
mod status;
mod sync;
mod warm_up;

use super::mcp;

pub use context::Contexts;
pub use handler::home_id;
pub use listen::serve;
pub use mcp::Body;

/// The default port.
pub const PORT: u16 = 7865;

/// The settings of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// The port to listen on; 0 for any free one
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    pub port: u16,
    /// The maximum number of MCP requests per minute; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = mcp::PER_MINUTE)]
    pub rate_limit: u32,
    /// Seconds between checks for commits that no hook published; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = catch_up::SECONDS)]
    pub catch_up: u32,
    /// Seconds between syncs of the realms that are synced automatically; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = sync::SECONDS)]
    pub sync_interval: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { port: PORT, rate_limit: mcp::PER_MINUTE, catch_up: catch_up::SECONDS, sync_interval: sync::SECONDS }
    }
}
