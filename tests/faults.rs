//! Every store call of every writing operation fails once, before and after its effect. Afterwards each ref is old or
//! new, and the same command, run again without a fault, brings the realm to the state without one.

use std::{collections::BTreeMap, path::Path, rc::Rc};

use git_blue::{
    error::{ErrorCode, OpError},
    machine::home::Home,
    model::{
        binding::{Export, Import, Role, UsedIn},
        name::{ReaderName, RepoName},
        oid::Oid,
        realm::Repo,
        session::{Session, Work},
    },
    ops::{
        admin, contract,
        ctx::{Ctx, RealmContext},
        inboxes::inbox,
        notifications, realm,
        repos::joined,
        session,
    },
    repo::CodeRepo,
    store::{Store, StoreRef, codec, layout, write::write},
    testing::{
        faulty::{Fault, FaultyStore},
        make,
        memory::MemoryStore,
        sandbox::Sandbox,
    },
};

fn name<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// A realm in memory, and a code repository on disk that is only read.
struct World {
    store: Rc<MemoryStore>,
}

const OWNER: &str = "aperture";
const CONSUMER: &str = "fungal";

impl World {
    /// Creates a realm with two members, a contract at two versions and a consumer that knows neither.
    fn new(code: &Sandbox) -> Self {
        let store = Rc::new(MemoryStore::create(&make::realm(name("r"))).unwrap());
        for repo in [OWNER, CONSUMER, "blue"] {
            let entry = Repo { name: name(repo), url: None, roots: Vec::new() };
            let edit = make::put(layout::repo(&entry.name), codec::encode(&entry));
            write(&*store, &StoreRef::Realm, |_| Ok::<_, OpError>(Some(make::change("join\n", [edit.clone()]))))
                .unwrap();
        }
        let world = Self { store };
        let owner = world.ctx(code, OWNER, Fault::Never).0;
        domain(&owner, &[OWNER, CONSUMER]).unwrap();
        contract(&owner, "paths").unwrap();
        edit(&owner, "0.2.0").unwrap();
        // A working tree's session is known only to its own repository: others start theirs again.
        session::marker::remove(owner.code.as_ref().unwrap()).unwrap();
        session::start::run(&owner, &session::start::Request::default()).unwrap();
        for (id, days) in [("sess-01d", 40), ("sess-57a1e", 2)] {
            world.forgotten(&owner, id, days);
        }
        world
    }

    /// Stores a session of the consumer without activity for this many days. After more than 30, it is stored as ended.
    fn forgotten(&self, ctx: &Ctx, id: &str, days: i64) {
        let at = ctx.env.now() - jiff::SignedDuration::from_hours(24 * days);
        let session = Session {
            id: name(id),
            repo: name(CONSUMER),
            started_at: at,
            last_activity: at,
            active_rfc: None,
            start: BTreeMap::new(),
            ended: None,
        };
        let edits = if days > 30 {
            session::ending_edits(&session.ended(at, Work::default())).to_vec()
        } else {
            vec![session::open(&session)]
        };
        let change = make::change("long ago\n", edits);
        write(&*self.store, &StoreRef::Sessions(name(CONSUMER)), |_| Ok::<_, OpError>(Some(change.clone()))).unwrap();
    }

    fn ctx(&self, code: &Sandbox, repo: &str, fault: Fault) -> (Ctx, Rc<std::cell::Cell<u32>>) {
        let store = FaultyStore::new(self.store.clone(), fault);
        let calls = store.counter();
        let env = code.env(code.path().join("code"));
        let here = RealmContext::new(name("r"), store, Some(name(repo)));
        let mut ctx = Ctx::new(env, Home::new(code.path().join("home")), None, Ok(here));
        ctx.code = CodeRepo::discover(&ctx.place()).unwrap();
        // Join the clone as the requesting repository, as its user would.
        joined::write(&ctx.home, ctx.code.as_ref().unwrap(), &name("r"), &name(repo), true).unwrap();
        (ctx, calls)
    }

    /// Returns the trees of all refs, since history does not matter.
    fn state(&self) -> BTreeMap<String, Oid> {
        let repos: [RepoName; 2] = [name(OWNER), name(CONSUMER)];
        let readers: [Option<ReaderName>; 2] = [None, Some(name("cli"))];
        let mut refs = vec![StoreRef::Realm, StoreRef::Domain(name("new"))];
        refs.extend(self.store.domains().unwrap().into_iter().map(|(domain, _)| StoreRef::Domain(domain)));
        for repo in &repos {
            refs.push(StoreRef::Sessions(repo.clone()));
            refs.extend(readers.iter().map(|reader| StoreRef::Inbox(repo.clone(), reader.clone())));
        }
        let tree = |at: &StoreRef| {
            use git_blue::store::Objects as _;
            let tip = self.store.tip(at).unwrap()?;
            Some((at.to_string(), self.store.commit(&tip).unwrap().tree))
        };
        refs.iter().filter_map(tree).collect()
    }
}

fn domain(ctx: &Ctx, repos: &[&str]) -> Result<(), OpError> {
    let repos = repos.iter().map(|repo| name(repo)).collect();
    admin::domain::run(ctx, &admin::domain::Request { name: name("s3"), repos, description: None }).map(drop)
}

fn contract(ctx: &Ctx, contract: &str) -> Result<(), OpError> {
    let request = admin::contract::Request {
        domain: name("s3"),
        contract: name(contract),
        owner: name(OWNER),
        version: None,
        schema: None,
        value: None,
        backwards: None,
        forwards: None,
    };
    match admin::contract::run(ctx, &request) {
        // The previous call succeeded without reporting it.
        Err(error) if error.code == ErrorCode::ContractExists => Ok(()),
        result => result.map(drop),
    }
}

fn edit(ctx: &Ctx, version: &str) -> Result<(), OpError> {
    let document =
        format!("name: paths\nversion: \"{version}\"\nowner: {OWNER}\nvalues: free\nvalue: {{v: \"{version}\"}}\n");
    let request =
        contract::edit::Request { contract: name("s3/paths"), document: document.into(), file: "paths.yaml".into() };
    contract::edit::run(ctx, &request).map(drop)
}

fn bind(ctx: &Ctx, repo: &str, role: Role) -> Result<(), OpError> {
    let export = Export { contract: name("paths"), source_files: Vec::new() };
    let import = Import {
        contract: name("paths"),
        version: name(">=0.1.0"),
        expects: None,
        validation: None,
        binding: UsedIn::default(),
        resolved_version: None,
        resolved_at: None,
        adapted_version: None,
    };
    let request = admin::binding::Request {
        domain: name("s3"),
        repo: name(repo),
        role,
        exports: if role.provides() { vec![export] } else { Vec::new() },
        imports: if role.consumes() { vec![import] } else { Vec::new() },
    };
    admin::binding::run(ctx, &request).map(drop)
}

fn tell(ctx: &Ctx) -> Result<(), OpError> {
    let realm::status::Outcome { receipt, .. } = realm::status::run(ctx, &realm::status::Request::default())?;
    let acting = ctx.acting_repo()?;
    inbox::record(acting.store, acting.repo, &name("cli"), &receipt, || ctx.env.now_here())
}

type Operation = (&'static str, &'static str, fn(&Ctx) -> Result<(), OpError>);

const OPERATIONS: &[Operation] = &[
    ("admin domain, new", OWNER, |ctx| {
        let repos = vec![name(OWNER), name(CONSUMER)];
        admin::domain::run(ctx, &admin::domain::Request { name: name("new"), repos, description: None }).map(drop)
    }),
    ("admin domain, one more member", OWNER, |ctx| domain(ctx, &["blue"])),
    ("admin contract", OWNER, |ctx| contract(ctx, "queues")),
    ("admin binding, provider", OWNER, |ctx| bind(ctx, OWNER, Role::Provider)),
    ("admin binding, consumer", CONSUMER, |ctx| bind(ctx, CONSUMER, Role::Consumer)),
    ("admin bootstrap", OWNER, |ctx| {
        let document = "domains: [{ name: new, repos: [fungal], bindings: [{ repo: fungal, binding: \
                        { role: consumer, imports: [{ contract: paths, version: '>=0.1.0' }] } }] }]\n";
        let request = admin::bootstrap::Request { document: document.into(), ..Default::default() };
        admin::bootstrap::run(ctx, &request).map(drop)
    }),
    ("admin bootstrap, a repository and a rule", OWNER, |ctx| {
        let document = "cycles: refuse\nrepos: [{ name: planned }]\n";
        let request = admin::bootstrap::Request { document: document.into(), ..Default::default() };
        admin::bootstrap::run(ctx, &request).map(drop)
    }),
    ("contract edit", OWNER, |ctx| edit(ctx, "0.3.0")),
    ("contract publish", OWNER, |ctx| contract::publish::run(ctx, &contract::publish::Request::default()).map(drop)),
    ("contract retire", OWNER, |ctx| {
        let request = contract::retire::Request { contract: name("s3/paths"), reason: "old".into(), force: true };
        contract::retire::run(ctx, &request).map(drop)
    }),
    ("contract yank", OWNER, |ctx| {
        let request =
            contract::yank::Request { contract: name("s3/paths"), version: name("0.1.0"), reason: "bad".into() };
        contract::yank::run(ctx, &request).map(drop)
    }),
    ("admin leave", CONSUMER, |ctx| {
        match admin::leave::run(ctx, &admin::leave::Request { force: true, undo: false }) {
            Err(error) if error.code == ErrorCode::NotJoined => Ok(()),
            result => result.map(drop),
        }
    }),
    ("session start", CONSUMER, |ctx| {
        session::start::run(ctx, &session::start::Request { rfc: Some(name("team/rfc-0042")) }).map(drop)
    }),
    ("session stop", OWNER, |ctx| match session::stop::run(ctx, &session::stop::Request::default()) {
        Err(error) if error.code == ErrorCode::NoSession => Ok(()),
        result => result.map(drop),
    }),
    ("session stop, by id", OWNER, |ctx| {
        let open = session::list::run(ctx, &session::list::Request::default())?.body.sessions;
        let Some(session) = open.into_iter().find(|one| Some(&one.repo) == ctx.acting_repo().ok().map(|it| it.repo))
        else {
            return Ok(());
        };
        session::stop::run(ctx, &session::stop::Request { id: Some(session.id) }).map(drop)
    }),
    ("doctor ends stale sessions", CONSUMER, |ctx| {
        session::upkeep::end_stale(ctx.acting_repo()?, &ctx.signature()?).map(drop)
    }),
    ("gc forgets old sessions", CONSUMER, |ctx| {
        session::upkeep::forget(ctx.acting_repo()?, &ctx.signature()?).map(drop)
    }),
    ("status, and being told", CONSUMER, tell),
    ("notifications ack", CONSUMER, |ctx| {
        notifications::ack::run(ctx, &notifications::ack::Request::by_person(Vec::new())).map(drop)
    }),
];

/// Creates a repository whose HEAD publishes two more versions of a contract, and a binding.
fn code() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.set("GIT_BLUE_NOW", "2026-01-24T12:00:00Z");
    sandbox.set("GIT_BLUE_SEED", "1");
    sandbox.git(&sandbox.path(), &["init", "-q", "code"]);
    let code = sandbox.path().join("code");
    let file = |path: &str, text: &str| {
        let path = code.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(path, text).unwrap();
    };
    file(".blue/contracts/s3/paths.yaml", "name: paths\nversion: \"0.4.0\"\nowner: aperture\nvalue: [1]\n");
    file(".blue/contracts/s3/topics.yaml", "name: topics\nversion: \"1.0.0\"\nowner: aperture\n");
    file(".blue/bindings/s3.yaml", "role: provider\nexports: [{contract: paths}]\n");
    sandbox.git(&code, &["add", "."]);
    sandbox.git(&code, &["commit", "-q", "-m", "Publish"]);
    sandbox
}

#[test]
fn every_fault_leaves_refs_old_or_new_and_allows_the_next_command() {
    let code = code();
    let mut walked = Vec::new();
    for (what, repo, operation) in OPERATIONS {
        let old = World::new(&code).state();
        let world = World::new(&code);
        assert_eq!(world.state(), old, "{what}: two worlds start alike");
        let (ctx, calls) = world.ctx(&code, repo, Fault::Never);
        operation(&ctx).unwrap_or_else(|error| panic!("{what}: {error}"));
        let new = world.state();
        assert_ne!(old, new, "{what} changes something");
        let total = calls.get();
        for number in 1..=total {
            for fault in [Fault::Before(number), Fault::After(number)] {
                let world = World::new(&code);
                let outcome = operation(&world.ctx(&code, repo, fault).0);
                let after = world.state();
                for at in old.keys().chain(new.keys()) {
                    let found = after.get(at);
                    assert!(
                        found == old.get(at) || found == new.get(at),
                        "{what}, {fault:?}: {at} is neither as it was nor as it was to be"
                    );
                }
                if outcome.is_ok() && *what != "status, and being told" && *what != "notifications ack" {
                    assert_eq!(after, new, "{what}, {fault:?}: it said that it was done");
                }
                let again = operation(&world.ctx(&code, repo, Fault::Never).0);
                again.unwrap_or_else(|error| panic!("{what}, once more after {fault:?}: {error}"));
                let ended = world.state();
                let domains = |state: &BTreeMap<String, Oid>| -> BTreeMap<String, Oid> {
                    state.iter().filter(|(at, _)| !at.contains("/local/")).map(|(at, id)| (at.clone(), *id)).collect()
                };
                assert_eq!(domains(&ended), domains(&new), "{what}, once more after {fault:?}");
            }
        }
        walked.push(format!("{what}: {total} calls, {} faults", 2 * total));
    }
    println!("{}", walked.join("\n"));
}
