//! The programs in `examples/`, run in a realm of their own.

use std::{path::PathBuf, process::Output};

use git_blue::testing::{example::Example, sandbox::Sandbox};

/// Returns the program of an example, which `cargo test` builds.
fn program(name: &str) -> PathBuf {
    // From target/debug/deps/examples-… to target/debug/examples/NAME.
    let env = git_blue::env::Env::from_process().unwrap();
    let program = env.exe().ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(program.is_file(), "{} is missing: cargo build --examples makes it", program.display());
    program
}

fn run(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> Output {
    let program = program(name);
    sandbox.command(program.to_str().unwrap(), &sandbox.path()).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn machine_can_be_sent_to_threads() {
    fn is_sent<T: Clone + Send + Sync + 'static>(_: &T) {}
    is_sent(&Example::new().machine());
}

#[test]
fn relative_home_folder_is_refused() {
    let (example, home) = (Example::new(), "home/.blue");
    let env = example.sandbox().env(example.sandbox().path()).with("GIT_BLUE_HOME", home);
    let Err(error) = git_blue::Machine::with_env(env) else { panic!("accepted") };
    assert!(error.message().contains("not an absolute path"), "{}", error.message());
}

#[test]
fn status_example_prints_pending_changes() {
    let example = Example::new();
    let first = run(example.sandbox(), "status", &["access"]);
    let quiet = "access in the realm aperture\nimports s3-access/s3-permissions >=1.0.0, <2.0.0: current\n";
    assert_eq!(text(&first.stdout), format!("{quiet}0 pending\n"), "{first:?}");
    example.commit("fungal", "1.1.0");
    example.machine().repository(example.folder("fungal")).unwrap().publish().unwrap();
    for _ in 0..2 {
        // Reading marks nothing as seen.
        let second = run(example.sandbox(), "status", &["access"]);
        let news = "pending: fungal changed s3-access/s3-permissions\n1 pending\n";
        assert_eq!(text(&second.stdout), format!("{quiet}{news}"), "{second:?}");
    }
}

#[test]
fn status_example_reports_a_missing_realm() {
    let sandbox = Sandbox::new();
    sandbox.git(&sandbox.path(), &["init", "-q", "alone"]);
    let output = run(&sandbox, "status", &["alone"]);
    assert!(!output.status.success());
    let said = text(&output.stderr);
    assert!(said.starts_with("not-in-realm: ") && said.contains("\nnext: git blue init --realm …"), "{said}");
}

#[test]
fn compare_schemas_example_prints_a_witness() {
    let sandbox = Sandbox::new();
    let write = |name: &str, schema: &str| std::fs::write(sandbox.path().join(name), schema).unwrap();
    write("old.json", r#"{"type": "integer"}"#);
    write("new.json", r#"{"type": ["integer", "string"]}"#);
    write("wrong.json", r#"{"type": 1}"#);
    let output = run(&sandbox, "compare_schemas", &["old.json", "new.json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stdout);
    assert!(said.ends_with("incompatible; needs a major version\n") && said.contains("as \""), "{said}");
    let output = run(&sandbox, "compare_schemas", &["old.json", "old.json"]);
    assert_eq!((output.status.code(), text(&output.stdout).contains("compatible in both")), (Some(0), true));
    let output = run(&sandbox, "compare_schemas", &["wrong.json", "old.json"]);
    assert_eq!((output.status.code(), text(&output.stderr).contains("not a valid JSON Schema")), (Some(2), true));
}
