//! Runs the job in `docs/ci.md` in a clone on a machine without a realm.

use std::path::Path;

use crate::{ROOT, scripted::Scripted};

/// Returns the lines of the job's `run: |`.
fn job() -> String {
    let text = std::fs::read_to_string(Path::new(ROOT).join("docs/ci.md")).unwrap();
    let (_, run) = text.split_once("- run: |\n").unwrap();
    run.lines().take_while(|line| !line.starts_with("```")).map(|line| format!("{}\n", line.trim_start())).collect()
}

#[test]
fn documented_job_passes_and_fails() {
    let place = Scripted::realm();
    let setup = "
        set -e
        git -C aperture switch -q -c pull-request
        sed 's/\"1.0.0\"/\"2.0.0\"/' aperture/.blue/contracts/s3-access/s3-permissions.yaml >new
        mv new aperture/.blue/contracts/s3-access/s3-permissions.yaml
        git -C aperture commit -q -a -m 'A new major version'
        export REALM=\"$HOME/.blue/realms/aperture.git\" HOME=\"$PWD/runner\"
        unset GIT_BLUE_HOME
        mkdir runner
        git clone -q aperture clone";
    for (commit, expected, text) in [("main", 0, "ok: 0 errors"), ("pull-request", 1, "fungal imports")] {
        // A CI runner checks out a commit, not a branch.
        let script = format!("{setup}\ncd clone\ngit checkout -q --detach origin/{commit}\nset +e\n{}", job());
        let (code, output) = place.shell(&script);
        assert_eq!(code, expected, "{commit}: {output}");
        assert!(output.contains(text), "{commit}: {output}");
        place.shell("rm -rf clone runner; git -C aperture switch -q main; git -C aperture branch -q -D pull-request");
    }
}
