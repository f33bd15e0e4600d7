//! Finding the realm and the repository: the caller decides, a cloned file only proposes.

use std::os::unix::fs::symlink;

use crate::world::{DOMAIN_REF, World, importing, snapshot};

/// A pair, an empty second realm, and a repository outside of both.
fn two_realms() -> World {
    let world = World::pair();
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "other"]);
    world.repo("outside");
    world
}

/// Returns the realm and the repository in `status`.
fn here(world: &World, folder: &str, args: &[&str], vars: &[(&str, &str)]) -> (String, String) {
    let vars: Vec<_> = vars.iter().map(|(name, value)| (*name, std::ffi::OsStr::new(*value))).collect();
    let run = world.blue_with(&world.path(folder), &[&["status", "--peek", "--json"], args].concat(), &vars).exits(0);
    let answer = run.json();
    (answer["realm"].as_str().unwrap().to_owned(), answer["current_repo"].as_str().unwrap_or("-").to_owned())
}

fn pair(realm: &str, repo: &str) -> (String, String) {
    (realm.to_owned(), repo.to_owned())
}

#[test]
fn flag_then_variable_then_file_then_configuration() {
    let world = two_realms();
    assert_eq!(here(&world, "fungal", &[], &[]), pair("aperture", "fungal"));
    // In another realm than the proposed one, the repository is unknown.
    assert_eq!(here(&world, "fungal", &[], &[("GIT_BLUE_REALM", "other")]), pair("other", "-"));
    assert_eq!(
        here(&world, "fungal", &["--realm", "aperture"], &[("GIT_BLUE_REALM", "other")]),
        pair("aperture", "fungal")
    );
    assert_eq!(here(&world, "fungal", &[], &[("GIT_BLUE_REPO", "access")]), pair("aperture", "access"));

    world.git(&world.path("fungal"), &["config", "blue.realm", "other"]);
    assert_eq!(here(&world, "fungal", &[], &[]), pair("aperture", "fungal"));
    world.git(&world.path("outside"), &["config", "blue.realm", "aperture"]);
    assert_eq!(here(&world, "outside", &[], &[]), pair("aperture", "-"));
    let status = world.ok(&world.path("outside"), &["status"]);
    assert!(world.next_step(&status).starts_with("git blue init"), "{status}");
    let other = world.ok(&world.path("outside"), &["status", "--realm", "other"]);
    assert!(!other.stdout.contains("git blue init"), "{other}");
    world.git(&world.path("outside"), &["config", "blue.repo", "access"]);
    assert_eq!(here(&world, "outside", &[], &[]), pair("aperture", "access"));
}

#[test]
fn remote_selects_the_realm_through_git_configuration() {
    let world = two_realms();
    let outside = world.path("outside");
    world.write("home/org", "[blue]\n\trealm = aperture\n\trepo = access\n");
    let config = world.read("home/gitconfig");
    let include = "[includeIf \"hasconfig:remote.*.url:https://git.example.com/org/**\"]\n\tpath = org\n";
    world.write("home/gitconfig", &(config + include));
    world.blue(&outside, &["status"]).exits(128);
    world.git(&outside, &["remote", "add", "origin", "https://git.example.com/org/access.git"]);
    assert_eq!(here(&world, "outside", &[], &[]), pair("aperture", "access"));
}

#[test]
fn subfolder_and_linked_worktree_are_included() {
    let world = two_realms();
    assert_eq!(here(&world, "fungal/models", &[], &[]), pair("aperture", "fungal"));
    world.git(&world.path("fungal"), &["worktree", "add", "--quiet", "../linked"]);
    assert_eq!(here(&world, "linked/models", &[], &[]), pair("aperture", "fungal"));
    // The branch has no file yet, as in a working tree of an older commit.
    world.git(&world.path("fungal"), &["worktree", "add", "--quiet", "--detach", "../older", "main~2"]);
    world.blue(&world.path("older"), &["status"]).exits(128);
    assert_eq!(here(&world, "home", &["-C", "../fungal"], &[]), pair("aperture", "fungal"));
}

#[test]
fn home_folder_is_not_a_project() {
    let world = two_realms();
    world.write("home/.blue/config.yaml", "realm: { name: aperture }\nrepo: fungal\n");
    let run = world.blue(&world.path("home"), &["status"]).exits(128);
    snapshot("home_is_no_project", &[&run]);
}

#[test]
fn clone_that_names_an_unknown_realm_is_refused() {
    let world = two_realms();
    let clone = world.path("outside");
    world.write(
        "outside/.blue/config.yaml",
        "realm: { name: elsewhere, url: https://git.example.com/elsewhere.git }\nrepo: outside\n",
    );
    world.commit("outside", "As cloned");
    let status = world.blue(&clone, &["status"]).exits(128);
    let check = world.blue(&clone, &["check"]).exits(128);
    // Also with `init`: the realm is recorded with another URL.
    let init = world.blue(&clone, &["init"]).exits(128);
    for run in [&status, &init] {
        assert!(run.stderr.contains("elsewhere") && run.stderr.contains("https://git.example.com"), "{run}");
    }
    snapshot("unknown_realm", &[&status, &check, &init]);
    assert!(!world.path("home/blue/realms/elsewhere.git").exists());
}

#[test]
fn clone_that_names_another_url_is_refused_naming_both() {
    let world = World::new();
    let repo = world.repo("fungal");
    // Recorded without network access.
    world.ok(&repo, &["realm", "admin", "init", "--name", "aperture", "--url", "https://git.example.com/ours.git"]);
    world.ok(&repo, &["init", "--realm", "aperture"]);
    let config = world.read("fungal/.blue/config.yaml");
    assert!(config.contains("https://git.example.com/ours.git"), "{config}");
    world.write("fungal/.blue/config.yaml", &config.replace("ours", "theirs"));
    for command in [&["status"][..], &["check"], &["contract", "list"]] {
        let run = world.blue(&repo, command).exits(128);
        assert!(run.stderr.contains("ours.git") && run.stderr.contains("theirs.git"), "{run}");
    }
    let init = world.blue(&repo, &["init"]).exits(128);
    assert!(init.stderr.contains("ours.git") && init.stderr.contains("theirs.git"), "{init}");
    let join = world.blue(&repo, &["realm", "admin", "join", "aperture"]).exits(128);
    snapshot("other_url", &[&world.blue(&repo, &["status"]), &init, &join]);
}

#[test]
fn symlinks_below_blue_are_not_followed() {
    let world = two_realms();
    let repo = world.path("outside");
    symlink("../fungal/.blue", repo.join(".blue")).unwrap();
    let folder = world.blue(&repo, &["status"]).exits(128);
    std::fs::remove_file(repo.join(".blue")).unwrap();
    std::fs::create_dir(repo.join(".blue")).unwrap();
    symlink("../../fungal/.blue/config.yaml", repo.join(".blue/config.yaml")).unwrap();
    let file = world.blue(&repo, &["status"]).exits(128);
    let init = world.blue(&repo, &["init", "--realm", "aperture"]).exits(128);
    snapshot("links", &[&folder, &file, &init]);
}

#[test]
fn unreadable_config_is_reported_with_its_line() {
    let world = two_realms();
    world.write("outside/.blue/config.yaml", "realm: { name: aperture }\nrepo: [\n");
    let run = world.blue(&world.path("outside"), &["status"]).exits(128);
    world.write("outside/.blue/config.yaml", "realm: { name: ../../etc }\nrepo: x\n");
    let name = world.blue(&world.path("outside"), &["status"]).exits(128);
    snapshot("unreadable_config", &[&run, &name]);
}

#[test]
fn taken_name_is_refused_unless_it_is_the_same_repository() {
    let world = World::pair();
    let stranger = world.repo("stranger");
    let run = world.blue(&stranger, &["init", "--realm", "aperture", "--repo", "fungal"]).exits(1);
    snapshot("name_taken", &[&run]);
    assert!(!world.path("stranger/.blue").exists());
    assert!(!world.path("stranger/.git/hooks/post-commit").exists());

    // A clone has the same root commit, even in another folder and without origin.
    world.git(&world.root(), &["clone", "--quiet", "fungal", "copy"]);
    world.git(&world.path("copy"), &["remote", "remove", "origin"]);
    let before = world.tip("refs/blue/realm");
    let run = world.ok(&world.path("copy"), &["init"]);
    assert!(run.stdout.contains("fungal"), "{run}");
    assert_eq!(world.tip("refs/blue/realm"), before);
}

#[test]
fn joining_twice_changes_nothing() {
    let world = World::new();
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "aperture"]);
    let repo = world.repo("fungal");
    let first = world.ok(&repo, &["realm", "admin", "join", "aperture"]);
    let config = world.read("fungal/.blue/config.yaml");
    let before = world.tip("refs/blue/realm");
    let again = world.ok(&repo, &["realm", "admin", "join", "aperture"]);
    assert_eq!(world.tip("refs/blue/realm"), before);
    assert_eq!(world.read("fungal/.blue/config.yaml"), config);
    snapshot("join_twice", &[&first, &again]);
    // A repository is in one realm.
    world.ok(&repo, &["realm", "admin", "init", "--name", "other"]);
    let other = world.blue(&repo, &["realm", "admin", "join", "other"]).exits(1);
    let named = world.blue(&repo, &["realm", "admin", "join", "aperture", "--repo", "fungi"]).exits(1);
    let unknown = world.blue(&repo, &["realm", "admin", "join", "nowhere"]).exits(128);
    snapshot("join_refused", &[&other, &named, &unknown]);
}

#[test]
fn leaving_needs_force_if_others_rely_on_it() {
    let world = World::pair();
    let consumer = world.path("access");
    let refused = world.blue(&consumer, &["realm", "admin", "leave"]).exits(1);
    let left = world.ok(&consumer, &["realm", "admin", "leave", "--force"]);
    let again = world.blue(&consumer, &["realm", "admin", "leave"]).exits(1);
    snapshot("leave", &[&refused, &left, &again]);
    assert_eq!(world.stored("domain.json")["members"], serde_json::json!(["fungal"]));
    let told = world.json(&world.path("fungal"), &["status"])["notifications"].clone();
    assert_eq!(told[0]["change_type"], "BindingRemoved");
    // Its commits succeed, and change nothing in the realm.
    let before = world.tip(DOMAIN_REF);
    world.write("access/.blue/bindings/s3-access.yaml", &importing("^2.0.0"));
    assert_eq!(world.commit("access", "Go on").code, 0);
    assert_eq!(world.tip(DOMAIN_REF), before);

    let loner = world.join("loner");
    world.ok(&loner, &["realm", "admin", "leave"]);
    let repos = world.json(&world.path("fungal"), &["status", "--peek"])["repos"].clone();
    assert_eq!(repos.as_array().unwrap().len(), 1);
}

#[test]
fn lists_local_realms() {
    let world = two_realms();
    let run = world.ok(&world.path("fungal"), &["realm", "list"]);
    std::fs::remove_dir_all(world.path("home/blue/realms/other.git")).unwrap();
    let gone = world.ok(&world.root(), &["realm", "list"]);
    snapshot("realm_list", &[&run, &gone]);
    let taken = world.blue(&world.root(), &["realm", "admin", "init", "--name", "aperture"]).exits(1);
    let collides = world.blue(&world.root(), &["realm", "admin", "init", "--name", "Aperture"]).exits(1);
    let elsewhere = world.blue(&world.root(), &["realm", "admin", "init", "--name", "x", "--path", "fungal"]).exits(1);
    snapshot("realm_init_refused", &[&taken, &collides, &elsewhere]);
}

#[test]
fn home_must_be_an_absolute_path() {
    let world = World::solo();
    let fungal = world.path("fungal");
    for command in ["status", "init"] {
        let run = world.blue_with(&fungal, &[command], &[("GIT_BLUE_HOME", "here".as_ref())]).exits(128);
        assert!(run.stderr.contains("GIT_BLUE_HOME is \"here\", which is not an absolute path"), "{run}");
    }
    assert!(!fungal.join("here").exists());
}

#[test]
fn store_is_in_its_realm_but_takes_no_part_in_it() {
    let world = World::pair();
    let store = world.store().display().to_string();
    let folder = store.strip_prefix(&format!("{}/", world.root().display())).unwrap();
    assert_eq!(here(&world, folder, &[], &[]), pair("aperture", "-"));
    for args in [&["init"][..], &["init", "--realm", "aperture"], &["realm", "admin", "join", "aperture"]] {
        let refused = world.blue(&world.store(), args).exits(128);
        assert!(refused.stderr.contains("aperture.git is the store of the realm aperture"), "{refused}");
    }
    let repos = world.json(&world.path("fungal"), &["status", "--peek"])["repos"].clone();
    assert_eq!(repos.as_array().unwrap().len(), 2);
}

#[test]
fn misspelt_variable_is_not_answered_with_nothing_to_do() {
    let world = World::pair();
    for command in [&["status"][..], &["review"], &["notifications", "list"]] {
        let run = world.blue_with(&world.path("access"), command, &[("GIT_BLUE_REPO", "acces".as_ref())]).exits(128);
        assert!(run.all().contains("acces is not in the realm aperture (did you mean access?)"), "{run}");
        assert!(run.stderr.contains("hint: unset GIT_BLUE_REPO\n"), "{run}");
    }
}
