//! The suggested commands commit every file that a contract or a binding refers to.

use crate::world::{BINDING_FILE, CONTRACT_FILE, Run, World, contract};

const AT: &str = "s3-access/s3-permissions";
const PATHS: &str = r#"{"type": "object", "required": ["read"], "properties": {"read": {"type": "array", "items": {"type": "string"}}}}"#;

/// A provider whose contract has its schema in `paths.json`.
fn with_schema_file() -> World {
    let world = World::pair();
    let text = contract("1.0.0");
    let (head, rest) = text.split_once("schema:\n").unwrap();
    let (_, value) = rest.split_once("value:").unwrap();
    let text = format!("{head}schema: {{ file: paths.json }}\nvalue:{value}").replace("1.0.0", "1.1.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.write("fungal/paths.json", PATHS);
    world.commit("fungal", "Move the schema to a file");
    assert_eq!(world.version(), "1.1.0");
    world
}

/// Runs the suggested commit.
fn commit(world: &World, repo: &str, folder: &str, run: &Run) -> Run {
    let step = world.next_steps(run).into_iter().find(|step| step.starts_with("git add")).unwrap();
    let done = world.finish_shell(&world.path(repo).join(folder), &step);
    assert_eq!((done.code, &*world.line(&world.path(repo), &["status", "--porcelain"])), (0, ""), "{step}: {done}");
    done
}

#[test]
fn bump_commits_the_schema_with_the_version() {
    let world = with_schema_file();
    let fungal = world.path("fungal");
    world.write("fungal/paths.json", &PATHS.replace(r#""items""#, r#""minItems": 1, "items""#));
    let bumped = world.ok(&fungal, &["contract", "bump", AT, "major"]);
    commit(&world, "fungal", "", &bumped);
    let stored = world.stored("contracts/s3-permissions.json");
    let least = &stored["schema"]["properties"]["read"]["minItems"];
    assert_eq!((&stored["version"], least), (&"2.0.0".into(), &1.into()));
}

#[test]
fn a_break_is_on_the_line_of_the_schema_file() {
    let world = with_schema_file();
    let api = |kind: &str| {
        format!(
            "{{\"paths\": {{\"type\": \"object\", \"properties\":\n{{\"read\": {{\"items\": {{\"$ref\": \"#/item\"}}}}}}}},\n\
                \"item\":\n{{\"type\": {kind}}}}}\n"
        )
    };
    let file = world.read(&format!("fungal/{CONTRACT_FILE}"));
    let file = file.replace("{ file: paths.json }", "{ file: paths.json, at: \"#/paths\" }");
    let write = |version: &str, kind: &str| {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &file.replace("1.1.0", version));
        world.write("fungal/paths.json", &api(kind));
    };
    write("2.0.0", r#""string""#);
    world.commit("fungal", "Refer to a definition");
    write("2.1.0", r#"["string", "null"]"#);
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("paths.json:4: error:"), "{check}");
}

#[test]
fn a_break_without_a_place_of_its_own_is_in_the_schema_file() {
    let world = with_schema_file();
    let fungal = world.path("fungal");
    let file = world.read(&format!("fungal/{CONTRACT_FILE}")).replace("1.1.0", "1.2.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &file);
    for (required, line) in [("\"required\": [],\n", 2), ("", 1)] {
        let schema =
            format!("{{\"type\": \"object\",\n{required}\"properties\": {{\"read\": {{\"type\": \"array\"}}}}}}\n");
        world.write("fungal/paths.json", &schema);
        let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
        let place = format!("paths.json:{line}: error: s3-access/s3-permissions 1.1.0 -> 1.2.0 breaks its promise");
        assert!(check.stdout.contains(&place), "{check}");
        let check = world.blue(&fungal, &["check", "--worktree", "--format", "github"]).exits(1);
        assert!(check.stdout.contains(&format!("::error file=paths.json,line={line},")), "{check}");
    }
}

#[test]
fn import_commits_what_it_expects() {
    let world = World::pair();
    let access = world.path("access");
    std::fs::create_dir(access.join("code")).unwrap();
    world.write("access/code/what we read.json", r#"{"type": "object", "required": ["read"]}"#);
    let import = world.ok(&access.join("code"), &["import", AT, "--expects", "what we read.json"]);
    let done = commit(&world, "access", "code", &import);
    assert!(done.stderr.contains("published the binding"), "{done}");
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["expects"]["required"][0], "read");
}

#[test]
fn removed_import_is_named_as_such() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.write(
        "access/.blue/contracts/s3-access/back.yaml",
        &contract("1.0.0").replace("s3-permissions", "back").replace("owner: fungal", "owner: access"),
    );
    world.commit("access", "Another contract");
    commit(&world, "fungal", "", &world.ok(&fungal, &["import", "s3-access/back"]));
    commit(&world, "fungal", "", &world.ok(&fungal, &["unimport", "s3-access/back"]));
    let subject = world.line(&fungal, &["log", "-1", "--format=%s"]);
    assert_eq!(subject, "Remove s3-access/back from the binding");
}

#[test]
fn contract_larger_than_a_file_can_change_hands() {
    let world = with_schema_file();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let more: String = (0..300)
        .map(|n| format!(r#", "field-{n}": {{"type": "string", "description": "{}"}}"#, "x".repeat(4_000)))
        .collect();
    world.write("fungal/paths.json", &PATHS.replace("}}}", &format!("}}}}{more}}}")));
    commit(&world, "fungal", "", &world.ok(&fungal, &["contract", "bump", AT, "major"]));
    world.ok(&fungal, &["contract", "transfer", AT, "--to", "access"]);
    let whole = world.ok(&access, &["contract", "get", AT, "--format", "yaml"]);
    assert!(
        whole.stderr.contains("larger than 1 MiB") && whole.stderr.contains("--schema-file FILE"),
        "{}",
        whole.stderr
    );
    let schema = world.ok(&access, &["contract", "get", AT, "--schema"]);
    world.write("access/paths.json", &schema.stdout);
    let rest = world.ok(&access, &["contract", "get", AT, "--format", "yaml", "--schema-file", "paths.json"]);
    assert_eq!(rest.stderr, "");
    world.write(&format!("access/{CONTRACT_FILE}"), &rest.stdout.replace("owner: fungal", "owner: access"));
    world.commit("access", "Accept");
    let stored = world.stored("contracts/s3-permissions.json");
    assert_eq!((&stored["owner"], &stored["version"]), (&"access".into(), &"2.0.0".into()));
    // What is too large says how to split it.
    world.write(&format!("access/{CONTRACT_FILE}"), &whole.stdout);
    let refused = world.blue(&access, &["check", "--worktree"]).exits(1);
    assert!(refused.stdout.contains("schema: { file: FILE }"), "{refused}");
}

#[test]
fn files_that_a_contract_refers_to_count_as_the_contract_in_hints() {
    let world = with_schema_file();
    let fungal = world.path("fungal");
    let file = world.read(&format!("fungal/{CONTRACT_FILE}")).replace("\"1.1.0\"", "auto");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &file);
    world.commit("fungal", "Choose versions automatically");
    let generate = |name: &str| {
        world.write("fungal/models/s3_paths.py", &format!("# {name}\n"));
        let more = format!(r#""properties": {{"{name}": {{"type": "string"}}, "#);
        world.write("fungal/paths.json", &PATHS.replace(r#""properties": {"#, &more));
    };
    generate("write");
    let run = world.commit("fungal", "Generate the schema");
    assert_eq!(run.stderr, "git blue: published s3-access/s3-permissions 1.1.0 -> 1.2.0\n");
    world.git(&fungal, &["switch", "--quiet", "-c", "feature"]);
    generate("delete");
    let run = world.commit("fungal", "Generate the schema again");
    let hint = "the changes to files that .blue/ refers to are published once this commit is on main";
    assert_eq!(run.stderr, format!("git blue: {hint}\n"));
    // Other layout is no change.
    world.write("fungal/models/s3_paths.py", "# yet others\n");
    world.write("fungal/paths.json", &format!("{}\n", world.read("fungal/paths.json")));
    let run = world.commit("fungal", "Change the code");
    assert_eq!(run.stderr, "git blue: models/s3_paths.py changed, but the contract s3-permissions did not\n");
    // A file that the same commit names as the source is not compared with anything.
    world.write("fungal/models/more.py", "# more\n");
    let binding = world.read(&format!("fungal/{BINDING_FILE}")).replace("models/s3_paths.py", "models/more.py");
    world.write(&format!("fungal/{BINDING_FILE}"), &binding);
    world.commit("fungal", "Name another source");
    for (policy, when) in [
        ("commit", "git blue: the changes to .blue/ are published once this commit is on main\n"),
        ("pushed", "git blue: the changes to .blue/ are published once this commit is pushed to main\n"),
        ("ci", "git blue: the changes to .blue/ are published by CI once this commit is on main\n"),
        ("off", ""),
    ] {
        world.git(&fungal, &["config", "blue.publish", policy]);
        assert_eq!(world.git(&fungal, &["commit", "--amend", "--no-edit"]).stderr, when);
    }
}

#[test]
fn a_schema_that_git_ignores_is_added_by_force() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.write("fungal/.gitignore", "build/\n");
    world.commit("fungal", "Ignore what is built");
    world.write("fungal/build/order.json", PATHS);
    let new = world.ok(&fungal, &["contract", "new", "s3-access/order", "--schema", "build/order.json"]);
    assert!(new.stdout.contains("# git ignores build/order.json, but publishing reads it from the commit"), "{new}");
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(0);
    let said = "it refers to build/order.json, which git ignores, so no commit contains it: git add --force build/order.json \
                [ignored-file]";
    assert!(check.stdout.contains(said), "{check}");
    let done = commit(&world, "fungal", "", &new);
    assert!(done.stderr.contains("published s3-access/order 1.0.0"), "{done}");
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(0);
    assert!(!check.stdout.contains("ignored-file"), "{check}");
}

/// git adds ignored files only with an option.
#[test]
fn ignored_files_are_committed() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.write("fungal/.gitignore", ".blue/\n");
    world.commit("fungal", "Ignore");
    let made = world.ok(&fungal, &["contract", "new", "s3-access/s3-paths"]);
    commit(&world, "fungal", "", &made);
    assert_eq!(world.line(&fungal, &["ls-files", ".blue/contracts/s3-access/s3-paths.yaml"]).lines().count(), 1);
}

/// A contract's own reference is no schema, so that nothing is compared with a schema that allows everything.
#[test]
fn schema_of_a_contract_with_a_schema_file_is_no_schema_file() {
    let world = with_schema_file();
    let said = format!("{CONTRACT_FILE}#/schema refers to paths.json; name that file instead");
    let access = world.path("access");
    world.write(&format!("access/{CONTRACT_FILE}"), &world.read(&format!("fungal/{CONTRACT_FILE}")));
    world.write("access/paths.json", PATHS);
    let place = format!("{CONTRACT_FILE}#/schema");
    let refused = world.blue(&access, &["import", AT, "--expects", &place]);
    assert!(refused.code != 0 && refused.stderr.contains(&said), "{refused}");
    let text = world.read(&format!("fungal/{CONTRACT_FILE}"));
    let other = text.replace("file: paths.json", &format!("file: {CONTRACT_FILE}, at: '#/schema'"));
    world.write("fungal/.blue/contracts/s3-access/other.yaml", &other.replace("name: s3-permissions", "name: other"));
    let refused = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    assert!(refused.stdout.contains(&said), "{refused}");
}

/// A pull of two versions conflicts in the schema.
#[test]
fn conflict_in_a_schema_file_is_reported_there() {
    let world = with_schema_file();
    let fungal = world.path("fungal");
    let text = format!("\n<<<<<<< HEAD\n{PATHS}\n=======\n{PATHS}\n>>>>>>> theirs\n");
    world.write("fungal/paths.json", &text);
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    let line =
        "paths.json:2: error: unresolved merge conflict: keep one side, and remove the markers [unreadable-file]";
    assert!(check.stdout.starts_with(line), "{check}");
    assert!(check.stdout.ends_with("\nnext\n  correct paths.json:2 (unreadable-file), and check again\n"), "{check}");
    let found = &world.json(&fungal, &["check", "--worktree"])["errors"][0];
    assert_eq!((&found["file"], &found["contract"]), (&"paths.json".into(), &"s3-permissions".into()), "{found}");
    let bump = world.blue(&fungal, &["contract", "bump", AT]).exits(1);
    assert!(bump.stderr.starts_with("error: paths.json:2: unresolved merge conflict"), "{bump}");
}

/// Publishing ignores these files, so committing them leaves nothing to publish.
#[test]
fn commit_of_ignored_files_has_nothing_to_publish() {
    let world = World::pair();
    for (repo, domain) in [("fungal", "s3-access"), ("access", "s3-access"), ("access", "other")] {
        for name in ["README.md", ".gitkeep", "s3-permissions.yaml.orig", "s3.yml"] {
            world.write(&format!("{repo}/.blue/contracts/{domain}/{name}"), "");
        }
        world.write(&format!("{repo}/.blue/contracts/README.md"), "");
        world.write(&format!("{repo}/.blue/bindings/README.md"), "");
    }
    world.git(&world.path("fungal"), &["update-index", "--chmod=+x", CONTRACT_FILE]);
    for repo in ["fungal", "access"] {
        world.commit(repo, "Add files");
        let status = world.json(&world.path(repo), &["status"]);
        assert_eq!(status["unpublished"], serde_json::Value::Null, "{status}");
    }
}

#[test]
fn committed_file_in_place_of_a_folder_is_an_error() {
    let world = World::pair();
    let access = world.path("access");
    world.git(&access, &["switch", "--quiet", "-c", "slip"]);
    std::fs::remove_dir_all(access.join(".blue/bindings")).unwrap();
    world.write("access/.blue/bindings", "x\n");
    let edited = world.blue(&access, &["check", "--worktree"]).exits(1);
    world.commit("access", "Slip");
    for check in [edited, world.blue(&access, &["check"]).exits(1)] {
        assert!(
            check.stdout.contains(".blue/bindings: error: ") && check.stdout.contains("unreadable-file"),
            "{check}"
        );
    }
}

/// Neither removes the import from the realm, as a binding that is gone does.
#[test]
fn binding_under_another_name_or_in_a_folder_is_an_error() {
    let world = World::pair();
    let access = world.path("access");
    let (file, other) = (access.join(BINDING_FILE), BINDING_FILE.replace(".yaml", ".yml"));
    std::fs::rename(&file, access.join(&other)).unwrap();
    world.commit("access", "Rename it");
    let check = world.blue(&access, &["check"]).exits(1);
    let said = format!("{other}: error: it is not read: rename it to s3-access.yaml [unreadable-file]");
    assert!(check.stdout.contains(&said), "{check}");
    assert_eq!(world.stored("bindings/access.json")["role"], "consumer");

    std::fs::create_dir(&file).unwrap();
    std::fs::rename(access.join(&other), file.join("s3-access.yaml")).unwrap();
    let edited = world.blue(&access, &["check", "--worktree"]).exits(1);
    world.commit("access", "Make it a folder");
    for check in [edited, world.blue(&access, &["check"]).exits(1)] {
        assert!(check.stdout.contains(&format!("{BINDING_FILE}: error: it is not a regular file")), "{check}");
    }
    assert_eq!(world.stored("bindings/access.json")["role"], "consumer");
}

#[test]
fn file_in_lfs_is_named_as_such() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
    let referring = contract("1.1.0").split("schema:").next().unwrap().to_owned() + "schema: { file: s.json }\n";
    for (text, file) in [(pointer, CONTRACT_FILE), (&*referring, "s.json")] {
        let world = World::pair();
        world.write("fungal/s.json", pointer);
        world.write(&format!("fungal/{CONTRACT_FILE}"), text);
        let commit = world.commit("fungal", "Store it elsewhere");
        assert!(commit.stderr.contains(&format!("{file}: its content is in Git LFS")), "{commit}");
    }
}

/// The files in the working tree have their content.
#[test]
fn file_that_will_be_in_lfs_is_named_before_the_commit() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    world.write("fungal/.gitattributes", "*.json filter=lfs diff=lfs merge=lfs -text\n");
    world.write("fungal/s.json", "{\"type\": \"object\"}\n");
    let new = world.ok(&provider, &["contract", "new", "s3-access/extent", "--schema", "s.json"]);
    let advice = "exclude it in .gitattributes (PATH -filter -diff -merge), and git add --renormalize PATH";
    assert!(
        new.stdout.contains(&format!("s.json would be in Git LFS, so publishing could not read it: {advice}")),
        "{new}"
    );
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    let error = ".blue/contracts/s3-access/extent.yaml: error: it refers to s.json: a commit will have only a pointer";
    assert!(check.stdout.contains(error), "{check}");
    world.write("fungal/.gitattributes", "*.json filter=lfs diff=lfs merge=lfs -text\ns.json -filter -diff -merge\n");
    world.ok(&provider, &["check", "--worktree"]);
}

/// git adds no file of a submodule to the repository.
#[test]
fn contracts_in_a_submodule_are_refused_as_such() {
    let world = World::pair();
    let (provider, shared) = (world.path("fungal"), world.path("fungal/.blue/contracts/shared"));
    world.write("fungal/.blue/contracts/shared/s3-permissions.yaml", &contract("1.0.0"));
    for args in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "Shared"]] {
        world.git(&shared, args);
    }
    let problem = ".blue/contracts/shared: it is in a submodule, so the commits of this repository do not contain it";
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    assert!(check.all().contains("it is in a submodule"), "{check}");
    let commit = world.commit("fungal", "Add them");
    assert!(commit.stderr.contains(problem), "{commit}");
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains(problem) && !status.stdout.contains("git add"), "{status}");
    for command in ["bump", "new"] {
        let run = world.blue(&provider, &["contract", command, "shared/s3-permissions"]);
        assert!(run.code != 0 && run.all().contains("it is in a submodule"), "{run}");
    }
}
