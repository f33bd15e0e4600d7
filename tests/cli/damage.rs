//! Damage in the store is reported and hides nothing else.

use serde_json::json;

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, World, contract, importing, snapshot};

/// The pair, with a second contract whose stored file is not JSON.
fn damaged() -> World {
    let world = World::pair();
    world.write("fungal/.blue/contracts/s3-access/extra.yaml", &contract("0.1.0").replace("s3-permissions", "extra"));
    world.commit("fungal", "One more");
    world.settle();
    world.plant("contracts/extra.json", "{ \"name\": \"extra\",\n  oops\n");
    world
}

#[test]
fn damaged_contract_is_named_and_hides_no_other() {
    let world = damaged();
    let consumer = world.path("access");
    let status = world.ok(&consumer, &["status"]);
    let check = world.blue(&consumer, &["check"]).exits(1);
    let list = world.ok(&consumer, &["contract", "list"]);
    let get = world.blue(&consumer, &["contract", "get", "s3-access/extra"]).exits(128);
    for run in [&status, &check, &list, &get] {
        assert!(run.all().contains("extra"), "{run}");
    }
    assert!(status.stdout.contains("s3-permissions  >=1.0.0, <2.0.0  accepts 1.0.0"), "{status}");
    assert!(list.stdout.contains("s3-permissions  1.0.0"), "{list}");
    snapshot("damaged", &[&status, &check, &list, &get]);
    world.ok(&consumer, &["contract", "get", "s3-access/s3-permissions"]);

    let answer = world.json(&consumer, &["check"]);
    let damaged: Vec<_> = answer["errors"].as_array().unwrap().iter().filter(|one| one["code"] == "damaged").collect();
    assert_eq!(damaged.len(), 1);
    assert_eq!(damaged[0]["file"], format!("{DOMAIN_REF}:contracts/extra.json"));
    assert_eq!(answer["schema_hashes"].as_array().unwrap().len(), 1);
}

/// 1.0.0 is published, so nothing says that the import is broken.
#[test]
fn import_of_a_damaged_contract_is_unknown() {
    let world = World::pair();
    let access = world.path("access");
    world.settle();
    world.plant("contracts/s3-permissions.json", "{ oops");
    let step = "git blue doctor --fix";
    for command in [&["status"][..], &["review"]] {
        let run = world.blue(&access, command).exits(128);
        assert!(run.stdout.contains("unknown: the contract cannot be read"), "{run}");
        assert!(run.stderr.contains("contracts/s3-permissions.json") && run.stderr.contains(step), "{run}");
        assert!(!run.all().contains("no release") && !run.all().contains("-> missing"), "{run}");
        let answer = world.blue(&access, &[command, &["--json"]].concat()).exits(128).json();
        assert_eq!(answer["imports"][0]["state"], "unknown", "{answer}");
        assert!(answer["unreadable"][0].to_string().contains("contracts/s3-permissions.json"), "{answer}");
        assert_eq!(answer["next_steps"][0]["command"], step, "{answer}");
    }
    let prime = world.ok(&access, &["prime"]).stdout;
    assert!(prime.contains("Imports that cannot be judged: s3-access/s3-permissions."), "{prime}");
    assert!(!prime.contains("Broken") && !prime.contains("->"), "{prime}");
    let screen = world.ok(&access, &[]).stdout;
    assert!(screen.contains("1 of 1 import needs attention") && !screen.contains("broken"), "{screen}");
    let topology = world.json(&access, &["realm", "topology"]);
    assert_eq!(topology["domains"][0]["contracts"][0]["importers"][0]["state"], "unknown", "{topology}");
    let check = world.json(&access, &["check"]);
    assert!(check["errors"].as_array().unwrap().iter().all(|error| error["code"] == "damaged"), "{check}");
    for command in ["get", "impact", "diff"] {
        let run = world.blue(&access, &["contract", command, "s3-access/s3-permissions"]).exits(128);
        assert!(world.next_step(&run).starts_with(step), "{run}");
    }
    world.git(&access, &["commit", "--quiet", "--allow-empty", "-m", "More"]);
    world.ok(&access, &["contract", "publish"]);
}

#[test]
fn published_versions_of_it_stay_readable() {
    let world = damaged();
    let run = world.ok(&world.path("access"), &["contract", "get", "s3-access/extra", "--version", "0.1.0"]);
    assert!(run.stdout.contains("v0.1.0"), "{run}");
}

#[test]
fn version_that_cannot_be_read_is_never_replaced_by_the_current_one() {
    let world = World::pair();
    world.bump("1.1.0");
    world.plant("versions/s3-permissions/1.0.0.json", "{\"newer\": 1}");
    world.write("access/payload.json", "{\"read\": []}");
    let at = "s3-access/s3-permissions";
    for arguments in [
        &["contract", "get", at, "--version", "1.0.0"][..],
        &["contract", "validate", at, "--version", "1.0.0", "payload.json"],
        &["contract", "validate", at, "--range", ">=1.0.0", "payload.json"],
        &["contract", "diff", at, "1.0.0", "1.1.0"],
        &["contract", "impact", at, "--to", "1.0.0"],
        &["contract", "blame", at],
    ] {
        let run = world.blue(&world.path("access"), arguments).exits(128);
        assert!(run.stderr.contains("s3-access/s3-permissions cannot be read"), "{run}");
    }
    world.ok(&world.path("access"), &["contract", "get", at]);
}

/// Without the version that the code of an import is adapted to, nothing proves that the import holds.
#[test]
fn import_is_unknown_without_the_version_that_it_is_adapted_to() {
    let world = World::pair();
    let access = world.path("access");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0"));
    world.commit("access", "Accept every version");
    world.bump("2.0.0");
    world.plant("versions/s3-permissions/1.0.0.json", "{\"newer\": 1}");
    let why = "it is unknown whether 2.0.0 breaks it: 1.0.0 cannot be read";
    let check = world.blue(&access, &["check"]).exits(1);
    assert!(check.stdout.contains(why) && check.stdout.contains("[damaged]"), "{check}");
    assert!(world.next_step(&check).starts_with("git blue doctor --fix"), "{check}");
    // The domain is read in another way if the files change the binding.
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <9.0.0").replace("cdk/", "stacks/"));
    world.blue(&access, &["check", "--worktree"]).exits(1);
    let review = world.blue(&access, &["review"]).exits(128);
    assert!(review.stderr.contains("s3-access/s3-permissions 1.0.0 cannot be read"), "{review}");
    assert!(!review.stdout.contains("contract adapted"), "nobody should record that: {review}");
    let status = world.blue(&access, &["status"]).exits(128);
    assert!(status.stderr.contains("s3-access/s3-permissions 1.0.0 cannot be read"), "{status}");
    let import = world.blue(&access, &["status", "--json"]).exits(128).json()["imports"][0].clone();
    assert_eq!((&import["rank"], &import["state"]), (&json!("attention"), &json!("unknown")), "{import}");
}

#[test]
fn version_that_cannot_be_read_does_not_prevent_newer_ones() {
    let world = World::pair();
    world.bump("1.1.0");
    world.plant("versions/s3-permissions/1.0.0.json", "{\"newer\": 1}");
    let next = world.bump("1.2.0");
    assert_eq!(next.stderr, "git blue: published s3-access/s3-permissions 1.1.0 -> 1.2.0\n");
    let again = world.bump("1.0.0");
    assert!(again.stderr.contains("is damaged in the realm and was not overwritten"), "{again}");
}

#[test]
fn rest_of_the_realm_works() {
    let world = damaged();
    assert_eq!(world.bump("1.1.0").stderr, "git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0\n");
    let told = world.json(&world.path("access"), &["status"])["notifications"].clone();
    assert_eq!(told.as_array().unwrap().len(), 1);
    assert_eq!(told[0]["contract"], "s3-permissions");
}

#[test]
fn damaged_contract_is_not_overwritten() {
    let world = damaged();
    let before = world.tip(DOMAIN_REF);
    world.write("fungal/.blue/contracts/s3-access/extra.yaml", &contract("0.2.0").replace("s3-permissions", "extra"));
    world.commit("fungal", "Extra 0.2.0");
    let run = world.blue(&world.path("fungal"), &["contract", "publish"]).exits(1);
    snapshot("damaged_not_overwritten", &[&run]);
    assert_eq!(world.tip(DOMAIN_REF), before);
}

#[test]
fn repaired_contract_is_not_reported_as_new() {
    let world = damaged();
    let good = world.git(&world.store(), &["cat-file", "blob", &format!("{DOMAIN_REF}~1:contracts/extra.json")]).stdout;
    world.ok(&world.path("access"), &["status"]);
    world.plant("contracts/extra.json", &good);
    assert_eq!(world.json(&world.path("access"), &["status"])["notifications"], json!([]));
    world.blue(&world.path("access"), &["check"]).exits(0);
}

/// Overwrites a ref of the store with text that is not an object id, as a power failure may.
pub fn break_ref(world: &World, name: &str, text: &str) {
    let path = world.store().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn domain_that_cannot_be_read_fails_what_lists_domains() {
    let world = World::pair();
    let access = world.path("access");
    break_ref(&world, DOMAIN_REF, &"0123456789".repeat(4));
    for command in [&["status"][..], &["contract", "list"], &["notifications", "list"], &["review"]] {
        let run = world.blue(&access, command).exits(128);
        assert!(run.stderr.contains(DOMAIN_REF) && run.stderr.contains("git blue doctor --fix"), "{run}");
        assert!(!run.stdout.contains("doctor --fix"), "the step is printed once: {run}");
        for untrue in ["imports nothing", "no contracts", "no notifications"] {
            assert!(!run.stdout.contains(untrue), "{run}");
        }
        let answer = world.blue(&access, &[command, &["--json"]].concat()).exits(128).json();
        assert!(answer["unreadable_domains"][0].to_string().contains(DOMAIN_REF), "{answer}");
    }
}

#[test]
fn realm_with_damage_is_listed_with_it() {
    let world = World::pair();
    break_ref(&world, DOMAIN_REF, "noise");
    let list = world.ok(&world.path("access"), &["realm", "list"]);
    assert!(list.stdout.contains(DOMAIN_REF), "{list}");
    assert_eq!(world.json(&world.path("access"), &["realm", "list"])["realms"][0]["repos"], 2);
}

#[test]
fn other_damaged_files_are_reported() {
    for (path, code) in [("bindings/access.json", 1), ("domain.json", 1), ("sources/fungal.json", 1)] {
        let world = World::pair();
        world.plant(path, "[]");
        let run = world.blue(&world.path("fungal"), &["check", "--published"]).exits(code);
        assert!(run.stdout.contains(path), "{run}");
        // Without this file, nothing is known about the domain.
        let code = if path == "domain.json" { 128 } else { 0 };
        let status = world.blue(&world.path("fungal"), &["status"]).exits(code);
        assert!(status.stdout.contains(path), "{status}");
    }
}

/// The pair, whose consumer has a binding with a field that a newer git-blue wrote.
fn with_unreadable_binding() -> World {
    let world = World::pair();
    let stored = world.stored("bindings/access.json").to_string();
    world.plant("bindings/access.json", &stored.replacen('{', "{\"newer\":1,", 1));
    world
}

#[test]
fn repository_with_an_unreadable_binding_may_import_everything() {
    let world = with_unreadable_binding();
    let provider = world.path("fungal");
    let unknown = "the binding of access cannot be read, so it is unknown whether access imports it";
    let impact = world.ok(&provider, &["contract", "impact", "s3-access/s3-permissions", "--to", "2.0.0"]);
    assert!(impact.stdout.contains(unknown) && !impact.stdout.contains("no repository imports it"), "{impact}");
    let impact = world.json(&provider, &["contract", "impact", "s3-access/s3-permissions"]);
    assert_eq!(impact["unreadable_bindings"], json!(["access"]));
    // It concerns whoever changes a contract, and nobody else.
    let check = world.blue(&provider, &["check", "--strict"]).exits(0);
    assert!(!check.stdout.contains("unused"), "{check}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0"));
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("bindings/access.json") && !check.stdout.contains("unused"), "{check}");
    let retire = ["contract", "retire", "s3-access/s3-permissions", "--reason", "unused"];
    let run = world.blue(&provider, &retire).exits(128);
    assert!(run.stderr.contains("the bindings of access in s3-access cannot be read"), "{run}");
    let forced = world.next_steps(&run).iter().any(|step| step.ends_with("--force  # retire it anyway"));
    assert!(forced, "{run}");
    world.ok(&provider, &[&retire[..], &["--force"]].concat());
    let run = world.blue(&provider, &["realm", "admin", "remove-domain", "s3-access"]).exits(1);
    assert!(run.stderr.contains("access"), "{run}");
}

/// Its own imports are unknown, so there is nothing to review, and the contracts of others may be in use.
#[test]
fn unreadable_binding_is_reported_to_its_repository_and_in_lists() {
    let world = with_unreadable_binding();
    let review = world.blue(&world.path("access"), &["review"]).exits(128);
    assert!(review.stderr.contains("bindings/access.json"), "{review}");
    let list = world.ok(&world.path("fungal"), &["contract", "list"]);
    assert!(!list.stdout.contains("unused"), "{list}");
    let notifications = world.blue(&world.path("access"), &["notifications", "list"]).exits(128);
    assert!(notifications.stderr.contains("bindings/access.json"), "{notifications}");
    let answer = world.blue(&world.path("access"), &["notifications", "list", "--json"]).exits(128).json();
    assert!(answer["unreadable"][0].to_string().contains("bindings/access.json"), "{answer}");
    world.ok(&world.path("fungal"), &["notifications", "list"]);
}

#[test]
fn contract_names_the_repositories_whose_bindings_cannot_be_read() {
    let world = World::pair();
    world.settle();
    world.plant("bindings/access.json", "{ oops");
    let get = ["contract", "get", "s3-access/s3-permissions"];
    let unknown = "the binding of access cannot be read, so it is unknown whether access imports it";
    let run = world.ok(&world.path("fungal"), &get);
    assert!(run.stdout.contains(unknown), "{run}");
    assert_eq!(world.json(&world.path("fungal"), &get)["unreadable_bindings"], json!(["access"]));
}

#[test]
fn unreadable_binding_is_not_overwritten() {
    let world = with_unreadable_binding();
    let consumer = world.path("access");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    let commit = world.commit("access", "Accept more");
    assert!(commit.stderr.contains("s3-access has a binding of access that cannot be read"), "{commit}");
    assert_eq!(world.stored("bindings/access.json")["newer"], 1);
    let check = world.blue(&consumer, &["check"]).exits(1);
    assert!(!check.stdout.contains("file-differs"), "{check}");
    // Leaving is possible.
    world.git(&consumer, &["rm", "--quiet", BINDING_FILE]);
    world.commit("access", "Leave");
    let bindings = world.git(&world.store(), &["ls-tree", "--name-only", DOMAIN_REF, "bindings/"]).stdout;
    assert_eq!(bindings, "bindings/fungal.json\n");
}

#[test]
fn unreadable_transfers_are_not_replaced() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["contract", "transfer", "s3-access/s3-permissions", "--to", "access"]);
    let stored = world.stored("transfers/s3-permissions.json").to_string();
    world.plant("transfers/s3-permissions.json", &stored.replacen('{', "{\"newer\":1,", 1));
    let cancel = world.blue(&fungal, &["contract", "transfer", "s3-access/s3-permissions", "--cancel"]).exits(1);
    assert!(cancel.stderr.contains("is damaged in the realm and was not overwritten"), "{cancel}");
    assert_eq!(world.stored("transfers/s3-permissions.json")["newer"], 1);
}

#[test]
fn rename_leaves_no_unreadable_binding_behind() {
    let world = with_unreadable_binding();
    let run = world.blue(&world.path("access"), &["realm", "admin", "rename", "access", "entry"]).exits(128);
    assert!(run.stderr.contains("bindings/access.json"), "{run}");
    assert_eq!(world.stored("bindings/access.json")["newer"], 1);
}

#[test]
fn json_with_ambiguous_meaning_is_damage() {
    let world = World::pair();
    let stored = world.stored("contracts/s3-permissions.json").to_string();
    let twice = stored.replacen('{', "{\"version\":\"9.9.9\",", 1);
    world.plant("contracts/s3-permissions.json", &twice);
    let run = world.blue(&world.path("fungal"), &["check", "--published"]).exits(1);
    assert!(run.stdout.contains("[damaged]") && run.stdout.contains("version"), "{run}");
}

#[test]
fn missing_store_does_not_pass() {
    let world = World::pair();
    std::fs::remove_dir_all(world.store()).unwrap();
    for command in [&["check"][..], &["status"], &["contract", "list"]] {
        let run = world.blue(&world.path("fungal"), command).exits(128);
        assert!(run.stderr.contains("aperture.git"), "{run}");
    }
    // Committing still works.
    let commit = world.bump("1.1.0");
    assert_eq!(commit.code, 0);
}

#[test]
fn store_that_can_be_repaired_is_not_replaced() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let config = world.store().join("config");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.clone() + "[x\n").unwrap();
    for command in [&["status"][..], &["doctor"], &["doctor", "--fix"]] {
        let run = world.blue(&fungal, command);
        let said = run.all();
        assert!(run.code != 0 && said.contains("open") && !said.contains("start over"), "{run}");
    }
    std::fs::write(&config, text).unwrap();
    world.ok(&fungal, &["status"]);
}

#[test]
fn newer_format_is_refused_unchanged() {
    let world = World::pair();
    let store = world.store();
    world.write("realm.json", "{\n  \"format\": 2,\n  \"name\": \"aperture\"\n}\n");
    let blob = world.line(&store, &["hash-object", "-w", world.path("realm.json").to_str().unwrap()]);
    world.write("tree", &format!("100644 blob {blob}\trealm.json\n"));
    let tree = world.feed("git", &store, &["mktree"], &world.read("tree")).stdout;
    let commit = world.line(&store, &["commit-tree", "-m", "newer", tree.trim()]);
    world.git(&store, &["update-ref", "refs/blue/realm", &commit]);
    let run = world.blue(&world.path("fungal"), &["check"]).exits(128);
    snapshot("newer_format", &[&run]);
    let newer = "storage format 2";
    for command in [&["realm", "list"][..], &["contract", "timeline", "s3-access/s3-permissions"]] {
        let run = world.blue(&world.root(), command);
        assert!(run.all().contains(newer) && !run.all().contains("repositor"), "{run}");
    }
    let other = world.path("other");
    world.git(&world.root(), &["init", "--quiet", "other"]);
    world.ok(&other, &["init", "--new", "--realm", "elsewhere"]);
    let compare = world.blue(&other, &["realm", "compare", "aperture"]).exits(128);
    assert!(compare.all().contains(newer) && compare.all().contains("hint: update git blue"), "{compare}");
    // A realm that is shared is refused too.
    let run = world.on("second").blue(&other, &["init", "--url", store.to_str().unwrap()]).exits(128);
    assert!(run.all().contains(newer) && run.all().contains("hint: update git blue"), "{run}");
    world.on("home").bump("1.1.0");
    assert_eq!(world.version(), "1.0.0");
}

/// Deletes the loose object of a revision from the store.
fn lose(world: &World, revision: &str) {
    let id = world.line(&world.store(), &["rev-parse", revision]);
    std::fs::remove_file(world.store().join(format!("objects/{}/{}", &id[..2], &id[2..]))).unwrap();
}

#[test]
fn variables_of_another_repository_damage_nothing() {
    let world = World::pair();
    world.bump("1.1.0");
    let access = world.path("access");
    let elsewhere = world.repo("other").join(".git/objects");
    let vars = [("GIT_OBJECT_DIRECTORY", elsewhere.as_os_str()), ("GIT_ATTR_SOURCE", "HEAD".as_ref())];
    let refs = || world.git(&world.store(), &["for-each-ref"]).stdout;
    let before = refs();
    for command in [&["doctor", "--fix"][..], &["gc"]] {
        world.blue_with(&access, command, &vars).exits(0);
        assert_eq!(refs(), before);
    }
    assert!(world.ok(&access, &["status"]).stdout.contains("1 change you have not seen"));
}

#[test]
fn lost_records_of_readers_are_replaced() {
    let world = World::pair();
    let access = world.path("access");
    let shared = "refs/blue/local/inbox/access/shared";
    for (minor, lost) in ["", "^{tree}", ":baselines"].into_iter().enumerate() {
        world.bump(&format!("1.{}.0", 2 * minor + 1));
        world.ok(&access, &["notifications", "ack", "--all"]);
        lose(&world, &format!("{shared}{lost}"));
        let sick = world.blue(&access, &["doctor"]).exits(1);
        assert!(sick.stdout.contains(&format!("{shared}: some of its objects are missing")), "{sick}");
        let mended = world.blue(&access, &["doctor", "--fix"]).exits(0);
        assert!(
            mended.stdout.contains(&format!("{shared}: some of its objects are missing; it was removed")),
            "{mended}"
        );
        world.blue(&access, &["doctor"]).exits(0);
        // Without doctor, the next write replaces the record.
        world.bump(&format!("1.{}.0", 2 * minor + 2));
        world.ok(&access, &["notifications", "ack", "--all"]);
        lose(&world, &format!("{shared}{lost}"));
        world.ok(&access, &["status"]);
        world.ok(&access, &["notifications", "list"]);
    }
}

/// The records of readers are written without flushing, so a power failure may leave an empty file.
#[test]
fn torn_records_of_readers_only_show_notifications_again() {
    let world = World::pair();
    let access = world.path("access");
    world.bump("1.1.0");
    world.ok(&access, &["status"]);
    for text in ["", "noise"] {
        for name in ["inbox/access/shared", "inbox/access/reader/cli", "arrivals/s3-access", "known/s3-access"] {
            break_ref(&world, &format!("refs/blue/local/{name}"), text);
        }
        world.ok(&access, &["notifications", "list"]);
        world.ok(&access, &["status"]);
        world.ok(&access, &["notifications", "ack", "--all"]);
        assert_eq!(world.json(&access, &["notifications", "list"])["summary"]["pending"], 0);
        world.bump(if text.is_empty() { "1.2.0" } else { "1.3.0" });
        assert_eq!(world.json(&access, &["notifications", "list"])["summary"]["pending"], 1);
        world.ok(&access, &["status"]);
    }
}

/// So are the records of what a remote had.
#[test]
fn lost_record_of_a_remote_is_removed_by_doctor() {
    let (world, _) = crate::sync::shared();
    let fungal = world.path("fungal");
    break_ref(&world, "refs/blue-remotes/origin/domains/s3-access", &"12".repeat(20));
    let sync = world.blue(&fungal, &["sync"]).exits(128);
    assert!(sync.stderr.contains("git blue doctor"), "{sync}");
    let doctor = world.blue(&fungal, &["doctor"]).exits(1);
    assert!(doctor.stdout.contains("only this machine's record of the remote is lost"), "{doctor}");
    world.blue(&fungal, &["doctor", "--fix"]);
    world.ok(&fungal, &["doctor"]);
    world.ok(&fungal, &["sync"]);
}
