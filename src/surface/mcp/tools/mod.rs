//! The tools: every operation of `ops::TABLE` that says when a model should call it. `tools/list`, the calls, `git
//! blue mcp list-tools` and `docs/mcp.md` are generated from them.

mod call;
mod contract;
mod listed;
mod realm;
mod session;
mod table;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, Value};

pub use call::Call;
pub use listed::listed;
pub use realm::{TOPOLOGY_PAGE, shorten};

use super::{
    realm_argument::{self, RealmArgument},
    settings::Settings,
};
use crate::{
    ops::{
        self, Operation,
        as_of::{self, At},
        operation,
    },
    surface::arguments::{self, Parameter},
    wire::PageRequest,
};
use table::{KINDS, PLAIN, ToolKind};

/// A tool.
pub struct Tool {
    /// The operation that it calls.
    pub operation: &'static Operation,
    /// The functions that call the operation.
    pub call: operation::Call,
    /// The purpose of the tool, and when to use it.
    pub about: &'static str,
    /// The behavior of the tool besides calling the operation.
    pub kind: ToolKind,
    /// The arguments of the tool.
    pub parameters: Vec<Parameter>,
}

/// The arguments of every tool.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is read by its names")]
struct CwdArgument {
    /// absolute path
    cwd: Option<String>,
}

/// All tools, in the order of `tools/list`.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let of = |operation: &Operation| KINDS.iter().position(|(of, _)| of.name == operation.name);
    let mut tools: Vec<_> = ops::TABLE.iter().filter_map(|operation| Tool::of(operation, of(operation))).collect();
    tools.sort_by_key(|tool| of(tool.operation).unwrap_or(KINDS.len()));
    tools
});

/// The arguments that choose the project: on a server of one realm, and on a server of all realms.
static COMMON: LazyLock<[Vec<Parameter>; 2]> = LazyLock::new(|| {
    let of_all = [arguments::of::<RealmArgument>(), arguments::of::<CwdArgument>()].concat();
    [arguments::of::<CwdArgument>(), of_all]
});

/// The tools that are useful only with more than one realm.
const OF_ALL_REALMS: [&Operation; 2] = [&ops::realm::compare::OPERATION, &ops::contract::timeline::OPERATION];

impl Tool {
    /// Returns the tool of an operation, if it declares one.
    fn of(operation: &'static Operation, position: Option<usize>) -> Option<Self> {
        let (call, about) = (operation.call?, operation.tool?);
        let kind = position.map_or(PLAIN, |at| KINDS[at].1);
        let mut own = arguments::parameters((call.request)());
        own.retain(|one| !kind.hides.contains(&&*one.name));
        for one in &mut own {
            if let Some((name, _)) = kind.names.iter().find(|(_, of)| *of == one.name) {
                one.name = (*name).to_owned();
            }
        }
        let paged = if kind.lists.is_empty() { Vec::new() } else { arguments::of::<PageRequest>() };
        let past = if as_of::require(Some(operation)).is_ok() { arguments::of::<At>() } else { Vec::new() };
        own.extend(kind.adds.iter().flat_map(|add| add()).chain(paged).chain(past).chain(COMMON[1].clone()));
        let parameters = own;
        Some(Self { operation, call, about, kind, parameters })
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &'static str {
        self.operation.name
    }

    /// Returns whether the tool works on this machine as a whole and needs no repository.
    pub fn is_of_the_machine(&self) -> bool {
        self.operation.name == ops::realm::list::OPERATION.name
    }

    /// Returns a hint on how to get what did not fit into an answer.
    pub fn rest_hint(&self) -> &'static str {
        if self.parameters.iter().any(|one| one.name == "offset") {
            "to get a part that cut lists, pass its JSON pointer, without /contract, as pointer"
        } else {
            "use limit or another argument to get less at once"
        }
    }

    /// Returns whether an argument is listed. Unlisted ones are also accepted: a limit is not needed because answers
    /// are cut to a message, and a server of one realm does not need its name.
    fn lists(&self, name: &str, settings: &Settings) -> bool {
        match name {
            "limit" => self.kind.lists.is_empty(),
            "realm" => settings.all_realms && realm_argument::is_listed_for(self.name()),
            _ => true,
        }
    }
}

/// Returns the arguments of tools that the user declared.
pub fn common(settings: &Settings) -> &'static [Parameter] {
    &COMMON[usize::from(settings.all_realms)]
}

/// Returns the tool of this name, if the server offers it.
pub fn named(name: &str, settings: &Settings) -> Option<&'static Tool> {
    offered(settings).find(|tool| tool.name() == name)
}

/// Returns the full input schema of a tool, for the documentation; `tools/list` has a shorter one.
pub fn input(name: &str) -> Option<Map<String, Value>> {
    TOOLS.iter().find(|tool| tool.name() == name).map(|tool| arguments::schema(&tool.parameters))
}

/// Returns the tools that a server offers.
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
    fn every_kind_belongs_to_a_tool_and_names_existing_fields() {
        for (operation, kind) in KINDS {
            let tool = TOOLS.iter().find(|tool| tool.name() == operation.name).unwrap();
            let fields = arguments::parameters((tool.call.request)());
            for name in kind.hides.iter().chain(kind.names.iter().map(|(_, name)| name)) {
                assert!(fields.iter().any(|one| one.name == *name), "{}: {name}", tool.name());
            }
        }
    }

    #[test]
    fn parameter_names_are_unique() {
        for tool in &*TOOLS {
            let mut names: Vec<_> = tool.parameters.iter().map(|one| &one.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", tool.name());
        }
    }
}
