//! Maps failures to HTTP status codes.

use hyper::StatusCode;

use crate::error::{ErrorCode, Kind, OpError};

/// Returns the HTTP status code of a failure. The match is exhaustive, so every new error code needs a line here.
pub fn of(error: &OpError) -> StatusCode {
    use ErrorCode as Code;
    match error.code {
        Code::NoToken => StatusCode::UNAUTHORIZED,
        Code::LinkUsed | Code::ReadOnly | Code::WrongOrigin => StatusCode::FORBIDDEN,
        Code::BeforeRealm
        | Code::NoRoute
        | Code::NoSession
        | Code::NotInRealm
        | Code::UnknownChange
        | Code::UnknownCommit
        | Code::UnknownConflict
        | Code::UnknownContract
        | Code::UnknownDomain
        | Code::UnknownNotification
        | Code::UnknownOwner
        | Code::UnknownPart
        | Code::UnknownRealm
        | Code::UnknownReceiver
        | Code::UnknownRef
        | Code::UnknownRemote
        | Code::UnknownRepo
        | Code::UnknownRepository
        | Code::UnknownResource
        | Code::UnknownSession
        | Code::UnknownVersion => StatusCode::NOT_FOUND,
        Code::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
        Code::Timeout => StatusCode::REQUEST_TIMEOUT,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::WrongType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::WrongHost => StatusCode::MISDIRECTED_REQUEST,
        Code::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Code::Conflict | Code::Damaged | Code::Git | Code::Io => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Remote => StatusCode::BAD_GATEWAY,
        Code::Busy | Code::Locked => StatusCode::SERVICE_UNAVAILABLE,
        Code::Usage => StatusCode::BAD_REQUEST,
        // The request does not fit the state of the realm or of this machine.
        Code::AlreadyRunning
        | Code::BreaksPromise
        | Code::Cancelled
        | Code::CannotEdit
        | Code::ChangedSince
        | Code::ContractExists
        | Code::Contradiction
        | Code::Cycle
        | Code::DubiousOwnership
        | Code::Editor
        | Code::FetchFirst
        | Code::FileExists
        | Code::HoldsWork
        | Code::HookNotText
        | Code::InWorktree
        | Code::InvalidContract
        | Code::JoinedAlready
        | Code::NameCollision
        | Code::NameTaken
        | Code::NewerFormat
        | Code::NoBranches
        | Code::NoCommit
        | Code::NoEarlierVersion
        | Code::NoFolder
        | Code::NoForge
        | Code::NoHome
        | Code::NoIdentity
        | Code::NoPublishingBranch
        | Code::NoRealmThere
        | Code::NoRemote
        | Code::NoStore
        | Code::NoSuchFile
        | Code::NoWorkTree
        | Code::NoWorktrees
        | Code::NotAFile
        | Code::NotAPlainFile
        | Code::NotAgreed
        | Code::NotCloned
        | Code::NotCompared
        | Code::NotDamaged
        | Code::NotDelivered
        | Code::NotExported
        | Code::NotFetched
        | Code::NotHere
        | Code::NotImported
        | Code::NotInGit
        | Code::NotInRepo
        | Code::NotJoined
        | Code::NotMember
        | Code::NotOwner
        | Code::NotPublished
        | Code::NotPublishingBranch
        | Code::NotRunning
        | Code::NotStarted
        | Code::NotStopped
        | Code::NotText
        | Code::OldGit
        | Code::OlderCommit
        | Code::OnlyPreReleases
        | Code::OtherName
        | Code::OtherRealm
        | Code::OtherRepo
        | Code::OtherRepository
        | Code::OtherUrl
        | Code::PathTaken
        | Code::PortTaken
        | Code::Protocol
        | Code::RealmExists
        | Code::Refused
        | Code::ReftableStore
        | Code::RemoteDamaged
        | Code::Renamed
        | Code::Retired
        | Code::Settled
        | Code::Shallow
        | Code::StaleCursor
        | Code::StillImported
        | Code::StillMember
        | Code::StillNeeded
        | Code::Symlink
        | Code::TooManyFiles
        | Code::TooManyVersions
        | Code::TooMuch
        | Code::ToolFailed
        | Code::ToolTimeout
        | Code::Unchanged
        | Code::Undecided
        | Code::Unfit
        | Code::Unquotable
        | Code::UnreadableConfig
        | Code::UnreadableFile
        | Code::UnreadableSchema
        | Code::UnreadableSession
        | Code::VersionDown
        | Code::VersionReused
        | Code::YankedVersion
        | Code::BranchElsewhere
        | Code::InAWorktree
        | Code::InTheWay
        | Code::NoDefaultBranch
        | Code::NotCommitted
        | Code::NotPushed
        | Code::OtherBranch
        | Code::PathGone
        | Code::TwoClones
        | Code::Conflicts
        | Code::InTheMiddle
        | Code::WasClosed => match error.kind {
            Kind::Usage => StatusCode::BAD_REQUEST,
            Kind::No | Kind::Cannot => StatusCode::CONFLICT,
        },
    }
}
