//! Crafted remotes: content that plain git can push, or that was placed by hand.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    hub::Hub,
    watch::{self, blue, finish},
    world::{DOMAIN_REF, World},
};

const CURRENT: &str = "contracts/s3-permissions.json";

/// A remote, and how it is derived from a valid one.
type Case<'a> = (&'a str, &'a dyn Fn(&Hub));

/// A realm shared at a hub, with a copy from before any tampering.
fn hub() -> Hub {
    let hub = Hub::share(World::solo());
    hub.world.ok(&hub.world.path("fungal"), &["sync"]);
    hub.copy("hub.git", "pristine/hub.git");
    hub.copy("home/blue", "pristine/blue");
    hub
}

impl Hub {
    /// Makes one folder of the world equal to another.
    fn copy(&self, from: &str, to: &str) {
        fn copy(from: &Path, to: &Path) {
            fs::create_dir_all(to).unwrap();
            for entry in from.read_dir().unwrap().map(Result::unwrap) {
                let to = to.join(entry.file_name());
                if entry.file_type().unwrap().is_dir() {
                    copy(&entry.path(), &to);
                } else {
                    fs::copy(entry.path(), to).unwrap();
                }
            }
        }
        let _ = fs::remove_dir_all(self.world.path(to));
        copy(&self.world.path(from), &self.world.path(to));
    }

    /// Adds a file to the tree of a ref.
    fn put(&self, name: &str, path: &str, bytes: &[u8]) {
        let blob = self.object("blob", bytes);
        self.entry(name, path, "100644", &blob);
    }

    /// Adds an entry to the tree of a ref.
    fn entry(&self, name: &str, path: &str, mode: &str, id: &str) {
        let index = self.world.path("object.index");
        let _ = fs::remove_file(&index);
        let run = |arguments: &[&str]| {
            let mut command = self.world.command("git", &self.path);
            command.env("GIT_INDEX_FILE", &index).args(arguments);
            finish(command, "git").said.trim().to_owned()
        };
        run(&["read-tree", name]);
        run(&["update-index", "--add", "--cacheinfo", &format!("{mode},{id},{path}")]);
        let tree = run(&["write-tree"]);
        let _ = fs::remove_file(&index);
        self.commit(name, &tree);
    }

    fn held(&self, path: &str) -> Value {
        let text = self.world.git(&self.path, &["cat-file", "blob", &format!("{DOMAIN_REF}:{path}")]).stdout;
        serde_json::from_str(&text).unwrap()
    }

    /// Changes the contract at the remote.
    fn contract(&self, change: impl Fn(&mut Value)) {
        let mut held = self.held(CURRENT);
        change(&mut held);
        self.put(DOMAIN_REF, CURRENT, held.to_string().as_bytes());
    }
}

/// Runs commands against each of the remotes, and restores the state after each.
fn meet(cases: &[Case<'_>]) {
    let hub = hub();
    let (world, fungal) = (&hub.world, hub.world.path("fungal"));
    fs::write(world.path("object"), "").unwrap();
    let before = watch::outside(world);
    for (name, tamper) in cases {
        println!("{name}");
        tamper(&hub);
        let sync = blue(world, &fungal, &["sync"]);
        assert!(sync.said.len() < 20_000, "{name}: {} bytes", sync.said.len());
        for arguments in [&["check"][..], &["status", "--peek"]] {
            blue(world, &fungal, arguments);
        }
        watch::nothing_happened(world, &before);
        world.git(&world.store(), &["fsck", "--no-dangling"]);
        hub.copy("pristine/hub.git", "hub.git");
        hub.copy("pristine/blue", "home/blue");
    }
    // Nothing is left over.
    world.ok(&fungal, &["sync"]);
}

#[test]
fn foreign_trees() {
    let deep = |hub: &Hub| {
        let tree = (0..300).fold(hub.tree(""), |tree, _| hub.tree(&format!("040000 tree {tree}\td\0")));
        hub.commit(DOMAIN_REF, &tree);
    };
    let wide = |hub: &Hub| {
        let blob = hub.object("blob", b"{}");
        let entries: String = (0..20_000).map(|at| format!("100644 blob {blob}\tc{at:05}.json\0")).collect();
        let tree = hub.tree(&entries);
        hub.commit(DOMAIN_REF, &hub.tree(&format!("040000 tree {tree}\tcontracts\0")));
    };
    // Ten folders of ten folders, eight levels deep: a hundred million files in 3 KB.
    let multiplying = |hub: &Hub| {
        let blob = hub.object("blob", b"{}");
        let leaf = hub.tree(&(0..10).map(|at| format!("100644 blob {blob}\t{at}\0")).collect::<String>());
        let tree = (0..8).fold(leaf, |tree, _| {
            hub.tree(&(0..10).map(|at| format!("040000 tree {tree}\t{at}\0")).collect::<String>())
        });
        hub.commit(DOMAIN_REF, &tree);
    };
    meet(&[
        ("a link", &|hub| hub.entry(DOMAIN_REF, CURRENT, "120000", &hub.object("blob", b"/etc/passwd"))),
        ("a submodule", &|hub| hub.entry(DOMAIN_REF, CURRENT, "160000", &hub.git(&["rev-parse", DOMAIN_REF]))),
        ("a program", &|hub| hub.entry(DOMAIN_REF, "domain.json", "100755", &hub.object("blob", b"{}"))),
        ("hooks", &|hub| {
            hub.entry(DOMAIN_REF, "hooks/post-commit", "100755", &hub.object("blob", b"#!/bin/sh\ntouch canary\n"))
        }),
        ("a mode of old", &|hub| hub.commit(DOMAIN_REF, &hub.raw_tree("100664", b"domain.json"))),
        ("a mode that is none", &|hub| hub.commit(DOMAIN_REF, &hub.raw_tree("777777", b"domain.json"))),
        ("the folder above", &|hub| hub.commit(DOMAIN_REF, &hub.raw_tree("100644", b".."))),
        ("the folder of git", &|hub| hub.commit(DOMAIN_REF, &hub.raw_tree("40000", b".GIT"))),
        ("a path", &|hub| hub.commit(DOMAIN_REF, &hub.raw_tree("100644", b"a/b"))),
        ("no name", &|hub| hub.commit(DOMAIN_REF, &hub.raw_tree("100644", b""))),
        ("a name that is no text", &|hub| hub.commit(DOMAIN_REF, &hub.raw_tree("100644", b"\xff\xfe"))),
        ("a name that escapes", &|hub| hub.put(DOMAIN_REF, "contracts/\u{1b}[31m\u{202e}.json", b"{}")),
        ("names that differ in case", &|hub| hub.put(DOMAIN_REF, "contracts/S3-Permissions.json", b"{}")),
        ("nothing", &|hub| hub.commit(DOMAIN_REF, &hub.tree(""))),
        ("a missing object", &|hub| {
            hub.commit(DOMAIN_REF, &hub.tree(&format!("100644 blob {}\tdomain.json\0", "1".repeat(40))))
        }),
        ("deep folders", &deep),
        ("many files", &wide),
        ("folders that multiply", &multiplying),
    ]);
}

#[test]
fn foreign_files_and_refs() {
    let realm = "refs/blue/realm";
    let doubling = |hub: &Hub| {
        hub.contract(|held| {
            let link =
                |at: usize| json!({"anyOf": [{"$ref": format!("#/$defs/x{at}")}, {"$ref": format!("#/$defs/x{at}")}]});
            held["schema"] = json!({"$defs": {"x30": {"type": "object"}}, "$ref": "#/$defs/x0"});
            (0..30).for_each(|at| held["schema"]["$defs"][format!("x{at}")] = link(at + 1));
        });
    };
    let slow = |hub: &Hub| {
        hub.contract(|held| {
            let strings: Vec<_> = (0..2_000).map(|at| format!("{}{at}!", "a".repeat(60))).collect();
            held["schema"] = json!({"items": {"pattern": "^(?=(a+)+$)(a|a)*$"}});
            held["value"] = json!(strings);
        });
    };
    let refs = |hub: &Hub| {
        let tip = hub.git(&["rev-parse", DOMAIN_REF]);
        let packed: String = (0..20_000).map(|at| format!("{tip} refs/blue/domains/d{at:05}\n")).collect();
        let path = hub.path.join("packed-refs");
        let held =
            fs::read_to_string(&path).unwrap_or_else(|_| "# pack-refs with: peeled fully-peeled sorted \n".to_owned());
        fs::write(path, held + &packed).unwrap();
    };
    let names = |hub: &Hub| {
        let tip = hub.git(&["rev-parse", DOMAIN_REF]);
        for name in ["a/b", "-x", "ünï", "_x", "S3-ACCESS"] {
            hub.git(&["update-ref", &format!("refs/blue/domains/{name}"), &tip]);
        }
    };
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    meet(&[
        ("a schema that doubles", &doubling),
        ("a slow pattern", &slow),
        ("a contract that is none", &|hub| hub.put(DOMAIN_REF, CURRENT, b"{\"name\": 5}")),
        ("a contract of another name", &|hub| hub.contract(|held| held["name"] = json!("../../x"))),
        ("a contract that escapes", &|hub| {
            hub.contract(|held| held["description"] = json!("\u{1b}]0;pwned\u{7}\u{202e}"))
        }),
        ("a deep file", &|hub| hub.put(DOMAIN_REF, CURRENT, nested.as_bytes())),
        ("a large file", &|hub| hub.put(DOMAIN_REF, CURRENT, &vec![b' '; 100 << 20])),
        ("no realm", &|hub| hub.put(realm, "realm.json", b"")),
        ("another realm", &|hub| hub.put(realm, "realm.json", b"{\"format\": 1, \"name\": \"other\"}")),
        ("a newer format", &|hub| hub.put(realm, "realm.json", b"{\"format\": 999, \"name\": \"aperture\"}")),
        ("a format that is none", &|hub| hub.put(realm, "realm.json", b"{\"format\": -1, \"name\": \"aperture\"}")),
        ("a repository with such an address", &|hub| {
            hub.put(
                realm,
                "repos/evil.json",
                b"{\"name\": \"evil\", \"url\": \"ext::sh -c touch% canary\", \"roots\": []}",
            );
        }),
        ("a rewind", &|hub| drop(hub.git(&["update-ref", DOMAIN_REF, &format!("{DOMAIN_REF}~1")]))),
        ("an orphan", &|hub| {
            let commit = hub.git(&["commit-tree", "-m", "orphan", &format!("{DOMAIN_REF}^{{tree}}")]);
            hub.git(&["update-ref", DOMAIN_REF, &commit]);
        }),
        ("no domain any more", &|hub| drop(hub.git(&["update-ref", "-d", DOMAIN_REF]))),
        ("a blob for a commit", &|hub| {
            drop(hub.git(&["update-ref", "refs/blue/domains/blob", &hub.object("blob", b"x")]))
        }),
        ("a tag for a commit", &|hub| {
            drop(hub.world.git(&hub.path, &["update-ref", "refs/blue/domains/tag", DOMAIN_REF]))
        }),
        ("a commit that is none", &|hub| {
            let tree = hub.git(&["rev-parse", &format!("{DOMAIN_REF}^{{tree}}")]);
            let commit = hub.object("commit", format!("tree {tree}\nauthor no one\n\nx\n").as_bytes());
            fs::write(hub.path.join(DOMAIN_REF), format!("{commit}\n")).unwrap();
        }),
        ("a commit of far ahead", &|hub| {
            let (tree, parent) =
                (hub.git(&["rev-parse", &format!("{DOMAIN_REF}^{{tree}}")]), hub.git(&["rev-parse", DOMAIN_REF]));
            let who = "A <a@x> 99999999999 +0000";
            let text = format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\nahead\n");
            let commit = hub.object("commit", text.as_bytes());
            hub.git(&["update-ref", DOMAIN_REF, &commit]);
        }),
        ("a HEAD that lies", &|hub| fs::write(hub.path.join("HEAD"), "ref: refs/blue/realm\n").unwrap()),
        ("many refs", &refs),
        ("names that are none", &names),
        ("a configuration that runs something", &|hub| {
            let file = hub.path.join("config");
            let held = fs::read_to_string(&file).unwrap();
            fs::write(file, held + "[core]\n\tfsmonitor = touch canary\n\tsshCommand = touch canary\n").unwrap();
        }),
        ("alternates that lead elsewhere", &|hub| {
            fs::write(hub.path.join("objects/info/alternates"), "/dev/zero\n/etc\n").unwrap()
        }),
        ("a hub that is gone", &|hub| fs::remove_dir_all(&hub.path).unwrap()),
    ]);
}
