//! Configuration: which files count, which branch is published, where hooks are.

use std::{collections::BTreeMap, ffi::OsString};

use git_blue::{
    env::Env,
    repo::{CodeRepo, DiscoverOptions, Head},
    store::{Objects as _, StoreError},
    testing::sandbox::Sandbox,
};

use super::{Code, discover};

#[test]
fn repository_configuration_is_read() {
    let code = Code::new(&[]);
    let top = code.sandbox.path();
    std::fs::write(top.join("more"), "[blue]\n\trealm = included\n\trepo = included\n").unwrap();
    code.git(&["config", "include.path", top.join("more").to_str().unwrap()]);
    code.git(&["config", "blue.repo", "own"]);
    code.git(&["config", "blue.empty", ""]);
    let repo = code.open();
    assert_eq!(repo.config("blue.realm").as_deref(), Some("included"));
    assert_eq!(repo.config("blue.repo").as_deref(), Some("own"));
    assert_eq!(repo.config("blue.empty").as_deref(), Some(""));
    assert_eq!(repo.config("blue.nothing"), None);
    // A linked worktree has the same configuration and its own.
    code.git(&["config", "extensions.worktreeConfig", "true"]);
    code.git(&["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let linked = top.join("linked");
    code.sandbox.git(&linked, &["config", "--worktree", "blue.repo", "linked"]);
    let repo = discover(&code.sandbox, &linked);
    assert_eq!(repo.config("blue.realm").as_deref(), Some("included"));
    assert_eq!(repo.config("blue.repo").as_deref(), Some("linked"));
    assert_eq!(code.open().config("blue.repo").as_deref(), Some("own"));
}

#[test]
fn origin_url_has_no_credentials() {
    let code = Code::new(&[]);
    assert_eq!(code.open().origin_url(), None);
    code.git(&["remote", "add", "origin", "https://me:secret@git.example.com/acme/web.git"]);
    assert_eq!(code.open().origin_url().as_deref(), Some("https://git.example.com/acme/web.git"));
    code.git(&["remote", "set-url", "origin", "git@git.example.com:acme/web.git"]);
    assert_eq!(code.open().origin_url().as_deref(), Some("git@git.example.com:acme/web.git"));
}

#[test]
fn origin_url_is_the_one_that_git_fetches_from() {
    let code = Code::new(&[]);
    let as_git = |url: &str| {
        let git = code.git(&["remote", "get-url", "origin"]);
        assert_eq!((git.trim(), code.open().origin_urls().unwrap()[1].as_str()), (url, url));
    };
    code.git(&["remote", "add", "origin", "work:team/web.git"]);
    as_git("work:team/web.git");
    code.git(&["config", "url.https://h.example/.insteadOf", "work:"]);
    as_git("https://h.example/team/web.git");
    assert_eq!(code.open().origin_url().as_deref(), Some("https://h.example/team/web.git"));
    code.git(&["config", "--add", "url.https://long.example/.insteadOf", "work:team/"]);
    as_git("https://long.example/web.git");
    // A URL that others can use is kept: its replacement may be a mirror.
    code.git(&["remote", "set-url", "origin", "https://far.example/web.git"]);
    code.git(&["config", "url./mirror/.insteadOf", "https://far.example/"]);
    as_git("/mirror/web.git");
    assert_eq!(code.open().origin_url().as_deref(), Some("https://far.example/web.git"));
    code.git(&["remote", "set-url", "--add", "origin", "https://second.example/web.git"]);
    as_git("/mirror/web.git");
}

#[test]
fn remote_of_a_partial_clone_may_have_any_name() {
    let code = Code::new(&[]);
    assert_eq!(code.open().promisor(), None);
    code.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", code.path().display());
    code.sandbox.git(&code.sandbox.path(), &["clone", "-q", "-o", "upstream", "--filter=tree:0", "--bare", &url, "p"]);
    let partial = discover(&code.sandbox, &code.sandbox.path().join("p"));
    assert_eq!(partial.promisor().as_deref(), Some("upstream"));
    let tree = partial.tree_of(&code.second).unwrap();
    let error = partial.entries(&tree).unwrap_err();
    assert!(matches!(&error, StoreError::NotFetched { remote, .. } if remote == "upstream"), "{error:?}");
}

/// gix reads the user's files and `git -c` from the process, so these tests use a child process.
mod of_the_user {
    use super::*;

    #[test]
    fn include_if_matches_remote_urls() {
        let ask = |place: &DiscoverOptions| {
            let config = |code: &str, key: &str| {
                let place = DiscoverOptions { cwd: place.cwd.join(code), ..place.clone() };
                CodeRepo::discover(&place).unwrap().unwrap().config(key)
            };
            assert_eq!(config("ours", "user.name").as_deref(), Some("Ada"));
            assert_eq!(config("ours", "blue.realm").as_deref(), Some("acme"));
            assert_eq!(config("theirs", "blue.realm"), None);
        };
        in_another_process("config::of_the_user::include_if_matches_remote_urls", ask, |sandbox| {
            let top = sandbox.path();
            std::fs::write(top.join("acme"), "[blue]\n\trealm = acme\n").unwrap();
            let by_url = "includeIf.hasconfig:remote.*.url:https://git.example.com/acme/**.path";
            sandbox.git(&top, &["config", "--global", by_url, top.join("acme").to_str().unwrap()]);
            for (code, organization) in [("ours", "acme"), ("theirs", "other")] {
                sandbox.git(&top, &["init", "-q", code]);
                let url = format!("https://git.example.com/{organization}/web.git");
                sandbox.git(&top.join(code), &["remote", "add", "origin", &url]);
            }
        });
    }

    #[test]
    fn one_time_configuration_counts_outside_of_hooks() {
        let ask = |place: &DiscoverOptions| {
            let realm = |in_hook| {
                let place = DiscoverOptions { in_hook, cwd: place.cwd.join("code"), ..place.clone() };
                CodeRepo::discover(&place).unwrap().unwrap().config("blue.realm")
            };
            assert_eq!(realm(false).as_deref(), Some("for-once"));
            assert_eq!(realm(true).as_deref(), Some("always"));
        };
        in_another_process("config::of_the_user::one_time_configuration_counts_outside_of_hooks", ask, |sandbox| {
            sandbox.git(&sandbox.path(), &["init", "-q", "code"]);
            sandbox.git(&sandbox.path().join("code"), &["config", "blue.realm", "always"]);
            sandbox.set("GIT_CONFIG_COUNT", "1");
            sandbox.set("GIT_CONFIG_KEY_0", "blue.realm");
            sandbox.set("GIT_CONFIG_VALUE_0", "for-once");
        });
    }

    /// Runs `ask` in a child process with the variables of a prepared sandbox and no others: the test named `test`,
    /// which calls this function, is run again.
    fn in_another_process(test: &str, ask: impl FnOnce(&DiscoverOptions), prepare: impl FnOnce(&mut Sandbox)) {
        const SANDBOX: &str = "GIT_BLUE_TEST_SANDBOX";
        let env = Env::from_process().unwrap();
        if let Some(cwd) = env.var(SANDBOX) {
            let vars: BTreeMap<OsString, OsString> = env.vars().clone();
            return ask(&DiscoverOptions { cwd: cwd.into(), vars, in_hook: false });
        }
        let mut sandbox = Sandbox::new();
        prepare(&mut sandbox);
        sandbox.set(SANDBOX, sandbox.path());
        let mut again = sandbox.command(env.exe().to_str().unwrap(), &sandbox.path());
        let output = again.args(["--exact", test]).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}

#[test]
fn publishing_branch_is_determined() {
    let code = Code::new(&[]);
    let published = || code.open().publishing_branch().unwrap();
    // From the last default to the first.
    code.git(&["branch", "-q", "-m", "only"]);
    assert_eq!(published().as_deref(), Some("only"));
    code.git(&["branch", "-q", "another"]);
    assert_eq!(published(), None);
    code.git(&["branch", "-q", "master"]);
    assert_eq!(published().as_deref(), Some("master"));
    code.git(&["branch", "-q", "main"]);
    assert_eq!(published().as_deref(), Some("main"));
    code.git(&["config", "init.defaultBranch", "trunk"]);
    assert_eq!(published().as_deref(), Some("main"), "there is no trunk");
    code.git(&["branch", "-q", "trunk"]);
    assert_eq!(published().as_deref(), Some("trunk"));
    code.git(&["update-ref", "refs/remotes/origin/release/1", "HEAD"]);
    code.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/1"]);
    assert_eq!(published().as_deref(), Some("release/1"));
    code.git(&["config", "blue.publishBranch", "another"]);
    assert_eq!(published().as_deref(), Some("another"));
}

#[test]
fn alias_of_a_branch_is_followed() {
    let kinds: [&[&str]; 2] = [&[], &["--ref-format=reftable"]];
    for init in kinds.into_iter().filter(|init| init.is_empty() || Sandbox::new().has_git(2, 45)) {
        let code = Code::new(init);
        code.git(&["branch", "-q", "-m", "main", "trunk"]);
        code.git(&["symbolic-ref", "refs/heads/main", "refs/heads/trunk"]);
        let assert_followed = || {
            let repo = code.open();
            assert_eq!(repo.reference("refs/heads/main").unwrap(), Some(code.second));
            assert_eq!(repo.publishing_branch().unwrap().as_deref(), Some("trunk"));
            assert_eq!(repo.head().unwrap(), Head { branch: Some("trunk".into()), commit: Some(code.second) });
        };
        assert_followed();
        code.git(&["pack-refs", "--all"]);
        code.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        assert_followed();
        code.git(&["symbolic-ref", "refs/heads/next", "refs/heads/none"]);
        assert_eq!(code.open().reference("refs/heads/next").unwrap(), None, "it stands for no branch");
    }
}

#[test]
fn clone_publishes_origins_default_branch() {
    let code = Code::new(&[]);
    code.git(&["checkout", "-q", "-b", "develop"]);
    let top = code.sandbox.path();
    code.sandbox.git(&top, &["clone", "-q", "code", "clone"]);
    let clone = top.join("clone");
    code.sandbox.git(&clone, &["checkout", "-q", "-b", "main"]);
    assert_eq!(discover(&code.sandbox, &clone).publishing_branch().unwrap().as_deref(), Some("develop"));
}

#[test]
fn hooks_folder_is_gits() {
    let code = Code::new(&[]);
    let top = code.sandbox.path();
    code.git(&["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let hooks = |cwd: &str| discover(&code.sandbox, &top.join(cwd)).hooks_folder().unwrap();
    // A relative path is relative to the top (working tree), where git runs hooks.
    code.git(&["config", "core.hooksPath", ".husky/_"]);
    assert_eq!(hooks("code"), top.join("code/.husky/_"));
    assert_eq!(hooks("code/src/deep"), top.join("code/.husky/_"));
    assert_eq!(hooks("linked"), top.join("linked/.husky/_"));
    code.git(&["config", "core.hooksPath", "~/hooks"]);
    assert_eq!(hooks("code"), top.join("home/hooks"));
    code.git(&["config", "core.hooksPath", top.join("hooks").to_str().unwrap()]);
    assert_eq!(hooks("linked"), top.join("hooks"));
}

#[test]
fn keys_ignore_case_except_the_subsection() {
    let code = Code::new(&[]);
    code.git(&["config", "Blue.Web.Path", "one"]);
    let repo = code.open();
    assert_eq!(repo.config("blue.Web.path").as_deref(), Some("one"));
    assert_eq!(repo.config("blue.web.path"), None);
}
