//! Refs of a store that are torn, lost or name nothing.

use crate::{
    damage::break_ref,
    world::{DOMAIN_REF, World},
};

#[test]
fn lost_head_is_written_again() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let head = world.store().join("HEAD");
    let written = std::fs::read_to_string(&head).unwrap();
    std::fs::remove_file(&head).unwrap();
    for command in ["status", "check", "doctor"] {
        let run = world.blue(&fungal, &[command]);
        assert!(run.code != 0 && run.all().contains("aperture.git has no HEAD file"), "{run}");
        let step = "git blue doctor --fix  # recreate HEAD; nothing is lost";
        assert!(world.next_steps(&run).iter().any(|one| one == step), "{run}");
    }
    world.blue(&fungal, &["doctor", "--fix"]).exits(0);
    assert_eq!(std::fs::read_to_string(&head).unwrap(), written);
    world.ok(&fungal, &["status"]);
}

#[test]
fn lost_folder_of_packed_refs_is_made_again() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&world.store(), &["pack-refs", "--all"]);
    std::fs::remove_dir_all(world.store().join("refs")).unwrap();
    let status = world.blue(&fungal, &["status"]).exits(128);
    assert!(status.stderr.contains("aperture.git has no refs directory"), "{status}");
    let step = world.next_step(&status);
    assert_eq!(step, "git blue doctor --fix  # recreate refs; nothing is lost");
    world.finish_shell(&fungal, &step).exits(0);
    world.ok(&fungal, &["status"]);
}

#[test]
fn torn_ref_of_the_realm_is_reset() {
    for is_packed in [false, true] {
        let world = World::pair();
        let fungal = world.path("fungal");
        if is_packed {
            world.git(&world.store(), &["pack-refs", "--all"]);
        }
        let tip = world.tip("refs/blue/realm");
        break_ref(&world, "refs/blue/realm", "");
        let doctor = world.blue(&fungal, &["doctor", "--fix"]).exits(1);
        assert!(!doctor.all().contains("start over"), "{doctor}");
        let step = world.next_steps(&doctor).into_iter().find(|step| step.contains("--restore")).unwrap();
        world.finish_shell(&fungal, &step).exits(0);
        assert_eq!(world.tip("refs/blue/realm"), tip);
        world.blue(&fungal, &["doctor"]).exits(0);
    }
}

#[test]
fn ref_that_names_no_commit_is_removed_on_request() {
    let world = World::pair();
    let fungal = world.path("fungal");
    for place in ["domains/noise", "sessions/nobody"] {
        let name = format!("refs/blue/{place}");
        for text in ["", "noise"] {
            break_ref(&world, &name, text);
            let sick = world.blue(&fungal, &["doctor"]).exits(1);
            assert!(sick.stdout.contains(&format!("{name}: it does not contain an object id")), "{sick}");
            let step = world.next_steps(&sick).into_iter().find(|step| step.contains("doctor --fix")).unwrap();
            let mended = world.finish_shell(&fungal, &step);
            assert!(mended.stdout.contains("it was removed"), "{mended}");
            world.blue(&fungal, &["doctor"]).exits(0);
            world.ok(&fungal, &["status"]);
        }
        let blob = world.tip(&format!("{DOMAIN_REF}:domain.json"));
        world.git(&world.store(), &["update-ref", &name, &blob]);
        let sick = world.blue(&fungal, &["doctor"]).exits(1);
        assert!(sick.stdout.contains(&format!("{name}: it points to a blob instead of a commit")), "{sick}");
        world.blue(&fungal, &["doctor", "--fix"]);
        world.blue(&fungal, &["doctor"]).exits(0);
    }
}

#[test]
fn torn_ref_of_a_domain_is_reset_to_its_newest_commit() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    let tip = world.tip(DOMAIN_REF);
    for text in ["", "0123"] {
        break_ref(&world, DOMAIN_REF, text);
        let status = world.blue(&fungal, &["status"]).exits(128);
        assert!(status.stderr.contains(&format!("{DOMAIN_REF}: it does not contain an object id")), "{status}");
        assert_eq!(status.stdout.matches(DOMAIN_REF).count(), 1, "once, and not as a next step: {status}");
        let kept = world.blue(&fungal, &["doctor", "--fix"]).exits(1);
        let step = world.next_steps(&kept).into_iter().find(|step| step.contains("--restore")).unwrap();
        let mended = world.finish_shell(&fungal, &step);
        assert_eq!(mended.code, 0, "{mended}");
        assert_eq!(world.tip(DOMAIN_REF), tip);
        world.blue(&fungal, &["doctor"]).exits(0);
    }
}
