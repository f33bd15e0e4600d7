//! Access control.

use std::{
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    process::Command,
};

use serde_json::json;

use crate::{client::Daemon, left_out::left_out, world::World};

#[test]
fn other_hosts_are_refused() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let (port, token) = (daemon.port, format!("Authorization: Bearer {}\r\n", daemon.token));
    for host in
        [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("LOCALHOST:{port}"), format!("[::1]:{port}")]
    {
        daemon.ask_as("GET", "/realms", &format!("Host: {host}\r\n{token}"), b"").is(200);
    }
    for hosts in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1:{port}.evil.example\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
        "Host:\r\n".to_owned(),
        String::new(),
    ] {
        for path in ["/realms", "/health", "/", "/mcp"] {
            let answer = daemon.ask_as("GET", path, &format!("{hosts}{token}"), b"").is(421);
            let expected = format!("only accepts requests for 127.0.0.1:{port}, localhost:{port}, [::1]:{port}");
            assert_eq!(answer.json()["code"], "wrong-host", "{hosts}");
            assert!(answer.json()["message"].as_str().unwrap().ends_with(&expected), "{hosts}");
        }
    }
    let line = format!(
        "GET http://evil.example/realms HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{token}Connection: close\r\n\r\n"
    );
    assert!(daemon.raw(line.as_bytes()).starts_with("HTTP/1.1 421 "));
}

#[test]
fn other_origins_are_refused() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let own = format!("Origin: http://localhost:{}\r\n", daemon.port);
    daemon.ask("GET", "/realms", &own, b"").is(200);
    for origin in ["null", "http://evil.example", "https://localhost:{port}", "http://localhost:1", ""] {
        let origin = origin.replace("{port}", &daemon.port.to_string());
        for path in ["/realms", "/mcp"] {
            let answer = daemon.ask("GET", path, &format!("Origin: {origin}\r\n"), b"").is(403);
            assert_eq!(answer.json()["code"], "wrong-origin", "{origin}");
        }
    }
    // No header lets another site read.
    let answer = daemon.ask("OPTIONS", "/realms", &own, b"").is(204);
    assert!(answer.headers.keys().all(|name| !name.starts_with("access-control")), "{answer:?}");
}

#[test]
fn requests_without_token_are_refused() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let host = format!("Host: 127.0.0.1:{}\r\n", daemon.port);
    let almost = format!("{}0", &daemon.token[..63]);
    for header in [
        String::new(),
        "Authorization: Bearer\r\n".into(),
        "Authorization: Bearer x\r\n".into(),
        format!("Authorization: Bearer {almost}\r\n").replace(&daemon.token, "x"),
        format!("Authorization: Basic {}\r\n", daemon.token),
        format!("Authorization: {}\r\n", daemon.token),
        format!("Authorization: Bearer {}{}\r\n", daemon.token, daemon.token),
        format!("Authorization: Bearer x\r\nAuthorization: Bearer {}\r\n", daemon.token),
        format!("Cookie: git_blue_{}={}\r\n", daemon.port, daemon.token),
    ] {
        for (method, path) in [
            ("GET", "/realms"),
            ("GET", "/"),
            ("GET", "/no-such-path"),
            ("GET", "/events"),
            ("GET", "/mcp"),
            ("POST", "/mcp"),
            ("POST", "/links"),
            ("OPTIONS", "/realms"),
            ("DELETE", "/sessions/sess-1"),
        ] {
            let answer = daemon.ask_as(method, path, &format!("{host}{header}"), b"").is(401);
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    let none = daemon.ask_as("GET", &format!("/realms?token={}", daemon.token), &host, b"").is(401);
    assert_eq!(none.json()["message"], "send the token: Authorization: Bearer TOKEN");
    let wrong = daemon.ask_as("GET", "/realms", &format!("{host}Authorization: Bearer x\r\n"), b"").is(401);
    assert!(wrong.json()["message"].as_str().unwrap().starts_with("the token is not accepted"), "{wrong:?}");
    let health = daemon.ask_as("GET", "/health", &host, b"").is(200).json();
    assert_eq!(health["server"], "git-blue");
    assert!(!health.to_string().contains("aperture") && !health.to_string().contains(&daemon.token));
    daemon.ask_as("GET", "/realms", &format!("{host}authorization: bEARER {}\r\n", daemon.token), b"").is(200);
}

#[test]
fn link_logs_one_browser_in_read_only() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let link = world.json(&world.root(), &["daemon", "open"])["url"].as_str().unwrap().to_owned();
    let path = link.strip_prefix(&format!("http://127.0.0.1:{}", daemon.port)).unwrap();
    let host = format!("Host: 127.0.0.1:{}\r\n", daemon.port);
    let wrong = daemon.ask_as("GET", "/open?key=00", &host, b"").is(403);
    assert!(wrong.text().contains("this link was already used, or has expired"), "{wrong:?}");
    assert_eq!(wrong.header("content-type"), "text/html; charset=utf-8");
    // A link preview, as chat programs make, does not use up the link.
    daemon.ask_as("HEAD", path, &host, b"");
    let answer = daemon.ask_as("GET", path, &host, b"").is(303);
    assert_eq!(answer.header("location"), "/");
    let cookie = answer.header("set-cookie").to_owned();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    daemon.ask_as("GET", path, &host, b"").is(403);
    let shown = format!("{host}Cookie: other=1; {}\r\n", cookie.split(';').next().unwrap());
    for read in ["/realms", "/realms/aperture", "/notifications"] {
        daemon.ask_as("GET", read, &shown, b"").is(200);
    }
    let json = "Content-Type: application/json\r\n";
    for (method, path, body) in [
        ("POST", "/sessions", json!({"realm": "aperture", "repo": "fungal"}).to_string()),
        ("POST", "/realms/aperture/sync", "{}".into()),
        ("POST", "/links", String::new()),
        ("DELETE", "/sessions/sess-0123456789ab", String::new()),
        ("POST", "/mcp", "{}".into()),
        ("GET", "/mcp", String::new()),
    ] {
        let answer = daemon.ask_as(method, path, &format!("{shown}{json}"), body.as_bytes()).is(403);
        assert_eq!(answer.json()["code"], "read-only", "{method} {path}");
    }
}

/// Logs a browser in, and returns its cookie.
fn cookie(world: &World, daemon: &Daemon) -> String {
    let link = world.json(&world.root(), &["daemon", "open"])["url"].as_str().unwrap().to_owned();
    let path = link.strip_prefix(&format!("http://127.0.0.1:{}", daemon.port)).unwrap();
    let host = format!("Host: 127.0.0.1:{}\r\n", daemon.port);
    let answer = daemon.ask_as("GET", path, &host, b"").is(303);
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

#[test]
fn cookie_is_invalid_at_another_port() {
    let (one, other) = (World::solo(), World::solo());
    let (first, second) = (Daemon::start(&one), Daemon::start(&other));
    let (mine, theirs) = (cookie(&one, &first), cookie(&other, &second));
    assert!(mine.starts_with(&format!("git_blue_{}=", first.port)), "{mine}");
    let value = mine.split_once('=').unwrap().1;
    let host = format!("Host: 127.0.0.1:{}\r\n", second.port);
    for shown in [&mine, &format!("git_blue_{}={value}", second.port), &format!("git_blue={value}")] {
        second.ask_as("GET", "/realms", &format!("{host}Cookie: {shown}\r\n"), b"").is(401);
    }
    // A browser sends both cookies to each.
    second.ask_as("GET", "/realms", &format!("{host}Cookie: {mine}; {theirs}\r\n"), b"").is(200);
}

#[test]
fn cookie_from_another_user_is_refused() {
    let world = World::solo();
    if !cfg!(target_os = "linux") || world.root().metadata().unwrap().uid() != 0 {
        return left_out("only root can start a process of another user, and only Linux tells whose it is");
    }
    let daemon = Daemon::start(&world);
    let cookie = cookie(&world, &daemon);
    let ask = |user: u32, host: &str, header: &str| {
        let port = daemon.port;
        let head = format!(
            "GET /realms HTTP/1.1\\r\\nHost: localhost:{port}\\r\\n{header}\\r\\nConnection: close\\r\\n\\r\\n"
        );
        let script = format!("exec 3<>/dev/tcp/{host}/{port} && printf '{head}' >&3 && head -1 <&3");
        let output = Command::new("bash").args(["-c", &script]).current_dir("/").uid(user).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let shown = format!("Cookie: {cookie}");
    assert_eq!(ask(0, "127.0.0.1", &shown), "HTTP/1.1 200 OK");
    assert_eq!(ask(65_534, "127.0.0.1", &shown), "HTTP/1.1 401 Unauthorized");
    // The token is always accepted.
    assert_eq!(ask(65_534, "127.0.0.1", &format!("Authorization: Bearer {}", daemon.token)), "HTTP/1.1 200 OK");
    if std::net::TcpStream::connect(("::1", daemon.port)).is_ok() {
        assert_eq!(ask(0, "::1", &shown), "HTTP/1.1 200 OK");
        assert_eq!(ask(65_534, "::1", &shown), "HTTP/1.1 401 Unauthorized");
    }
}
