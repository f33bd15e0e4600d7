//! Sessions, notifications, hooks, servers, installation and upkeep; and `git blue realm admin …`.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        command: "realm admin",
        description: "",
        no: "",
        examples: &[(
            "git blue realm admin domain --name s3-access --repos aperture,fungal",
            "Let two repositories agree on contracts",
        )],
    },
    Page {
        command: "realm admin init",
        description: "Creates the realm, and joins nothing; `git blue init` does both.",
        no: "",
        examples: &[
            ("git blue realm admin init --name shop", "Create a realm on this machine"),
            (
                "git blue realm admin init --name shop --url git@git.example.com:realms/shop.git",
                "Create a realm that is shared at a URL",
            ),
        ],
    },
    Page {
        command: "realm admin join",
        description: "",
        no: "",
        examples: &[
            ("git blue realm admin join shop", "Join a realm of this machine"),
            ("git blue realm admin join shop --url git@git.example.com:realms/shop.git", "Fetch a realm, and join it"),
        ],
    },
    Page {
        command: "realm admin leave",
        description: "Contracts that the repository owns stay in the realm. Refused while it is a member of domains, \
            unless --force is given.",
        no: "",
        examples: &[("git blue leave", "Leave the realm, and remove the hooks and .blue/config.yaml")],
    },
    Page {
        command: "realm admin reclaim",
        description: "For the repository that a name belongs to, where another one joined or published under it.",
        no: "",
        examples: &[(
            "git blue realm admin reclaim --reason 'A template had our name in its config.yaml'",
            "Take the name back",
        )],
    },
    Page {
        command: "realm admin reseed",
        description: "",
        no: "",
        examples: &[
            ("git blue realm admin reseed", "Push again what the remote has lost"),
            (
                "git blue realm admin reseed --url https://git.example.com/realms/new.git",
                "Move the realm to another host",
            ),
        ],
    },
    Page {
        command: "realm admin domain",
        description: "",
        no: "",
        examples: &[(
            "git blue realm admin domain --name orders --repos shop,billing --description 'Events about orders'",
            "Create a domain",
        )],
    },
    Page {
        command: "realm admin contract",
        description: "Writes to the realm without a commit in the owner's repository; `git blue contract new` writes \
            a file there instead, which is what most teams want.",
        no: "",
        examples: &[(
            "git blue realm admin contract --domain orders --name order-placed --owner shop --schema order.json",
            "Create a contract from a schema",
        )],
    },
    Page {
        command: "realm admin binding",
        description: "Writes to the realm without a commit in the repository; `git blue import` and `git blue export` \
            write a file there instead.",
        no: "",
        examples: &[(
            "git blue realm admin binding --domain orders --repo billing --role consumer --import 'order-placed@>=1.0.0, <2.0.0'",
            "Set what a repository imports",
        )],
    },
    Page {
        command: "realm admin rename",
        description: "",
        no: "",
        examples: &[("git blue realm admin rename shop storefront", "Rename shop to storefront")],
    },
    Page {
        command: "realm admin remove-domain",
        description: "Its history stays in the realm.",
        no: "",
        examples: &[("git blue realm admin remove-domain orders", "Remove a domain")],
    },
    Page {
        command: "realm admin remove-member",
        description: "",
        no: "",
        examples: &[("git blue realm admin remove-member --domain orders billing", "Remove billing from a domain")],
    },
    Page {
        command: "realm admin remove-realm",
        description: "Deletes its store on this machine. What is shared at a URL stays there.",
        no: "",
        examples: &[("git blue realm admin remove-realm shop", "Delete a realm that is no longer needed")],
    },
    Page {
        command: "realm admin bootstrap",
        description: "Creates what is missing, and changes nothing that exists.",
        no: "Something that the file lists cannot be created.",
        examples: &[
            ("git blue realm admin bootstrap --from realm.yaml --dry-run", "See what is missing"),
            ("git blue realm admin bootstrap --from realm.yaml", "Create it"),
        ],
    },
    Page {
        command: "realm admin cache",
        description: "The cache makes reading faster and changes no answer. It is rebuilt by itself.",
        no: "",
        examples: &[("git blue realm admin cache stats", "See how large the cache is")],
    },
    Page {
        command: "realm admin cache stats",
        description: "",
        no: "",
        examples: &[("git blue realm admin cache stats", "See how large the cache is")],
    },
    Page {
        command: "realm admin cache clear",
        description: "",
        no: "",
        examples: &[("git blue realm admin cache clear", "Delete the cache; the next command rebuilds it")],
    },
    Page {
        command: "session",
        description: "A session is one stretch of work in one work tree. When it ends, it says which contracts changed \
            meanwhile.",
        no: "",
        examples: &[("git blue session start --rfc faster-checkout", "Begin to work on an RFC")],
    },
    Page {
        command: "session start",
        description: "",
        no: "",
        examples: &[("git blue session start --rfc faster-checkout", "Begin to work on an RFC")],
    },
    Page {
        command: "session status",
        description: "",
        no: "",
        examples: &[("git blue session status", "See what changed since the session began")],
    },
    Page {
        command: "session list",
        description: "",
        no: "",
        examples: &[("git blue session list --ended", "List sessions, with those of the last 30 days that have ended")],
    },
    Page {
        command: "session stop",
        description: "",
        no: "",
        examples: &[("git blue session stop", "End the session of this work tree")],
    },
    Page {
        command: "notifications",
        description: "",
        no: "",
        examples: &[("git blue notifications list --state pending", "List what you have not been told yet")],
    },
    Page {
        command: "notifications list",
        description: "Marks nothing as seen.",
        no: "",
        examples: &[
            ("git blue notifications list --state pending", "List what you have not been told yet"),
            ("git blue notifications list --json", "Read them from a program"),
        ],
    },
    Page {
        command: "notifications ack",
        description: "",
        no: "",
        examples: &[
            ("git blue notifications ack notif-3f9c0a1b2c3d", "Mark one notification as seen"),
            ("git blue notifications ack --all", "Mark all that are pending"),
        ],
    },
    Page {
        command: "notifications watch",
        description: "Shows what is pending, what matters most first, and then each change as it comes. Runs until it \
            is interrupted. Listens to the daemon where one runs, and looks at the realm by itself otherwise. With --mark, what was shown is not shown again after a restart. A command of --exec runs \
            once for each change, with the change as one line of JSON on its standard input; nothing from the realm \
            is put into the command line.",
        no: "",
        examples: &[
            ("git blue notifications watch --mark", "Watch, and mark what was shown as seen"),
            ("git blue notifications watch --json", "Give changes to a program, one JSON object a line"),
            (
                "git blue notifications watch --rank attention --desktop",
                "Be told on the desktop of what needs attention",
            ),
            ("git blue notifications watch --mark --exec 'cat >>changes.jsonl'", "Append each change to a file"),
        ],
    },
    Page {
        command: "notify",
        description: "Receivers are configured as blue.notify.NAME.url (.kind, .command, .secretCommand, .secretFile, and \
            the filters .realm, .repo, .domain and .severity) in your own git configuration, or in $GIT_BLUE_HOME/config.",
        no: "",
        examples: &[
            (
                "git config --global blue.notify.team.url https://hooks.example.com/blue",
                "Send the news of every realm to a webhook",
            ),
            ("git blue notify list", "List the receivers, and what they have not received yet"),
        ],
    },
    Page {
        command: "notify list",
        description: "",
        no: "",
        examples: &[("git blue notify list", "List the receivers, and what they have not received yet")],
    },
    Page {
        command: "notify test",
        description: "Sends an event of the type git-blue.test, once, whatever the filters are.",
        no: "It did not arrive.",
        examples: &[("git blue notify test team", "Try the receiver team")],
    },
    Page {
        command: "notify send",
        description: "Sends to each receiver what is new since it was told last, at least once and in the order of each \
            domain. A receiver that is new hears what comes from now on. This happens in the background after each \
            publication and sync, and while the daemon runs; call it where neither is so.",
        no: "Something has not arrived.",
        examples: &[
            ("git blue notify send", "Send what is new, and try at once what failed"),
            ("git blue notify send --wait 60", "Try what fails again for a minute, for CI"),
        ],
    },
    Page {
        command: "notify retry",
        description: "An event is given up after 32 tries, in about a day. Events that are sent again may come behind \
            newer ones of their domain.",
        no: "Something has not arrived.",
        examples: &[("git blue notify retry --all", "Send everything again that was given up")],
    },
    Page {
        command: "notify forge",
        description: "Writes one issue for each import that a published version breaks or leaves behind, on the forge of \
            the repository that imports: the verdict with a value that shows it, what differs, and, where the repository \
            is cloned on this machine, the lines that mention a changed field. An issue is found again by a mark in its \
            text, kept up to date, and closed once the import holds. One that somebody closed is not opened again for the \
            same version.\n\n\
            With --pull-request, an import whose range does not accept the version gets a pull request instead, which moves \
            the range in the file of the binding. It is made through the forge, on a branch git-blue/DOMAIN/CONTRACT that \
            is never forced, and is a draft unless nothing in the code has to change. Once somebody else committed on the \
            branch, git blue leaves it alone.",
        no: "A repository could not be told.",
        examples: &[
            ("git blue notify forge --dry-run", "See which issues would be written"),
            ("git blue notify forge --owner github.com/acme", "Tell all consumers of an organisation, from CI"),
            ("git blue notify forge --pull-request", "Propose the new ranges in pull requests"),
        ],
    },
    Page {
        command: "hooks",
        description: "",
        no: "",
        examples: &[("git blue hooks status", "See which hooks are in place")],
    },
    Page {
        command: "hooks install",
        description: "Adds a marked block to post-commit, post-merge, post-checkout, post-rewrite and \
            post-applypatch, and keeps every line that is there. A hook never delays or fails a commit.",
        no: "A hook could not be put in place.",
        examples: &[
            ("git blue hooks install", "Publish on every commit"),
            ("git blue hooks install --pre-push", "Also check before pushing"),
        ],
    },
    Page {
        command: "hooks uninstall",
        description: "Removes the marked blocks, and keeps every other line.",
        no: "A hook could not be removed.",
        examples: &[("git blue hooks uninstall", "Publish by hand or in CI from now on")],
    },
    Page {
        command: "hooks status",
        description: "",
        no: "A hook is missing, or is not run by git.",
        examples: &[("git blue hooks status", "See whether git runs the hooks")],
    },
    Page {
        command: "gc",
        description: "Commands that write do this from time to time by themselves. No published version is ever \
            removed.",
        no: "",
        examples: &[("git blue gc", "Pack the store now")],
    },
    Page {
        command: "doctor",
        description: "Looks at the realm's store, this clone and its hooks, and at what this machine knows of them.",
        no: "Something is wrong.",
        examples: &[
            ("git blue doctor", "Look for problems, and change nothing"),
            ("git blue doctor --fix", "Repair what can be repaired without losing anything"),
        ],
    },
    Page {
        command: "mcp",
        description: "",
        no: "",
        examples: &[("git blue mcp generate-config --client cursor", "Print the configuration of a client")],
    },
    Page {
        command: "mcp serve",
        description: "An MCP client starts this, and ends it by closing standard input.",
        no: "",
        examples: &[
            ("git blue mcp serve", "Serve the project that the client names"),
            ("git blue mcp serve --read-only", "Offer only tools that change nothing for others"),
        ],
    },
    Page {
        command: "mcp list-tools",
        description: "",
        no: "",
        examples: &[("git blue mcp list-tools", "List the tools with their arguments")],
    },
    Page {
        command: "mcp test-tool",
        description: "",
        no: "The tool answered with an error.",
        examples: &[
            ("git blue mcp test-tool realm_status", "Call a tool without arguments"),
            (
                "git blue mcp test-tool contract_get --args '{\"domain\": \"s3-access\", \"contract\": \"s3-permissions\"}'",
                "Call a tool with arguments",
            ),
        ],
    },
    Page {
        command: "mcp generate-config",
        description: "",
        no: "",
        examples: &[
            ("git blue mcp generate-config", "Print what Claude Code needs"),
            ("git blue mcp generate-config --client vscode --transport http", "Let VS Code ask the daemon"),
        ],
    },
    Page {
        command: "daemon",
        description: "The daemon listens on 127.0.0.1 alone. No command needs it.",
        no: "",
        examples: &[("git blue daemon start", "Start it"), ("git blue daemon open", "Open the page in a browser")],
    },
    Page {
        command: "daemon start",
        description: "Returns once requests are answered.",
        no: "",
        examples: &[
            ("git blue daemon start", "Start it in the background"),
            ("git blue daemon start --port 0 --foreground", "Run it in the foreground, on any free port"),
        ],
    },
    Page {
        command: "daemon stop",
        description: "Returns once the port is free.",
        no: "",
        examples: &[("git blue daemon stop", "Stop it")],
    },
    Page {
        command: "daemon status",
        description: "",
        no: "It does not run.",
        examples: &[("git blue daemon status --json", "Ask for its address from a script")],
    },
    Page {
        command: "daemon token",
        description: "Whoever has the token can read the realms of this machine and act in your name.",
        no: "",
        examples: &[
            ("git blue daemon token", "Print the token"),
            (
                "curl -H \"Authorization: Bearer $(git blue daemon token)\" http://127.0.0.1:7865/realms",
                "Ask the daemon from a shell",
            ),
        ],
    },
    Page {
        command: "daemon open",
        description: "",
        no: "",
        examples: &[
            ("git blue daemon open", "Open the page in a browser"),
            ("git blue daemon open --print", "Print the link, for a browser elsewhere"),
        ],
    },
    Page {
        command: "daemon install",
        description: "",
        no: "",
        examples: &[("git blue daemon install", "Start the daemon whenever you log in")],
    },
    Page {
        command: "install",
        description: "",
        no: "",
        examples: &[("git blue install man", "Let `git blue --help` open the manual")],
    },
    Page {
        command: "install man",
        description: "",
        no: "",
        examples: &[
            ("git blue install man", "Install for yourself"),
            ("git blue install man --prefix /usr/local", "Install for everybody on this machine"),
        ],
    },
    Page {
        command: "install completions",
        description: "",
        no: "",
        examples: &[("git blue install completions", "Install for yourself")],
    },
    Page {
        command: "install editor",
        description: "Writes JSON Schemas of contracts, bindings and the configuration to .blue/schemas, to be committed. \
            Editors that use yaml-language-server (VS Code, Neovim, Helix, Zed) find them by the first line of the files \
            that `contract new`, `import` and `export` make from then on; --vscode maps every such file.",
        no: "",
        examples: &[
            ("git blue install editor", "Write the schemas"),
            ("git blue install editor --vscode", "Map them in .vscode/settings.json too"),
        ],
    },
    Page {
        command: "install claude",
        description: "Adds the MCP server and a hook that starts sessions to Claude Code's settings. Shows what \
            changes, and asks first.",
        no: "You declined.",
        examples: &[
            ("git blue install claude --dry-run", "See what would change"),
            ("git blue install claude --scope user", "Install it for you, in every repository"),
        ],
    },
    Page {
        command: "uninstall",
        description: "",
        no: "",
        examples: &[("git blue uninstall claude", "Remove the support for Claude Code")],
    },
    Page {
        command: "uninstall editor",
        description: "",
        no: "",
        examples: &[("git blue uninstall editor", "Remove the schemas and their mapping")],
    },
    Page {
        command: "uninstall claude",
        description: "",
        no: "You declined.",
        examples: &[("git blue uninstall claude --scope user", "Remove it from your own settings")],
    },
];
