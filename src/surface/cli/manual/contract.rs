//! `git blue contract …` and `git blue compat`.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        command: "contract",
        description: "",
        no: "",
        examples: &[
            ("git blue contract list", "List the contracts of the realm"),
            ("git blue contract get s3-access/s3-permissions", "Show one of them"),
        ],
    },
    Page {
        command: "contract list",
        description: "",
        no: "",
        examples: &[
            ("git blue contract list --domain s3-access", "List the contracts of one domain"),
            ("git blue contract list --search permissions", "Find a contract by a word"),
            ("git blue contract list -z | xargs -0 -n1 git blue contract get", "Show every contract"),
        ],
    },
    Page {
        command: "contract get",
        description: "",
        no: "There is no such contract or version.",
        examples: &[
            ("git blue contract get s3-access/s3-permissions", "Show the current version"),
            ("git blue contract get s3-access/s3-permissions --version 1.0.0 --format yaml", "Print an older one"),
            ("git blue contract get s3-access/s3-permissions --schema >schema.json", "Hand the schema to other tools"),
        ],
    },
    Page {
        command: "contract log",
        description: "",
        no: "",
        examples: &[("git blue contract log s3-access/s3-permissions", "See who published which version, and when")],
    },
    Page {
        command: "contract timeline",
        description: "",
        no: "",
        examples: &[(
            "git blue contract timeline s3-access/s3-permissions",
            "See which version staging and production have had since when",
        )],
    },
    Page {
        command: "contract blame",
        description: "Lists the parts of schema and value, each with the version, the date, the commit of the owner's \
            repository and the author that brought it. A part that one version brought as a whole is one line. What \
            was removed is in `contract diff`.",
        no: "There is no such contract, version or part.",
        examples: &[
            ("git blue contract blame s3-access/s3-permissions", "See which version brought each part"),
            (
                "git blue contract blame s3-access/s3-permissions /schema/properties",
                "See who added which property, and when",
            ),
        ],
    },
    Page {
        command: "contract diff",
        description: "Compares schemas and values, and says which version the difference needs. With one version it \
            goes from there to the current one.",
        no: "",
        examples: &[
            ("git blue contract diff s3-access/s3-permissions", "See what is new since your code was written"),
            ("git blue contract diff orders/order-placed 1.2.0 2.0.0", "Compare two published versions"),
            ("git blue contract diff s3-access/s3-permissions --worktree", "Look at a change before committing it"),
        ],
    },
    Page {
        command: "contract impact",
        description: "",
        no: "",
        examples: &[
            ("git blue contract impact s3-access/s3-permissions", "List who imports a contract"),
            (
                "git blue contract impact s3-access/s3-permissions --to 2.0.0",
                "See whom version 2.0.0 would leave behind",
            ),
            ("git blue contract impact s3-access/s3-permissions --worktree", "See whom an edit would break"),
        ],
    },
    Page {
        command: "contract validate",
        description: "",
        no: "A payload is not valid, or could not be decided.",
        examples: &[
            ("git blue contract validate orders/order-placed event.json", "Check a file against the current version"),
            (
                "tail -n 100 events.jsonl | git blue contract validate orders/order-placed -",
                "Check what a program wrote",
            ),
            (
                "git blue contract validate orders/order-placed event.json --range '>=1.0.0, <2.0.0'",
                "Check against every version that consumers may still use",
            ),
        ],
    },
    Page {
        command: "contract publish",
        description: "Hooks do this on every commit of the publishing branch; see `git blue hooks install`. Files that \
            have not changed since the last publication are left alone. A published version never changes: other \
            content needs another version.",
        no: "The commit was refused.",
        examples: &[
            ("git blue contract publish", "Publish the commit at HEAD"),
            ("git blue contract publish --dry-run", "See what would be published, and whom it would break"),
            (
                "git blue contract publish --commit \"$GITHUB_SHA\" --realm-url https://git.example.com/realms/shop.git",
                "Publish from a CI runner",
            ),
            ("git blue contract publish --rollback --reason 'Broke the import'", "Go back to an older version"),
        ],
    },
    Page {
        command: "contract new",
        description: "Writes .blue/contracts/DOMAIN/NAME.yaml into the work tree. It is published once it is committed.",
        no: "",
        examples: &[
            ("git blue contract new orders/order-placed --from-samples events.jsonl", "Infer the schema from payloads"),
            (
                "git blue contract new orders/order-placed --schema 'openapi.yaml#/components/schemas/Order'",
                "Refer to a schema that you have already",
            ),
            (
                "git blue contract new orders/order-placed --domain-members billing,shop",
                "Create the domain too, with its members",
            ),
        ],
    },
    Page {
        command: "contract expect",
        description: "Writes a JSON Schema of what the code relies on into the work tree, and names it in the import. \
            A version then breaks this repository only where it breaks what it expects.",
        no: "",
        examples: &[(
            "git blue contract expect orders/order-placed --from-samples received.jsonl",
            "Infer from payloads what the code relies on",
        )],
    },
    Page {
        command: "contract bump",
        description: "Edits the file in the work tree, as text: comments and order stay. With the level `auto`, the \
            comparison with the published version decides.",
        no: "",
        examples: &[
            ("git blue contract bump orders/order-placed -m 'Add the currency'", "Raise the version as needed"),
            ("git blue contract bump orders/order-placed major -m 'Rename total to amount'", "Choose the level"),
        ],
    },
    Page {
        command: "contract edit",
        description: "Changes the realm without a commit in the owner's repository. Contracts that have a file there \
            are changed by editing the file.",
        no: "",
        examples: &[
            ("git blue contract edit orders/order-placed", "Edit the document in an editor"),
            ("git blue contract edit orders/order-placed --file order.yaml", "Take it from a file"),
        ],
    },
    Page {
        command: "contract retire",
        description: "The contract stays readable, and is shown as retired. Refused while somebody imports it, unless \
            --force is given.",
        no: "",
        examples: &[(
            "git blue contract retire orders/order-placed --reason 'Use orders/order-created'",
            "Withdraw a contract, and say what replaces it",
        )],
    },
    Page {
        command: "contract yank",
        description: "The version stays readable.",
        no: "",
        examples: &[(
            "git blue contract yank orders/order-placed 1.3.0 --reason 'The schema refuses free orders'",
            "Take a faulty version out of use",
        )],
    },
    Page {
        command: "contract transfer",
        description: "The other repository takes the contract by committing its file and publishing it. Until then \
            this one stays the owner.",
        no: "",
        examples: &[
            ("git blue contract transfer orders/order-placed --to billing", "Offer a contract to another repository"),
            ("git blue contract transfer orders/order-placed --cancel", "Withdraw the offer"),
        ],
    },
    Page {
        command: "contract adapted",
        description: "Later versions are compared with this one, to say what is new for this repository and whether \
            its code still holds.",
        no: "",
        examples: &[
            ("git blue contract adapted s3-access/s3-permissions", "Say that the code knows the current version"),
            ("git blue contract adapted s3-access/s3-permissions 1.0.0", "Name the version"),
        ],
    },
    Page {
        command: "contract approve",
        description: "A contract promises its consumers compatibility. A change that breaks the promise fails the \
            check, which prints the fingerprint of the change; once approved, the same change is a warning.",
        no: "",
        examples: &[(
            "git blue contract approve orders/order-placed 9f86d081884c7d65 --reason 'Nobody reads the field'",
            "Approve one break",
        )],
    },
    Page {
        command: "compat",
        description: "Says for each direction whether every value of one schema is valid in the other: compatible, \
            incompatible with a value that shows it, or unknown. Needs no realm and no repository.",
        no: "A direction that must hold does not; with --strict, also where it is unknown.",
        examples: &[
            ("git blue compat old.json new.json", "Compare two files"),
            (
                "git show HEAD~1:schema.json | git blue compat - schema.json --direction backwards",
                "Compare with the commit before; consumers of the old schema must accept new values",
            ),
            ("git blue compat old.json new.json --output sarif=compat.sarif", "Write a report for code scanning too"),
        ],
    },
];
