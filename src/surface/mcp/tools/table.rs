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
pub struct Shape {
    /// Fields of the request that the tool does not take.
    pub hides: &'static [&'static str],
    /// Arguments in addition to the fields of the request.
    pub adds: &'static [fn() -> Vec<Parameter>],
    /// Renamed arguments, as pairs of the name in the tool and the name in the request.
    pub names: &'static [(&'static str, &'static str)],
    /// Whether pending notifications are added to its answers.
    pub tells: bool,
    /// The lists that are paged.
    pub lists: Lists,
    /// Whether it can be slow, because it runs git in several repositories, asks a forge, or reads many domains or
    /// large schemas. Slow tools run on separate threads.
    pub is_slow: bool,
    /// Whether it sends requests to a forge.
    pub asks_forges: bool,
    /// Calls the operation.
    pub run: fn(&Call<'_>) -> Result<Body, OpError>,
}

/// A tool that takes exactly the request of its operation.
pub const PLAIN: Shape = Shape {
    hides: &[],
    adds: &[],
    names: &[],
    tells: true,
    lists: &[],
    is_slow: false,
    asks_forges: false,
    run: |call| call.ask(call.arguments.fields()),
};

/// The tools that differ from their operations, and those that come first in `tools/list`, in this order.
pub const SHAPES: &[(&Operation, Shape)] = &[
    (&ops::realm::status::OPERATION, Shape { run: realm::status, ..PLAIN }),
    (
        &ops::realm::check::OPERATION,
        Shape {
            hides: &["all", "base", "commit", "mode", "published", "strict"],
            adds: &[arguments::of::<realm::ScopeArgument>, arguments::of::<realm::Detailed>],
            lists: &["errors", "warnings", "schema_hashes"],
            is_slow: true,
            run: realm::check,
            ..PLAIN
        },
    ),
    (&ops::realm::review::OPERATION, Shape { lists: &["imports"], is_slow: true, ..PLAIN }),
    (
        &ops::contract::get::OPERATION,
        Shape {
            adds: &[arguments::of::<contract::Part>, arguments::of::<realm::Detailed>],
            run: contract::get,
            ..PLAIN
        },
    ),
    (&ops::session::start::OPERATION, Shape { names: &[("active_rfc", "rfc")], ..PLAIN }),
    (&ops::session::stop::OPERATION, Shape { hides: &["id"], tells: false, ..PLAIN }),
    (&ops::worktree::create::OPERATION, Shape { hides: &["fetch"], is_slow: true, ..PLAIN }),
    (&ops::pr::status::OPERATION, Shape { lists: &["repos"], is_slow: true, asks_forges: true, ..PLAIN }),
    (&ops::contract::list::OPERATION, Shape { hides: &["search"], run: |call| pages(call, 100), ..PLAIN }),
    (&ops::notifications::list::OPERATION, Shape { tells: false, run: session::notifications_list, ..PLAIN }),
    (
        &ops::contract::diff::OPERATION,
        Shape {
            hides: &["commit"],
            names: &[("old_version", "from"), ("new_version", "to")],
            lists: &["changes"],
            is_slow: true,
            run: contract::diff,
            ..PLAIN
        },
    ),
    (&ops::contract::impact::OPERATION, Shape { hides: &["commit"], lists: &["importers"], is_slow: true, ..PLAIN }),
    (&ops::contract::validate::OPERATION, Shape { lists: &["failures"], is_slow: true, ..PLAIN }),
    (&ops::realm::topology::OPERATION, Shape { is_slow: true, run: realm::topology, ..PLAIN }),
    (&ops::realm::log::OPERATION, Shape { adds: &[arguments::of::<realm::Detailed>], run: realm::log, ..PLAIN }),
    (&ops::realm::list::OPERATION, Shape { tells: false, lists: &["realms"], ..PLAIN }),
    (&ops::realm::compare::OPERATION, Shape { run: |call| pages(call, 50), ..PLAIN }),
    (&ops::contract::blame::OPERATION, Shape { run: |call| pages(call, 100), ..PLAIN }),
    (&ops::contract::timeline::OPERATION, Shape { run: |call| pages(call, 50), ..PLAIN }),
];

fn pages(call: &Call<'_>, usual: usize) -> Result<Body, OpError> {
    call.paged(usual, |fields| call.ask(fields))
}
