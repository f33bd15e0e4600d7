//! Fuzz targets: the functions that parse bytes from users or other machines. None of them may panic, and whatever is
//! parsed must survive being written and parsed again. `tests/fuzz.rs` runs them briefly, and `fuzz/` for as long as
//! you like.

use std::{
    fmt::{Debug, Display},
    str::FromStr,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    model::{
        binding::Binding,
        contract::Contract,
        domain::{Domain, Source},
        name::{ContractName, ContractRef, DomainName, ReaderName, RealmName, RepoName, RfcName},
        oid::Oid,
        range::Range,
        realm::{Realm, Repo},
        session::{Session, SessionId},
        version::Version,
    },
    ops::{inboxes::inbox::DeliveredNotification, message, session::marker::SessionRef, sync::url},
    store::{StoreRef, codec, git, layout},
    surface::mcp::jsonrpc_frame::{self, Frame},
};

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, which is also the name of its file in `fuzz/fuzz_targets/`.
    pub name: &'static str,
    /// Parses the bytes. Returns whether they were accepted.
    pub run: fn(&[u8]) -> bool,
    /// Valid inputs to start from.
    pub seeds: &'static [&'static str],
}

const CONTRACT: &str = r#"{"name": "paths", "version": "1.4.0", "owner": "fungal", "description": "a\u00e9", "compatibility": {"backwards": true, "forwards": false}, "supported": [">=1.2.0, <1.4.0"], "schema": {"type": "object"}, "value": {"read": ["x", 1, 0.1, -1e-7, null, true]}, "validation": {"exporter": "a.sh", "ci_only": ["b.sh"]}, "evolution": [{"version": "1.0.0", "changes": ["First"], "compatible": true}], "deprecated": {"since": "1.3.0", "sunset": "2027-01-01", "replaced_by": "other"}}"#;
const BINDING: &str = r#"{"role": "both", "exports": [{"contract": "paths", "source_files": ["a.py"]}], "imports": [{"contract": "topics", "version": ">=1.0.0", "binding": "b.ts"}]}"#;
const TOLD: &str = r#"[{"at": "2026-01-22T09:00:00Z", "notification": {"affects_me": false, "arrived_at": "2026-01-22T09:00:00Z", "change_type": "ContractAdded", "changes": {"new_version": "1.1.0", "old_version": null}, "version_count": 2, "contract": "paths", "created_at": "2026-01-22T09:00:00Z", "domain": "s3", "from_repo": "aperture", "id": "notif-3f6ef35cce0b", "import_state": null, "realm": "r", "rollback": false, "state": "seen", "type": "contract_added"}}]"#;
const SESSION: &str = r#"{"active_rfc": "team/rfc-0042", "ended": null, "id": "sess-18f5a2b3c4d", "last_activity": "2026-01-24T10:05:00Z", "repo": "blue", "start": {"s3": "0123456789abcdef0123456789abcdef01234567"}, "started_at": "2026-01-24T10:00:00Z"}"#;
const ENDED: &str = r#"{"active_rfc": null, "ended": {"at": "2026-01-24T12:15:00Z", "work": {"active_domains": ["s3"], "contracts_changed": [], "contracts_modified": ["s3/paths"], "contracts_watched": []}}, "id": "sess-1", "last_activity": "2026-01-24T10:05:00Z", "repo": "blue", "start": {}, "started_at": "2026-01-24T10:00:00Z"}"#;
const OID: &str = "0123456789abcdef0123456789abcdef01234567";

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "json_contract", run: stored::<Contract>, seeds: &[CONTRACT] },
    Target { name: "json_binding", run: stored::<Binding>, seeds: &[BINDING] },
    Target {
        name: "json_domain",
        run: stored::<Domain>,
        seeds: &[r#"{"name": "s3", "description": "d", "members": ["a", "b"]}"#],
    },
    Target { name: "json_realm", run: stored::<Realm>, seeds: &[r#"{"format": 1, "name": "r"}"#] },
    Target {
        name: "json_repo",
        run: stored::<Repo>,
        seeds: &[
            r#"{"name": "a", "url": "https://host/a.git", "roots": ["0123456789abcdef0123456789abcdef01234567"]}"#,
        ],
    },
    Target {
        name: "json_source",
        run: stored::<Source>,
        seeds: &[r#"{"commit": "0123456789abcdef0123456789abcdef01234567"}"#],
    },
    Target { name: "json_told", run: stored::<Vec<DeliveredNotification>>, seeds: &[TOLD] },
    Target { name: "json_session", run: session, seeds: &[SESSION, ENDED] },
    Target {
        name: "yaml_contract",
        run: yaml_contract,
        seeds: &[
            CONTRACT,
            "name: paths\nversion: \"1.4.0\"\nowner: fungal\nvalue:\n  - a: |\n      text\n    b: 'x'\n",
        ],
    },
    Target {
        name: "yaml_binding",
        run: yaml_binding,
        seeds: &[BINDING, "role: provider\nexports: [{contract: paths}]\n"],
    },
    Target {
        name: "yaml_config",
        run: yaml_config,
        seeds: &["realm: { name: aperture, url: https://host/r.git }\nrepo: fungal\n"],
    },
    Target {
        name: "yaml_value",
        run: yaml_value,
        seeds: &["a: [1, 0.1, -1e-7, ~, true, \"no\", 2026-01-01]\nb: |\n  text\n", CONTRACT],
    },
    Target { name: "name", run: name, seeds: &["s3-access", "a.b_c"] },
    Target { name: "contract_ref", run: typed::<ContractRef>, seeds: &["s3-access/paths"] },
    Target { name: "version", run: version, seeds: &["1.4.0", "1.0.0-rc.1"] },
    Target { name: "range", run: typed::<Range>, seeds: &[">=1.0.0, <2.0.0", "^1.2 ~1.2.3"] },
    Target { name: "rfc_name", run: rfc_name, seeds: &["rfc-0042-new-api", "team/rfc-0042"] },
    Target { name: "session_id", run: typed::<SessionId>, seeds: &["sess-18f5a2b3c4d"] },
    Target { name: "session_mark", run: typed::<SessionRef>, seeds: &["sess-18f5a2b3c4d aperture blue"] },
    Target { name: "oid", run: typed::<Oid>, seeds: &[OID] },
    Target {
        name: "inbox",
        run: inbox,
        seeds: &["refs/blue/local/inbox/a/shared", "refs/blue/local/inbox/a/reader/cli"],
    },
    Target { name: "file_name", run: file_name, seeds: &["paths.json", "1.4.0.json"] },
    Target { name: "url", run: url, seeds: &["https://host/x.git", "git@host:x.git", "ssh://git@host/x", "../x"] },
    Target {
        name: "commit_message",
        run: commit_message,
        seeds: &["paths 1.0.0\n\nwhy\n\nBlue-Repo: fungal\nBlue-Source-Commit: 0123\n"],
    },
    Target { name: "journal", run: journal, seeds: &["17 packed-refs.lock\n- refs/blue/domains/s3.lock\n"] },
    Target {
        name: "mcp_line",
        run: mcp_line,
        seeds: &[
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"realm_status","arguments":{"limit":3}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        ],
    },
];

/// Runs the target with this name.
///
/// # Panics
/// Panics if there is no such target, or it found a bug.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("the table has it");
    let _ = (target.run)(bytes);
}

/// Parses a stored file.
fn stored<T: DeserializeOwned + Serialize + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let Ok(read) = codec::decode::<T>(bytes) else { return false };
    let written = codec::encode(&read);
    let again = codec::decode::<T>(&written).expect("what was written can be read");
    assert_eq!(again, read);
    assert_eq!(codec::encode(&again), written);
    true
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Parses text, which must print as it was written.
fn typed<T: FromStr + Display + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let Some(Ok(read)) = text(bytes).map(T::from_str) else { return false };
    assert_eq!(read.to_string().parse().ok().as_ref(), Some(&read));
    assert_eq!(Some(&*read.to_string()), text(bytes));
    true
}

fn name(bytes: &[u8]) -> bool {
    let accepted = [
        typed::<RealmName>(bytes),
        typed::<RepoName>(bytes),
        typed::<DomainName>(bytes),
        typed::<ContractName>(bytes),
        typed::<ReaderName>(bytes),
    ];
    if let Some(Ok(name)) = text(bytes).map(DomainName::from_str) {
        let path = format!("/store/refs/{name}");
        assert_eq!(std::path::Path::new(&path).parent(), Some("/store/refs".as_ref()), "{name} leads elsewhere");
    }
    accepted == [true; 5]
}

fn rfc_name(bytes: &[u8]) -> bool {
    if let Some(Ok(name)) = text(bytes).map(RfcName::from_str) {
        let path = std::path::Path::new("/worktrees").join(name.to_string());
        let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
        assert!(path.starts_with("/worktrees") && path.components().count() > 2 && !climbs, "{name} leads elsewhere");
    }
    typed::<RfcName>(bytes)
}

/// Parses a stored session, whose methods must return for any time.
fn session(bytes: &[u8]) -> bool {
    if let Ok(read) = codec::decode::<Session>(bytes) {
        for now in [jiff::Timestamp::MIN, read.started_at, read.last_activity, jiff::Timestamp::MAX] {
            let ended = read.clone().ended(now, Default::default());
            assert_eq!(ended.end(now), read.end(now));
            let _ = (read.is_activity_due(now), read.is_forgotten(now), ended.is_forgotten(now));
            let _ = crate::model::session::duration(read.started_at, ended.end(now));
        }
    }
    stored::<Session>(bytes)
}

fn version(bytes: &[u8]) -> bool {
    if let Some(Ok(version)) = text(bytes).map(Version::from_str) {
        assert!(version.next_breaking() > version && version.next_compatible() > version, "{version} cannot be bumped");
    }
    typed::<Version>(bytes)
}

/// Parses a document written by people. Written out again, it must mean the same.
fn document<T: PartialEq + Debug>(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<T, codec::Problem>,
    render: impl Fn(&T) -> String,
) -> bool {
    let Ok(first) = read(bytes) else { return false };
    let written = render(&first);
    let again = read(written.as_bytes());
    assert_eq!(again.as_ref(), Ok(&first), "{written}");
    true
}

fn yaml_contract(bytes: &[u8]) -> bool {
    let name: ContractName = "paths".parse().expect("it is a name");
    let _ = codec::contract_lines(bytes);
    document(bytes, |bytes| codec::contract(bytes, &name), |read| codec::render(&codec::Typed::from(read)))
}

fn yaml_binding(bytes: &[u8]) -> bool {
    let _ = codec::binding_lines(bytes);
    document(bytes, codec::binding, codec::render)
}

fn yaml_config(bytes: &[u8]) -> bool {
    document(bytes, codec::config, codec::render)
}

fn yaml_value(bytes: &[u8]) -> bool {
    document(bytes, codec::value, codec::render)
}

fn inbox(bytes: &[u8]) -> bool {
    let Some(found) = text(bytes).and_then(StoreRef::inbox) else { return false };
    assert_eq!(Some(&*found.to_string()), text(bytes));
    true
}

fn file_name(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let name = layout::stem::<ContractName>(text).map(|name| name.to_string());
    let version = layout::stem::<Version>(text).map(|version| version.to_string());
    for stem in name.iter().chain(&version) {
        assert_eq!(format!("{stem}.json"), text);
    }
    name.is_some() || version.is_some()
}

fn url(bytes: &[u8]) -> bool {
    let Some(Ok(url)) = text(bytes).map(url::accept) else { return false };
    assert!(!url.starts_with('-') && !url.contains(char::is_control), "{url:?}");
    // As git's `is_urlschemechar`.
    let is_helper = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let helper = url.split_once("::").filter(|(name, _)| is_helper(name));
    assert_eq!(helper, None, "{url:?} names a transport helper");
    true
}

fn commit_message(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let (subject, repo, source) = message::parse(text);
    for line in [Some(&subject), repo.as_ref(), source.as_ref()].into_iter().flatten() {
        assert!(!line.contains('\n') && text.contains(line), "{line:?} is not in {text:?}");
    }
    repo.is_some() && source.is_some()
}

fn journal(bytes: &[u8]) -> bool {
    let top = std::path::Path::new("/store");
    let notes = String::from_utf8_lossy(bytes);
    let paths: Vec<_> = git::noted(&notes).map(|(_, path)| top.join(path)).collect();
    for path in &paths {
        let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
        let is_lock = path.as_os_str().as_encoded_bytes().ends_with(b".lock");
        assert!(path.starts_with(top) && is_lock && !climbs, "{path:?}");
    }
    !paths.is_empty()
}

/// Parses a line from an MCP client into a message or a protocol error.
fn mcp_line(bytes: &[u8]) -> bool {
    match jsonrpc_frame::read(bytes) {
        Frame::Message(message) => {
            serde_json::to_string(&message).expect("a message can be written");
            true
        }
        Frame::Wrong(error) => {
            let code = error.error.code.0;
            assert!([-32700, -32600, -32602].contains(&code), "{code}");
            assert!(error.error.message.len() < 600, "it quotes what it refuses");
            false
        }
        Frame::Nothing => false,
    }
}
