//! Tests the real daemon as a process, over real sockets, with a client that shares no code with it, and with malicious
//! ones.

#[path = "../cli/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

#[path = "../cli/schemas.rs"]
#[allow(dead_code, reason = "it belongs to the world")]
mod schemas;

#[path = "../cli/receiver.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod receiver;

#[path = "../fixtures/team_realm.rs"]
mod team_realm;

mod client;

mod access;
mod between_machines;
mod catch_up;
mod described;
mod events;
mod hostile;
mod idle;
mod listeners;
mod load;
mod mcp;
mod page;
mod process;
mod routes;
mod slow_contract;
mod team;
mod time_limits;
