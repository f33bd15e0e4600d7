//! Refs of a store that are torn, lost or name nothing.

use crate::{
    damage::break_ref,
    missing_objects::{lose, synced},
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
        assert!(run.code != 0 && run.all().contains("aperture.git has no valid HEAD file"), "{run}");
        let step = "git blue doctor --fix  # recreate HEAD; nothing is lost";
        assert!(world.next_steps(&run).iter().any(|one| one == step), "{run}");
    }
    world.blue(&fungal, &["doctor", "--fix"]).exits(0);
    assert_eq!(std::fs::read_to_string(&head).unwrap(), written);
    world.ok(&fungal, &["status"]);
}

/// git refuses the store, although this program can read it.
#[test]
fn invalid_head_is_written_again() {
    for text in ["", "\0\0\0\0", "ref: nowhere\n"] {
        let (world, _) = synced();
        let fungal = world.path("fungal");
        let head = world.store().join("HEAD");
        let written = std::fs::read_to_string(&head).unwrap();
        world.bump("1.1.0");
        std::fs::write(&head, text).unwrap();
        let problem = "aperture.git has no valid HEAD file";
        let sync = world.blue(&fungal, &["sync"]).exits(128);
        let doctor = world.blue(&fungal, &["doctor"]).exits(1);
        assert!(sync.stderr.contains(problem) && doctor.stdout.contains(problem), "{sync}{doctor}");
        let step = "git blue doctor --fix  # recreate HEAD; nothing is lost".to_owned();
        assert!(world.next_steps(&doctor).contains(&step), "{doctor}");
        world.finish_shell(&fungal, &step).exits(0);
        assert_eq!(std::fs::read_to_string(&head).unwrap(), written);
        world.ok(&fungal, &["sync"]);
    }
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

/// This machine recorded where the ref was, so nothing is given up.
#[test]
fn lost_ref_that_was_recorded_is_restored() {
    for name in ["refs/blue/realm", DOMAIN_REF] {
        let (world, _) = synced();
        let fungal = world.path("fungal");
        let tip = world.tip(name);
        world.git(&world.store(), &["update-ref", "-d", name]);
        let doctor = world.blue(&fungal, &["doctor"]).exits(1);
        assert!(doctor.stdout.contains(&format!("{name}: it is missing")), "{doctor}");
        let step = "git blue doctor --fix  # restore it; nothing is lost".to_owned();
        assert!(world.next_steps(&doctor).contains(&step) && !doctor.stdout.contains("mv "), "{doctor}");
        world.finish_shell(&fungal, &step).exits(0);
        assert_eq!(world.tip(name), tip);
        world.blue(&fungal, &["doctor"]).exits(0);
    }
}

/// Nothing says how much was written after the newest commit.
#[test]
fn lost_ref_that_was_not_recorded_is_reset_to_its_newest_commit() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let tip = world.tip("refs/blue/realm");
    world.git(&world.store(), &["update-ref", "-d", "refs/blue/realm"]);
    let status = world.blue(&fungal, &["status"]).exits(128);
    assert!(status.stderr.contains("has lost the ref refs/blue/realm"), "{status}");
    let doctor = world.finish_shell(&fungal, &world.next_step(&status)).exits(1);
    let step = world.next_steps(&doctor).into_iter().find(|step| step.contains("--restore")).unwrap();
    world.finish_shell(&fungal, &step).exits(0);
    assert_eq!(world.tip("refs/blue/realm"), tip);
    world.ok(&fungal, &["status"]);
}

/// The store has not even an old commit of the realm.
#[test]
fn lost_realm_is_fetched_again() {
    let (world, _) = synced();
    let fungal = world.path("fungal");
    let tip = world.tip("refs/blue/realm");
    crate::missing_objects::unpack(&world, &world.store());
    let commits = world.git(&world.store(), &["rev-list", "refs/blue/realm"]).stdout;
    for name in ["refs/blue/realm", "refs/blue-remotes/origin/realm"] {
        world.git(&world.store(), &["update-ref", "-d", name]);
    }
    for id in commits.lines() {
        std::fs::remove_file(world.store().join("objects").join(&id[..2]).join(&id[2..])).unwrap();
    }
    let doctor = world.blue(&fungal, &["doctor"]).exits(1);
    let step = world.next_steps(&doctor).into_iter().find(|step| step.contains("fetch it again")).unwrap();
    world.finish_shell(&fungal, &step).exits(0);
    assert_eq!(world.tip("refs/blue/realm"), tip);
    world.ok(&fungal, &["status"]);
}

/// Sessions are only records, and no other one can be started until the ref can be read.
#[test]
fn sessions_are_reset_to_what_is_left_of_them() {
    let name = "refs/blue/sessions/fungal";
    for is_lost in [true, false] {
        let world = World::pair();
        let fungal = world.path("fungal");
        world.ok(&fungal, &["session", "start"]);
        let before = world.tip(name);
        world.ok(&fungal, &["session", "start", "--rfc", "rfc-1"]);
        let tip = world.tip(name);
        if is_lost {
            lose(&world, &world.store(), &tip);
        } else {
            break_ref(&world, name, &"\0".repeat(41));
        }
        let status = world.blue(&fungal, &["session", "status"]).exits(128);
        let doctor = world.finish_shell(&fungal, &world.next_step(&status)).exits(1);
        let step = world.next_steps(&doctor).into_iter().find(|step| step.contains("doctor --fix")).unwrap();
        let mended = world.finish_shell(&fungal, &step).exits(0);
        let left = if is_lost { before } else { tip };
        assert!(mended.stdout.contains(&format!("to {left}")), "{mended}");
        world.blue(&fungal, &["doctor"]).exits(0);
        world.ok(&fungal, &["session", "start"]);
    }
}

#[test]
fn sessions_of_which_nothing_is_left_are_removed() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["session", "start"]);
    lose(&world, &world.store(), &world.tip("refs/blue/sessions/fungal^{tree}"));
    world.blue(&fungal, &["session", "start"]).exits(128);
    world.blue(&fungal, &["doctor"]).exits(1);
    let mended = world.blue(&fungal, &["doctor", "--fix"]).exits(0);
    assert!(mended.stdout.contains("none of its commits is complete; it was removed"), "{mended}");
    world.ok(&fungal, &["session", "start"]);
}

/// git reads none of the refs, because one line is damaged.
#[test]
fn damaged_lines_of_packed_refs_are_left_out() {
    let (world, _) = synced();
    let fungal = world.path("fungal");
    world.git(&world.store(), &["pack-refs", "--all"]);
    let (path, tip) = (world.store().join("packed-refs"), world.tip(DOMAIN_REF));
    let damaged = std::fs::read_to_string(&path).unwrap().replace(&format!("{tip} {DOMAIN_REF}"), "\0\0\0\0");
    std::fs::write(&path, damaged).unwrap();
    let status = world.blue(&fungal, &["status"]).exits(128);
    let doctor = world.finish_shell(&fungal, &world.next_step(&status)).exits(1);
    let step = "git blue doctor --fix  # write it again without them".to_owned();
    assert!(world.next_steps(&doctor).contains(&step), "{doctor}");
    let mended = world.finish_shell(&fungal, &step).exits(0);
    assert!(mended.stdout.contains("packed-refs has 1 line that git cannot read"), "{mended}");
    assert_eq!(world.tip(DOMAIN_REF), tip);
    world.ok(&fungal, &["status"]);
}
