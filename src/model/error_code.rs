//! The error codes, which are stable and the same on every surface.

use std::{borrow::Cow, fmt};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// A stable error code. `docs/troubleshooting.md` describes the solution for each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ErrorCode {
            /// All codes, in alphabetical order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the code as it is printed.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

codes! {
    /// The change was already approved, for another reason.
    AlreadyApproved = "already-approved",
    /// The clone has already joined a realm.
    AlreadyJoined = "already-joined",
    /// The daemon is already running.
    AlreadyRunning = "already-running",
    /// The conflict was already settled.
    AlreadySettled = "already-settled",
    /// There are several clones of a repository, and none is recorded.
    AmbiguousClone = "ambiguous-clone",
    /// Git refuses to use this bare repository unless it is named explicitly.
    BareRepository = "bare-repository",
    /// The realm did not exist at the requested time.
    BeforeRealm = "before-realm",
    /// The branch is checked out in another worktree.
    BranchCheckedOut = "branch-checked-out",
    /// A version breaks what its contract promises.
    BreaksPromise = "breaks-promise",
    /// Another command is doing the same thing, or too many clients are connected.
    Busy = "busy",
    /// The client cancelled the call.
    Cancelled = "cancelled",
    /// A file cannot be edited without losing content that a person wrote.
    CannotEdit = "cannot-edit",
    /// The subject of a conflict has changed since it was recorded.
    ConflictOutdated = "conflict-outdated",
    /// The contract already exists.
    ContractExists = "contract-exists",
    /// Two parts of a file contradict each other.
    Contradiction = "contradiction",
    /// The command is running in the worktree that it would remove.
    CurrentWorktree = "current-worktree",
    /// Repositories rely on each other in a cycle, which the realm refuses.
    Cycle = "cycle",
    /// An object or ref cannot be read.
    Damaged = "damaged",
    /// A repository belongs to another user.
    DubiousOwnership = "dubious-ownership",
    /// The editor could not be run, or failed.
    Editor = "editor",
    /// The realm knows a commit that this clone does not have.
    FetchFirst = "fetch-first",
    /// A remote sends more data than is accepted for a realm.
    FetchTooLarge = "fetch-too-large",
    /// A file already exists, and is not overwritten.
    FileExists = "file-exists",
    /// The clone is a fork, which cannot write under the name of its original.
    Fork = "fork",
    /// Git failed, or one of its files could not be read.
    Git = "git",
    /// A contract cannot be published as written.
    InvalidContract = "invalid-contract",
    /// A remote sent data that breaks the rules of a realm.
    InvalidRemoteData = "invalid-remote-data",
    /// A file system operation failed.
    Io = "io",
    /// The clone has joined under another name.
    JoinedAsOther = "joined-as-other",
    /// A login link for browsers was already used, or has expired.
    LinkUsed = "link-used",
    /// Another process holds a lock.
    Locked = "locked",
    /// The user locked a worktree, which git does not remove.
    LockedWorktree = "locked-worktree",
    /// Two names would collide on some file systems.
    NameCollision = "name-collision",
    /// Another repository already has this name in the realm.
    NameTaken = "name-taken",
    /// A worktree of an RFC would be inside another one.
    NestedWorktree = "nested-worktree",
    /// The realm was written by a newer version of git blue.
    NewerFormat = "newer-format",
    /// No repository has a branch for this RFC.
    NoBranches = "no-branches",
    /// There is no commit yet.
    NoCommit = "no-commit",
    /// A repository has no branch to start from.
    NoDefaultBranch = "no-default-branch",
    /// A directory does not exist.
    NoDirectory = "no-directory",
    /// There is no version before this one.
    NoEarlierVersion = "no-earlier-version",
    /// The forge of a repository is unknown, or not configured.
    NoForge = "no-forge",
    /// Neither GIT_BLUE_HOME nor HOME is set.
    NoHome = "no-home",
    /// Git does not know who the user is.
    NoIdentity = "no-identity",
    /// The publishing branch cannot be determined.
    NoPublishingBranch = "no-publishing-branch",
    /// The specified repository contains no realm.
    NoRealmThere = "no-realm-there",
    /// The realm, or a repository, has no remote.
    NoRemote = "no-remote",
    /// The daemon has no such route.
    NoRoute = "no-route",
    /// There is no open session here.
    NoSession = "no-session",
    /// A directory is not the store of a realm.
    NoStore = "no-store",
    /// A file does not exist.
    NoSuchFile = "no-such-file",
    /// No token was given, or the wrong one.
    NoToken = "no-token",
    /// A bare repository has no files.
    NoWorkTree = "no-work-tree",
    /// An RFC has no worktrees.
    NoWorktrees = "no-worktrees",
    /// A path is not a file, or the file is too large to edit.
    NotAFile = "not-a-file",
    /// A path is a symbolic link, a directory or a device.
    NotARegularFile = "not-a-regular-file",
    /// A sparse checkout leaves a file out of the working tree.
    NotCheckedOut = "not-checked-out",
    /// A repository could not be cloned.
    NotCloned = "not-cloned",
    /// A working tree has uncommitted changes.
    NotCommitted = "not-committed",
    /// Two schemas could not be compared.
    NotCompared = "not-compared",
    /// The user did not confirm.
    NotConfirmed = "not-confirmed",
    /// There is nothing to repair.
    NotDamaged = "not-damaged",
    /// A message to a receiver was not delivered.
    NotDelivered = "not-delivered",
    /// The repository does not export this contract.
    NotExported = "not-exported",
    /// A partial clone lacks required files.
    NotFetched = "not-fetched",
    /// The repository does not import this contract.
    NotImported = "not-imported",
    /// A directory is not in a git repository.
    NotInGit = "not-in-git",
    /// No realm is named, or none of the repositories that were tried is in a realm.
    NotInRealm = "not-in-realm",
    /// A path is outside of the repository.
    NotInRepo = "not-in-repo",
    /// The clone is not joined, so nothing is written for it.
    NotJoined = "not-joined",
    /// The repository is not a member of this domain.
    NotMember = "not-member",
    /// A repository is not on this machine.
    NotOnThisMachine = "not-on-this-machine",
    /// The contract belongs to another repository.
    NotOwner = "not-owner",
    /// A contract has no published version.
    NotPublished = "not-published",
    /// The current branch is not the publishing branch.
    NotPublishingBranch = "not-publishing-branch",
    /// A branch is not pushed.
    NotPushed = "not-pushed",
    /// The daemon is not running.
    NotRunning = "not-running",
    /// The daemon did not start.
    NotStarted = "not-started",
    /// The daemon did not stop.
    NotStopped = "not-stopped",
    /// A file is not text.
    NotText = "not-text",
    /// The installed git is too old for the requested operation.
    OldGit = "old-git",
    /// A newer commit of this repository is already published.
    OlderCommit = "older-commit",
    /// A contract has no releases yet.
    OnlyPreReleases = "only-pre-releases",
    /// A merge, rebase or similar operation is in progress.
    OperationInProgress = "operation-in-progress",
    /// A worktree has another branch checked out.
    OtherBranch = "other-branch",
    /// The repository has another name in its committed file.
    OtherName = "other-name",
    /// A directory or URL belongs to another realm.
    OtherRealm = "other-realm",
    /// The realm with this name has another URL.
    OtherUrl = "other-url",
    /// A repository is no longer at its recorded path.
    PathGone = "path-gone",
    /// Something else exists at the path.
    PathTaken = "path-taken",
    /// Another program is listening on this port.
    PortTaken = "port-taken",
    /// An MCP client violated the protocol.
    Protocol = "protocol",
    /// A pull request was closed without being merged.
    PullRequestClosed = "pull-request-closed",
    /// The cookie of a browser allows reading only.
    ReadOnly = "read-only",
    /// This machine already has a realm with this name.
    RealmExists = "realm-exists",
    /// The refs of a store use reftable, which this program does not write.
    ReftableStore = "reftable-store",
    /// Nothing was published, or a remote refused everything.
    Refused = "refused",
    /// A remote could not be reached, or refused the request.
    Remote = "remote",
    /// A remote has lost objects of the realm.
    RemoteDamaged = "remote-damaged",
    /// The repository has a newer name in the realm.
    Renamed = "renamed",
    /// It cannot be determined which repository is meant.
    RepoUndetermined = "repo-undetermined",
    /// The contract is retired.
    Retired = "retired",
    /// The clone is shallow and lacks required history.
    Shallow = "shallow",
    /// A remote stores a realm in an unexpected place, or twice.
    SplitRealm = "split-realm",
    /// The list has changed since the first page.
    StaleCursor = "stale-cursor",
    /// Other repositories still import this contract.
    StillImported = "still-imported",
    /// The repository is still a member of domains.
    StillMember = "still-member",
    /// Something depends on what would be removed.
    StillNeeded = "still-needed",
    /// A path leads through a symbolic link.
    Symlink = "symlink",
    /// A client or server took too long.
    Timeout = "timeout",
    /// A request, or a file to store, is too large.
    TooLarge = "too-large",
    /// There are too many files under .blue/.
    TooManyFiles = "too-many-files",
    /// A client sends too many requests.
    TooManyRequests = "too-many-requests",
    /// A range has too many versions.
    TooManyVersions = "too-many-versions",
    /// A tool that the user declared failed.
    ToolFailed = "tool-failed",
    /// A tool that the user declared took too long.
    ToolTimeout = "tool-timeout",
    /// Nothing was changed.
    Unchanged = "unchanged",
    /// The answer could not be determined within the limits.
    Undecided = "undecided",
    /// A contract has no change with this fingerprint.
    UnknownChange = "unknown-change",
    /// A commit is not in this repository.
    UnknownCommit = "unknown-commit",
    /// There is no such conflict.
    UnknownConflict = "unknown-conflict",
    /// There is no such contract.
    UnknownContract = "unknown-contract",
    /// There is no such domain.
    UnknownDomain = "unknown-domain",
    /// There is no such notification.
    UnknownNotification = "unknown-notification",
    /// The owner of a contract is not a repository of the realm.
    UnknownOwner = "unknown-owner",
    /// A document has nothing at this JSON Pointer.
    UnknownPointer = "unknown-pointer",
    /// A realm is named that this machine does not have.
    UnknownRealm = "unknown-realm",
    /// No receiver with this name is configured.
    UnknownReceiver = "unknown-receiver",
    /// There is no such ref.
    UnknownRef = "unknown-ref",
    /// The realm has no such remote.
    UnknownRemote = "unknown-remote",
    /// The realm has no such repository.
    UnknownRepo = "unknown-repo",
    /// There is no such resource.
    UnknownResource = "unknown-resource",
    /// There is no such session.
    UnknownSession = "unknown-session",
    /// This version was never published.
    UnknownVersion = "unknown-version",
    /// Files have unresolved conflicts.
    UnmergedFiles = "unmerged-files",
    /// A path cannot be quoted in a hook.
    Unquotable = "unquotable",
    /// The file that names the realm cannot be read.
    UnreadableConfig = "unreadable-config",
    /// A file does not have the expected format.
    UnreadableFile = "unreadable-file",
    /// A schema cannot be read.
    UnreadableSchema = "unreadable-schema",
    /// The record of a session cannot be read.
    UnreadableSession = "unreadable-session",
    /// A worktree contains work that would be lost.
    UnsavedWork = "unsaved-work",
    /// The command or request was malformed.
    Usage = "usage",
    /// Two machines published different content under one version.
    VersionConflict = "version-conflict",
    /// A version is lower than the published one.
    VersionDown = "version-down",
    /// This version was already published with other content.
    VersionReused = "version-reused",
    /// Other writers won the race every time.
    WriteRace = "write-race",
    /// A request was addressed to another host.
    WrongHost = "wrong-host",
    /// The route does not support this method.
    WrongMethod = "wrong-method",
    /// A page of another site sent the request.
    WrongOrigin = "wrong-origin",
    /// A directory contains a different repository than expected.
    WrongRepository = "wrong-repository",
    /// The body of a request is not JSON.
    WrongType = "wrong-type",
    /// This version was yanked.
    YankedVersion = "yanked-version",
}

impl From<ErrorCode> for Cow<'static, str> {
    fn from(code: ErrorCode) -> Self {
        code.as_str().into()
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_sorted() {
        let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(codes.is_sorted_by(|one, next| one < next), "{codes:?}");
    }
}
