//! The server as a process, tested over pipes with and without a handshake. Standard output is parsed strictly:
//! anything except messages fails.

#[path = "../testutils/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

#[path = "../testutils/left_out.rs"]
mod left_out;

#[path = "../testutils/plant_slow.rs"]
mod plant_slow;

#[path = "../testutils/running.rs"]
mod running;

#[path = "../testutils/wait.rs"]
mod wait;

#[path = "../testutils/schemas.rs"]
#[allow(dead_code, reason = "it belongs to the world")]
mod schemas;

#[path = "../testutils/mcp_client.rs"]
mod client;
#[path = "../testutils/large_realm.rs"]
mod realm;

mod bad_input;
mod commands;
mod declared;
mod detection;
mod large;
mod limits;
mod locks;
mod notifications;
mod progress;
mod protocol_versions;
mod resources;
mod steps;
mod tools;
