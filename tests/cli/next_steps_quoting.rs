//! Printed commands name paths, URLs and branches so that a shell of the current directory finds them.

use serde_json::Value;

use crate::{
    next_steps::{AT, command, paste},
    world::{CONTRACT_FILE, World},
};

#[test]
fn cursor_is_one_argument() {
    let world = World::pair();
    for name in ["x", "y"] {
        world.ok(&world.path("fungal"), &["contract", "new", &format!("s3-access/{name}")]);
    }
    world.commit("fungal", "more");
    let access = world.path("access");
    let list = world.ok(&access, &["notifications", "list", "-n", "1"]);
    let more = list.stdout.lines().find_map(|line| line.strip_prefix("more: ")).unwrap();
    let cursor = more.strip_suffix(", or --all").unwrap();
    paste(&world, "access", &format!("git blue notifications list {cursor}"));
}

#[test]
fn paths_are_quoted() {
    let world = World::new();
    let (shop, home) = (world.repo("shop"), world.path("a home"));
    let vars = [("GIT_BLUE_HOME", home.as_os_str())];
    assert_eq!(world.blue_with(&shop, &["init", "--realm", "trade"], &vars).code, 0);
    world.git(&shop, &["add", "--all"]);
    world.git(&shop, &["commit", "--quiet", "-m", "Join"]);
    let run = world.blue_with(&shop, &["realm", "worktree", "create", "--rfc", "x", "--repos", "shop"], &vars);
    let has = |start: &str| run.stdout.lines().any(|line| line.trim().starts_with(start) && line.contains("a home"));
    assert!(has("cd '/") && has("git blue -C '/"), "{run}");
}

#[test]
fn urls_and_branches_are_quoted() {
    let world = World::solo();
    let (fungal, other) = (world.path("fungal"), world.repo("other"));
    let hub = world.bare("a hub.git");
    let quoted = format!("'{hub}'");
    let new = world.blue(&other, &["init", "--url", &hub]).exits(129);
    assert!(new.stderr.contains(&format!("git blue init --realm … --url {quoted}\n")), "{new}");
    let join = world.on("second").blue(&other, &["realm", "admin", "join", "aperture", "--url", &hub]).exits(1);
    world.on("home");
    let create = command(&world.next_steps(&join), "git blue init");
    assert_eq!(create, format!("git blue init --realm aperture --url {quoted}"));
    paste(&world, "fungal", &create);
    let another = world.blue(&other, &["init", "--realm", "pantry", "--url", &hub]).exits(1);
    let right = command(&world.next_steps(&another), "git blue init");
    assert_eq!(right, format!("git blue init --realm aperture --url {quoted}"), "{another}");
    let moved = world.ok(&fungal, &["realm", "admin", "reseed", "--url", &world.bare("b hub.git")]);
    paste(&world, "fungal", &command(&world.next_steps(&moved), "git blue realm admin reseed"));
    // Branches may have names that a shell interprets.
    world.git(&fungal, &["remote", "add", "origin", &hub]);
    world.git(&fungal, &["switch", "--quiet", "-c", "a&b"]);
    world.git(&fungal, &["config", "blue.publishBranch", "a&b"]);
    world.git(&fungal, &["config", "blue.publish", "pushed"]);
    world.bump("1.1.0");
    let status = world.ok(&fungal, &["status", "--peek"]);
    paste(&world, "fungal", &command(&world.next_steps(&status), "git push origin 'a&b'"));
}

#[test]
fn files_are_added_from_the_folder_of_the_command() {
    let world = World::pair();
    let (fungal, folder) = (world.path("fungal"), "fungal/models");
    let dir = world.path(folder);
    let step = |args: &[&str]| {
        let run = world.ok(&dir, args);
        let steps = world.next_steps(&run).into_iter().find(|step| step.starts_with("git add"));
        paste(&world, folder, &steps.unwrap_or_else(|| panic!("{run}")));
        assert_eq!(world.line(&fungal, &["status", "--porcelain"]), "", "{run}");
    };
    // The owner of a contract is also in a file whose name a shell would split.
    let file = "fungal/.blue/contracts/s3-access/a b.yaml";
    world.write(file, "owner: fungal\n");
    world.git(&fungal, &["add", "--all"]);
    world.git(&fungal, &["commit", "--quiet", "--no-verify", "-m", "More"]);
    step(&["realm", "admin", "rename", "fungal", "mushroom"]);
    assert_eq!(world.read(file), "owner: mushroom\n");
    world.git(&fungal, &["rm", "--quiet", "-r", ".blue/contracts"]);
    world.git(&fungal, &["commit", "--quiet", "--no-verify", "-m", "Less"]);
    let hub = world.hub();
    world.ok(&dir, &["init", "--url", &hub]);
    world.commit("fungal", "Share it");
    step(&["realm", "admin", "reseed", "--url", &world.bare("new.git")]);
    step(&["leave", "--force"]);
    step(&["realm", "admin", "join", "aperture", "--repo", "mushroom"]);
    // `leave` names the file without removing it.
    let left = world.ok(&dir, &["realm", "admin", "leave", "--force"]);
    paste(&world, folder, &command(&world.next_steps(&left), "git rm"));
    assert!(!world.path("fungal/.blue/config.yaml").exists());
}

/// Paths in printed commands are relative to the folder in which the command was started.
#[test]
fn files_are_written_from_a_subdirectory() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.write("access/a dir/sub/x", "");
    world.write("fungal/sub/x", "");
    let in_owner = world.ok(&world.path("fungal/sub"), &["contract", "transfer", AT, "--to", "access"]);
    assert!(in_owner.stdout.contains(&format!("git rm ../{CONTRACT_FILE}  #")), "{in_owner}");
    assert!(in_owner.stdout.contains("# at the root of access, if the file is missing there;"), "{in_owner}");
    let status = world.ok(&world.path("access/a dir/sub"), &["status", "--peek"]);
    let step = status.stdout.lines().map(str::trim).find(|line| line.starts_with("mkdir")).unwrap();
    paste(&world, "access/a dir/sub", step);
    assert!(world.read(&format!("access/{CONTRACT_FILE}")).contains("owner: access"));
    world.ok(&fungal, &["contract", "transfer", AT, "--cancel"]);

    // The file of a contract that was deleted.
    let text = world.read(&format!("fungal/{CONTRACT_FILE}"));
    world.git(&fungal, &["rm", "-q", CONTRACT_FILE]);
    world.commit("fungal", "Remove it");
    let sub = world.path("fungal/sub");
    let status = world.ok(&sub, &["status", "--peek"]);
    let step = status.stdout.lines().map(str::trim).find(|line| line.starts_with("mkdir")).unwrap().to_owned();
    let check = world.ok(&sub, &["check"]);
    assert!(check.stdout.contains(step.split("  # ").next().unwrap()), "{check}");
    let bump = world.blue(&sub, &["contract", "bump", AT]).exits(1);
    assert!(bump.stderr.contains(step.split("  # ").next().unwrap()), "{bump}");
    paste(&world, "fungal/sub", &step);
    assert!(world.path(&format!("fungal/{CONTRACT_FILE}")).exists());
    // It exists now, but is not committed.
    let status = world.ok(&sub, &["status", "--peek"]);
    assert!(status.stdout.contains(&format!("{CONTRACT_FILE} is not committed")), "{status}");
    let add = command(&world.next_steps(&status), "git add");
    assert!(!status.stdout.contains("contract retire"), "{status}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    paste(&world, "fungal/sub", &add);
    assert_eq!(world.json(&sub, &["status", "--peek"])["removed_files"], Value::Array(Vec::new()));
}

#[test]
fn files_whose_names_start_with_a_dash_are_added() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.write("fungal/-dash.json", r#"{"type": "object"}"#);
    let new = world.ok(&fungal, &["contract", "new", "s3-access/x", "--schema=-dash.json"]);
    paste(&world, "fungal", &command(&world.next_steps(&new), "git add"));
    world.ok(&fungal, &["contract", "get", "s3-access/x"]);
}
