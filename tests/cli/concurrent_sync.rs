//! Machines that push into one hub concurrently, while others pack its refs, and machines that are killed.

use std::{
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use crate::world::{DOMAIN_REF, REALM, World};

const MACHINES: [&str; 3] = ["home", "second", "third"];

fn contract(repo: &str, version: u32) -> String {
    format!("name: of-{repo}\nversion: \"1.{version}.0\"\nowner: {repo}\nvalues: free\nvalue: {{ v: {version} }}\n")
}

/// Three machines, each with its own repository in one domain.
fn machines() -> World {
    let world = World::new();
    let hub = world.hub();
    for home in MACHINES {
        let repo = world.on(home).repo(&format!("repo-{home}"));
        world.ok(&repo, &["init", "--realm", REALM, "--url", &hub]);
        let name = format!("repo-{home}");
        world.ok(&repo, &["realm", "admin", "domain", "--name", "s3-access", "--repos", &name]);
        world.ok(&repo, &["sync"]);
    }
    world
}

fn start(world: &World, dir: &Path, script: &str) -> Child {
    let mut command = world.command("sh", dir);
    command.args(["-euc", script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn all_alike(world: &World) -> String {
    for home in MACHINES.iter().chain(&MACHINES) {
        let repo = world.path(&format!("repo-{home}"));
        world.on(home).ok(&repo, &["sync"]);
    }
    let list = |dir: &Path| {
        world
            .git(dir, &["for-each-ref", "--format=%(refname) %(objectname)", "refs/blue/realm", "refs/blue/domains"])
            .stdout
    };
    let hub = list(&world.path("hub.git"));
    for home in MACHINES {
        world.on(home);
        assert_eq!(list(&world.store()), hub, "{home}");
        assert_eq!(world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]).stdout, "");
    }
    assert_eq!(world.git(&world.path("hub.git"), &["fsck", "--strict", "--no-dangling"]).stdout, "");
    world.git(&world.store(), &["ls-tree", "-r", "--name-only", DOMAIN_REF, "versions/"]).stdout
}

#[test]
fn three_machines_push_to_a_packing_hub_without_loss() {
    const VERSIONS: u32 = 6;
    let world = machines();
    let mut children = Vec::new();
    for home in MACHINES {
        let repo = world.on(home).path(&format!("repo-{home}"));
        let path = ".blue/contracts/s3-access";
        let steps = (1..=VERSIONS).map(|version| {
            let text = contract(&format!("repo-{home}"), version);
            format!(
                "mkdir -p {path}; cat > {path}/of-repo-{home}.yaml <<'END'\n{text}END\n\
                 git add .; git commit --quiet -m 'Version {version}'; git blue sync 1>&2\n"
            )
        });
        children.push(start(&world, &repo, &steps.collect::<String>()));
    }
    let mut packing = start(&world, &world.path("hub.git"), "while :; do git pack-refs --all; done");
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    packing.kill().unwrap();
    packing.wait().unwrap();
    // A killed packer may have left its lock at the hub, which is not ours to remove.
    std::thread::sleep(Duration::from_millis(300));
    let _ = std::fs::remove_file(world.path("hub.git/packed-refs.lock"));
    let versions = all_alike(&world);
    for home in MACHINES {
        for version in 1..=VERSIONS {
            let path = format!("versions/of-repo-{home}/1.{version}.0.json");
            assert!(versions.lines().any(|line| line == path), "{path} is gone:\n{versions}");
        }
    }
}

#[test]
fn killed_sync_does_not_disturb_the_next() {
    let world = machines();
    let repo = world.on("home").path("repo-home");
    let other = world.path("repo-second");
    for round in 1..=10u32 {
        for (home, repo) in [("home", &repo), ("second", &other)] {
            world.on(home).write(
                &format!("repo-{home}/.blue/contracts/s3-access/of-repo-{home}.yaml"),
                &contract(&format!("repo-{home}"), round),
            );
            world.commit(&format!("repo-{home}"), &format!("Version {round}"));
            let mut child = world.command("git-blue", repo);
            let mut child =
                child.arg("sync").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // From before listing to after pushing.
            std::thread::sleep(Duration::from_millis(u64::from(round) * 23));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let home = world.on("home");
        home.ok(&repo, &["sync"]);
    }
    let versions = all_alike(&world);
    assert_eq!(versions.lines().count(), 20, "{versions}");
}
