//! `git blue`, `init`, `import` and `export`, and everything below `git blue realm`.

use super::{Page, page};

pub(super) const PAGES: &[Page] = &[
    page("")
        .about(
            "A realm is a set of repositories that agree on contracts. A contract is a JSON Schema, an agreed value, or \
            both, with a version and one owner: a file under .blue/ in the repository that owns it. Committing publishes \
            it to the realm, a bare git repository of your own; other repositories are notified of the change, and \
            `git blue check` reports in CI which consumers it would break.\n\nA domain is a group of repositories that \
            coordinate: only its members are notified of changes in it. A binding, .blue/bindings/DOMAIN.yaml, lists the \
            contracts of a domain that a repository imports or exports.\n\nWithout a command, git blue shows what needs \
            your attention here.",
        )
        .examples(&[
            ("git blue init --realm shop", "Create or join the realm shop"),
            ("git blue status", "Show what other repositories changed"),
            ("git blue check", "Check whether HEAD would break a consumer"),
        ]),
    page("init")
        .about(
            "Joins the repository to the realm named by --realm or .blue/config.yaml, and creates the realm \
            if it does not exist. A realm that is not on this machine yet is fetched only if --url names it, because \
            anybody can write a URL into .blue/config.yaml. Writes .blue/config.yaml, which should be committed, and installs the hooks that \
            publish. Running it again only completes the setup; --url and \
            --auto-sync also change an existing realm.",
        )
        .exit_1("Something was refused, or the realm could not be pushed to its URL.")
        .examples(&[
            ("git blue init --realm shop", "Create or join the realm shop"),
            (
                "git blue init --realm shop --url git@git.example.com:realms/shop.git",
                "Join a realm that a team shares at a URL",
            ),
            ("git blue init --realm shop --repo storefront", "Join under a different name than origin's"),
        ]),
    page("realm").examples(&[
        ("git blue realm status", "Show the realm of this repository"),
        ("git blue realm topology", "Show the provider and consumers of each contract"),
    ]),
    page("realm status")
        .about(
            "Shows this repository's imports that are broken or need attention, the changes by other \
            repositories since you last looked, and the consumers of its contracts, most important first. Once \
            printed, the changes are marked as seen. Publishes commits that no hook has published. Never uses the \
            network.",
        )
        .examples(&[
            ("git blue status", "Show what changed, and mark it as seen"),
            ("git blue status --peek", "Show it without marking it as seen"),
            ("git blue status --all", "Show the whole realm"),
            ("git blue status --json", "Print JSON for a program"),
        ]),
    page("realm check")
        .about(
            "Checks the contracts and bindings of a commit as if they were published, and reports what would \
            break: consumers broken by this repository's contracts, broken imports of this repository, and files that \
            cannot be read. Publishes nothing. Problems elsewhere in the realm are counted, but fail the check only \
            with --all.",
        )
        .exit_1("There are errors, or warnings with --strict.")
        .examples(&[
            ("git blue check", "Check HEAD"),
            ("git blue check --worktree", "Check the working tree before committing"),
            ("git blue check --staged", "Check what would be committed, in a pre-commit hook"),
            ("git blue check --base origin/main", "Fail only on problems that the branch adds"),
            (
                "git blue check --realm-url https://git.example.com/realms/shop.git --output sarif=blue.sarif",
                "Check in CI, and write a report for code scanning",
            ),
        ]),
    page("realm review")
        .about(
            "Reviews each import of this repository that is broken, or whose contract changed since the code \
            was adapted to it. Shows both versions, whether the change breaks the repository, with a counterexample, \
            the line of the binding, every line of the tracked files that mentions a changed field, and what to do \
            next. Mentions are word matches; not every one is a use of the field.",
        )
        .examples(&[
            ("git blue review", "Show what changed upstream, and where to edit"),
            ("git blue review --json", "Print JSON for a program"),
        ]),
    page("prime")
        .about(
            "Prints the facts that a coding agent needs when a session starts: broken imports, conflicts, \
            refused publications and unsynced changes first, then pending changes. Claude Code's hook prints the \
            same.",
        )
        .examples(&[
            ("git blue prime", "Brief an agent that has no hooks"),
            ("git blue prime --resumed", "Repeat earlier notifications after a compaction"),
        ]),
    page("realm sync")
        .about(
            "Fetches the realm from its remotes, merges what is new, and pushes what they lack. Changes that \
            break a rule, such as a published version that was altered, are set aside and shown by `git blue status`.",
        )
        .exit_1("One of several remotes could not be reached, or a remote rejected some changes.")
        .examples(&[
            ("git blue sync", "Exchange changes with every remote of the realm"),
            ("git blue sync --dry-run", "Show what would be fetched and pushed"),
        ]),
    page("realm list").examples(&[
        ("git blue realm list", "List the realms, with the number of repositories in each"),
        ("git blue realm list -z | xargs -0 -n1 git blue sync --realm", "Sync every realm"),
    ]),
    page("realm topology").examples(&[
        ("git blue realm topology", "List the imports, one per line"),
        ("git blue realm topology --format dot | dot -Tsvg -o realm.svg", "Draw the realm with Graphviz"),
        ("git blue realm topology --domain s3-access --format mermaid", "Draw one domain for a README"),
    ]),
    page("realm compare")
        .about("Compares the realm of this repository, or the one given with --realm, with another realm.")
        .examples(&[("git blue realm compare staging", "Show how the realm staging differs from this one")]),
    page("realm conflict")
        .about(
            "A sync sets aside changes that break a rule of the realm, such as altering or deleting a \
            published version, changing a contract without owning it, or removing a member. `git blue status` lists \
            them with their ids and authors.",
        )
        .examples(&[("git blue realm conflict reject 3f9c0a1b2c3d", "Reject a change that a sync set aside")]),
    page("realm worktree")
        .about(
            "An RFC is a change that spans several repositories. Each of them gets a worktree on a branch of \
            the same name.",
        )
        .examples(&[("git blue realm worktree create --rfc faster-checkout", "Start an RFC")]),
    page("realm worktree create")
        .about(
            "Creates a worktree, on a branch named after the RFC, in every repository that shares a domain \
            with this one, or in those given with --repos. Existing worktrees and branches are kept.",
        )
        .exit_1("The command failed in at least one repository.")
        .examples(&[
            (
                "git blue realm worktree create --rfc faster-checkout",
                "Start an RFC in all repositories that share a domain with this one",
            ),
            (
                "git blue realm worktree create --rfc faster-checkout --repos aperture,fungal --fetch",
                "Start it in two repositories, from the latest commits of their remotes",
            ),
        ]),
    page("realm worktree list")
        .exit_1("The command failed in at least one repository.")
        .examples(&[("git blue realm worktree list", "List every RFC and its progress")]),
    page("realm worktree remove")
        .about("Refuses to remove worktrees with uncommitted files, or with commits that are not pushed. Branches are kept unless \
            --delete-branches is given.")
        .exit_1("Something was kept, or the command failed in at least one repository.")
        .examples(&[(
            "git blue realm worktree remove --rfc faster-checkout --delete-branches",
            "Clean up after merging an RFC",
        )]),
    page("realm pr")
        .examples(&[("git blue realm pr status --rfc faster-checkout", "Show what is ready, and what to merge first")]),
    page("realm pr status")
        .about("Shows what blocks each repository, and the merge order in which no import breaks.")
        .exit_1("The command failed in at least one repository.")
        .examples(&[
            ("git blue realm pr status", "Show the RFC of this worktree"),
            ("git blue realm pr status --rfc faster-checkout", "Show an RFC by name"),
        ]),
    page("realm pr prepare").exit_1("The command failed in at least one repository.").examples(&[
        (
            "git blue realm pr prepare --rfc faster-checkout -m 'Speed up the checkout'",
            "Commit the changes in every worktree, with one message",
        ),
        (
            "git blue realm pr prepare --rfc faster-checkout -m 'Speed up the checkout' --all --dry-run",
            "Show what would be committed, including new files",
        ),
    ]),
    page("realm pr create")
        .about(
            "Pushes each branch, and opens or updates its pull request on GitHub, GitLab or Forgejo. Each \
            pull request names the others. Running it again updates them.",
        )
        .exit_1("The command failed in at least one repository.")
        .examples(&[(
            "git blue realm pr create --rfc faster-checkout --title 'Speed up the checkout' --draft",
            "Open the pull requests as drafts",
        )]),
    page("realm pr comment")
        .about(
            "Finds its earlier comment by a hidden marker and updates it, so that repeated runs leave one \
            comment. If the token may not comment, as on a pull request from a fork, the report goes to the summary \
            of the workflow step.",
        )
        .exit_1("There is no pull request, or the forge rejected the comment.")
        .examples(&[
            (
                "git blue check --format markdown | git blue realm pr comment --body -",
                "Post a check on the pull request of this branch",
            ),
            ("git blue realm pr comment --body contracts.md --number 12", "Choose the pull request by its number"),
        ]),
    page("import")
        .about(
            "Edits .blue/bindings/DOMAIN.yaml in the working tree, keeping comments and order. The change takes \
            effect once it is committed.",
        )
        .examples(&[
            ("git blue import s3-access/s3-permissions", "Import the current version and later ones that are compatible"),
            (
                "git blue import s3-access/s3-permissions '>=1.0.0, <2.0.0' --used-in src/policy.py src/roles.py",
                "Choose the range, and name the files that use the contract",
            ),
            (
                "git blue import orders/order-placed --expects src/expected-order.json",
                "Name a schema that describes what the code relies on",
            ),
        ]),
    page("export")
        .about(
            "Edits .blue/bindings/DOMAIN.yaml in the working tree, keeping comments and order. The change takes \
            effect once it is committed.",
        )
        .examples(&[
            ("git blue export orders/order-placed", "Export a contract that this repository owns"),
            (
                "git blue export orders/order-placed --source src/order.py src/total.py",
                "Name the files that implement it, to be reminded when they change and the contract does not",
            ),
        ]),
    page("unimport")
        .about("Edits the binding in the working tree. The change takes effect once it is committed.")
        .examples(&[("git blue unimport s3-access/s3-permissions", "Stop importing a contract")]),
    page("unexport")
        .about(
            "Edits the binding in the working tree. The change takes effect once it is committed. The contract \
            stays in the realm until it is retired with `git blue contract retire`.",
        )
        .examples(&[("git blue unexport orders/order-placed", "Stop exporting a contract")]),
];
