//! The table of routes, which is used to answer requests, to generate `/openapi.json`, and by tests. Operations declare
//! their own route.

use std::{collections::BTreeMap, sync::LazyLock};

use hyper::Method;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    all_realms::{self, RealmFilter},
    answer::Reply,
    context::Contexts,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::{RealmName, RepoName},
        rank::Rank,
    },
    ops::{
        self, Operation,
        as_of::{self, At},
        ctx::Ctx,
        inboxes::pending,
        operation,
        realm::check::Subject,
    },
    surface::arguments::{self, Arguments, Parameter},
    wire::AnyAnswer,
};

/// A method and path, and the action that answers them.
pub struct Route {
    /// The method. A route for GET also answers HEAD.
    pub method: &'static str,
    /// The path, with its variables in braces.
    pub path: &'static str,
    /// A one-line summary; that of the operation, if the route runs one.
    pub summary: &'static str,
    /// The parameters after the `?`.
    pub query: Vec<Parameter>,
    /// The fields of the JSON body.
    pub body: Vec<Parameter>,
    /// The action.
    pub does: RouteAction,
}

#[derive(Clone, Copy)]
pub enum RouteAction {
    /// Runs an operation, and answers as its `--json` does.
    Run {
        /// The operation.
        operation: &'static Operation,
        /// The functions that call the operation.
        call: operation::Call,
        /// Runs the operation.
        run: fn(&Call<'_>) -> Result<Reply, OpError>,
    },
    /// Reports that the daemon is running.
    Health,
    /// Admits a browser.
    Open,
    /// Creates a link that admits a browser.
    Link,
    /// Streams events.
    Events,
    /// Returns `/openapi.json`.
    OpenApi,
    /// Answers MCP.
    Mcp,
}

/// A request to run an operation.
pub struct Call<'a> {
    /// The functions that call the operation.
    pub operation: operation::Call,
    /// Opens the contexts of operations.
    pub contexts: &'a Contexts,
    /// The variables of the path.
    pub path: &'a BTreeMap<&'static str, String>,
    /// The parameters after the `?`, and the fields of the body.
    pub arguments: &'a Arguments,
}

/// The repository on whose behalf an operation runs.
#[derive(Deserialize, JsonSchema)]
struct AskingRepoArgument {
    /// As seen by this repository
    repo: Option<RepoName>,
}

/// The repository whose imports an operation reviews.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used, in the table of routes")]
struct Importing {
    /// The repository whose imports are checked
    repo: RepoName,
}

/// The repository to publish before a sync.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used, in the table of routes")]
struct Publishing {
    /// First publish the commits of this repository that no hook published
    repo: Option<RepoName>,
}

/// The working tree of a request.
#[derive(Deserialize, JsonSchema)]
struct RepoArguments {
    /// The realm
    realm: RealmName,
    /// The repository, which must be on this machine
    repo: RepoName,
}

/// The key of a login link.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used, in the table of routes")]
struct Key {
    /// The key from the link
    key: String,
}

/// The pattern of a contract with its domain, whose names do not end in `.lock`.
const CONTRACT: &str = "^(?!.*[.][Ll][Oo][Cc][Kk](/|$))[A-Za-z0-9]([A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])){0,63}/[A-Za-z0-9]([A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])){0,63}$";

/// A filter of events.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used, in the table of routes")]
struct EventQuery {
    /// Only this realm
    realm: Option<RealmName>,
    /// Only this repository
    repo: Option<RepoName>,
    /// Only notifications of at least this importance
    rank: Option<Rank>,
    /// Only notifications of this contract, as DOMAIN/CONTRACT
    #[schemars(regex(pattern = CONTRACT))]
    contract: Option<String>,
}

/// The differences between a route and its operation.
struct Shape {
    /// Arguments in addition to the fields of the request.
    adds: fn() -> Vec<Parameter>,
    /// Fields of the request that the path contains in another form.
    hides: &'static [&'static str],
    /// Runs the operation.
    run: fn(&Call<'_>) -> Result<Reply, OpError>,
}

/// A route that takes exactly the request of its operation, optionally on behalf of a repository.
const PLAIN: Shape = Shape { adds: arguments::of::<AskingRepoArgument>, hides: &[], run: plain };

/// The routes that differ from their operations.
const SHAPES: &[(&Operation, Shape)] = &[
    (&ops::realm::status::OPERATION, Shape { run: realm_status, ..PLAIN }),
    (&ops::realm::sync::OPERATION, Shape { adds: arguments::of::<Publishing>, ..PLAIN }),
    (&ops::realm::check::OPERATION, Shape { run: realm_check, ..PLAIN }),
    (&ops::realm::review::OPERATION, Shape { adds: arguments::of::<Importing>, ..PLAIN }),
    (&ops::realm::list::OPERATION, Shape { adds: Vec::new, ..PLAIN }),
    (&ops::contract::diff::OPERATION, Shape { run: of_files, ..PLAIN }),
    (&ops::contract::impact::OPERATION, Shape { run: of_files, ..PLAIN }),
    (&ops::contract::validate::OPERATION, Shape { run: of_files, ..PLAIN }),
    (&ops::contract::timeline::OPERATION, Shape { adds: Vec::new, ..PLAIN }),
    (&ops::session::list::OPERATION, Shape { adds: arguments::of::<RealmFilter>, run: session_list, ..PLAIN }),
    (&ops::session::start::OPERATION, Shape { adds: arguments::of::<RepoArguments>, run: session_start, ..PLAIN }),
    (&ops::session::stop::OPERATION, Shape { adds: arguments::of::<RealmFilter>, run: session_stop, ..PLAIN }),
    (
        &ops::notifications::list::OPERATION,
        Shape { adds: arguments::of::<RealmFilter>, run: notifications_list, ..PLAIN },
    ),
    (
        &ops::notifications::ack::OPERATION,
        Shape { adds: arguments::of::<RealmFilter>, hides: &["ids"], run: notifications_ack },
    ),
];

/// All routes. The first one that matches a path answers it.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let mut routes: Vec<_> = ops::TABLE.iter().filter_map(Route::of).collect();
    routes.extend([
        other("GET", "/health", "Report that the daemon is running; needs no token", RouteAction::Health),
        Route {
            query: arguments::of::<EventQuery>(),
            ..other("GET", "/events", "Stream changes as server-sent events", RouteAction::Events)
        },
        other("GET", "/openapi.json", "Describe these routes", RouteAction::OpenApi),
        other("POST", "/links", "Create a link that signs a browser in", RouteAction::Link),
        Route {
            query: arguments::of::<Key>(),
            ..other("GET", "/open", "Sign a browser in, once; needs no token", RouteAction::Open)
        },
        other("GET", "/mcp", "Serve MCP: listen", RouteAction::Mcp),
        other("POST", "/mcp", "Serve MCP", RouteAction::Mcp),
        other("DELETE", "/mcp", "Serve MCP: end a session", RouteAction::Mcp),
    ]);
    routes.sort_by_key(|route| route.method != "GET");
    routes
});

const fn other(method: &'static str, path: &'static str, summary: &'static str, does: RouteAction) -> Route {
    Route { method, path, summary, query: Vec::new(), body: Vec::new(), does }
}

impl Route {
    /// Returns the route of an operation, if it declares one. A POST takes the fields of the request as JSON.
    fn of(operation: &'static Operation) -> Option<Self> {
        let (call, (method, path)) = (operation.call?, operation.route?);
        let shape = SHAPES.iter().find(|(shaped, _)| shaped.name == operation.name).map_or(&PLAIN, |(_, shape)| shape);
        let mut taken = arguments::parameters((call.request)());
        taken.retain(|one| !path.contains(&format!("{{{}}}", one.name)) && !shape.hides.contains(&&*one.name));
        let is_posted = method == "POST" && !taken.is_empty();
        taken.extend((shape.adds)());
        let (mut query, body) = if is_posted { (Vec::new(), taken) } else { (taken, Vec::new()) };
        if as_of::require(Some(operation)).is_ok() {
            query.extend(arguments::of::<At>());
        }
        let does = RouteAction::Run { operation, call, run: shape.run };
        Some(Self { query, body, ..other(method, path, operation.summary, does) })
    }

    /// Returns the variables of a path, if the route matches it.
    pub fn variables(&self, segments: &[String]) -> Option<BTreeMap<&'static str, String>> {
        let own = || self.path.split('/').skip(1);
        if own().count() != segments.len() {
            return None;
        }
        let mut found = BTreeMap::new();
        for (own, segment) in own().zip(segments) {
            match own.strip_prefix('{').and_then(|own| own.strip_suffix('}')) {
                Some(name) => drop(found.insert(name, segment.clone())),
                None if own == segment => {}
                None => return None,
            }
        }
        Some(found)
    }

    /// Returns whether the route answers the method.
    pub fn takes(&self, method: &Method) -> bool {
        self.method == method.as_str() || (*method == Method::HEAD && self.method == "GET")
    }
}

impl Call<'_> {
    fn part(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the context of the operation: the realm in the path, at the time that the request asks for, on behalf
    /// of the repository that it names.
    fn ctx(&self) -> Result<Ctx, OpError> {
        let Some(realm) = self.path.get("realm") else { return self.contexts.without_realm() };
        let ctx = self.contexts.of(&realm.parse()?, self.arguments.read_as::<AskingRepoArgument>()?.repo.as_ref())?;
        match self.arguments.read_as::<At>()?.at {
            Some(at) => {
                let part = |name| self.path.get(name).map(String::as_str);
                ctx.as_of(&at.of(as_of::named(part("domain"), part("contract"))))
            }
            None => Ok(ctx),
        }
    }

    /// Refuses the files of a repository that the request does not name.
    fn check_files(&self) -> Result<(), OpError> {
        let is_of_files = self.arguments.flag("worktree") || self.arguments.text("commit").is_some();
        match self.arguments.text("repo") {
            // The schema cannot express the dependency, so this is no error of usage.
            None if is_of_files => {
                Err(OpError::cannot(ErrorCode::RepoUndetermined, "repo is missing")
                    .next("worktree and commit need: repo"))
            }
            _ => Ok(()),
        }
    }

    /// Runs the operation. Its next steps name the realm, unless the request is on behalf of a repository, in which its
    /// commands then run.
    ///
    /// # Errors
    /// Returns the error of the operation.
    pub fn answer(&self, run: fn(&Self) -> Result<Reply, OpError>) -> Result<Reply, OpError> {
        run(self).map_err(|error| match self.realm_of_steps() {
            Some(realm) => {
                OpError { next_steps: error.next_steps.iter().map(|step| step.in_realm(&realm)).collect(), ..error }
            }
            None => error,
        })
    }

    fn reply(&self, answer: &dyn AnyAnswer) -> Reply {
        Reply::in_realm(answer, self.realm_of_steps().as_ref())
    }

    /// Returns the realm that next steps name.
    fn realm_of_steps(&self) -> Option<RealmName> {
        let named = self.path.get("realm").map(String::as_str).or(self.arguments.text("realm"))?;
        self.arguments.text("repo").is_none().then(|| named.parse().ok())?
    }

    fn narrowed(&self) -> Result<RealmFilter, OpError> {
        self.arguments.read_as()
    }
}

/// Runs the operation with the arguments and the variables of the path.
fn plain(call: &Call<'_>) -> Result<Reply, OpError> {
    let mut arguments = call.arguments.clone();
    call.path.iter().filter(|(name, _)| **name != "realm").for_each(|(name, part)| arguments.insert(name, &**part));
    Ok(call.reply(&*(call.operation.run)(&call.ctx()?, arguments.fields())?))
}

/// Runs an operation that may read the files of a repository.
fn of_files(call: &Call<'_>) -> Result<Reply, OpError> {
    call.check_files()?;
    plain(call)
}

fn realm_status(call: &Call<'_>) -> Result<Reply, OpError> {
    // As with `--peek`, this request marks nothing as seen.
    let request = ops::realm::status::Request { page: call.arguments.read_as()?, ..Default::default() };
    Ok(call.reply(&ops::realm::status::run(&call.ctx()?, &request)?.answer))
}

/// Checks the published state if the request names no repository.
fn realm_check(call: &Call<'_>) -> Result<Reply, OpError> {
    call.check_files()?;
    let mut request: ops::realm::check::Request = call.arguments.read_as()?;
    request.reader = Some(pending::cli_reader());
    if call.arguments.read_as::<AskingRepoArgument>()?.repo.is_none() && request.subject == Subject::Head {
        request.subject = Subject::Published;
    }
    Ok(call.reply(&ops::realm::check::run(&call.ctx()?, &request)?))
}

/// Returns the operation's own answer for one realm, and joined lists for several.
fn session_list(call: &Call<'_>) -> Result<Reply, OpError> {
    let request: ops::session::list::Request = call.arguments.read_as()?;
    match &call.narrowed()? {
        RealmFilter { realm: Some(realm), repo: None } => {
            Ok(call.reply(&ops::session::list::run(&call.contexts.realm(realm)?, &request)?))
        }
        narrowed => {
            narrowed.check(call.contexts)?;
            Ok(call.reply(&all_realms::sessions(call.contexts, narrowed, request.ended, &request.page)?))
        }
    }
}

fn session_start(call: &Call<'_>) -> Result<Reply, OpError> {
    let RepoArguments { realm, repo } = call.arguments.read_as()?;
    let request = call.arguments.read_as()?;
    Ok(call.reply(&ops::session::start::run(&call.contexts.repo(&realm, &repo)?, &request)?))
}

fn session_stop(call: &Call<'_>) -> Result<Reply, OpError> {
    let id = call.part("id");
    let (realm, repo) = all_realms::session_in(call.contexts, &call.narrowed()?, id)?;
    let request = ops::session::stop::Request { id: id.parse().ok() };
    Ok(call.reply(&ops::session::stop::run(&call.contexts.repo(&realm, &repo)?, &request)?))
}

/// Returns the operation's own answer for one repository of one realm, and joined lists for several.
fn notifications_list(call: &Call<'_>) -> Result<Reply, OpError> {
    let request: ops::notifications::list::Request = call.arguments.read_as()?;
    match &call.narrowed()? {
        RealmFilter { realm: Some(realm), repo: Some(repo) } => {
            let repo = call.contexts.current_name(realm, repo)?;
            Ok(call.reply(&ops::notifications::list::run(&call.contexts.repo(realm, &repo)?, &request)?))
        }
        narrowed => {
            narrowed.check(call.contexts)?;
            Ok(call.reply(&all_realms::notifications(call.contexts, narrowed, &request, &request.page)?))
        }
    }
}

fn notifications_ack(call: &Call<'_>) -> Result<Reply, OpError> {
    let id = call.part("id");
    let (realm, repo) = match call.narrowed()? {
        RealmFilter { realm: Some(realm), repo: Some(repo) } => {
            let current = call.contexts.current_name(&realm, &repo)?;
            (realm, current)
        }
        narrowed => all_realms::place_of(call.contexts, &narrowed, id)?,
    };
    let request = ops::notifications::ack::Request::by_person(vec![id.to_owned()]);
    Ok(call.reply(&ops::notifications::ack::run(&call.contexts.repo(&realm, &repo)?, &request)?))
}
