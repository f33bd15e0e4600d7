//! Crafted `.blue/` folders: each payload in a place is read by an MCP server, and together with similar ones by
//! commands and hooks.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use serde_json::json;

use crate::{
    payloads::{self, Payload},
    server::Server,
    watch::{self, CANARY, blue, finish},
    world::{CONTRACT_FILE, World},
};

const CONFIG: &str = ".blue/config.yaml";
const BINDING: &str = ".blue/bindings/s3-access.yaml";

/// What may be in place of a file, and how it is created.
type Kind<'a> = (&'a str, &'a dyn Fn(&Path));

/// A repository of a realm, whose `.blue/` is created again for each case.
struct Victim {
    world: World,
    config: Vec<u8>,
}

impl Victim {
    fn new() -> Self {
        let world = World::solo();
        let config = fs::read(world.path("fungal").join(CONFIG)).unwrap();
        Self { world, config }
    }

    /// Empties `.blue/` except for the configuration of the realm.
    fn reset(&self) {
        remove(&self.world.path("fungal/.blue"));
        self.put(CONFIG, &self.config);
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.world.path("fungal").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Queries a server about each payload in a place.
    fn serve(&self, cases: impl IntoIterator<Item = (String, Payload)>) -> usize {
        let fungal = self.world.path("fungal");
        let before = watch::outside(&self.world);
        let mut server = Server::start(&self.world, &fungal);
        let mut count = 0;
        for (place, payload) in cases {
            self.reset();
            self.put(&place, &payload.bytes);
            println!("{} in {place}", payload.name);
            self.look(&mut server);
            count += 1;
        }
        server.end();
        watch::nothing_happened(&self.world, &before);
        count
    }

    #[track_caller]
    fn look(&self, server: &mut Server) {
        server.call("realm_check", json!({"worktree": true}));
        server.call("realm_status", json!({}));
    }

    /// Commits payloads together, so that hooks read them, and runs commands on them.
    fn command(&self, cases: impl IntoIterator<Item = (String, Payload)>) {
        let (world, fungal) = (&self.world, self.world.path("fungal"));
        self.reset();
        for (place, payload) in cases {
            self.put(&place, &payload.bytes);
        }
        let before = watch::outside(world);
        world.git(&fungal, &["add", "--all"]);
        finish(git(world, &fungal, &["commit", "--quiet", "--allow-empty", "-m", "Hostile"]), "git commit");
        for arguments in [
            &["check"][..],
            &["check", "--json", "--worktree"],
            &["status", "--peek"],
            &["contract", "publish"],
            &["contract", "list"],
            &["hook", "post-merge"],
        ] {
            blue(world, &fungal, arguments);
        }
        watch::nothing_happened(world, &before);
        finish(git(world, &fungal, &["reset", "--quiet", "--hard", "HEAD~1"]), "git reset");
    }
}

/// Removes a file or folder.
fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

fn git(world: &World, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = world.command("git", folder);
    command.args(arguments);
    command
}

/// Creates a contract for each payload, named by a number.
fn contracts(payloads: Vec<Payload>) -> impl Iterator<Item = (String, Payload)> {
    payloads.into_iter().enumerate().map(|(at, payload)| (format!(".blue/contracts/s3-access/c{at}.yaml"), payload))
}

fn at(place: &str, payloads: Vec<Payload>) -> Vec<(String, Payload)> {
    payloads.into_iter().map(|payload| (place.to_owned(), payload)).collect()
}

#[test]
fn hostile_text_in_every_file() {
    let victim = Victim::new();
    let places = [CONTRACT_FILE, BINDING, CONFIG];
    let count = victim.serve(places.into_iter().flat_map(|place| at(place, payloads::texts())));
    assert!(count >= 170, "{count}");
    victim.command(contracts(payloads::texts()));
}

#[test]
fn slow_schemas() {
    let victim = Victim::new();
    let count = victim.serve(at(".blue/contracts/s3-access/paths.yaml", payloads::schemas()));
    assert!(count >= 40, "{count}");
    // With valid names, so that the schema is judged.
    let renamed = contracts(payloads::schemas()).enumerate().step_by(3).map(|(at, (place, payload))| {
        let text =
            String::from_utf8(payload.bytes).unwrap().replace("\"name\":\"paths\"", &format!("\"name\":\"c{at}\""));
        (place, Payload { bytes: text.into_bytes(), ..payload })
    });
    victim.command(renamed);
}

#[test]
fn unsafe_names_and_urls() {
    let victim = Victim::new();
    let (contracts, bindings) = payloads::named();
    let cases = [(CONTRACT_FILE, contracts), (BINDING, bindings), (CONFIG, payloads::configs())];
    let count = victim.serve(cases.into_iter().flat_map(|(place, payloads)| at(place, payloads)));
    assert!(count >= 90, "{count}");
    for payload in payloads::configs().into_iter().step_by(9) {
        victim.reset();
        victim.put(CONFIG, &payload.bytes);
        blue(&victim.world, &victim.world.path("fungal"), &["status", "--peek"]);
        blue(&victim.world, &victim.world.path("fungal"), &["init"]);
    }
    assert!(!victim.world.path("fungal").join(CANARY).exists());
}

#[test]
fn irregular_files() {
    let victim = Victim::new();
    let (world, fungal) = (&victim.world, victim.world.path("fungal"));
    fs::write(world.path("secret.yaml"), "secret: 12345\n").unwrap();
    fs::create_dir(world.path("elsewhere")).unwrap();
    fs::write(world.path("elsewhere/config.yaml"), "realm: { name: other }\nrepo: fungal\n").unwrap();
    let before = watch::outside(world);
    let secret = world.path("secret.yaml");
    let elsewhere = world.path("elsewhere");
    let link = |target: &Path| {
        let target = target.to_owned();
        move |path: &Path| symlink(&target, path).unwrap()
    };
    let fifo = |path: &Path| make_fifo(path);
    let sparse = |path: &Path| fs::File::create(path).unwrap().set_len(300 << 20).unwrap();
    let socket = |path: &Path| drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    let folder = |path: &Path| fs::create_dir(path).unwrap();
    let folders = |path: &Path| {
        let deep = (0..60).fold(path.to_owned(), |path, _| path.join("d"));
        fs::create_dir_all(deep).unwrap();
    };
    let many = |path: &Path| {
        fs::create_dir(path).unwrap();
        (0..300).for_each(|at| fs::write(path.join(format!("c{at}.yaml")), "").unwrap());
    };
    let kinds: [Kind<'_>; 13] = [
        ("a link to a file", &link(&secret)),
        ("a link to a folder", &link(&elsewhere)),
        ("a link to zeros", &link(Path::new("/dev/zero"))),
        ("a link to a terminal", &link(Path::new("/dev/tty"))),
        ("a link to the input", &link(Path::new("/proc/self/fd/0"))),
        ("a link to nothing", &link(Path::new("nowhere"))),
        ("a link to itself", &link(Path::new("paths.yaml"))),
        ("a FIFO", &fifo),
        ("a socket", &socket),
        ("a sparse file", &sparse),
        ("a folder", &folder),
        ("folders in folders", &folders),
        ("a folder of many", &many),
    ];
    let places = [
        ".blue/contracts/s3-access/s3-permissions.yaml",
        BINDING,
        CONFIG,
        ".blue/contracts/s3-access",
        ".blue/contracts",
        ".blue",
    ];
    let mut server = Server::start(world, &fungal);
    let mut count = 0;
    for place in places {
        for (name, make) in &kinds {
            println!("{name} in {place}");
            victim.reset();
            let path = fungal.join(place);
            remove(&path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            make(&path);
            victim.look(&mut server);
            count += 1;
        }
    }
    server.end();
    assert_eq!(count, 78);
    for (_, make) in &kinds {
        victim.reset();
        fs::create_dir_all(fungal.join(".blue/contracts/s3-access")).unwrap();
        make(&fungal.join(".blue/contracts/s3-access/paths.yaml"));
        let said = blue(world, &fungal, &["check", "--worktree"]).said;
        assert!(!said.contains("12345"), "{said}");
    }
    watch::nothing_happened(world, &before);
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn nested_repositories_and_configuration() {
    let victim = Victim::new();
    let (world, fungal) = (&victim.world, victim.world.path("fungal"));
    let touch = format!("touch {}", fungal.join(CANARY).display());
    let evil = format!(
        "[core]\n\tbare = true\n\tfsmonitor = {touch}\n\thooksPath = .\n\teditor = {touch}\n\tpager = {touch}\n\tsshCommand = {touch}\n\
         \trepositoryformatversion = 0\n[diff]\n\texternal = {touch}\n[credential]\n\thelper = \"!{touch}\"\n[blue]\n\ttokenCommand = {touch}\n"
    );
    let bare = |folder: &str| {
        for (file, text) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", &*evil), ("post-commit", "#!/bin/sh\ntouch canary\n")]
        {
            victim.put(&format!("{folder}/{file}"), text.as_bytes());
        }
        fs::create_dir_all(fungal.join(folder).join("objects")).unwrap();
        fs::create_dir_all(fungal.join(folder).join("refs")).unwrap();
    };
    let cases: [(&str, &dyn Fn()); 8] = [
        ("a bare repository", &|| bare(".blue/contracts/s3-access")),
        ("a bare repository for .blue", &|| bare(".blue")),
        ("a repository", &|| bare(".blue/.git")),
        ("a file that names a repository", &|| {
            victim.put(".blue/.git", format!("gitdir: {}\n", fungal.join("x").display()).as_bytes())
        }),
        ("hooks", &|| victim.put(".blue/hooks/post-commit", b"#!/bin/sh\ntouch canary\n")),
        ("a configuration of git", &|| victim.put(".blue/config", evil.as_bytes())),
        ("attributes", &|| victim.put(".blue/.gitattributes", b"* filter=evil diff=evil merge=evil\n")),
        ("modules", &|| {
            victim.put(
                ".gitmodules",
                b"[submodule \"x\"]\n\tpath = .blue/x\n\turl = ext::sh -c touch% canary\n\tupdate = !touch canary\n",
            );
            bare(".blue/x");
        }),
    ];
    let before = watch::outside(world);
    for (name, make) in &cases {
        println!("{name}");
        victim.reset();
        make();
        for folder in [fungal.clone(), fungal.join(".blue")] {
            blue(world, &folder, &["check", "--worktree"]);
            blue(world, &folder, &["status", "--peek"]);
        }
        watch::nothing_happened(world, &before);
    }
}
