//! The differences between tools and their operations: additional arguments, pages, and fields that are left out.

use super::{
    super::{body::Body, paging::Lists},
    Call, contract, realm, session,
};
use crate::{
    error::OpError,
    ops::{self, Operation},
    surface::arguments::{self, Parameter},
};

/// The differences between a tool and its operation.
#[derive(Clone, Copy)]
pub struct ToolKind {
    /// Fields of the request that the tool does not take.
    pub hides: &'static [&'static str],
    /// Arguments in addition to the fields of the request.
    pub adds: &'static [fn() -> Vec<Parameter>],
    /// Renamed arguments, as pairs of the name in the tool and the name in the request.
    pub names: &'static [(&'static str, &'static str)],
    /// Whether pending notifications are added to its answers.
    pub notifies: bool,
    /// The lists that are paged.
    pub lists: Lists,
    /// Whether it can be slow, because it runs git in several repositories, queries a forge, or
    /// reads many domains or large schemas. Slow tools run on separate threads.
    pub is_slow: bool,
    /// Whether it sends requests to a forge.
    pub asks_forges: bool,
    /// Calls the operation.
    pub run: fn(&Call<'_>) -> Result<Body, OpError>,
}

/// A tool that takes exactly the request of its operation.
pub const PLAIN: ToolKind = ToolKind {
    hides: &[],
    adds: &[],
    names: &[],
    notifies: true,
    lists: &[],
    is_slow: false,
    asks_forges: false,
    run: |call| call.ask(call.arguments.fields()),
};

/// The tools that differ from their operations, and those that come first in `tools/list`, in this order.
pub const KINDS: &[(&Operation, ToolKind)] = &[
    (&ops::realm::status::OPERATION, ToolKind { run: realm::status, ..PLAIN }),
    (
        &ops::realm::check::OPERATION,
        ToolKind {
            hides: &["all", "base", "commit", "mode", "published", "staged", "strict"],
            adds: &[arguments::of::<realm::ScopeArgument>, arguments::of::<realm::Detailed>],
            lists: &["errors", "warnings", "schema_hashes"],
            is_slow: true,
            run: realm::check,
            ..PLAIN
        },
    ),
    (&ops::realm::review::OPERATION, ToolKind { lists: &["imports"], is_slow: true, run: realm::review, ..PLAIN }),
    (
        &ops::contract::get::OPERATION,
        ToolKind {
            adds: &[arguments::of::<contract::Part>, arguments::of::<realm::Detailed>],
            run: contract::get,
            ..PLAIN
        },
    ),
    (&ops::session::start::OPERATION, ToolKind { names: &[("active_rfc", "rfc")], ..PLAIN }),
    (&ops::session::stop::OPERATION, ToolKind { hides: &["id"], notifies: false, ..PLAIN }),
    (&ops::worktree::create::OPERATION, ToolKind { hides: &["fetch"], is_slow: true, ..PLAIN }),
    (&ops::pr::status::OPERATION, ToolKind { lists: &["repos"], is_slow: true, asks_forges: true, ..PLAIN }),
    (&ops::contract::list::OPERATION, ToolKind { hides: &["search"], run: |call| pages(call, 100), ..PLAIN }),
    (
        &ops::notifications::list::OPERATION,
        ToolKind { hides: &["contract", "rank"], notifies: false, run: session::notifications_list, ..PLAIN },
    ),
    (
        &ops::contract::diff::OPERATION,
        ToolKind {
            hides: &["commit"],
            names: &[("old_version", "from"), ("new_version", "to")],
            lists: &["changes"],
            is_slow: true,
            ..PLAIN
        },
    ),
    (&ops::contract::impact::OPERATION, ToolKind { hides: &["commit"], lists: &["importers"], is_slow: true, ..PLAIN }),
    (&ops::contract::validate::OPERATION, ToolKind { lists: &["failures"], is_slow: true, ..PLAIN }),
    (&ops::realm::topology::OPERATION, ToolKind { is_slow: true, run: realm::topology, ..PLAIN }),
    (&ops::realm::log::OPERATION, ToolKind { adds: &[arguments::of::<realm::Detailed>], run: realm::log, ..PLAIN }),
    (&ops::realm::list::OPERATION, ToolKind { notifies: false, lists: &["realms"], ..PLAIN }),
    (&ops::realm::compare::OPERATION, ToolKind { is_slow: true, run: |call| pages(call, 50), ..PLAIN }),
    (&ops::contract::blame::OPERATION, ToolKind { is_slow: true, run: |call| pages(call, 100), ..PLAIN }),
    (&ops::contract::timeline::OPERATION, ToolKind { is_slow: true, run: |call| pages(call, 50), ..PLAIN }),
];

fn pages(call: &Call<'_>, usual: usize) -> Result<Body, OpError> {
    call.paged(usual, |fields| call.ask(fields))
}
