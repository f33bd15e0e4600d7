//! Locating repositories.

use git_blue::{
    repo::{CodeRepo, Head},
    testing::sandbox::Sandbox,
};

use super::{Code, discover, place};

#[test]
fn ordinary_repository() {
    let code = Code::new(&[]);
    let repo = code.open();
    code.assert_read_by(&repo, Some("main"));
    assert_eq!(repo.workdir(), Some(code.path()));
    assert_eq!(repo.git_dir(), code.path().join(".git"));
    assert_eq!(repo.main_folder(), code.path());
    assert_eq!(repo.hooks_folder().unwrap(), code.path().join(".git/hooks"));
    // The same after packing everything.
    code.git(&["gc", "-q"]);
    code.assert_read_by(&code.open(), Some("main"));
}

#[test]
fn subfolder_and_inside_the_git_dir() {
    let code = Code::new(&[]);
    for folder in ["src/deep", ".git/refs"] {
        let repo = discover(&code.sandbox, &code.path().join(folder));
        code.assert_read_by(&repo, Some("main"));
        assert_eq!(repo.git_dir(), code.path().join(".git"));
        assert_eq!(repo.main_folder(), code.path());
        assert_eq!(repo.hooks_folder().unwrap(), code.path().join(".git/hooks"));
    }
    assert_eq!(discover(&code.sandbox, &code.path().join("src/deep")).workdir(), Some(code.path()));
}

#[test]
fn linked_worktree() {
    let code = Code::new(&[]);
    code.git(&["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let linked = code.sandbox.path().join("linked");
    for cwd in [linked.clone(), linked.join("src/deep")] {
        let repo = discover(&code.sandbox, &cwd);
        code.assert_read_by(&repo, Some("topic"));
        assert_eq!(repo.workdir(), Some(linked.clone()));
        assert_eq!(repo.git_dir(), code.path().join(".git/worktrees/linked"));
        assert_eq!(repo.main_folder(), code.path());
        assert_eq!(repo.hooks_folder().unwrap(), code.path().join(".git/hooks"));
    }
    // The main worktree keeps its own HEAD.
    code.assert_read_by(&code.open(), Some("main"));
}

#[test]
fn bare_repository_and_its_worktree() {
    let code = Code::new(&[]);
    let top = code.sandbox.path();
    code.sandbox.git(&top, &["clone", "-q", "--bare", "code", "bare.git"]);
    let bare = top.join("bare.git");
    for cwd in [bare.clone(), bare.join("refs/heads")] {
        let repo = discover(&code.sandbox, &cwd);
        code.assert_read_by(&repo, Some("main"));
        assert_eq!(repo.workdir(), None);
        assert_eq!((repo.git_dir(), repo.main_folder()), (bare.as_path(), bare.clone()));
        assert_eq!(repo.hooks_folder().unwrap(), bare.join("hooks"));
    }
    code.sandbox.git(&bare, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let repo = discover(&code.sandbox, &top.join("linked"));
    code.assert_read_by(&repo, Some("topic"));
    assert_eq!((repo.workdir(), repo.main_folder()), (Some(top.join("linked")), bare));
}

#[test]
fn detached_head() {
    let code = Code::new(&[]);
    code.git(&["checkout", "-q", "--detach"]);
    code.assert_read_by(&code.open(), None);
}

#[test]
fn repository_without_a_commit() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("code");
    sandbox.git(&sandbox.path(), &["init", "-q", "-b", "trunk", "code"]);
    let repo = discover(&sandbox, &path);
    assert_eq!(repo.head().unwrap(), Head { branch: Some("trunk".into()), commit: None });
    assert_eq!(repo.reference("refs/heads/trunk").unwrap(), None);
    assert!(repo.resolve("HEAD").is_err());
    assert_eq!(repo.publishing_branch().unwrap(), None);
    assert_eq!(repo.origin_url(), None);
    assert!(!repo.replaced("trunk", &"12".repeat(20).parse().unwrap()).unwrap());
    // HEAD is an unborn branch.
    sandbox.git(&path, &["symbolic-ref", "HEAD", "refs/heads/master"]);
    assert_eq!(discover(&sandbox, &path).publishing_branch().unwrap().as_deref(), Some("master"));
}

#[test]
fn separate_git_dir() {
    let code = Code::new(&["--separate-git-dir", "elsewhere"]);
    let repo = discover(&code.sandbox, &code.path().join("src"));
    code.assert_read_by(&repo, Some("main"));
    let elsewhere = code.sandbox.path().join("elsewhere");
    assert_eq!(repo.workdir(), Some(code.path()));
    assert_eq!(repo.git_dir(), elsewhere);
    assert_eq!(repo.main_folder(), code.path());
    assert_eq!(repo.hooks_folder().unwrap(), elsewhere.join("hooks"));
}

#[test]
fn submodule() {
    let code = Code::new(&[]);
    let top = code.sandbox.path();
    code.sandbox.git(&top, &["init", "-q", "super"]);
    let over = top.join("super");
    let source = code.path();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../code", "sub"];
    code.sandbox.git(&over, &add);
    let repo = discover(&code.sandbox, &over.join("sub/src"));
    code.assert_read_by(&repo, Some("main"));
    assert_eq!(repo.workdir(), Some(over.join("sub")));
    assert_eq!(repo.git_dir(), over.join(".git/modules/sub"));
    assert_eq!(repo.main_folder(), over.join("sub"));
    assert_eq!(repo.origin_url().as_deref(), source.to_str());
    code.sandbox.git(&over.join("sub"), &["worktree", "add", "-q", "-b", "topic", "../../linked"]);
    let repo = discover(&code.sandbox, &top.join("linked"));
    assert_eq!((repo.workdir(), repo.main_folder()), (Some(top.join("linked")), over.join("sub")));
}

#[test]
fn no_repository() {
    let sandbox = Sandbox::new();
    assert!(CodeRepo::discover(&place(&sandbox, &sandbox.path())).unwrap().is_none());
    assert!(CodeRepo::discover(&place(&sandbox, &sandbox.path().join("nowhere"))).unwrap().is_none());
}

#[test]
fn name_that_is_not_utf8_hides_nothing() {
    use std::os::unix::ffi::OsStrExt as _;
    let code = Code::new(&[]);
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(code.path().join(odd), "").unwrap();
    std::fs::write(code.path().join(".blue").join(odd), "").unwrap();
    code.git(&["add", "-A"]);
    code.git(&["commit", "-q", "--amend", "-m", "Second"]);
    let code = Code { second: code.id("HEAD"), ..code };
    code.assert_read_by(&code.open(), Some("main"));
}
