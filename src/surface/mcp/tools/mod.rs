//! The tools: one table, from which `tools/list`, the calls, `git blue mcp list-tools` and the
//! reference in `docs/mcp.md` are made. Every tool is an operation of `ops::TABLE`.

mod call;
mod contract;
mod listed;
mod realm;
mod session;
mod table;

pub use call::Call;
pub use listed::listed;
pub use table::{TOOLS, TOPOLOGY_LISTS};

use super::{
    arguments::{Kind, Parameter},
    body::Body,
    paging::Lists,
    settings::Settings,
};
use crate::{
    error::OpError,
    ops::{self, Operation},
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

/// What every tool takes.
const CWD: Parameter = Parameter::optional("cwd", Kind::Text, "absolute path");
/// What every tool takes where there is more than one realm to choose from.
const REALM: Parameter = Parameter::optional("realm", Kind::Text, "");

/// The tools that make sense only where there is more than one realm to choose from.
const OF_ALL_REALMS: [&Operation; 2] = [&ops::realm::compare::OPERATION, &ops::contract::timeline::OPERATION];

impl Tool {
    /// Returns its name.
    pub fn name(&self) -> &'static str {
        self.operation.name
    }

    /// Returns whether it is about this machine, and needs no repository.
    pub fn is_of_the_machine(&self) -> bool {
        self.operation.name == ops::realm::list::OPERATION.name
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
            "realm_review",
            "contract_get",
            "session_start",
            "session_stop",
            "realm_worktree_create",
            "realm_pr_status",
            "notifications_list",
            "contract_diff",
            "contract_impact",
            "contract_validate",
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
