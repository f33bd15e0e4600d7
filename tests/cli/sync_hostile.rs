//! Content at a remote that git blue never writes is reported and not merged, and the rest of the realm still syncs.

use crate::{
    hub::Hub,
    world::{DOMAIN_REF, REALM, Run, World, contract},
};

/// A realm of one machine, shared at a hub, with a second, valid domain.
fn hub() -> Hub {
    let world = World::solo();
    world.ok(&world.path("fungal"), &["realm", "admin", "domain", "--name", "sound", "--repos", "fungal"]);
    Hub::share(world)
}

impl Hub {
    /// Returns the domain's tree with another entry, in the format of `git ls-tree`.
    fn with(&self, entry: &str) -> String {
        let held = self.world.git(&self.path, &["ls-tree", "-z", DOMAIN_REF]).stdout;
        let name = entry.split('\t').nth(1).unwrap();
        let others: String = held
            .split_terminator('\0')
            .filter(|line| !line.ends_with(&format!("\t{name}")))
            .map(|line| format!("{line}\0"))
            .collect();
        self.tree(&format!("{others}{entry}\0"))
    }

    /// Syncs, and asserts that something is refused with this message and the rest is pushed.
    #[track_caller]
    fn refuses(&self, words: &str) -> Run {
        let (world, fungal) = (&self.world, self.world.path("fungal"));
        let before = world.tip(DOMAIN_REF);
        let more = ["realm", "admin", "domain", "--name", "sound", "--repos", "fungal", "--description", words];
        world.ok(&fungal, &more);
        let run = world.blue(&fungal, &["sync"]).exits(1);
        assert!(run.all().contains(words), "{words}: {run:?}");
        assert!(!run.all().contains('\u{1b}') && !run.all().contains('\u{202e}'), "{run:?}");
        assert_eq!(world.tip(DOMAIN_REF), before);
        let sound = "refs/blue/domains/sound";
        assert_eq!(world.line(&self.path, &["rev-parse", sound]), world.tip(sound), "the rest goes there: {run:?}");
        world.ok(&fungal, &["status"]);
        world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]);
        run
    }

    /// Restores the hub, and asserts that syncing works.
    #[track_caller]
    fn recovers(&self) {
        let tip = self.world.tip(DOMAIN_REF);
        self.world.git(&self.path, &["update-ref", DOMAIN_REF, &tip]);
        self.world.ok(&self.world.path("fungal"), &["sync"]);
    }
}

#[test]
fn irregular_entries_are_reported() {
    let hub = hub();
    let blob = hub.object("blob", b"/etc/passwd");
    let sound = hub.world.line(&hub.path, &["rev-parse", &format!("{DOMAIN_REF}:domain.json")]);
    let commit = hub.world.line(&hub.path, &["rev-parse", DOMAIN_REF]);
    let tree = |line: &str| hub.tree(&format!("{line}\0"));
    for (entry, words) in [
        (
            format!("040000 tree {}\tcontracts", tree(&format!("120000 blob {blob}\ts3-permissions.json"))),
            "symbolic link",
        ),
        (format!("160000 commit {commit}\tcontracts"), "submodule"),
        (format!("100755 blob {sound}\tdomain.json"), "executable"),
        (format!("100644 blob {blob}\tdomain.json"), "domain.json"),
        (format!("100644 blob {blob}\t\u{1b}[31mred\u{202e}"), "such a file does not belong in a realm"),
        (
            format!("040000 tree {}\tbindings", tree(&format!("100644 blob {blob}\tfungal.json"))),
            "bindings/fungal.json",
        ),
        (
            format!("040000 tree {}\tsources", tree(&format!("100644 blob {blob}\tCON .json"))),
            "such a file does not belong in a realm",
        ),
        (format!("040000 tree {}\thooks", tree(&format!("100755 blob {blob}\tpost-commit"))), "post-commit"),
    ] {
        hub.commit(DOMAIN_REF, &hub.with(&entry));
        hub.refuses(words);
        hub.recovers();
    }
}

#[test]
fn domains_that_differ_only_in_case_are_reported() {
    let hub = hub();
    let info = hub.object("blob", b"{\"name\":\"S3-access\"}");
    let tree = hub.tree(&format!("100644 blob {info}\tdomain.json\0"));
    let commit = hub.world.line(&hub.path, &["commit-tree", "-m", "hostile", &tree]);
    hub.world.git(&hub.path, &["update-ref", "refs/blue/domains/S3-access", &commit]);
    let run = hub.world.blue(&hub.world.path("fungal"), &["sync"]).exits(1);
    assert!(run.all().contains("S3-access differs only in case from"), "{run:?}");
    // A domain of this machine is not pushed beside one of the remote.
    let info = hub.object("blob", b"{\"name\":\"Extra\"}");
    let tree = hub.tree(&format!("100644 blob {info}\tdomain.json\0"));
    let commit = hub.world.line(&hub.path, &["commit-tree", "-m", "extra", &tree]);
    hub.world.git(&hub.path, &["update-ref", "refs/blue/domains/Extra", &commit]);
    hub.world.ok(&hub.world.path("fungal"), &["realm", "admin", "domain", "--name", "extra", "--repos", "fungal"]);
    hub.world.blue(&hub.world.path("fungal"), &["sync"]).exits(1);
    assert_eq!(hub.world.try_git(&hub.path, &["rev-parse", "--verify", "refs/blue/domains/extra"]).code, 128);
}

#[test]
fn objects_that_git_refuses_are_reported() {
    let hub = hub();
    for name in ["..", ".git", "a/b"] {
        hub.commit(DOMAIN_REF, &hub.raw_tree("100644", name.as_bytes()));
        hub.refuses("fsck error");
        hub.recovers();
    }
    let tree = hub.world.line(&hub.path, &["rev-parse", &format!("{DOMAIN_REF}^{{tree}}")]);
    let commit = hub.object("commit", format!("tree {tree}\nauthor no one\n\nx\n").as_bytes());
    std::fs::write(hub.path.join(DOMAIN_REF), format!("{commit}\n")).unwrap();
    hub.refuses("fsck error");
}

#[test]
fn oversized_content_is_reported() {
    let hub = hub();
    let blob = hub.object("blob", &vec![b' '; 17 << 20]);
    let tree = hub.tree(&format!("100644 blob {blob}\ts3-permissions.json\0"));
    hub.commit(DOMAIN_REF, &hub.with(&format!("040000 tree {tree}\tcontracts")));
    hub.refuses("over the limit of 16 MiB");
}

#[test]
fn deep_folders_and_unknown_refs_are_reported() {
    let hub = hub();
    let mut tree = hub.tree("");
    for _ in 0..200 {
        tree = hub.tree(&format!("040000 tree {tree}\tdeep\0"));
    }
    hub.commit(DOMAIN_REF, &hub.with(&format!("040000 tree {tree}\tcontracts")));
    hub.refuses("too many levels");
    hub.recovers();
    let tip = hub.world.line(&hub.path, &["rev-parse", DOMAIN_REF]);
    for name in ["a/b", "-x", "ünï", "_x"] {
        hub.world.git(&hub.path, &["update-ref", &format!("refs/blue/domains/{name}"), &tip]);
    }
    let blob = hub.object("blob", b"no commit");
    hub.world.git(&hub.path, &["update-ref", "refs/blue/domains/blob", &blob]);
    let run = hub.world.blue(&hub.world.path("fungal"), &["sync"]).exits(1);
    for words in ["-x", "_x", "ignored names that are not valid", "domains/blob"] {
        assert!(run.all().contains(words), "{words}: {run:?}");
    }
    assert_eq!(hub.world.git(&hub.world.store(), &["for-each-ref", "refs/blue/domains"]).stdout.lines().count(), 2);
    let listed = hub.world.finish_shell(&hub.world.path("fungal"), &hub.world.next_step(&run));
    assert!(listed.stdout.contains("refs/blue/domains/-x"), "{listed}");
}

#[test]
fn full_disk_during_fetch_loses_nothing() {
    let hub = hub();
    let world = &hub.world;
    let path = hub.path.display().to_string();
    world.on("second").repo("access");
    let access = world.path("access");
    world.ok(&access, &["init", "--url", &path]);
    world.ok(&access, &["sync"]);
    let noise: String = (0..40_000u32).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761))).collect();
    world.on("home").write(
        "fungal/.blue/contracts/s3-access/s3-permissions.yaml",
        &format!("{}description: \"{}\"\n", contract("1.1.0").replace("description", "# "), &noise[..200_000]),
    );
    world.commit("fungal", "Large");
    world.ok(&world.path("fungal"), &["sync"]);
    world.on("second");
    let before = world.git(&world.store(), &["for-each-ref"]).stdout;
    // A file size limit of 20 kB acts like a full disk.
    let mut command = world.command("sh", &access);
    command.args(["-c", "ulimit -f 40; trap '' XFSZ; exec git blue sync"]);
    let full = world.finish(command, "sh").exits(128);
    assert!(full.stderr.contains("nothing is lost"), "{full:?}");
    assert_eq!(world.git(&world.store(), &["for-each-ref"]).stdout, before);
    world.ok(&access, &["status"]);
    world.ok(&access, &["sync"]);
    assert_eq!(world.version(), "1.1.0");
    world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn urls_that_run_programs_are_refused_everywhere() {
    let world = World::solo();
    let fungal = world.path("fungal");
    for url in ["ext::sh -c touch% pwned", "--upload-pack=touch pwned", "ssh://-oProxyCommand=touch/x", "fd::3"] {
        let init = world.blue(&fungal, &["init", &format!("--url={url}")]).exits(129);
        assert!(init.stderr.contains("is not an accepted URL"), "{init}");
        world.blue(&fungal, &["realm", "admin", "join", REALM, &format!("--url={url}")]).exits(129);
        world.git(&world.store(), &["config", "remote.origin.url", url]);
        world.blue(&fungal, &["sync"]).exits(129);
        world.git(&world.store(), &["config", "--unset", "remote.origin.url"]);
    }
    for folder in [&fungal, &world.store(), &world.root()] {
        assert!(!folder.join("pwned").exists(), "{}", folder.display());
    }
}

#[test]
fn two_owners_of_a_contract_are_a_recorded_conflict() {
    let hub = hub();
    let world = &hub.world;
    world.on("second").repo("access");
    let access = world.path("access");
    world.ok(&access, &["init", "--url", hub.path.to_str().unwrap()]);
    world.ok(&access, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    for (home, repo) in [("home", "fungal"), ("second", "access")] {
        let args = ["realm", "admin", "contract", "--domain", "s3-access", "--name", "queues", "--owner", repo];
        world.on(home).ok(&world.path(repo), &args);
        world.ok(&world.path(repo), &["sync"]);
    }
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    for (home, repo) in [("home", "fungal"), ("second", "access")] {
        let status = world.on(home).json(&world.path(repo), &["status"]);
        assert_eq!(status["conflicts"][0]["code"], "version-conflict", "{status}");
        assert_eq!(status["conflicts"][0]["contract"], "queues");
    }
    // Only one of them can resolve it.
    let is_elsewhere = |(home, repo): (&'static str, &str)| {
        let check = world.on(home).blue(&world.path(repo), &["check", "--all"]).exits(1);
        check.stdout.contains("to resolve it in ")
    };
    assert_eq!([("home", "fungal"), ("second", "access")].into_iter().filter(|one| is_elsewhere(*one)).count(), 1);
}

/// Damage of this machine's own store is not blamed on the remote.
#[test]
fn damaged_store_is_not_pushed() {
    let hub = hub();
    let (world, store) = (&hub.world, hub.world.store());
    std::fs::write(world.path("object"), "{").unwrap();
    let blob = world.line(&store, &["hash-object", "-w", world.path("object").to_str().unwrap()]);
    let held = world.git(&store, &["ls-tree", DOMAIN_REF]).stdout;
    let folder = world.feed("git", &store, &["mktree"], &format!("100644 blob {blob}\tbad.json\n")).stdout;
    let others: String =
        held.lines().filter(|line| !line.ends_with("\tcontracts")).map(|line| format!("{line}\n")).collect();
    let lines = format!("{others}040000 tree {}\tcontracts\n", folder.trim());
    let tree = world.feed("git", &store, &["mktree"], &lines).stdout;
    let commit = world.line(&store, &["commit-tree", "-p", DOMAIN_REF, "-m", "damage", tree.trim()]);
    world.git(&store, &["update-ref", DOMAIN_REF, &commit]);
    let run = world.blue(&world.path("fungal"), &["sync"]).exits(1);
    assert!(
        run.all().contains("this machine's store is damaged: refs/blue/domains/s3-access:contracts/bad.json"),
        "{run}"
    );
    assert_eq!(world.next_steps(&run), ["git blue doctor  # show what is damaged"], "{run}");
}

/// A lock that a killed push left at the remote never goes away, so it is not a push of others.
#[test]
fn left_over_lock_at_the_remote_is_shown() {
    let hub = hub();
    let (world, fungal) = (&hub.world, hub.world.path("fungal"));
    let lock = hub.path.join(format!("{DOMAIN_REF}.lock"));
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(lock, "").unwrap();
    world.bump("1.1.0");
    let run = world.blue(&fungal, &["sync"]).exits(1);
    assert!(run.all().contains("rejected it on every attempt") && run.all().contains("s3-access.lock"), "{run}");
    assert!(!run.all().contains("others kept pushing"), "{run}");
}

/// The step keeps what a third machine pushed below the invalid commit, which is only at the remote.
#[test]
fn invalid_tip_is_replaced_by_the_last_valid_commit() {
    let hub = hub();
    let (world, fungal) = (&hub.world, hub.world.path("fungal"));
    let good = hub.object("blob", b"{\n  \"description\": \"pushed by CI\",\n  \"name\": \"s3-access\"\n}\n");
    hub.commit(DOMAIN_REF, &hub.with(&format!("100644 blob {good}\tdomain.json")));
    let valid = world.line(&hub.path, &["rev-parse", DOMAIN_REF]);
    let broken = hub.object("blob", b"{");
    for _ in 0..2 {
        hub.commit(DOMAIN_REF, &hub.with(&format!("100644 blob {broken}\tdomain.json")));
    }
    let culprit = world.line(&hub.path, &["rev-parse", &format!("{DOMAIN_REF}~")]);
    let run = hub.refuses("domain.json");
    assert!(run.all().contains(&format!("since commit {} by ", &culprit[..10])), "{run}");
    assert!(!run.all().contains("--delete"), "{run}");
    let step = world.next_step(&run);
    assert!(step.contains("--force-with-lease=refs/blue/domains/s3-access:"), "{run}");
    world.finish_shell(&fungal, &step).exits(0);
    assert_eq!(world.line(&hub.path, &["rev-parse", DOMAIN_REF]), valid);
    world.ok(&fungal, &["sync"]);
    assert!(world.ok(&fungal, &["sync"]).all().contains("up to date"));
}

#[test]
fn ref_without_any_valid_commit_can_be_removed() {
    let hub = hub();
    let (world, fungal) = (&hub.world, hub.world.path("fungal"));
    let broken = hub.object("blob", b"{");
    let tree = hub.tree(&format!("100644 blob {broken}\tdomain.json\0"));
    let commit = world.line(&hub.path, &["commit-tree", "-m", "hostile", &tree]);
    world.git(&hub.path, &["update-ref", "refs/blue/domains/other", &commit]);
    let run = hub.refuses("none of its commits is valid");
    world.finish_shell(&fungal, &world.next_step(&run)).exits(0);
    world.ok(&fungal, &["sync"]);
}

/// The realm's own ref is treated like that of a domain if its history shows that it is the same realm.
#[test]
fn invalid_ref_of_the_realm_does_not_stop_the_domains() {
    let hub = hub();
    let (world, fungal) = (&hub.world, hub.world.path("fungal"));
    let valid = world.line(&hub.path, &["rev-parse", "refs/blue/realm"]);
    for content in [
        &b"{"[..],
        b"{\"format\": 99999999999999, \"name\": \"aperture\"}",
        b"{\"format\": 1, \"name\": \"aperture\", \"new\": 1}",
        b"{\"format\": 1, \"name\": \"other\"}",
    ] {
        let broken = hub.object("blob", content);
        let tree = hub.tree(&format!("100644 blob {broken}\trealm.json\0"));
        let commit = world.line(&hub.path, &["commit-tree", "-p", &valid, "-m", "hostile", &tree]);
        world.git(&hub.path, &["update-ref", "refs/blue/realm", &commit]);
        let dry = world.blue(&fungal, &["sync", "--dry-run"]).exits(1);
        assert!(dry.all().contains("refs/blue/realm:realm.json"), "{dry}");
        let run = hub.refuses("refs/blue/realm:realm.json");
        assert!(run.all().contains(&format!("since commit {} by ", &commit[..10])), "{run}");
        world.finish_shell(&fungal, &world.next_step(&run)).exits(0);
        assert_eq!(world.line(&hub.path, &["rev-parse", "refs/blue/realm"]), valid);
        world.ok(&fungal, &["sync"]);
    }
    let tree = hub.tree("");
    let commit = world.line(&hub.path, &["commit-tree", "-p", &valid, "-m", "hostile", &tree]);
    world.git(&hub.path, &["update-ref", "refs/blue/realm", &commit]);
    hub.refuses("refs/blue/realm:realm.json: it is missing");
    let newer = hub.object("blob", b"{\"format\": 4000, \"name\": \"aperture\"}");
    let tree = hub.tree(&format!("100644 blob {newer}\trealm.json\0"));
    let commit = world.line(&hub.path, &["commit-tree", "-p", &valid, "-m", "hostile", &tree]);
    world.git(&hub.path, &["update-ref", "refs/blue/realm", &commit]);
    let run = world.blue(&fungal, &["sync"]).exits(128);
    assert!(run.all().contains(&format!("(since commit {} by ", &commit[..10])), "{run}");
    assert!(run.all().contains("if there is no such format: git --git-dir"), "{run}");
}

#[test]
fn new_domain_must_have_a_description() {
    let hub = hub();
    let tree = hub.tree("");
    let commit = hub.world.line(&hub.path, &["commit-tree", "-m", "hostile", &tree]);
    hub.world.git(&hub.path, &["update-ref", "refs/blue/domains/other", &commit]);
    hub.refuses("refs/blue/domains/other:domain.json: it is missing");
}

#[test]
fn commit_with_a_huge_message_is_refused() {
    let hub = hub();
    let (world, message) = (&hub.world, hub.world.path("message"));
    std::fs::write(&message, "x".repeat(2 << 20)).unwrap();
    let tree = format!("{DOMAIN_REF}^{{tree}}");
    let arguments = ["commit-tree", "-p", DOMAIN_REF, "-F", message.to_str().unwrap(), &tree];
    let commit = world.line(&hub.path, &arguments);
    world.git(&hub.path, &["update-ref", DOMAIN_REF, &commit]);
    let run = hub.refuses(&format!("the commit {commit} cannot be read: it is"));
    let fungal = world.path("fungal");
    world.finish_shell(&fungal, &world.next_step(&run)).exits(0);
    world.ok(&fungal, &["sync"]);
}

#[test]
fn annotated_tag_is_one_problem() {
    let hub = hub();
    let (world, fungal) = (&hub.world, hub.world.path("fungal"));
    world.git(&hub.path, &["tag", "-a", "-m", "tag", "v1", DOMAIN_REF]);
    let tag = world.line(&hub.path, &["rev-parse", "v1"]);
    std::fs::write(hub.path.join(DOMAIN_REF), format!("{tag}\n")).unwrap();
    let run = world.blue(&fungal, &["sync"]).exits(1);
    assert!(!run.all().contains("^{}") && run.all().contains(DOMAIN_REF), "{run}");
}

#[test]
fn joining_leaves_out_an_invalid_domain_and_reports_it() {
    let hub = hub();
    let (world, path) = (&hub.world, hub.path.display().to_string());
    let broken = hub.object("blob", b"{");
    hub.commit(DOMAIN_REF, &hub.with(&format!("100644 blob {broken}\tdomain.json")));
    world.on("second").repo("access");
    let access = world.path("access");
    let init = world.ok(&access, &["init", "--url", &path]);
    assert!(init.all().contains("was left out: refs/blue/domains/s3-access"), "{init}");
    let sync = world.blue(&access, &["sync"]).exits(1);
    assert!(sync.all().contains("since commit"), "{sync}");
    assert_eq!(world.git(&world.store(), &["for-each-ref", "refs/blue/domains"]).stdout.lines().count(), 1);
    let doctor = world.blue(&access, &["doctor"]).exits(0);
    assert!(doctor.all().contains("the last sync with origin was incomplete: refs/blue/domains/"), "{doctor}");
    let incomplete = "the last sync with origin was incomplete: git blue doctor";
    assert!(world.ok(&access, &["status"]).stdout.contains(incomplete));
    world.finish_shell(&access, &world.next_step(&sync)).exits(0);
    world.ok(&access, &["sync"]);
    assert_eq!(world.git(&world.store(), &["for-each-ref", "refs/blue/domains"]).stdout.lines().count(), 2);
    assert!(!world.ok(&access, &["doctor"]).all().contains("incomplete"));
    assert!(!world.ok(&access, &["status"]).stdout.contains("incomplete"));
}

#[test]
fn remote_that_lost_the_ref_of_the_realm_is_named_when_joining() {
    let hub = hub();
    let (world, path) = (&hub.world, hub.path.display().to_string());
    world.git(&hub.path, &["update-ref", "-d", "refs/blue/realm"]);
    world.on("second").repo("access");
    for args in [&["init", "--url", &path][..], &["init", "--realm", REALM, "--url", &path]] {
        let init = world.blue(&world.path("access"), args).exits(128);
        assert!(init.all().contains("has domains, but the realm's own ref, refs/blue/realm, is missing"), "{init}");
        assert!(init.all().contains("git blue sync  # in a clone that has joined"), "{init}");
    }
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    world.on("second").ok(&world.path("access"), &["init", "--url", &path]);
}

/// A tip whose objects nobody has can be given up.
#[test]
fn tip_that_was_pushed_without_its_objects_can_be_replaced() {
    let hub = hub();
    let (world, fungal) = (&hub.world, hub.world.path("fungal"));
    hub.commit(DOMAIN_REF, &hub.with(&format!("100644 blob {}\tdomain.json", "12".repeat(20))));
    let sync = world.blue(&fungal, &["sync"]).exits(128);
    assert!(world.next_step(&sync).starts_with("git blue realm admin reseed"), "{sync}");
    let reseed = world.blue(&fungal, &["realm", "admin", "reseed"]).exits(1);
    assert_eq!(reseed.all().matches('(').count(), reseed.all().matches(')').count(), "{reseed}");
    world.finish_shell(&fungal, &world.next_step(&reseed)).exits(0);
    world.ok(&fungal, &["sync"]);
}

#[test]
fn many_refs_are_fetched_although_one_is_rejected() {
    let hub = hub();
    let world = &hub.world;
    let tip = world.line(&hub.path, &["rev-parse", DOMAIN_REF]);
    let lines: String = (0..300).map(|at| format!("create refs/blue/domains/x{at:03} {tip}\n")).collect();
    world.feed("git", &hub.path, &["update-ref", "--stdin"], &lines);
    let run = hub.refuses("refs/blue/domains/x299:domain.json: it names s3-access");
    assert!(!run.all().contains("fsck error"), "{run}");
    let tree = hub.raw_tree("100644", b"..");
    let commit = world.line(&hub.path, &["commit-tree", "-m", "hostile", &tree]);
    world.git(&hub.path, &["update-ref", "refs/blue/domains/x300", &commit]);
    let run = hub.refuses("refs/blue/domains/x299:domain.json: it names s3-access");
    assert_eq!(run.all().matches("fsck error").count(), 1, "{run}");
}
