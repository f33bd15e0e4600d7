//! `doctor`: finds problems on this machine, and repairs them where that is safe.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

pub use super::finding::Request;
use super::{doctor_objects, doctor_sessions, doctor_store};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    locate::{
        self, CONFIG,
        config::{record_url, write_url},
    },
    machine::home::KnownRealm,
    model::{
        domain_summary::RealmSummary,
        name::RemoteName,
        oid::Oid,
        publish_policy::Policy,
        text::{comma_separated_at_most, shell_path},
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        delivery::receiver,
        hooks,
        publish::{catch_up, policy},
        repos::joined,
        sync::auto,
        upkeep::finding::{advise, check, failed, repaired, unchecked},
    },
    store::{
        Store, StoreError, StoreRef,
        git::{self, GitStore, LockFile},
        read, validate_incoming,
    },
    wire::{Answer, Doctor, DoctorCheck, Health, SyncProblem},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::write::<Doctor>("doctor", &["doctor"], "Diagnose problems; --fix repairs what is safe to repair");

/// The oldest supported version of git.
const OLDEST_GIT: (u32, u32) = (2, 34);
/// The age at which one of git's lock files counts as left behind by a dead process. git holds them only for seconds.
const STALE: Duration = Duration::from_secs(60 * 60);
/// The maximum number of problems that are shown of one kind.
const MAX_PROBLEMS: usize = 5;

/// Runs all checks. Problems are an answer, not an error.
///
/// # Errors
/// Returns an error only if a ref cannot be reset.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<Doctor>, OpError> {
    if let Some((name, to)) = &request.restore {
        return restore(ctx, name, *to);
    }
    let mut checks = vec![git(ctx), home(ctx), man(ctx)];
    if ctx.code.is_some() {
        checks.push(identity(ctx));
    }
    // The check of the home says why.
    let Ok(realms) = ctx.home.realms() else { return Ok(answer(checks)) };
    for known in realms {
        realm(ctx, request, &known, &mut checks);
    }
    checks.extend(receivers(ctx).unwrap_or_else(|error| vec![unchecked("receiver", None, &error)]));
    checks.extend(unusable_realm(ctx));
    checks.extend(ctx.realm.as_ref().ok().and_then(unrecorded_url));
    checks.extend(ctx.realm.as_ref().ok().and_then(moved_url));
    checks.extend(doctor_sessions::of_work_tree(ctx, request));
    let of_deleted = doctor_sessions::of_deleted_trees(ctx, request);
    checks.extend(of_deleted.unwrap_or_else(|error| Some(unchecked("sessions", None, &error))));
    if let (Some(_), Ok(here)) = (&ctx.code, &ctx.realm)
        && let Some(repo) = &here.repo
    {
        let hooks = hooks(ctx, repo.as_str());
        checks.push(hooks.unwrap_or_else(|error| unchecked("hooks", Some(repo.as_str()), &error)));
        checks.extend(clone_record(ctx, repo.as_str()));
        checks.extend(alternates(ctx, repo.as_str()));
        checks.extend(publishing_branch(ctx, repo.as_str()));
    }
    Ok(answer(checks))
}

fn restore(ctx: &Ctx, name: &str, to: Oid) -> Result<Answer<Doctor>, OpError> {
    let known = damaged_realm(ctx)?;
    let store = ctx.open_store_to_repair(&known)?;
    let restored = doctor_objects::restore(ctx, &known.name, &store, name, to)?;
    Ok(answer(vec![restored]).next("git blue sync  # sync with the others").next("git blue check"))
}

/// Returns the current realm. If it cannot be read because of damage, returns the only damaged realm on this machine.
fn damaged_realm(ctx: &Ctx) -> Result<KnownRealm, OpError> {
    let error = match &ctx.realm {
        Ok(here) => return locate::known(&ctx.home, &here.realm),
        Err(error) => error,
    };
    let is_damaged = |known: &KnownRealm| {
        let read = ctx.open_store_to_repair(known).map(|store| read::realm(&store));
        read.is_ok_and(|read| read.is_err_and(|error| error.is_damage()))
    };
    let mut damaged: Vec<_> = ctx.home.realms()?.into_iter().filter(is_damaged).collect();
    match (error.code, damaged.pop()) {
        (ErrorCode::Damaged, Some(known)) if damaged.is_empty() => Ok(known),
        _ => Err(error.clone()),
    }
}

fn answer(checks: Vec<DoctorCheck>) -> Answer<Doctor> {
    let healthy = checks.iter().all(|check| check.state != Health::Error || check.fixed);
    let mut steps: Vec<NextStep> = Vec::new();
    for step in checks.iter().filter(|check| !check.fixed).filter_map(|check| check.next_step.as_ref()) {
        let is_same = |known: &&mut NextStep| step.command().is_some() && known.command() == step.command();
        match (steps.iter_mut().find(is_same), step.command()) {
            (Some(known), Some(command)) if known != step => {
                *known = format!("{command}  # repair several of these problems").into()
            }
            (Some(_), _) => {}
            (None, _) => steps.push(step.clone()),
        }
    }
    Answer::new(Doctor { healthy, checks }).next_all(steps)
}

fn git(ctx: &Ctx) -> DoctorCheck {
    let Some(said) = git::git_version(ctx.env.vars()) else {
        return advise(check("git", None, Health::Error, "git is not on PATH"), "install git");
    };
    if git::numbers(&said) >= OLDEST_GIT {
        return check("git", None, Health::Ok, said);
    }
    let (major, minor) = OLDEST_GIT;
    advise(
        check("git", None, Health::Error, format!("{said} is older than {major}.{minor}")),
        format!("update git to {major}.{minor} or newer"),
    )
}

fn home(ctx: &Ctx) -> DoctorCheck {
    let folder = ctx.home.folder();
    let shown = folder.display().to_string();
    if let Err(error) = ctx.home.realms() {
        let error = OpError::from(error);
        return failed(check("home", None, Health::Error, error.message.clone()), &error.next_steps);
    }
    match folder.metadata() {
        Ok(meta) if !meta.is_dir() => check("home", None, Health::Error, format!("{shown} is not a directory")),
        Ok(_) => match try_to_write(folder) {
            Ok(()) => check("home", None, Health::Ok, shown),
            Err(error) => check("home", None, Health::Error, format!("{shown} cannot be written: {error}")),
        },
        Err(_) => check("home", None, Health::Ok, format!("{shown} does not exist yet; there are no realms")),
    }
}

/// Writes a temporary file, because neither permissions nor an empty file show whether a disk accepts data.
fn try_to_write(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder)?.write_all(&[0; 1 << 16])
}

/// Checks that the manual page is installed: git answers `git blue --help` with it, without running this program.
pub fn man(ctx: &Ctx) -> DoctorCheck {
    const PAGE: &str = "share/man/man1/git-blue.1";
    let beside = ctx.env.exe().parent().and_then(|bin| bin.parent()).map(|prefix| prefix.join(PAGE));
    let own = ctx.env.home().map(|home| home.join(".local").join(PAGE));
    let system = ["/usr/local", "/usr"].map(|prefix| Some(Path::new(prefix).join(PAGE)));
    match [beside, own].into_iter().chain(system).flatten().find(|page| page.exists()) {
        Some(page) if !is_found_by_man(ctx) => {
            let pages = page.ancestors().nth(2).unwrap_or(&page);
            let message = format!("git blue --help does not work: man does not search {}", pages.display());
            advise(
                check("man", None, Health::Warning, message),
                format!("export MANPATH={}:  # in the profile of your shell", shell_path(pages)),
            )
        }
        Some(page) => check("man", None, Health::Ok, page.display().to_string()),
        None => advise(
            check("man", None, Health::Warning, "git blue --help does not work: the man page is not installed"),
            "git blue install man",
        ),
    }
}

/// Returns whether man, if there is one, finds the page. It derives the directories that it searches from PATH.
fn is_found_by_man(ctx: &Ctx) -> bool {
    let mut man = Command::new("man");
    man.args(["-w", "git-blue"]).env_clear().envs(ctx.env.vars());
    let found = man.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.map_or(true, |status| status.success())
}

/// Reports why a repository's realm cannot be used, such as a configuration that cannot be read, or a realm that this
/// machine does not have.
fn unusable_realm(ctx: &Ctx) -> Option<DoctorCheck> {
    let is_reported = |error: &&OpError| !matches!(error.code, ErrorCode::NotInRealm | ErrorCode::Damaged);
    let error = ctx.realm.as_ref().err().filter(is_reported)?;
    ctx.code.as_ref()?;
    Some(failed(check("realm", None, Health::Error, error.message.clone()), &error.next_steps))
}

/// Reports a realm that is shared according to its repository, but that has no remote on this machine.
fn unrecorded_url(here: &RealmContext) -> Option<DoctorCheck> {
    let url = here.unrecorded_url.as_ref()?;
    let message = format!("{CONFIG} says that the realm is shared at {url}, but it has no remote on this machine");
    Some(advise(check("url", Some(here.realm.as_str()), Health::Warning, message), record_url(url)))
}

/// Reports a repository that still has the URL from before the user moved the realm.
fn moved_url(here: &RealmContext) -> Option<DoctorCheck> {
    let url = here.moved_url.as_ref()?;
    let message = format!("{CONFIG} has the former URL of the realm, which is shared at {url} now");
    Some(advise(check("url", Some(here.realm.as_str()), Health::Warning, message), write_url(url)))
}

fn identity(ctx: &Ctx) -> DoctorCheck {
    match ctx.signature() {
        Ok(by) => check("identity", None, Health::Ok, format!("{} <{}>", by.name, by.email)),
        Err(error) => unchecked("identity", None, &error),
    }
}

fn realm(ctx: &Ctx, request: &Request, known: &KnownRealm, checks: &mut Vec<DoctorCheck>) {
    let subject = Some(known.name.as_str());
    let Some(store) = doctor_store::readable(ctx, request, known, checks) else { return };
    checks.extend(locks(request, subject, &store));
    checks.push(mode(request, subject, &store));
    let (store, found) = doctor_objects::objects_and_refs(ctx, request, known, store);
    checks.extend(found);
    checks.extend(files(subject, &store));
    checks.push(doctor_sessions::of_realm(ctx, request, known, &store));
    checks.extend(last_syncs(known, &store));
    if git::should_be_packed(&store.path()) {
        let message = "the store has many loose objects";
        checks.push(advise(
            check("objects", subject, Health::Warning, message),
            format!("git blue gc --realm {}", known.name),
        ));
    }
}

/// Reports what the last sync with each remote could not merge or push.
fn last_syncs(known: &KnownRealm, store: &dyn Store) -> Vec<DoctorCheck> {
    let problems = store.remotes().into_iter().flat_map(|remote| {
        let problems = auto::last_problems(&known.path, &remote.name).into_iter().take(MAX_PROBLEMS);
        problems.map(move |problem| (remote.name.clone(), problem))
    });
    let report = |(remote, problem): (RemoteName, SyncProblem)| {
        let message = format!("the last sync with {remote} was incomplete: {}", problem.message);
        let found = check("sync", Some(known.name.as_str()), Health::Warning, message);
        advise(found, problem.next_step.unwrap_or_else(|| "git blue sync  # try again".to_owned()))
    };
    problems.map(report).collect()
}

/// Reports the receivers that get nothing, because of errors in their configuration, or less than was meant, because
/// of names that do not exist.
fn receivers(ctx: &Ctx) -> Result<Vec<DoctorCheck>, OpError> {
    let report = |(name, problem): (String, String)| {
        Ok(advise(check("receiver", Some(&name), Health::Warning, problem), receiver::correction(ctx, &name)?))
    };
    // Other checks report a realm that cannot be read.
    let unknown = receiver::unknown_names(ctx).unwrap_or_default();
    receiver::problems(ctx)?.into_iter().chain(unknown).take(MAX_PROBLEMS).map(report).collect()
}

/// Checks lock files. Those that a dead process of this program left behind are taken over by the next write. Those of
/// git are removed only on request, and only if they are so old that no live process holds them.
fn locks(request: &Request, subject: Option<&str>, store: &GitStore) -> Vec<DoctorCheck> {
    let found = match store.lock_files() {
        Ok(found) => found,
        Err(error) => return vec![check("locks", subject, Health::Error, error.to_string())],
    };
    if found.is_empty() {
        return vec![check("locks", subject, Health::Ok, "no stale lock files")];
    }
    let report = |locks: &[LockFile], state| {
        let names: Vec<_> =
            locks.iter().map(|lock| format!("{} ({} s old)", lock.path.display(), lock.age.as_secs())).collect();
        check("locks", subject, state, format!("git lock files: {}", names.join(", ")))
    };
    let (stale, others) = found.split_at(found.partition_point(|lock| lock.age >= STALE));
    let mut checks = Vec::new();
    if !stale.is_empty() {
        let found = report(stale, Health::Error);
        checks.push(if request.fix {
            let removed: Vec<_> = stale.iter().map(|lock| std::fs::remove_file(&lock.path)).collect();
            repaired(found, removed.into_iter().collect::<Result<(), _>>(), "; not removed")
        } else {
            advise(found, "git blue doctor --fix  # remove those older than an hour")
        });
    }
    if let Some(oldest) = others.first() {
        checks.push(if oldest.age > Duration::from_secs(60) {
            advise(
                report(others, Health::Warning),
                "if no git process is running, remove the lock files; after an hour, git blue doctor --fix does",
            )
        } else {
            report(others, Health::Ok)
        });
    }
    checks
}

/// Checks the permissions of the store, since it may contain data that only members may read.
fn mode(request: &Request, subject: Option<&str>, store: &GitStore) -> DoctorCheck {
    let path = store.path().display().to_string();
    if !store.is_open_to_others() {
        return check("mode", subject, Health::Ok, "no other user of this machine can read the store");
    }
    let found = check("mode", subject, Health::Warning, format!("other users of this machine can read {path}"));
    if !request.fix {
        return advise(found, "git blue doctor --fix  # make it private");
    }
    repaired(found, store.close_to_others(), "")
}

fn files(subject: Option<&str>, store: &GitStore) -> Vec<DoctorCheck> {
    let view = match read::view(store) {
        Ok(view) => view,
        Err(error) => return vec![check("files", subject, Health::Error, error.to_string())],
    };
    let damage = view.damage.iter().chain(view.domains.values().flat_map(|domain| &domain.damage));
    let mut problems: Vec<_> = damage.map(|damage| format!("{}: {}", damage.file, damage.problem)).collect();
    match more_problems(store, &view) {
        Ok(more) => {
            // The same file has another message here.
            let is_new = |one: &String| !damaged_files(&problems).contains(file_of(one));
            let more: Vec<_> = more.into_iter().filter(is_new).collect();
            problems.extend(more);
        }
        Err(error) => problems.push(error.to_string()),
    }
    let mut found: Vec<_> =
        problems.into_iter().map(|problem| check("files", subject, Health::Error, problem)).collect();
    if found.is_empty() {
        found.push(check("files", subject, Health::Ok, "every file of the realm can be read"));
    }
    found.extend(unknown_repos(subject, &view));
    found
}

/// Returns the problems of all files of the realm, such as old versions, for which a sync would not push them.
fn more_problems(store: &GitStore, view: &RealmSummary) -> Result<Vec<String>, StoreError> {
    let domains = view.domains.keys().map(|domain| StoreRef::Domain(domain.clone()));
    let mut problems = Vec::new();
    for name in domains.chain([StoreRef::Realm]) {
        if let Some(tip) = store.tip(&name)? {
            problems.extend(validate_incoming::inspect(store, &name, &tip, &[])?);
        }
    }
    Ok(problems)
}

fn damaged_files(problems: &[String]) -> BTreeSet<&str> {
    problems.iter().map(|problem| file_of(problem)).collect()
}

/// Returns the file that a problem begins with.
fn file_of(problem: &str) -> &str {
    problem.split_once(": ").map_or(problem, |(file, _)| file)
}

/// Reports repositories that domains name but that are not in the realm, for example because its ref was reset.
fn unknown_repos(subject: Option<&str>, view: &RealmSummary) -> Option<DoctorCheck> {
    let named = view.domains.values().filter(|domain| !domain.info.removed).flat_map(|domain| {
        let contracts = domain.contracts.values().filter(|contract| contract.retired.is_none());
        domain.info.members.iter().chain(domain.bindings.keys()).chain(contracts.map(|contract| &contract.owner))
    });
    let unknown_repos: BTreeSet<_> = named.filter(|repo| !view.repos.contains_key(repo)).collect();
    if unknown_repos.is_empty() {
        return None;
    }
    let message = format!(
        "not in the realm, although domains name them: {}",
        comma_separated_at_most(MAX_PROBLEMS, unknown_repos)
    );
    let step = format!("git blue init --realm {}  # in each one that should take part", subject.unwrap_or_default());
    Some(advise(check("members", subject, Health::Warning, message), step))
}

/// Reports a clone that was joined, but is read-only now, because its record on this machine is lost or damaged.
fn clone_record(ctx: &Ctx, repo: &str) -> Option<DoctorCheck> {
    let code = ctx.code.as_ref().filter(|code| joined::was_joined(code))?;
    let found = |message| check("clone", Some(repo), Health::Warning, message);
    match joined::read(&ctx.home, code) {
        Ok(Some(_)) => None,
        Ok(None) => {
            let message =
                format!("this clone is read-only: its record in {} is missing or damaged", ctx.home.clones().display());
            Some(advise(found(message), "git blue init  # record it again"))
        }
        Err(error) => Some(unchecked("clone", Some(repo), &error)),
    }
}

/// Reports that the clone lacks objects, because a repository from which it borrows them is gone.
fn alternates(ctx: &Ctx, repo: &str) -> Option<DoctorCheck> {
    let error = OpError::from(ctx.code.as_ref()?.require_alternates().err()?);
    Some(failed(check("objects", Some(repo), Health::Error, error.message), &error.next_steps))
}

/// Reports that nothing is published, because it is unknown which branch is, or which commits are.
fn publishing_branch(ctx: &Ctx, repo: &str) -> Option<DoctorCheck> {
    let code = ctx.code.as_ref()?;
    ctx.require_writable().ok()?;
    let broken = |error: OpError| {
        Some(OpError::cannot(error.code, error.message).next("git fsck  # show what is damaged in this repository"))
    };
    let problem = match policy::of(code) {
        Ok(Policy::Commit | Policy::Pushed) => catch_up::branch_problem(code).unwrap_or_else(broken),
        Ok(Policy::Ci | Policy::Off) => None,
        Err(error) if error.code == ErrorCode::Damaged => broken(error),
        Err(error) => Some(error),
    };
    problem.map(|error| {
        let message = format!("nothing is published: {}", error.message);
        failed(check("branch", Some(repo), Health::Warning, message), &error.next_steps)
    })
}

fn hooks(ctx: &Ctx, repo: &str) -> Result<DoctorCheck, OpError> {
    let answer = hooks::status(ctx)?;
    let wanted: Vec<_> = answer.body.hooks.iter().filter(|hook| hook.installed || !hook.optional).collect();
    let problem = wanted.iter().find_map(|hook| Some(format!("{}: {}", hook.file, hook.problem.as_ref()?)));
    let missing: Vec<_> = wanted.iter().filter(|hook| !hook.installed).map(|hook| hook.name.as_str()).collect();
    let note = wanted.iter().filter(|hook| hook.in_file).find_map(|hook| hook.note.clone());
    let warning = match (problem, missing.is_empty(), note) {
        (Some(problem), ..) => problem,
        (None, false, _) => format!("not installed: {}", missing.join(", ")),
        (None, true, Some(note)) => note,
        (None, true, None) => {
            return Ok(check("hooks", Some(repo), Health::Ok, format!("installed in {}", answer.body.directory)));
        }
    };
    let found = check("hooks", Some(repo), Health::Warning, warning);
    Ok(failed(found, &answer.next_steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_listed_once() {
        let found = |step: &str| advise(check("x", None, Health::Error, ""), step);
        let answer = answer(vec![
            found("git blue doctor --fix  # remove it"),
            found("install git"),
            found("git blue doctor --fix  # end them"),
            found("git blue sync"),
            found("git blue sync"),
        ]);
        let steps: Vec<_> = answer.next_steps.iter().map(ToString::to_string).collect();
        assert_eq!(
            steps,
            ["git blue doctor --fix  # repair several of these problems", "install git", "git blue sync"]
        );
    }
}
