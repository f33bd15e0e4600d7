//! The rows: the commands that are measured, and their floors.

/// A row: a command, the floor that it is compared with, and the maximum ratio of their costs.
pub struct Row {
    pub name: &'static str,
    /// A shell command that runs before each measured command and is not measured.
    pub before: &'static str,
    pub measured: Side,
    pub floor: Side,
    pub budget: Option<f64>,
    /// The number of runs of each side.
    pub runs: usize,
}

/// A command in a folder.
pub struct Side {
    pub name: &'static str,
    pub folder: &'static str,
    pub arguments: &'static [&'static str],
    /// The file that is its standard input, relative to the place.
    pub input: Option<&'static str>,
}

const fn side(name: &'static str, folder: &'static str, arguments: &'static [&'static str]) -> Side {
    Side { name, folder, arguments, input: None }
}

const REV_PARSE: Side = side("git rev-parse HEAD", "fungal", &["git", "rev-parse", "HEAD"]);
const COMMIT: &[&str] = &["git", "commit", "--quiet", "--allow-empty", "-m", "x"];
const CAT_FILE: Side = Side {
    name: "git cat-file --batch",
    folder: "home/.blue/realms/aperture.git",
    arguments: &["git", "cat-file", "--batch"],
    input: Some("objects"),
};
const STATUS: &[&str] = &["git", "blue", "status"];
const CHECK: &[&str] = &["git", "blue", "check"];
const FORGET: &str = "rm -rf home/.blue/realms/aperture.git/blue/cache";
/// Makes a change once the store is older than a minute, as a user's usually is: the folders of a younger one are flushed
/// too. `find -newerBt` is not used, because some builds of find cannot read the time of creation.
const CHANGE_IN_OLD_STORE: &str = "newest() { stat -c %W home/.blue/realms/aperture.git/*/ | sort -n | tail -n 1; }
    while [ \"$(newest)\" -gt $(($(date +%s) - 61)) ]; do sleep 1; done
    sh change.sh";

const SYNC: &[&str] = &["sh", "-c", "GIT_BLUE_HOME=\"${PWD%/*}/shared\" exec git blue sync"];
const FETCH_AND_PUSH: &str = "git fetch --quiet origin && git push --quiet origin 'refs/blue/*:refs/blue/*'";

/// All rows, in the order of the design's table of budgets.
pub const ROWS: &[Row] = &[
    Row {
        name: "status, warm",
        before: "",
        measured: side("", "fungal", STATUS),
        floor: REV_PARSE,
        budget: Some(4.0),
        runs: 60,
    },
    Row {
        name: "status, refs listed again",
        before: "touch home/.blue/realms/aperture.git/refs/blue/domains",
        measured: side("", "fungal", STATUS),
        floor: REV_PARSE,
        budget: None,
        runs: 60,
    },
    Row {
        name: "git's own way to git-blue",
        before: "",
        measured: side("", "fungal", &["git", "blue", "--version"]),
        floor: REV_PARSE,
        budget: None,
        runs: 60,
    },
    Row {
        name: "status, cold",
        before: FORGET,
        measured: side("", "fungal", STATUS),
        floor: CAT_FILE,
        budget: Some(3.0),
        runs: 5,
    },
    Row {
        name: "git-blue contract get",
        before: "",
        measured: side("", "fungal", &["git-blue", "contract", "get", "s3-access/s3-permissions"]),
        floor: REV_PARSE,
        budget: Some(2.0),
        runs: 60,
    },
    Row {
        name: "the same, in a large domain",
        before: "",
        measured: side("", "fungal", &["git-blue", "contract", "get", "domain-00000/contract-00"]),
        floor: REV_PARSE,
        budget: Some(2.0),
        runs: 60,
    },
    Row {
        name: "notifications list",
        before: "",
        measured: side("", "fungal", &["git-blue", "notifications", "list"]),
        floor: REV_PARSE,
        budget: None,
        runs: 60,
    },
    Row {
        name: "status --peek",
        before: "",
        measured: side("", "fungal", &["git-blue", "status", "--peek"]),
        floor: REV_PARSE,
        budget: None,
        runs: 20,
    },
    Row {
        name: "prime, the text of a session",
        before: "",
        measured: side("", "fungal", &["git-blue", "prime"]),
        floor: REV_PARSE,
        budget: None,
        runs: 20,
    },
    Row {
        name: "in all domains: status",
        before: "",
        measured: side("", "aperture", STATUS),
        floor: REV_PARSE,
        budget: Some(6.0),
        runs: 20,
    },
    Row {
        name: "in all domains: contract get",
        before: "",
        measured: side("", "aperture", &["git-blue", "contract", "get", "domain-00000/contract-00"]),
        floor: REV_PARSE,
        budget: Some(2.0),
        runs: 20,
    },
    Row {
        name: "in all domains: notifications list",
        before: "",
        measured: side("", "aperture", &["git-blue", "notifications", "list"]),
        floor: REV_PARSE,
        budget: None,
        runs: 20,
    },
    Row {
        name: "in all domains: prime",
        before: "",
        measured: side("", "aperture", &["git-blue", "prime"]),
        floor: REV_PARSE,
        budget: None,
        runs: 20,
    },
    Row {
        name: "in all domains: check, unchanged",
        before: "",
        measured: side("", "aperture", CHECK),
        floor: CAT_FILE,
        budget: Some(0.3),
        runs: 10,
    },
    Row {
        name: "a hook with nothing to publish",
        before: "",
        measured: side("", "fungal", COMMIT),
        floor: side("with an empty sh hook", "plain", COMMIT),
        budget: Some(1.6),
        runs: 60,
    },
    Row {
        name: "the hook's own process",
        before: "",
        measured: side("", "fungal", &["git-blue", "hook", "post-commit"]),
        floor: REV_PARSE,
        budget: None,
        runs: 60,
    },
    Row {
        name: "publish one change",
        before: CHANGE_IN_OLD_STORE,
        measured: side("", "aperture", &["git", "blue", "contract", "publish", "--quiet"]),
        floor: side(
            "git commit, all flushed",
            "plain",
            &[
                "git",
                "-c",
                "core.fsync=all",
                "-c",
                "core.hooksPath=/dev/null",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "x",
            ],
        ),
        budget: Some(1.8),
        runs: 20,
    },
    Row {
        name: "check, cold",
        before: FORGET,
        measured: side("", "fungal", CHECK),
        floor: CAT_FILE,
        budget: Some(20.0),
        runs: 3,
    },
    Row {
        name: "check, unchanged",
        before: "",
        measured: side("", "fungal", CHECK),
        floor: CAT_FILE,
        budget: Some(0.3),
        runs: 10,
    },
    Row {
        name: "8 processes, 80 writes",
        before: "",
        measured: side("", "fungal", &["sh", "../write.sh", "8", "10"]),
        floor: side("1 process, 80 writes", "fungal", &["sh", "../write.sh", "1", "80"]),
        budget: Some(1.43),
        runs: 3,
    },
    Row {
        name: "sync, nothing new",
        before: "sh share.sh",
        measured: side("", "sharing", SYNC),
        floor: side("git fetch of the same refs", "plain.git", &["sh", "-c", "exec git fetch origin"]),
        budget: Some(1.5),
        runs: 20,
    },
    Row {
        name: "sync of one change",
        before: "sh share.sh change",
        measured: side("", "sharing", SYNC),
        floor: side("git fetch && git push", "plain.git", &["sh", "-c", FETCH_AND_PUSH]),
        budget: Some(2.0),
        runs: 20,
    },
];

/// The commands whose memory is measured.
pub const MEMORY: &[Side] = &[
    side("memory: status", "fungal", STATUS),
    side("memory: contract get", "fungal", &["git", "blue", "contract", "get", "s3-access/s3-permissions"]),
    side("memory: check", "fungal", CHECK),
    side("memory: status, nothing kept", "fungal", &["git", "blue", "status", "--no-cache"]),
    side("memory: check, nothing kept", "fungal", &["git", "blue", "check", "--no-cache"]),
    side("memory: contract list", "fungal", &["git", "blue", "contract", "list"]),
    side("memory: topology", "fungal", &["git", "blue", "topology"]),
    side("memory, in all domains: status", "aperture", STATUS),
    side("memory, in all domains: check", "aperture", CHECK),
];
