//! Slow calls report progress, end when cancelled, and block no others.

use std::{
    io::Read as _,
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    client::{Client, Era, LEGACY},
    plant_slow::plant_slow_contract,
    world::World,
};

/// The time limit for a cancelled call to end.
const CANCELLED: Duration = Duration::from_secs(20);

/// A forge that accepts every request and answers none.
struct Silent(Receiver<TcpStream>);

impl Silent {
    /// Starts it as the forge of a world's repositories, each on a branch of its own.
    fn forge(world: &World, repos: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (send, asked) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = send.send(stream);
            }
        });
        let config = format!(
            "{}[blue \"forge.forge.test\"]\n\ttype = github\n\turl = {url}\n[blue]\n\ttokenCommand = echo token\n",
            world.read("home/gitconfig")
        );
        world.write("home/gitconfig", &config);
        for repo in repos {
            let path = world.path(repo);
            world.git(&path, &["remote", "add", "origin", &format!("https://forge.test/acme/{repo}.git")]);
            world.git(&path, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
            world.git(&path, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
            world.git(&path, &["checkout", "--quiet", "-b", "work"]);
        }
        Self(asked)
    }

    /// Returns the connection of the next request.
    fn asked(&self) -> TcpStream {
        let mut stream = self.0.recv_timeout(Duration::from_secs(60)).expect("the forge is asked");
        stream.read_exact(&mut [0; 4]).unwrap();
        stream
    }
}

fn call(client: &mut Client, tool: &str, token: Option<&str>) -> i64 {
    let mut params = json!({"name": tool, "arguments": {}});
    if let Some(token) = token {
        params["_meta"] = json!({"progressToken": token});
    }
    client.post("tools/call", params)
}

fn cancel(client: &mut Client, id: i64) {
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
}

#[test]
fn slow_call_reports_progress() {
    let world = World::pair();
    let forge = Silent::forge(&world, &["access", "fungal"]);
    for era in [LEGACY, Era::Stateless] {
        let mut client = Client::with(&world, &world.path("access"), era, &[], &[]);
        let id = call(&mut client, "realm_pr_status", Some("t-1"));
        let streams = [forge.asked(), forge.asked()];
        let report = client.receive();
        assert_eq!((&report["method"], &report["id"]), (&json!("notifications/progress"), &Value::Null), "{report}");
        assert_eq!(report["params"]["progressToken"], "t-1");
        // Both were found, and neither is done.
        assert_eq!((&report["params"]["progress"], &report["params"]["total"]), (&json!(2.0), &json!(4.0)), "{report}");
        // Other calls are answered meanwhile.
        client.ok("contract_list", json!({}));
        drop(streams);
        // A disconnect is retried, and then reported as unresponsive.
        for _ in 0..6 {
            drop(forge.asked());
        }
        let answer = client.answer(id);
        let known = answer["result"]["structuredContent"]["repos"][0]["pr_problem"].as_str();
        assert!(known.is_some_and(|why| why.contains("forge.test")), "{answer:#}");
        let numbers: Vec<_> = client.notices.iter().map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b) && numbers.iter().all(|number| *number > 2.0), "{numbers:?}");
    }
}

#[test]
fn no_progress_without_token() {
    let world = World::pair();
    let forge = Silent::forge(&world, &["access"]);
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &[("GIT_BLUE_FORGE_TIMEOUT_MS", "1500")]);
    let id = call(&mut client, "realm_pr_status", None);
    let _stream = forge.asked();
    assert_eq!(client.receive()["id"], id);
    // A fast call reports no progress either.
    let id = call(&mut client, "realm_check", Some("short"));
    assert_eq!(client.receive()["id"], id);
}

#[test]
fn cancelled_call_ends_at_once_and_frees_its_slot() {
    let world = World::pair();
    let forge = Silent::forge(&world, &["access"]);
    let mut client = Client::start(&world, &world.path("access"));
    // More than may run at once: each frees its slot.
    for _ in 0..20 {
        let id = call(&mut client, "realm_pr_status", None);
        let _stream = forge.asked();
        let start = Instant::now();
        cancel(&mut client, id);
        // It runs on the same threads.
        let next = call(&mut client, "realm_topology", None);
        assert_eq!(client.receive()["id"], next);
        assert!(start.elapsed() < CANCELLED, "{:?}", start.elapsed());
    }
    // No late answers arrive, and the server ends with its client.
    let threads = || std::fs::read_dir(format!("/proc/{}/task", client.child.id())).map_or(0, Iterator::count);
    assert!(threads() < 40, "{}", threads());
    assert_eq!(client.hang_up(), (0, String::new()));
}

#[test]
fn check_reports_progress_and_can_be_cancelled() {
    let world = World::pair();
    plant_slow_contract(&world);
    let mut client = Client::start(&world, &world.path("fungal"));
    let id = call(&mut client, "realm_check", Some("t-1"));
    let report = client.receive();
    let params = &report["params"];
    assert_eq!((&report["method"], &params["progressToken"]), (&json!("notifications/progress"), &json!("t-1")));
    assert_eq!(params["total"], json!(1.0), "{report}");
    cancel(&mut client, id);
    let next = call(&mut client, "realm_list", None);
    loop {
        let message = client.receive();
        assert_ne!(message["id"], id, "{message}");
        if message["id"] == next {
            break;
        }
    }
    assert_eq!(client.hang_up(), (0, String::new()));
}
