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
mod descriptors;
mod events;
mod handler;
mod listen;
mod notify;
pub mod openapi;
mod page;
mod peer;
mod routes;
mod status;
mod sync;
mod warm_up;

use std::convert::Infallible;

use bytes::Bytes;

pub use catch_up::SECONDS as CATCH_UP_SECONDS;
pub use context::Contexts;
pub use handler::home_id;
pub use listen::serve;
pub use sync::SECONDS as SYNC_SECONDS;

/// The body of every response.
pub type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// The settings of the server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The port; 0 picks a free one.
    pub port: u16,
    /// The token that clients must send.
    pub token: String,
    /// The maximum number of MCP requests per minute and client; 0 for no limit.
    pub rate_limit: u32,
    /// The interval in seconds at which the server looks for unpublished commits; 0 for never.
    pub catch_up: u32,
    /// The interval in seconds at which the server syncs realms whose user wants that; 0 for never.
    pub sync_interval: u32,
}
