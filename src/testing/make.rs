//! Helpers for many tests: changes to commit, and the first commit of a realm.

use std::time::Duration;

use jiff::{Zoned, civil::date, tz::TimeZone};

use crate::{
    model::{
        name::RealmName,
        realm::{Cycles, FORMAT, Realm},
    },
    store::{Change, Edit, Parents, Signature, TreePath, codec, git::Options, layout},
};

/// Returns a change by Ada, at noon of 24 January 2026 in the offset +01:00, on top of the tip.
///
/// # Panics
/// Never panics, because that time exists.
pub fn change(message: &str, edits: impl IntoIterator<Item = (TreePath, Edit)>) -> Change {
    let author = Signature { name: "Ada".into(), email: "ada@example.org".into(), time: noon() };
    Change {
        edits: edits.into_iter().collect(),
        message: message.into(),
        author,
        committer: None,
        parents: Parents::Tip,
    }
}

fn noon() -> Zoned {
    let zone = TimeZone::fixed(jiff::tz::offset(1));
    date(2026, 1, 24).at(12, 0, 0, 0).to_zoned(zone).expect("a fixed zone has every moment")
}

/// Returns the edit that writes `bytes` at `path`.
pub fn put(path: TreePath, bytes: impl Into<Vec<u8>>) -> (TreePath, Edit) {
    (path, Edit::Put(bytes.into()))
}

/// Returns the first change of a realm.
pub fn realm(name: RealmName) -> Change {
    let realm = Realm { format: FORMAT, name, cycles: Cycles::default() };
    change("Make the realm\n", [put(layout::realm(), codec::encode(&realm))])
}

/// Returns the options for stores in tests, which do not wait long for locks.
pub fn options() -> Options {
    Options { lock_timeout: Duration::from_secs(20), seed: 1, cache: true, holds: false, on_wait: None }
}
