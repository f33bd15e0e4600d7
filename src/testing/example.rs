//! A realm for the examples in the documentation: `fungal` provides the contract `s3-access/s3-permissions`, and
//! `access` imports it.

use std::path::PathBuf;

use super::sandbox::Sandbox;
use crate::{
    Machine,
    model::name::{RealmName, RepoName},
    ops::{admin, ctx::Ctx},
    wire::PageRequest,
};

const CONTRACTS: &str = ".blue/contracts/s3-access";
const BINDING: &str = ".blue/bindings/s3-access.yaml";
const EXPORTS: &str = "role: provider\nexports:\n  - contract: s3-permissions\n";
const IMPORTS: &str = "role: consumer\nimports:\n  - contract: s3-permissions\n    version: \">=1.0.0, <2.0.0\"\n";

/// A realm, its two repositories and their user. All of it is removed on drop.
#[derive(Debug)]
pub struct Example {
    sandbox: Sandbox,
}

impl Example {
    /// Creates the realm and publishes version 1.0.0 of the contract, which `access` has seen.
    ///
    /// # Panics
    /// Panics if a step fails.
    #[expect(clippy::new_without_default, reason = "it makes folders, which no default value should")]
    pub fn new() -> Self {
        let example = Self { sandbox: Sandbox::new() };
        example.join("fungal", EXPORTS);
        example.join("access", IMPORTS);
        let ctx = Ctx::open(example.sandbox.env(example.folder("fungal")), None).expect("fungal is in the realm");
        let repos = ["fungal", "access"].map(name::<RepoName>).to_vec();
        let domain = admin::domain::Request { name: name("s3-access"), repos, description: None };
        admin::domain::run(&ctx, &domain).expect("a domain is made");
        example.commit("fungal", "1.0.0");
        for repo in ["fungal", "access"] {
            let repository = example.machine().repository(example.folder(repo)).expect("it is in the realm");
            repository.publish().expect("it is published");
        }
        let access = example.machine().repository(example.folder("access")).expect("it is in the realm");
        let pending = access.pending(&PageRequest::all()).expect("the realm can be read").body.notifications;
        access.acknowledge(pending.into_iter().map(|one| one.id)).expect("it may write");
        example
    }

    /// Returns the machine that has the realm.
    ///
    /// # Panics
    /// Never panics, because the sandbox has a home folder.
    pub fn machine(&self) -> Machine {
        Machine::with_env(self.sandbox.env(self.sandbox.path())).expect("the sandbox has a home folder")
    }

    /// Returns the sandbox that contains it.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Returns the folder of a repository.
    pub fn folder(&self, repo: &str) -> PathBuf {
        self.sandbox.path().join(repo)
    }

    /// Commits a version of the contract in a repository, without publishing it.
    pub fn commit(&self, repo: &str, version: &str) {
        let contract = format!("name: s3-permissions\nversion: \"{version}\"\nowner: fungal\nvalue: {{}}\n");
        self.write(repo, &format!("{CONTRACTS}/s3-permissions.yaml"), &contract);
        self.commit_all(repo, version);
    }

    /// Creates a repository in the realm, with its binding committed.
    fn join(&self, repo: &str, binding: &str) {
        self.sandbox.git(&self.sandbox.path(), &["init", "-q", repo]);
        let ctx = Ctx::open(self.sandbox.env(self.folder(repo)), None).expect("it is a repository");
        let realm: RealmName = name("aperture");
        if ctx.home.realm(&realm).expect("the home folder can be read").is_none() {
            let make = admin::init::Request { name: realm.clone(), path: None, url: None, branches: false };
            admin::init::run(&ctx, &make).expect("a realm is made");
        }
        let join = admin::join::Request { realm, repo: None, url: None, branches: false };
        self.write(repo, BINDING, binding);
        admin::join::run(&ctx, &join).expect("it joins the realm");
        self.commit_all(repo, "Join the realm");
    }

    fn write(&self, repo: &str, path: &str, text: &str) {
        let path = self.folder(repo).join(path);
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("the sandbox can be written");
        std::fs::write(path, text).expect("the sandbox can be written");
    }

    fn commit_all(&self, repo: &str, message: &str) {
        self.sandbox.git(&self.folder(repo), &["add", "--all"]);
        self.sandbox.git(&self.folder(repo), &["commit", "-q", "-m", message]);
    }
}

fn name<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("it is a name")
}
