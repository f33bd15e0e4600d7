//! Tests that this machine cannot run.

use git_blue::env::Env;

/// Reports that a test is left out. If `GIT_BLUE_TEST_NO_SKIP` is set, that is a failure: `.ci/run` sets it where every
/// test can run, because nobody sees what a passing test prints.
#[track_caller]
#[expect(clippy::print_stderr, reason = "the output of a test")]
pub fn left_out(reason: &str) {
    let env = Env::from_process().unwrap();
    assert!(env.var("GIT_BLUE_TEST_NO_SKIP").is_none(), "left out: {reason}");
    eprintln!("left out: {reason}");
}
