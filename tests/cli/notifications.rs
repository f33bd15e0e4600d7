//! Changes are notified once, and only to those concerned.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, World, contract, snapshot};

/// Returns the notifications in `status`, and marks them as seen.
pub fn told(world: &World, repo: &str) -> Vec<Value> {
    world.json(&world.path(repo), &["status"])["notifications"].as_array().unwrap().clone()
}

/// Returns the notifications of a repository in one state, without marking them.
pub fn listed(world: &World, repo: &str, state: &str) -> Vec<Value> {
    let answer = world.json(&world.path(repo), &["notifications", "list", "--state", state]);
    answer["notifications"].as_array().unwrap().clone()
}

pub fn pending(world: &World, repo: &str) -> usize {
    listed(world, repo, "pending").len()
}

#[test]
fn bump_on_main_is_pending_once_and_then_seen() {
    let world = World::pair();
    let consumer = world.path("access");
    let commit = world.bump("1.1.0");
    assert_eq!(commit.stderr, "git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0\n");

    let listed_before = world.json(&consumer, &["notifications", "list"]);
    let one = &listed_before["notifications"][0];
    assert_eq!(
        *one,
        json!({
            "id": one["id"],
            "type": "contract_updated",
            "change_type": "VersionChanged",
            "also": [],
            "rank": "import",
            "realm": "aperture",
            "domain": "s3-access",
            "contract": "s3-permissions",
            "from_repo": "fungal",
            "author": "Ada <ada@example.com>",
            "source_commit": world.line(&world.path("fungal"), &["rev-parse", "HEAD"]),
            "changed_by_other": false,
            "by_other_clone": false,
            "in_future": false,
            "changes": { "old_version": "1.0.0", "new_version": "1.1.0" },
            "rollback": false,
            "version_count": 1,
            "affects_me": true,
            "binding": "cdk/access_stack.py",
            "import_state": "satisfied",
            "judged_by": "schemas",
            "verdict": null,
            "state": "pending",
            "created_at": one["created_at"],
            "arrived_at": one["created_at"],
        })
    );
    let id = one["id"].as_str().unwrap();
    assert!(id.len() == 18 && id.starts_with("notif-") && id[6..].bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
    assert_eq!(
        listed_before["summary"],
        json!({"total": 1, "pending": 1, "seen": 0, "expired": 0, "expired_cleaned": 0, "dropped": 0})
    );

    let status = world.ok(&consumer, &["status"]);
    assert!(status.stdout.contains("fungal changed s3-access/s3-permissions 1.0.0 -> 1.1.0"), "{status}");
    let again = world.ok(&consumer, &["status"]);
    assert!(!again.stdout.contains("fungal changed"), "{again}");
    let list = world.ok(&consumer, &["notifications", "list"]);
    snapshot("told_once", &[&commit, &status, &again, &list]);

    let seen = listed(&world, "access", "seen");
    assert_eq!(seen.len(), 1);
    assert_eq!((&seen[0]["id"], &seen[0]["state"]), (&one["id"], &json!("seen")));
    assert_eq!(pending(&world, "access"), 0);
}

#[test]
fn commit_on_a_feature_branch_publishes_nothing() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "--quiet", "-c", "feature"]);
    let before = world.tip(crate::world::DOMAIN_REF);
    let commit = world.bump("1.1.0");
    assert_eq!(commit.all(), "git blue: the changes to .blue/ are published once this commit is on main\n");
    assert_eq!(world.tip(crate::world::DOMAIN_REF), before);
    assert_eq!(pending(&world, "access"), 0);
    // Publishing it explicitly is refused with the reason.
    let run = world.blue(&world.path("fungal"), &["contract", "publish"]).exits(1);
    snapshot("feature_branch", &[&run]);
    // After the merge it is notified.
    world.git(&world.path("fungal"), &["switch", "--quiet", "main"]);
    world.git(&world.path("fungal"), &["merge", "--quiet", "--no-ff", "-m", "Merge feature", "feature"]);
    world.ok(&world.path("fungal"), &["contract", "publish"]);
    assert_eq!(pending(&world, "access"), 1);
}

#[test]
fn provider_and_non_members_are_not_notified() {
    let world = World::pair();
    world.join("elsewhere");
    world.bump("1.1.0");
    assert_eq!(told(&world, "fungal"), Vec::<Value>::new());
    assert_eq!(told(&world, "elsewhere"), Vec::<Value>::new());
    assert_eq!(told(&world, "access").len(), 1);
}

#[test]
fn change_and_rollback_cancel_out_if_unseen() {
    let world = World::pair();
    world.bump("1.1.0");
    roll_back(&world);
    assert_eq!(world.version(), "1.0.0");
    assert_eq!(told(&world, "access"), Vec::<Value>::new());
}

#[test]
fn rollback_of_a_seen_change_is_notified() {
    let world = World::pair();
    world.bump("1.1.0");
    assert_eq!(told(&world, "access").len(), 1);
    roll_back(&world);
    let status = world.ok(&world.path("access"), &["status", "--peek"]);
    snapshot("rollback_told", &[&status]);
    let told = told(&world, "access");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["change_type"], "VersionChanged");
    assert_eq!(told[0]["rollback"], true);
    assert_eq!(told[0]["changes"], json!({"old_version": "1.1.0", "new_version": "1.0.0"}));
}

/// Rolls back to 1.0.0 with the owner's command.
fn roll_back(world: &World) {
    world.bump("1.0.0");
    let provider = world.path("fungal");
    world.ok(&provider, &["contract", "publish", "--rollback", "--reason", "1.1.0 broke the masks"]);
}

#[test]
fn peek_marks_nothing() {
    let world = World::pair();
    let consumer = world.path("access");
    world.bump("1.1.0");
    for look in [
        &["status", "--peek"][..],
        &["check"],
        &["contract", "get", "s3-access/s3-permissions"],
        &["contract", "list"],
        &["realm", "log"],
        &["notifications", "list"],
        &["hooks", "status"],
    ] {
        world.ok(&consumer, look);
        assert_eq!(pending(&world, "access"), 1, "{look:?} told");
    }
    world.commit("access", "A commit, so that the hook runs");
    assert_eq!(pending(&world, "access"), 1, "the hook told");
    let peek = world.json(&consumer, &["status", "--peek"]);
    assert_eq!(peek["notifications"].as_array().unwrap().len(), 1);
}

#[test]
fn unread_output_marks_nothing() {
    let world = World::pair();
    world.bump("1.1.0");
    let run = world.blue_unread(&world.path("access"), &["status"]).exits(0);
    assert_eq!(run.stderr, "");
    assert_eq!(pending(&world, "access"), 1);
}

#[test]
fn ack_marks_only_what_it_names() {
    let world = World::pair();
    let consumer = world.path("access");
    world.bump("1.1.0");
    world.write(&format!("fungal/{BINDING_FILE}"), "role: provider\nexports:\n  - contract: s3-permissions\n");
    world.commit("fungal", "Name no source files");
    let before = listed(&world, "access", "pending");
    assert_eq!(before.len(), 2);
    let id = before[0]["id"].as_str().unwrap();
    let ack = world.json(&consumer, &["notifications", "ack", id]);
    assert_eq!(ack["acknowledged"], json!([id]));
    let left = listed(&world, "access", "pending");
    assert_eq!(left, before[1..]);
    assert_eq!(listed(&world, "access", "seen")[0]["id"], id);

    // Marking it again changes nothing.
    let again = world.json(&consumer, &["notifications", "ack", id]);
    assert_eq!((&again["acknowledged"], &again["already_seen"]), (&json!([id]), &json!(1)));
    let again = world.ok(&consumer, &["notifications", "ack", id]).stdout;
    assert_eq!(again, "marked 0 notifications as seen; 1 was seen before\n");
    assert_eq!(listed(&world, "access", "pending"), before[1..]);
    let unknown = world.blue(&consumer, &["notifications", "ack", "notif-000000000000"]).exits(1);
    let one_unknown = world.blue(&consumer, &["notifications", "ack", id, "notif-000000000000"]).exits(1);
    assert!(one_unknown.stdout.contains("1 was seen before\nno such notification: "), "{one_unknown}");
    let all = world.ok(&consumer, &["notifications", "ack", "--all"]);
    snapshot("ack", &[&unknown, &all]);
    assert_eq!(pending(&world, "access"), 0);
}

#[test]
fn several_versions_are_one_notification() {
    let world = World::pair();
    for version in ["1.1.0", "1.2.0-rc.1", "1.2.0", "2.0.0"] {
        world.bump(version);
    }
    let told = told(&world, "access");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["version_count"], 3, "a pre-release is no version to hear of");
    assert_eq!(told[0]["changes"], json!({"old_version": "1.0.0", "new_version": "2.0.0"}));
    assert_eq!(told[0]["import_state"], "broken");
}

#[test]
fn broken_import_is_shown_until_fixed() {
    let world = World::pair();
    let consumer = world.path("access");
    world.bump("2.0.0");
    let first = world.ok(&consumer, &["status"]);
    let second = world.ok(&consumer, &["status"]);
    assert!(second.stdout.contains("broken: the current version is 2.0.0"), "{second}");
    snapshot("broken_import_in_status", &[&first, &second]);
    let answer = world.json(&consumer, &["status"]);
    assert_eq!(answer["imports"][0]["state"], "broken");
    assert_eq!(answer["imports"][0]["resolved_version"], Value::Null);
}

#[test]
fn every_kind_of_change_has_a_description() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    let kinds = |repo| -> Vec<_> {
        let told = told(&world, repo);
        told.iter().map(|one| (one["change_type"].clone(), one["contract"].clone(), one["from_repo"].clone())).collect()
    };

    let extra = contract("0.1.0").replace("s3-permissions", "extra");
    world.write("fungal/.blue/contracts/s3-access/extra.yaml", &extra);
    world.commit("fungal", "One more");
    assert_eq!(kinds("access"), [(json!("ContractAdded"), json!("extra"), json!("fungal"))]);

    world.ok(&provider, &["contract", "retire", "s3-access/extra", "--reason", "nobody wants it"]);
    assert_eq!(kinds("access"), [(json!("ContractRetired"), json!("extra"), json!("fungal"))]);

    world.write(&format!("access/{BINDING_FILE}"), &crate::world::importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept more");
    assert_eq!(kinds("fungal"), [(json!("BindingAdded"), Value::Null, json!("access"))]);

    world.git(&consumer, &["rm", "--quiet", BINDING_FILE]);
    world.commit("access", "Read nothing any more");
    assert_eq!(kinds("fungal"), [(json!("BindingRemoved"), Value::Null, json!("access"))]);
    assert_eq!(kinds("access"), []);
}

#[test]
fn changes_of_a_contract_without_a_new_version_are_notified() {
    let world = World::pair();
    let kinds = || -> Vec<_> { told(&world, "access").iter().map(|one| one["change_type"].clone()).collect() };
    let write = |version: &str, lines: &str| {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("{}{lines}", contract(version)));
        world.commit("fungal", "Change the promises")
    };
    write("2.0.0", "supported: [\">=1.0.0, <2.0.0\"]\n");
    assert_eq!(kinds(), ["VersionChanged"]);

    // The import breaks although the version stays.
    let narrowing = write("2.0.0", "");
    assert!(
        narrowing.stderr.starts_with("git blue: updated s3-access/s3-permissions 2.0.0 (supported removed)"),
        "{narrowing}"
    );
    let narrowed = listed(&world, "access", "pending");
    assert_eq!((&narrowed[0]["change_type"], &narrowed[0]["rank"]), (&json!("SupportChanged"), &json!("broken")));
    assert_eq!(kinds(), ["SupportChanged"]);

    let successor = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &successor);
    world.commit("fungal", "Add the successor");
    assert_eq!(kinds(), ["ContractAdded"]);
    let told_of = write("2.0.0", "deprecated: { since: \"2.0.0\", sunset: 2030-12-31, replaced_by: s3-paths }\n");
    let told_of = told_of.stderr.split(';').next().unwrap_or_default().to_owned();
    assert_eq!(told_of, "git blue: updated s3-access/s3-permissions 2.0.0 (deprecated)\n");
    let text = world.ok(&world.path("access"), &["notifications", "list"]).stdout;
    let line = "fungal deprecated s3-access/s3-permissions (served until 2030-12-31, use s3-paths)";
    assert!(text.contains(line), "{text}");
    assert_eq!(kinds(), ["ContractDeprecated"]);

    write("2.0.0", "");
    let text = world.ok(&world.path("access"), &["notifications", "list"]).stdout;
    assert!(text.contains("fungal withdrew the deprecation of s3-access/s3-permissions "), "{text}");
    assert_eq!(kinds(), ["ContractDeprecated"]);

    let yank = ["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "leaks"];
    world.ok(&world.path("fungal"), &yank);
    let yanked = listed(&world, "access", "pending");
    assert_eq!(yanked[0]["changes"], json!({"old_version": "1.0.0", "new_version": "2.0.0"}));
    assert_eq!(yanked[0]["type"], "version_yanked");
    let text = world.ok(&world.path("access"), &["notifications", "list"]).stdout;
    assert!(text.contains("fungal yanked s3-access/s3-permissions 1.0.0") && !text.contains("leaks"), "{text}");
    assert_eq!(kinds(), ["VersionYanked"]);
    world.ok(&world.path("fungal"), &yank);
    assert_eq!(kinds(), [""; 0]);
}

/// Several changes of one contract are one notification, which names each of them.
#[test]
fn changes_that_come_with_a_new_version_are_notified_too() {
    let world = World::pair();
    let file = format!("fungal/{CONTRACT_FILE}");
    world.write(&file, &format!("{}deprecated: {{ since: \"1.1.0\" }}\n", contract("1.1.0")));
    world.commit("fungal", "Deprecate it");
    world.ok(&world.path("fungal"), &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "leaks"]);
    for (kind, count) in
        [("contract_updated", 1), ("contract_deprecated", 1), ("version_yanked", 1), ("owner_changed", 0)]
    {
        let list = world.json(&world.path("access"), &["notifications", "list", "--state", "pending", "--kind", kind]);
        assert_eq!(list["notifications"].as_array().unwrap().len(), count, "{kind} {list}");
        let log = world.json(&world.path("access"), &["realm", "log", "--kind", kind]);
        assert_eq!(log["entries"].as_array().unwrap().len(), count, "{kind} {log}");
    }
    let text = world.ok(&world.path("access"), &["notifications", "list"]).stdout;
    let line = "fungal changed s3-access/s3-permissions 1.0.0 -> 1.1.0, yanked 1.0.0 and deprecated the contract";
    assert!(text.contains(line), "{text}");
}

#[test]
fn contract_retired_before_it_was_seen_is_notified_to_importers() {
    let world = World::pair();
    let late = world.join("late");
    world.ok(&late, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "late"]);
    let extra = contract("0.1.0").replace("s3-permissions", "extra");
    world.write("fungal/.blue/contracts/s3-access/extra.yaml", &extra);
    world.commit("fungal", "One more");
    world.ok(&world.path("access"), &["import", "s3-access/extra"]);
    world.commit("access", "Import it");
    let retire = ["contract", "retire", "s3-access/extra", "--force", "--reason", "gone"];
    world.ok(&world.path("fungal"), &retire);
    let kinds = |repo| -> Vec<_> { told(&world, repo).iter().map(|one| one["change_type"].clone()).collect() };
    assert_eq!(kinds("access"), ["ContractRetired"]);
    assert_eq!(kinds("late"), ["BindingAdded"]);
}

#[test]
fn offered_contract_is_notified_to_its_receiver_and_its_former_owner() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.ok(&fungal, &["contract", "transfer", "s3-access/s3-permissions", "--to", "access"]);
    assert_eq!(pending(&world, "fungal"), 0);
    assert_eq!(listed(&world, "access", "pending")[0]["change_type"], "ContractOffered");
    let status = world.ok(&access, &["status"]);
    assert!(status.stdout.contains("fungal offers to hand over s3-access/s3-permissions"), "{status}");
    let step = world.json(&access, &["status", "--peek"]);
    assert_eq!(step["notifications"], json!([]), "it is shown once");
    let accept = status.stdout.lines().find(|line| line.contains("owner: access")).unwrap();
    assert_eq!(world.finish_shell(&access, accept).code, 0);
    world.commit("access", "Take it over");
    assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "access");
    let taken: Vec<_> = told(&world, "fungal").iter().map(|one| one["change_type"].clone()).collect();
    assert_eq!(taken, ["OwnerChanged"]);
    // The files that the former owner still has.
    let check = world.blue(&fungal, &["check"]).exits(1);
    assert!(check.stdout.contains(&format!("git rm {CONTRACT_FILE} removes it")), "{check}");
}

/// The former owner may have changed the version, so the new one is only said to have taken the contract over.
#[test]
fn version_and_owner_that_changed_are_told_together() {
    let world = World::pair();
    let (fungal, access, late) = (world.path("fungal"), world.path("access"), world.join("late"));
    world.ok(&late, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "late"]);
    world.ok(&late, &["status"]);
    world.bump("1.1.0");
    world.ok(&fungal, &["contract", "transfer", "s3-access/s3-permissions", "--to", "access"]);
    let status = world.ok(&access, &["status"]);
    let accept = status.stdout.lines().find(|line| line.contains("owner: access")).unwrap();
    assert_eq!(world.finish_shell(&access, accept).code, 0);
    world.commit("access", "Take it over");
    let status = world.ok(&late, &["status"]);
    assert!(
        status.stdout.contains("access took over s3-access/s3-permissions, which went 1.0.0 -> 1.1.0  "),
        "{status}"
    );
}

#[test]
fn withdrawn_offer_is_not_notified() {
    let world = World::pair();
    let transfer = |args: [&str; 2]| {
        let args: Vec<_> = ["contract", "transfer", "s3-access/s3-permissions"].into_iter().chain(args).collect();
        world.ok(&world.path("fungal"), &args)
    };
    transfer(["--to", "access"]);
    transfer(["--cancel", "--json"]);
    assert_eq!(pending(&world, "access"), 0);
}

#[test]
fn description_change_is_not_notified() {
    let world = World::pair();
    let described = contract("1.0.0").replace("Paths that fungal writes and others read", "Paths");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &described);
    world.commit("fungal", "Say it shorter");
    assert_eq!(world.stored("contracts/s3-permissions.json")["description"], "Paths");
    assert_eq!(pending(&world, "access"), 0);
}

#[test]
fn new_member_starts_at_the_current_state() {
    let world = World::pair();
    world.bump("1.1.0");
    let late = world.join("late");
    world.ok(&late, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "late"]);
    assert_eq!(pending(&world, "late"), 0);
    world.bump("1.2.0");
    let told = told(&world, "late");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["changes"], json!({"old_version": "1.1.0", "new_version": "1.2.0"}));
    assert_eq!((&told[0]["affects_me"], &told[0]["import_state"]), (&json!(false), &Value::Null));
}

#[test]
fn worktrees_of_a_repository_are_one_reader() {
    let world = World::pair();
    let consumer = world.path("access");
    world.git(&consumer, &["worktree", "add", "--quiet", "../linked", "-b", "topic"]);
    world.bump("1.1.0");
    assert_eq!(told(&world, "linked").len(), 1);
    assert_eq!(told(&world, "access"), Vec::<Value>::new());
}

/// Returns the notifications that a `status` shows a reader, and marks them.
fn told_to(world: &World, reader: &str) -> usize {
    use git_blue::ops::{inboxes::inbox, realm};
    let command = world.command("git", &world.path("access"));
    let vars = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let env = git_blue::env::Env::isolated(world.path("access"), vars.collect::<Vec<_>>());
    let ctx = git_blue::ops::ctx::Ctx::open(env, None).unwrap();
    let reader = reader.parse().unwrap();
    let request = realm::status::Request { reader: Some(reader), catch_up: true, ..realm::status::Request::default() };
    let realm::status::Outcome { answer, receipt, .. } = realm::status::run(&ctx, &request).unwrap();
    let acting = ctx.acting_repo().unwrap();
    inbox::record(acting.store, acting.repo, request.reader.as_ref().unwrap(), &receipt, || ctx.env.now_here())
        .unwrap();
    answer.body.notifications.len()
}

#[test]
fn each_reader_is_notified_once_and_new_ones_start_at_the_shared_state() {
    let world = World::pair();
    assert_eq!((told_to(&world, "cli"), told_to(&world, "claude-1")), (0, 0));
    world.bump("1.1.0");
    assert_eq!((told_to(&world, "cli"), told_to(&world, "claude-1")), (1, 1));
    assert_eq!((told_to(&world, "cli"), told_to(&world, "claude-1")), (0, 0));
    assert_eq!(told_to(&world, "claude-2"), 0, "it starts where the repository is");
    world.bump("1.2.0");
    assert_eq!((told_to(&world, "claude-2"), told_to(&world, "claude-1"), told_to(&world, "cli")), (1, 1, 1));
}

/// Nobody can change the contracts of a repository that left, until it joins again.
#[test]
fn importers_are_told_that_an_owner_left() {
    let world = World::pair();
    let consumer = world.path("access");
    told(&world, "access");
    world.ok(&world.path("fungal"), &["leave", "--force"]);
    let one = &listed(&world, "access", "pending")[0];
    assert_eq!((&one["type"], &one["rank"]), (&json!("repo_left"), &json!("attention")), "{one}");
    assert_eq!(
        (&one["from_repo"], &one["contract"], &one["affects_me"]),
        (&json!("fungal"), &json!(null), &json!(true))
    );
    let status = world.ok(&consumer, &["status"]);
    let said = "fungal left s3-access: nobody can change or retire its contracts there  your import s3-access/s3-permissions \
        stays as it is";
    assert!(status.stdout.contains(said), "{status}");
    let lasting = ["1 import needs attention", "accepts 1.0.0, but its owner left the domain"];
    let again = world.ok(&consumer, &["status"]);
    assert!(lasting.iter().all(|said| again.stdout.contains(said)), "{again}");
    let step = world.next_steps(&again).into_iter().find(|step| step.contains("the owner of")).unwrap();
    world.finish_shell(&consumer, &step).exits(0);
    assert!(world.ok(&consumer, &["prime"]).stdout.contains("The owner left the domain: s3-access/s3-permissions."));
    assert_eq!(pending(&world, "access"), 0);
    let log = world.ok(&consumer, &["realm", "log", "--kind", "repo_left"]);
    assert_eq!(log.stdout.lines().count(), 1, "{log}");
    world.ok(&world.path("fungal"), &["init", "--realm", "aperture"]);
    world.ok(&consumer, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal"]);
    let back = world.ok(&consumer, &["status"]);
    assert!(back.stdout.contains("1 import holds") && !back.stdout.contains("owner"), "{back}");
}

/// Whoever imports nothing of a repository that left need not know of it before other changes, and nobody needs to know
/// of one that leaves nothing behind.
#[test]
fn others_are_told_less_of_a_repository_that_left() {
    let world = World::pair();
    world.join("billing");
    let add = ["realm", "admin", "domain", "--name", "s3-access", "--repos", "billing"];
    world.ok(&world.path("fungal"), &add);
    world.ok(&world.path("access"), &["leave", "--force"]);
    assert!(listed(&world, "billing", "pending").iter().all(|one| one["type"] != "repo_left"));
    world.ok(&world.path("fungal"), &["leave", "--force"]);
    let pending = listed(&world, "billing", "pending");
    let left = pending.iter().find(|one| one["type"] == "repo_left").unwrap();
    assert_eq!((&left["rank"], &left["affects_me"]), (&json!("contract"), &json!(false)));
}

/// Whoever edits the file later did not make the change.
#[test]
fn notification_names_who_made_the_change() {
    let world = World::pair();
    let fungal = world.path("fungal");
    told(&world, "access");
    let become_user = |name: &str| world.git(&fungal, &["config", "user.name", name]);
    become_user("Alice");
    world.bump("1.1.0");
    let commit = world.line(&fungal, &["rev-parse", "HEAD"]);
    become_user("Bob");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("others read", "others rely on"));
    world.commit("fungal", "Correct the description");
    become_user("Carol");
    world.ok(&fungal, &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "wrong"]);
    let one = &listed(&world, "access", "pending")[0];
    assert_eq!((&one["change_type"], &one["also"]), (&json!("VersionChanged"), &json!(["VersionYanked"])), "{one}");
    assert!(one["author"].as_str().unwrap().starts_with("Alice <"), "{one}");
    assert_eq!(one["source_commit"], commit, "{one}");
}
