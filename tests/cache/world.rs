//! A realm on disk, queried in this process with and without the cache.

use std::path::PathBuf;

use git_blue::{
    env::Env,
    error::OpError,
    model::{
        binding::{Export, Import, Role, UsedIn},
        name::{ContractName, DomainName},
    },
    ops::{admin, contract, ctx::Ctx, notifications, realm},
    testing::sandbox::Sandbox,
    wire::{Failure, PageRequest},
};
use serde::Serialize;

pub const OWNER: &str = "aperture";
pub const CONSUMER: &str = "fungal";

pub struct World {
    pub sandbox: Sandbox,
}

pub fn name<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

impl World {
    /// Creates a realm with two repositories.
    pub fn new() -> Self {
        let mut sandbox = Sandbox::new();
        let home = sandbox.path().join("blue");
        sandbox.set("GIT_BLUE_HOME", home);
        sandbox.set("GIT_BLUE_NOW", "2026-01-24T12:00:00Z");
        sandbox.set("GIT_BLUE_SEED", "1");
        let world = Self { sandbox };
        let top = world.sandbox.path();
        for (at, repo) in [OWNER, CONSUMER].iter().enumerate() {
            world.sandbox.git(&top, &["init", "-q", "--template=", repo]);
            world.sandbox.git(&top.join(repo), &["commit", "-q", "--allow-empty", "-m", repo]);
            let ctx = world.ctx(repo, true);
            if at == 0 {
                let request = admin::init::Request { name: name("r"), path: None, url: None, branches: false };
                admin::init::run(&ctx, &request).unwrap();
            }
            let request = admin::join::Request { realm: name("r"), repo: None, url: None, branches: false };
            admin::join::run(&ctx, &request).unwrap();
        }
        world
    }

    pub fn store(&self) -> PathBuf {
        self.sandbox.path().join("blue/realms/r.git")
    }

    /// Returns the path of the snapshot.
    pub fn kept(&self) -> PathBuf {
        self.store().join("blue/cache/snapshot")
    }

    /// Returns the path of the cached comparisons.
    pub fn comparisons(&self) -> PathBuf {
        self.kept().with_file_name("comparisons")
    }

    /// Returns the path of the file of parts that the snapshot refers to.
    pub fn parts(&self) -> PathBuf {
        let snapshot = std::fs::read_to_string(self.kept()).unwrap();
        self.kept().with_file_name(snapshot.lines().next().unwrap())
    }

    pub fn in_store(&self, arguments: &[&str]) -> String {
        self.sandbox.git(&self.store(), arguments)
    }

    fn env(&self, repo: &str, cached: bool) -> Env {
        let env = self.sandbox.env(self.sandbox.path().join(repo));
        if cached { env } else { env.without_cache() }
    }

    pub fn ctx(&self, repo: &str, cached: bool) -> Ctx {
        Ctx::open(self.env(repo, cached), None).unwrap()
    }

    /// Returns the environment of a server, which caches decoded objects in memory.
    pub fn server_ctx(&self, repo: &str) -> Ctx {
        Ctx::open(self.env(repo, true).of_server(), None).unwrap()
    }

    /// Returns the answers to every query, as JSON.
    pub fn answers(&self, open: impl Fn(&str) -> Ctx) -> Vec<String> {
        let mut answers = Vec::new();
        for repo in [OWNER, CONSUMER] {
            let ctx = open(repo);
            answers
                .push(json(realm::status::run(&ctx, &realm::status::Request::default()).map(|outcome| outcome.answer)));
            answers.push(json(realm::check::run(&ctx, &realm::check::Request::default())));
            let page = PageRequest { limit: Some(3), cursor: Some("d1/c0".into()) };
            answers.push(json(contract::list::run(&ctx, &contract::list::Request { page, ..Default::default() })));
            answers.push(json(contract::list::run(&ctx, &contract::list::Request::default())));
            let contract = contract::get::Request { contract: name("d0/c0"), version: None, origin: false };
            answers.push(json(contract::get::run(&ctx, &contract)));
            answers.push(json(notifications::list::run(&ctx, &notifications::list::Request::default())));
        }
        answers
    }

    /// Queries twice with the disk cache and twice with the memory cache, so that the second time it is used, and
    /// compares the answers with uncached ones.
    pub fn agree(&self, after: &str) {
        let wanted = self.answers(|repo| self.ctx(repo, false));
        for time in ["first", "second"] {
            let kept = self.answers(|repo| self.ctx(repo, true));
            let held = self.answers(|repo| self.server_ctx(repo));
            for (how, found) in [("kept", kept), ("held", held)] {
                for (found, wanted) in found.iter().zip(&wanted) {
                    assert_eq!(found, wanted, "after {after}, the {time} time, {how}");
                }
            }
        }
    }

    pub fn domain(&self, at: u8) -> Result<(), OpError> {
        let request =
            admin::domain::Request { name: domain(at), repos: vec![name(OWNER), name(CONSUMER)], description: None };
        admin::domain::run(&self.ctx(OWNER, true), &request).map(drop)
    }

    pub fn contract(&self, at: u8, number: u8) -> Result<(), OpError> {
        let request = admin::contract::Request {
            domain: domain(at),
            contract: contract(number),
            owner: name(OWNER),
            version: None,
            schema: None,
            value: None,
            backwards: None,
            forwards: None,
        };
        admin::contract::run(&self.ctx(OWNER, true), &request).map(drop)
    }

    pub fn edit(&self, at: u8, number: u8, version: &str) -> Result<(), OpError> {
        let rest = format!("supported: [\">=0.1.0\"]\nvalue: \"{version}\"");
        self.edit_document(at, number, version, &rest)
    }

    pub fn edit_schema(&self, at: u8, number: u8, version: &str, schema: &str) {
        self.edit_document(at, number, version, &format!("schema: {schema}")).unwrap();
    }

    fn edit_document(&self, at: u8, number: u8, version: &str, rest: &str) -> Result<(), OpError> {
        let document = format!("name: c{number}\nversion: \"{version}\"\nowner: {OWNER}\n{rest}\n");
        let request = contract::edit::Request {
            contract: name(&format!("d{at}/c{number}")),
            document: document.into(),
            file: "c.yaml".into(),
        };
        contract::edit::run(&self.ctx(OWNER, true), &request).map(drop)
    }

    pub fn retire(&self, at: u8, number: u8) -> Result<(), OpError> {
        let contract = name(&format!("d{at}/c{number}"));
        let request = contract::retire::Request { contract, reason: "over".into(), force: true };
        contract::retire::run(&self.ctx(OWNER, true), &request).map(drop)
    }

    pub fn bind(&self, at: u8, number: u8, range: &str) -> Result<(), OpError> {
        let import = Import::new(contract(number), name(range), UsedIn::default());
        let request = admin::binding::Request {
            domain: domain(at),
            repo: name(CONSUMER),
            role: Role::Consumer,
            exports: Vec::<Export>::new(),
            imports: vec![import],
        };
        admin::binding::run(&self.ctx(CONSUMER, true), &request).map(drop)
    }
}

fn domain(at: u8) -> DomainName {
    name(&format!("d{at}"))
}

fn contract(number: u8) -> ContractName {
    name(&format!("c{number}"))
}

fn json<T: Serialize>(result: Result<T, OpError>) -> String {
    match result {
        Ok(answer) => serde_json::to_string_pretty(&answer).unwrap(),
        Err(error) => serde_json::to_string_pretty(&Failure::from(&error)).unwrap(),
    }
}
