//! Tools that the user declares in git configuration.

use serde_json::{Value, json};

use crate::{
    client::{Client, LEGACY},
    left_out::left_out,
    running::is_running,
    wait::eventually,
    world::World,
};

/// Declares tools in the user's own configuration.
fn declare(world: &World, config: &str) {
    let path = world.path("home/gitconfig");
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, before + config).unwrap();
}

fn names(client: &mut Client) -> Vec<String> {
    let list = client.request("tools/list", json!({}));
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tool_gets_arguments_and_its_output_is_the_answer() {
    let world = World::pair();
    declare(
        &world,
        "[blue \"mcp.tool.echo\"]\n\tcommand = cat\n\tdescription = Says it again\n\treadOnly = true\n\
         [blue \"mcp.tool.place\"]\n\tcommand = \"sh -c 'pwd; echo $0; env | grep -c ^GIT_DIR' '$HOME ; x'\"\n",
    );
    world.bump("1.1.0");
    let folder = world.path("access/cdk");
    let mut client = Client::with(&world, &folder, LEGACY, &[], &[("GIT_DIR", "/nowhere")]);
    // As with every other tool, pending notifications are included.
    let arguments = json!({"env": "staging", "deep": [1, null, "\u{1b}[2J"]});
    let answer = client.ok("echo", arguments.clone());
    assert_eq!(answer["output"], arguments);
    assert_eq!(
        (&answer["truncated"], &answer["notifications"][0]["contract"]),
        (&json!(false), &json!("s3-permissions"))
    );
    assert_eq!(client.ok("realm_status", json!({}))["notifications"], json!([]));
    // In the project, without a shell, and without variables that name another repository.
    let failure = client.fails("place", json!({}));
    assert_eq!(failure["message"], format!("place: exit status: 1: {}\n$HOME ; x\n0", world.path("access").display()));
    // The project of the call.
    let elsewhere = world.path("fungal").display().to_string();
    let failure = client.fails("place", json!({"cwd": elsewhere}));
    assert!(failure["message"].as_str().unwrap().contains(&elsewhere), "{failure}");
    assert_eq!(client.fails("place", json!({"cwd": 3}))["message"], "cwd must be a string");
}

#[test]
fn only_user_configuration_declares_tools() {
    let world = World::pair();
    declare(
        &world,
        "[blue \"mcp.tool.mine\"]\n\tcommand = true\n[blue \"mcp.tool.look\"]\n\tcommand = true\n\treadOnly\n",
    );
    declare(
        &world,
        "[blue \"mcp.tool.realm_status\"]\n\tcommand = false\n[blue \"mcp.tool.near\"]\n\tcommand = ./x.sh\n",
    );
    let path = world.path("access");
    world.git(&path, &["config", "blue.mcp.tool.theirs.command", "true"]);
    let mut client = Client::with(&world, &path, LEGACY, &[], &[]);
    let all = names(&mut client);
    assert_eq!(all[all.len() - 2..], ["mine", "look"]);
    assert!(!all.contains(&"theirs".to_owned()) && !all.contains(&"near".to_owned()));
    assert_eq!(client.ok("realm_status", json!({}))["realm"], "aperture");
    assert_eq!(client.refusal("tools/call", json!({"name": "theirs"})).0, -32602);
    let mut client = Client::with(&world, &path, LEGACY, &["--read-only"], &[]);
    let all = names(&mut client);
    assert!(all.contains(&"look".to_owned()) && !all.contains(&"mine".to_owned()));
    assert_eq!(client.refusal("tools/call", json!({"name": "mine"})).0, -32602);
    // The command line prints the same list, with the reasons for omissions.
    let listed = world.blue(&path, &["mcp", "list-tools"]).exits(0);
    assert!(listed.stdout.contains("\nmine\n") && listed.stdout.contains("Runs /"), "{listed:?}");
    for said in ["blue.mcp.tool.realm_status: its name is reserved", "./x.sh is a relative path"] {
        assert!(listed.stderr.contains(said), "{listed:?}");
    }
    let tested = world.blue(&path, &["mcp", "test-tool", "look"]).exits(0);
    assert_eq!(tested.json()["output"], "");
}

#[test]
fn timed_out_or_cancelled_tool_is_killed_with_its_children() {
    let world = World::pair();
    // A duration that no other process on this machine sleeps for.
    let marks = [1, 2, 3].map(|n| format!("{}.{}{n}", 3_000, std::process::id()));
    for (name, mark) in ["late", "cancelled", "left"].iter().zip(&marks) {
        let timeout = if *name == "late" { "\ttimeout = 1\n" } else { "" };
        declare(
            &world,
            &format!("[blue \"mcp.tool.{name}\"]\n\tcommand = sh -c 'sleep {mark} & sleep {mark}'\n{timeout}"),
        );
    }
    let mut client = Client::start(&world, &world.path("access"));
    assert_eq!(client.fails("late", json!({}))["code"], "tool-timeout");
    eventually("it was killed", || !is_running(&marks[0]));
    let id = client.post("tools/call", json!({"name": "cancelled", "arguments": {}}));
    eventually("it was started", || is_running(&marks[1]));
    // Other calls do not wait for it.
    client.ok("realm_status", json!({}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    eventually("it was killed", || !is_running(&marks[1]));
    client.post("tools/call", json!({"name": "left", "arguments": {}}));
    eventually("it was started", || is_running(&marks[2]));
    client.hang_up();
    eventually("it was killed", || !is_running(&marks[2]));
}

#[test]
fn processes_that_left_the_session_are_killed() {
    if !cfg!(target_os = "linux") {
        return left_out("only Linux finds a process that left its group and session");
    }
    let world = World::pair();
    let marks = [1, 2, 3].map(|n| format!("{}.{}{n}", 4_000, std::process::id()));
    // A grandchild in its own session, without parent and environment.
    let away =
        |mark: &str| format!("(env -i setsid sh -c \\\"(sleep {mark} &) ; exit\\\" &) ; (setsid -f sleep {mark})");
    for ((name, then), mark) in [("done", "sleep 0.3"), ("late", "sleep 100"), ("left", "sleep 100")].iter().zip(&marks)
    {
        let timeout = if *name == "late" { "\ttimeout = 1\n" } else { "" };
        let line = format!("sh -c '{} ; {then}'", away(mark));
        declare(&world, &format!("[blue \"mcp.tool.{name}\"]\n\tcommand = \"{line}\"\n{timeout}"));
    }
    let mut client = Client::start(&world, &world.path("access"));
    client.post("tools/call", json!({"name": "done", "arguments": {}}));
    eventually("it was started", || is_running(&marks[0]));
    client.ok("realm_status", json!({}));
    eventually("it was killed once its command had ended", || !is_running(&marks[0]));
    assert_eq!(client.fails("late", json!({}))["code"], "tool-timeout");
    eventually("it was killed once its time was over", || !is_running(&marks[1]));
    client.post("tools/call", json!({"name": "left", "arguments": {}}));
    eventually("it was started", || is_running(&marks[2]));
    // The server cannot clean up.
    client.child.kill().unwrap();
    eventually("it was killed once nobody was there", || !is_running(&marks[2]));
}

#[test]
fn tool_gets_no_secrets_except_those_named() {
    let world = World::pair();
    declare(
        &world,
        "[blue \"mcp.tool.names\"]\n\tcommand = \"sh -c 'env | cut -d= -f1 | sort'\"\n\
         [blue \"mcp.tool.more\"]\n\tcommand = \"sh -c 'echo $GH_TOKEN $AWS_PROFILE'\"\n\tenv = GH_TOKEN, AWS_PROFILE\n",
    );
    let vars =
        ["GITHUB_TOKEN", "GH_TOKEN", "CI_JOB_TOKEN", "AWS_PROFILE", "MY_API_KEY", "PLAIN"].map(|name| (name, "x"));
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &vars);
    let answer = client.ok("names", json!({}));
    let names: Vec<_> = answer["output"].as_str().unwrap().lines().collect();
    assert!(names.contains(&"PLAIN") && names.contains(&"PATH") && names.contains(&"GIT_BLUE_HOME"), "{names:?}");
    for name in ["GITHUB_TOKEN", "GH_TOKEN", "CI_JOB_TOKEN", "AWS_PROFILE", "MY_API_KEY"] {
        assert!(!names.contains(&name), "{names:?}");
    }
    assert_eq!(client.ok("more", json!({}))["output"], "x x\n");
}

#[test]
fn endless_output_is_truncated() {
    let world = World::pair();
    declare(
        &world,
        "[blue \"mcp.tool.much\"]\n\tcommand = seq 1000000\n\
         [blue \"mcp.tool.rude\"]\n\tcommand = \"sh -c 'head -c 100000 /dev/urandom; exit 3'\"\n\
         [blue \"mcp.tool.leaves\"]\n\tcommand = \"sh -c 'sleep 100 & echo done'\"\n",
    );
    let mut client = Client::start(&world, &world.path("access"));
    let answer = client.ok("much", json!({"ignored": "x".repeat(200_000)}));
    assert_eq!(answer["truncated"], true);
    assert!(
        answer["output"].as_str().unwrap().starts_with("1\n2\n") && answer["cut"] == json!(["/output"]),
        "{answer:?}"
    );
    let failure = client.fails("rude", json!({}));
    assert!(failure["message"].as_str().unwrap().starts_with("rude: exit status: 3"), "{failure}");
    assert_eq!(client.ok("leaves", json!({}))["output"], Value::from("done\n"));
}
