//! Shortens what git and a server print to one line.

/// The maximum number of characters of git's messages in an error.
const MAX_GIT_MESSAGES: usize = 2_000;
/// The maximum number of characters of the server's messages in the outcome of a ref.
const MAX_SERVER_MESSAGES: usize = 300;

/// Returns git's messages as one line, without those that it always prints, and without entire pages sent by a server.
pub(super) fn in_one_line(words: &str) -> String {
    let says_nothing = |line: &&str| {
        line.is_empty()
            || line.starts_with("Please make sure you have the correct access rights")
            || line.starts_with("and the repository exists")
    };
    let lines: Vec<_> = words.lines().map(str::trim).filter(|line| !says_nothing(line)).take(6).collect();
    let lines = lines.iter().map(|line| line.strip_prefix("fatal: ").unwrap_or(line)).collect::<Vec<_>>();
    let line = lines.join("; ").replace("To add an exception for this directory, call:; ", "to allow it: ");
    line.chars().take(MAX_GIT_MESSAGES).collect()
}

/// Returns the messages of a server, such as those of its hooks, in one line.
pub(super) fn of_server(words: &str) -> String {
    let lines = words.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim);
    // git's own line about a hook says no more than the outcome of the ref.
    let lines: Vec<_> = lines.filter(|line| !line.is_empty() && !line.starts_with("error: hook declined")).collect();
    lines.join("; ").chars().take(MAX_SERVER_MESSAGES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_git_become_one_line() {
        let words = "fatal: detected dubious ownership in repository at '/srv/hub.git'\nTo add an exception for this \
            directory, call:\n\n\tgit config --global --add safe.directory /srv/hub.git\nfatal: Could not read from \
            remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n";
        let line = "detected dubious ownership in repository at '/srv/hub.git'; to allow it: git config --global --add \
            safe.directory /srv/hub.git; Could not read from remote repository.";
        assert_eq!(in_one_line(words), line);
    }

    #[test]
    fn messages_of_the_server_are_kept_in_one_line() {
        let words = "remote: POLICY-42: not on Fridays        \nremote: \nremote: ask ops\nremote: error: hook declined to \
            update refs/blue/realm\nerror: failed to push some refs\n";
        assert_eq!(of_server(words), "POLICY-42: not on Fridays; ask ops");
        assert_eq!(of_server(&format!("remote: {}", "x".repeat(1_000))).len(), MAX_SERVER_MESSAGES);
    }
}
