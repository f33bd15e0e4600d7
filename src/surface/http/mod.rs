//! The realms of this machine over HTTP, for this machine's user alone: JSON as `--json` prints it,
//! MCP, and a page to look at.
//!
//! Operations are synchronous and run on a few threads of their own; only waiting for clients is
//! asynchronous. Nothing is answered before [`access`] has looked at who asks.

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

use std::convert::Infallible;

use bytes::Bytes;

pub use catch_up::SECONDS as CATCH_UP_SECONDS;
pub use context::Desk;
pub use handler::home_id;
pub use listen::serve;
pub use sync::SECONDS as SYNC_SECONDS;

/// The body of every answer.
pub type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// How the daemon serves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The port; any that is free where it is 0.
    pub port: u16,
    /// What everybody must show.
    pub token: String,
    /// How often MCP may be asked in a minute; without limit where it is 0.
    pub rate_limit: u32,
    /// How often commits that no hook published are looked for, in seconds; never where it is 0.
    pub catch_up: u32,
    /// How often the realms are synced whose user wants that, in seconds; never where it is 0.
    pub sync_interval: u32,
}
