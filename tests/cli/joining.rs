//! Joining: an unknown realm is answered with the right command, and a refused `init` leaves nothing behind.

use std::{ffi::OsStr, path::PathBuf, process::Stdio};

use crate::world::{REALM, World, snapshot};

/// A shared realm with `fungal`, and a teammate's clone of it on another machine. Returns the clone.
fn teammate() -> (World, PathBuf, String) {
    let world = World::new();
    let hub = world.hub();
    let dir = world.repo("fungal");
    world.ok(&dir, &["init", "--realm", REALM, "--url", &hub]);
    world.commit("fungal", "Join the realm");
    world.ok(&dir, &["contract", "new", "paths/masks", "--domain-members", "fungal"]);
    world.commit("fungal", "Agree on the paths");
    world.ok(&dir, &["sync"]);
    world.on("second");
    world.git(&world.root(), &["clone", "--quiet", "fungal", "clone"]);
    let clone = world.path("clone");
    (world, clone, hub)
}

/// Returns the realms of a machine.
fn realms(world: &World, home: &str) -> Vec<String> {
    let folder = world.path(&format!("{home}/blue/realms"));
    let entries = folder.read_dir().into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn teammate_gets_the_one_right_command() {
    let (world, clone, hub) = teammate();
    let right = format!("git blue init --url {hub}");
    let mut shown = Vec::new();
    for args in [&["status"][..], &["check"], &["init"], &["contract", "list"], &["mcp", "test-tool", "realm_status"]] {
        let run = world.blue(&clone, args);
        assert_ne!(run.code, 0, "{run:?}");
        assert!(run.all().contains(&right), "{run:?}");
        assert!(!run.all().contains("--realm aperture"), "{run:?}");
        shown.push(run);
    }
    let listed = world.ok(&clone, &["realm", "list"]);
    assert!(world.next_step(&listed).starts_with(&right), "{listed}");
    // A second realm of the same name is created only on purpose.
    let rival = world.blue(&clone, &["init", "--realm", REALM]).exits(128);
    assert_eq!(world.next_step(&rival).split("  #").next(), Some(&*right));
    assert_eq!(realms(&world, "second"), [""; 0]);
    // In CI, nothing is kept.
    let ci = world.blue_with(&clone, &["check"], &[("CI", OsStr::new("true"))]);
    let step = world.next_step(&ci);
    assert!(step.starts_with(&format!("git blue check --realm-url {hub}")), "{step}");
    assert_eq!(world.finish_shell(&clone, &step).code, 0);
    let publish = ["contract", "publish", "--sync"];
    let step = world.next_step(&world.blue_with(&clone, &publish, &[("CI", OsStr::new("true"))]));
    assert!(step.starts_with(&format!("git blue contract publish --realm-url {hub}")), "{step}");
    snapshot("joining_unknown", &[&shown[0], &shown[2], &rival, &ci]);
    // The suggested command works.
    let joined = world.finish_shell(&clone, &world.next_step(&shown[0]));
    assert_eq!(joined.code, 0, "{joined:?}");
    assert_eq!(world.json(&clone, &["status"])["domains"][0]["name"], "paths");
    // A second realm can still be created explicitly.
    world.on("third");
    world.ok(&clone, &["init", "--realm", REALM, "--new"]);
}

#[test]
fn refused_init_leaves_nothing_and_typo_creates_nothing() {
    let world = World::pair();
    let other = world.blue(&world.path("fungal"), &["init", "--realm", "elsewhere"]).exits(1);
    let new = world.repo("new");
    let slip = world.blue(&new, &["init", "--realm", "apertur"]).exits(128);
    let asked = world.blue(&new, &["status", "--realm", "apertur"]).exits(128);
    let another = world.blue(&new, &["status", "--realm", "kitchen"]).exits(128);
    snapshot("joining_refused", &[&other, &slip, &asked, &another]);
    assert_eq!(realms(&world, "home"), ["aperture.git"]);
    // A realm that was fetched in vain is removed again.
    let (world, _, hub) = teammate();
    let stranger = world.repo("elsewhere/fungal");
    let taken = world.blue(&stranger, &["init", "--url", &hub]).exits(1);
    assert!(taken.stderr.contains("has the name fungal"), "{taken:?}");
    assert_eq!(realms(&world, "second"), [""; 0]);
    assert_eq!(world.json(&stranger, &["realm", "list"])["realms"], serde_json::json!([]));
    assert!(!stranger.join(".blue").exists());
}

/// Only one of two repositories can take a name, and the refused one may not remove the realm that the other one uses.
#[test]
fn refused_init_leaves_the_realm_of_a_concurrent_one() {
    for round in 0..4 {
        let world = World::new();
        let dirs = ["a/app", "b/app"].map(|path| world.repo(path));
        let init = |dir: &PathBuf| {
            let mut command = world.command("git-blue", dir);
            command.args(["init", "--realm", REALM, "--new"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let children = dirs.each_ref().map(|dir| init(dir).unwrap());
        let won = children.map(|mut child| child.wait().unwrap().success());
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}");
        assert_eq!(world.json(&dirs[usize::from(won[1])], &["status"])["realm"], REALM);
    }
}

/// The other process joins a repository that the realm has already, so it does not write to the realm's own ref.
#[test]
fn refused_init_keeps_a_cloned_realm_that_another_process_uses() {
    let (world, clone, hub) = teammate();
    let stranger = world.repo("elsewhere/fungal");
    // The refused one fetches, to check the name, after it has cloned the realm.
    let other = "git-blue init -q && git-blue realm admin domain --name lost --repos fungal";
    let git = world.finish_shell(&clone, "command -v git").stdout;
    let script = format!(
        "#!/bin/sh\ncase $* in *ls-remote*) [ ! -d {store} ] || ! mkdir {once} || (cd {clone} && {other}) >&2;; esac\n\
            exec {git} \"$@\"\n",
        store = world.path("second/blue/realms/aperture.git").display(),
        once = world.path("once").display(),
        clone = clone.display(),
        git = git.trim(),
    );
    world.script("bin/git", &script);
    let mut init = world.command("git-blue", &stranger);
    init.args(["init", "--url", &hub]);
    let refused = world.finish(init, "git-blue").exits(1);
    assert!(refused.stderr.contains("has the name fungal") && world.path("once").exists(), "{refused}");
    assert!(world.ok(&clone, &["status"]).stdout.contains("lost"));
}

#[test]
fn refused_init_pushes_nothing() {
    let (world, clone, hub) = teammate();
    world.ok(&clone, &["init", "--url", &hub, "--no-auto-sync"]);
    world.ok(&clone, &["realm", "admin", "domain", "--name", "secret", "--repos", "fungal"]);
    let stranger = world.repo("elsewhere/fungal");
    world.blue(&stranger, &["init", "--url", &hub]).exits(1);
    assert!(!world.git(&world.path("hub.git"), &["for-each-ref"]).stdout.contains("secret"));
}

/// Both create or clone the realm, and the slower one continues with the other's.
#[test]
fn concurrent_inits_share_one_realm() {
    for round in 0..4 {
        let (world, ..) = teammate();
        let hub = if round < 2 { world.path("hub.git") } else { world.bare("empty.git").into() };
        let hub = hub.to_str().unwrap();
        let args = match round % 2 {
            0 => ["init", "--realm", REALM, "--url", hub].to_vec(),
            _ if round == 1 => ["init", "--url", hub].to_vec(),
            _ => ["init", "--realm", REALM].to_vec(),
        };
        let dirs = ["a/one", "b/two"].map(|path| world.repo(path));
        let children = dirs.each_ref().map(|dir| {
            let mut command = world.command("git-blue", dir);
            command.args(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let status = world.json(&dirs[0], &["status"]);
        assert!(status["repos"].as_array().unwrap().len() > 1, "{status}");
    }
}

#[test]
fn later_url_is_written_to_the_committed_file() {
    let world = World::solo();
    let dir = world.path("fungal");
    let hub = world.hub();
    let text = world.read("fungal/.blue/config.yaml");
    world.write("fungal/.blue/config.yaml", &format!("# ours\n{text}"));
    world.ok(&dir, &["init", "--url", &hub]);
    let text = world.read("fungal/.blue/config.yaml");
    assert!(text.starts_with("# ours\n") && text.contains(&format!("url: \"{hub}\"")), "{text}");
    world.ok(&dir, &["status"]);
    // Repeating it changes nothing.
    world.ok(&dir, &["init", "--url", &hub]);
    assert_eq!(world.read("fungal/.blue/config.yaml"), text);
}

#[test]
fn other_form_of_the_recorded_url_is_no_update() {
    let world = World::solo();
    let dir = world.path("fungal");
    world.git(&dir, &["remote", "add", "origin", "git@git.example.com:acme/fungal.git"]);
    world.ok(&dir, &["init"]);
    let recorded = world.tip("refs/blue/realm");
    let path = world.bare("mirror.git");
    for url in ["https://git.example.com/acme/fungal", "ssh://git@GIT.example.com:22/acme/fungal.git/", &path] {
        world.git(&dir, &["remote", "set-url", "origin", url]);
        world.ok(&dir, &["init"]);
        assert_eq!(world.tip("refs/blue/realm"), recorded, "{url}");
    }
    world.git(&dir, &["remote", "set-url", "origin", "https://git.example.com/acme/mushrooms"]);
    world.ok(&dir, &["init"]);
    assert_ne!(world.tip("refs/blue/realm"), recorded);
}

#[test]
fn url_of_a_host_replaces_a_recorded_path() {
    let world = World::solo();
    let dir = world.path("fungal");
    world.git(&dir, &["remote", "add", "origin", &world.bare("code.git")]);
    let recorded = || world.git(&world.store(), &["cat-file", "blob", "refs/blue/realm:repos/fungal.json"]).stdout;
    world.ok(&dir, &["init"]);
    assert!(recorded().contains("code.git"), "{}", recorded());
    world.git(&dir, &["remote", "set-url", "origin", "https://git.example.com/acme/fungal"]);
    world.ok(&dir, &["init"]);
    assert!(recorded().contains("https://git.example.com/acme/fungal"), "{}", recorded());
}

/// The committed URL is that of a repository to which nobody has pushed the realm.
#[test]
fn init_at_a_url_without_the_realm_does_not_suggest_itself() {
    let world = World::new();
    let (dir, empty) = (world.repo("fungal"), world.bare("empty.git"));
    world.write("fungal/.blue/config.yaml", &format!("realm: {{ name: aperture, url: {empty} }}\nrepo: fungal\n"));
    let init = world.blue(&dir, &["init", "--url", &empty]).exits(128);
    assert!(init.stderr.contains(&format!("{empty} does not contain the realm aperture yet")), "{init}");
    let create = format!("git blue init --realm aperture --url {empty}");
    assert!(init.stderr.contains(&create) && !init.stderr.contains("git blue init --url"), "{init}");
    assert_eq!(world.finish_shell(&dir, &create).code, 0);
}

#[test]
fn leave_undoes_init() {
    let world = World::pair();
    let dir = world.path("access");
    world.blue(&dir, &["leave"]).exits(1);
    let left = world.ok(&dir, &["leave", "--force"]);
    snapshot("joining_leave", &[&left]);
    let again = world.blue(&dir, &["leave"]).exits(1);
    assert!(again.stderr.contains("the removal of .blue/config.yaml is not committed yet"), "{again}");
    let committed = world.finish_shell(&dir, &world.next_step(&again));
    assert_eq!(committed.code, 0, "{committed:?}");
    assert!(!dir.join(".blue/config.yaml").exists() && !dir.join(".git/hooks/post-commit").exists());
    let status = world.blue(&dir, &["status"]).exits(128);
    assert!(status.stderr.contains("git blue init --realm aperture  # join it"), "{status:?}");
    assert_eq!(world.line(&dir, &["status", "--porcelain"]), "");
}

/// The first clone's `leave` is like one that was killed before it undid `init` in the second clone, or before it
/// removed the mark.
#[test]
fn leave_finishes_an_interrupted_one() {
    for is_forgotten in [false, true] {
        let world = World::solo();
        world.git(&world.root(), &["clone", "--quiet", "fungal", "copy"]);
        let copy = world.path("copy");
        world.ok(&copy, &["init"]);
        world.ok(&world.path("fungal"), &["leave", "--force"]);
        if is_forgotten {
            std::fs::remove_dir_all(world.path("home/blue/joined")).unwrap();
        }
        world.ok(&copy, &["leave"]);
        assert!(!copy.join(".blue/config.yaml").exists() && !copy.join(".git/hooks/post-commit").exists());
        assert!(!copy.join(".git/blue-joined").exists());
    }
}

#[test]
fn joined_clone_cannot_take_a_second_name() {
    let world = World::solo();
    let dir = world.path("fungal");
    let config = world.read("fungal/.blue/config.yaml");
    world.write("fungal/.blue/config.yaml", &config.replace("repo: fungal", "repo: mycelium"));
    let second = world.blue(&dir, &["init"]).exits(1);
    assert!(second.stderr.contains("is already in the realm as fungal"), "{second:?}");
    assert!(second.stderr.contains("git blue realm admin rename fungal mycelium"), "{second:?}");
}

/// A record of its path would lead to another folder.
#[test]
fn repository_whose_path_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::solo();
    let dir = world.root().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir(&dir).unwrap();
    world.git(&dir, &["init", "-q"]);
    let refused = world.blue(&dir, &["init", "--realm", "aperture", "--repo", "odd"]).exits(128);
    assert!(refused.stderr.contains("the path is not UTF-8"), "{refused}");
    assert!(!dir.join(".blue").exists());
    assert!(!world.git(&world.store(), &["ls-tree", "-r", "--name-only", "refs/blue/realm"]).stdout.contains("odd"));
}

#[test]
fn unrecorded_url_in_config_is_a_warning() {
    let world = World::solo();
    let dir = world.path("fungal");
    world.hub();
    let right = format!("git blue init --url {}", world.path("hub.git").display());
    let config = world.read("fungal/.blue/config.yaml");
    let url = format!("realm:\n  url: {}\n", world.path("hub.git").display());
    world.write("fungal/.blue/config.yaml", &config.replace("realm:\n", &url));
    for args in [&["status"][..], &["doctor"], &["sync"], &["init"]] {
        let run = world.blue(&dir, args);
        assert!(run.all().contains(&right), "{run:?}");
    }
    assert_eq!(world.finish_shell(&dir, &right).code, 0);
    assert!(!world.ok(&dir, &["status"]).stdout.contains("init --url"));
}

/// A password that somebody committed, and a URL that names a program.
#[test]
fn url_in_config_that_init_refuses_is_neither_shown_nor_suggested() {
    let world = World::solo();
    let (dir, hub) = (world.path("fungal"), world.hub());
    world.ok(&dir, &["init", "--url", &hub]);
    let config = world.read("fungal/.blue/config.yaml");
    let refused = ["https://u:s3cr3t@127.0.0.1:9/x.git", "https://127.0.0.1:9/x.git?token=s3cr3t", "ext::sh"];
    for url in refused {
        world.write("fungal/.blue/config.yaml", &config.replace(&hub, url));
        for machine in ["home", "other"] {
            let run = world.on(machine).blue(&dir, &["status"]).exits(128);
            assert!(!run.all().contains("s3cr3t") && !run.all().contains("--url ext"), "{run}");
            assert_eq!(run.stderr.contains("--url https://127.0.0.1:9/x.git"), url.contains("s3cr3t"), "{run}");
        }
        let check = world.on("other").blue(&dir, &["check", "--worktree", "--realm-url", &hub]).exits(0);
        assert!(check.all().contains("[refused-url]") && !check.all().contains("s3cr3t"), "{check}");
    }
}

/// Who has two accounts at a forge often clones through an alias of ssh.
#[test]
fn clone_through_an_alias_is_told_how_to_join() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["remote", "add", "origin", "git@github.com:acme/fungal.git"]);
    world.ok(&fungal, &["init"]);
    world.git(&world.root(), &["clone", "--quiet", "fungal", "copy"]);
    let copy = world.path("copy");
    world.git(&copy, &["remote", "set-url", "origin", "git@github-work:acme/fungal.git"]);
    let run = world.blue(&copy, &["init"]).exits(1);
    let step = world.next_step(&run);
    assert!(step.starts_with("git remote set-url origin git@github.com:acme/fungal.git  # if it is the same"), "{run}");
    assert_eq!(world.finish_shell(&copy, &step).code, 0);
    world.ok(&copy, &["init"]);
}

#[test]
fn name_is_checked_at_the_remote_or_locally_if_offline() {
    let (world, clone, hub) = teammate();
    world.ok(&clone, &["init", "--url", &hub]);
    // Another repository joins meanwhile under a free name.
    let billing = world.on("home").repo("billing");
    world.ok(&billing, &["init", "--realm", REALM]);
    world.ok(&billing, &["sync"]);
    let stranger = world.on("second").repo("elsewhere/billing");
    let taken = world.blue(&stranger, &["init", "--realm", REALM]).exits(1);
    assert!(taken.stderr.contains("has the name billing"), "{taken:?}");
    std::fs::rename(world.path("hub.git"), world.path("away.git")).unwrap();
    let offline = world.ok(&world.repo("shop"), &["init", "--realm", REALM]);
    assert_eq!(offline.stderr, "");
}

#[test]
fn realm_behind_a_symlink_is_the_same() {
    let world = World::solo();
    let (fungal, hub) = (world.path("fungal"), world.hub());
    world.ok(&fungal, &["init", "--url", &hub]);
    let link = world.path("link.git").display().to_string();
    std::os::unix::fs::symlink(&hub, &link).unwrap();
    let config = world.read("fungal/.blue/config.yaml");
    assert!(config.contains(&hub), "{config}");
    world.write("fungal/.blue/config.yaml", &config.replace(&hub, &link));
    world.ok(&fungal, &["status"]);
    world.ok(&fungal, &["sync"]);
    world.ok(&fungal, &["init", "--url", &format!("file://{link}")]);
}

/// A script that shares a realm notices that it was not shared.
#[test]
fn init_fails_if_the_realm_is_not_pushed() {
    let world = World::solo();
    let (dir, hub) = (world.path("fungal"), world.hub());
    world.script("hub.git/hooks/pre-receive", "#!/bin/sh\necho closed >&2; exit 1\n");
    let quiet = world.blue(&dir, &["-q", "init", "--url", &hub]).exits(1);
    assert!(quiet.stdout.contains("\nwarning: the realm was not pushed: "), "{quiet}");
    let loud = world.blue(&dir, &["realm", "admin", "join", REALM, "--url", &hub]).exits(1);
    assert!(loud.stdout.contains("\n  git blue sync  # try again once this is resolved"), "{loud}");
    let json = world.blue(&dir, &["init", "--url", &hub, "--json"]).exits(1).json();
    assert!(json["push_problem"].is_string(), "{json}");
    std::fs::remove_file(world.path("hub.git/hooks/pre-receive")).unwrap();
    assert_eq!(world.json(&dir, &["init", "--url", &hub])["push_problem"], serde_json::Value::Null);
}

/// A mistyped URL is not recorded if it cannot be reached, and one that was recorded can be replaced.
#[test]
fn mistyped_url_does_not_stick() {
    let world = World::solo();
    let (fungal, hub, other) = (world.path("fungal"), world.hub(), world.bare("other.git"));
    let gone = world.path("gone.git").display().to_string();
    let (config, before) = (world.read("home/blue/config"), world.read("fungal/.blue/config.yaml"));
    let empty = world.repo("empty");
    for (repo, args) in [
        (&fungal, &["init", "--url", &gone][..]),
        (&fungal, &["realm", "admin", "join", REALM, "--url", &gone]),
        (&empty, &["init", "--realm", "fresh", "--url", &gone]),
    ] {
        let wrong = world.blue(repo, args).exits(128);
        assert!(wrong.stderr.contains("hint: nothing was recorded: check the URL"), "{wrong}");
        assert!(!wrong.stderr.contains("git blue sync"), "{wrong}");
        assert_eq!(world.read("home/blue/config"), config);
        assert_eq!(world.read("fungal/.blue/config.yaml"), before);
    }
    // This one can be reached, and is wrong nevertheless.
    world.ok(&fungal, &["init", "--url", &other]);
    std::fs::remove_dir_all(&other).unwrap();
    let refused = world.blue(&fungal, &["init", "--url", &hub]).exits(1);
    let step = world.next_step(&refused);
    assert!(step.contains("realm admin reseed --url"), "{refused}");
    assert_eq!(world.finish_shell(&fungal, &step).code, 0, "{step}");
    assert!(world.read("home/blue/config").contains(&format!("\n\turl = {hub}\n")));
    assert!(!world.read("fungal/.blue/config.yaml").contains("other.git"));
    world.ok(&fungal, &["sync"]);
}

#[test]
fn too_large_config_has_no_schema_to_move() {
    let world = World::solo();
    world.write("fungal/.blue/config.yaml", &"#\n".repeat(1 << 20));
    let refused = world.blue(&world.path("fungal"), &["status"]).exits(128);
    assert!(refused.stderr.contains("larger than 1 MiB") && !refused.stderr.contains("schema"), "{refused}");
}

/// A repository of another realm with the same name does not take the place of this realm's.
#[test]
fn one_name_in_two_realms_is_two_folders() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let theirs = world.repo("elsewhere/fungal");
    world.ok(&theirs, &["init", "--realm", "other-org"]);
    let path = |realm: &str| {
        let status = world.json(&world.root(), &["--realm", realm, "status"]);
        let repos = status["repos"].as_array().unwrap();
        let named = repos.iter().find(|repo| repo["name"] == "fungal").unwrap();
        PathBuf::from(named["path"].as_str().unwrap())
    };
    assert_eq!([path(REALM), path("other-org")], [fungal.clone(), theirs.clone()]);
    world.join("access");
    let created =
        world.json(&world.path("access"), &["realm", "worktree", "create", "--rfc", "x", "--repos", "fungal"]);
    assert_eq!(created["errors"], serde_json::json!([]), "{created}");
    world.ok(&theirs, &["leave"]);
    assert_eq!(path(REALM), fungal);
}

#[test]
fn repository_without_commits_is_named_as_the_one_that_lacks_them() {
    let world = World::solo();
    world.git(&world.root(), &["init", "--quiet", "new"]);
    let new = world.path("new");
    let refused = world.blue(&new, &["init", "--realm", REALM, "--repo", "fungal"]).exits(1);
    assert!(refused.stderr.contains("fungal; this one has no commits yet to compare with it"), "{refused}");
    assert!(refused.stderr.contains("hint: choose another name with --repo NAME"), "{refused}");
    world.ok(&new, &["init", "--realm", REALM, "--repo", "new"]);
}

/// Nobody can join the realm by its URL before it is there, so the step is to push it.
#[test]
fn joining_elsewhere_is_a_step_once_the_realm_is_at_its_url() {
    let world = World::new();
    let (dir, hub) = (world.repo("fungal"), world.hub());
    world.script("hub.git/hooks/pre-receive", "#!/bin/sh\nexit 1\n");
    let elsewhere = format!("git blue init --url {hub}  # in each other repository");
    for args in [&["init", "--realm", REALM, "--url", &hub][..], &["init"], &["status"], &["check"]] {
        let run = world.blue(&dir, args);
        let steps = world.next_steps(&run);
        assert!(!steps.contains(&elsewhere), "{run}");
        assert_eq!(steps.iter().filter(|step| step.starts_with("git blue sync  # ")).count(), 1, "{run}");
    }
    std::fs::remove_file(world.path("hub.git/hooks/pre-receive")).unwrap();
    world.ok(&dir, &["sync"]);
    for args in [&["init"][..], &["status"], &["check"]] {
        let run = world.blue(&dir, args);
        assert!(world.next_steps(&run).contains(&elsewhere), "{run}");
    }
}

#[test]
fn name_is_taken_from_the_configuration_of_git() {
    let world = World::pair();
    let dir = world.repo("folder");
    world.git(&dir, &["config", "blue.realm", REALM]);
    world.git(&dir, &["config", "blue.repo", "chosen"]);
    // It never joined, so it did not leave either.
    let status = world.ok(&dir, &["status"]);
    assert!(status.stdout.contains("chosen is not in the realm"), "{status}");
    assert_eq!(world.next_step(&status), "git blue init");
    let joined = world.ok(&dir, &["init"]);
    assert!(joined.stdout.contains("joined as chosen"), "{joined}");
    let other = world.repo("other");
    let joined =
        world.blue_with(&other, &["init", "--realm", REALM], &[("GIT_BLUE_REPO", OsStr::new("named"))]).exits(0);
    assert!(joined.stdout.contains("joined as named"), "{joined}");
}
