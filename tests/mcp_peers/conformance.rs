//! The protocol's conformance suite, against the daemon, with and without a handshake.
//!
//! The suite cannot send a token, so a proxy adds it. The files beside this one list the checks that fail, with the
//! reason. Any other failure, or an unexpected success, fails the test.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{http::started, peers, script, world::World};

/// The protocol revisions whose scenarios all run.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The suite needs a newer node than many machines have, so it comes with one.
fn node() -> PathBuf {
    let folder = peers().join("conformance/node_modules");
    let packages = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}: see .ci/run", folder.display()));
    let mut programs = packages.map(|entry| entry.unwrap().path().join("bin/node"));
    programs.find(|path| path.is_file()).expect("node is installed: see .ci/run")
}

/// Returns the server scenarios that a revision requires.
fn required(suite: &Path, revision: &str) -> Vec<String> {
    let text = std::fs::read_to_string(suite.join(format!("requirements/{revision}.yaml"))).unwrap();
    let of_servers = text.lines().skip_while(|line| *line != "server:").skip(1);
    of_servers.map_while(|line| line.strip_prefix("  - ")).map(str::to_owned).collect()
}

#[test]
fn scenarios_pass_except_those_listed() {
    let world = World::pair();
    let daemon = started(&world);
    let proxy = proxy(format!("127.0.0.1:{}", daemon.port), daemon.token.clone());
    let suite = peers().join("conformance/node_modules/@modelcontextprotocol/conformance");
    for revision in REVISIONS {
        let results = world.path(&format!("results-{revision}"));
        // Its exit code is 1, since checks fail.
        let output = Command::new(node())
            .arg(suite.join("dist/index.js"))
            .args(["server", "--url", &format!("http://{proxy}/mcp"), "--requirements", revision])
            .arg("--output-dir")
            .arg(&results)
            .current_dir(world.root())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let checks = checks(&results);
        let required = required(&suite, revision);
        assert!(required.len() >= 30, "{required:?}");
        for name in required {
            assert!(checks.contains_key(&name), "{name} did not run: {said}");
        }
        let failed: BTreeSet<_> = checks.iter().flat_map(|(name, checks)| failed(name, checks)).collect();
        let listed = std::fs::read_to_string(script(&format!("conformance-{revision}.txt"))).unwrap();
        let listed: BTreeSet<_> = listed.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        let (new, gone) = (&failed - &listed, &listed - &failed);
        assert!(new.is_empty() && gone.is_empty(), "new failures: {new:#?}, no failures: {gone:#?}: {said}");
    }
}

/// Reads the checks of each scenario. Their folders are `server-SCENARIO-TIME`.
fn checks(results: &Path) -> BTreeMap<String, Vec<Value>> {
    let folders = results.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let read = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_str().unwrap().strip_prefix("server-").unwrap();
        let name = name[..name.len() - "-2026-01-01T00-00-00-000Z".len()].to_owned();
        let checks = std::fs::read(folder.join("checks.json")).unwrap();
        (name, serde_json::from_slice(&checks).unwrap())
    };
    folders.map(read).collect()
}

/// Returns the checks of a scenario that failed, as `SCENARIO:CHECK`. A warning says that a recommendation is not
/// followed.
fn failed(scenario: &str, checks: &[Value]) -> Vec<String> {
    let failed = checks.iter().filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING");
    failed.map(|check| format!("{scenario}:{}", check["id"].as_str().unwrap())).collect()
}

/// Starts a proxy that adds the token. Returns its address. The proxy's own host name is replaced by the server's;
/// other names are passed on, for the server to refuse.
fn proxy(server: String, token: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let own = address.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (own, server, token) = (own.clone(), server.clone(), token.clone());
            // An early disconnect is not a failure.
            std::thread::spawn(move || drop(pass_on(&stream, &own, &server, &token)));
        }
    });
    address
}

/// Forwards one request and its answer.
fn pass_on(client: &TcpStream, own: &str, server: &str, token: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            break;
        }
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "connection" => {}
            "host" | "origin" => head += &line.replace(own, server).replace(&local(own), server),
            _ => head += &line,
        }
    }
    let mut upstream = TcpStream::connect(server)?;
    write!(upstream, "{head}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n")?;
    let mut back = upstream.try_clone()?;
    let mut out = client.try_clone()?;
    let answering = std::thread::spawn(move || {
        let done = copy(&mut back, &mut out);
        let _ = out.shutdown(std::net::Shutdown::Both);
        done
    });
    let _ = copy(&mut reader, &mut upstream);
    // The client disconnected.
    let _ = upstream.shutdown(std::net::Shutdown::Write);
    answering.join().unwrap_or(Ok(()))
}

fn local(own: &str) -> String {
    own.replace("127.0.0.1", "localhost")
}

/// Copies without buffering, since events must not wait.
fn copy(from: &mut impl std::io::Read, to: &mut impl std::io::Write) -> std::io::Result<()> {
    let mut part = [0; 16 << 10];
    loop {
        match from.read(&mut part)? {
            0 => return Ok(()),
            count => {
                to.write_all(&part[..count])?;
                to.flush()?;
            }
        }
    }
}
