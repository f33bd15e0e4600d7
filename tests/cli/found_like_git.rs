//! Repositories are found, refused and identified by git's rules.

use std::path::Path;

use crate::world::{CONTRACT_FILE, World};

/// Runs git and `git blue` in a folder. Both must refuse it, or neither. Returns whether they do.
fn refuses(world: &World, dir: &Path, vars: &[(&str, &str)]) -> bool {
    let vars: Vec<_> = vars.iter().map(|(name, value)| (*name, (*value).as_ref())).collect();
    let mut git = world.command("git", dir);
    git.args(["rev-parse", "--git-dir"]).envs(vars.iter().copied());
    let git = world.finish(git, "git");
    let blue = world.blue_with(dir, &["contract", "list"], &vars);
    assert_eq!(git.code == 128, blue.code == 128, "{git:?} {blue:?}");
    blue.code == 128
}

#[test]
fn bare_repository_in_somebody_elses_files_runs_nothing() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&fungal, &["init", "--quiet", "--bare", "fixture"]);
    let (bare, run) = (world.path("fungal/fixture"), world.path("run"));
    world.git(&bare, &["config", "core.pager", &format!("touch {}; cat", run.display())]);
    world.git(&bare, &["config", "core.editor", &format!("touch {}; false", run.display())]);
    let list = |vars: &[(&str, &str)]| {
        let mut command = world.command("script", &bare);
        command.args(["--quiet", "--return", "--command", "git-blue realm list", "/dev/null"]).env("PAGER", "cat");
        command.envs(vars.iter().copied()).env_remove("GIT_EDITOR").env("TERM", "xterm");
        world.finish(command, "script")
    };
    let listed = list(&[]);
    assert!(listed.stdout.contains("aperture") && !run.exists(), "{listed:?}");
    let mut edit = world.command("git-blue", &bare);
    edit.args(["contract", "edit", "s3-access/s3-permissions"]).env_remove("GIT_EDITOR").env("EDITOR", "false");
    world.finish(edit, "git-blue");
    assert!(!run.exists());

    let explicit =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.bareRepository"), ("GIT_CONFIG_VALUE_0", "explicit")];
    let refused = list(&explicit);
    let said = format!("cannot use bare repository '{}' (safe.bareRepository is 'explicit')", bare.display());
    assert!(refused.stdout.contains(&said), "{refused:?}");
    assert!(refuses(&world, &bare, &explicit) && refuses(&world, &bare.join("refs"), &explicit));
    // The repository's own configuration is not asked.
    world.git(&bare, &["config", "safe.bareRepository", "all"]);
    assert!(refuses(&world, &bare, &explicit));
    // A working tree and its git dir are no such repository, nor is one that is named.
    for folder in ["fungal", "fungal/.git", "fungal/.git/refs"] {
        assert!(!refuses(&world, &world.path(folder), &explicit), "{folder}");
    }
    let named = [&explicit[..], &[("GIT_DIR", bare.to_str().unwrap()), ("GIT_BLUE_REALM", "aperture")]].concat();
    assert!(!refuses(&world, &bare, &named));
}

#[test]
fn file_that_names_no_git_dir_is_not_skipped() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&fungal, &["worktree", "add", "--quiet", ".wt/feat"]);
    let tree = world.path("fungal/.wt/feat");
    assert!(!refuses(&world, &tree, &[]));
    std::fs::remove_dir_all(world.path("fungal/.git/worktrees")).unwrap();
    let before = world.read(&format!("fungal/{CONTRACT_FILE}"));
    for folder in [tree.clone(), tree.join("models")] {
        std::fs::create_dir_all(&folder).unwrap();
        let run = world.blue(&folder, &["contract", "bump", "s3-access/s3-permissions"]).exits(128);
        let said = format!("not a git repository: '{}/.git/worktrees/feat'", fungal.display());
        assert!(run.stderr.contains(&said) && run.stderr.contains(".wt/feat/.git names"), "{run}");
        assert!(run.stderr.contains("worktree add"), "{run}");
        assert!(refuses(&world, &folder, &[]));
    }
    assert_eq!(world.read(&format!("fungal/{CONTRACT_FILE}")), before);
    // The main working tree was moved.
    world.write("fungal/.wt/feat/.git", "gitdir: /nowhere/.git/worktrees/feat\n");
    let run = world.blue(&tree, &["status"]).exits(128);
    assert!(run.stderr.contains("git worktree repair"), "{run}");
    // A submodule without its git dir.
    world.write("fungal/sub/.git", "gitdir: ../.git/modules/sub\n");
    assert!(refuses(&world, &world.path("fungal/sub"), &[]));
}

#[test]
fn search_for_a_repository_is_limited() {
    let world = World::pair();
    let (fungal, models) = (world.path("fungal"), world.path("fungal/models/deep"));
    std::fs::create_dir_all(&models).unwrap();
    std::os::unix::fs::symlink(&fungal, world.path("link")).unwrap();
    let text = |path: &Path| path.display().to_string();
    let (root, link) = (text(&world.root()), text(&world.path("link")));
    let ceilings = |value: &str| [("GIT_CEILING_DIRECTORIES", value.to_owned())];
    for (value, is_refused) in [
        (text(&fungal), true),
        (text(&world.path("fungal/models")), true),
        (text(&models), false),
        (root.clone(), false),
        (format!("{root}:{}", text(&fungal)), true),
        // Links are resolved, but not after an empty entry.
        (link.clone(), true),
        (format!(":{link}"), false),
        ("fungal".to_owned(), false),
    ] {
        let [(name, value)] = ceilings(&value);
        assert_eq!(refuses(&world, &models, &[(name, &value)]), is_refused, "{value}");
    }
}

#[test]
fn relative_git_dir_has_its_work_tree() {
    let world = World::solo();
    world.repo("plain");
    std::fs::rename(world.path("plain/.git"), world.path("elsewhere.git")).unwrap();
    let git_dir = world.path("elsewhere.git");
    world.git(&git_dir, &["config", "core.worktree", world.path("plain").to_str().unwrap()]);
    let vars = [("GIT_DIR", "../elsewhere.git".as_ref())];
    let joined = world.blue_with(&world.path("plain"), &["init", "--realm", "aperture"], &vars).exits(0);
    assert!(world.read("plain/.blue/config.yaml").contains("repo: plain"), "{joined}");
}

#[test]
fn rewritten_url_of_origin_identifies_a_clone() {
    let world = World::new();
    let hub = world.hub();
    let config = world.read("home/gitconfig");
    let alias = format!(
        "{config}[url \"https://h.example/\"]\n\tinsteadOf = work:\n[url \"{}/\"]\n\tinsteadOf = hubs:\n",
        world.root().display()
    );
    world.write("home/gitconfig", &alias);
    // The abbreviations of one user are not recorded.
    world.repo("prov");
    world.git(&world.path("prov"), &["remote", "add", "origin", "work:team/prov.git"]);
    world.ok(&world.path("prov"), &["init", "--realm", "aperture", "--url", "hubs:hub.git"]);
    let proposed = world.read("prov/.blue/config.yaml");
    assert!(proposed.contains(&hub) && !proposed.contains("hubs:"), "{proposed}");
    world.commit("prov", "Join the realm");
    world.ok(&world.path("prov"), &["sync"]);
    let entry = world.git(&world.store(), &["show", "refs/blue/realm:repos/prov.json"]).stdout;
    assert!(entry.contains("https://h.example/team/prov.git"), "{entry}");

    // A second clone is recognized by either form, and by the first of several URLs.
    world.on("second");
    for (name, urls) in [
        ("alias", &["work:team/prov.git"][..]),
        ("whole", &["https://h.example/team/prov.git"]),
        ("several", &["https://h.example/team/prov.git", "https://mirror.example/prov.git"]),
    ] {
        world.git(&world.root(), &["clone", "--quiet", "prov", name]);
        let clone = world.path(name);
        world.git(&clone, &["remote", "set-url", "origin", urls[0]]);
        for url in &urls[1..] {
            world.git(&clone, &["remote", "set-url", "--add", "origin", url]);
        }
        world.ok(&clone, &["init", "--url", "hubs:hub.git"]);
        let status = world.ok(&clone, &["status"]);
        assert!(!status.stdout.contains("read-only"), "{status}");
    }
}

#[test]
fn server_started_in_a_bare_repository_finds_it() {
    let world = World::pair();
    world.git(&world.root(), &["clone", "--quiet", "--bare", "fungal", "bare.git"]);
    for folder in ["bare.git", "bare.git/refs/heads"] {
        let answer = world.ok(&world.path(folder), &["mcp", "test-tool", "realm_status"]).json();
        assert_eq!(answer["current_repo"], "fungal", "{answer}");
    }
}

#[test]
fn alias_of_the_publishing_branch_is_followed() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["branch", "--quiet", "-m", "main", "trunk"]);
    world.git(&provider, &["symbolic-ref", "refs/heads/main", "refs/heads/trunk"]);
    assert_eq!(world.bump("1.1.0").all(), "git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0\n");
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.bump("1.2.0");
    assert_eq!(world.version(), "1.2.0");
    world.ok(&provider, &["doctor"]);
    // An alias of itself is damage, which `doctor` reports.
    world.git(&provider, &["switch", "--quiet", "--detach"]);
    world.write("fungal/.git/refs/heads/main", "ref: refs/heads/main\n");
    let answer = world.json(&provider, &["doctor"]);
    let branch = answer["checks"].as_array().unwrap().iter().find(|check| check["name"] == "branch").unwrap();
    assert!(branch["message"].as_str().unwrap().contains("it is a symbolic ref"), "{branch}");
    assert!(!branch["next_step"].to_string().contains("git blue doctor"), "{branch}");
}
