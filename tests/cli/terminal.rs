//! Behavior at a terminal: colors, pager, progress. script(1) provides the terminal.

use std::ffi::OsStr;

use crate::world::{REALM, World};

/// Runs a shell command at a terminal, and returns the terminal's output.
fn at_terminal(world: &World, dir: &str, line: &str, vars: &[(&str, &str)]) -> String {
    let mut command = world.command("script", &world.path(dir));
    command.args(["--quiet", "--return", "--command", line, "/dev/null"]).env("TERM", "xterm");
    command.envs(vars.iter().map(|(name, value)| (*name, OsStr::new(*value))));
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

const COLOUR: &str = "\u{1b}[";

#[test]
fn pager_shows_human_output() {
    let world = World::pair();
    let paged = |line: &str, vars: &[(&str, &str)]| at_terminal(&world, "fungal", line, vars).contains("paged: realm");
    let pager = ("GIT_PAGER", "sed 's/^/paged: /'");
    let line = "git-blue status --color=never";
    assert!(paged(line, &[pager]));
    assert!(paged("git blue status --color=never", &[pager]));
    // Machine-readable output, writing commands, and short output.
    for line in
        ["git-blue --json status", "git-blue status --no-pager", "git --no-pager blue status", "git-blue status | cat"]
    {
        assert!(!paged(line, &[pager]), "{line}");
    }
    let init = at_terminal(&world, "fungal", "git-blue init", &[pager]);
    assert!(init.contains("already joined as") && !init.contains("paged:"), "{init}");
    let names = at_terminal(&world, "fungal", "git-blue contract list -z", &[pager]);
    assert!(!names.contains("paged:"), "{names}");

    // Git's order: GIT_PAGER, pager.blue, core.pager, PAGER.
    let shown = |name: &str| format!("sed 's/^/{name}: /'");
    let (variable, own, core, other) = (shown("variable"), shown("own"), shown("core"), shown("other"));
    let dir = world.path("fungal");
    let who = |vars: &[(&str, &str)]| {
        let text = at_terminal(&world, "fungal", line, vars);
        text.split(": ").next().unwrap().trim().to_owned()
    };
    assert_eq!(who(&[("PAGER", &other)]), "other");
    world.git(&dir, &["config", "core.pager", &core]);
    assert_eq!(who(&[("PAGER", &other)]), "core");
    world.git(&dir, &["config", "pager.blue", &own]);
    assert_eq!(who(&[("PAGER", &other)]), "own");
    assert_eq!(who(&[("PAGER", &other), ("GIT_PAGER", &variable)]), "variable");
    for none in ["", "cat"] {
        assert!(who(&[("GIT_PAGER", none)]).starts_with("fungal in the realm aperture"), "{none:?}");
    }
    world.git(&dir, &["config", "pager.blue", "false"]);
    assert!(who(&[("GIT_PAGER", &variable)]).starts_with("fungal in the realm aperture"));
}

#[test]
fn failed_check_starts_the_pager_once() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "--quiet", "-c", "proposal"]);
    world.bump("2.0.0");
    let pager = ("GIT_PAGER", "echo started; cat");
    let shown = at_terminal(&world, "fungal", "git-blue check || true", &[pager]);
    assert!(shown.contains("access imports") && shown.matches("started").count() == 1, "{shown}");
    let quiet = at_terminal(&world, "fungal", "git-blue check --quiet || true", &[pager]);
    assert!(quiet.contains("access imports") && quiet.matches("started").count() == 1, "{quiet}");
}

#[test]
fn closed_or_missing_pager_is_not_an_error() {
    let world = World::pair();
    world.bump("1.1.0");
    // A pager that closes at once: whether it read everything is unknown, so changes may be shown again.
    let gone = at_terminal(&world, "access", "git-blue status", &[("GIT_PAGER", "true")]);
    assert!(!gone.contains("realm"), "{gone}");
    world.git(&world.path("access"), &["config", "core.pager", "no-such-pager-anywhere"]);
    let shown = at_terminal(&world, "access", "git-blue status", &[]);
    assert!(shown.contains("realm") && shown.contains("aperture"), "{shown}");
    // less with git's options: it quits if everything fits, and keeps colors.
    world.git(&world.path("access"), &["config", "core.pager", "echo \"LESS is $LESS\"; cat"]);
    let shown = at_terminal(&world, "access", "git-blue status", &[]);
    assert!(shown.contains("LESS is FRX") && shown.contains(COLOUR), "{shown}");
}

#[test]
fn colors_only_where_visible() {
    let world = World::pair();
    let dir = world.path("fungal");
    let colored = |line: &str, vars: &[(&str, &str)]| {
        at_terminal(&world, "fungal", line, &[&[("GIT_PAGER", "")], vars].concat()).contains(COLOUR)
    };
    assert!(colored("git-blue status", &[]));
    assert!(!colored("git-blue status --color=never", &[]));
    assert!(!colored("git-blue status", &[("NO_COLOR", "1")]));
    assert!(!colored("git-blue status", &[("TERM", "dumb")]));
    assert!(!colored("git-blue status | cat", &[]));
    assert!(colored("git-blue status --color=always | cat", &[("NO_COLOR", "1")]));
    assert!(colored("git-blue status | cat", &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored("git-blue status | cat", &[("CLICOLOR_FORCE", "0")]));
    assert!(!colored("git-blue status | cat", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    // Each stream is decided separately.
    assert!(colored("git-blue contract get a/b >out || :", &[]));
    assert!(!colored("git-blue contract get a/b 2>err || :; cat err", &[]));
    // A pager writes to a terminal, unless configured without colors.
    assert!(colored("git-blue status", &[("GIT_PAGER", "sed p")]));
    assert!(colored("git -p blue status", &[("GIT_PAGER", "sed p")]));
    world.git(&dir, &["config", "color.pager", "false"]);
    assert!(!colored("git-blue status", &[("GIT_PAGER", "sed p")]));
    world.git(&dir, &["config", "color.ui", "always"]);
    assert!(!colored("git-blue status --color=auto | cat", &[]));
}

#[test]
fn progress_is_shown_at_a_terminal_and_erased() {
    let world = World::pair();
    let now = [("GIT_PROGRESS_DELAY", "0"), ("GIT_PAGER", "")];
    let progress = "git blue realm check … 0 s";
    let shown = at_terminal(&world, "fungal", "git-blue check >out", &now);
    assert!(shown.contains(progress), "{shown:?}");
    assert!(shown.ends_with("\u{1b}[K"), "{shown:?}");
    for line in ["git-blue check 2>err; cat err", "git-blue check --quiet"] {
        assert!(!at_terminal(&world, "fungal", line, &now).contains('…'), "{line}");
    }
    // Short work shows no progress.
    let later = [("GIT_PROGRESS_DELAY", "60"), ("GIT_PAGER", "")];
    assert!(!at_terminal(&world, "fungal", "git-blue check", &later).contains('…'));
    // Nothing is written over the user's editor.
    world.git(&world.path("fungal"), &["config", "core.editor", "true"]);
    let edit = at_terminal(
        &world,
        "fungal",
        "git-blue contract edit s3-access/s3-permissions || :",
        &[("GIT_PROGRESS_DELAY", "0"), ("GIT_EDITOR", "sleep 1; true")],
    );
    assert!(!edit.contains('…'), "{edit:?}");
}

#[test]
fn clone_needs_confirmation() {
    let world = crate::worktrees::without_blue();
    let clone = world.path(&format!("home/blue/clones/{REALM}/blue"));
    let create = "git blue realm worktree create --rfc rfc-1 --repos blue --clone";
    for (word, is_cloned) in [("", false), ("n", false), ("y", true)] {
        let said = at_terminal(&world, "aperture", &format!("echo {word} | {create} || :"), &[]);
        assert!(said.contains("clone blue from ") && said.contains("Clone them? [y/N]"), "{said:?}");
        assert_eq!(clone.is_dir(), is_cloned, "{word:?}: {said:?}");
    }
}

#[test]
fn names_are_nul_terminated_with_z() {
    let world = World::pair();
    let dir = world.path("access");
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "other"]);
    world.ok(
        &world.path("fungal"),
        &["realm", "admin", "contract", "--domain", "s3-access", "--name", "a", "--owner", "fungal"],
    );
    assert_eq!(world.ok(&dir, &["realm", "list", "-z"]).stdout, "aperture\0other\0");
    assert_eq!(world.ok(&dir, &["contract", "list", "-z"]).stdout, "s3-access/a\0s3-access/s3-permissions\0");
    assert_eq!(world.ok(&dir, &["contract", "list", "-z", "--limit", "1"]).stdout, "s3-access/a\0");
    let ids = world.ok(&dir, &["notifications", "list", "-z"]).stdout;
    assert!(ids.starts_with("notif-") && ids.ends_with('\0') && ids.matches('\0').count() == 1, "{ids:?}");
    world.blue(&dir, &["realm", "list", "-z", "--json"]).exits(129);
    let fresh = World::new();
    assert_eq!(fresh.ok(&fresh.root(), &["realm", "list", "-z"]).all(), "");
}

#[test]
fn contracts_are_searched_by_words() {
    let world = World::pair();
    let dir = world.path("access");
    for name in ["s3-paths", "events"] {
        let contract = ["realm", "admin", "contract", "--domain", "s3-access", "--name", name, "--owner", "fungal"];
        world.ok(&world.path("fungal"), &contract);
    }
    let found = |arguments: &[&str]| {
        let list = world.ok(&dir, &[&["contract", "list", "--json"], arguments].concat()).json();
        let names = list["contracts"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), list["total"].as_u64().unwrap(), list["next_cursor"].as_str().map(str::to_owned))
    };
    assert_eq!(found(&["--search", "PERM"]), (vec!["s3-permissions".into()], 1, None));
    assert_eq!(found(&["--search", "access/s3 paths"]).0, ["s3-paths"]);
    assert_eq!(found(&["--search", "fungal event"]).0, ["events"]);
    assert_eq!(found(&["--search", "nothing of it"]), (vec![], 0, None));
    assert_eq!(found(&["--search", " "]).1, 3);
    // One page at a time, with the total number.
    let (first, total, cursor) = found(&["--search", "/s3", "--limit", "1"]);
    assert_eq!((first, total), (vec!["s3-paths".into()], 2));
    let rest = found(&["--search", "/s3", "--limit", "1", "--cursor", &cursor.unwrap()]);
    assert_eq!(rest, (vec!["s3-permissions".into()], 2, None));
}

#[test]
fn log_is_written_to_the_given_place() {
    let world = World::pair();
    let dir = world.path("access");
    let log =
        |value: &str| world.blue_with(&dir, &["status", "--peek"], &[("GIT_BLUE_LOG", OsStr::new(value))]).exits(0);
    for off in ["", "0", "false", "error"] {
        assert_eq!(log(off).stderr, "", "{off}");
    }
    let shown = log("1");
    assert!(shown.stderr.contains("DEBUG") && shown.stderr.contains("realm=\"aperture\""), "{shown}");
    assert!(shown.stderr.contains("operation=\"realm_status\""), "{shown}");
    assert_eq!(shown.stdout, log("0").stdout);
    let file = world.path("blue.log");
    for _ in 0..2 {
        assert_eq!(log(file.to_str().unwrap()).stderr, "");
    }
    assert_eq!(world.read("blue.log").matches("\"realm_status\"").count(), 2);
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let loud = log("loud");
    assert!(loud.stderr.contains("warning: cannot write the log: GIT_BLUE_LOG: \"loud\""), "{loud}");
    let vars = [("GIT_BLUE_LOCK_TIMEOUT_MS", OsStr::new("10s"))];
    let ignored = world.blue_with(&dir, &["status", "--peek"], &vars).exits(0);
    let remark = "warning: GIT_BLUE_LOCK_TIMEOUT_MS is ignored: \"10s\" is not a number of milliseconds\n";
    assert!(ignored.stderr.starts_with(remark), "{ignored}");
    // A write logs the ref that it moved.
    let write = world.blue_with(
        &dir,
        &["realm", "admin", "domain", "--name", "more", "--repos", "access"],
        &[("GIT_BLUE_LOG", OsStr::new("debug"))],
    );
    assert!(write.stderr.contains("wrote") && write.stderr.contains("refs/blue/domains/more"), "{write}");
}

#[test]
fn init_asks_once_about_automatic_sync() {
    let world = World::solo();
    world.hub();
    let line = format!("echo y | git-blue init --url {}", world.path("hub.git").display());
    let first = at_terminal(&world, "fungal", &line, &[]);
    assert!(first.contains("Sync this realm automatically? [y/N]"), "{first}");
    assert!(first.contains("automatic sync is on"), "{first}");
    let again = at_terminal(&world, "fungal", &line, &[]);
    assert!(!again.contains("[y/N]") && again.contains("automatic sync is on"), "{again}");
}

/// As in git, times are in the time zone of the user.
#[test]
fn times_are_local() {
    let world = World::pair();
    let dir = world.path("fungal");
    let log = |zone: &str| {
        let output = world.command("git-blue", &dir).args(["realm", "log"]).env("TZ", zone).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let hours = |zone: &str| {
        let text = log(zone);
        let time = text.lines().next().unwrap().split_whitespace().find(|word| word.contains(':')).unwrap().to_owned();
        time.split(':').next().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!((hours("UTC") + 9) % 24, hours("JST-9"), "{}", log("JST-9"));
}

/// Times are entered as they are shown.
#[test]
fn times_are_entered_as_they_are_shown() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.set("GIT_BLUE_NOW", "2026-03-02T12:30:20Z");
    world.bump("1.1.0");
    let count = |zone: &str, period: &[&str]| {
        let mut command = world.command("git-blue", &dir);
        let output = command.args(["realm", "log", "--json"]).args(period).env("TZ", zone).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["entries"].as_array().unwrap().len()
    };
    // It is 01:30 on the next day in Auckland.
    assert_eq!(count("NZDT-13", &["--since", "2026-03-03", "--until", "2026-03-03 01:30"]), 1);
    assert_eq!(count("NZDT-13", &["--since", "2026-03-03 01:31"]), 0);
    assert_eq!(count("UTC", &["--since", "2026-03-03"]), 0);
    assert_eq!(count("UTC", &["--since", "2026-03-02 12:30:21"]), 0);
    let at = |zone: &str, time: &str| {
        let mut command = world.command("git-blue", &dir);
        command.args(["contract", "get", "s3-access/s3-permissions", "--json", "--at", time]);
        let output = command.env("TZ", zone).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["current_version"].clone()
    };
    assert_eq!(at("UTC", "2026-03-02 12:29"), "1.0.0");
    assert_eq!(at("UTC", "2026-03-02 12:30"), "1.1.0");
    assert_eq!(at("NZDT-13", "2026-03-02 23:59"), "1.0.0");
}

/// git passes the settings of `git -c` in a variable.
#[test]
fn settings_of_the_git_command_count() {
    let world = World::pair();
    let status = |setting: &str| world.git(&world.path("fungal"), &["-c", setting, "blue", "status"]).stdout;
    for setting in ["color.ui=always", "color.blue=always"] {
        assert!(status(setting).contains('\u{1b}'), "{setting}");
    }
    assert!(!status("color.ui=auto").contains('\u{1b}'));
}

/// As in git, each directory is relative to the one before, and an empty one is ignored.
#[test]
fn directories_add_up() {
    let world = World::pair();
    let place = world.root();
    let status = world.ok(&place, &["-C", "fungal", "-C", "", "-C", "../access", "status"]);
    assert!(status.stdout.contains("access in the realm"), "{status}");
    world.ok(&place, &["-C", "fungal", "check"]);
}
