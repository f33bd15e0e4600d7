//! Unusual formats, partial repositories, and repositories named by variables.

use git_blue::{
    repo::{CodeRepo, DiscoverOptions, Head, blue_files::Files},
    testing::sandbox::Sandbox,
};

use super::{Code, discover, left_out::left_out, name, place};

#[test]
fn sha256_repository() {
    let code = Code::new(&["--object-format=sha256"]);
    assert_eq!(code.second.as_bytes().len(), 32);
    code.assert_read_by(&code.open(), Some("main"));
    let old = code.second;
    code.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "Amended"]);
    assert!(code.open().replaced("main", &old).unwrap());
    // An id of the other format is simply missing.
    let foreign = name(&"12".repeat(20));
    assert!(!code.open().replaced("main", &foreign).unwrap());
    assert!(!code.open().is_ancestor(&foreign, &code.id("HEAD")).unwrap());
}

#[test]
fn reftable_repository() {
    for init in [["--ref-format=reftable"].as_slice(), &["--ref-format=reftable", "--object-format=sha256"]] {
        let Some(code) = reftable(init) else { return };
        let repo = code.open();
        code.assert_read_by(&repo, Some("main"));
        assert_eq!(repo.hooks_folder().unwrap(), code.path().join(".git/hooks"));
        code.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "Amended"]);
        let repo = code.open();
        assert!(repo.replaced("main", &code.second).unwrap());
        assert!(!repo.replaced("nowhere", &code.second).unwrap());
        assert_eq!(repo.reference("refs/heads/main").unwrap(), Some(code.id("HEAD")));
    }
}

#[test]
fn reftable_repository_in_every_state() {
    let Some(code) = reftable(&["--ref-format=reftable"]) else { return };
    code.git(&["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let linked = code.sandbox.path().join("linked");
    code.assert_read_by(&discover(&code.sandbox, &linked), Some("topic"));
    code.git(&["checkout", "-q", "--detach"]);
    code.assert_read_by(&code.open(), None);
    code.assert_read_by(&discover(&code.sandbox, &linked), Some("topic"));
    code.git(&["checkout", "-q", "--orphan", "unborn"]);
    assert_eq!(code.open().head().unwrap(), Head { branch: Some("unborn".into()), commit: None });
}

#[test]
fn branches_of_a_reftable_repository() {
    let Some(code) = reftable(&["--ref-format=reftable"]) else { return };
    code.git(&["branch", "-q", "-m", "trunk"]);
    assert_eq!(code.open().publishing_branch().unwrap().as_deref(), Some("trunk"));
    code.git(&["branch", "-q", "other"]);
    assert_eq!(code.open().publishing_branch().unwrap(), None);
    code.git(&["update-ref", "refs/remotes/origin/other", "HEAD"]);
    code.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/other"]);
    assert_eq!(code.open().publishing_branch().unwrap().as_deref(), Some("other"));
}

/// Returns `None` if this git is too old to create one.
fn reftable(init: &[&str]) -> Option<Code> {
    if !Sandbox::new().has_git(2, 45) {
        left_out("git is older than 2.45, and has no reftable");
        return None;
    }
    Some(Code::new(init))
}

#[test]
fn shallow_clone() {
    let code = Code::new(&[]);
    code.git(&["commit", "-q", "--allow-empty", "-m", "Third"]);
    let third = code.id("HEAD");
    let url = format!("file://{}", code.path().display());
    code.sandbox.git(&code.sandbox.path(), &["clone", "-q", "--depth=2", &url, "shallow"]);
    let repo = discover(&code.sandbox, &code.sandbox.path().join("shallow"));
    assert_eq!(repo.head().unwrap().commit, Some(third));
    assert!(repo.has(&code.second) && !repo.has(&code.first));
    assert!(repo.is_ancestor(&code.second, &third).unwrap());
    assert!(!repo.is_ancestor(&third, &code.second).unwrap());
    // Nothing is known beyond the shallow boundary, which is not a root.
    assert!(!repo.is_ancestor(&code.first, &third).unwrap());
    assert_eq!(repo.roots(&third).unwrap(), []);
    assert_eq!(repo.origin_url(), Some(url));
}

#[test]
fn git_dir_selects_the_repository() {
    let code = Code::new(&[]);
    code.git(&["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let top = code.sandbox.path();
    code.sandbox.git(&top, &["init", "-q", "other"]);
    let found = |cwd: &str, set: &[(&str, &str)]| {
        let mut place = place(&code.sandbox, &top.join(cwd));
        place.vars.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
        CodeRepo::discover(&place).unwrap().unwrap()
    };
    let git_dir = code.path().join(".git");
    let git_dir = git_dir.to_str().unwrap();
    // Absolute, and as git passes it to hooks: relative to the top (working tree).
    for repo in [found("other", &[("GIT_DIR", git_dir)]), found("code", &[("GIT_DIR", ".git")])] {
        code.assert_read_by(&repo, Some("main"));
        assert_eq!(repo.git_dir(), code.path().join(".git"));
        assert_eq!(repo.main_folder(), code.path());
    }
    let linked = format!("{git_dir}/worktrees/linked");
    let repo = found("linked", &[("GIT_DIR", &linked)]);
    code.assert_read_by(&repo, Some("topic"));
    assert_eq!((repo.workdir(), repo.main_folder()), (Some(top.join("linked")), code.path()));
    let repo = found("other", &[("GIT_DIR", git_dir), ("GIT_WORK_TREE", "../linked")]);
    assert_eq!(repo.workdir(), Some(top.join("linked")));
    // A relative path is relative to the current folder, as for git.
    let repo = found(".", &[("GIT_DIR", git_dir), ("GIT_WORK_TREE", "code/src")]);
    assert_eq!(repo.workdir(), Some(code.path().join("src")));
    assert_eq!(repo.resolve("HEAD").unwrap(), code.second);
    assert_eq!(repo.hooks_folder().unwrap(), code.path().join(".git/hooks"));
    // An empty variable is ignored.
    assert_eq!(found("other", &[("GIT_DIR", "")]).workdir(), Some(top.join("other")));
}

#[test]
fn invalid_git_dir_is_an_error() {
    let code = Code::new(&[]);
    let mut place: DiscoverOptions = place(&code.sandbox, &code.path());
    place.vars.insert("GIT_DIR".into(), "nowhere".into());
    let error = CodeRepo::discover(&place).unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn content_of_a_working_file_is_compared_without_reading_the_blob() {
    let code = Code::new(&[]);
    let (repo, blob) = (code.open(), code.id("HEAD:.blue/config.yaml"));
    for (bytes, is_same) in
        [("repo: web\n", true), ("repo: web\r\n", true), ("repo: web", false), ("repo: web\r", false)]
    {
        assert_eq!(repo.is_content(bytes.as_bytes(), &blob).unwrap(), is_same, "{bytes:?}");
    }
}

#[test]
fn ignored_paths_may_have_quotes() {
    let code = Code::new(&[]);
    std::fs::write(code.path().join(".gitignore"), "*.gen\n").unwrap();
    let ignored = code.open().ignored(["a\"b.gen", "é.gen", "kept", "src/c d.gen"]);
    assert_eq!(ignored, ["a\"b.gen", "src/c d.gen", "é.gen"].map(str::to_owned).into());
    assert!(code.open().ignored(["kept"]).is_empty());
}

#[cfg(unix)]
#[test]
fn path_through_a_link_does_not_exist() {
    let code = Code::new(&[]);
    std::os::unix::fs::symlink("/", code.path().join("out")).unwrap();
    let files = Files::on_disk(code.path());
    assert!(files.exists("src/deep/lib.rs").unwrap() && files.exists("src").unwrap() && files.exists("out").unwrap());
    assert!(!files.exists("out/tmp").unwrap() && !files.exists("src/deep/lib.rs/x").unwrap());
}
