//! `git blue contract …` and `git blue compat`.

use super::{Page, page};

pub(super) const PAGES: &[Page] = &[
    page("contract").examples(&[
        ("git blue contract list", "List the contracts of the realm"),
        ("git blue contract get s3-access/s3-permissions", "Show one of them"),
    ]),
    page("contract list").examples(&[
        ("git blue contract list --domain s3-access", "List the contracts of one domain"),
        ("git blue contract list --search permissions", "Search for a contract"),
        ("git blue contract list -z | xargs -0 -n1 git blue contract get", "Show every contract"),
    ]),
    page("contract get").exit_1("There is no such contract or version.").examples(&[
        ("git blue contract get s3-access/s3-permissions", "Show the current version"),
        ("git blue contract get s3-access/s3-permissions --version 1.0.0 --format yaml", "Print an older version"),
        ("git blue contract get s3-access/s3-permissions --schema >schema.json", "Save the schema for other tools"),
    ]),
    page("contract log")
        .examples(&[("git blue contract log s3-access/s3-permissions", "Show who published each version, and when")]),
    page("contract timeline").examples(&[(
        "git blue contract timeline s3-access/s3-permissions",
        "Show when staging and production received each version",
    )]),
    page("contract blame")
        .about(
            "Lists the parts of the schema and value, each with the version, the date, the commit of the \
            owner's repository and the author that introduced it. A part introduced as a whole by one version takes \
            one line. For removed parts, see `contract diff`.",
        )
        .exit_1("There is no such contract, version or part.")
        .examples(&[
            ("git blue contract blame s3-access/s3-permissions", "Show which version introduced each part"),
            (
                "git blue contract blame s3-access/s3-permissions /schema/properties",
                "Show who added each property, and when",
            ),
        ]),
    page("contract diff")
        .about(
            "Compares schemas and values, and reports which version bump the difference requires. If only \
            FROM is given, compares it with the current version. A commit means the contract's file in this \
            repository at that commit; if a tag has the name of a version, write refs/tags/TAG.",
        )
        .examples(&[
            ("git blue contract diff s3-access/s3-permissions", "Show what changed since your code was adapted"),
            ("git blue contract diff orders/order-placed 1.2.0 2.0.0", "Compare two published versions"),
            ("git blue contract diff orders/order-placed main HEAD", "Compare two commits"),
            ("git blue contract diff s3-access/s3-permissions --worktree", "Preview a change before committing it"),
        ]),
    page("contract impact").examples(&[
        ("git blue contract impact s3-access/s3-permissions", "List the consumers of a contract"),
        (
            "git blue contract impact s3-access/s3-permissions --to 2.0.0",
            "Show which consumers version 2.0.0 would break",
        ),
        ("git blue contract impact s3-access/s3-permissions --worktree", "Show which consumers an edit would break"),
    ]),
    page("contract validate").exit_1("A payload is invalid, or its validity could not be decided.").examples(&[
        ("git blue contract validate orders/order-placed event.json", "Check a file against the current version"),
        (
            "tail -n 100 events.jsonl | git blue contract validate orders/order-placed -",
            "Check the output of a program",
        ),
        (
            "git blue contract validate orders/order-placed event.json --range '>=1.0.0, <2.0.0'",
            "Check against every version in a range",
        ),
    ]),
    page("contract publish")
        .about(
            "Hooks run this for every commit on the publishing branch; see `git blue hooks install`. Files \
            that have not changed since the last publication are skipped. A published version never changes: \
            different content needs a new version.",
        )
        .exit_1("The commit was refused.")
        .examples(&[
            ("git blue contract publish", "Publish HEAD"),
            ("git blue contract publish --dry-run", "Show what would be published, and which consumers it would break"),
            (
                "git blue contract publish --commit \"$GITHUB_SHA\" --realm-url \
                    https://git.example.com/realms/shop.git",
                "Publish in CI",
            ),
            (
                "git blue contract publish --commit HEAD~1 --rollback --reason 'Broke the import'",
                "Go back to the versions of an older commit",
            ),
        ]),
    page("contract new")
        .about("Writes .blue/contracts/DOMAIN/NAME.yaml to the working tree. Committing the file publishes it.")
        .examples(&[
            ("git blue contract new orders/order-placed --from-samples events.jsonl", "Infer the schema from payloads"),
            (
                "git blue contract new orders/order-placed --schema 'openapi.yaml#/components/schemas/Order'",
                "Refer to an existing schema",
            ),
            (
                "git blue contract new orders/order-placed --domain-members billing,shop",
                "Create the domain too, with its members",
            ),
        ]),
    page("contract expect")
        .about(
            "Writes a JSON Schema of what the code relies on to the working tree, and names it in the import. A \
            version then breaks this repository only if it breaks these expectations.",
        )
        .examples(&[(
            "git blue contract expect orders/order-placed --from-samples received.jsonl",
            "Infer from payloads what the code relies on",
        )]),
    page("contract bump")
        .about(
            "Edits the file in the working tree, keeping comments and order. The level `auto` derives the bump \
            from a comparison with the published version.",
        )
        .examples(&[
            (
                "git blue contract bump orders/order-placed -m 'Add the currency'",
                "Bump the version as the change requires",
            ),
            ("git blue contract bump orders/order-placed major -m 'Rename total to amount'", "Bump the major version"),
        ]),
    page("contract edit")
        .about(
            "Changes the realm without a commit in the owner's repository. If the contract has a file there, \
            edit and commit the file instead.",
        )
        .examples(&[
            ("git blue contract edit orders/order-placed", "Edit the document in an editor"),
            ("git blue contract edit orders/order-placed --file order.yaml", "Read the new document from a file"),
        ]),
    page("contract retire")
        .about(
            "The contract stays readable, and is shown as retired. Fails while the contract is imported, \
            unless --force is given.",
        )
        .examples(&[(
            "git blue contract retire orders/order-placed --reason 'Use orders/order-created'",
            "Retire a contract, and name its replacement",
        )]),
    page("contract yank").about("The version stays readable.").examples(&[(
        "git blue contract yank orders/order-placed 1.3.0 --reason 'The schema refuses free orders'",
        "Yank a faulty version",
    )]),
    page("contract transfer")
        .about(
            "The other repository accepts by committing and publishing the contract's file. Until then, this \
            repository stays the owner.",
        )
        .examples(&[
            ("git blue contract transfer orders/order-placed --to billing", "Offer a contract to another repository"),
            ("git blue contract transfer orders/order-placed --cancel", "Withdraw the offer"),
        ]),
    page("contract adapted")
        .about(
            "Later versions are compared with this one to find out what changed for this repository, and \
            whether it breaks the code.",
        )
        .examples(&[
            (
                "git blue contract adapted s3-access/s3-permissions",
                "Record that the code works with the current version",
            ),
            ("git blue contract adapted s3-access/s3-permissions 1.0.0", "Record an older version"),
        ]),
    page("contract approve")
        .about(
            "A contract promises compatibility to its consumers. A change that breaks the promise fails the \
            check, which prints the fingerprint of the change; once approved, the same change is a warning.",
        )
        .examples(&[(
            "git blue contract approve orders/order-placed 9f86d081884c7d65 --reason 'Nobody reads the field'",
            "Approve one break",
        )]),
    page("compat")
        .about(
            "Reports for each direction whether every value that is valid under one schema is valid under \
            the other: compatible, incompatible with a counterexample, or unknown. Needs no realm; \
            only COMMIT:FILE needs a repository.",
        )
        .exit_1("A requested direction is incompatible or, with --strict, unknown.")
        .examples(&[
            ("git blue compat old.json new.json", "Compare two files"),
            (
                "git blue compat 'v1.yaml#/components/schemas/Order' 'v2.yaml#/components/schemas/Order'",
                "Compare a part of two OpenAPI documents",
            ),
            (
                "git blue compat HEAD~1:schema.json schema.json --direction backwards",
                "Compare with the previous commit; readers of the old schema must accept new values",
            ),
            ("git blue compat old.json new.json --output sarif=compat.sarif", "Also write a report for code scanning"),
        ]),
];
