//! The codes of failures: stable, the same on every surface.

use std::{borrow::Cow, fmt};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// What went wrong, as a stable code. `docs/troubleshooting.md` says what to do about each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the alphabet.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns it as it is printed.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

codes! {
    /// The daemon runs already.
    AlreadyRunning = "already-running",
    /// The realm did not exist yet.
    BeforeRealm = "before-realm",
    /// A branch is checked out in another work tree.
    BranchElsewhere = "branch-elsewhere",
    /// A version breaks what its contract promises.
    BreaksPromise = "breaks-promise",
    /// Another command does the same thing, or too many clients are connected.
    Busy = "busy",
    /// The client cancelled the call.
    Cancelled = "cancelled",
    /// A file cannot be edited without losing what somebody wrote in it.
    CannotEdit = "cannot-edit",
    /// The subject of a conflict has changed since it was recorded.
    ChangedSince = "changed-since",
    /// Other writers were faster each time.
    Conflict = "conflict",
    /// Files have conflicts that are not resolved.
    Conflicts = "conflicts",
    /// There is such a contract already.
    ContractExists = "contract-exists",
    /// Two parts of a file contradict each other.
    Contradiction = "contradiction",
    /// Repositories rely on each other in a circle, and the realm refuses that.
    Cycle = "cycle",
    /// An object or a ref cannot be read.
    Damaged = "damaged",
    /// A repository belongs to another user.
    DubiousOwnership = "dubious-ownership",
    /// The editor did not run, or failed.
    Editor = "editor",
    /// The realm knows a commit that this clone does not have.
    FetchFirst = "fetch-first",
    /// A file is there already, and is not overwritten.
    FileExists = "file-exists",
    /// Git, or one of its files, said no.
    Git = "git",
    /// A work tree holds work that would be lost.
    HoldsWork = "holds-work",
    /// A hook is a program, and cannot be edited.
    HookNotText = "hook-not-text",
    /// A work tree of an RFC would lie in another one.
    InAWorktree = "in-a-worktree",
    /// A merge, rebase or the like is going on.
    InTheMiddle = "in-the-middle",
    /// Something else is where a work tree would be made.
    InTheWay = "in-the-way",
    /// The command runs in the work tree that it would remove.
    InWorktree = "in-worktree",
    /// A contract cannot be published as it is written.
    InvalidContract = "invalid-contract",
    /// The file system said no.
    Io = "io",
    /// The clone is joined to a realm already.
    JoinedAlready = "joined-already",
    /// A link that lets a browser in was used, or is too old.
    LinkUsed = "link-used",
    /// Another process holds a lock.
    Locked = "locked",
    /// Two names would be the same on some file systems.
    NameCollision = "name-collision",
    /// Another repository has this name in the realm.
    NameTaken = "name-taken",
    /// A newer git blue wrote the realm.
    NewerFormat = "newer-format",
    /// No repository has a branch of this RFC.
    NoBranches = "no-branches",
    /// There is no commit yet.
    NoCommit = "no-commit",
    /// A repository has no branch to start from.
    NoDefaultBranch = "no-default-branch",
    /// There is no version before this one.
    NoEarlierVersion = "no-earlier-version",
    /// A folder does not exist.
    NoFolder = "no-folder",
    /// The forge of a repository is not known, or not configured.
    NoForge = "no-forge",
    /// Neither GIT_BLUE_HOME nor HOME is set.
    NoHome = "no-home",
    /// Git does not know who the user is.
    NoIdentity = "no-identity",
    /// It cannot be told which branch is published.
    NoPublishingBranch = "no-publishing-branch",
    /// A repository that was named holds no realm.
    NoRealmThere = "no-realm-there",
    /// The realm, or a repository, has no remote.
    NoRemote = "no-remote",
    /// The daemon has nothing at this address.
    NoRoute = "no-route",
    /// No session goes on here.
    NoSession = "no-session",
    /// A folder is not the store of a realm.
    NoStore = "no-store",
    /// A file does not exist.
    NoSuchFile = "no-such-file",
    /// No token was given, or a wrong one.
    NoToken = "no-token",
    /// A bare repository has no files.
    NoWorkTree = "no-work-tree",
    /// An RFC has no work trees.
    NoWorktrees = "no-worktrees",
    /// A path is not a file of a size to be edited.
    NotAFile = "not-a-file",
    /// A path is a symbolic link, a folder or a device.
    NotAPlainFile = "not-a-plain-file",
    /// The user did not agree to what would be removed.
    NotAgreed = "not-agreed",
    /// A repository could not be cloned.
    NotCloned = "not-cloned",
    /// A work tree has changes that are not committed.
    NotCommitted = "not-committed",
    /// Two schemas could not be compared.
    NotCompared = "not-compared",
    /// There is nothing to repair.
    NotDamaged = "not-damaged",
    /// What was sent to a receiver did not arrive.
    NotDelivered = "not-delivered",
    /// The repository does not export this contract.
    NotExported = "not-exported",
    /// A partial clone does not have the files that are needed.
    NotFetched = "not-fetched",
    /// A repository is not on this machine.
    NotHere = "not-here",
    /// The repository does not import this contract.
    NotImported = "not-imported",
    /// A folder is in no git repository.
    NotInGit = "not-in-git",
    /// The repository belongs to no realm.
    NotInRealm = "not-in-realm",
    /// A path lies outside of the repository.
    NotInRepo = "not-in-repo",
    /// The clone is not joined, so nothing is written for it.
    NotJoined = "not-joined",
    /// The repository is not a member of this domain.
    NotMember = "not-member",
    /// The contract belongs to another repository.
    NotOwner = "not-owner",
    /// A contract has no published version.
    NotPublished = "not-published",
    /// This branch is not the one that is published.
    NotPublishingBranch = "not-publishing-branch",
    /// A branch is not pushed.
    NotPushed = "not-pushed",
    /// The daemon does not run.
    NotRunning = "not-running",
    /// The daemon did not start.
    NotStarted = "not-started",
    /// The daemon did not stop.
    NotStopped = "not-stopped",
    /// A file is not text.
    NotText = "not-text",
    /// This git is too old for what was asked.
    OldGit = "old-git",
    /// A newer commit of this repository is published already.
    OlderCommit = "older-commit",
    /// A contract has no release yet.
    OnlyPreReleases = "only-pre-releases",
    /// A work tree is on another branch.
    OtherBranch = "other-branch",
    /// The repository has another name in its committed file.
    OtherName = "other-name",
    /// A folder belongs to another realm.
    OtherRealm = "other-realm",
    /// The clone is joined under another name.
    OtherRepo = "other-repo",
    /// A folder holds another repository than the one that was meant.
    OtherRepository = "other-repository",
    /// The realm of this name is at another url.
    OtherUrl = "other-url",
    /// A repository is not where it was.
    PathGone = "path-gone",
    /// Something else is at this path.
    PathTaken = "path-taken",
    /// Another program listens on this port.
    PortTaken = "port-taken",
    /// An MCP client did not keep to the protocol.
    Protocol = "protocol",
    /// A browser's cookie reads, and changes nothing.
    ReadOnly = "read-only",
    /// This machine has a realm of this name already.
    RealmExists = "realm-exists",
    /// A store keeps its refs as reftable, which is not written.
    ReftableStore = "reftable-store",
    /// Nothing was published, or a remote took nothing.
    Refused = "refused",
    /// A remote was not reached, or said no.
    Remote = "remote",
    /// A remote has lost objects of the realm.
    RemoteDamaged = "remote-damaged",
    /// The repository has a newer name in the realm.
    Renamed = "renamed",
    /// The contract is retired.
    Retired = "retired",
    /// The conflict was settled before.
    Settled = "settled",
    /// The clone is shallow, and what is needed is not in it.
    Shallow = "shallow",
    /// The list has changed since its first page.
    StaleCursor = "stale-cursor",
    /// Other repositories import this contract.
    StillImported = "still-imported",
    /// The repository is a member of domains.
    StillMember = "still-member",
    /// Something depends on what would be removed.
    StillNeeded = "still-needed",
    /// A path leads through a symbolic link.
    Symlink = "symlink",
    /// A client or server took too long.
    Timeout = "timeout",
    /// A request brings too much.
    TooLarge = "too-large",
    /// There are too many files below .blue/.
    TooManyFiles = "too-many-files",
    /// A client asks too often.
    TooManyRequests = "too-many-requests",
    /// A range has too many versions.
    TooManyVersions = "too-many-versions",
    /// A remote sends more than is taken for a realm.
    TooMuch = "too-much",
    /// A tool that the user declared failed.
    ToolFailed = "tool-failed",
    /// A tool that the user declared took too long.
    ToolTimeout = "tool-timeout",
    /// Several clones of a repository are found, and none is recorded.
    TwoClones = "two-clones",
    /// Nothing was changed.
    Unchanged = "unchanged",
    /// The answer could not be found within the limits.
    Undecided = "undecided",
    /// A remote sent something that breaks the rules of a realm.
    Unfit = "unfit",
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
    /// A contract's owner is no repository of the realm.
    UnknownOwner = "unknown-owner",
    /// A document has nothing at this place.
    UnknownPart = "unknown-part",
    /// This machine does not have this realm.
    UnknownRealm = "unknown-realm",
    /// No receiver of that name is configured.
    UnknownReceiver = "unknown-receiver",
    /// There is no such ref.
    UnknownRef = "unknown-ref",
    /// The realm has no such remote.
    UnknownRemote = "unknown-remote",
    /// The realm has no such repository.
    UnknownRepo = "unknown-repo",
    /// It cannot be told which repository is meant.
    UnknownRepository = "unknown-repository",
    /// There is no such resource.
    UnknownResource = "unknown-resource",
    /// There is no such session.
    UnknownSession = "unknown-session",
    /// This version was never published.
    UnknownVersion = "unknown-version",
    /// A path cannot be written into a hook.
    Unquotable = "unquotable",
    /// The file that names the realm cannot be read.
    UnreadableConfig = "unreadable-config",
    /// A file cannot be read as what it should be.
    UnreadableFile = "unreadable-file",
    /// A schema cannot be read.
    UnreadableSchema = "unreadable-schema",
    /// The record of a session cannot be read.
    UnreadableSession = "unreadable-session",
    /// The question was malformed.
    Usage = "usage",
    /// A version is lower than the one that is published.
    VersionDown = "version-down",
    /// This version was published with other content.
    VersionReused = "version-reused",
    /// A pull request was closed without a merge.
    WasClosed = "was-closed",
    /// A request named another host.
    WrongHost = "wrong-host",
    /// The address does not take this method.
    WrongMethod = "wrong-method",
    /// A page of another site asked.
    WrongOrigin = "wrong-origin",
    /// The body of a request is not JSON.
    WrongType = "wrong-type",
    /// This version was withdrawn.
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
