//! Creating many repositories at once, and dependency cycles.

use crate::world::{REALM, World, snapshot};

const PLAN: &str = "\
repos:
  - { name: fungal, url: 'https://git.example.com/fungal.git' }
  - { name: access }
  - { name: jobs }
domains:
  - name: s3-access
    description: Which S3 paths may be used
    repos: [fungal, access]
    bindings:
      - repo: fungal
        binding: { role: provider, exports: [{ contract: s3-permissions }] }
      - repo: access
        binding: { role: consumer, imports: [{ contract: s3-permissions, version: '>=1.0.0' }] }
  - name: queues
    repos: [jobs]
";

fn realm() -> World {
    let world = World::new();
    world.ok(&world.root(), &["realm", "admin", "init", "--name", REALM]);
    world.write("plan.yaml", PLAN);
    world
}

fn bootstrap(world: &World, more: &[&str]) -> crate::world::Run {
    let args = [&["--realm", REALM, "realm", "admin", "bootstrap", "--from", "plan.yaml"], more].concat();
    world.blue(&world.root(), &args)
}

fn bootstrap_with(world: &World, plan: &str) -> crate::world::Run {
    world.write("plan.yaml", plan);
    bootstrap(world, &[]).exits(0)
}

#[test]
fn bootstrap_creates_repositories_and_domains_once() {
    let world = realm();
    let before = world.tip("refs/blue/realm");
    let dry = bootstrap(&world, &["--dry-run"]).exits(0);
    assert_eq!(world.tip("refs/blue/realm"), before);
    assert_eq!(world.line(&world.store(), &["for-each-ref", "refs/blue/domains"]), "", "to look makes nothing");
    let made = bootstrap(&world, &[]).exits(0);
    let again = bootstrap(&world, &[]).exits(0);
    snapshot("bootstrap", &[&dry, &made, &again]);
    let log = world.git(&world.store(), &["log", "--format=%s", "refs/blue/domains/s3-access"]).stdout;
    assert_eq!(log, "create domain s3-access with access, fungal\n", "one commit a domain");

    // Additions to the file are created, and later changes in the realm are kept.
    let more = PLAN.replace("repos: [jobs]", "repos: [jobs, access]").replace("role: provider", "role: both");
    world.write("plan.yaml", &more);
    let answer = world.json(&world.root(), &["--realm", REALM, "realm", "admin", "bootstrap", "--from", "plan.yaml"]);
    assert_eq!(answer["domains"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["domains"][0]["added"], serde_json::json!(["access"]));
    assert_eq!(world.stored("bindings/fungal.json")["role"], "provider");

    let described = bootstrap_with(&world, &more.replace("may be used", "are used"));
    let step = world.next_step(&described);
    assert!(step.contains(" realm admin domain --name s3-access --description 'Which S3 paths are used'  #"), "{step}");

    // A repository that joins later is the planned one.
    let path = world.repo("access");
    world.ok(&path, &["init", "--realm", REALM]);
    let status = world.json(&path, &["status"]);
    assert_eq!(status["imports"][0]["contract"], "s3-permissions", "{status}");
    world.git(&world.store(), &["fsck", "--strict"]);
}

#[test]
fn bootstrap_accepts_another_form_of_a_recorded_url() {
    let world = realm();
    bootstrap(&world, &[]).exits(0);
    world.write("plan.yaml", &PLAN.replace("https://git.example.com/fungal.git", "git@git.example.com:fungal"));
    let again = bootstrap(&world, &[]).exits(0);
    assert!(again.stdout.starts_with("nothing is missing in the realm"), "{again}");
    world.write("plan.yaml", &PLAN.replace("https://git.example.com/fungal.git", "git@git.example.com:other"));
    let other = bootstrap(&world, &[]).exits(1);
    assert!(other.stderr.contains("the repository fungal is at https://git.example.com/fungal.git"), "{other}");
}

/// The file is applied again after each change.
#[test]
fn bootstrap_refuses_former_names() {
    let world = realm();
    bootstrap(&world, &[]).exits(0);
    for names in [["jobs", "tasks"], ["access", "shop"]] {
        world.ok(&world.root(), &[&["--realm", REALM, "realm", "admin", "rename"], &names[..]].concat());
    }
    let before = world.tip("refs/blue/realm");
    let refused = bootstrap(&world, &[]).exits(128);
    let former = "plan.yaml: access was renamed to shop; jobs was renamed to tasks";
    assert!(refused.stderr.contains(former), "{refused}");
    assert_eq!(world.tip("refs/blue/realm"), before);
}

#[test]
fn dry_run_names_the_file_to_create_from() {
    let world = realm();
    world.write("my plan.yaml", PLAN);
    let run = |file: &str| {
        let args = ["blue", "--realm", REALM, "realm", "admin", "bootstrap", "--dry-run", "--from", file];
        world.feed("git", &world.root(), &args, PLAN).exits(0)
    };
    let step = world.next_step(&run("my plan.yaml"));
    assert_eq!(step, "git blue --realm aperture realm admin bootstrap --from 'my plan.yaml'  # add what is missing");
    assert_eq!(world.next_steps(&run("-")), [""; 0], "it cannot be read again");
}

#[test]
fn bootstrap_refuses_a_domain_that_cannot_be_read() {
    let world = realm();
    bootstrap(&world, &[]).exits(0);
    world.plant("domain.json", "[]");
    for more in [&["--dry-run"][..], &[]] {
        let refused = bootstrap(&world, more).exits(128);
        assert!(refused.stderr.contains("domain.json cannot be read") && refused.stdout.is_empty(), "{refused}");
    }
}

#[test]
fn invalid_bootstrap_file_creates_nothing() {
    let world = realm();
    let before = world.tip("refs/blue/realm");
    for (from, to, problem) in [
        ("  - { name: jobs }\n", "", "queues: jobs is neither in the realm nor listed in the repos of the file"),
        ("name: jobs", "name: Access", "the repository Access is listed twice"),
        ("name: queues", "name: S3-access", "the domain S3-access is listed twice"),
        ("repos: [fungal, access]", "repos: [fungal]", "access has a binding, but is not listed in the repos"),
        ("role: provider, exports", "role: consumer, exports", "fungal"),
        ("name: jobs", "name: ../jobs", "plan.yaml:4"),
        ("https://", "ext::sh -c id ", "is not an accepted URL"),
        ("repos: [jobs]", "repositories: [jobs]", "repositories"),
        ("name: jobs", "name: jobs, url: 'git@git.example.com:fungal'", "jobs and fungal are one repository, at git@"),
    ] {
        world.write("plan.yaml", &PLAN.replace(from, to));
        let refused = bootstrap(&world, &[]);
        assert!(refused.code == 1 || refused.code == 129, "{refused:?}");
        assert!(refused.stderr.contains(problem), "{problem}: {refused:?}");
        assert_eq!(world.tip("refs/blue/realm"), before, "{problem}");
        assert_eq!(world.line(&world.store(), &["for-each-ref", "refs/blue/domains"]), "");
    }
}

/// Three repositories, each of which provides something to the next.
fn circle(world: &World) {
    for (provider, consumer) in [("a", "b"), ("b", "c")] {
        give(world, provider, consumer);
    }
}

fn give(world: &World, provider: &str, consumer: &str) -> crate::world::Run {
    let domain = format!("of-{provider}");
    world.write(
        &format!("{provider}/.blue/contracts/{domain}/thing.yaml"),
        &format!("name: thing\nversion: \"1.0.0\"\nowner: {provider}\n"),
    );
    world.commit(provider, "Provide");
    world.write(
        &format!("{consumer}/.blue/bindings/{domain}.yaml"),
        "role: consumer\nimports: [{ contract: thing, version: '>=1.0.0' }]\n",
    );
    world.commit(consumer, "Rely")
}

fn three() -> World {
    let world = World::new();
    for repo in ["a", "b", "c"] {
        world.join(repo);
    }
    for repo in ["a", "b", "c"] {
        let args = ["realm", "admin", "domain", "--name", &format!("of-{repo}"), "--repos", "a,b,c"];
        world.ok(&world.path("a"), &args);
    }
    world
}

const CIRCLE: &str = "a -(of-a/thing)-> b -(of-b/thing)-> c -(of-c/thing)-> a";

#[test]
fn new_cycle_is_reported_by_the_command_and_by_check() {
    let world = three();
    circle(&world);
    assert_eq!(world.json(&world.path("a"), &["check", "--published"])["warnings"], serde_json::json!([]));
    let closed = give(&world, "c", "a");
    assert!(
        closed.stderr.contains("which closes a dependency cycle: c -(of-c/thing)-> a -(of-a/thing)-> b"),
        "{closed:?}"
    );
    let check = world.json(&world.path("a"), &["check"]);
    let found = &check["warnings"][0];
    assert_eq!((&found["code"], &found["file"]), (&"cycle".into(), &".blue/bindings/of-c.yaml".into()), "{check}");
    assert!(found["message"].as_str().unwrap().ends_with(CIRCLE), "{check}");
    world.ok(&world.path("a"), &["check"]);
    // The cycle is not closed again.
    let again = world.ok(&world.path("a"), &["contract", "publish"]);
    assert!(!again.all().contains("dependency cycle"), "{again:?}");
}

#[test]
fn realm_can_refuse_cycles() {
    let world = three();
    world.write("plan.yaml", "cycles: refuse\n");
    let rules = bootstrap(&world, &[]).exits(0);
    assert!(rules.stdout.contains("changed the rules of the realm"), "{rules:?}");
    circle(&world);
    let before = world.tip("refs/blue/domains/of-c");
    let refused = give(&world, "c", "a");
    assert!(refused.stderr.contains("not published: it would close a dependency cycle"), "{refused:?}");
    let by_hand = ["realm", "admin", "binding", "--domain", "of-c", "--repo", "a", "--role", "consumer"];
    let by_hand = world.blue(&world.path("a"), &[&by_hand[..], &["--import", "thing@>=1.0.0"]].concat()).exits(1);
    assert!(by_hand.stderr.contains("c -(of-c/thing)-> a"), "{by_hand:?}");
    let published = world.git(&world.store(), &["log", "--format=%s", &format!("{before}..refs/blue/domains/of-c")]);
    assert_eq!(published.stdout, "add thing 1.0.0\n", "what c provides is no circle yet");
    // If two machines closed it together, check fails.
    let binding = r#"{"role":"consumer","exports":[],"imports":[{"contract":"thing","version":">=1.0.0"}]}"#;
    world.plant_in("refs/blue/domains/of-c", "bindings/a.json", binding);
    let check = world.blue(&world.path("b"), &["check", "--json"]).exits(1).json();
    assert_eq!(check["errors"][0]["code"], "cycle", "{check}");
}
