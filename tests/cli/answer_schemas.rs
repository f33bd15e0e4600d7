//! Every operation answers as its schema says, and the checks of answers and next steps in every test find mistakes.

use std::collections::BTreeSet;

use git_blue::ops;

use crate::{
    daemon::Daemon,
    schemas::{hold, operation},
    world::{World, contract as contract_file, next_steps},
};

#[test]
fn finds_a_step_that_cannot_be_pasted() {
    next_steps::hold(&["git blue status  # see".into(), "git -C /x blue check && git commit -m \"a b\"".into()]);
    let wrong = std::panic::catch_unwind(|| next_steps::hold(&["git blue contract show s3/paths".into()]));
    assert!(wrong.is_err());
}

#[test]
fn finds_a_field_missing_from_a_schema() {
    let answer = r#"{"status":"success","realms":[],"next_steps":[]}"#;
    hold(&["realm", "list", "--json"], answer);
    for wrong in [answer.replace("realms", "realm"), answer.replace("[]}", "[],\"more\":1}")] {
        assert!(std::panic::catch_unwind(|| hold(&["realm", "list", "--json"], &wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn every_operation_matches_its_schema() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    world.bump("1.1.0");
    let contract = "s3-access/s3-permissions";
    world.write("new.yaml", &contract_file("1.2.0"));
    let file = world.path("new.yaml");
    world.write("plan.yaml", "repos: [{ name: planned }]\ndomains: [{ name: planned, repos: [planned] }]\n");
    world.write("old.json", "{\"type\": \"integer\"}");
    world.write("new.json", "{\"type\": [\"integer\", \"string\"]}");
    world.write("payload.json", "{\"read\": []}");
    world.repo("third");
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "other"]);
    let hub = world.hub();
    let _daemon = Daemon::start(&world);
    let calls: &[(&str, &[&str])] = &[
        ("access", &["status", "--peek"]),
        ("access", &["check"]),
        ("access", &["init"]),
        ("access", &["realm", "status", "--peek"]),
        ("access", &["realm", "check"]),
        ("access", &["review"]),
        ("access", &["prime"]),
        ("access", &["realm", "review"]),
        ("access", &["realm", "list"]),
        ("access", &["realm", "log"]),
        ("access", &["realm", "topology"]),
        ("access", &["realm", "compare", "other"]),
        ("access", &["init", "--url", &hub]),
        ("access", &["realm", "admin", "domain", "--name", "unsent", "--repos", "access,fungal"]),
        ("access", &["status"]),
        ("access", &["realm", "sync"]),
        ("access", &["realm", "admin", "reseed"]),
        (".", &["realm", "admin", "init", "--name", "third"]),
        ("third", &["realm", "admin", "join", "aperture"]),
        ("third", &["realm", "admin", "reclaim", "--reason", "ours"]),
        ("third", &["realm", "admin", "leave"]),
        ("access", &["realm", "admin", "domain", "--name", "more", "--repos", "access,fungal"]),
        ("access", &["realm", "admin", "contract", "--domain", "more", "--name", "c", "--owner", "access"]),
        ("access", &["realm", "admin", "binding", "--domain", "more", "--repo", "access", "--role", "both"]),
        ("access", &["realm", "admin", "bootstrap", "--from", "../plan.yaml"]),
        ("access", &["realm", "admin", "cache", "stats"]),
        ("access", &["realm", "admin", "cache", "clear"]),
        ("access", &["realm", "worktree", "create", "--rfc", "rfc-1"]),
        ("access", &["realm", "worktree", "list"]),
        ("access", &["realm", "pr", "status", "--rfc", "rfc-1"]),
        ("access", &["realm", "pr", "prepare", "--rfc", "rfc-1", "--message", "m"]),
        ("access", &["realm", "pr", "create", "--rfc", "rfc-1", "--title", "t"]),
        ("access", &["realm", "worktree", "remove", "--rfc", "rfc-1"]),
        ("access", &["session", "start"]),
        ("access", &["session", "status"]),
        ("access", &["session", "list"]),
        ("access", &["session", "stop"]),
        (".", &["compat", "old.json", "new.json"]),
        ("access", &["contract", "list"]),
        ("access", &["contract", "get", contract]),
        ("access", &["contract", "log", contract]),
        ("access", &["contract", "timeline", contract]),
        ("access", &["contract", "blame", contract]),
        ("access", &["contract", "diff", contract]),
        ("access", &["contract", "impact", contract]),
        ("fungal", &["contract", "publish"]),
        ("fungal", &["contract", "validate", contract, "../payload.json"]),
        ("fungal", &["contract", "bump", contract, "minor"]),
        ("access", &["contract", "new", "more/d", "--from-samples", "../payload.json"]),
        ("access", &["export", "more/d"]),
        ("access", &["unexport", "more/d"]),
        ("access", &["import", "more/c", ">=0.1.0"]),
        ("access", &["contract", "expect", "more/c", "--from-samples", "../payload.json"]),
        ("access", &["unimport", "more/c"]),
        ("fungal", &["contract", "edit", contract, "--file", file.to_str().unwrap()]),
        ("access", &["notifications", "list"]),
        ("access", &["notifications", "ack", "--all"]),
        ("fungal", &["contract", "yank", contract, "1.0.0", "--reason", "wrong"]),
        ("fungal", &["contract", "retire", contract, "--reason", "moved", "--force"]),
        ("access", &["contract", "adapted", contract, "1.0.0"]),
        ("fungal", &["contract", "transfer", contract, "--to", "access"]),
        ("fungal", &["realm", "admin", "remove-member", "fungal", "--domain", "unsent"]),
        ("access", &["realm", "admin", "remove-domain", "unsent"]),
        ("fungal", &["realm", "admin", "rename", "fungal", "mushroom"]),
        (".", &["realm", "admin", "remove-realm", "third"]),
        ("fungal", &["hooks", "status"]),
        ("fungal", &["hooks", "uninstall"]),
        ("fungal", &["hooks", "install"]),
        ("fungal", &["gc"]),
        ("fungal", &["doctor"]),
        ("fungal", &["install", "man"]),
        ("fungal", &["uninstall", "man"]),
        (".", &["daemon", "start", "--port", "0"]),
        (".", &["daemon", "token"]),
        (".", &["daemon", "open"]),
        (".", &["daemon", "status"]),
        (".", &["daemon", "stop"]),
        (".", &["daemon", "install", "--manager", "systemd"]),
        ("fungal", &["notify", "list"]),
        ("fungal", &["notify", "send"]),
        ("fungal", &["install", "claude"]),
        ("fungal", &["uninstall", "claude"]),
    ];
    // Other suites cover those that need more: an endless stream, a break to approve, a commit that breaks a rule,
    // forges and receivers.
    let elsewhere = [
        "notifications_watch",
        "contract_approve",
        "realm_conflict_accept",
        "realm_conflict_reject",
        "realm_pr_comment",
        "notify_forge",
        "notify_test",
        "notify_retry",
    ];
    let mut asked: BTreeSet<_> = elsewhere.map(str::to_owned).into();
    for (folder, args) in calls {
        let answer = world.json(&world.path(folder), args);
        assert_eq!(answer["status"], "success", "{args:?}: {answer:#}");
        asked.insert(operation(args));
    }
    for (dir, args) in [(&consumer, &["contract", "get", "s3-access/none"][..]), (&provider, &["frobnicate"])] {
        assert_eq!(world.json(dir, args)["status"], "error");
        asked.insert("error".into());
    }
    let all: BTreeSet<_> = ops::schemas().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(asked, all);
}
