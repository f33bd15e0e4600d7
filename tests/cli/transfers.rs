//! Renaming repositories, transferring contracts, and removing what is unused; removal is refused with the commands
//! that allow it.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, REALM, World, contract, snapshot};

const CONTRACT: &str = "s3-access/s3-permissions";

fn rename(world: &World) -> Value {
    world.ok(&world.path("fungal"), &["realm", "admin", "rename", "fungal", "mushroom", "--json"]).json()
}

#[test]
fn renames_a_repository() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.git(&world.root(), &["clone", "-q", "fungal", "second"]);
    world.ok(&dir, &["session", "start"]);
    world.bump("1.1.0");
    let answer = rename(&world);
    assert_eq!(answer["files"], json!([".blue/config.yaml", CONTRACT_FILE]));
    assert_eq!((&answer["changed"], &answer["domains"]), (&json!(true), &json!(["s3-access"])));
    assert!(world.read("fungal/.blue/config.yaml").contains("repo: mushroom"));
    assert!(world.read(&format!("fungal/{CONTRACT_FILE}")).contains("owner: mushroom\n"));
    // Everything has the new name except published documents.
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "mushroom");
    assert_eq!(world.stored("versions/s3-permissions/1.0.0.json")["owner"], "fungal");
    assert_eq!(world.stored("domain.json")["members"], json!(["access", "mushroom"]));
    assert_eq!(world.stored("bindings/mushroom.json")["role"], "provider");
    assert_eq!(world.json(&dir, &["session", "status"])["session"]["state"], "active");
    let tree = |name: &str| world.git(&world.store(), &["ls-tree", "-r", "--name-only", name]).stdout;
    assert!(!tree("refs/blue/domains/s3-access").contains("/fungal.json"));
    assert_eq!(tree("refs/blue/realm"), "realm.json\nrenames/fungal.json\nrepos/access.json\nrepos/mushroom.json\n");
    // The rename is no news to it, and it still publishes.
    assert_eq!(world.json(&dir, &["status", "--peek"])["notifications"], json!([]));
    let step = answer["next_steps"][0]["command"].as_str().unwrap();
    assert_eq!(step, format!("git add .blue/config.yaml {CONTRACT_FILE} && git commit -m \"Take the name mushroom\""));
    world.commit("fungal", "Take the name mushroom");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.2.0").replace("owner: fungal", "owner: mushroom"));
    world.commit("fungal", "1.2.0");
    assert_eq!(world.version(), "1.2.0");
    world.ok(&dir, &["check"]);
    // The consumer is notified of versions under the new name.
    let told = world.json(&world.path("access"), &["status", "--peek"]);
    let told =
        told["notifications"].as_array().unwrap().iter().find(|one| one["contract"] == "s3-permissions").unwrap();
    assert_eq!((&told["from_repo"], &told["changes"]["new_version"]), (&json!("mushroom"), &json!("1.2.0")));
    // Another clone, with the old name.
    let second = world.path("second");
    let stale = world.blue(&second, &["status"]).exits(128);
    let joining = world.blue(&second, &["init", "--realm", REALM]).exits(128);
    world.ok(&second, &["realm", "admin", "rename", "fungal", "mushroom"]);
    world.ok(&second, &["status"]);
    let again = world.ok(&dir, &["realm", "admin", "rename", "fungal", "mushroom"]);
    let other = world.blue(&world.path("access"), &["realm", "admin", "rename", "mushroom", "x"]).exits(1);
    let taken = world.blue(&dir, &["realm", "admin", "rename", "mushroom", "ACCESS"]).exits(1);
    let unknown = world.blue(&dir, &["realm", "admin", "rename", "nobody", "x"]).exits(128);
    snapshot("rename", &[&stale, &joining, &again, &other, &taken, &unknown]);
    world.git(&world.store(), &["fsck", "--strict"]);
}

/// A rename changes neither contracts nor bindings. What changed besides is notified under the new name.
#[test]
fn renames_notify_nobody() {
    let world = World::pair();
    let [fungal, access] = ["fungal", "access"].map(|repo| world.path(repo));
    for dir in [&fungal, &access] {
        world.ok(dir, &["status"]);
    }
    let notifications = |dir| world.json(dir, &["status", "--peek"])["notifications"].clone();
    rename(&world);
    assert_eq!(notifications(&access), json!([]));
    world.ok(&access, &["realm", "admin", "rename", "access", "reader"]);
    assert_eq!(notifications(&fungal), json!([]));
    world.commit("fungal", "Take the name mushroom");
    let binding = world.read(&format!("access/{BINDING_FILE}")).replace("role: consumer", "role: both");
    world.write(&format!("access/{BINDING_FILE}"), &binding);
    world.commit("access", "Take the name reader, and another role");
    let told = notifications(&fungal);
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told:#}");
    assert_eq!((&told[0]["type"], &told[0]["from_repo"]), (&json!("binding_added"), &json!("reader")));
}

/// Files are replaced rather than written in place, which a crash would leave incomplete. A file whose layout is not
/// supported is named instead of being skipped.
#[test]
fn rename_replaces_files_and_names_those_to_edit() {
    let world = World::pair();
    let file = world.path(&format!("fungal/{CONTRACT_FILE}"));
    let commented = world.read(&format!("fungal/{CONTRACT_FILE}")).replace("owner: fungal", "owner: \"fungal\"  # us");
    std::fs::write(&file, &commented).unwrap();
    std::fs::hard_link(&file, world.path("before")).unwrap();
    let flow = "{ name: flow, version: \"0.1.0\", owner: fungal, schema: {}, value: {} }\n";
    world.write("fungal/.blue/contracts/s3-access/flow.yaml", flow);
    let answer = rename(&world);
    assert_eq!(world.read("before"), commented);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), commented.replace("\"fungal\"", "mushroom"));
    assert_eq!(answer["files"], json!([".blue/config.yaml", CONTRACT_FILE]));
    let step = "write owner: mushroom in .blue/contracts/s3-access/flow.yaml";
    assert_eq!(answer["next_steps"][0]["reason"], step);
    assert_eq!(world.read("fungal/.blue/contracts/s3-access/flow.yaml"), flow);
}

/// Lets `access` take the contract over. The file of `fungal` remains.
fn hand_over(world: &World) {
    world.ok(&world.path("fungal"), &["contract", "transfer", CONTRACT, "--to", "access"]);
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.0.0").replace("owner: fungal", "owner: access"));
    world.commit("access", "Take it over");
}

/// Publishing the file with the new name would be refused, and nothing else would be published any more.
#[test]
fn rename_removes_the_file_of_a_contract_that_was_handed_over() {
    let world = World::pair();
    hand_over(&world);
    let answer = rename(&world);
    assert_eq!(answer["files"], json!([".blue/config.yaml"]));
    let step = answer["next_steps"][0]["command"].as_str().unwrap();
    assert_eq!(step, format!("git rm {CONTRACT_FILE}"), "{answer}");
    assert_eq!(world.stored("transfers/s3-permissions.json")["transfers"][0]["from"], "mushroom");
    let back = world.blue(&world.path("access"), &["contract", "transfer", CONTRACT, "--to", "fungal"]).exits(128);
    assert!(back.stderr.contains("fungal was renamed to mushroom"), "{back}");
    // Also if somebody does not do so.
    world.commit("fungal", "Take the name mushroom");
    world.git(&world.path("fungal"), &["rm", "-q", BINDING_FILE]);
    world.commit("fungal", "Export nothing");
    let check = world.ok(&world.path("fungal"), &["check"]);
    assert!(check.stdout.contains("is no longer needed"), "{check}");
}

#[test]
fn rename_accepts_no_offer() {
    let world = World::pair();
    hand_over(&world);
    world.ok(&world.path("access"), &["contract", "transfer", CONTRACT, "--to", "fungal"]);
    let answer = rename(&world);
    assert_eq!(answer["files"], json!([".blue/config.yaml"]));
    world.commit("fungal", "Take the name mushroom");
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "access");
    assert_eq!(world.stored("transfers/s3-permissions.json")["transfers"][1]["to"], "mushroom");
    // Taking it is another commit.
    let own = world.read(&format!("fungal/{CONTRACT_FILE}")).replace("owner: fungal", "owner: mushroom");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &own);
    world.commit("fungal", "Take it back");
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "mushroom");
}

#[test]
fn rename_keeps_pre_releases_and_can_be_reverted() {
    let world = World::pair();
    world
        .write("fungal/.blue/contracts/s3-access/next.yaml", &contract("1.0.0-rc.1").replace("s3-permissions", "next"));
    world.commit("fungal", "Draft");
    rename(&world);
    world.commit("fungal", "Take the name mushroom");
    let text = contract("1.0.0-rc.2").replace("s3-permissions", "next").replace("owner: fungal", "owner: mushroom");
    world.write("fungal/.blue/contracts/s3-access/next.yaml", &text);
    world.commit("fungal", "Draft 2");
    assert_eq!(world.stored("versions/next/1.0.0-rc.2.json")["owner"], "mushroom");
    world.ok(&world.path("fungal"), &["realm", "admin", "rename", "mushroom", "fungal"]);
    world.commit("fungal", "Take the old name");
    world.ok(&world.path("fungal"), &["status"]);
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "fungal");
}

/// The former owner can remove what it exports only once the new owner has published the contract.
#[test]
fn accepting_passes_while_the_former_owner_still_exports_it() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let offered = world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    let unexport = world.next_steps(&offered).pop().unwrap();
    assert!(unexport.starts_with(&format!("git blue unexport {CONTRACT}  # ")), "{offered}");
    world.git(&access, &["switch", "--quiet", "--create", "take"]);
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.0.0").replace("owner: fungal", "owner: access"));
    world.ok(&access, &["unimport", CONTRACT]);
    // One commit can accept and export it.
    world.ok(&access, &["export", CONTRACT]);
    world.commit("access", "Take it");
    let check = world.ok(&access, &["check"]);
    let warning =
        format!("fungal still exports {CONTRACT}, which access takes over: git blue unexport {CONTRACT} there");
    assert!(check.stdout.contains(&warning), "{check}");
    world.git(&access, &["switch", "--quiet", "main"]);
    world.git(&access, &["merge", "--quiet", "take"]);
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "access");
    world.git(&fungal, &["rm", "-q", CONTRACT_FILE]);
    assert_eq!(world.finish_shell(&fungal, &unexport).code, 0);
    world.commit("fungal", "Give it away");
    for dir in [&fungal, &access] {
        let check = world.ok(dir, &["check"]);
        assert!(!check.all().contains("not-owner"), "{check}");
    }
}

#[test]
fn transfer_takes_effect_when_the_new_owner_publishes() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let path = format!("access/{CONTRACT_FILE}");
    let taken = contract("1.0.0").replace("owner: fungal", "owner: access");
    world.join("other");
    let stranger = world.blue(&access, &["contract", "transfer", CONTRACT, "--to", "access"]).exits(1);
    let not_mine = world.blue(&access, &["contract", "transfer", CONTRACT, "--to", "other"]).exits(1);
    let unknown = world.blue(&fungal, &["contract", "transfer", CONTRACT, "--to", "acces"]).exits(128);
    assert!(unknown.stderr.contains("no repository acces (did you mean access?)"), "{unknown}");
    assert!(unknown.stderr.contains("hint: known repositories: access, "), "{unknown}");
    let no_member = world.blue(&fungal, &["contract", "transfer", CONTRACT, "--to", "other"]).exits(1);
    // A contract that was not offered cannot be accepted.
    world.write(&path, &taken);
    world.commit("access", "Take it");
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "fungal");
    world.git(&access, &["rm", "-q", CONTRACT_FILE]);
    world.commit("access", "Not yet");
    let offered = world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    let asked = world.blue(&access, &["contract", "transfer", CONTRACT, "--to", "access"]).exits(1);
    assert!(asked.stderr.contains("# committing it accepts the contract"), "{asked}");
    let owned = world.blue(&fungal, &["contract", "transfer", CONTRACT, "--to", "fungal"]).exits(129);
    assert!(owned.stderr.contains("fungal already owns s3-access/s3-permissions"), "{owned}");
    let twice = world.json(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    assert_eq!(twice["changed"], false);
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "fungal");
    // Until the offer is taken, the owner still publishes, and may withdraw the offer.
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
    assert_eq!(world.json(&fungal, &["contract", "get", CONTRACT])["offered_to"], "access");
    let back = world.ok(&fungal, &["contract", "transfer", CONTRACT, "--cancel"]);
    assert_eq!(world.json(&fungal, &["contract", "get", CONTRACT]).get("offered_to"), None);
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    snapshot("transfer", &[&stranger, &not_mine, &no_member, &offered, &back]);
    // The printed step, run in the other repository.
    let step = twice["next_steps"][0]["command"].as_str().unwrap();
    let mut command = world.command("sh", &access);
    command.args(["-c", step]);
    assert_eq!(world.finish(command, "sh").code, 0);
    world.write(&format!("access/{BINDING_FILE}"), "role: provider\nexports: [ { contract: s3-permissions } ]\n");
    let run = world.commit("access", "Take it over");
    assert!(run.stderr.contains(CONTRACT), "{run}");
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "access");
    assert_eq!(world.stored("transfers/s3-permissions.json")["transfers"], json!([{"from": "fungal", "to": "access"}]));
    // The old owner's file is ignored now.
    world.bump("1.2.0");
    assert_eq!(world.version(), "1.1.0");
    world.write(&path, &contract("1.3.0").replace("owner: fungal", "owner: access"));
    world.commit("access", "1.3.0");
    assert_eq!(world.version(), "1.3.0");
    world.git(&fungal, &["rm", "-q", CONTRACT_FILE, BINDING_FILE]);
    world.commit("fungal", "It is theirs");
    world.ok(&fungal, &["check"]);
    world.git(&world.store(), &["fsck", "--strict"]);
}

/// A branch from before the transfer changes the contract.
#[test]
fn former_owner_is_told_to_remove_its_newer_file() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.0.0").replace("owner: fungal", "owner: access"));
    world.commit("access", "Take it");
    world.git(&fungal, &["switch", "--quiet", "--create", "older"]);
    world.bump("1.1.0");
    let check = world.blue(&fungal, &["check"]).exits(1);
    let bump = world.blue(&fungal, &["contract", "bump", CONTRACT]).exits(1);
    assert!(bump.stderr.contains(&format!("{CONTRACT} belongs to access")), "{bump}");
    world.git(&fungal, &["switch", "--quiet", "main"]);
    let hook = world.git(&fungal, &["merge", "--quiet", "older"]);
    let status = world.ok(&fungal, &["status"]);
    snapshot("former_owner", &[&check, &hook, &status]);
    let step = world.next_step(&status);
    assert!(world.next_steps(&check).contains(&step), "{check}");
    world.git(&fungal, &["rm", "-q", BINDING_FILE]);
    assert_eq!(world.finish_shell(&fungal.join(".blue"), &step).code, 0);
    world.ok(&fungal, &["check"]);
    assert!(!world.ok(&fungal, &["status"]).stdout.contains("unpublished"));
}

#[test]
fn member_can_be_removed_when_unused() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let remove = |repo: &str| ["realm", "admin", "remove-member", repo, "--domain", "s3-access"].map(str::to_owned);
    let run = |repo: &str| world.blue(&world.path(repo), &remove(repo).each_ref().map(String::as_str));
    // A sync would set the removal of another repository aside.
    let other = world.blue(&fungal, &remove("access").each_ref().map(String::as_str)).exits(1);
    assert!(other.stderr.contains("only access itself can leave s3-access"), "{other}");
    assert_eq!(world.stored("domain.json")["members"], json!(["access", "fungal"]));
    let refused = run("fungal").exits(1);
    assert!(refused.stderr.contains("access imports") && refused.stderr.contains("contract transfer"), "{refused}");
    let gone = run("access").exits(0);
    assert_eq!(world.stored("domain.json")["members"], json!(["fungal"]));
    let twice = run("access").exits(1);
    world.ok(&fungal, &["contract", "retire", CONTRACT, "--reason", "gone"]);
    run("fungal").exits(0);
    snapshot("remove_member", &[&refused, &gone, &twice]);
    // Its file still exists, and publishing it is refused.
    world.write(&format!("access/{BINDING_FILE}"), &crate::world::importing(">=1.0.0, <4.0.0"));
    let run = world.commit("access", "Still here");
    assert!(run.stderr.contains("access is no longer a member of s3-access"), "{run}");
}

/// Nobody could push later what was deleted with the store.
#[test]
fn realm_with_changes_that_were_not_pushed_stays() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["init", "--url", &world.hub()]);
    world.git(&fungal, &["rm", "-rq", ".blue/bindings", ".blue/contracts"]);
    world.commit("fungal", "Leave s3-access");
    world.ok(&fungal, &["contract", "retire", CONTRACT, "--reason", "gone"]);
    world.ok(&fungal, &["realm", "admin", "remove-domain", "s3-access"]);
    world.ok(&fungal, &["realm", "admin", "leave"]);
    let realm = ["realm", "admin", "remove-realm", REALM];
    let refused = world.blue(&world.root(), &realm).exits(1);
    let steps = world.next_steps(&refused);
    assert_eq!(
        steps,
        [
            "git blue --realm aperture sync  # push them",
            "git blue --realm aperture realm admin remove-realm aperture --force  # or delete them",
        ],
        "{refused}"
    );
    for step in steps {
        assert_eq!(world.finish_shell(&world.root(), &step).code, 0, "{step}");
    }
    assert!(!world.store().exists());
}

#[test]
fn empty_domain_and_realm_can_be_removed() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let domain = ["realm", "admin", "remove-domain", "s3-access"];
    let realm = ["realm", "admin", "remove-realm", REALM];
    let in_use = world.blue(&fungal, &domain).exits(1);
    let full = world.blue(&fungal, &realm).exits(1);
    for repo in ["fungal", "access"] {
        world.git(&world.path(repo), &["rm", "-q", BINDING_FILE]);
        world.commit(repo, "Leave s3-access");
    }
    world.ok(&fungal, &["contract", "retire", CONTRACT, "--reason", "gone"]);
    let gone = world.ok(&fungal, &domain);
    assert_eq!(world.json(&fungal, &["status", "--peek"])["domains"], json!([]));
    assert_eq!(world.json(&fungal, &["contract", "list"])["total"], 0);
    world.blue(&fungal, &domain).exits(1);
    // Its history stays, and a domain of that name continues it.
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal"]);
    assert_eq!(world.json(&fungal, &["contract", "list"])["total"], 1);
    world.ok(&fungal, &["realm", "admin", "remove-domain", "s3-access"]);
    for dir in [&fungal, &access] {
        world.ok(dir, &["realm", "admin", "leave"]);
    }
    let deleted = world.ok(&world.root(), &realm);
    assert!(!world.store().exists());
    let unknown = world.blue(&world.root(), &realm).exits(128);
    snapshot("remove", &[&in_use, &full, &gone, &deleted, &unknown]);
    assert!(!world.read("home/blue/config").contains("fungal"), "nor is a repository of it recorded");
}

#[test]
fn accepting_is_committed_once_the_file_is_written() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    let status = world.ok(&access, &["status"]).stdout;
    let write = status.lines().find(|line| line.trim().starts_with("mkdir -p ")).unwrap();
    assert_eq!(world.finish_shell(&access, write).code, 0);
    let status = world.ok(&access, &["status"]);
    let commit = world.next_step(&status);
    assert_eq!(
        commit,
        format!("git add {CONTRACT_FILE} && git commit -m \"Accept {CONTRACT}\"  # this accepts the contract")
    );
    assert!(!status.stdout.contains("outdated"), "{status}");
    assert_eq!(world.finish_shell(&access, &commit).code, 0);
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "access");
    assert_eq!(world.json(&access, &["status"])["offers"], json!([]));
}

/// A repository that was split off has the contract's file already, with comments and references.
#[test]
fn offered_contract_with_a_file_is_accepted_by_editing_it() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.write(&format!("access/{CONTRACT_FILE}"), &world.read(&format!("fungal/{CONTRACT_FILE}")));
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    let status = world.ok(&access, &["status"]);
    let edit = format!("write owner: access in {CONTRACT_FILE}, and commit, to accept {CONTRACT}");
    assert!(status.stdout.contains(&edit) && !status.stdout.contains("sed"), "{status}");
    // An offer stays open after it was seen, until it is withdrawn.
    assert!(world.ok(&access, &["status"]).stdout.contains(&edit));
    let offer = json!([{"domain": "s3-access", "contract": "s3-permissions", "from": "fungal", "to": "access"}]);
    for (dir, said) in [(&access, "offered by fungal"), (&fungal, "offered to access, which has not accepted it yet")] {
        assert_eq!(world.json(dir, &["status"])["offers"], offer);
        assert!(world.ok(dir, &["status"]).stdout.contains(&format!("{CONTRACT}  {said}\n")));
        let prime = world.ok(dir, &["prime"]).stdout;
        assert!(
            prime.contains(&format!("Offers that are not accepted yet: {CONTRACT} by fungal to access.")),
            "{prime}"
        );
    }
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--cancel"]);
    for dir in [&access, &fungal] {
        assert_eq!(world.json(dir, &["status"])["offers"], json!([]));
        let status = world.ok(dir, &["status"]).stdout;
        assert!(!status.contains(&edit) && !status.contains("open offers"), "{status}");
    }
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.0.0").replace("owner: fungal", "owner: access"));
    world.commit("access", "Take it");
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "access");
    let older = world.json(&access, &["contract", "get", CONTRACT, "--version", "1.0.0"]);
    assert_eq!(older.get("offered_to"), None, "{older}");
}

/// The owner publishes a version after the file was written that accepts its offer.
#[test]
fn file_that_the_owners_next_version_overtook_accepts_nothing() {
    let world = World::pair();
    let access = world.path("access");
    world.ok(&world.path("fungal"), &["contract", "transfer", CONTRACT, "--to", "access"]);
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.0.0").replace("owner: fungal", "owner: access"));
    world.bump("2.0.0");
    let hook = world.commit("access", "Take it over");
    let refused = "is 1.0.0 here and 2.0.0 in the realm; take its content from the realm to accept it";
    assert!(hook.stderr.contains(refused), "{hook}");
    world.write("access/docs/README.md", "");
    for (dir, up) in [(access.clone(), ""), (access.join("docs"), "../")] {
        let publish = world.blue(&dir, &["contract", "publish"]).exits(1);
        let step = format!("hint: mkdir -p {up}.blue/contracts/s3-access && ");
        assert!(publish.stderr.contains(&step), "{publish}");
        assert!(!publish.all().contains("--rollback"), "{publish}");
    }
    let status = world.ok(&access, &["status"]);
    assert!(status.stdout.contains(refused) && !status.stdout.contains("--rollback"), "{status}");
    let rollback = world.blue(&access, &["contract", "publish", "--rollback", "--reason", "older"]).exits(1);
    assert!(rollback.stderr.contains(refused), "{rollback}");
    let step = rollback.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
    assert_eq!(world.finish_shell(&access, step).code, 0);
    world.commit("access", "Take the current version over");
    let held = world.stored("contracts/s3-permissions.json");
    assert_eq!((&held["owner"], &held["version"]), (&json!("access"), &json!("2.0.0")));
}

/// Another name of the owner or of the receiver does not make another offer.
#[test]
fn offer_is_told_once_whatever_its_parties_are_called() {
    let world = World::pair();
    let [fungal, access] = ["fungal", "access"].map(|repo| world.path(repo));
    world.ok(&fungal, &["contract", "transfer", "s3-access/s3-permissions", "--to", "access"]);
    let pending = || world.json(&access, &["status"])["notifications"].clone();
    assert_eq!(pending()[0]["change_type"], "ContractOffered");
    rename(&world);
    assert_eq!(pending(), json!([]));
    world.ok(&access, &["realm", "admin", "rename", "access", "reader"]);
    assert_eq!(pending(), json!([]));
    for (args, told) in [(&["--cancel"][..], 0), (&["--to", "reader"], 1)] {
        world.ok(&fungal, &[&["contract", "transfer", "s3-access/s3-permissions"], args].concat());
        assert_eq!(pending().as_array().map(Vec::len), Some(told), "{args:?}");
    }
}
