//! `git blue`, `init`, `import` and `export`, and everything below `git blue realm`.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        command: "",
        description: "A realm is a set of repositories that agree on contracts: JSON Schemas with a version, an owner \
            and consumers. Contracts are files below .blue/ in the repository that owns them. Committing publishes \
            them to the realm, which is a bare git repository of your own; other repositories hear of the change, and \
            `git blue check` says in CI whom it would break. Without a command, git blue shows what needs your \
            attention here.",
        no: "",
        examples: &[
            ("git blue init --realm shop", "Create the realm shop, or join it, with the repository you are in"),
            ("git blue status", "See what other repositories changed"),
            ("git blue check", "See whether the commit at HEAD would break somebody"),
        ],
    },
    Page {
        command: "init",
        description: "Joins the repository to the realm that --realm or .blue/config.yaml names, and creates the realm \
            first where it does not exist. Writes .blue/config.yaml, which is to be committed, and installs the hooks \
            that publish. Running it again changes nothing.",
        no: "",
        examples: &[
            ("git blue init --realm shop", "Create the realm shop, or join it"),
            (
                "git blue init --realm shop --url git@git.example.com:realms/shop.git",
                "Join a realm that a team shares at a URL",
            ),
            ("git blue init --realm shop --repo storefront", "Join under another name than origin's"),
        ],
    },
    Page {
        command: "realm",
        description: "",
        no: "",
        examples: &[
            ("git blue realm status", "Show the realm of this repository"),
            ("git blue realm topology", "Show who provides what to whom"),
        ],
    },
    Page {
        command: "realm status",
        description: "Shows what concerns this repository: its broken imports and those that need attention, what \
            other repositories changed since you last looked, and who imports its contracts. What matters most comes \
            first. Marks the changes that it shows as seen once they are printed. Publishes commits that no hook has \
            published. Never uses the network.",
        no: "This repository has commits that could not be published.",
        examples: &[
            ("git blue status", "See what changed, and mark it as seen"),
            ("git blue status --peek", "See the same, and mark nothing"),
            ("git blue status --all", "See the whole realm, too"),
            ("git blue status --json", "Read the answer from a program"),
        ],
    },
    Page {
        command: "realm check",
        description: "Lays the contracts and bindings of a commit over the realm, and reports what would break: \
            consumers that this repository's contracts break, imports of this repository that do not hold, and files \
            that cannot be read. Publishes nothing. Trouble elsewhere in the realm is counted, and fails nothing \
            unless --all is given.",
        no: "There are errors, or warnings with --strict.",
        examples: &[
            ("git blue check", "Judge the commit at HEAD"),
            ("git blue check --worktree", "Judge the files as they are, before committing them"),
            ("git blue check --base origin/main", "Fail only on what the branch adds"),
            (
                "git blue check --realm-url https://git.example.com/realms/shop.git --output sarif=blue.sarif",
                "Check on a CI runner, and write a report for code scanning",
            ),
        ],
    },
    Page {
        command: "realm review",
        description: "Looks at each import of this repository that is broken, or that changed since the code was \
            adapted to it. Shows both versions, whether the change breaks the repository and by which value, the line \
            of the binding, every line of the tracked files that mentions a changed field, and what to do next. \
            Mentions are words that git finds: not each is a use of the field.",
        no: "",
        examples: &[
            ("git blue review", "See what changed upstream, and where to edit"),
            ("git blue review --json", "Give the same to a program"),
        ],
    },
    Page {
        command: "prime",
        description: "Prints the facts that a coding agent needs when a session starts: broken imports, conflicts, \
            refused publishes and unsynced changes first, then what is pending. Claude Code's hook prints the same.",
        no: "",
        examples: &[
            ("git blue prime", "Tell an agent without hooks what stands"),
            ("git blue prime --resumed", "Repeat what its session was told, after a compaction"),
        ],
    },
    Page {
        command: "realm sync",
        description: "Fetches the realm from its remotes, merges what is new, and pushes what they lack. Changes that \
            break a rule, such as a published version that was altered, are set aside and shown by `git blue status`.",
        no: "A remote could not be reached, or did not take everything.",
        examples: &[
            ("git blue sync", "Exchange changes with every remote of the realm"),
            ("git blue sync --dry-run", "See what would be fetched and pushed"),
        ],
    },
    Page {
        command: "realm list",
        description: "",
        no: "",
        examples: &[
            ("git blue realm list", "List the realms, with the number of their repositories"),
            ("git blue realm list -z | xargs -0 -n1 git blue sync --realm", "Sync every realm"),
        ],
    },
    Page {
        command: "realm log",
        description: "",
        no: "",
        examples: &[
            ("git blue realm log --limit 20", "Show the last twenty changes"),
            ("git blue realm log --domain s3-access", "Show what happened in one domain"),
            ("git blue realm log --since '2 weeks ago' --repo aperture", "Show what one repository did of late"),
        ],
    },
    Page {
        command: "realm topology",
        description: "",
        no: "",
        examples: &[
            ("git blue realm topology", "List the imports, one a line"),
            ("git blue realm topology --format dot | dot -Tsvg -o realm.svg", "Draw the realm with Graphviz"),
            ("git blue realm topology --domain s3-access --format mermaid", "Draw one domain for a README"),
        ],
    },
    Page {
        command: "realm compare",
        description: "Compares the realm of this repository, or the one that --realm names, with another one.",
        no: "",
        examples: &[("git blue realm compare staging", "See what the realm staging has that this one has not")],
    },
    Page {
        command: "realm conflict",
        description: "A sync sets aside what breaks a rule of the realm: a published version that was altered or \
            deleted, a contract that another than its owner changed, a member that vanished. `git blue status` lists \
            it with an id and says who did it.",
        no: "",
        examples: &[("git blue realm conflict undo 3f9c0a1b2c3d", "Reject a change that a sync set aside")],
    },
    Page {
        command: "realm conflict accept",
        description: "",
        no: "",
        examples: &[("git blue realm conflict accept 3f9c0a1b2c3d", "Take the change into the realm after all")],
    },
    Page {
        command: "realm conflict undo",
        description: "",
        no: "",
        examples: &[("git blue realm conflict undo 3f9c0a1b2c3d", "Write the realm's state back to the remote")],
    },
    Page {
        command: "realm worktree",
        description: "An RFC is one piece of work in several repositories. Each gets a worktree on a branch of the \
            same name.",
        no: "",
        examples: &[("git blue realm worktree create --rfc faster-checkout", "Start an RFC")],
    },
    Page {
        command: "realm worktree create",
        description: "Makes a worktree, on a branch named after the RFC, in every repository that shares a domain with \
            this one, or in those that --repos names. What exists already is kept.",
        no: "Something went wrong in one of the repositories.",
        examples: &[
            ("git blue realm worktree create --rfc faster-checkout", "Start an RFC in all neighbours"),
            (
                "git blue realm worktree create --rfc faster-checkout --repos aperture,fungal --fetch",
                "Start it in two repositories, from what their remotes have now",
            ),
        ],
    },
    Page {
        command: "realm worktree list",
        description: "",
        no: "Something went wrong in one of the repositories.",
        examples: &[("git blue realm worktree list", "See every RFC and how far its work is")],
    },
    Page {
        command: "realm worktree remove",
        description: "Refuses to remove what would be lost: uncommitted files and commits that are nowhere else.",
        no: "Something was kept, or went wrong in one of the repositories.",
        examples: &[(
            "git blue realm worktree remove --rfc faster-checkout --delete-branches",
            "Clean up after an RFC was merged",
        )],
    },
    Page {
        command: "realm pr",
        description: "",
        no: "",
        examples: &[("git blue realm pr status --rfc faster-checkout", "See what is ready and what to merge first")],
    },
    Page {
        command: "realm pr status",
        description: "Says for each repository what is in the way, and in which order to merge so that no import \
            breaks in between.",
        no: "Something went wrong in one of the repositories.",
        examples: &[
            ("git blue realm pr status", "Look at the RFC of this worktree"),
            ("git blue realm pr status --rfc faster-checkout", "Look at an RFC by name"),
        ],
    },
    Page {
        command: "realm pr prepare",
        description: "",
        no: "Something went wrong in one of the repositories.",
        examples: &[
            (
                "git blue realm pr prepare --rfc faster-checkout -m 'Speed up the checkout'",
                "Commit what changed in every worktree, with one message",
            ),
            (
                "git blue realm pr prepare --rfc faster-checkout -m 'Speed up the checkout' --all --dry-run",
                "See what would be committed, new files included",
            ),
        ],
    },
    Page {
        command: "realm pr create",
        description: "Pushes each branch, and opens or updates its pull request on GitHub, GitLab or Forgejo. Each \
            pull request names the others. Running it again updates them.",
        no: "Something went wrong in one of the repositories.",
        examples: &[(
            "git blue realm pr create --rfc faster-checkout --title 'Speed up the checkout' --draft",
            "Open the pull requests as drafts",
        )],
    },
    Page {
        command: "realm pr comment",
        description: "Finds its comment by a hidden mark, and updates it, so that a pull request has one however often \
            it is pushed to. Where the token may not comment, as for the pull request of a fork, the report goes to \
            the summary of the workflow step.",
        no: "There is no pull request, or the forge refused.",
        examples: &[
            (
                "git blue check --format markdown | git blue realm pr comment --body -",
                "Report a check on the pull request of this branch",
            ),
            ("git blue realm pr comment --body contracts.md --number 12", "Name the pull request"),
        ],
    },
    Page {
        command: "import",
        description: "Edits .blue/bindings/DOMAIN.yaml of the work tree, as text: comments and order stay. It counts \
            once it is committed.",
        no: "",
        examples: &[
            ("git blue import s3-access/s3-permissions", "Import the current version, up to the next major one"),
            (
                "git blue import s3-access/s3-permissions '>=1.0.0, <2.0.0' --used-in src/policy.py src/roles.py",
                "Say which versions the code works with, and where it uses them",
            ),
            (
                "git blue import orders/order-placed --expects src/expected-order.json",
                "Name a schema of what the code relies on",
            ),
        ],
    },
    Page {
        command: "export",
        description: "Edits .blue/bindings/DOMAIN.yaml of the work tree, as text: comments and order stay. It counts \
            once it is committed.",
        no: "",
        examples: &[
            ("git blue export orders/order-placed", "Export a contract that this repository owns"),
            (
                "git blue export orders/order-placed --source src/order.py src/total.py",
                "Name the files that implement it, so that a change of them without the contract is noticed",
            ),
        ],
    },
    Page {
        command: "unimport",
        description: "Edits the binding in the work tree. It counts once it is committed.",
        no: "",
        examples: &[("git blue unimport s3-access/s3-permissions", "Stop importing a contract")],
    },
    Page {
        command: "unexport",
        description: "Edits the binding in the work tree. It counts once it is committed. The contract stays in the \
            realm until `git blue contract retire`.",
        no: "",
        examples: &[("git blue unexport orders/order-placed", "Stop exporting a contract")],
    },
];
