//! How this program reads the user's repositories, of every kind that git creates.

mod config;
mod history;
mod kinds;
#[path = "../testutils/left_out.rs"]
mod left_out;
mod special;

use std::{path::Path, str::FromStr};

use git_blue::{
    model::oid::Oid,
    repo::{CodeRepo, DiscoverOptions, Head},
    store::{Objects as _, read::lookup},
    testing::sandbox::Sandbox,
};

/// A repository at `code` with two commits on `main`, both by Ada.
struct Code {
    sandbox: Sandbox,
    first: Oid,
    second: Oid,
}

impl Code {
    /// Creates it with these options of `git init`.
    fn new(init: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let top = sandbox.path();
        sandbox.git(&top, &[&["init", "-q", "code"], init].concat());
        let code = top.join("code");
        std::fs::create_dir_all(code.join(".blue")).unwrap();
        std::fs::create_dir_all(code.join("src/deep")).unwrap();
        std::fs::write(code.join(".blue/config.yaml"), "repo: web\n").unwrap();
        std::fs::write(code.join("src/deep/lib.rs"), "").unwrap();
        sandbox.git(&code, &["add", "-A"]);
        sandbox.git(&code, &["commit", "-q", "-m", "First"]);
        sandbox.git(&code, &["commit", "-q", "--allow-empty", "-m", "Second"]);
        let id = |revision| name(&sandbox.git(&code, &["rev-parse", revision]));
        let (first, second) = (id("HEAD~1"), id("HEAD"));
        Self { sandbox, first, second }
    }

    fn path(&self) -> std::path::PathBuf {
        self.sandbox.path().join("code")
    }

    fn git(&self, args: &[&str]) -> String {
        self.sandbox.git(&self.path(), args)
    }

    fn id(&self, revision: &str) -> Oid {
        name(&self.git(&["rev-parse", revision]))
    }

    fn open(&self) -> CodeRepo {
        discover(&self.sandbox, &self.path())
    }

    /// Asserts that both commits and their content can be read through `repo`, and that HEAD is the second one.
    fn assert_read_by(&self, repo: &CodeRepo, branch: Option<&str>) {
        let (first, second) = (self.first, self.second);
        let head = Head { branch: branch.map(str::to_owned), commit: Some(second) };
        assert_eq!(repo.head().unwrap(), head);
        assert_eq!(repo.reference("refs/heads/main").unwrap(), Some(second));
        assert_eq!(repo.reference("refs/heads/nowhere").unwrap(), None);
        assert_eq!(repo.resolve("HEAD~1").unwrap(), first);
        assert_eq!(repo.resolve(&second.short()).unwrap(), second);
        let error = repo.resolve("nowhere").unwrap_err().to_string();
        assert!(error.contains("\"nowhere\"") && error.contains("there is no such revision"), "{error}");
        let commit = repo.commit(&second).unwrap();
        assert_eq!((commit.parents.as_slice(), commit.message.as_str()), ([first].as_slice(), "Second\n"));
        assert_eq!((commit.author.as_str(), commit.time.as_second()), ("Ada <ada@example.org>", 1_769_256_000));
        let tree = repo.tree_of(&second).unwrap();
        assert_eq!(tree, commit.tree);
        let file = lookup(repo, &tree, ".blue/config.yaml").unwrap().unwrap();
        assert_eq!(repo.blob(&file.id).unwrap(), b"repo: web\n");
        assert!(repo.has(&first) && !repo.has(&name(&"12".repeat(20))) && !repo.has(&name(&"12".repeat(32))));
        assert!(repo.is_ancestor(&first, &second).unwrap());
        assert!(!repo.is_ancestor(&second, &first).unwrap());
        assert_eq!(repo.roots(&second).unwrap(), [first]);
        assert_eq!(repo.publishing_branch().unwrap().as_deref(), Some("main"));
    }
}

fn name<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn place(sandbox: &Sandbox, cwd: &Path) -> DiscoverOptions {
    DiscoverOptions { cwd: cwd.to_owned(), vars: sandbox.vars().clone(), in_hook: false }
}

/// Finds the repository of a folder.
fn discover(sandbox: &Sandbox, cwd: &Path) -> CodeRepo {
    CodeRepo::discover(&place(sandbox, cwd)).unwrap().unwrap()
}
