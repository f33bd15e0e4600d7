//! The routes, in one table: what is answered, what `/openapi.json` describes, and what tests walk. Operations say
//! themselves where they are served.

use std::{collections::BTreeMap, sync::LazyLock};

use hyper::Method;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    all_realms::{self, Narrowed},
    answer::Reply,
    context::Desk,
};
use crate::{
    error::OpError,
    model::{
        name::{RealmName, RepoName},
        rank::Rank,
    },
    ops::{
        self, Operation,
        as_of::{self, At},
        ctx::Ctx,
        notify::pending,
        operation,
        realm::check::Subject,
    },
    surface::arguments::{self, Arguments, Parameter},
};

/// A path and a method, and what they do.
pub struct Route {
    /// The method; what GET answers, HEAD answers too.
    pub method: &'static str,
    /// The path, its variable parts in braces.
    pub path: &'static str,
    /// What it does, in one line; for an operation, its own.
    pub summary: &'static str,
    /// What it takes behind the `?`.
    pub query: Vec<Parameter>,
    /// What it takes as a JSON object.
    pub body: Vec<Parameter>,
    /// What it does.
    pub does: Does,
}

/// What a route does.
#[derive(Clone, Copy)]
pub enum Does {
    /// Runs an operation, and answers as its `--json` does.
    Run {
        /// The operation.
        operation: &'static Operation,
        /// How it is called.
        call: operation::Call,
        /// Runs it.
        run: fn(&Call<'_>) -> Result<Reply, OpError>,
    },
    /// Says that the daemon is there.
    Health,
    /// Lets a browser in.
    Open,
    /// Makes a link that lets a browser in.
    Link,
    /// Tells what changes, as it does.
    Events,
    /// Describes the routes.
    OpenApi,
    /// Speaks MCP.
    Mcp,
}

/// What a request says.
pub struct Call<'a> {
    /// The operation that is asked.
    pub operation: operation::Call,
    /// Finds what operations work with.
    pub desk: &'a Desk,
    /// The variable parts of the path.
    pub path: &'a BTreeMap<&'static str, String>,
    /// What stands behind the `?`, and in the body.
    pub arguments: &'a Arguments,
}

/// The reader that asks.
#[derive(Deserialize, JsonSchema)]
struct Asking {
    /// As this repository sees it
    repo: Option<RepoName>,
}

/// Who asks, where somebody has to.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is read as one that may be missing")]
struct Importing {
    /// Whose imports are looked at
    repo: RepoName,
}

/// Who publishes before a sync.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is read as one who asks")]
struct Publishing {
    /// Publish what no hook of this repository has, before
    repo: Option<RepoName>,
}

/// The work tree that is meant.
#[derive(Deserialize, JsonSchema)]
struct Here {
    /// The realm
    realm: RealmName,
    /// The repository; it must lie on this machine
    repo: RepoName,
}

/// What lets a browser in.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is read by its name")]
struct Key {
    /// What a link brought along
    key: String,
}

/// A contract with its domain, of names that do not end in `.lock`.
const CONTRACT: &str = "^(?!.*[.][Ll][Oo][Cc][Kk](/|$))[A-Za-z0-9]([A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])){0,63}/[A-Za-z0-9]([A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])){0,63}$";

/// Which events are told.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "each is read by its name")]
struct Heard {
    /// Only this realm
    realm: Option<RealmName>,
    /// Only this repository
    repo: Option<RepoName>,
    /// Only notifications that matter at least so much
    rank: Option<Rank>,
    /// Only notifications of this contract, as DOMAIN/CONTRACT
    #[schemars(regex(pattern = CONTRACT))]
    contract: Option<String>,
}

/// How a route differs from its operation.
struct Shape {
    /// Arguments besides those of the request.
    adds: fn() -> Vec<Parameter>,
    /// Fields of the request that the path says in another way.
    hides: &'static [&'static str],
    /// Runs the operation.
    run: fn(&Call<'_>) -> Result<Reply, OpError>,
}

/// A route that is its operation, asked by a repository or by nobody.
const PLAIN: Shape = Shape { adds: arguments::of::<Asking>, hides: &[], run: plain };

/// The routes that are not plain.
const SHAPES: &[(&Operation, Shape)] = &[
    (&ops::realm::status::OPERATION, Shape { run: realm_status, ..PLAIN }),
    (&ops::realm::sync::OPERATION, Shape { adds: arguments::of::<Publishing>, ..PLAIN }),
    (&ops::realm::check::OPERATION, Shape { run: realm_check, ..PLAIN }),
    (&ops::realm::review::OPERATION, Shape { adds: arguments::of::<Importing>, ..PLAIN }),
    (&ops::realm::list::OPERATION, Shape { adds: Vec::new, ..PLAIN }),
    (&ops::contract::timeline::OPERATION, Shape { adds: Vec::new, ..PLAIN }),
    (&ops::session::list::OPERATION, Shape { adds: arguments::of::<Narrowed>, run: session_list, ..PLAIN }),
    (&ops::session::start::OPERATION, Shape { adds: arguments::of::<Here>, run: session_start, ..PLAIN }),
    (&ops::session::stop::OPERATION, Shape { adds: arguments::of::<Narrowed>, run: session_stop, ..PLAIN }),
    (&ops::notifications::list::OPERATION, Shape { adds: arguments::of::<Narrowed>, run: notifications_list, ..PLAIN }),
    (
        &ops::notifications::ack::OPERATION,
        Shape { adds: arguments::of::<Narrowed>, hides: &["ids"], run: notifications_ack },
    ),
];

/// Every route. A path is matched by the first that fits.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let mut routes: Vec<_> = ops::TABLE.iter().filter_map(Route::of).collect();
    routes.extend([
        other("GET", "/health", "Say that the daemon is there; needs no token", Does::Health),
        Route {
            query: arguments::of::<Heard>(),
            ..other("GET", "/events", "Tell what changes, as server-sent events", Does::Events)
        },
        other("GET", "/openapi.json", "Describe these routes", Does::OpenApi),
        other("POST", "/links", "Make a link that lets a browser in", Does::Link),
        Route {
            query: arguments::of::<Key>(),
            ..other("GET", "/open", "Let a browser in, once; needs no token", Does::Open)
        },
        other("GET", "/mcp", "Speak MCP: listen", Does::Mcp),
        other("POST", "/mcp", "Speak MCP", Does::Mcp),
        other("DELETE", "/mcp", "Speak MCP: end a session", Does::Mcp),
    ]);
    routes.sort_by_key(|route| route.method != "GET");
    routes
});

const fn other(method: &'static str, path: &'static str, summary: &'static str, does: Does) -> Route {
    Route { method, path, summary, query: Vec::new(), body: Vec::new(), does }
}

impl Route {
    /// Returns the route of an operation, if it has one. What is posted takes the fields of its request as JSON.
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
        let does = Does::Run { operation, call, run: shape.run };
        Some(Self { query, body, ..other(method, path, operation.summary, does) })
    }

    /// Returns the variable parts of a path, if it is one of this route.
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

    /// Returns whether the method is this route's.
    pub fn takes(&self, method: &Method) -> bool {
        self.method == method.as_str() || (*method == Method::HEAD && self.method == "GET")
    }
}

impl Call<'_> {
    fn part(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns what the operation works with: in the realm that the path names, as it was when the request says, as the
    /// repository that asks.
    fn ctx(&self) -> Result<Ctx, OpError> {
        let Some(realm) = self.path.get("realm") else { return self.desk.nowhere() };
        let ctx = self.desk.of(&realm.parse()?, self.arguments.read_as::<Asking>()?.repo.as_ref())?;
        match self.arguments.read_as::<At>()?.at {
            Some(at) => {
                let part = |name| self.path.get(name).map(String::as_str);
                ctx.as_of(&at.of(as_of::named(part("domain"), part("contract"))))
            }
            None => Ok(ctx),
        }
    }

    fn narrowed(&self) -> Result<Narrowed, OpError> {
        self.arguments.read_as()
    }
}

/// Runs the operation on the arguments, and on the parts of the path that are its own.
fn plain(call: &Call<'_>) -> Result<Reply, OpError> {
    let mut arguments = call.arguments.clone();
    call.path.iter().filter(|(name, _)| **name != "realm").for_each(|(name, part)| arguments.insert(name, &**part));
    Ok(Reply::of(&*(call.operation.run)(&call.ctx()?, arguments.fields())?))
}

fn realm_status(call: &Call<'_>) -> Result<Reply, OpError> {
    // As `--peek` does: reading tells nobody.
    let request = ops::realm::status::Request { page: call.arguments.read_as()?, ..Default::default() };
    Ok(Reply::of(&ops::realm::status::run(&call.ctx()?, &request)?.0))
}

/// Where no repository asks, the realm is looked at alone.
fn realm_check(call: &Call<'_>) -> Result<Reply, OpError> {
    let mut request: ops::realm::check::Request = call.arguments.read_as()?;
    request.reader = Some(pending::person());
    if call.arguments.read_as::<Asking>()?.repo.is_none() && request.subject == Subject::Head {
        request.subject = Subject::Published;
    }
    Ok(Reply::of(&ops::realm::check::run(&call.ctx()?, &request)?))
}

/// One realm is answered as the operation does, more than one as the lists of all.
fn session_list(call: &Call<'_>) -> Result<Reply, OpError> {
    let request: ops::session::list::Request = call.arguments.read_as()?;
    match &call.narrowed()? {
        Narrowed { realm: Some(realm), repo: None } => {
            Ok(Reply::of(&ops::session::list::run(&call.desk.realm(realm)?, &request)?))
        }
        narrowed => Ok(Reply::of(&all_realms::sessions(call.desk, narrowed, request.ended, &request.page)?)),
    }
}

fn session_start(call: &Call<'_>) -> Result<Reply, OpError> {
    let Here { realm, repo } = call.arguments.read_as()?;
    let request = call.arguments.read_as()?;
    Ok(Reply::of(&ops::session::start::run(&call.desk.repo(&realm, &repo)?, &request)?))
}

fn session_stop(call: &Call<'_>) -> Result<Reply, OpError> {
    let id = call.part("id");
    let (realm, repo) = all_realms::session_in(call.desk, &call.narrowed()?, id)?;
    let request = ops::session::stop::Request { id: id.parse().ok() };
    Ok(Reply::of(&ops::session::stop::run(&call.desk.repo(&realm, &repo)?, &request)?))
}

/// One repository of one realm is answered as the operation does, more than one as the lists of all.
fn notifications_list(call: &Call<'_>) -> Result<Reply, OpError> {
    let request: ops::notifications::list::Request = call.arguments.read_as()?;
    match &call.narrowed()? {
        Narrowed { realm: Some(realm), repo: Some(repo) } => {
            Ok(Reply::of(&ops::notifications::list::run(&call.desk.repo(realm, repo)?, &request)?))
        }
        narrowed => Ok(Reply::of(&all_realms::notifications(call.desk, narrowed, &request, &request.page)?)),
    }
}

fn notifications_ack(call: &Call<'_>) -> Result<Reply, OpError> {
    let id = call.part("id");
    let (realm, repo) = match call.narrowed()? {
        Narrowed { realm: Some(realm), repo: Some(repo) } => (realm, repo),
        narrowed => all_realms::pending_in(call.desk, &narrowed, id)?,
    };
    let request = ops::notifications::ack::Request::by_person(vec![id.to_owned()]);
    Ok(Reply::of(&ops::notifications::ack::run(&call.desk.repo(&realm, &repo)?, &request)?))
}
