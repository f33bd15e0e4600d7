//! Receivers whose names are invalid.

use serde_json::json;

use crate::{receiver::Receiver, world::World};

#[test]
fn receiver_with_an_invalid_name_does_not_stop_the_others() {
    let receiver = Receiver::start();
    let world = World::pair();
    let file = world.path("home/gitconfig");
    let set = |key: &str, url: &str| {
        world.git(&world.root(), &["config", "--file", file.to_str().unwrap(), key, url]);
    };
    set("blue.notify.team.url", &receiver.url);
    set("blue.notify.my hook.url", &receiver.url);
    let send = || world.blue(&world.path("fungal"), &["notify", "send", "--json"]).exits(1).json();
    let first = send();
    assert_eq!((&first["receivers"][0]["name"], &first["receivers"][1]["sent"]), (&json!("my hook"), &json!(0)));
    world.bump("2.0.0");
    assert_eq!(receiver.waits_for(1)[0].json()["subject"], "s3-access", "the process in the background sends it");
    world.blue(&world.path("fungal"), &["notify", "test", "team"]).exits(0);
    let listed = world.blue(&world.path("fungal"), &["notify", "list"]).exits(0);
    assert!(listed.stdout.contains("\"my hook\" is not a receiver name"), "{listed}");
    let step = world.next_step(&listed);
    let doctor = world.blue(&world.path("fungal"), &["doctor"]).exits(0);
    assert!(doctor.stdout.contains("\"my hook\" is not a receiver name"), "{doctor}");
    assert!(doctor.stderr.contains(&step) || doctor.stdout.contains(&step), "{doctor}");
    world.finish_shell(&world.root(), &step);
    assert!(world.read("home/gitconfig").contains("[blue \"notify.NAME\"]"), "{step}");
}
