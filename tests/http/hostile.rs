//! Hostile and faulty clients. Whatever they send, the daemon answers the next one.

use std::{
    io::{BufReader, Write as _},
    net::Shutdown,
};

use crate::{
    client::{Daemon, read},
    wait::eventually,
    world::{CONTRACT_FILE, World, contract},
};

#[test]
fn huge_content_length_is_harmless() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    for length in ["4611686018427387904", "18446744073709551615", "1048577"] {
        for (path, headers) in [("/sessions", daemon.headers()), ("/mcp", daemon.headers()), ("/health", String::new())]
        {
            let head = format!("POST {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\nx");
            let mut stream = daemon.connect();
            stream.write_all(head.as_bytes()).unwrap();
            let answer = read(&mut BufReader::new(stream), "POST");
            assert!((400..500).contains(&answer.status), "{length} {path} {answer:?}");
            assert!(daemon.is_alive());
        }
    }
    for length in ["-1", "1, 2", "0x10", "99999999999999999999999", "1 "] {
        let head = format!("POST /sessions HTTP/1.1\r\n{}Content-Length: {length}\r\n\r\n", daemon.headers());
        let mut stream = daemon.connect();
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert!(read(&mut BufReader::new(stream), "POST").status >= 400, "{length}");
    }
    let two =
        format!("POST /sessions HTTP/1.1\r\n{}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}", daemon.headers());
    assert!(daemon.raw(two.as_bytes()).starts_with("HTTP/1.1 400 "));
}

#[test]
fn endless_body_is_cut_off() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let mut stream = daemon.connect();
    write!(
        stream,
        "POST /sessions HTTP/1.1\r\n{}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        daemon.headers()
    )
    .unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let sent = (0..1_000).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 1_000, "it read everything");
    assert!(daemon.is_alive());
}

#[test]
fn heads_are_limited() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let long = format!("GET /realms HTTP/1.1\r\n{}X-Long: {}\r\n\r\n", daemon.headers(), "x".repeat(1 << 20));
    let target = format!("GET /{} HTTP/1.1\r\n{}\r\n", "x".repeat(1 << 20), daemon.headers());
    let many = format!("GET /realms HTTP/1.1\r\n{}{}\r\n", daemon.headers(), "X-Many: 1\r\n".repeat(1_000));
    for head in [long, target, many] {
        let answer = daemon.raw(head.as_bytes());
        // The rest of the head may still be in transit when the connection is closed.
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        assert!(daemon.is_alive());
    }
    assert!(daemon.memory().0 < 80 << 10, "{:?} KiB", daemon.memory());
}

#[test]
fn non_http_is_refused() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let headers = daemon.headers();
    for request in [
        "\0\0\0\0\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET /realms\r\n\r\n".to_owned(),
        format!("GET /realms HTTP/3.0\r\n{headers}\r\n"),
        format!("GET /realms HTTP/1.1\r\n{headers} folded: 1\r\n\r\n"),
        format!("GET /realms HTTP/1.1\r\n{headers}Bad Name: 1\r\n\r\n"),
        format!("GET /realms HTTP/1.1\r\n{headers}X: a\0b\r\n\r\n"),
        format!("GE(T /realms HTTP/1.1\r\n{headers}\r\n"),
        "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03\r\n\r\n".to_owned(),
        format!("POST /sessions HTTP/1.1\r\n{headers}Transfer-Encoding: gzip\r\n\r\n"),
        format!("POST /sessions HTTP/1.1\r\n{headers}Transfer-Encoding: chunked\r\n\r\nZZ\r\n"),
    ] {
        let answer = daemon.raw(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 4"), "{request:?}: {answer}");
        assert!(daemon.is_alive());
    }
    // The first words of HTTP/2, which it does not speak.
    let answer = daemon.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    // Request smuggling: two servers could parse this differently.
    let smuggled = format!(
        "POST /sessions HTTP/1.1\r\n{headers}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n{headers}\r\n"
    );
    let answer = daemon.raw(smuggled.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 4") && answer.matches("HTTP/1.1 ").count() == 1, "{answer}");
}

#[test]
fn paths_cannot_escape() {
    let world = World::solo();
    world.write("home/blue/realms/secret.txt", "told to nobody");
    let daemon = Daemon::start(&world);
    for path in [
        "/../../etc/passwd",
        "/realms/../secret.txt",
        "/realms/..%2fsecret.txt",
        "/realms/%2e%2e/%2e%2e/etc/passwd",
        "/realms/aperture%00",
        "/realms/aperture.git",
        "/realms/APERTURE/contracts/../../x",
        "/realms/aperture/contracts/s3-access/..%2f..%2fdomain",
        "/realms//",
        "//realms",
        "/realms/%ff%fe",
        "/realms/%0d%0aSet-Cookie:%20x=1",
        "/assets/../../Cargo.toml",
        "/r/..%2f..%2f",
    ] {
        let answer = daemon.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.text().contains("told to nobody") && !answer.headers.contains_key("set-cookie"), "{path}");
        assert!(!answer.text().contains("root:"), "{path}");
    }
}

#[test]
fn bodies_must_be_json_objects() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let post = |kind: &str, body: &[u8]| daemon.ask("POST", "/sessions", &format!("Content-Type: {kind}\r\n"), body);
    let good = br#"{"realm":"aperture","repo":"fungal"}"#;
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"]
    {
        post(kind, good).is(415);
    }
    daemon.ask("POST", "/sessions", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", good).is(415);
    let deep = "[".repeat(500_000);
    for body in [
        &b"[]"[..],
        b"1",
        b"{",
        b"\xff",
        b"{\"realm\":1,\"repo\":\"fungal\"}",
        b"{}",
        b"{\"realm\":\"..\",\"repo\":\"x\"}",
        deep.as_bytes(),
    ] {
        post("application/json", body).is(400);
    }
    post("application/json; charset=utf-8", good).is(200);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let mut stream = daemon.connect();
    let headers = daemon.headers();
    let paths = ["/health", "/realms", "/nothing", "/realms/aperture", "/sessions"];
    let all: String = paths.iter().map(|path| format!("GET {path} HTTP/1.1\r\n{headers}\r\n")).collect();
    stream.write_all(all.repeat(20).as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    for _ in 0..20 {
        let statuses = paths.map(|_| read(&mut stream, "GET").status);
        assert_eq!(statuses, [200, 200, 404, 200, 200]);
    }
}

#[test]
fn early_disconnect_is_harmless() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    for at in 0..200 {
        let mut stream = daemon.connect();
        let request = format!("GET /openapi.json HTTP/1.1\r\n{}\r\n", daemon.headers());
        let cut = if at % 3 == 0 { at % request.len() } else { request.len() };
        let _ = stream.write_all(&request.as_bytes()[..cut]);
        if at % 2 == 0 {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
    assert!(daemon.is_alive());
    eventually("descriptors are closed", || daemon.count("fd") <= 40);
}

#[test]
fn security_headers_are_on_every_answer() {
    let world = World::solo();
    let script = "<script>alert(1)</script>";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("Paths that fungal writes", script));
    world.commit("fungal", "Say more");
    let daemon = Daemon::start(&world);
    // JSON is not escaped, so that no client unescapes it.
    let answer = daemon.get("/realms/aperture/contracts/s3-access/s3-permissions").is(200);
    assert!(answer.json()["contract"]["description"].as_str().unwrap().starts_with(script));
    for path in ["/realms/aperture/contracts/s3-access/s3-permissions", "/nothing", "/health"] {
        let answer = daemon.get(path);
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    }
}
