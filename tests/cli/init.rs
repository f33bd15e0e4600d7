//! `git blue init` in every kind of repository.

use crate::world::{CONTRACT_FILE, DOMAIN_REF, EXPORTING, World, contract, snapshot};

#[test]
fn init_creates_joins_and_installs_hooks() {
    let world = World::new();
    let repo = world.repo("fungal");
    let first = world.ok(&repo, &["init", "--realm", "aperture"]);
    assert_eq!(world.read("fungal/.blue/config.yaml"), "realm:\n  name: aperture\nrepo: fungal\n");
    let second = world.ok(&repo, &["init"]);
    let json = world.json(&repo, &["init"]);
    assert_eq!(
        (&json["created_realm"], &json["joined"], &json["wrote_config"]),
        (&false.into(), &false.into(), &false.into())
    );
    // The only realm of this machine can be omitted.
    let next = world.ok(&world.repo("access"), &["init"]);
    snapshot("init", &[&first, &second, &next]);
}

#[test]
fn repository_without_a_commit() {
    let world = World::new();
    world.git(&world.root(), &["init", "--quiet", "empty"]);
    let empty = world.path("empty");
    let init = world.ok(&empty, &["init", "--realm", "aperture"]);
    let status = world.ok(&empty, &["status"]);
    let check = world.blue(&empty, &["check"]).exits(1);
    let publish = world.blue(&empty, &["contract", "publish"]).exits(1);
    snapshot("init_empty", &[&init, &status, &check, &publish]);
    // Its first commit is published, and records its root commit.
    world.ok(&empty, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "empty"]);
    world.write("empty/.blue/bindings/s3-access.yaml", EXPORTING);
    world.write(&format!("empty/{CONTRACT_FILE}"), &contract("1.0.0").replace("fungal", "empty"));
    world.commit("empty", "Everything at once");
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn bare_repository() {
    let world = World::new();
    world.repo("fungal");
    world.git(&world.root(), &["clone", "--quiet", "--bare", "fungal", "fungal.git"]);
    let bare = world.path("fungal.git");
    let init = world.ok(&bare, &["init", "--realm", "aperture", "--repo", "fungal"]);
    assert!(!world.path("fungal.git/.blue").exists(), "there is no working tree to write it to");
    // Its own configuration names the realm, as the next step said.
    world.blue(&bare, &["status"]).exits(128);
    world.git(&bare, &["config", "blue.realm", "aperture"]);
    world.git(&bare, &["config", "blue.repo", "fungal"]);
    assert_eq!(world.json(&bare, &["status"])["current_repo"], "fungal");
    world.git(&bare, &["config", "--remove-section", "blue"]);
    // Once HEAD has the file, it is used.
    world.ok(&world.path("fungal"), &["init"]);
    world.commit("fungal", "Join the realm");
    world.git(&world.path("fungal"), &["push", "--quiet", "../fungal.git", "main"]);
    let status = world.json(&bare, &["status"]);
    assert_eq!(status["current_repo"], "fungal");
    let worktree = world.blue(&bare, &["check", "--worktree"]).exits(129);
    snapshot("init_bare", &[&init, &worktree]);
}

#[test]
fn subfolder_and_linked_worktree() {
    let world = World::new();
    let repo = world.repo("fungal");
    world.write("fungal/deep/er/x", "");
    world.ok(&world.path("fungal/deep/er"), &["init", "--realm", "aperture"]);
    assert!(world.path("fungal/.blue/config.yaml").exists() && !world.path("fungal/deep/er/.blue").exists());
    let other = world.repo("access");
    world.git(&other, &["worktree", "add", "--quiet", "../topic"]);
    let init = world.ok(&world.path("topic"), &["init"]);
    snapshot("init_linked", &[&init]);
    assert!(world.path("topic/.blue/config.yaml").exists() && !world.path("access/.blue").exists());
    // Its recorded path and name are those of the main worktree.
    let repos = world.json(&repo, &["status"])["repos"].clone();
    assert_eq!((&repos[0]["name"], &repos[0]["path"]), (&"access".into(), &other.to_str().unwrap().into()));
}

#[test]
fn outside_of_git() {
    let world = World::new();
    std::fs::create_dir(world.path("folder")).unwrap();
    let init = world.blue(&world.path("folder"), &["init", "--realm", "aperture"]).exits(128);
    let hooks = world.blue(&world.path("folder"), &["hooks", "install"]).exits(128);
    let nowhere = world.blue(&world.root(), &["-C", "nowhere", "status"]).exits(128);
    snapshot("init_outside", &[&init, &hooks, &nowhere]);
    assert!(!world.path("folder/.blue").exists());
    assert!(!world.path("home/blue").exists(), "a realm that nobody is in");
}

#[test]
fn name_comes_from_origin_or_folder() {
    let world = World::new();
    for (folder, url, name) in [
        ("a", Some("https://git.example.com/org/fungal.git"), "fungal"),
        ("b", Some("git@git.example.com:access.git"), "access"),
        ("c", None, "c"),
    ] {
        let repo = world.repo(folder);
        if let Some(url) = url {
            world.git(&repo, &["remote", "add", "origin", url]);
        }
        let answer = world.json(&repo, &["init", "--realm", "aperture"]);
        assert_eq!(answer["current_repo"], name);
    }
    let odd = world.repo("not a name");
    let run = world.blue(&odd, &["init", "--realm", "aperture"]).exits(129);
    world.ok(&odd, &["init", "--realm", "aperture", "--repo", "a-name"]);
    let secret = world.repo("d");
    world.git(&secret, &["remote", "add", "origin", "https://ada:hunter2@git.example.com/org/d.git"]);
    world.ok(&secret, &["init"]);
    let stored = world.git(&world.store(), &["cat-file", "blob", "refs/blue/realm:repos/d.json"]);
    assert!(stored.stdout.contains("https://git.example.com/org/d.git"), "no credentials: {stored}");
    snapshot("init_names", &[&run]);
}

#[test]
fn realm_is_required_if_ambiguous() {
    let world = World::new();
    let repo = world.repo("fungal");
    let none = world.blue(&repo, &["init"]).exits(129);
    world.ok(&repo, &["realm", "admin", "init", "--name", "aperture"]);
    world.ok(&repo, &["realm", "admin", "init", "--name", "other"]);
    let two = world.blue(&repo, &["init"]).exits(129);
    snapshot("init_which", &[&none, &two]);
    world.git(&repo, &["config", "blue.realm", "other"]);
    assert_eq!(world.json(&repo, &["init"])["realm"], "other");
}

#[test]
fn committer_of_gits_configuration_writes_outside_of_a_repository() {
    let world = World::pair();
    let config = world.read("home/gitconfig") + "[committer]\n\tname = Robot\n\temail = robot@example.com\n";
    world.write("home/gitconfig", &config);
    let describe = ["--realm", "aperture", "realm", "admin", "domain", "--name", "s3-access", "--description", "Masks"];
    world.ok(&world.root(), &describe);
    let by = world.line(&world.store(), &["log", "-1", "--format=%an %ae", DOMAIN_REF]);
    assert_eq!(by, "Robot robot@example.com");
}

#[test]
fn writes_nothing_without_identity() {
    let world = World::new();
    let repo = world.repo("fungal");
    let config =
        world.read("home/gitconfig").replace("\tname = Ada\n\temail = ada@example.com\n", "\tuseConfigOnly = true\n");
    world.write("home/gitconfig", &config);
    let run = world.blue(&repo, &["init", "--realm", "aperture"]).exits(128);
    snapshot("no_identity", &[&run]);
    // Only what is missing is set: the name that the user has is kept.
    world
        .write("home/gitconfig", &config.replace("\tuseConfigOnly = true\n", "\tname = Ada\n\tuseConfigOnly = true\n"));
    let run = world.blue(&repo, &["init", "--realm", "aperture"]).exits(128);
    assert!(run.stderr.contains("your email") && !run.stderr.contains("user.name"), "{run}");
    assert!(!world.path("fungal/.blue").exists());
}

#[test]
fn lost_store_is_replaced_by_the_next_step() {
    for (shared, replaced) in [(true, false), (true, true), (false, false)] {
        let world = World::solo();
        let fungal = world.path("fungal");
        if shared {
            world.hub();
            world.ok(&fungal, &["init", "--url", world.path("hub.git").to_str().unwrap()]);
            world.ok(&fungal, &["sync"]);
        }
        std::fs::remove_dir_all(world.store()).unwrap();
        if replaced {
            world.git(&world.root(), &["init", "--quiet", "--bare", world.store().to_str().unwrap()]);
        }
        let expected = if replaced { "is not the store of the realm" } else { "is missing from" };
        for command in [&["init"][..], &["status"], &["init", "--realm", "aperture"]] {
            let lost = world.blue(&fungal, command).exits(128);
            assert!(lost.stderr.contains(expected) && lost.stderr.contains("remove-section"), "{lost}");
        }
        let doctor = world.blue(&fungal, &["doctor"]).exits(1);
        let step = world.next_steps(&doctor).into_iter().find(|step| step.contains("remove-section")).unwrap();
        let again = world.finish_shell(&fungal, &step);
        assert_eq!(again.code, 0, "{again}");
        world.ok(&fungal, &["status"]);
        if shared {
            assert_eq!(world.version(), "1.0.0");
        }
    }
}

#[test]
fn realm_without_a_store_is_forgotten() {
    let world = World::solo();
    std::fs::remove_dir_all(world.store()).unwrap();
    world.ok(&world.root(), &["realm", "admin", "remove-realm", "aperture"]);
    assert!(!world.ok(&world.root(), &["realm", "list"]).stdout.contains("aperture"));
}

#[test]
fn doctor_says_that_the_realm_of_the_repository_is_unknown() {
    let world = World::solo();
    let fungal = world.on("second").path("fungal");
    let status = world.blue(&fungal, &["status"]).exits(128);
    let doctor = world.blue(&fungal, &["doctor"]).exits(1);
    let first = world.next_step(&status);
    assert!(doctor.stdout.contains("error    realm"), "{doctor}");
    assert!(world.next_steps(&doctor).contains(&first), "{first}: {doctor}");
}
