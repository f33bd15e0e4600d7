//! Sessions, notifications, hooks, servers, installation and upkeep; and `git blue realm admin …`.

use super::{Page, page};

pub(super) const PAGES: &[Page] = &[
    page("realm admin").examples(&[(
            "git blue realm admin domain --name s3-access --repos aperture,fungal",
            "Create a domain for two repositories",
        )]),
    page("realm admin init").about("Creates the realm without joining it; `git blue init` does both.").examples(&[
            ("git blue realm admin init --name shop", "Create a realm on this machine"),
            (
                "git blue realm admin init --name shop --url git@git.example.com:realms/shop.git",
                "Create a realm that is shared at a URL",
            ),
        ]),
    page("realm admin join").examples(&[
            ("git blue realm admin join shop", "Join a realm of this machine"),
            ("git blue realm admin join shop --url git@git.example.com:realms/shop.git", "Fetch a realm, and join it"),
        ]),
    page("realm admin leave").about("The repository leaves the realm in all of its clones; to stop publishing from one clone only, run \
            `git blue hooks uninstall` and `git config blue.publish off` there. \
            Contracts that the repository owns stay in the realm. Fails while the repository is a member \
            of a domain, unless --force is given.").examples(&[
            ("git blue realm admin leave", "Leave the realm, and keep the hooks and .blue/config.yaml"),
            ("git blue leave", "Leave the realm, and remove the hooks and .blue/config.yaml"),
        ]),
    page("realm admin reclaim").about("Run it in the repository that the name belongs to, after another repository joined or published \
            under that name. If that repository is gone, a new one can take its name, and then transfer, retire and leave: \
            make a first commit there, and run `git config blue.realm REALM` and `git config blue.repo NAME`.")
        .examples(&[
            (
                "git blue realm admin reclaim --reason 'A template had our name in its config.yaml'",
                "Take the name back",
            ),
            (
                "git blue realm admin reclaim --reason 'billing was deleted'",
                "Take over the name of a repository that no longer exists",
            ),
        ]),
    page("realm admin reseed").examples(&[
            ("git blue realm admin reseed", "Push the objects and refs that the remote has lost"),
            (
                "git blue realm admin reseed --url https://git.example.com/realms/new.git",
                "Move the realm to another host",
            ),
        ]),
    page("realm admin domain").about("A domain is a group of repositories that coordinate: only its members are notified of \
            changes in it.").examples(&[(
            "git blue realm admin domain --name orders --repos shop,billing --description 'Events about orders'",
            "Create a domain",
        )]),
    page("realm admin contract").about("Writes to the realm without a commit in the owner's repository; `git blue contract new` writes \
            a file there instead, which is what most teams want.").examples(&[(
            "git blue realm admin contract --domain orders --name order-placed --owner shop --schema order.json",
            "Create a contract from a schema",
        )]),
    page("realm admin binding").about("Writes to the realm without a commit in the repository; `git blue import` and `git blue export` \
            write a file there instead.").examples(&[(
            "git blue realm admin binding --domain orders --repo billing --role consumer --import \
                'order-placed@>=1.0.0, <2.0.0'",
            "Set what a repository imports",
        )]),
    page("realm admin rename").examples(&[("git blue realm admin rename shop storefront", "Rename shop to storefront")]),
    page("realm admin remove-domain").about("Its history stays in the realm.").examples(&[("git blue realm admin remove-domain orders", "Remove a domain")]),
    page("realm admin remove-member").examples(&[("git blue realm admin remove-member --domain orders billing", "Remove billing from a domain, in billing")]),
    page("realm admin remove-realm").about("Deletes its store on this machine. Remotes are not changed.").examples(&[("git blue realm admin remove-realm shop", "Delete a realm that is no longer needed")]),
    page("realm admin bootstrap").about("Adds what is missing, including members of existing domains, and sets the \
            rule about cycles if the file has one. Removes nothing, and keeps the descriptions of existing domains.")
        .exit_1("Something listed in the file cannot be added.").examples(&[
            ("git blue realm admin bootstrap --from realm.yaml --dry-run", "Show what is missing"),
            ("git blue realm admin bootstrap --from realm.yaml", "Add what is missing"),
        ]),
    page("realm admin cache").about("The cache speeds up reading and never affects results. It is rebuilt automatically.").examples(&[("git blue realm admin cache stats", "Show the size of the cache")]),
    page("realm admin cache stats").examples(&[("git blue realm admin cache stats", "Show the size of the cache")]),
    page("realm admin cache clear").examples(&[("git blue realm admin cache clear", "Delete the cache; the next command rebuilds it")]),
    page("session").about("A session is a period of work in one working tree. When it ends, a summary shows which contracts \
            changed meanwhile.").examples(&[("git blue session start --rfc faster-checkout", "Start work on an RFC")]),
    page("session start").examples(&[("git blue session start --rfc faster-checkout", "Start work on an RFC")]),
    page("session status").examples(&[("git blue session status", "Show what changed since the session started")]),
    page("session list").examples(&[("git blue session list --ended", "List sessions, including those that ended in the last 30 days")]),
    page("session stop").examples(&[("git blue session stop", "End the session of this working tree")]),
    page("notifications").examples(&[("git blue notifications list --state pending", "List pending notifications")]),
    page("notifications list").about("Marks nothing as seen. For --since and --until, a change counts from its arrival on this \
            machine.").examples(&[
            ("git blue notifications list --state pending", "List pending notifications"),
            ("git blue notifications list --rank import", "List what concerns your imports"),
            ("git blue notifications list --json", "Print JSON for a program"),
        ]),
    page("notifications ack").examples(&[
            ("git blue notifications ack notif-3f9c0a1b2c3d", "Mark one notification as seen"),
            ("git blue notifications ack --all", "Mark all pending notifications as seen"),
        ]),
    page("notifications watch").about("Shows pending changes, most important first, and then each new change as it arrives. Runs until \
            interrupted. Listens to the daemon if one is running, and watches the realm itself otherwise. With \
            --mark, changes that were shown are not shown again after a restart. The command given with --exec runs \
            once for each change, with the change as one line of JSON on its standard input; no text from the \
            realm becomes part of the command line.").examples(&[
            ("git blue notifications watch --mark", "Watch, and mark shown changes as seen"),
            ("git blue notifications watch --json", "Feed changes to a program, one JSON object per line"),
            (
                "git blue notifications watch --rank attention --desktop",
                "Show desktop notifications for what needs attention",
            ),
            ("git blue notifications watch --mark --exec 'cat >>changes.jsonl'", "Append each change to a file"),
        ]),
    page("notify").about("Receivers are configured with blue.notify.NAME.url (.kind, .command, .secretCommand, \
            .secretFile, and the filters .realm, .repo, .domain and .rank) in your own git configuration, or in \
            $GIT_BLUE_HOME/config.").examples(&[
            (
                "git config --global blue.notify.team.url https://hooks.example.com/blue",
                "Send changes in every realm to a webhook",
            ),
            ("git blue notify list", "List the receivers and their undelivered events"),
        ]),
    page("notify list").examples(&[("git blue notify list", "List the receivers and their undelivered events")]),
    page("notify test").about("Sends one event of the type git-blue.test, regardless of filters.").exit_1("The event was not delivered.").examples(&[("git blue notify test team", "Test the receiver team")]),
    page("notify send").about("Sends each receiver the changes since its last delivery, at least once and in order within each \
            domain. A new receiver gets only later changes. Changes are also sent in the background after each \
            publication and sync, and while the daemon runs; use this command where neither happens.")
        .exit_1("An event was not delivered.").examples(&[
            ("git blue notify send", "Send new changes, and retry failed ones at once"),
            ("git blue notify send --wait 60", "Keep retrying for a minute, in CI"),
        ]),
    page("notify retry").about("git blue gives up on an event after 32 attempts, about a day. Resent events may arrive after newer \
            ones of their domain.").exit_1("An event was not delivered.").examples(&[("git blue notify retry --all", "Resend all failed events")]),
    page("notify forge").about("Opens one issue for each import that a published version breaks or leaves behind, on the forge \
            of the importing repository. It contains the verdict with a counterexample, the differences and, if the \
            repository is cloned on this machine, the lines that mention a changed field. The issue is found again by \
            a marker in its text, kept up to date, and closed once the import holds. An issue that somebody closed is \
            not reopened for the same version.\n\nWith --pull-request, an import whose range does not accept the \
            version gets a pull request instead, which changes the range in the binding's file. It is created through \
            the forge, on a branch git-blue/DOMAIN/CONTRACT that is never force-pushed, and is a draft unless the \
            code needs no change. Once somebody else commits to the branch, git blue leaves it alone.").exit_1("An issue or pull request could not be written.").examples(&[
            ("git blue notify forge --dry-run", "Show which issues would be written"),
            ("git blue notify forge --owner github.com/acme", "Notify all consumers in an organization, from CI"),
            ("git blue notify forge --pull-request", "Propose the new ranges in pull requests"),
        ]),
    page("hooks").examples(&[("git blue hooks status", "Show which hooks are installed")]),
    page("hooks install").about("Adds a marked block to post-commit, post-merge, post-checkout, post-rewrite and \
            post-applypatch, and keeps all other lines. A hook never fails a commit and never waits for the network.").exit_1("A hook could not be installed.").examples(&[
            ("git blue hooks install", "Publish on every commit"),
            ("git blue hooks install --pre-push", "Also check before pushing"),
        ]),
    page("hooks uninstall").about("Removes the marked blocks, and keeps all other lines. `git blue status` and the daemon still publish what \
            is committed; `git config blue.publish off` stops them too.").exit_1("A hook could not be removed.").examples(&[("git blue hooks uninstall", "Remove the hooks")]),
    page("hooks status").exit_1("A hook is missing, or git does not run it.").examples(&[("git blue hooks status", "Check whether git runs the hooks")]),
    page("gc").about("Removes sessions that ended and notifications that were seen more than 30 days ago. Commands that \
            write run this automatically from time to time. Published versions are never \
            removed.").examples(&[("git blue gc", "Pack the store now")]),
    page("doctor").about("Checks the realm's store, this clone and its hooks, and this machine's records of them.").exit_1("An error was found. Warnings do not count.").examples(&[
            ("git blue doctor", "Look for problems without changing anything"),
            ("git blue doctor --fix", "Repair what can be repaired without data loss"),
        ]),
    page("mcp").examples(&[("git blue mcp generate-config --client cursor", "Print the configuration for a client")]),
    page("mcp serve").about("An MCP client starts the server, and stops it by closing standard input.").examples(&[
            ("git blue mcp serve", "Serve the project that the client names"),
            ("git blue mcp serve --read-only", "Offer only read-only tools"),
        ]),
    page("mcp list-tools").examples(&[("git blue mcp list-tools", "List the tools with their arguments")]),
    page("mcp test-tool").exit_1("The tool returned an error.").examples(&[
            ("git blue mcp test-tool realm_status", "Call a tool without arguments"),
            (
                "git blue mcp test-tool contract_get --args '{\"domain\": \"s3-access\", \"contract\": \
                    \"s3-permissions\"}'",
                "Call a tool with arguments",
            ),
        ]),
    page("mcp generate-config").examples(&[
            ("git blue mcp generate-config", "Print the configuration for Claude Code"),
            ("git blue mcp generate-config --client vscode --transport http", "Let VS Code use the daemon"),
        ]),
    page("daemon").about("The daemon listens on 127.0.0.1 and ::1 only. No command requires it.").examples(&[
            ("git blue daemon start", "Start the daemon"),
            ("git blue daemon open", "Open the page in a browser"),
        ]),
    page("daemon start").about("Returns once the daemon answers requests.").examples(&[
            ("git blue daemon start", "Start it in the background"),
            ("git blue daemon start --port 0 --foreground", "Run it in the foreground, on any free port"),
        ]),
    page("daemon stop").about("Returns once the port is free.").examples(&[("git blue daemon stop", "Stop the daemon")]),
    page("daemon status").exit_1("The daemon is not running.").examples(&[("git blue daemon status --json", "Get the daemon's address in a script")]),
    page("daemon token").about("Anyone who has the token can read the realms on this machine and act in your name.").examples(&[
            ("git blue daemon token", "Print the token"),
            (
                "curl -H \"Authorization: Bearer $(git blue daemon token)\" http://127.0.0.1:7865/realms",
                "Query the daemon from a shell",
            ),
        ]),
    page("daemon open").examples(&[
            ("git blue daemon open", "Open the page in a browser"),
            ("git blue daemon open --print", "Print the link instead"),
        ]),
    page("daemon install").examples(&[("git blue daemon install", "Start the daemon whenever you log in")]),
    page("install").examples(&[("git blue install man", "Let `git blue --help` open the manual")]),
    page("install man").examples(&[
            ("git blue install man", "Install for yourself"),
            ("git blue install man --prefix /usr/local", "Install for everybody on this machine"),
        ]),
    page("install completions").examples(&[("git blue install completions", "Install for yourself")]),
    page("install editor").about("Writes JSON Schemas of contracts, bindings and the configuration to .blue/schemas, which should \
            be committed. Editors that use yaml-language-server (VS Code, Neovim, Helix, Zed) find them through the \
            first line of the files that `contract new`, `import` and `export` create from then on; --vscode maps \
            every such file.").examples(&[
            ("git blue install editor", "Write the schemas"),
            ("git blue install editor --vscode", "Also map them in .vscode/settings.json"),
        ]),
    page("install claude").about("Adds the MCP server and a session hook to Claude Code's settings. Shows the changes and, at \
            a terminal, asks for confirmation first.").exit_1("You declined.").examples(&[
            ("git blue install claude --dry-run", "Show what would change"),
            ("git blue install claude --scope user", "Install it for yourself, in every repository"),
        ]),
    page("uninstall").examples(&[("git blue uninstall claude", "Remove Claude Code support")]),
    page("uninstall man").examples(&[("git blue uninstall man", "Remove those in ~/.local")]),
    page("uninstall completions").examples(&[("git blue uninstall completions", "Remove those in ~/.local")]),
    page("uninstall editor").examples(&[("git blue uninstall editor", "Remove the schemas and their mapping")]),
    page("uninstall claude").exit_1("You declined.").examples(&[("git blue uninstall claude --scope user", "Remove it from your own settings")]),
];
