//! The tools: one table, from which `tools/list`, the calls, `git blue mcp list-tools` and the
//! reference in `docs/mcp.md` are made. Every tool is an operation of `ops::TABLE`.

use super::{
    arguments::{Arguments, Kind, Parameter},
    body::{self, Body, Lists},
    settings::Settings,
    weigh::MAX_BODY,
};
use crate::{
    error::OpError,
    model::name::{ContractRef, ReaderName},
    ops::{self, Operation, ctx::Ctx},
    wire::{NotificationFilter, PageRequest},
};

/// A tool.
#[derive(Clone, Copy)]
pub struct Tool {
    /// The operation that it calls.
    pub operation: &'static Operation,
    /// What it is for, and when to use it.
    pub about: &'static str,
    /// What it takes, besides what every tool takes.
    pub parameters: &'static [Parameter],
    /// Whether what is pending comes with its answers.
    pub tells: bool,
    /// The lists that are shown in pages.
    pub lists: Lists,
    /// Whether it waits for git in several repositories, or for a forge: it runs beside the others.
    pub is_slow: bool,
    /// Calls the operation.
    pub run: fn(&Call<'_>) -> Result<Body, OpError>,
}

/// A call, ready to run.
pub struct Call<'a> {
    /// What operations work with.
    pub ctx: &'a Ctx,
    /// The arguments.
    pub arguments: &'a Arguments,
    /// Who asks.
    pub reader: &'a ReaderName,
}

const DETAIL: Parameter = Parameter::optional("detail", Kind::OneOf(&["concise", "full"]), "");
const DOMAIN: Parameter = Parameter::required("domain", "");
/// Narrows a list.
const ONLY_DOMAIN: Parameter = Parameter::optional("domain", Kind::Text, "");
const CONTRACT: Parameter = Parameter::required("contract", "");
const LIMIT: Parameter = Parameter::optional("limit", Kind::Count, "");
const CURSOR: Parameter = Parameter::optional("cursor", Kind::Text, "");
/// How many imports `realm_status` lists, however they stand.
const MAX_IMPORTS: usize = 30;
/// What every tool takes.
const CWD: Parameter = Parameter::optional("cwd", Kind::Text, "absolute path");
/// What every tool takes where there is more than one realm to choose from.
const REALM: Parameter = Parameter::optional("realm", Kind::Text, "");

/// The lists of a realm's topology.
pub const TOPOLOGY_LISTS: Lists = &["repos", "unreadable", "domains", "domains.contracts"];

/// Every tool, in the order in which clients see them.
pub const TOOLS: &[Tool] = &[
    Tool {
        operation: &ops::realm_status::OPERATION,
        about: "Overview of the realm: repositories, domains, contracts, bindings, how this repository's imports \
                stand. Call it first, and to see what changed.",
        parameters: &[LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: realm_status,
    },
    Tool {
        operation: &ops::realm_check::OPERATION,
        about: "Does this repository's .blue/ (of HEAD, or of the work tree) hold with the realm? Call it after \
                editing a contract or a binding, and before a release.",
        parameters: &[
            REALM,
            Parameter::optional("worktree", Kind::Flag, "check uncommitted files instead of HEAD"),
            DETAIL,
            LIMIT,
            CURSOR,
        ],
        tells: true,
        lists: &["errors", "warnings", "schema_hashes"],
        is_slow: false,
        run: realm_check,
    },
    Tool {
        operation: &ops::contract_get::OPERATION,
        about: "One contract: schema, value, versions, who exports and imports it. Call it before relying on a \
                contract or changing it.",
        parameters: &[
            DOMAIN,
            CONTRACT,
            Parameter::optional("version", Kind::Text, "a published version; default: the current one"),
            Parameter::optional("at", Kind::Text, "JSON pointer: only this part, e.g. /schema/properties"),
            Parameter::optional("offset", Kind::Count, "of a text at that place"),
            DETAIL,
        ],
        tells: true,
        lists: &[],
        is_slow: false,
        run: contract_get,
    },
    Tool {
        operation: &ops::session_start::OPERATION,
        about: "Begin a session: one stretch of work in this work tree. Call it when work on something starts.",
        parameters: &[Parameter::optional("active_rfc", Kind::Text, "what is worked on, as its branch is named")],
        tells: true,
        lists: &[],
        is_slow: false,
        run: session_start,
    },
    Tool {
        operation: &ops::session_stop::OPERATION,
        about: "End the session, with a summary of what changed meanwhile. Call it when the work is done.",
        parameters: &[],
        tells: false,
        lists: &[],
        is_slow: false,
        run: session_stop,
    },
    Tool {
        operation: &ops::realm_worktree_create::OPERATION,
        about: "A git worktree of an RFC in each repository that shares a domain with this one, or in those named. \
                Call it to work on several repositories at once.",
        parameters: &[Parameter::required("rfc", "also the branch"), Parameter::optional("repos", Kind::List, "")],
        tells: true,
        lists: &[],
        is_slow: true,
        run: realm_worktree_create,
    },
    Tool {
        operation: &ops::realm_pr_status::OPERATION,
        about: "How far an RFC is in each repository: uncommitted, unpushed, pull request, merge order.",
        parameters: &[Parameter::optional("rfc", Kind::Text, "")],
        tells: true,
        lists: &["repos"],
        is_slow: true,
        run: realm_pr_status,
    },
    Tool {
        operation: &ops::contract_list::OPERATION,
        about: "Contracts of the realm or of one domain, in pages. Call it where realm_status says there are more.",
        parameters: &[ONLY_DOMAIN, LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: contract_list,
    },
    Tool {
        operation: &ops::notifications_list::OPERATION,
        about: "What other repositories changed, also what was told already. New changes come with the answers of \
                other tools; call it to look back.",
        parameters: &[
            Parameter::optional("state", Kind::OneOf(&["pending", "seen", "expired", "all"]), "default all"),
            LIMIT,
            CURSOR,
        ],
        tells: false,
        lists: &[],
        is_slow: false,
        run: notifications_list,
    },
    Tool {
        operation: &ops::contract_diff::OPERATION,
        about: "What changed between two versions of a contract, field by field. Call it before adapting code.",
        parameters: &[
            DOMAIN,
            CONTRACT,
            Parameter::optional("old_version", Kind::Text, "default: the one before new_version"),
            Parameter::optional("new_version", Kind::Text, "default: the current one"),
            LIMIT,
            CURSOR,
        ],
        tells: true,
        lists: &["changes"],
        is_slow: false,
        run: contract_diff,
    },
    Tool {
        operation: &ops::contract_impact::OPERATION,
        about: "Who imports a contract, in which file, and whom a version would break. Call it before raising a \
                version.",
        parameters: &[
            DOMAIN,
            CONTRACT,
            Parameter::optional("to", Kind::Text, "a version, published or not; default: the current one"),
            LIMIT,
            CURSOR,
        ],
        tells: true,
        lists: &["importers"],
        is_slow: false,
        run: contract_impact,
    },
    Tool {
        operation: &ops::realm_topology::OPERATION,
        about: "Who provides what to whom: contracts, exporters, importers, per domain.",
        parameters: &[ONLY_DOMAIN, LIMIT, CURSOR],
        tells: true,
        lists: TOPOLOGY_LISTS,
        is_slow: false,
        run: realm_topology,
    },
    Tool {
        operation: &ops::realm_log::OPERATION,
        about: "History of the realm, newest first: who changed what, and when.",
        parameters: &[ONLY_DOMAIN, DETAIL, LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: realm_log,
    },
    Tool {
        operation: &ops::realm_list::OPERATION,
        about: "The realms of this machine. Call it to find the name to pass as realm.",
        parameters: &[],
        tells: false,
        lists: &["realms"],
        is_slow: false,
        run: realm_list,
    },
    Tool {
        operation: &ops::realm_compare::OPERATION,
        about: "What two realms hold of the same contracts: which versions, and what only one of them has.",
        parameters: &[Parameter::required("other", "name of the realm to compare with"), LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: realm_compare,
    },
    Tool {
        operation: &ops::contract_timeline::OPERATION,
        about: "When each realm of this machine got each version of a contract, newest first.",
        parameters: &[DOMAIN, CONTRACT, LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: contract_timeline,
    },
];

/// The tools that make sense only where there is more than one realm to choose from.
const OF_ALL_REALMS: [&Operation; 3] =
    [&ops::realm_list::OPERATION, &ops::realm_compare::OPERATION, &ops::contract_timeline::OPERATION];

impl Tool {
    /// Returns its name.
    pub fn name(&self) -> &'static str {
        self.operation.name
    }

    /// Returns how to get what did not fit into an answer.
    pub fn rest(&self) -> &'static str {
        match self.parameters.iter().any(|one| one.name == "at") {
            true => "pass at, a JSON pointer that cut names (without /contract), to get a part that was cut",
            false => "ask for less, with limit or another argument, to get what was cut",
        }
    }

    /// Returns everything that it takes.
    pub fn all_parameters(&self, settings: &Settings) -> Vec<Parameter> {
        let mut all = self.parameters.to_vec();
        all.extend(common(settings).into_iter().filter(|one| !self.parameters.iter().any(|own| own.name == one.name)));
        all
    }
}

/// Returns what every tool takes.
pub fn common(settings: &Settings) -> Vec<Parameter> {
    let realm = settings.all_realms.then_some(REALM);
    realm.into_iter().chain([CWD]).collect()
}

/// Older names of tools: they are answered, and not listed.
pub const ALIASES: [(&str, &str); 2] = [("worktree_create", "realm_worktree_create"), ("pr_status", "realm_pr_status")];

/// Returns the tool that a client names, if a server offers it.
pub fn named(name: &str, settings: &Settings) -> Option<&'static Tool> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    offered(settings).find(|tool| tool.name() == name)
}

/// Returns the tools of a server.
pub fn offered(settings: &Settings) -> impl Iterator<Item = &'static Tool> + use<> {
    let (read_only, all_realms) = (settings.read_only, settings.all_realms);
    TOOLS.iter().filter(move |tool| {
        let is_of_all = OF_ALL_REALMS.iter().any(|operation| operation.name == tool.name());
        !(read_only && tool.operation.writes) && (all_realms || !is_of_all)
    })
}

impl Call<'_> {
    fn is_full(&self) -> bool {
        self.arguments.text("detail") == Some("full")
    }

    fn contract(&self) -> Result<ContractRef, OpError> {
        Ok(ContractRef { domain: self.arguments.needed("domain")?, contract: self.arguments.needed("contract")? })
    }

    /// Asks for a page, and for a smaller one while it does not fit a message: by as much smaller as
    /// it is too large, because each costs as much as the first.
    fn paged(&self, usual: usize, ask: impl Fn(PageRequest) -> Result<Body, OpError>) -> Result<Body, OpError> {
        let mut limit = self.arguments.count("limit").unwrap_or(usual).min(1_000);
        loop {
            let mut body =
                ask(PageRequest { limit: Some(limit), cursor: self.arguments.text("cursor").map(str::to_owned) })?;
            if body.fits() || limit == 1 {
                if let Some(cursor) = body.fields.get("next_cursor").and_then(serde_json::Value::as_str) {
                    body.next_steps.push(format!("call again with cursor {cursor}: what follows"));
                }
                return Ok(body);
            }
            limit = (limit * MAX_BODY / body.weight()).clamp(1, limit - 1);
        }
    }
}

fn realm_status(call: &Call<'_>) -> Result<Body, OpError> {
    call.paged(20, |page| {
        let (answer, _) =
            ops::realm_status::run(call.ctx, &ops::realm_status::Request { reader: None, page, catch_up: false })?;
        let mut body = Body::of(&answer);
        leave_out_current_imports(&mut body);
        Ok(body)
    })
}

/// Of many imports, those that are as they should be are counted, not listed: they would be on every
/// page, and leave no room for what the page is about.
fn leave_out_current_imports(body: &mut Body) {
    if let Some(serde_json::Value::Array(imports)) = body.fields.get_mut("imports")
        && imports.len() > MAX_IMPORTS
    {
        let all = imports.len();
        imports.retain(|import| import["state"] != "current");
        let current = all - imports.len();
        body.next_steps.push(format!("{current} of {all} imports are current and not listed"));
    }
}

fn realm_check(call: &Call<'_>) -> Result<Body, OpError> {
    let subject = match call.arguments.flag("worktree") {
        true => ops::realm_check::Subject::Worktree,
        false => ops::realm_check::Subject::Head,
    };
    let request = ops::realm_check::Request { reader: None, subject, ..ops::realm_check::Request::default() };
    let answer = ops::realm_check::run(call.ctx, &request)?;
    let mut body = Body::of(&answer);
    if let (false, Some(repo), Some(serde_json::Value::Array(hashes))) =
        (call.is_full(), &answer.body.current_repo, body.fields.get_mut("schema_hashes"))
        && hashes.len() > 20
    {
        hashes.retain(|one| one["owner"] == repo.as_str());
    }
    Ok(body)
}

fn contract_get(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::contract_get::Request { contract: call.contract()?, version: call.arguments.parsed("version")? };
    let answer = ops::contract_get::run(call.ctx, &request)?;
    let mut body = Body::of(&answer);
    if let Some(at) = call.arguments.text("at") {
        body::only_at(&mut body, "contract", at, call.arguments.count("offset"))?;
    } else if call.arguments.count("offset").is_some() {
        return Err(OpError::usage("offset says where in a text to begin: it needs at"));
    } else if !call.is_full() {
        body::without_empty(
            &mut body,
            "contract",
            &["validation", "supported", "deprecated", "retired", "yanked", "description"],
        );
        if let Some(contract) = body.fields.get_mut("contract").and_then(serde_json::Value::as_object_mut) {
            contract.remove("content_hash");
            contract.remove("schema_hash");
        }
    }
    Ok(body)
}

fn session_start(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::session_start::Request { rfc: call.arguments.parsed("active_rfc")? };
    Ok(Body::of(&ops::session_start::run(call.ctx, &request)?))
}

fn session_stop(call: &Call<'_>) -> Result<Body, OpError> {
    Ok(Body::of(&ops::session_stop::run(call.ctx, &ops::session_stop::Request::default())?))
}

fn realm_worktree_create(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::realm_worktree_create::Request {
        rfc: call.arguments.needed("rfc")?,
        repos: call.arguments.list("repos")?,
        fetch: false,
        clone: false,
    };
    Ok(Body::of(&ops::realm_worktree_create::run(call.ctx, &request)?))
}

fn realm_pr_status(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::realm_pr_status::Request { rfc: call.arguments.parsed("rfc")? };
    Ok(Body::of(&ops::realm_pr_status::run(call.ctx, &request)?))
}

fn contract_list(call: &Call<'_>) -> Result<Body, OpError> {
    let domain = call.arguments.parsed("domain")?;
    call.paged(100, |page| {
        let request = ops::contract_list::Request { domain: domain.clone(), search: None, page };
        Ok(Body::of(&ops::contract_list::run(call.ctx, &request)?))
    })
}

fn notifications_list(call: &Call<'_>) -> Result<Body, OpError> {
    let filter = match call.arguments.text("state") {
        Some("pending") => NotificationFilter::Pending,
        Some("seen") => NotificationFilter::Seen,
        Some("expired") => NotificationFilter::Expired,
        _ => NotificationFilter::All,
    };
    call.paged(50, |page| {
        let request = ops::notifications_list::Request { reader: call.reader.clone(), filter, page };
        Ok(Body::of(&ops::notifications_list::run(call.ctx, &request)?))
    })
}

fn realm_log(call: &Call<'_>) -> Result<Body, OpError> {
    let domain = call.arguments.parsed("domain")?;
    call.paged(50, |page| {
        let answer = ops::realm_log::run(call.ctx, &ops::realm_log::Request { domain: domain.clone(), page })?;
        let mut body = Body::of(&answer);
        if !call.is_full()
            && let Some(serde_json::Value::Array(entries)) = body.fields.get_mut("entries")
        {
            for entry in entries.iter_mut().filter_map(serde_json::Value::as_object_mut) {
                entry.remove("source_commit");
            }
        }
        Ok(body)
    })
}

fn contract_diff(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::contract_diff::Request {
        contract: call.contract()?,
        old: call.arguments.parsed("old_version")?,
        new: call.arguments.parsed("new_version")?,
    };
    Ok(Body::of(&ops::contract_diff::run(call.ctx, &request)?))
}

fn contract_impact(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::contract_impact::Request { contract: call.contract()?, to: call.arguments.parsed("to")? };
    Ok(Body::of(&ops::contract_impact::run(call.ctx, &request)?))
}

fn realm_topology(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::realm_topology::Request { domain: call.arguments.parsed("domain")? };
    Ok(Body::of(&ops::realm_topology::run(call.ctx, &request)?))
}

fn realm_list(call: &Call<'_>) -> Result<Body, OpError> {
    Ok(Body::of(&ops::realm_list::run(call.ctx)?))
}

fn realm_compare(call: &Call<'_>) -> Result<Body, OpError> {
    let other: crate::model::name::RealmName = call.arguments.needed("other")?;
    call.paged(50, |page| {
        let request = ops::realm_compare::Request { other: other.clone(), page };
        Ok(Body::of(&ops::realm_compare::run(call.ctx, &request)?))
    })
}

fn contract_timeline(call: &Call<'_>) -> Result<Body, OpError> {
    let contract = call.contract()?;
    call.paged(50, |page| {
        let request = ops::contract_timeline::Request { contract: contract.clone(), page };
        Ok(Body::of(&ops::contract_timeline::run(call.ctx, &request)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_an_operation_with_a_command() {
        for tool in TOOLS {
            assert!(ops::TABLE.iter().any(|operation| operation.name == tool.name()), "{}", tool.name());
            assert!(!tool.operation.cli.is_empty());
        }
    }

    #[test]
    fn the_operations_that_the_design_names_are_tools_as_soon_as_they_exist() {
        for name in [
            "realm_status",
            "realm_check",
            "contract_get",
            "session_start",
            "session_stop",
            "realm_worktree_create",
            "realm_pr_status",
            "notifications_list",
            "contract_diff",
            "contract_impact",
            "realm_topology",
            "realm_log",
            "realm_compare",
            "contract_timeline",
        ] {
            let is_operation = ops::TABLE.iter().any(|operation| operation.name == name);
            assert_eq!(TOOLS.iter().any(|tool| tool.name() == name), is_operation, "{name}");
        }
    }

    #[test]
    fn a_parameter_is_named_once() {
        let env = crate::env::Env::sealed("/", []);
        let options = super::super::Options { all_realms: true, ..Default::default() };
        let settings = Settings::new(&env, &options);
        for tool in TOOLS {
            let mut names: Vec<_> = tool.all_parameters(&settings).iter().map(|one| one.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", tool.name());
        }
    }
}
