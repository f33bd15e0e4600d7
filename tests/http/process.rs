//! The daemon as a process: starting, stopping, and conflicts.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
    time::{Duration, Instant},
};

use crate::{client::Daemon, wait::eventually, world::World};

#[test]
fn starts_once_and_stops_promptly() {
    let world = World::new();
    assert_eq!(world.blue(&world.root(), &["daemon", "status"]).code, 1);
    let daemon = Daemon::start(&world);
    let status = world.json(&world.root(), &["daemon", "status"]);
    assert_eq!((&status["running"], &status["pid"]), (&true.into(), &daemon.pid.into()));
    let again = world.json(&world.root(), &["daemon", "start", "--port", "0"]);
    assert_eq!(again["pid"], daemon.pid);
    assert!(again["message"].as_str().unwrap().starts_with("already running at http://127.0.0.1:"), "{again}");
    let second = world.blue(&world.root(), &["daemon", "start", "--foreground", "--port", "0"]).exits(1);
    assert!(second.stderr.contains(&format!("process {}, at http://127.0.0.1:{}/", daemon.pid, daemon.port)));
    let port = daemon.port;
    drop(daemon);
    // The port is free at once.
    TcpListener::bind(("127.0.0.1", port)).unwrap();
    assert_eq!(world.json(&world.root(), &["daemon", "status"])["running"], false);
    assert_eq!(world.json(&world.root(), &["daemon", "stop"])["running"], false);
}

#[test]
fn files_are_private() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let folder = world.path("home/blue/daemon");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in ["pid", "token", "log"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    let token = std::fs::read_to_string(folder.join("token")).unwrap();
    assert_eq!(token.trim(), daemon.token);
    assert!(token.trim().len() == 64 && !std::fs::read_to_string(folder.join("log")).unwrap().contains(token.trim()));
    drop(daemon);
    // The next daemon uses the same token, which programs know.
    assert_eq!(Daemon::start(&world).token, token.trim());
}

#[test]
fn everybody_gets_the_same_token() {
    for round in 0..20 {
        let world = World::new();
        let tokens: Vec<_> = std::thread::scope(|scope| {
            let ask = |_| {
                let mut command = world.command("git-blue", &world.root());
                command.args(["daemon", "token"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
                scope.spawn(move || command.output().unwrap())
            };
            let asking: Vec<_> = (0..8).map(ask).collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let file = world.read("home/blue/daemon/token");
        assert_eq!(file.trim().len(), 64);
        for output in tokens {
            assert!(output.status.success() && output.stderr.is_empty(), "round {round}: {output:?}");
            assert_eq!(String::from_utf8(output.stdout).unwrap(), file, "round {round}");
        }
        let files = world.path("home/blue/daemon").read_dir().unwrap().count();
        assert_eq!(files, 2, "the token and its lock, and nothing half made");
    }
}

#[test]
fn readable_token_is_closed_with_a_warning() {
    let world = World::new();
    let mode = |path: &str| world.path(path).metadata().unwrap().permissions().mode() & 0o777;
    let set = |path: &str, mode| {
        std::fs::set_permissions(world.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let command = ["-c", "umask 0; git blue daemon token"];
    let first = world.feed("sh", &world.root(), &command, "").exits(0);
    assert_eq!(first.stderr, "");
    for (path, expected) in [("", 0o700), ("/daemon", 0o700), ("/daemon/token", 0o600), ("/daemon/token.lock", 0o600)] {
        assert_eq!(mode(&format!("home/blue{path}")), expected, "{path}");
    }
    set("home/blue/daemon", 0o777);
    set("home/blue/daemon/token", 0o644);
    let again = world.ok(&world.root(), &["daemon", "token"]);
    assert_eq!((mode("home/blue/daemon"), mode("home/blue/daemon/token")), (0o700, 0o600));
    assert_eq!(again.stdout, first.stdout, "programs were told it");
    assert!(again.stderr.contains("home/blue/daemon from 777 to 700"), "{again:?}");
    assert!(again.stderr.contains("home/blue/daemon/token from 644 to 600; if"), "{again:?}");
    assert_eq!(world.ok(&world.root(), &["daemon", "token"]).stderr, "", "once");
    // An invalid token is replaced.
    world.write("home/blue/daemon/token", "half");
    assert_ne!(world.ok(&world.root(), &["daemon", "token"]).stdout, first.stdout);
    // The first command that needs the folder creates it for its user alone.
    for (at, line) in
        ["git blue realm admin init --name other", "git blue install claude --scope user"].iter().enumerate()
    {
        let home = world.path(&format!("other{at}"));
        let line = format!("umask 0; GIT_BLUE_HOME={} {line}", home.display());
        world.feed("sh", &world.root(), &["-c", &line], "").exits(0);
        assert_eq!(mode(&format!("other{at}")), 0o700, "{line}");
    }
}

#[test]
fn start_returns_promptly() {
    let world = World::new();
    let start = Instant::now();
    // With pipes as all three streams and as a fourth one: the daemon must not keep them open, or reading would not
    // end.
    let mut command = world.command("sh", &world.root());
    command.args(["-c", "exec 7>&1; git blue daemon start --port 0 2>&1"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let _daemon = Daemon::start(&world);
    assert!(said.starts_with("serving http://127.0.0.1:"), "{said}");
    assert!(child.wait().unwrap().success() && start.elapsed() < Duration::from_secs(15));
    let answer = world.json(&world.root(), &["daemon", "status"]);
    assert_eq!(answer["running"], true);
}

#[test]
fn daemon_that_does_not_answer_is_reported() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let signal = |signal| nix::sys::signal::kill(nix::unistd::Pid::from_raw(daemon.pid), signal).unwrap();
    world.write("home/blue/daemon/log", "why\n");
    signal(nix::sys::signal::Signal::SIGSTOP);
    let start = world.blue(&world.root(), &["daemon", "start"]);
    let open = world.blue(&world.root(), &["daemon", "open", "--print"]);
    signal(nix::sys::signal::Signal::SIGCONT);
    let said = format!("the daemon is already running as process {}, but does not answer", daemon.pid);
    assert!(start.code == 128 && start.stderr.contains(&said), "{start:?}");
    assert!(start.stderr.contains("hint: git blue daemon stop"), "{start:?}");
    assert!(world.read("home/blue/daemon/log").starts_with("why\n"), "it may say why");
    assert!(
        open.stderr.contains("it does not answer") && open.stderr.contains("hint: git blue daemon stop"),
        "{open:?}"
    );
}

#[test]
fn killed_daemon_leaves_nothing_in_the_way() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let killed = daemon.pid;
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(killed), nix::sys::signal::Signal::SIGKILL).unwrap();
    eventually("it ends", || world.json(&world.root(), &["daemon", "status"])["running"] == false);
    assert!(std::fs::read_to_string(world.path("home/blue/daemon/pid")).unwrap().contains(&killed.to_string()));
    let next = Daemon::start(&world);
    assert_ne!(next.pid, killed);
    assert!(next.is_alive());
    std::mem::forget(daemon);
}

#[test]
fn taken_port_is_reported() {
    let world = World::new();
    let squatter = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = squatter.local_addr().unwrap().port().to_string();
    let foreign = std::thread::spawn(move || {
        let (mut stream, _) = squatter.accept().unwrap();
        let mut heard = vec![0; 1_000];
        let length = stream.read(&mut heard).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").unwrap();
        String::from_utf8_lossy(&heard[..length]).into_owned()
    });
    let run = world.blue(&world.root(), &["daemon", "start", "--port", &port]).exits(128);
    assert!(run.stderr.contains("in use by another program"), "{run:?}");
    assert!(run.stderr.contains("hint: git blue daemon start --port 0  # use any free port"), "{run:?}");
    // It was sent nothing.
    assert!(!foreign.join().unwrap().to_lowercase().contains("authorization"));

    let daemon = Daemon::start(&world);
    let other = World::new();
    let run = other.blue(&other.root(), &["daemon", "start", "--port", &daemon.port.to_string()]).exits(128);
    assert!(run.stderr.contains("in use by the daemon of another GIT_BLUE_HOME"), "{run:?}");
    assert!(other.blue(&other.root(), &["daemon", "open"]).exits(1).stderr.contains("is not running"));
    std::fs::remove_dir_all(world.path("home/blue/daemon")).unwrap();
    let run = world.blue(&world.root(), &["daemon", "start", "--port", &daemon.port.to_string()]);
    // Without its files, `daemon stop` does not find it.
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(daemon.pid), nix::sys::signal::Signal::SIGTERM).unwrap();
    assert!(run.exits(128).stderr.contains("in use by the daemon of this GIT_BLUE_HOME"));
}

#[test]
fn running_daemon_keeps_its_options() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let port = daemon.port.to_string();
    for other in [&["--rate-limit", "5"][..], &["--port", &port, "--catch-up", "0"], &["--port", "1"]] {
        let run = world.blue(&world.root(), &[&["daemon", "start"], other].concat()).exits(1);
        let said = format!("the daemon is already running at http://127.0.0.1:{port}/, and keeps its options");
        assert!(run.stderr.contains(&said), "{run}");
        let step = world.next_step(&run);
        assert!(step.starts_with("git blue daemon stop && git blue daemon start --port "), "{run}");
        assert!(other.chunks(2).all(|option| step.contains(&option.join(" "))), "{run}");
    }
    for same in [&["--port", &port][..], &["--port", "0"], &[]] {
        world.ok(&world.root(), &[&["daemon", "start"], same].concat());
    }
}

/// Nobody could find or stop it.
#[test]
fn daemon_that_cannot_be_recorded_does_not_serve() {
    let world = World::new();
    world.ok(&world.root(), &["daemon", "token"]);
    // Empty files can still be written.
    let line = "trap '' XFSZ && ulimit -f 0 && exec git blue daemon start --foreground --port 0";
    let run = world.finish_shell(&world.root(), line).exits(128);
    assert!(run.stderr.contains("cannot write") && run.stderr.contains("home/blue/daemon/pid"), "{run}");
    assert!(!run.stderr.contains("serving"), "{run}");
}

#[test]
fn listens_only_on_loopback() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let ask = |host: &str, name: &str| {
        let mut stream = TcpStream::connect((host, daemon.port)).unwrap();
        write!(stream, "GET /health HTTP/1.1\r\nHost: {name}:{}\r\nConnection: close\r\n\r\n", daemon.port).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    };
    ask("127.0.0.1", "127.0.0.1");
    if TcpListener::bind("[::1]:0").is_ok() {
        ask("::1", "[::1]");
    }
    // Another address of this machine.
    assert!(TcpStream::connect(("127.0.0.2", daemon.port)).is_err());
}

#[test]
fn streams_end_with_the_server() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let mut stream = daemon.connect();
    write!(stream, "GET /events HTTP/1.1\r\n{}\r\n", daemon.headers()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    let start = Instant::now();
    drop(daemon);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn commands_work_without_it() {
    let world = World::pair();
    world.bump("1.1.0");
    assert_eq!(world.json(&world.path("access"), &["status"])["notifications"][0]["contract"], "s3-permissions");
    assert!(!world.path("home/blue/daemon").exists());
}

#[test]
fn service_manager_files_are_written() {
    let world = World::new();
    let run = world.ok(&world.root(), &["daemon", "install", "--manager", "systemd", "--port", "7900", "--json"]);
    let unit = world.read("home/.config/systemd/user/git-blue.service");
    assert!(run.stdout.contains("systemctl --user enable --now git-blue.service"), "{run:?}");
    let exe = env!("CARGO_BIN_EXE_git-blue");
    for line in [
        format!(
            "ExecStart=\"{exe}\" \"daemon\" \"start\" \"--foreground\" \"--port\" \"7900\" \"--rate-limit\" \"100\" \
             \"--catch-up\" \"60\" \"--sync-interval\" \"300\""
        ),
        format!("Environment=\"GIT_BLUE_HOME={}\"", world.path("home/blue").display()),
        "WantedBy=default.target".to_owned(),
    ] {
        assert!(unit.lines().any(|found| found == line), "{line} is not in\n{unit}");
    }
    world.ok(&world.root(), &["daemon", "install", "--manager", "launchd"]);
    let agent = world.read("home/Library/LaunchAgents/git-blue.plist");
    assert!(agent.contains(&format!("<string>{exe}</string>")) && agent.ends_with("</plist>\n"), "{agent}");
}

#[test]
fn variables_of_one_repository_do_not_reach_the_others() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.blue_with(&fungal, &["daemon", "start", "--port", "0"], &[("GIT_WORK_TREE", fungal.as_os_str())]).exits(0);
    let daemon = Daemon::start(&world);
    let answer = daemon.get("/realms/aperture/check?repo=access&worktree=true").is(200).json();
    assert_eq!(answer["valid"], true, "{answer}");
}

#[test]
fn client_is_configured_for_the_port_of_the_running_daemon() {
    let world = World::new();
    let url = || {
        let config = world.json(&world.root(), &["mcp", "generate-config", "--transport", "http"]);
        config["mcpServers"]["git-blue"]["url"].as_str().unwrap().to_owned()
    };
    assert_eq!(url(), "http://127.0.0.1:7865/mcp");
    let daemon = Daemon::start(&world);
    assert_eq!(url(), format!("http://127.0.0.1:{}/mcp", daemon.port));
}
