//! The output of `--json`, read with strict types: a missing, renamed or unknown field fails. Fields that were added
//! after the first specification are below `more` in each type.

mod sessions;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::world::{World, contract};
use sessions::SessionLine;

/// Runs a command, and reads the answer into its strict type.
fn answer<T: DeserializeOwned>(world: &World, repo: &str, args: &[&str]) -> T {
    let value = world.json(&world.path(repo), args);
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value:#}"))
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Status {
    Success,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Step {
    command: Option<String>,
    reason: String,
}

impl Step {
    fn run(command: &str, reason: &str) -> Self {
        Self { command: Some(command.into()), reason: reason.into() }
    }
}

#[derive(Debug, Deserialize, PartialEq)]
enum Role {
    Provider,
    Consumer,
    Both,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RealmStatus {
    status: Status,
    realm: String,
    current_repo: String,
    read_only: Option<String>,
    repos: Vec<Repo>,
    domains: Vec<Domain>,
    notifications: Vec<Notification>,
    next_steps: Vec<Step>,
    // more
    imports: Vec<Value>,
    session: Option<SessionLine>,
    sessions: Vec<SessionLine>,
    more_sessions: usize,
    remotes: Vec<Value>,
    conflicts: Vec<Value>,
    unreadable: Vec<String>,
    unreadable_domains: Vec<String>,
    published: Vec<Value>,
    unpublished: Option<Value>,
    behind: Option<Value>,
    removed_files: Vec<Value>,
    more_notifications: usize,
    expired_notifications: usize,
    bindings_changed: Option<Value>,
    own_contracts: Vec<Value>,
    more_own_contracts: usize,
    offers: Vec<Value>,
    more_offers: usize,
    total_contracts: usize,
    total: usize,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Repo {
    name: String,
    path: Option<String>,
    is_current: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Domain {
    name: String,
    members: Vec<String>,
    contracts: Vec<Contract>,
    bindings: Vec<Binding>,
    // more
    more_contracts: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    name: String,
    version: String,
    owner: String,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Binding {
    repo: String,
    role: Role,
    exports: usize,
    imports: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Notification {
    id: String,
    realm: String,
    domain: String,
    contract: Option<String>,
    from_repo: String,
    author: Option<String>,
    source_commit: Option<String>,
    changed_by_other: bool,
    by_other_clone: bool,
    in_future: bool,
    change_type: String,
    also: Vec<String>,
    changes: Changes,
    created_at: String,
    state: String,
    // more
    arrived_at: String,
    #[serde(rename = "type")]
    kind: String,
    rank: String,
    rollback: bool,
    version_count: usize,
    affects_me: bool,
    import_state: Option<String>,
    judged_by: Option<String>,
    verdict: Option<Value>,
    binding: Option<String>,
    #[serde(default)]
    imports: Vec<ChangedImport>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangedImport {
    contract: String,
    version_req: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    old_version: Option<String>,
    new_version: Option<String>,
}

#[test]
fn realm_status() {
    let world = World::pair();
    world.bump("1.1.0");
    let status: RealmStatus = answer(&world, "access", &["realm", "status"]);
    assert_eq!(status.status, Status::Success);
    assert!(status.published.is_empty() && status.unpublished.is_none() && status.behind.is_none());
    assert_eq!((&*status.realm, &*status.current_repo), ("aperture", "access"));
    assert_eq!((status.read_only, status.unreadable_domains.len(), status.removed_files.len()), (None, 0, 0));
    let path = |name: &str| Some(world.path(name).display().to_string());
    assert_eq!(
        status.repos,
        [
            Repo { name: "access".into(), path: path("access"), is_current: true },
            Repo { name: "fungal".into(), path: path("fungal"), is_current: false },
        ]
    );
    let domain = &status.domains[0];
    assert_eq!((&*domain.name, &domain.members[..]), ("s3-access", &["access".to_owned(), "fungal".to_owned()][..]));
    let Contract { name, version, owner } = &domain.contracts[0];
    assert_eq!((&**name, &**version, &**owner), ("s3-permissions", "1.1.0", "fungal"));
    assert_eq!(
        domain.bindings,
        [
            Binding { repo: "access".into(), role: Role::Consumer, exports: 0, imports: 1 },
            Binding { repo: "fungal".into(), role: Role::Provider, exports: 1, imports: 0 },
        ]
    );
    let Changes { old_version, new_version } = &status.notifications[0].changes;
    assert_eq!((old_version.as_deref(), new_version.as_deref()), (Some("1.0.0"), Some("1.1.0")));
    assert!(!status.next_steps.is_empty() && status.imports.len() == 1 && status.unreadable.is_empty());
    assert_eq!([status.more_notifications, status.expired_notifications, status.more_sessions], [0; 3]);
    assert!(status.bindings_changed.is_none() && status.own_contracts.is_empty());
    assert!(status.offers.is_empty() && status.more_offers == 0);
    assert_eq!(status.total_contracts, 1);
    assert!(status.remotes.is_empty() && status.conflicts.is_empty(), "it is shared nowhere");
    assert!(status.session.is_none() && status.sessions.is_empty());
    // The last next step is a command if there is nothing else to do.
    let status: RealmStatus = answer(&world, "access", &["realm", "status"]);
    assert_eq!(status.next_steps, [Step::run("git blue session start", "track your work")]);
}

#[test]
fn bare_and_full_commands_answer_alike() {
    let world = World::pair();
    let dir = world.path("access");
    for (short, long) in
        [(&["status", "--peek"][..], &["realm", "status", "--peek"][..]), (&["check"], &["realm", "check"])]
    {
        assert_eq!(world.json(&dir, short), world.json(&dir, long));
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RealmCheck {
    status: Status,
    realm: String,
    current_repo: Option<String>,
    valid: bool,
    errors: Vec<Value>,
    warnings: Vec<Value>,
    contracts: usize,
    imports_by_range: usize,
    schema_hashes: Vec<SchemaHash>,
    scripts: Vec<Value>,
    notifications: Vec<Notification>,
    next_steps: Vec<Step>,
    // more
    read_only: Option<String>,
    judged: String,
    rfc: Option<String>,
    branches: Vec<Value>,
    files: Option<usize>,
    base: Option<String>,
    missing_base: Option<String>,
    elsewhere: Value,
    unpublished: Option<Value>,
    behind: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaHash {
    domain: String,
    contract: String,
    version: String,
    schema_hash: String,
    owner: String,
}

#[test]
fn realm_check() {
    let world = World::pair();
    world.bump("1.1.0");
    let check: RealmCheck = answer(&world, "access", &["realm", "check"]);
    assert_eq!(
        (check.status, &*check.realm, check.current_repo.as_deref()),
        (Status::Success, "aperture", Some("access"))
    );
    assert!(check.valid && check.errors.is_empty() && check.warnings.is_empty());
    assert_eq!((&*check.judged, check.rfc, check.branches.len(), check.files), ("repository", None, 0, Some(1)));
    assert_eq!(check.read_only, None);
    assert!(check.behind.is_none());
    assert_eq!(check.missing_base, None);
    assert_eq!((check.base, check.unpublished, &check.elsewhere["errors"]), (None, None, &Value::from(0)));
    assert_eq!((check.contracts, check.imports_by_range), (check.schema_hashes.len(), 0));
    assert_eq!(check.scripts, [] as [Value; 0]);
    let hash = &check.schema_hashes[0];
    assert_eq!(
        (&*hash.domain, &*hash.contract, &*hash.version, &*hash.owner),
        ("s3-access", "s3-permissions", "1.1.0", "fungal")
    );
    // SHA-256 of the RFC 8785 form, as any other program computes it.
    assert_eq!(hash.schema_hash, "5420010fc8fb1df4b28096e3bf569859f4365b7071a99616c76b8d74cc6dfdb9");
    assert_eq!(check.next_steps, []);
    // Pending notifications are included, and stay pending.
    for _ in 0..2 {
        let check: RealmCheck = answer(&world, "access", &["check"]);
        assert_eq!((check.notifications.len(), &*check.notifications[0].state), (1, "pending"));
    }
    let published: RealmCheck = answer(&world, "access", &["check", "--published"]);
    assert_eq!(published.current_repo, None);
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContractGet {
    status: Status,
    realm: String,
    domain: String,
    contract: Detail,
    bindings: Vec<Relation>,
    current_repo: Option<String>,
    next_steps: Vec<Step>,
    // more
    versions: Vec<String>,
    current_version: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Detail {
    name: String,
    version: String,
    owner: String,
    compatibility: Compatibility,
    schema: Value,
    value: Value,
    evolution: Vec<Evolution>,
    // more
    values: String,
    flow: String,
    description: String,
    supported: Vec<String>,
    validation: Value,
    deprecated: Option<Value>,
    schema_hash: Option<String>,
    content_hash: Option<String>,
    retired: Option<Value>,
    yanked: Vec<Value>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Compatibility {
    backwards: bool,
    forwards: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Evolution {
    version: String,
    changes: Vec<String>,
    compatible: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Relation {
    repo: String,
    role: Role,
    relationship: String,
    version_req: Option<String>,
}

#[test]
fn contract_get() {
    let world = World::pair();
    let text = contract("1.1.0") + "evolution: [{ version: \"1.0.0\", changes: [Initial release] }]\n";
    world.write(&format!("fungal/{}", crate::world::CONTRACT_FILE), &text);
    world.commit("fungal", "Say what changed");
    let get: ContractGet = answer(&world, "access", &["contract", "get", "s3-access/s3-permissions"]);
    assert_eq!((get.status, &*get.realm, &*get.domain), (Status::Success, "aperture", "s3-access"));
    assert_eq!(get.current_repo.as_deref(), Some("access"));
    let detail = &get.contract;
    assert_eq!((&*detail.name, &*detail.version, &*detail.owner), ("s3-permissions", "1.1.0", "fungal"));
    assert_eq!(detail.compatibility, Compatibility { backwards: true, forwards: false });
    assert_eq!((&*detail.values, &*detail.flow), ("free", "provider-to-consumer"));
    assert_eq!((&detail.schema["type"], &detail.value["read"][1]), (&"object".into(), &"v1.1.0".into()));
    let first = Evolution { version: "1.0.0".into(), changes: vec!["Initial release".into()], compatible: true };
    let second = Evolution { version: "1.1.0".into(), changes: vec!["changes value/read/1".into()], compatible: true };
    assert_eq!(detail.evolution, [first, second]);
    assert!(!detail.description.is_empty() && detail.supported.is_empty() && detail.validation.is_object());
    assert!(detail.deprecated.is_none() && detail.retired.is_none() && detail.yanked.is_empty());
    assert!([&detail.schema_hash, &detail.content_hash].iter().all(|hash| hash.as_ref().unwrap().len() == 64));
    let relation = |repo: &str, role, relationship: &str, version_req: Option<&str>| Relation {
        repo: repo.into(),
        role,
        relationship: relationship.into(),
        version_req: version_req.map(Into::into),
    };
    assert_eq!(
        get.bindings,
        [
            relation("access", Role::Consumer, "imports", Some(">=1.0.0, <2.0.0")),
            relation("fungal", Role::Provider, "exports", None),
        ]
    );
    assert_eq!(get.next_steps, []);
    assert_eq!(
        (&get.versions[..], get.current_version.as_deref()),
        (&["1.0.0".to_owned(), "1.1.0".to_owned()][..], Some("1.1.0"))
    );
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotificationsList {
    status: Status,
    realm: String,
    current_repo: String,
    filter: String,
    notifications: Vec<Notification>,
    summary: Summary,
    next_steps: Vec<Step>,
    // more
    total: usize,
    next_cursor: Option<String>,
    unreadable_domains: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Summary {
    total: usize,
    pending: usize,
    seen: usize,
    expired_cleaned: usize,
    dropped: usize,
    // more
    expired: usize,
}

#[test]
fn notifications_list() {
    let world = World::pair();
    world.bump("1.1.0");
    let list: NotificationsList = answer(&world, "access", &["notifications", "list", "--state", "pending"]);
    assert_eq!((list.status, &*list.realm, &*list.current_repo), (Status::Success, "aperture", "access"));
    let unreadable = list.unreadable_domains.len();
    assert_eq!((&*list.filter, list.total, list.next_cursor, unreadable), ("pending", 1, None, 0));
    let Summary { total, pending, seen, expired, expired_cleaned, dropped } = list.summary;
    assert_eq!((total, pending, seen, expired, expired_cleaned, dropped), (1, 1, 0, 0, 0, 0));
    let why = "show what changed, whether it breaks this repository, and where to edit";
    assert_eq!(list.next_steps, [Step::run("git blue review", why)]);
    let one = &list.notifications[0];
    assert!(one.id.starts_with("notif-"));
    assert_eq!((&*one.realm, &*one.domain, one.contract.as_deref()), ("aperture", "s3-access", Some("s3-permissions")));
    assert_eq!((&*one.from_repo, &*one.change_type, &*one.kind), ("fungal", "VersionChanged", "contract_updated"));
    assert!(one.also.is_empty(), "{one:?}");
    assert_eq!(one.rank, "import");
    assert_eq!((one.rollback, one.version_count, one.affects_me), (false, 1, true));
    assert_eq!((one.import_state.as_deref(), one.judged_by.as_deref()), (Some("satisfied"), Some("schemas")));
    assert_eq!(one.verdict, None);
    assert_eq!(one.binding.as_deref(), Some("cdk/access_stack.py"));
    assert_eq!(one.arrived_at, one.created_at, "it was made on this machine");
    assert_eq!(one.author.as_deref(), Some("Ada <ada@example.com>"));
    assert_eq!(one.source_commit, Some(world.line(&world.path("fungal"), &["rev-parse", "HEAD"])));
    assert!(one.also.is_empty() && !one.changed_by_other && !one.by_other_clone && !one.in_future);
    assert!(one.created_at.starts_with("2026-01-24T12:") && one.created_at.ends_with(":00Z"), "{}", one.created_at);
    assert_eq!(one.state, "pending");
}

#[test]
fn own_domains_come_first_in_pages() {
    let world = World::pair();
    let dir = world.path("access");
    for name in ["aaa", "bbb"] {
        world.ok(&dir, &["realm", "admin", "domain", "--name", name, "--repos", "fungal"]);
    }
    let names = |status: &RealmStatus| status.domains.iter().map(|domain| domain.name.clone()).collect::<Vec<_>>();
    let first: RealmStatus = answer(&world, "access", &["status", "--limit", "2"]);
    assert_eq!((names(&first), first.total), (vec!["s3-access".into(), "aaa".into()], 3));
    let cursor = first.next_cursor.unwrap();
    let second: RealmStatus = answer(&world, "access", &["status", "--limit", "2", "--cursor", &cursor]);
    assert_eq!((names(&second), second.next_cursor), (vec!["bbb".into()], None));
    let all: RealmStatus = answer(&world, "access", &["status", "--all"]);
    assert_eq!(all.domains.len(), 3);
}

#[test]
fn large_domain_is_truncated_with_a_count() {
    let world = World::pair();
    let dir = world.path("access");
    for number in 0..51 {
        let name = format!("c{number:02}");
        let owner = ["--domain", "s3-access", "--name", &name, "--owner", "access"];
        world.ok(&dir, &[["realm", "admin", "contract"].as_slice(), &owner].concat());
    }
    let status: RealmStatus = answer(&world, "access", &["status"]);
    let domain = &status.domains[0];
    assert_eq!((domain.contracts.len(), domain.more_contracts > 0), (50, true));
    assert_eq!((status.own_contracts.len(), status.more_own_contracts), (50, 1));
    let text = world.ok(&dir, &["status"]).stdout;
    assert!(text.contains("and 47 more: git blue contract list"), "{text}");
    let text = world.ok(&dir, &["status", "--all"]).stdout;
    assert!(text.contains("more: git blue contract list --domain s3-access"), "{text}");
}

#[test]
fn role_may_be_both() {
    let world = World::pair();
    let dir = world.path("access");
    let binding = ["realm", "admin", "binding", "--domain", "s3-access", "--repo", "access", "--role", "both"];
    world.ok(&dir, &binding);
    let status: RealmStatus = answer(&world, "fungal", &["status"]);
    assert_eq!(status.domains[0].bindings[0].role, Role::Both);
    let [ended] = &status.notifications[0].imports[..] else { panic!("{status:?}") };
    assert_eq!((&*ended.contract, &ended.version_req), ("s3-permissions", &None));
}
