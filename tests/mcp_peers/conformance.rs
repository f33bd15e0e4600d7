//! The protocol's conformance suite, against the daemon with the fixtures that it needs, with and without a
//! handshake.
//!
//! The suite cannot send a token, so a proxy adds it. The files beside this one list expected failures with the
//! reason; any other failure, or an unexpected success, fails the test. Required scenarios may not fail.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{http::Daemon, peers, script, world::World};

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
    world.set("GIT_BLUE_CONFORMANCE", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_peers/conformance.json"));
    let daemon = Daemon::start(&world);
    let proxy = proxy(daemon.address.clone(), daemon.token.clone());
    let suite = peers().join("conformance/node_modules/@modelcontextprotocol/conformance");
    for revision in REVISIONS {
        let output = Command::new(node())
            .arg(suite.join("dist/index.js"))
            .args(["server", "--url", &format!("http://{proxy}/mcp"), "--requirements", revision])
            .args(["--expected-failures", &script(&format!("conformance-{revision}.yml"))])
            .arg("--output-dir")
            .arg(world.path(&format!("results-{revision}")))
            .current_dir(world.root())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let required = required(&suite, revision);
        assert!(required.len() >= 30, "{required:?}");
        for name in required {
            let line = said.lines().find(|line| line.contains(&format!(" {name}: ")) && line.contains(" passed, "));
            let line = line.unwrap_or_else(|| panic!("{name} did not run: {said}"));
            assert!(line.ends_with(" 0 failed") && line.starts_with('✓'), "{line}: {said}");
        }
    }
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
