//! The routes, in one table: what is answered, what `/openapi.json` describes, and what tests walk.

use std::collections::BTreeMap;

use hyper::Method;

use super::{
    all_realms::{self, Narrowed},
    answer::Reply,
    context::Desk,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::{ContractRef, RealmName, RepoName},
        notification::ChangeType,
    },
    ops::{
        self, Operation,
        contract::{
            diff::Newer,
            documents::Document,
            draft::Draft,
            impact::Candidate,
            validate::{Against, Payload},
        },
        history::filter::Filter,
    },
    surface::mcp::arguments::{Arguments, Kind, Parameter},
    wire::{NotificationFilter, PageRequest},
};

/// A path and a method, and what they do.
#[derive(Clone, Copy)]
pub struct Route {
    /// The method; what GET answers, HEAD answers too.
    pub method: &'static str,
    /// The path, its variable parts in braces.
    pub path: &'static str,
    /// What it does, in one line; for an operation, its own.
    pub summary: &'static str,
    /// What it takes behind the `?`.
    pub query: &'static [Parameter],
    /// What it takes as a JSON object.
    pub body: &'static [Parameter],
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
    /// Finds what operations work with.
    pub desk: &'a Desk,
    /// The variable parts of the path.
    pub path: &'a BTreeMap<&'static str, String>,
    /// What stands behind the `?`, and in the body.
    pub arguments: &'a Arguments,
}

const REALM: Parameter = Parameter::optional("realm", Kind::Text, "only this realm");
const REPO: Parameter = Parameter::optional("repo", Kind::Text, "only this repository");
const ASKING: Parameter = Parameter::optional("repo", Kind::Text, "as this repository sees it");
const REVIEWED: Parameter = Parameter::required("repo", "whose imports are looked at");
const DOMAIN: Parameter = Parameter::optional("domain", Kind::Text, "only this domain");
const SEARCH: Parameter = Parameter::optional("search", Kind::Text, "only those with these words in their names");
const WORKTREE: Parameter =
    Parameter::optional("worktree", Kind::Flag, "look at the work tree of this repository instead");
const COMMIT: Parameter = Parameter::optional("commit", Kind::Text, "look at this commit of this repository instead");
const RFC: Parameter = Parameter::optional("rfc", Kind::Text, "with the branches of this RFC in all repositories");
const LIMIT: Parameter = Parameter::optional("limit", Kind::Count, "most entries of a page");
const SINCE: Parameter = Parameter::optional("since", Kind::Text, "only what was made then or later");
const UNTIL: Parameter = Parameter::optional("until", Kind::Text, "only what was made then or earlier");
const FROM_REPO: Parameter = Parameter::optional("from_repo", Kind::Text, "only what this repository made");
const KIND: Parameter = Parameter::optional("kind", Kind::OneOf(ChangeType::WORDS), "only changes of this kind");
const CURSOR: Parameter = Parameter::optional("cursor", Kind::Text, "the next_cursor of the page before");

const fn read(
    path: &'static str,
    query: &'static [Parameter],
    operation: &'static Operation,
    run: fn(&Call<'_>) -> Result<Reply, OpError>,
) -> Route {
    let does = Does::Run { operation, run };
    Route { method: "GET", path, summary: operation.summary, query, body: &[], does }
}

const fn other(method: &'static str, path: &'static str, summary: &'static str, does: Does) -> Route {
    Route { method, path, summary, query: &[], body: &[], does }
}

/// Every route. A path is matched by the first that fits.
pub static ROUTES: &[Route] = &[
    other("GET", "/health", "Say that the daemon is there; needs no token", Does::Health),
    read("/realms", &[], &ops::realm::list::OPERATION, realm_list),
    read("/realms/{realm}", &[ASKING, LIMIT, CURSOR], &ops::realm::status::OPERATION, realm_status),
    Route {
        body: &[
            Parameter::optional("repo", Kind::Text, "publish what no hook of this repository has, before"),
            Parameter::optional("remote", Kind::Text, "only this remote"),
            Parameter::optional("dry_run", Kind::Flag, "only look at what would come and go"),
        ],
        method: "POST",
        ..read("/realms/{realm}/sync", &[], &ops::realm::sync::OPERATION, realm_sync)
    },
    read("/realms/{realm}/check", &[ASKING, RFC], &ops::realm::check::OPERATION, realm_check),
    read("/realms/{realm}/review", &[REVIEWED], &ops::realm::review::OPERATION, realm_review),
    read(
        "/realms/{realm}/log",
        &[DOMAIN, SINCE, UNTIL, FROM_REPO, LIMIT, CURSOR],
        &ops::realm::log::OPERATION,
        realm_log,
    ),
    read("/realms/{realm}/topology", &[DOMAIN], &ops::realm::topology::OPERATION, realm_topology),
    read("/realms/{realm}/contracts", &[DOMAIN, SEARCH, LIMIT, CURSOR], &ops::contract::list::OPERATION, contract_list),
    read(
        "/realms/{realm}/contracts/{domain}/{contract}",
        &[ASKING, Parameter::optional("version", Kind::Text, "a published version; the current one by default")],
        &ops::contract::get::OPERATION,
        contract_get,
    ),
    read(
        "/realms/{realm}/contracts/{domain}/{contract}/log",
        &[SINCE, UNTIL, FROM_REPO, LIMIT, CURSOR],
        &ops::contract::log::OPERATION,
        contract_log,
    ),
    read(
        "/realms/{realm}/contracts/{domain}/{contract}/diff",
        &[
            ASKING,
            Parameter::optional("from", Kind::Text, "a published version; the one before by default"),
            Parameter::optional("to", Kind::Text, "a published version; the current one by default"),
            WORKTREE,
            COMMIT,
        ],
        &ops::contract::diff::OPERATION,
        contract_diff,
    ),
    read(
        "/realms/{realm}/contracts/{domain}/{contract}/impact",
        &[ASKING, Parameter::optional("to", Kind::Text, "the version that would be published"), WORKTREE, COMMIT],
        &ops::contract::impact::OPERATION,
        contract_impact,
    ),
    Route {
        method: "POST",
        body: &[
            Parameter::json("payload", "what is checked"),
            Parameter::optional("version", Kind::Text, "a published version; the current one by default"),
            Parameter::optional("range", Kind::Text, "every published version in this range"),
        ],
        ..read(
            "/realms/{realm}/contracts/{domain}/{contract}/validate",
            &[],
            &ops::contract::validate::OPERATION,
            contract_validate,
        )
    },
    read(
        "/realms/{realm}/contracts/{domain}/{contract}/blame",
        &[
            Parameter::optional("pointer", Kind::Text, "only this part, a JSON Pointer"),
            Parameter::optional("version", Kind::Text, "a published version; the current one by default"),
            LIMIT,
            CURSOR,
        ],
        &ops::contract::blame::OPERATION,
        contract_blame,
    ),
    read(
        "/contracts/{domain}/{contract}/timeline",
        &[LIMIT, CURSOR],
        &ops::contract::timeline::OPERATION,
        contract_timeline,
    ),
    read(
        "/sessions",
        &[REALM, REPO, Parameter::optional("ended", Kind::Flag, "also those that ended"), LIMIT, CURSOR],
        &ops::session::list::OPERATION,
        session_list,
    ),
    Route {
        method: "POST",
        body: &[
            Parameter::required("realm", ""),
            Parameter::required("repo", "it must lie on this machine"),
            Parameter::optional("rfc", Kind::Text, "what is worked on, as branches are named"),
        ],
        ..read("/sessions", &[], &ops::session::start::OPERATION, session_start)
    },
    Route { method: "DELETE", ..read("/sessions/{id}", &[REALM, REPO], &ops::session::stop::OPERATION, session_stop) },
    read(
        "/notifications",
        &[
            REALM,
            REPO,
            Parameter::optional("state", Kind::OneOf(&["all", "pending", "seen", "expired"]), ""),
            KIND,
            SINCE,
            UNTIL,
            FROM_REPO,
            LIMIT,
            CURSOR,
        ],
        &ops::notifications::list::OPERATION,
        notifications_list,
    ),
    Route {
        method: "POST",
        ..read("/notifications/{id}/ack", &[REALM, REPO], &ops::notifications::ack::OPERATION, notifications_ack)
    },
    Route {
        query: &[REALM, REPO],
        ..other("GET", "/events", "Tell what changes, as server-sent events", Does::Events)
    },
    other("GET", "/openapi.json", "Describe these routes", Does::OpenApi),
    other("POST", "/links", "Make a link that lets a browser in", Does::Link),
    Route {
        query: &[Parameter::required("key", "what a link brought along")],
        ..other("GET", "/open", "Let a browser in, once; needs no token", Does::Open)
    },
    other("GET", "/mcp", "Speak MCP: listen", Does::Mcp),
    other("POST", "/mcp", "Speak MCP", Does::Mcp),
    other("DELETE", "/mcp", "Speak MCP: end a session", Does::Mcp),
];

impl Route {
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

    /// Returns the realm that the path names.
    ///
    /// # Errors
    /// Where it is no name.
    pub fn realm(&self) -> Result<RealmName, OpError> {
        Ok(self.part("realm").parse()?)
    }

    fn repo(&self) -> Result<Option<RepoName>, OpError> {
        self.arguments.parsed("repo")
    }

    fn ctx(&self) -> Result<ops::ctx::Ctx, OpError> {
        self.desk.of(&self.realm()?, self.repo()?.as_ref())
    }

    fn contract(&self) -> Result<ContractRef, OpError> {
        Ok(ContractRef { domain: self.part("domain").parse()?, contract: self.part("contract").parse()? })
    }

    /// Returns which files of the repository that asks are looked at, if any.
    fn draft(&self) -> Result<Option<Draft>, OpError> {
        let commit = self.arguments.text("commit").map(|commit| Draft::Commit(commit.to_owned()));
        let worktree = self.arguments.flag("worktree").then_some(Draft::Worktree);
        match (commit, worktree, self.arguments.text("to"), self.arguments.text("repo")) {
            (None, None, _, _) => Ok(None),
            (Some(draft), None, None, Some(_)) | (None, Some(draft), None, Some(_)) => Ok(Some(draft)),
            (.., None) => Err(OpError::no(ErrorCode::NotInRepo, "pass repo: whose files are meant")),
            _ => Err(OpError::no(ErrorCode::Contradiction, "pass one of to, worktree and commit")),
        }
    }

    fn page(&self) -> PageRequest {
        PageRequest { limit: self.arguments.count("limit"), cursor: self.arguments.text("cursor").map(str::to_owned) }
    }

    fn made(&self) -> Result<Filter, OpError> {
        self.arguments.made()
    }

    fn narrowed(&self) -> Result<Narrowed, OpError> {
        Ok(Narrowed { realm: self.arguments.parsed("realm")?, repo: self.repo()? })
    }
}

fn realm_list(call: &Call<'_>) -> Result<Reply, OpError> {
    Ok(Reply::of(&ops::realm::list::run(&call.desk.nowhere()?)?))
}

fn realm_status(call: &Call<'_>) -> Result<Reply, OpError> {
    // As `--peek` does: reading tells nobody.
    let request = ops::realm::status::Request { page: call.page(), ..Default::default() };
    Ok(Reply::of(&ops::realm::status::run(&call.ctx()?, &request)?.0))
}

fn realm_sync(call: &Call<'_>) -> Result<Reply, OpError> {
    let request = ops::realm::sync::Request {
        dry_run: call.arguments.flag("dry_run"),
        remote: call.arguments.parsed("remote")?,
        ..Default::default()
    };
    Ok(Reply::of(&ops::realm::sync::run(&call.ctx()?, &request)?))
}

fn realm_check(call: &Call<'_>) -> Result<Reply, OpError> {
    let subject = match call.repo()? {
        Some(_) => ops::realm::check::Subject::Head,
        None => ops::realm::check::Subject::Published,
    };
    let rfc = call.arguments.parsed("rfc")?;
    let request = ops::realm::check::Request { subject, rfc, ..Default::default() };
    Ok(Reply::of(&ops::realm::check::run(&call.ctx()?, &request)?))
}

fn realm_review(call: &Call<'_>) -> Result<Reply, OpError> {
    Ok(Reply::of(&ops::realm::review::run(&call.ctx()?)?))
}

fn realm_log(call: &Call<'_>) -> Result<Reply, OpError> {
    let (domain, filter) = (call.arguments.parsed("domain")?, call.made()?);
    let request = ops::realm::log::Request { domain, filter, page: call.page() };
    Ok(Reply::of(&ops::realm::log::run(&call.ctx()?, &request)?))
}

fn realm_topology(call: &Call<'_>) -> Result<Reply, OpError> {
    let request = ops::realm::topology::Request { domain: call.arguments.parsed("domain")? };
    Ok(Reply::of(&ops::realm::topology::run(&call.ctx()?, &request)?))
}

fn contract_list(call: &Call<'_>) -> Result<Reply, OpError> {
    let search = call.arguments.text("search").map(str::to_owned);
    let request = ops::contract::list::Request { domain: call.arguments.parsed("domain")?, search, page: call.page() };
    Ok(Reply::of(&ops::contract::list::run(&call.ctx()?, &request)?))
}

fn contract_get(call: &Call<'_>) -> Result<Reply, OpError> {
    let version = call.arguments.parsed("version")?;
    let request = ops::contract::get::Request { contract: call.contract()?, version };
    Ok(Reply::of(&ops::contract::get::run(&call.ctx()?, &request)?))
}

fn contract_log(call: &Call<'_>) -> Result<Reply, OpError> {
    let request = ops::contract::log::Request { contract: call.contract()?, filter: call.made()?, page: call.page() };
    Ok(Reply::of(&ops::contract::log::run(&call.ctx()?, &request)?))
}

fn contract_diff(call: &Call<'_>) -> Result<Reply, OpError> {
    let old = call.arguments.parsed("from")?;
    let new = match call.draft()? {
        Some(draft) => Newer::Draft(draft),
        None => Newer::Version(call.arguments.parsed("to")?),
    };
    let request = ops::contract::diff::Request { contract: call.contract()?, old, new };
    Ok(Reply::of(&ops::contract::diff::run(&call.ctx()?, &request)?))
}

fn contract_impact(call: &Call<'_>) -> Result<Reply, OpError> {
    let to = match call.draft()? {
        Some(draft) => Candidate::Draft(draft),
        None => Candidate::Version(call.arguments.parsed("to")?),
    };
    let request = ops::contract::impact::Request { contract: call.contract()?, to };
    Ok(Reply::of(&ops::contract::impact::run(&call.ctx()?, &request)?))
}

fn contract_validate(call: &Call<'_>) -> Result<Reply, OpError> {
    let against = match (call.arguments.parsed("version")?, call.arguments.parsed("range")?) {
        (None, None) => Against::Current,
        (Some(version), None) => Against::Version(version),
        (None, Some(range)) => Against::Range(range),
        (Some(_), Some(_)) => return Err(OpError::no(ErrorCode::Contradiction, "pass one of version and range")),
    };
    let value = call.arguments.json("payload").cloned().unwrap_or_default();
    let payload = Payload { file: "payload".to_owned(), document: Document { line: None, value } };
    let request = ops::contract::validate::Request { contract: call.contract()?, against, payloads: vec![payload] };
    Ok(Reply::of(&ops::contract::validate::run(&call.ctx()?, &request)?))
}

fn contract_blame(call: &Call<'_>) -> Result<Reply, OpError> {
    let request = ops::contract::blame::Request {
        contract: call.contract()?,
        pointer: call.arguments.text("pointer").map(str::to_owned),
        version: call.arguments.parsed("version")?,
        page: call.page(),
    };
    Ok(Reply::of(&ops::contract::blame::run(&call.ctx()?, &request)?))
}

fn contract_timeline(call: &Call<'_>) -> Result<Reply, OpError> {
    let request = ops::contract::timeline::Request { contract: call.contract()?, page: call.page() };
    Ok(Reply::of(&ops::contract::timeline::run(&call.desk.nowhere()?, &request)?))
}

/// One realm is answered as the operation does, more than one as the lists of all.
fn session_list(call: &Call<'_>) -> Result<Reply, OpError> {
    let (narrowed, ended, page) = (call.narrowed()?, call.arguments.flag("ended"), call.page());
    match &narrowed {
        Narrowed { realm: Some(realm), repo: None } => {
            let request = ops::session::list::Request { ended, page };
            Ok(Reply::of(&ops::session::list::run(&call.desk.realm(realm)?, &request)?))
        }
        _ => Ok(Reply::of(&all_realms::sessions(call.desk, &narrowed, ended, &page)?)),
    }
}

fn session_start(call: &Call<'_>) -> Result<Reply, OpError> {
    let ctx = call.desk.repo(&call.arguments.needed("realm")?, &call.arguments.needed("repo")?)?;
    let request = ops::session::start::Request { rfc: call.arguments.parsed("rfc")? };
    Ok(Reply::of(&ops::session::start::run(&ctx, &request)?))
}

fn session_stop(call: &Call<'_>) -> Result<Reply, OpError> {
    let id = call.part("id");
    let (realm, repo) = all_realms::session_in(call.desk, &call.narrowed()?, id)?;
    let request = ops::session::stop::Request { id: id.parse().ok() };
    Ok(Reply::of(&ops::session::stop::run(&call.desk.repo(&realm, &repo)?, &request)?))
}

/// One repository of one realm is answered as the operation does, more than one as the lists of all.
fn notifications_list(call: &Call<'_>) -> Result<Reply, OpError> {
    let filter = match call.arguments.text("state") {
        Some("pending") => NotificationFilter::Pending,
        Some("seen") => NotificationFilter::Seen,
        Some("expired") => NotificationFilter::Expired,
        _ => NotificationFilter::All,
    };
    let (made, kind) = (call.made()?, call.arguments.parsed("kind")?);
    let wanted = ops::notifications::list::Request { filter, made, kind, ..Default::default() };
    let (narrowed, page) = (call.narrowed()?, call.page());
    match &narrowed {
        Narrowed { realm: Some(realm), repo: Some(repo) } => {
            let request = ops::notifications::list::Request { page, ..wanted };
            Ok(Reply::of(&ops::notifications::list::run(&call.desk.repo(realm, repo)?, &request)?))
        }
        _ => Ok(Reply::of(&all_realms::notifications(call.desk, &narrowed, &wanted, &page)?)),
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
