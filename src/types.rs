//! The names, versions and other parts of the answers in [`wire`](crate::wire). Each is created from text by `parse`,
//! whose error says what is wrong.

#[doc(inline)]
pub use crate::model::{
    check::{Cause, Finding, SchemaHash, Severity},
    contract::{Compatibility, Deprecated, Evolution, Retirement, Validation, Yanked},
    diff::{Difference, Kind as DifferenceKind},
    json::Json,
    name::{ContractName, ContractRef, DomainName, NameError, ReaderName, RealmName, RemoteName, RepoName, RfcName},
    notification::{ChangeType, ImportChange},
    oid::{Oid, OidError},
    range::{Range, RangeError},
    session::{SessionId, State as SessionState, Work},
    set_aside::{Decision as Settlement, Rule, RuleViolation},
    version::{Version, VersionError},
};
