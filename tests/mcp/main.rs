//! Tests the real server as a process, over pipes as clients do, in both eras of the protocol. Its standard output is
//! parsed strictly: anything except a message fails.

#[path = "../cli/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

#[path = "../cli/schemas.rs"]
#[allow(dead_code, reason = "it belongs to the world")]
mod schemas;

mod client;
#[path = "../fixtures/large_realm.rs"]
mod realm;

mod bad_input;
mod commands;
mod declared;
mod detection;
mod eras;
mod large;
mod limits;
mod locks;
mod progress;
mod resources;
mod steps;
mod telling;
mod tools;
