//! The table of the tools.

use super::{
    super::{
        arguments::{Kind, Parameter},
        paging::Lists,
    },
    REALM, Tool, contract, realm, session,
};
use crate::{model::notification::ChangeType, ops};

const DETAIL: Parameter = Parameter::optional("detail", Kind::OneOf(&["concise", "full"]), "full leaves nothing out");
const DOMAIN: Parameter = Parameter::required("domain", "");
/// Narrows a list.
const ONLY_DOMAIN: Parameter = Parameter::optional("domain", Kind::Text, "");
const CONTRACT: Parameter = Parameter::required("contract", "");
const SINCE: Parameter = Parameter::optional("since", Kind::Text, "2026-03-03 or 2 weeks ago");
const UNTIL: Parameter = Parameter::optional("until", Kind::Text, "");
const FROM_REPO: Parameter = Parameter::optional("from_repo", Kind::Text, "");
const LIMIT: Parameter = Parameter::optional("limit", Kind::Count, "");
const CURSOR: Parameter = Parameter::optional("cursor", Kind::Text, "");

/// The lists of a realm's topology.
pub const TOPOLOGY_LISTS: Lists = &["repos", "unreadable", "domains", "domains.contracts"];

/// Every tool, in the order in which clients see them.
pub const TOOLS: &[Tool] = &[
    Tool {
        operation: &ops::realm::status::OPERATION,
        about: "Overview of the realm: repositories, domains, contracts, bindings, how this repository's imports \
                stand. Call it first, and to see what changed.",
        parameters: &[LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: realm::status,
    },
    Tool {
        operation: &ops::realm::check::OPERATION,
        about: "What this repository's .blue/ (of HEAD, or of the work tree) breaks in the realm, and which of its \
                own imports are broken: proved from the schemas, or shown by a value; by version range only where no \
                schema says anything. Call it after editing a contract or a binding, and before a release.",
        parameters: &[
            REALM,
            Parameter::optional("worktree", Kind::Flag, "check uncommitted files instead of HEAD"),
            Parameter::optional("scope", Kind::OneOf(&["own", "all", "published"]), "default own"),
            Parameter::optional("rfc", Kind::Text, "its branches in all repositories together"),
            DETAIL,
            LIMIT,
            CURSOR,
        ],
        tells: true,
        lists: &["errors", "warnings", "schema_hashes"],
        is_slow: false,
        run: realm::check,
    },
    Tool {
        operation: &ops::realm::review::OPERATION,
        about: "What changed under this repository's imports, whether it breaks them (with a value that shows it), and \
                where to edit: the binding, and each line of tracked files that mentions a changed field. One call \
                before adapting code.",
        parameters: &[LIMIT, CURSOR],
        tells: true,
        lists: &["imports"],
        is_slow: true,
        run: realm::review,
    },
    Tool {
        operation: &ops::contract::get::OPERATION,
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
        run: contract::get,
    },
    Tool {
        operation: &ops::session::start::OPERATION,
        about: "Begin a session: one stretch of work in this work tree. Call it when work on something starts.",
        parameters: &[Parameter::optional("active_rfc", Kind::Text, "what is worked on, as its branch is named")],
        tells: true,
        lists: &[],
        is_slow: false,
        run: session::start,
    },
    Tool {
        operation: &ops::session::stop::OPERATION,
        about: "End the session, with a summary of what changed meanwhile. Call it when the work is done.",
        parameters: &[],
        tells: false,
        lists: &[],
        is_slow: false,
        run: session::stop,
    },
    Tool {
        operation: &ops::worktree::create::OPERATION,
        about: "A git worktree of an RFC in each repository that shares a domain with this one, or in those named. \
                Call it to work on several repositories at once.",
        parameters: &[Parameter::required("rfc", "also the branch"), Parameter::optional("repos", Kind::List, "")],
        tells: true,
        lists: &[],
        is_slow: true,
        run: realm::worktree_create,
    },
    Tool {
        operation: &ops::pr::status::OPERATION,
        about: "How far an RFC is in each repository: uncommitted, unpushed, pull request, merge order.",
        parameters: &[Parameter::optional("rfc", Kind::Text, "")],
        tells: true,
        lists: &["repos"],
        is_slow: true,
        run: realm::pr_status,
    },
    Tool {
        operation: &ops::contract::list::OPERATION,
        about: "Contracts of the realm or of one domain, in pages. Call it where realm_status says there are more.",
        parameters: &[ONLY_DOMAIN, LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: contract::list,
    },
    Tool {
        operation: &ops::notifications::list::OPERATION,
        about: "What other repositories changed, also what was told already. New changes come with the answers of \
                other tools; call it to look back.",
        parameters: &[
            Parameter::optional("state", Kind::OneOf(&["pending", "seen", "expired", "all"]), "default all"),
            Parameter::optional("kind", Kind::OneOf(ChangeType::WORDS), ""),
            SINCE,
            UNTIL,
            FROM_REPO,
            LIMIT,
            CURSOR,
        ],
        tells: false,
        lists: &[],
        is_slow: false,
        run: session::notifications_list,
    },
    Tool {
        operation: &ops::contract::diff::OPERATION,
        about: "What changed between two versions of a contract, field by field, and whether each accepts what the \
                other sends: proved, broken by a value, or unknown. Call it before adapting code.",
        parameters: &[
            DOMAIN,
            CONTRACT,
            Parameter::optional(
                "old_version",
                Kind::Text,
                "default: what your code is adapted to, else the one before",
            ),
            Parameter::optional("new_version", Kind::Text, "default: the current one; worktree: uncommitted files"),
            LIMIT,
            CURSOR,
        ],
        tells: true,
        lists: &["changes"],
        is_slow: false,
        run: contract::diff,
    },
    Tool {
        operation: &ops::contract::impact::OPERATION,
        about: "Who imports a contract, in which file, and whom a version would break: judged_by says whether schemas \
                prove it or only the version range. Call it before raising a version.",
        parameters: &[
            DOMAIN,
            CONTRACT,
            Parameter::optional("to", Kind::Text, "a version, published or not; default: the current one"),
            Parameter::optional("worktree", Kind::Flag, "the uncommitted file instead"),
            LIMIT,
            CURSOR,
        ],
        tells: true,
        lists: &["importers"],
        is_slow: false,
        run: contract::impact,
    },
    Tool {
        operation: &ops::contract::validate::OPERATION,
        about: "Does a payload fit a contract's schema, and where not? Call it on what your code sends or reads.",
        parameters: &[
            DOMAIN,
            CONTRACT,
            Parameter::json("payload", ""),
            Parameter::optional("version", Kind::Text, ""),
            Parameter::optional("range", Kind::Text, "every version in it"),
            Parameter::optional("worktree", Kind::Flag, ""),
        ],
        tells: true,
        lists: &["failures"],
        is_slow: false,
        run: contract::validate,
    },
    Tool {
        operation: &ops::realm::topology::OPERATION,
        about: "Who provides what to whom: contracts, exporters, importers, per domain.",
        parameters: &[ONLY_DOMAIN, LIMIT, CURSOR],
        tells: true,
        lists: TOPOLOGY_LISTS,
        is_slow: false,
        run: realm::topology,
    },
    Tool {
        operation: &ops::realm::log::OPERATION,
        about: "History of the realm, newest first: who changed what, and when.",
        parameters: &[ONLY_DOMAIN, SINCE, UNTIL, FROM_REPO, DETAIL, LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: realm::log,
    },
    Tool {
        operation: &ops::realm::list::OPERATION,
        about: "The realms of this machine. Call it to find the name to pass as realm.",
        parameters: &[],
        tells: false,
        lists: &["realms"],
        is_slow: false,
        run: realm::list,
    },
    Tool {
        operation: &ops::realm::compare::OPERATION,
        about: "What two realms hold of the same contracts: which versions, and what only one of them has.",
        parameters: &[Parameter::required("other", "name of the realm to compare with"), LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: realm::compare,
    },
    Tool {
        operation: &ops::contract::blame::OPERATION,
        about: "Which version brought each part of a contract's schema and value: when, who, from which commit of the \
                owner's repository. Call it to learn why a field is as it is.",
        parameters: &[
            DOMAIN,
            CONTRACT,
            Parameter::optional("pointer", Kind::Text, "only this part, e.g. /schema/properties"),
            Parameter::optional("version", Kind::Text, ""),
            LIMIT,
            CURSOR,
        ],
        tells: true,
        lists: &[],
        is_slow: false,
        run: contract::blame,
    },
    Tool {
        operation: &ops::contract::timeline::OPERATION,
        about: "When each realm of this machine got each version of a contract, newest first.",
        parameters: &[DOMAIN, CONTRACT, LIMIT, CURSOR],
        tells: true,
        lists: &[],
        is_slow: false,
        run: contract::timeline,
    },
];
