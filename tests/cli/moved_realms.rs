//! Realms, homes and hubs that were moved, and realms of the same name.

use super::sync::shared;
use crate::{
    file_modes::blue_bound_by_modes,
    world::{REALM, World},
};

/// A realm shared at `hub.git`, joined by `fungal`, with nothing left to commit or push.
fn settled() -> (World, String) {
    let (world, hub) = shared();
    world.commit("fungal", "Share the realm");
    world.ok(&world.path("fungal"), &["sync"]);
    (world, hub)
}

#[test]
fn home_that_was_moved_still_has_its_stores() {
    let (world, hub) = settled();
    let fungal = world.path("fungal");
    std::fs::create_dir(world.path("moved")).unwrap();
    std::fs::rename(world.path("home/blue"), world.path("moved/blue")).unwrap();
    world.on("moved");
    world.ok(&fungal, &["status"]);
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
    world.ok(&fungal, &["sync"]);
    let list = world.ok(&fungal, &["realm", "list"]);
    assert!(list.stdout.contains("moved/blue/realms"), "{list}");

    // A store without a record is taken up again, with what it has not pushed.
    world.bump("1.2.0");
    let config = world.path("moved/blue/config");
    let config = config.to_str().unwrap();
    world.git(&fungal, &["config", "--file", config, "--remove-section", &format!("blue.realm.{REALM}")]);
    world.blue(&fungal, &["status"]).exits(128);
    world.ok(&fungal, &["init", "--url", &hub]);
    assert_eq!(world.version(), "1.2.0");
    world.ok(&fungal, &["status"]);
}

#[test]
fn missing_store_is_obtained_again_by_the_printed_step() {
    let (world, _) = settled();
    let fungal = world.path("fungal");
    for remove in [true, false] {
        std::fs::remove_dir_all(world.store()).unwrap();
        if !remove {
            std::fs::create_dir(world.store()).unwrap();
        }
        let status = world.blue(&fungal, &["status"]).exits(128);
        let step = world.next_step(&status);
        let again = world.finish_shell(&fungal, &step);
        assert_eq!(again.code, 0, "{step}: {again}");
        world.ok(&fungal, &["status"]);
    }
}

#[test]
fn unreadable_store_is_not_called_something_else() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::solo();
    for part in ["", "objects", "HEAD"] {
        let path = world.store().join(part);
        let mode = path.metadata().unwrap().permissions();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
        let run = blue_bound_by_modes(&world, &world.path("fungal"), &["status"]);
        std::fs::set_permissions(&path, mode).unwrap();
        assert_eq!(run.code, 128, "{part}: {run}");
        assert!(run.stderr.contains("Permission denied") && !run.stderr.contains("remove-section"), "{part}: {run}");
    }
}

#[test]
fn hub_that_moved_is_joined_on_a_new_machine() {
    let (world, hub) = settled();
    world.git(&world.root(), &["clone", "--quiet", "fungal", "clone"]);
    std::fs::rename(&hub, world.path("new.git")).unwrap();
    let new = world.path("new.git").display().to_string();
    let clone = world.on("second").path("clone");
    let init = world.ok(&clone, &["init", "--url", &new]);
    assert!(world.read("clone/.blue/config.yaml").contains("new.git"), "{init}");
    assert!(init.stdout.contains("The realm aperture has moved"), "{init}");
    world.ok(&clone, &["status"]);
    world.ok(&clone, &["sync"]);
}

#[test]
fn realm_of_the_same_name_is_kept_apart() {
    let (world, hub) = settled();
    // Another team has another realm of that name.
    world.on("other").repo("web");
    let theirs = world.bare("theirs.git");
    world.ok(&world.path("web"), &["init", "--realm", REALM, "--url", &theirs]);
    world.commit("web", "Join the realm");
    world.ok(&world.path("web"), &["sync"]);
    world.git(&world.root(), &["clone", "--quiet", "web", "clone"]);
    let before = world.read("clone/.blue/config.yaml");
    let clone = world.on("home").path("clone");
    let status = world.blue(&clone, &["status"]).exits(128);
    assert!(!status.stderr.contains(&format!("reseed --url {hub}")), "{status}");
    let step = status.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
    assert!(step.starts_with("GIT_BLUE_HOME="), "{status}");
    let apart = world.finish_shell(&clone, &step.replace("DIR", world.path("apart").to_str().unwrap()));
    assert_eq!(apart.code, 0, "{step}: {apart}");
    // A URL that was typed does not replace that of another realm either.
    world.on("third");
    let init = world.blue(&clone, &["init", "--url", &hub]).exits(128);
    assert!(init.stderr.contains("is shared at") && init.stderr.contains(&format!("not at {hub}")), "{init}");
    assert_eq!(world.read("clone/.blue/config.yaml"), before);
    let again = world.finish_shell(&clone, &world.next_step(&init));
    assert_eq!(again.code, 0, "{again}");
}

#[test]
fn store_is_not_its_own_hub() {
    let (world, _) = settled();
    let fungal = world.path("fungal");
    let store = world.store().display().to_string();
    for url in [store.clone(), format!("file://{store}")] {
        for args in [
            &["realm", "admin", "reseed", "--url", &url][..],
            &["init", "--url", &url],
            &["realm", "admin", "join", REALM, "--url", &url],
        ] {
            let run = world.blue(&fungal, args).exits(129);
            assert!(run.stderr.contains("is the store of a realm on this machine"), "{run}");
        }
    }
    world.ok(&fungal, &["sync"]);
}

#[test]
fn fork_reads_the_realm_that_init_fetched() {
    let world = World::new();
    let hub = world.hub();
    world.repo("fungal");
    world.git(&world.path("fungal"), &["remote", "add", "origin", "https://h.example/team/fungal.git"]);
    world.ok(&world.path("fungal"), &["init", "--realm", REALM, "--url", &hub]);
    world.commit("fungal", "Join the realm");
    world.ok(&world.path("fungal"), &["sync"]);
    world.git(&world.root(), &["clone", "--quiet", "fungal", "fork"]);
    let fork = world.on("second").path("fork");
    world.git(&fork, &["remote", "set-url", "origin", "https://h.example/me/fungal.git"]);
    let init = world.blue(&fork, &["init", "--url", &hub]).exits(1);
    assert!(init.stderr.contains("in a fork, which can read and check, but not write"), "{init}");
    assert!(world.next_step(&init).starts_with("git blue status  # "), "{init}");
    let status = world.ok(&fork, &["status"]);
    assert!(status.stdout.contains("read-only"), "{status}");
    let check = world.blue(&fork, &["check"]).exits(1);
    assert!(check.stdout.contains("nothing-to-check"), "{check}");
    assert!(!world.path("fork/.git/blue-joined").exists());
}

#[test]
fn rewritten_history_is_named() {
    let world = World::new();
    let (fungal, hub) = (world.repo("fungal"), world.hub());
    world.git(&fungal, &["remote", "add", "origin", "https://h.example/team/fungal.git"]);
    world.ok(&fungal, &["init", "--realm", REALM, "--url", &hub]);
    world.commit("fungal", "Join the realm");
    world.git(&fungal, &["checkout", "--quiet", "--orphan", "new"]);
    world.commit("fungal", "Start again");
    world.git(&fungal, &["branch", "--quiet", "-M", "main"]);
    world.git(&fungal, &["reflog", "expire", "--expire=now", "--all"]);
    world.git(&fungal, &["gc", "--quiet", "--prune=now"]);
    let run = world.blue(&fungal, &["session", "start"]).exits(1);
    assert!(run.stderr.contains("this clone has the same origin, but none of its root commits"), "{run}");
    assert!(world.next_step(&run).starts_with("git blue init  # if the history was rewritten"), "{run}");
    // A fresh clone, and a CI job.
    world.git(&world.root(), &["clone", "--quiet", "fungal", "fresh"]);
    let fresh = world.path("fresh");
    world.git(&fresh, &["remote", "set-url", "origin", "https://h.example/team/fungal.git"]);
    let step =
        "run git blue init and git blue sync in a joined clone of fungal with the new history, if it was rewritten";
    for (machine, args) in [
        ("home", &["session", "start"][..]),
        ("second", &["init", "--url", &hub]),
        ("runner", &["contract", "publish", "--realm-url", &hub]),
    ] {
        let run = world.on(machine).blue(&fresh, args).exits(1);
        assert!(run.stderr.contains(&format!("hint: {step}")), "{run}");
        assert!(!run.stderr.contains("unique name"), "{run}");
    }
    world.on("home").ok(&fungal, &["init"]);
    world.ok(&fungal, &["sync"]);
    world.on("second").ok(&fresh, &["init", "--url", &hub]);
}

#[test]
fn runner_with_an_outdated_url_is_told() {
    let world = World::solo();
    let (hub, fungal) = (world.hub(), world.path("fungal"));
    world.ok(&fungal, &["init", "--url", &hub]);
    let new = world.bare("new.git");
    world.ok(&fungal, &["realm", "admin", "reseed", "--url", &new]);
    world.commit("fungal", "The realm has moved");
    world.on("runner").git(&world.root(), &["clone", "--quiet", "fungal", "job"]);
    for command in [&["check"][..], &["contract", "publish"]] {
        for (url, is_told) in [(&hub, true), (&new, false)] {
            let run = world.ok(&world.path("job"), &[command, &["--realm-url", url]].concat());
            let told = format!(".blue/config.yaml says that the realm aperture is shared at {new}, not at {url}");
            assert_eq!(run.stdout.contains(&told), is_told, "{run}");
        }
    }
    // The old place may be a mirror.
    let check = world.ok(&world.path("job"), &["check", "--realm-url", &hub]);
    let read_mirror = format!("git config --global url.{hub}.insteadOf {new}");
    assert!(check.stdout.contains(&format!("if that is a mirror: {read_mirror} lets git read it")), "{check}");
    assert_eq!(world.on("runner").finish_shell(&world.path("job"), &read_mirror).code, 0);
    let check = world.ok(&world.path("job"), &["check", "--realm-url", &new]);
    assert!(!check.stdout.contains("other-url"), "{check}");
}

#[test]
fn commit_from_before_joining_is_not_outside_of_the_realm() {
    let world = World::new();
    world.repo("work");
    world.ok(&world.path("work"), &["init", "--realm", REALM, "--repo", "fungal"]);
    world.commit("work", "Join the realm");
    let work = world.path("work");
    world.git(&work, &["checkout", "--quiet", "HEAD~1"]);
    for args in [&["status"][..], &["check"], &[]] {
        let run = world.blue(&work, args);
        assert!(run.all().contains("this commit has no .blue/config.yaml"), "{run}");
        assert!(!run.all().contains("init --realm"), "{run}");
    }
    let step = world.next_steps(&world.blue(&work, &["status"])).pop().unwrap();
    assert_eq!(world.finish_shell(&work, &step).code, 0, "{step}");
    // Joining again keeps the name.
    let init = world.ok(&work, &["init", "--realm", REALM]);
    assert!(world.read("work/.blue/config.yaml").contains("repo: fungal"), "{init}");
}

/// A remote that was moved as a whole lacks nothing. Only what a new one lacked is restored.
#[test]
fn moving_names_what_the_new_place_lacked() {
    let (world, hub) = settled();
    let fungal = world.path("fungal");
    let (whole, empty) = (world.path("whole.git"), world.bare("empty.git"));
    std::fs::rename(&hub, &whole).unwrap();
    for (url, restored) in [(whole.to_str().unwrap(), 0), (&empty, 2)] {
        let moved = world.json(&fungal, &["realm", "admin", "reseed", "--url", url]);
        assert_eq!(moved["restored"].as_array().unwrap().len(), restored, "{url}: {moved}");
    }
}

/// Other branches, tags and repositories still have the former URL.
#[test]
fn commits_from_before_a_move_still_belong_to_the_realm() {
    let (world, _) = settled();
    let fungal = world.path("fungal");
    world.git(&fungal, &["branch", "release"]);
    let new = world.bare("new.git");
    let moved = world.ok(&fungal, &["realm", "admin", "reseed", "--url", &new]);
    assert!(moved.stdout.contains("such as REALM_URL"), "{moved}");
    world.commit("fungal", "The realm has moved");
    world.git(&fungal, &["switch", "--quiet", "release"]);
    for arguments in [&["status"][..], &["check"], &["contract", "list"], &["init"]] {
        world.ok(&fungal, arguments);
    }
    // Only the publishing branch has to be changed.
    assert!(!world.ok(&fungal, &["status"]).stdout.contains("reseed"));
    world.git(&fungal, &["checkout", "--quiet", "-B", "main", "release"]);
    let step = format!("git blue realm admin reseed --url {new}  # write that URL into .blue/config.yaml");
    let status = world.ok(&fungal, &["status"]);
    assert!(world.next_steps(&status).contains(&step), "{status}");
    let doctor = world.blue(&fungal, &["doctor"]);
    assert!(doctor.stdout.contains("has the former URL of the realm"), "{doctor}");
    world.finish_shell(&fungal, &step).exits(0);
    assert!(world.read("fungal/.blue/config.yaml").contains(&new));
    // A URL that this machine never used is still refused.
    let other = world.read("fungal/.blue/config.yaml").replace(&new, "https://example.com/other.git");
    world.write("fungal/.blue/config.yaml", &other);
    world.blue(&fungal, &["status"]).exits(128);
}
