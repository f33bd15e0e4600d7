//! The merge order of `realm pr status` breaks no import, or the answer says beforehand which one.

use serde_json::{Value, json};

use crate::{
    merge_steps::{RFC, follow, of, tree},
    world::World,
};

/// Creates a domain of these repositories.
fn domain(repos: &[&str]) -> World {
    let world = World::new();
    for repo in repos {
        world.join(repo);
        world.write(&format!("{repo}/use.txt"), "");
    }
    world.ok(&world.path(repos[0]), &["realm", "admin", "domain", "--name", "d", "--repos", &repos.join(",")]);
    world
}

/// A contract of `owner` that is named after it, with the property `kept` and another one.
fn contract(owner: &str, version: &str, property: &str) -> String {
    let schema = expecting(&["kept", property]);
    format!("name: c{owner}\nversion: {version}\nowner: {owner}\ndescription: \"\"\nschema: {schema}\nvalue: null\n")
}

fn expecting(properties: &[&str]) -> Value {
    let types: serde_json::Map<_, _> = properties.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    json!({"type": "object", "required": properties, "properties": types})
}

/// The imports of a repository: the contract, the range, and the property that its code needs, if that is declared.
fn importing(imports: &[(&str, &str, Option<&str>)]) -> String {
    let import = |(contract, range, needed): &(&str, &str, Option<&str>)| {
        let expects = needed.map(|needed| format!("    expects: {}\n", expecting(&[needed]))).unwrap_or_default();
        format!("  - contract: {contract}\n    version: \"{range}\"\n    binding: use.txt\n{expects}")
    };
    format!("role: consumer\nimports:\n{}", imports.iter().map(import).collect::<String>())
}

const BINDING: &str = ".blue/bindings/d.yaml";
const OLD: &str = ">=1.0.0, <2.0.0";
const BOTH: &str = ">=1.0.0, <3.0.0";

fn contract_file(of: &str) -> String {
    format!(".blue/contracts/d/c{of}.yaml")
}

/// Publishes 1.0.0 of a contract of each `owner`, and then the bindings. Creates the worktrees of the RFC.
fn publish(world: &World, owners: &[&str], bindings: &[(&str, String)]) {
    for owner in owners {
        world.write(&format!("{owner}/{}", contract_file(owner)), &contract(owner, "1.0.0", "old"));
        world.commit(owner, "Say more");
    }
    for (repo, binding) in bindings {
        world.write(&format!("{repo}/{BINDING}"), binding);
        world.commit(repo, "Read it");
    }
    world.ok(&world.path(owners[0]), &["realm", "worktree", "create", "--rfc", RFC]);
}

/// Commits a file on the branch of a repository.
fn propose(world: &World, repo: &str, file: &str, text: &str) {
    let folder = tree(world, repo);
    std::fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
    std::fs::write(folder.join(file), text).unwrap();
    world.git(&folder, &["add", "--all"]);
    world.git(&folder, &["commit", "--quiet", "--message", "Change"]);
}

/// Commits 2.0.0 of the contract of `owner`, which breaks it, on its branch.
fn propose_break(world: &World, owner: &str) {
    propose(world, owner, &contract_file(owner), &contract(owner, "2.0.0", "new"));
}

fn status(world: &World, repo: &str) -> Value {
    world.json(&world.path(repo), &["realm", "pr", "status", "--rfc", RFC])
}

fn blockers(answer: &Value, repo: &str) -> String {
    of(answer, repo)["blockers"].to_string()
}

/// Follows the merge steps. After each, the imports of all `repos` hold, no order is impossible, and the repository that
/// comes first waits for no other. Returns the merged repositories.
fn merge_all(world: &World, repos: &[&str]) -> Vec<String> {
    let mut merged = Vec::new();
    loop {
        let answer = status(world, repos[0]);
        assert_eq!(answer["cyclic"], json!([]), "{answer:#}");
        let Some(step) = answer["steps"].as_array().unwrap().iter().find(|step| step["action"] == "merge") else {
            break;
        };
        let repo = step["repo"].as_str().unwrap();
        assert_eq!(of(&answer, repo)["blocked_by"], json!([]), "{answer:#}");
        follow(world, step);
        for repo in repos {
            world.blue(&world.path(repo), &["check", "--published"]).exits(0);
        }
        merged.push(repo.to_owned());
        assert!(merged.len() <= repos.len(), "{merged:?}");
    }
    merged
}

/// What was merged requires nothing, but it is still relied on.
#[test]
fn order_is_kept_after_the_first_merge() {
    let world = domain(&["a", "b", "e"]);
    let [b, e] = [&[("ca", OLD, None)][..], &[("cb", OLD, None), ("ca", OLD, None)]].map(importing);
    publish(&world, &["a", "b"], &[("b", b), ("e", e)]);
    propose_break(&world, "a");
    propose(&world, "b", BINDING, &importing(&[("ca", BOTH, Some("kept"))]));
    propose(&world, "e", BINDING, &importing(&[("cb", OLD, None), ("ca", BOTH, Some("kept"))]));
    assert_eq!(merge_all(&world, &["a", "b", "e"]), ["b", "e", "a"]);
    assert_eq!(status(&world, "a")["cyclic"], json!([]));
}

#[test]
fn repositories_that_import_from_each_other_are_merged_in_any_order() {
    let world = domain(&["a", "b"]);
    let bindings = [("a", importing(&[("cb", OLD, None)])), ("b", importing(&[("ca", OLD, None)]))];
    publish(&world, &["a", "b"], &bindings);
    for owner in ["a", "b"] {
        let more = contract(owner, "1.1.0", "old").replace("\"properties\":{", "\"properties\":{\"more\":{},");
        propose(&world, owner, &contract_file(owner), &more);
    }
    let answer = status(&world, "a");
    assert_eq!((&of(&answer, "a")["blocked_by"], &of(&answer, "b")["blocked_by"]), (&json!([]), &json!(["a"])));
    assert_eq!(merge_all(&world, &["a", "b"]), ["a", "b"]);
}

/// If the consumer came first, its code would count as adapted to the old version.
#[test]
fn provider_comes_first_if_the_code_of_its_consumer_is_written_for_the_new_version() {
    let world = domain(&["a", "p"]);
    publish(&world, &["p"], &[]);
    propose_break(&world, "p");
    propose(&world, "a", BINDING, &importing(&[("cp", BOTH, None)]));
    assert_eq!(of(&status(&world, "a"), "a")["blocked_by"], json!(["p"]));
    assert_eq!(merge_all(&world, &["a", "p"]), ["p", "a"]);
}

/// The old version is still served, so the range of the consumer does not decide.
#[test]
fn provider_that_serves_the_old_version_comes_first() {
    let world = domain(&["a", "p"]);
    publish(&world, &["p"], &[("a", importing(&[("cp", OLD, None)]))]);
    let served = format!("{}supported: [\"{OLD}\"]\n", contract("p", "2.0.0", "new"));
    propose(&world, "p", &contract_file("p"), &served);
    propose(&world, "a", BINDING, &importing(&[("cp", BOTH, None)]));
    assert_eq!(merge_all(&world, &["a", "p"]), ["p", "a"]);
}

#[test]
fn provider_is_not_ready_if_its_merge_breaks_a_consumer() {
    let world = domain(&["a", "b", "other"]);
    publish(&world, &["b"], &[("a", importing(&[("cb", OLD, None)])), ("other", importing(&[("cb", BOTH, None)]))]);
    propose_break(&world, "b");
    propose(&world, "a", BINDING, &importing(&[("cb", BOTH, None)]));
    // One consumer has no branch.
    world.git(&world.path("other"), &["worktree", "remove", tree(&world, "other").to_str().unwrap()]);
    world.git(&world.path("other"), &["branch", "--quiet", "--delete", RFC]);
    let answer = status(&world, "b");
    let breaks = |repo: &str| format!("once b is merged, 2.0.0 of d/cb breaks the import of {repo}: add expects");
    assert!(blockers(&answer, "a").contains(&breaks("a")), "{answer:#}");
    for consumer in ["a", "other"] {
        assert!(blockers(&answer, "b").contains(&breaks(consumer)), "{answer:#}");
    }
    for folder in [tree(&world, "a"), world.path("other")] {
        let file = format!("under expects in {}, and commit it before b is merged", folder.join(BINDING).display());
        assert!(answer["next_steps"].to_string().contains(&file), "{answer:#}");
    }
    // What is broken is still named once everything is merged.
    for repo in ["a", "b"] {
        world.git(&world.path(repo), &["merge", "--quiet", RFC]);
    }
    let answer = status(&world, "b");
    assert!(blockers(&answer, "a").contains("2.0.0 of d/cb breaks the import of a: adapt its code"), "{answer:#}");
    assert!(!blockers(&answer, "b").contains("breaks"), "{answer:#}");
}

/// What its code expects is in no version.
#[test]
fn consumer_is_not_ready_if_its_branch_breaks_its_import() {
    let world = domain(&["a", "b"]);
    publish(&world, &["b"], &[("a", importing(&[("cb", OLD, None)]))]);
    propose(&world, "a", BINDING, &importing(&[("cb", OLD, Some("absent"))]));
    let answer = status(&world, "b");
    let breaks = "once a is merged, 1.0.0 of d/cb breaks its import";
    assert!(blockers(&answer, "a").contains(breaks) && !blockers(&answer, "b").contains(breaks), "{answer:#}");
}

#[test]
fn branches_that_must_each_wait_for_the_other_say_what_breaks() {
    let world = domain(&["a", "b"]);
    let bindings = [("a", importing(&[("cb", OLD, None)])), ("b", importing(&[("ca", OLD, None)]))];
    publish(&world, &["a", "b"], &bindings);
    for (repo, other) in [("a", "cb"), ("b", "ca")] {
        propose_break(&world, repo);
        propose(&world, repo, BINDING, &importing(&[(other, BOTH, Some("kept"))]));
    }
    let answer = status(&world, "a");
    assert_eq!(answer["cyclic"], json!(["a", "b"]));
    let why = "a and b wait for each other: once a is merged, the import of d/ca in b is broken until b is merged; merge \
               the binding of b in a separate pull request first";
    assert!(blockers(&answer, "a").contains(why), "{answer:#}");
    let check = world.ok(&world.path("a"), &["check", "--rfc", RFC]);
    assert!(check.stdout.contains(why), "{check}");
}

#[test]
fn contract_that_is_accepted_is_planned_for_its_new_owner() {
    let world = domain(&["a", "b", "n"]);
    publish(&world, &["a"], &[("b", importing(&[("ca", OLD, None)]))]);
    world.ok(&world.path("a"), &["contract", "transfer", "d/ca", "--to", "n"]);
    let accepted = contract("a", "2.0.0", "new").replace("owner: a", "owner: n");
    propose(&world, "n", &contract_file("a"), &accepted);
    std::fs::remove_file(tree(&world, "a").join(contract_file("a"))).unwrap();
    propose(&world, "a", "use.txt", "It belongs to n.\n");
    let answer = status(&world, "a");
    let conflict = &answer["import_conflicts"][0];
    assert_eq!((&conflict["consumer"], &conflict["provider"]), (&json!("b"), &json!("n")), "{answer:#}");
    propose(&world, "b", BINDING, &importing(&[("ca", BOTH, Some("kept"))]));
    assert_eq!(merge_all(&world, &["a", "b", "n"]), ["b", "n", "a"]);
}
