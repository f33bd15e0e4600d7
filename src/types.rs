//! The names, versions and other parts that the answers of [`wire`](crate::wire) are made of. Each is made
//! from text by `parse`, which says what is wrong with it.

#[doc(inline)]
pub use crate::model::{
    check::{Cause, Finding, SchemaHash, Severity},
    contract::{Compatibility, Deprecated, Evolution, Validation},
    diff::{Difference, Kind as DifferenceKind},
    json::Json,
    name::{ContractName, ContractRef, DomainName, NameError, ReaderName, RealmName, RemoteName, RepoName, RfcName},
    notification::ChangeType,
    oid::{Oid, OidError},
    range::{Range, RangeError},
    session::{SessionId, State as SessionState, Work},
    set_aside::{Breach, Rule, Verdict as Settlement},
    version::{Version, VersionError},
};
