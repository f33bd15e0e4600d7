//! `realm_admin_join`: adds this repository to a realm. Joining twice does nothing.

mod claim;

use claim::Claim;

use crate::{
    env,
    error::{CliOption, ErrorCode, NextStep, OpError},
    locate::{self, CONFIG, config::same_realm, open, proposed, renamed, unknown},
    machine::home::{Home, KnownRealm, recordable},
    model::{
        name::{RealmName, RepoName},
        realm::{Repo, RepoMatch},
        repo_url::RepoUrl,
        repo_url::without_credentials,
        text::shell_word,
    },
    ops::{
        Operation,
        acting_repo::ActingRepo,
        admin::{config_file, moved},
        ctx::Ctx,
        domain, hooks,
        inboxes::{first_baselines, inbox, pending::cli_reader},
        message::Message,
        publish::{catch_up, work_file::WorkFile},
        realm,
        repos::{identity, joined},
        runs, sync,
    },
    repo::CodeRepo,
    store::{
        Edit, Store,
        codec::{self, Config},
        layout,
        overview::{Line, Overview},
        read,
    },
    wire::{Answer, RealmJoin, RemoteSync},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("realm_admin_join", &["realm", "admin", "join"], "Join this repository to a realm");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The realm
    #[serde(rename = "name")]
    #[cfg_attr(feature = "cli", arg(id = "name", value_name = "REALM"))]
    pub realm: RealmName,
    /// The repository's name in the realm [default: from origin's URL, else the directory's name]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub repo: Option<RepoName>,
    /// The URL at which the realm is shared
    #[cfg_attr(feature = "cli", arg(long, value_name = "URL"))]
    pub url: Option<String>,
    /// Store the realm in branches, for hosts that accept no other refs
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub branches: bool,
}

runs!(RealmJoin, run);

/// Joins the realm, and says how to install the hooks, if they are missing.
///
/// # Errors
/// Returns the errors of [`join`].
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmJoin>, OpError> {
    let answer = join(ctx, request)?;
    let hooks = hooks::status(ctx).map(|status| status.body.hooks).unwrap_or_default();
    let has_all = hooks.iter().all(|hook| hook.installed || hook.optional);
    Ok(answer.next_if(!has_all, "git blue hooks install  # publish on every commit; join does not install hooks"))
}

/// Refuses the store of a realm, which is a repository, but not one that takes part in a realm.
fn refuse_store(ctx: &Ctx, code: &CodeRepo) -> Result<(), OpError> {
    let Some(realm) = locate::of_store(&ctx.home, code)? else { return Ok(()) };
    let message = format!("{} is the store of the realm {realm}", code.common_dir().display());
    Err(OpError::cannot(ErrorCode::NotInGit, message)
        .next(NextStep::option(CliOption::Folder, "change to a repository of yours, or pass -C DIR")))
}

/// Joins the realm.
///
/// # Errors
/// Returns an error if this machine does not know the realm, or another repository has the name.
pub fn join(ctx: &Ctx, request: &Request) -> Result<Answer<RealmJoin>, OpError> {
    crate::locate::url::refuse_credentials(request.url.as_deref())?;
    if let Some(code) = &ctx.code {
        recordable(&code.main_folder())?;
        refuse_store(ctx, code)?;
    }
    share(ctx, request)?;
    let code = ctx.code()?;
    let proposed = proposed(code)?;
    let unknown =
        || unknown::error(unknown::ci_command(&ctx.env).as_deref(), &ctx.home, &request.realm, proposed.as_ref());
    let known = ctx.home.realm(&request.realm)?.ok_or_else(unknown)?;
    let store = open(&ctx.home, &known, ctx.options())?;
    read::realm(&store)?;
    same_realm(&known.name, proposed.as_ref())?;
    let has_moved = moved::check(ctx, request.url.is_some(), &known, proposed.as_ref())?;
    let name = name(ctx, request, proposed.as_ref())?;
    let entry = identity::of(code, &name)?;
    renamed::refuse_entry(&store, &entry)?;
    claim::refuse_second_realm(ctx, code, &known)?;
    claim::refuse_second_name(ctx, code, &store, &known, &name)?;
    let claim = Claim::of(ctx, code, &known, &name, proposed.is_some())?;
    let (is_new, replaced_url) = write_entry(ctx, &store, &known, &entry, claim)?;
    let joined = is_new || !matches!(claim, Claim::Joined);
    ctx.home.record_repo(&known.name, &name, &code.main_folder())?;
    joined::write(&ctx.home, code, &known.name, &name, !entry.roots.is_empty())?;
    let is_new_url = |config: &Config| has_moved || (request.url.is_some() && config.realm.url.is_none());
    let wrote_config = match (&proposed, code.workdir()) {
        (None, Some(root)) => config_file::write(&root, &known, &name).map(|()| true)?,
        (Some(config), Some(_)) => {
            config_file::restore(ctx)?;
            match known.url.as_ref().filter(|_| is_new_url(config)) {
                Some(url) => config_file::write_url(code, config, url)?,
                None => false,
            }
        }
        (_, None) => false,
    };
    let shared = request.url.is_some() || request.branches;
    let request = realm::sync::Request::default();
    let synced = shared.then(|| realm::sync::sync_realm(ctx, &known.name, &store, &request, || Ok(())));
    let (remotes, failed) = match synced {
        Some(Ok(body)) => (body.remotes, None),
        Some(Err(error)) => (Vec::new(), Some(error)),
        None => (Vec::new(), None),
    };
    let is_unpushed = shared && sync::remote_status::is_unpushed(&store)?;
    let push_problem = is_unpushed.then(|| push_problem(failed.as_ref(), &remotes)).flatten();
    let is_there = !shared || sync::remote_status::is_shared(&store)?;
    let sync_steps = sync_steps(&known, failed, &remotes);
    let (realm, current_repo) = (known.name.clone(), name.clone());
    let body = RealmJoin { realm, current_repo, joined, replaced_url, wrote_config, remotes, push_problem };
    let mut answer = Answer::new(body).next_all(sync_steps);
    if wrote_config {
        let file = WorkFile::config(ctx)?.pathspecs(ctx, [])?;
        let subject = if has_moved {
            format!("The realm {} has moved", known.name)
        } else {
            format!("Join the realm {}", known.name)
        };
        let when = if is_there { "" } else { "  # once the realm is pushed" };
        answer = answer.next(format!("git add {file} && git commit -m \"{subject}\"{when}"));
    }
    if proposed.is_none() && !wrote_config {
        answer = answer.next(format!(
            "git config blue.realm {} && git config blue.repo {name}  # there is no working tree for {CONFIG}",
            known.name
        ));
    }
    first_baselines::record(ctx, &known.name, &store, std::slice::from_ref(&name), None)?;
    inbox::begin(&store, &name, &cli_reader(), || ctx.env.now_here())?;
    let contracts = first_steps(ctx, code, (&known.name, &store), &Overview::open(&store)?, &name)?;
    let answer = contracts.into_iter().fold(answer, Answer::next_once);
    sync::auto::with_push(ctx, (&known.name, &store), is_new && !shared, answer)
}

/// Returns the reason that not everything was pushed.
fn push_problem(failed: Option<&OpError>, remotes: &[RemoteSync]) -> Option<String> {
    let mut problems = remotes.iter().flat_map(|remote| &remote.problems);
    failed.map(|error| error.message.clone()).or_else(|| Some(problems.next()?.message.clone()))
}

/// Returns the next steps after sharing the realm: what was not pushed, or is left out, and how to resolve it.
fn sync_steps(known: &KnownRealm, failed: Option<OpError>, remotes: &[RemoteSync]) -> Vec<NextStep> {
    let mut steps = Vec::new();
    if let Some(error) = failed {
        steps.push("git blue sync  # push what was not pushed".into());
        // A network failure only needs another try; other failures have next steps of their own.
        steps.extend(error.next_steps.into_iter().filter(|_| error.code != ErrorCode::Remote));
    }
    let problems = || remotes.iter().flat_map(|remote| &remote.problems);
    if let Some(refused) = problems().find(|one| one.code == sync::NEEDS_BRANCHES) {
        let again = format!("git blue realm admin join {} --branches", known.name);
        steps.push(format!("{again}  # store the realm in branches, as {}", refused.message).into());
    } else if problems().any(|one| one.code == "refused") {
        steps.push("git blue sync  # try again once this is resolved".into());
    }
    let invalid = problems().filter(|one| one.code == *ErrorCode::InvalidRemoteData.as_str());
    let left_out: Vec<_> = invalid.filter_map(|one| one.name.as_deref()).collect();
    if !left_out.is_empty() {
        let why = "show how to restore invalid data on the remote, which was left out";
        steps.push(format!("git blue sync  # {why}: {}", left_out.join(", ")).into());
    }
    steps
}

/// Returns the next steps for a repository that is in no domain, or has published nothing in its domains. There are
/// none for any other repository.
///
/// # Errors
/// Returns an error if the commit cannot be read.
pub fn first_steps(
    ctx: &Ctx,
    code: &CodeRepo,
    realm: (&RealmName, &dyn Store),
    overview: &Overview<'_>,
    name: &RepoName,
) -> Result<Vec<String>, OpError> {
    let mut steps = Vec::new();
    if let Some(line) = overview.domains_of(name).next() {
        let is_new = overview.domains_of(name).all(|line| !line.sources.contains_key(name));
        steps.extend(is_new.then(|| first_of_member(line)));
        return Ok(steps);
    }
    if overview.count() > 0 {
        steps.push("git blue contract list  # list the contracts that can be imported".to_owned());
    }
    let left = left_domains(code, overview)?;
    if left.is_empty() {
        steps.push(first_contract(&init_each(&ctx.home, realm), overview, Some(name)));
    }
    steps.extend(left.iter().map(|domain| {
        format!(
            "git blue realm admin domain --name {domain} --repos {name}  # this repository already has files for \
            that domain"
        )
    }));
    Ok(steps)
}

/// Returns the next step of a member of a domain that has published nothing.
fn first_of_member(line: &Line) -> String {
    let domain = &line.name;
    if line.contracts == 0 {
        format!("git blue contract new {domain}/…  # the name of the first contract")
    } else {
        format!("git blue contract list --domain {domain}  # list the contracts that can be imported")
    }
}

/// Returns the domains of the realm for which HEAD has files, as in a clone that left the realm and joins again.
fn left_domains(code: &CodeRepo, overview: &Overview<'_>) -> Result<Vec<String>, OpError> {
    let Some(commit) = code.head()?.commit else { return Ok(Vec::new()) };
    let mut named = catch_up::domains_in(code, &code.tree_of(&commit)?)?;
    named.retain(|name| overview.domains().iter().any(|line| line.name.to_string() == *name));
    Ok(named.into_iter().take(5).collect())
}

/// Returns the command that joins the realm in other repositories; `place` says where to run it. If the realm has a
/// URL, the command uses the URL, because on another machine the name alone would create a second realm. If the realm
/// was not pushed to the URL yet, returns the command that pushes it.
pub fn init_elsewhere(home: &Home, (realm, store): (&RealmName, &dyn Store), place: &str) -> String {
    match home.realm(realm).ok().flatten().and_then(|known| known.url) {
        // Refs that cannot be read are reported elsewhere.
        Some(_) if !sync::remote_status::is_shared(store).unwrap_or_default() => {
            "git blue sync  # push the realm, so that other repositories can join it".to_owned()
        }
        Some(url) => format!("git blue init --url {}  # {place}", shell_word(&url)),
        None => format!("git blue init --realm {realm}  # {place}"),
    }
}

/// Returns the step that joins the realm in every other repository.
pub fn init_each(home: &Home, realm: (&RealmName, &dyn Store)) -> String {
    init_elsewhere(home, realm, "in each other repository")
}

/// Returns the next step for `repo` if it shares no domain with another repository of the realm, or the realm has no
/// contracts. `init` is the step that joins other repositories.
pub fn first_contract(init: &str, overview: &Overview<'_>, repo: Option<&RepoName>) -> String {
    let others = overview.repos().keys().filter(|other| Some(*other) != repo);
    let others: Vec<_> = others.map(ToString::to_string).collect();
    let what = if overview.contracts() == 0 { "the first contract" } else { "the contract" };
    let own = repo.and_then(|repo| overview.domains_of(repo).max_by_key(|line| line.repos.len()));
    let members = match own {
        Some(line) if others.is_empty() || line.repos.len() > 1 => String::new(),
        None if others.is_empty() => return init.to_owned(),
        _ if others.len() == 1 => format!(" --domain-members {}", others[0]),
        _ => " --domain-members …".to_owned(),
    };
    match own {
        Some(line) => format!("git blue contract new {}/…{members}  # the name of {what}", line.name),
        None => format!("git blue contract new …/…{members}  # the domain and the name of {what}"),
    }
}

/// Clones the realm to this machine, or records its URL.
fn share(ctx: &Ctx, request: &Request) -> Result<(), OpError> {
    let recorded = || Ok::<_, OpError>(ctx.home.realm(&request.realm)?.and_then(|known| known.url));
    let url = match &request.url {
        Some(url) => url.clone(),
        None if request.branches => recorded()?
            .ok_or_else(|| OpError::usage("the URL of the realm is missing").next("pass --url URL with --branches"))?,
        None => return Ok(()),
    };
    let place = sync::realm_clone::RealmLocation {
        realm: Some(&request.realm),
        url: &url,
        branches: request.branches,
        is_partial: true,
    };
    if sync::realm_clone::obtain(ctx, place)?.is_none() {
        let url = without_credentials(&url);
        let message = format!("{url} contains no realm yet");
        let step = format!("git blue init --realm {} --url {}", request.realm, shell_word(&url));
        return Err(
            OpError::no(ErrorCode::NoRealmThere, message).next(format!("{step}  # create one, and share it there"))
        );
    }
    Ok(())
}

/// Returns the name of the repository: the one in its `.blue/config.yaml`, the requested one, the one in `GIT_BLUE_REPO`
/// or `blue.repo`, the one under which this clone has joined, or one derived from origin's URL or the folder.
///
/// # Errors
/// Returns an error if these contradict each other, or none of them is a valid name.
pub fn name(ctx: &Ctx, request: &Request, proposed: Option<&Config>) -> Result<RepoName, OpError> {
    let code = ctx.code()?;
    if let (Some(config), Some(wanted)) = (proposed, &request.repo)
        && config.repo != *wanted
    {
        let is_removed = code.workdir().is_some_and(|root| !root.join(CONFIG).exists());
        let place = if is_removed { "HEAD:" } else { "" };
        let message = format!("{place}{CONFIG} names this repository {}, not {wanted}", config.repo);
        return Err(OpError::no(ErrorCode::OtherName, message).next(if is_removed {
            format!(
                "git add --all {} && git commit -m \"Leave the realm\"  # the file is removed already",
                WorkFile::config(ctx)?.pathspec(ctx)
            )
        } else {
            format!("edit {CONFIG}, or omit --repo")
        }));
    }
    if let Some(name) = proposed.map(|config| &config.repo).or(request.repo.as_ref()) {
        return Ok(name.clone());
    }
    if let Some(name) = ctx.env.text(env::REPO).map(str::to_owned).or_else(|| code.config("blue.repo")) {
        return Ok(name.parse()?);
    }
    match joined::read(&ctx.home, code)?.filter(|joined| joined.realm == request.realm) {
        Some(joined) => Ok(joined.repo),
        None => default_name(code),
    }
}

/// Returns the last segment of origin's URL, or else the name of the main worktree's folder.
fn default_name(code: &CodeRepo) -> Result<RepoName, OpError> {
    let url = code.origin_url();
    let folder = code.main_folder();
    let from_url = url.as_deref().and_then(|url| url.trim_end_matches('/').rsplit(['/', ':']).next());
    let from_folder = folder.file_name().and_then(|name| name.to_str());
    let text = from_url.filter(|text| !text.is_empty()).or(from_folder).unwrap_or_default();
    let text = text.strip_suffix(".git").unwrap_or(text);
    text.parse()
        .map_err(|error: crate::model::name::NameError| OpError::from(error).next("choose a name with --repo NAME"))
}

/// Writes the repository's entry, unless another repository has the name. Returns whether the entry changed, and its
/// former URL if this clone's URL replaced it.
fn write_entry(
    ctx: &Ctx,
    store: &dyn Store,
    known: &KnownRealm,
    entry: &Repo,
    claim: Claim,
) -> Result<(bool, Option<String>), OpError> {
    let code = ctx.code()?;
    let mut replaced = None;
    let is_changed = domain::change_realm(ctx, store, || {
        let realm = read::repos(store)?;
        let document = match realm.repos.get(&entry.name) {
            // This clone's URL replaces the recorded one if that is a different location, or only a path on a machine.
            // It does not replace another form of the same URL, and a path never replaces a URL that others can use.
            Some(held) if claim == Claim::Joined => {
                let is_on_a_host = |url: Option<&str>| url.is_some_and(|url| RepoUrl::of(url).is_on_a_host());
                let is_better = !is_on_a_host(held.url.as_deref()) && is_on_a_host(entry.url.as_deref());
                let is_elsewhere = identity::match_repo(code, held)? == RepoMatch::Different;
                if is_elsewhere {
                    let acting = ActingRepo { realm: &known.name, store, repo: &entry.name, code: Some(code) };
                    identity::refuse_fork(acting, code, held)?;
                }
                let replaces = held.url.is_none() || is_better || is_elsewhere;
                let url = entry.url.clone().filter(|_| replaces).or_else(|| held.url.clone());
                replaced = held.url.clone().filter(|held| url.as_ref() != Some(held));
                identity::with_facts(&Repo { url, ..held.clone() }, entry)
            }
            Some(held) => {
                claim::same_repository(ctx, code, known, held, claim)?;
                identity::with_facts(held, entry)
            }
            None => {
                claim::refuse_collision(&realm.repos, entry)?;
                entry.clone()
            }
        };
        if realm.repos.get(&entry.name) == Some(&document) {
            return Ok(None);
        }
        let is_new = !realm.repos.contains_key(&entry.name);
        let verb = if is_new { "join" } else { "update" };
        let message = Message { repo: Some(&entry.name), ..Message::of(ctx, format!("{verb} {}", entry.name)) };
        Ok(Some((vec![(layout::repo(&entry.name), Edit::Put(codec::encode(&document)))], message)))
    })?;
    Ok((is_changed, replaced))
}
