//! Who may change what: guards against mistakes in every command.

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, World, contract, importing, snapshot};

const ADMIN: [&str; 2] = ["realm", "admin"];

fn admin<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&ADMIN, args].concat()
}

#[test]
fn only_the_owner_changes_a_contract() {
    let world = World::pair();
    let consumer = world.path("access");
    let before = world.tip(DOMAIN_REF);
    world.write("edited.yaml", &contract("1.1.0"));
    let edited = world.path("edited.yaml");
    let edit = world
        .blue(&consumer, &["contract", "edit", "s3-access/s3-permissions", "--file", edited.to_str().unwrap()])
        .exits(1);
    let retire =
        world.blue(&consumer, &["contract", "retire", "s3-access/s3-permissions", "--reason", "x", "--force"]).exits(1);
    let yank =
        world.blue(&consumer, &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "x"]).exits(1);
    snapshot("not_the_owner", &[&edit, &retire, &yank]);
    // Claiming it in one's own file does not work either.
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.1.0").replace("owner: fungal", "owner: access"));
    world.commit("access", "Take it over");
    let publish = world.blue(&consumer, &["contract", "publish"]).exits(1);
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("access", "In the owner's name");
    let other = world.blue(&consumer, &["contract", "publish"]).exits(1);
    snapshot("not_the_owner_publishes", &[&publish, &other]);
    assert_eq!(world.tip(DOMAIN_REF), before);
}

#[test]
fn owner_field_alone_does_not_transfer_a_contract() {
    let world = World::pair();
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("owner: fungal", "owner: access"));
    world.commit("fungal", "Give it away");
    let run = world.blue(&world.path("fungal"), &["contract", "publish"]).exits(1);
    assert!(run.stderr.contains("names access as its owner, but the file is in fungal: write owner: fungal"), "{run}");
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn admin_contract_creates_and_never_overwrites() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.write("schema.yaml", "type: object\n");
    let add = ["contract", "--domain", "s3-access", "--owner", "fungal", "--name"];
    let made = world.ok(&provider, &admin(&[&add[..], &["bare"]].concat()));
    let bare = world.json(&provider, &["contract", "get", "s3-access/bare"])["contract"].clone();
    assert_eq!(
        (&bare["version"], &bare["schema"], &bare["value"]),
        (&"0.1.0".into(), &serde_json::json!({}), &serde_json::Value::Null)
    );
    let full = world.ok(
        &provider,
        &admin(
            &[&add[..], &["full", "--version", "2.0.0", "--schema", "../schema.yaml", "--backwards", "false"]].concat(),
        ),
    );
    let full_json = world.json(&provider, &["contract", "get", "s3-access/full"])["contract"].clone();
    assert_eq!(full_json["schema"], serde_json::json!({"type": "object"}));
    assert_eq!(full_json["compatibility"], serde_json::json!({"backwards": false, "forwards": false}));
    let before = world.tip(DOMAIN_REF);
    let again = world.blue(&provider, &admin(&[&add[..], &["bare"]].concat())).exits(1);
    let higher =
        world.blue(&provider, &admin(&[&add[..], &["s3-permissions", "--version", "9.0.0"]].concat())).exits(1);
    let case = world.blue(&provider, &admin(&[&add[..], &["Bare"]].concat())).exits(1);
    snapshot("admin_contract", &[&made, &full, &again, &higher, &case]);
    assert_eq!(world.tip(DOMAIN_REF), before);
}

#[test]
fn value_that_fails_its_schema_is_not_created() {
    let world = World::pair();
    world.write("schema.json", "{\"type\": \"string\"}");
    world.write("value.json", "7");
    let run = world
        .blue(
            &world.path("fungal"),
            &admin(&[
                "contract",
                "--domain",
                "s3-access",
                "--owner",
                "fungal",
                "--name",
                "wrong",
                "--schema",
                "../schema.json",
                "--value",
                "../value.json",
            ]),
        )
        .exits(1);
    assert!(run.stderr.contains("7 is not of type \"string\""), "{run}");
}

#[test]
fn unknown_owners_and_members_are_refused() {
    let world = World::pair();
    world.join("outside");
    let provider = world.path("fungal");
    let contract = |owner: &str| {
        world.blue(&provider, &admin(&["contract", "--domain", "s3-access", "--name", "x", "--owner", owner]))
    };
    let unknown = contract("nobody").exits(128);
    let no_member = contract("outside").exits(1);
    let domain =
        world.blue(&provider, &admin(&["domain", "--name", "s3-access", "--repos", "fungal,nobody"])).exits(128);
    let binding = ["binding", "--domain", "s3-access", "--role", "consumer", "--repo"];
    let root = world.root();
    let bind = |repo: &str| world.blue(&root, &[&admin(&binding)[..], &[repo, "--realm", "aperture"]].concat());
    let nobody = bind("nobody").exits(128);
    let outsider = bind("outside").exits(1);
    snapshot("unknown_owners_and_members", &[&unknown, &no_member, &domain, &nobody, &outsider]);
    let nowhere =
        world.blue(&provider, &admin(&["contract", "--domain", "no", "--name", "x", "--owner", "fungal"])).exits(1);
    assert!(nowhere.stderr.contains("no domain no"), "{nowhere}");
}

#[test]
fn repository_writes_only_its_own_binding() {
    let world = World::pair();
    let provider = world.path("fungal");
    let before = world.tip(DOMAIN_REF);
    let foreign = world
        .blue(&provider, &admin(&["binding", "--domain", "s3-access", "--repo", "access", "--role", "consumer"]))
        .exits(1);
    assert_eq!(world.tip(DOMAIN_REF), before);
    let own = world.ok(
        &world.path("access"),
        &admin(&[
            "binding",
            "--domain",
            "s3-access",
            "--repo",
            "access",
            "--role",
            "consumer",
            "--import",
            "s3-permissions@>=1.0.0 <3.0.0:cdk/access_stack.py",
        ]),
    );
    snapshot("bindings_by_admin", &[&foreign, &own]);
    let stored = world.stored("bindings/access.json");
    assert_eq!(stored["imports"][0]["version"], ">=1.0.0 <3.0.0", "printed back as it was written");
    assert_eq!(stored["imports"][0]["resolved_version"], "1.0.0");
    let contradiction = world
        .blue(
            &provider,
            &admin(&[
                "binding",
                "--domain",
                "s3-access",
                "--repo",
                "fungal",
                "--role",
                "consumer",
                "--export",
                "s3-permissions",
            ]),
        )
        .exits(129);
    assert!(contradiction.stderr.contains("role consumer has no exports"), "{contradiction}");
}

#[test]
fn non_member_publishes_nothing() {
    let world = World::pair();
    let outside = world.join("outside");
    world.write(&format!("outside/{BINDING_FILE}"), &importing("^1.0.0"));
    let commit = world.commit("outside", "Read them too");
    let run = world.blue(&outside, &["contract", "publish"]).exits(1);
    let check = world.blue(&outside, &["check"]).exits(1);
    snapshot("not_a_member", &[&commit, &run, &check]);
}

#[test]
fn names_are_unique_ignoring_case() {
    let world = World::pair();
    let provider = world.path("fungal");
    let domain = world.blue(&provider, &admin(&["domain", "--name", "S3-Access"])).exits(1);
    let stranger = world.repo("Fungal");
    let repo = world.blue(&stranger, &["init", "--realm", "aperture"]).exits(1);
    snapshot("case", &[&domain, &repo]);
    for name in ["", "..", "a..b", "x.lock", "x.", "-x", "a/b", "ä", ".x"] {
        let run = world.blue(&provider, &["realm", "admin", "domain", &format!("--name={name}")]).exits(129);
        assert!(run.stdout.is_empty(), "{name:?}: {run}");
    }
}
