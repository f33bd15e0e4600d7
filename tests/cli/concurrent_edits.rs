//! Commands that edit the same file at the same time, as agents and scripts run them.

use std::process::Stdio;

use crate::world::{World, contract};

const COUNT: usize = 6;

#[test]
fn imports_at_the_same_time_are_all_written() {
    let world = World::solo();
    for n in 0..COUNT {
        let text = contract("1.0.0").replace("s3-permissions", &format!("c{n}"));
        world.write(&format!("fungal/.blue/contracts/s3-access/c{n}.yaml"), &text);
    }
    world.commit("fungal", "More contracts");
    let access = world.join("access");
    let started: Vec<_> = (0..COUNT)
        .map(|n| {
            let mut command = world.command("git-blue", &access);
            command.args(["import".to_owned(), format!("s3-access/c{n}")]);
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut import in started {
        assert!(import.wait().unwrap().success());
    }
    let binding = world.read("access/.blue/bindings/s3-access.yaml");
    let missing: Vec<_> = (0..COUNT).filter(|n| !binding.contains(&format!("contract: c{n}\n"))).collect();
    assert_eq!(missing, Vec::<usize>::new(), "{binding}");
}
