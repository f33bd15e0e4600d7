//! Publishing that syncs, as jobs of CI do, while others publish too.

use std::path::Path;

use crate::{
    teamwork::team,
    two_machines::{PATHS, publish_as_mate},
    world::{CONTRACT_FILE, DOMAIN_REF, World, contract, importing},
};

/// Publishes version 1.1.0 with other content than `publish_as_mate`, as the commit of `fungal`. No hook publishes.
fn commit_another_version(world: &World) {
    let fungal = world.path("fungal");
    world.git(&fungal, &["config", "blue.publish", "off"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("jobs/*", "tasks/*"));
    world.on("home").commit("fungal", "The same version");
}

#[test]
fn publishing_with_sync_refuses_a_version_that_another_machine_published() {
    let (world, mate) = team();
    commit_another_version(&world);
    publish_as_mate(&world, &mate, "1.1.0");
    let run = world.on("home").blue(&world.path("fungal"), &["contract", "publish", "--sync"]).exits(1);
    assert!(run.stderr.contains("fetch first, then merge it"), "{run}");
    let check = world.blue(&world.path("fungal"), &["check", "--published"]);
    assert!(!check.all().contains("version-conflict"), "{check}");
}

fn hub_url(world: &World) -> String {
    world.path("hub.git").display().to_string()
}

/// Makes the hub run a command on the second machine during the next push.
fn during_the_push(world: &World, dir: &Path, command: &str) {
    let (done, root) = (world.path("done"), world.root());
    let script = format!(
        "#!/bin/sh\ntest -e {done} && exit 0\ntouch {done}\ncd {dir} && unset $(git rev-parse --local-env-vars) \
         GIT_QUARANTINE_PATH && GIT_BLUE_HOME={root}/second/blue {command} >{root}/second.log 2>&1\nexit 0\n",
        done = done.display(),
        dir = dir.display(),
        root = root.display(),
    );
    world.script("hub.git/hooks/pre-receive", &script);
}

/// Both machines had fetched the realm before one of them pushed.
#[test]
fn conflict_with_a_publication_during_the_push_is_an_error() {
    let (world, mate) = team();
    commit_another_version(&world);
    world.git(&mate, &["config", "blue.publish", "off"]);
    publish_as_mate(&world, &mate, "1.1.0");
    during_the_push(&world, &mate, "git blue contract publish --sync");
    let run = world.on("home").blue(&world.path("fungal"), &["contract", "publish", "--sync"]).exits(1);
    let second = std::fs::read_to_string(world.path("second.log")).unwrap_or_default();
    assert!(second.contains("1.0.0 -> 1.1.0"), "{second}{run}");
    assert!(run.stderr.contains("1.1.0 was published twice, with different content"), "{run}");
    assert!(world.next_steps(&run).iter().any(|step| step.contains("contract bump")), "{run}");
}

/// Of two CI jobs that publish different content under one version at once, one fails, and the realm has no conflict.
#[test]
fn ci_decides_again_if_another_job_publishes_during_the_push() {
    let (world, _) = team();
    let fungal = world.path("fungal");
    world.git(&fungal, &["config", "blue.publish", "ci"]);
    world.bump("1.1.0");
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    world.git(&world.root(), &["clone", "--quiet", "code.git", "job"]);
    commit_another_version(&world);
    let publish = ["contract", "publish", "--realm-url", &hub_url(&world)];
    during_the_push(&world, &world.path("job"), &format!("git blue {}", publish.join(" ")));
    let run = world.blue(&fungal, &publish).exits(1);
    let second = std::fs::read_to_string(world.path("second.log")).unwrap_or_default();
    assert!(second.contains("1.0.0 -> 1.1.0"), "{second}{run}");
    assert!(run.stderr.contains("already published with different content"), "{run}");
    world.ok(&fungal, &["sync"]);
    let check = world.blue(&fungal, &["check", "--published"]);
    assert!(!check.all().contains("version-conflict"), "{check}");
}

/// Another repository publishes to the same domain.
#[test]
fn ci_publishes_after_another_job_was_faster() {
    let (world, _) = team();
    let (fungal, access) = (world.path("fungal"), world.join("access"));
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.ok(&fungal, &["sync"]);
    for dir in [&fungal, &access] {
        world.git(dir, &["config", "blue.publish", "ci"]);
    }
    world.bump("1.1.0");
    world.write("access/.blue/bindings/s3-access.yaml", &importing(">=1.0.0, <2.0.0"));
    world.commit("access", "Import");
    let publish = ["contract", "publish", "--realm-url", &hub_url(&world)];
    during_the_push(&world, &access, &format!("git blue {}", publish.join(" ")));
    let run = world.ok(&fungal, &publish);
    assert!(run.stdout.contains("1.0.0 -> 1.1.0"), "{run}");
    let at_hub = |path: &str| world.git(&world.path("hub.git"), &["show", &format!("{DOMAIN_REF}:{path}")]).stdout;
    assert!(at_hub("bindings/access.json").contains("<2.0.0"), "{}", world.read("second.log"));
    assert!(at_hub("contracts/s3-permissions.json").contains("\"1.1.0\""), "{run}");
    let merges = world.git(&world.path("hub.git"), &["rev-list", "--merges", DOMAIN_REF]);
    assert_eq!(merges.stdout, "", "the publication was decided again, not merged");
}

/// A consumer may read the hub, but not write to it.
#[test]
fn sync_that_may_not_push_reports_what_it_fetched() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    publish_as_mate(&world, &mate, "1.1.0");
    world.on("home").ok(&fungal, &["contract", "yank", PATHS, "1.0.0", "--reason", "wrong"]);
    let git = crate::world::gits().pop().unwrap();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" push \"*) echo \"fatal: unable to access: 403\" >&2; exit 128;; esac\nexec {} \"$@\"\n",
        git.display()
    );
    world.script("bin/git", &script);
    let mut sync = world.command("git-blue", &fungal);
    sync.arg("sync");
    let run = world.finish(sync, "git-blue").exits(1);
    assert!(run.all().contains("cannot push"), "{run}");
    assert!(run.all().contains("403"), "{run}");
    assert!(!run.all().contains("unchanged"), "{run}");
    assert!(run.stdout.contains("1.1.0"), "the news: {run}");
}
