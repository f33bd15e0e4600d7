//! Repositories and realms that were renamed or moved, in the other clones.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
};

use crate::{
    left_out::left_out,
    teamwork::{push, team},
    world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, EXPORTING, World, contract, importing},
};

#[test]
fn teammate_of_a_renamed_repository_joins_again() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.join("access");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing("^1"));
    world.commit("access", "Import");
    world.ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
    world.commit("fungal", "Take the name mycelium");
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    world.git(&mate, &["pull", "--quiet"]);
    let status = world.ok(&mate, &["status"]);
    assert!(status.stdout.contains("joined the realm aperture as fungal, so it cannot write as mycelium"), "{status}");
    assert_eq!(world.next_step(&status), "git blue init  # fungal was renamed to mycelium");
    world.ok(&mate, &["init"]);
    let status = world.json(&mate, &["status"]);
    assert_eq!(status["read_only"], serde_json::Value::Null, "{status}");
    // What was pending under the old name still is.
    let list = world.ok(&mate, &["notifications", "list"]);
    assert!(list.stdout.contains("access imports s3-access/s3-permissions ^1"), "{list}");
    world.write(
        &format!("mate/{CONTRACT_FILE}"),
        &world.read(&format!("mate/{CONTRACT_FILE}")).replace("1.0.0", "1.1.0"),
    );
    let commit = world.commit("mate", "Paths 1.1.0");
    assert!(commit.stderr.contains("published s3-access/s3-permissions 1.0.0 -> 1.1.0"), "{commit}");
}

/// Clones of one repository whose origins are spelled differently, each on a machine of its own.
#[test]
fn spellings_of_one_origin_are_the_same_repository() {
    let (world, _) = team();
    let hub = world.path("hub.git").display().to_string();
    std::fs::create_dir(world.path("ada")).unwrap();
    std::os::unix::fs::symlink(world.root(), world.path("link")).unwrap();
    let fungal = world.path("fungal");
    for origin in [world.path("ada/../code.git"), world.path("link/code"), world.path("code.git")] {
        let origin = origin.display().to_string();
        world.on("home").git(&fungal, &["remote", "set-url", "origin", &origin]);
        world.ok(&fungal, &["init"]);
        world.ok(&fungal, &["sync"]);
        for (name, theirs) in [("a", "ada/../code.git"), ("b", "link/code.git"), ("c", "code.git")] {
            let mate = world.path(&format!("{name}-mate"));
            world.git(&world.root(), &["clone", "--quiet", "code.git", mate.to_str().unwrap()]);
            world.git(&mate, &["remote", "set-url", "origin", world.path(theirs).to_str().unwrap()]);
            world.on("third").ok(&mate, &["init", "--url", &hub]);
            let status = world.json(&mate, &["status"]);
            assert_eq!(status["read_only"], serde_json::Value::Null, "{origin} {theirs}: {status}");
            std::fs::remove_dir_all(&mate).unwrap();
        }
    }
}

#[test]
fn moved_origin_is_recorded_by_joining_again() {
    let (world, _) = team();
    let fungal = world.path("fungal");
    world.git(&world.root(), &["clone", "--quiet", "--bare", "code.git", "moved.git"]);
    world.git(&fungal, &["remote", "set-url", "origin", world.path("moved.git").to_str().unwrap()]);
    let status = world.ok(&fungal, &["status"]);
    assert!(status.stdout.contains("read-only: "), "{status}");
    assert!(world.next_step(&status).starts_with("git blue init  # if the repository moved to this URL"), "{status}");
    let init = world.json(&fungal, &["init"]);
    assert_eq!(init["replaced_url"], world.path("code.git").to_str().unwrap(), "{init}");
    assert_eq!(world.json(&fungal, &["status"])["read_only"], serde_json::Value::Null);
    assert_eq!(world.json(&fungal, &["init"]).get("replaced_url"), None);
}

#[test]
fn clone_of_a_repository_that_moved_is_told_to_follow() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let moved = world.path("moved.git");
    std::fs::rename(world.path("code.git"), &moved).unwrap();
    world.git(&fungal, &["remote", "set-url", "origin", moved.to_str().unwrap()]);
    world.ok(&fungal, &["init"]);
    world.ok(&fungal, &["sync"]);
    world.on("second").ok(&mate, &["sync"]);
    let status = world.ok(&mate, &["status"]);
    let step = world.next_step(&status);
    assert_eq!(step, format!("git remote set-url origin {}  # if the repository moved there", moved.display()));
    assert_eq!(world.finish_shell(&mate, &step).code, 0);
    assert_eq!(world.json(&mate, &["status"])["read_only"], serde_json::Value::Null);
}

/// GitHub's usual names for the remotes of a fork, given in a clone that has joined.
#[test]
fn origin_of_a_joined_clone_is_not_replaced_by_a_fork() {
    let (world, _) = team();
    let fungal = world.path("fungal");
    world.git(&world.root(), &["clone", "--quiet", "--bare", "code.git", "fork.git"]);
    world.git(&fungal, &["remote", "rename", "origin", "upstream"]);
    world.git(&fungal, &["remote", "add", "origin", world.path("fork.git").to_str().unwrap()]);
    let status = world.ok(&fungal, &["status"]);
    let init = world.blue(&fungal, &["init"]).exits(1);
    let step = world.next_step(&init);
    assert_eq!((world.next_step(&status), step.starts_with("git remote rename origin fork")), (step.clone(), true));
    assert_eq!(world.finish_shell(&fungal, &step).code, 0);
    assert_eq!(world.json(&fungal, &["status"])["read_only"], serde_json::Value::Null);
}

/// The step that is printed for other clones works in one that was pulled, and moves the whole machine.
#[test]
fn realm_that_moved_is_followed_by_other_machines() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let new = world.bare("new.git");
    let moved = world.on("home").ok(&fungal, &["realm", "admin", "reseed", "--url", &new]);
    world.commit("fungal", "Move the realm");
    push(&world);
    let steps = world.next_steps(&moved);
    let step = steps.iter().find(|step| step.starts_with("git blue realm admin reseed")).unwrap();
    world.on("second").git(&mate, &["pull", "--quiet"]);
    let status = world.blue(&mate, &["status"]).exits(128);
    assert_eq!(world.next_step(&status).split("  #").next(), step.split("  #").next(), "{status}");
    assert_eq!(world.finish_shell(&mate, step).code, 0);
    let sync = world.ok(&mate, &["sync"]);
    assert!(sync.stdout.contains("new.git") && !sync.stdout.contains("hub.git"), "{sync}");
    // A clone that still has the old URL is told how to record the new one.
    world.git(&mate, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let steps = world.next_steps(&world.ok(&mate, &["status"]));
    let write = format!("--url {new}  # write that URL into .blue/config.yaml");
    let step = steps.iter().find(|step| step.ends_with(&write)).unwrap();
    world.finish_shell(&mate, step).exits(0);
    assert!(world.read("mate/.blue/config.yaml").contains(&new));
    world.ok(&mate, &["status"]);
}

/// A branch that was created before the rename has the former name in its configuration.
#[test]
fn ci_of_an_old_branch_names_the_new_name() {
    let (world, _) = team();
    let (fungal, hub) = (world.path("fungal"), world.hub());
    world.ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
    world.ok(&fungal, &["sync"]);
    world.on("runner").git(&world.root(), &["clone", "--quiet", "code.git", "job"]);
    for command in [["check"].as_slice(), &["contract", "publish"]] {
        let run = world.blue(&world.path("job"), &[command, &["--realm-url", &hub]].concat()).exits(128);
        assert!(run.stderr.contains("fungal was renamed to mycelium in the realm"), "{run}");
        assert!(run.stderr.contains("merge the branch whose .blue/config.yaml has the name mycelium"), "{run}");
        assert!(!run.stderr.contains("git blue init"), "{run}");
    }
}

/// A version that was published under the former name of the repository is neither lost nor rolled back.
#[test]
fn publish_during_a_rename_keeps_its_version() {
    let (world, mate) = team();
    world.ok(&world.path("fungal"), &["realm", "admin", "rename", "fungal", "mycelium"]);
    world.commit("fungal", "Take the name mycelium");
    push(&world);
    world.on("second");
    world.write(&format!("mate/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("mate", "Paths 1.1.0");
    assert_eq!(world.version(), "1.1.0");
    world.ok(&mate, &["sync"]);
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    for machine in ["home", "second"] {
        world.on(machine);
        let held = world.stored("contracts/s3-permissions.json");
        assert_eq!((&held["version"], &held["owner"]), (&"1.1.0".into(), &"mycelium".into()), "{held}");
        let sources = world.git(&world.store(), &["ls-tree", "--name-only", "refs/blue/domains/s3-access", "sources/"]);
        assert_eq!(sources.stdout, "sources/mycelium.json\n");
        assert_ne!(world.stored("sources/mycelium.json")["commit"], world.line(&mate, &["rev-parse", "HEAD~1"]));
    }
}

/// The former name must not stay as a member that nobody can change.
#[test]
fn binding_that_is_published_during_a_rename_moves_with_it() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.write(&format!("fungal/{BINDING_FILE}"), EXPORTING);
    world.commit("fungal", "Export");
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    world.git(&mate, &["pull", "--quiet"]);
    world.on("home").ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
    world.commit("fungal", "Take the name mycelium");
    push(&world);
    world.write(&format!("mate/{BINDING_FILE}"), &EXPORTING.replace("models/", "more/"));
    world.on("second").commit("mate", "Export another file");
    world.ok(&mate, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    for machine in ["home", "second"] {
        world.on(machine);
        let files = world.git(&world.store(), &["ls-tree", "-r", "--name-only", DOMAIN_REF, "bindings/", "conflicts/"]);
        assert_eq!(files.stdout, "bindings/mycelium.json\n");
        assert_eq!(world.stored("domain.json")["members"], serde_json::json!(["mycelium"]));
        let held = world.stored("bindings/mycelium.json");
        assert_eq!(held["exports"][0]["source_files"][0], "more/s3_paths.py", "{held}");
    }
}

/// A teammate publishes under the old name while the repository is renamed. Running the rename again settles it.
#[test]
fn rename_that_races_a_binding_is_finished_by_running_it_again() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let create = ["realm", "admin", "domain", "--name", "shop", "--repos", "fungal"];
    world.ok(&fungal, &create);
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    world.write("mate/.blue/contracts/shop/cart.yaml", &contract("1.0.0").replace("s3-permissions", "cart"));
    world.write("mate/.blue/bindings/shop.yaml", "role: provider\nexports: [ { contract: cart } ]\n");
    world.commit("mate", "The cart");
    world.on("home").ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
    world.commit("fungal", "Take the name mycelium");
    push(&world);
    world.on("second").ok(&world.root(), &["--realm", "aperture", "sync"]);
    world.on("home").ok(&fungal, &["sync"]);

    let check = world.blue(&fungal, &["check", "--all"]).exits(1);
    assert!(check.stdout.contains("fungal takes part in shop, but is not in the realm"), "{check}");
    let step = "git blue realm admin rename fungal mycelium";
    assert!(world.next_steps(&check).iter().any(|next| next.starts_with(step)), "{check}");
    let leave = world.blue(&fungal, &["realm", "admin", "remove-member", "fungal", "--domain", "shop"]).exits(1);
    assert!(world.next_step(&leave).starts_with(step), "{leave}");
    assert_eq!(world.finish_shell(&fungal, step).code, 0);
    let check = world.json(&fungal, &["check", "--all"]);
    assert_eq!(check["errors"], serde_json::json!([]), "{check}");
    // Other machines accept it.
    world.ok(&fungal, &["sync"]);
    world.on("second").ok(&world.root(), &["--realm", "aperture", "sync"]);
    let there = world.json(&world.root(), &["--realm", "aperture", "check", "--published", "--all"]);
    assert_eq!(there["errors"], serde_json::json!([]), "{there}");
}

/// A teammate gets the former name back with the code, before the realm has it. Only a sync brings that.
#[test]
fn name_that_was_taken_back_is_fetched_first() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    for names in [["fungal", "mycelium"], ["mycelium", "fungal"]] {
        world.on("home").ok(&fungal, &["realm", "admin", "rename", names[0], names[1]]);
        world.commit("fungal", "Take another name");
        push(&world);
        world.on("second").git(&mate, &["pull", "--quiet"]);
        if names[1] == "fungal" {
            let status = world.blue(&mate, &["status"]).exits(128);
            let step = world.next_step(&status);
            assert!(step.starts_with("git blue --realm aperture sync  # if"), "{status}");
            assert_eq!(world.finish_shell(&mate, &step).code, 0, "{step}");
        }
        world.ok(&mate, &["sync"]);
        world.ok(&mate, &["init"]);
    }
    let status = world.json(&mate, &["status"]);
    assert_eq!(status["read_only"], serde_json::Value::Null, "{status}");
}

/// Servers often listen for ssh and for HTTPS at ports of their own.
#[test]
fn ports_make_no_other_repository() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.git(&fungal, &["remote", "set-url", "origin", "https://git.example.com/acme/code.git"]);
    world.ok(&fungal, &["init"]);
    world.ok(&fungal, &["sync"]);
    world.git(&mate, &["remote", "set-url", "origin", "ssh://git@git.example.com:2222/acme/code.git"]);
    world.on("second").ok(&mate, &["sync"]);
    world.ok(&mate, &["init"]);
    world.ok(&mate, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    for (home, dir) in [("home", &fungal), ("second", &mate)] {
        let status = world.on(home).json(dir, &["status"]);
        assert_eq!(status["read_only"], serde_json::Value::Null, "{home}: {status}");
    }
}

#[test]
fn former_name_leads_to_the_current_one() {
    let world = World::pair();
    let access = world.path("access");
    world.ok(&access, &["realm", "admin", "rename", "access", "web"]);
    world.commit("access", "Rename it");
    let admin = |args: &[&str]| world.blue(&world.root(), &[&["--realm", "aperture", "realm", "admin"], args].concat());
    let binding = |repo| admin(&["binding", "--domain", "s3-access", "--repo", repo, "--role", "consumer"]);
    for run in [
        admin(&["domain", "--name", "s3-access", "--repos", "access"]),
        admin(&["contract", "--domain", "s3-access", "--name", "x", "--owner", "access"]),
        binding("access"),
        world.blue(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", "7", "--repos", "access,fungal"]),
        world.blue(&world.path("fungal"), &["notify", "forge", "--repo", "access"]),
    ] {
        assert!(
            run.code != 0 && run.stderr.contains("access was renamed to web in the realm\nhint: use the name web"),
            "{run}"
        );
    }
    let typo = binding("fungl").exits(128);
    assert!(typo.stderr.contains("fungl is not in the realm aperture (did you mean fungal?)"), "{typo}");
}

/// The realm has the new name, and the clone the old one: it stays joined, so that the same command finishes the rename.
#[test]
#[cfg(target_os = "linux")]
fn rename_in_a_clone_that_cannot_be_written_is_finished_later() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let rename = ["realm", "admin", "rename", "fungal", "mycelium"];
    let line = "mount --bind .git .git && mount -o remount,bind,ro .git && exec \"$0\" \"$@\"";
    let mut command = world.command("unshare", &fungal);
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", line, env!("CARGO_BIN_EXE_git-blue")])
        .args(rename);
    let refused = world.finish(command, "rename");
    if refused.stderr.contains("unshare:") || refused.stderr.contains("mount:") {
        return left_out(&format!("this machine gives no mount namespace: {}", refused.stderr));
    }
    assert_eq!(refused.code, 128, "{refused:?}");
    assert!(refused.stderr.contains("git blue realm admin rename fungal mycelium  # finish it here"), "{refused}");
    world.ok(&fungal, &rename);
    world.commit("fungal", "Take the name mycelium");
    assert_eq!(world.json(&fungal, &["status"])["read_only"], serde_json::Value::Null);
}

#[test]
fn name_that_is_taken_before_the_realm_is_locked_is_refused() {
    let world = World::solo();
    let lock = File::open(world.store().join("blue/locks/_realm")).unwrap();
    lock.lock().unwrap();
    let mut command = world.command("git", &world.path("fungal"));
    command.args(["blue", "realm", "admin", "rename", "fungal", "mycelium"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut stderr = String::new();
    errors.read_line(&mut stderr).unwrap();
    assert!(stderr.contains("waiting for ") && stderr.contains("blue/locks/_realm"), "{stderr}");
    world.plant_in("refs/blue/realm", "repos/mycelium.json", r#"{"name":"mycelium","url":null}"#);
    drop(lock);
    errors.read_to_string(&mut stderr).unwrap();
    assert!(stderr.contains("the realm aperture already has a repository mycelium"), "{stderr}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// Each file of the renames is valid, but together they lead nowhere.
#[test]
fn renames_in_a_circle_come_to_an_end() {
    let world = World::solo();
    for (from, to) in [("x", "y"), ("y", "z"), ("z", "y")] {
        let rename = format!(r#"{{"from":"{from}","to":"{to}"}}"#);
        world.plant_in("refs/blue/realm", &format!("renames/{from}.json"), &rename);
    }
    let create = ["realm", "worktree", "create", "--rfc", "7", "--repos", "x"];
    let run = world.blue(&world.path("fungal"), &create);
    assert!(run.code != 0 && run.stderr.contains("x was renamed to z"), "{run}");
}

/// Reclaiming the former name would take it from the repository that has it now.
#[test]
fn clone_whose_former_name_is_taken_follows_the_rename() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
    world.commit("fungal", "Take the name mycelium");
    world.git(&world.root(), &["init", "--quiet", "other"]);
    world.write("other/README.md", "# Another one\n");
    world.commit("other", "Start apart");
    world.ok(&world.path("other"), &["init", "--realm", "aperture", "--repo", "fungal"]);
    push(&world);
    world.on("second").ok(&world.root(), &["--realm", "aperture", "sync"]);
    let status = world.ok(&mate, &["status"]);
    assert_eq!(world.next_step(&status), "git pull  # this repository is mycelium in the realm now", "{status}");
    assert!(!status.stdout.contains("reclaim"), "{status}");
    world.git(&mate, &["pull", "--quiet"]);
    let status = world.ok(&mate, &["status"]);
    assert_eq!(world.next_step(&status), "git blue init  # this repository is mycelium in the realm now", "{status}");
    world.ok(&mate, &["init"]);
    let status = world.json(&mate, &["status"]);
    assert_eq!(status["read_only"], serde_json::Value::Null, "{status}");
}
