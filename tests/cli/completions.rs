//! Completion, called as the scripts do, and from bash. zsh and fish: `tests/shells`.

use std::{collections::BTreeMap, path::Path, time::SystemTime};

use crate::{left_out::left_out, world::World};

/// Git's own completion, if installed.
const GITS: &str = "/usr/share/bash-completion/completions/git";

fn offered(world: &World, words: &[&str]) -> Vec<String> {
    let run = world.ok(&world.path("access"), &[&["complete", "--"], words].concat());
    assert_eq!(run.stderr, "");
    run.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn world() -> World {
    let world = World::pair();
    world.bump("1.1.0");
    world.bump("1.2.0-rc.1");
    world.ok(&world.path("fungal"), &["realm", "admin", "domain", "--name", "other", "--repos", "fungal"]);
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "empty"]);
    world
}

#[test]
fn names_come_from_the_realm() {
    let world = world();
    let contract = "s3-access/s3-permissions";
    assert_eq!(offered(&world, &["contract", "get", ""]), ["other/", "s3-access/"]);
    assert_eq!(offered(&world, &["contract", "get", "s"]), [contract]);
    assert_eq!(offered(&world, &["contract", "get", "s3-access/s"]), [contract]);
    assert_eq!(offered(&world, &["contract", "get", contract, "--version", ""]), ["1.2.0-rc.1", "1.1.0", "1.0.0"]);
    assert_eq!(offered(&world, &["contract", "diff", contract, "1.0.0", "1.1"]), ["1.1.0"]);
    // Only what the repository imports or owns can be given up or changed.
    assert_eq!(offered(&world, &["unimport", ""]), [contract]);
    assert!(offered(&world, &["contract", "bump", ""]).is_empty());
    assert_eq!(offered(&world, &["-C", "../fungal", "contract", "retire", "s"]), [contract]);
    assert!(offered(&world, &["-C", "../fungal", "unimport", ""]).is_empty());
    assert_eq!(offered(&world, &["contract", "list", "--domain", ""]), ["other", "s3-access"]);
    assert_eq!(offered(&world, &["contract", "list", "--domain=o"]), ["--domain=other"]);
    assert_eq!(offered(&world, &["realm", "compare", ""]), ["aperture", "empty"]);
    assert_eq!(offered(&world, &["realm", "admin", "domain", "--repos", "access,"]), ["access,fungal"]);
    let binding = ["realm", "admin", "binding", "--domain", "s3-access"];
    assert_eq!(offered(&world, &[&binding[..], &["--import", ""]].concat()), ["s3-permissions@"]);
    assert!(offered(&world, &["notifications", "ack", ""])[0].starts_with("notif-"));
    world.ok(&world.path("fungal"), &["session", "start", "--rfc", "eng/0042"]);
    assert_eq!(offered(&world, &["session", "start", "--rfc", ""]), ["eng/0042"]);
    let started = world.json(&world.path("access"), &["session", "start"]);
    assert_eq!(offered(&world, &["session", "stop", ""]), [started["session"]["id"].as_str().unwrap()]);
    // `--realm` and `-C` are respected.
    assert!(offered(&world, &["--realm", "empty", "contract", "get", ""]).is_empty());
    assert!(offered(&world, &["-C", "..", "contract", "get", ""]).is_empty());
    assert_eq!(offered(&world, &["-C", "../fungal", "contract", "get", "s"]), [contract]);
}

/// Returns every file below a folder except the cache, with size and time.
fn everything(folder: &Path, found: &mut BTreeMap<String, (u64, SystemTime)>) {
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() && !path.ends_with("blue/cache") {
            everything(&path, found);
        } else if about.is_file() {
            found.insert(path.display().to_string(), (about.len(), about.modified().unwrap()));
        }
    }
}

#[test]
fn completion_writes_and_prints_nothing_else() {
    let world = world();
    let state = || {
        let mut found = BTreeMap::new();
        everything(&world.root(), &mut found);
        found
    };
    let before = state();
    for words in [
        &["contract", "get", ""][..],
        &["notifications", "ack", ""],
        &["-C", "/nowhere", "realm", "log", "--domain", ""],
    ] {
        offered(&world, words);
    }
    assert_eq!(state(), before);
    // With a damaged realm, fewer names are offered, without a message.
    world.plant("contracts/s3-permissions.json", "{");
    assert_eq!(offered(&world, &["contract", "get", "s"]), ["s3-access/s3-permissions"]);
    std::fs::remove_dir_all(world.store()).unwrap();
    assert!(offered(&world, &["contract", "get", ""]).is_empty());
    assert_eq!(offered(&world, &["contract", "ge"]), ["get"]);
}

/// Returns whether git's completion for bash is installed.
fn has_gits() -> bool {
    Path::new(GITS).exists()
}

/// Returns what bash completes for a line, through git's completion or for `git-blue` itself. Readline splits words
/// at `=`, and a trailing space marks a complete word.
fn in_bash(world: &World, line: &str, function: &str) -> Vec<String> {
    let gits = if has_gits() { format!("source {GITS}") } else { String::new() };
    let script = world.path("prefix/share/bash-completion/completions/git-blue");
    let mut words: Vec<_> = line.replace('=', " = ").split_whitespace().map(|word| format!("'{word}'")).collect();
    if line.ends_with([' ', '=']) {
        words.push("''".into());
    }
    let ask = format!(
        "{gits}\nsource '{}'\nCOMP_LINE='{line}' COMP_POINT={} COMP_WORDS=({}) COMP_CWORD={}\n{function} 2>/dev/null\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        line.len(),
        words.join(" "),
        words.len() - 1,
    );
    let output = world.command("bash", &world.path("access")).args(["-c", &ask]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let offers = String::from_utf8(output.stdout).unwrap();
    offers.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_git_blue() {
    let world = world();
    let prefix = world.path("prefix").display().to_string();
    world.ok(&world.root(), &["install", "completions", "--prefix", &prefix]);
    let contract = "s3-access/s3-permissions";
    let mut ways = vec![("git-blue", "__git_blue_main")];
    if has_gits() {
        ways.push(("git blue", "__git_wrap__git_main"));
    }
    // The variables that git's completion sets before calling ours.
    ways.push(("git blue", "words=(\"${COMP_WORDS[@]}\") cword=$COMP_CWORD; _git_blue"));
    for (name, function) in ways {
        let offered = |rest: &str| in_bash(&world, &format!("{name} {rest}"), function);
        assert_eq!(offered("st"), ["status "], "{function}");
        assert_eq!(offered("contract pub"), ["publish "]);
        assert_eq!(offered("contract get "), ["other/", "s3-access/"]);
        assert_eq!(offered("contract get s"), [format!("{contract} ")]);
        assert_eq!(offered(&format!("contract get {contract} --version 1.1")), ["1.1.0 "]);
        assert_eq!(offered("contract edit a/b --file READ"), ["README.md"]);
        assert_eq!(offered("-C cd"), ["cdk"]);
    }
    for function in ["__git_blue_main", "__git_wrap__git_main"].into_iter().take(1 + usize::from(has_gits())) {
        let name = if function == "__git_blue_main" { "git-blue" } else { "git blue" };
        let offered = |rest: &str| in_bash(&world, &format!("{name} {rest}"), function);
        assert_eq!(offered("check --mode=i"), ["importer "], "{function}");
        assert_eq!(offered("check --mode="), ["all ", "contract ", "exporter ", "importer ", "compatibility "]);
        assert_eq!(offered("contract edit a/b --file=READ"), ["README.md"]);
    }
    if !has_gits() {
        return left_out("git's completion for bash is not installed");
    }
    let elsewhere = in_bash(&world, "git -C ../fungal blue contract get s", "__git_wrap__git_main");
    assert_eq!(elsewhere, [format!("{contract} ")]);
    assert!(in_bash(&world, "git -C .. blue contract get s", "__git_wrap__git_main").is_empty());
}
