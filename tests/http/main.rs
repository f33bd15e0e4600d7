//! The daemon as a process, tested over sockets by an independent client and by hostile ones.

#[path = "../testutils/daemon.rs"]
mod daemon;

#[path = "../testutils/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

#[path = "../testutils/left_out.rs"]
mod left_out;

#[path = "../testutils/plant_slow.rs"]
mod plant_slow;

#[path = "../testutils/whole.rs"]
mod whole;

#[path = "../testutils/wait.rs"]
mod wait;

#[path = "../testutils/schemas.rs"]
#[allow(dead_code, reason = "it belongs to the world")]
mod schemas;

#[path = "../testutils/receiver.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod receiver;

#[path = "../testutils/team_realm.rs"]
mod team_realm;

mod client;
mod mcp_client;

mod access;
mod between_machines;
mod catch_up;
mod events;
mod hostile;
mod idle;
mod listeners;
mod load;
mod mcp;
mod openapi;
mod page;
mod process;
mod ranking;
mod routes;
mod slow_contract;
mod time_limits;
