//! A contract that takes many seconds to check.

use serde_json::{Map, json};

use crate::world::World;

/// Replaces the contract of the realm by one whose value matches none of a thousand patterns, in fifty thousand places.
pub fn plant_slow_contract(world: &World) {
    let patterns: Map<_, _> = (0..1_000).map(|at| (format!("(?=a)x{at}"), json!(true))).collect();
    let value: Map<_, _> = (0..50_000).map(|at| (format!("p{at}"), json!(1))).collect();
    let mut held = world.stored("contracts/s3-permissions.json");
    held["schema"] = json!({"patternProperties": patterns});
    held["value"] = json!(value);
    world.plant("contracts/s3-permissions.json", &held.to_string());
}
