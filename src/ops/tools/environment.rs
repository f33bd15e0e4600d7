//! The environment of commands that are declared as tools: that of the server without secrets, because a model reads
//! what the command prints.

use std::{collections::BTreeMap, ffi::OsString};

use crate::env::Env;

/// Words that mark a secret if a variable's name contains them, separated from the rest of it.
const WORDS: [&str; 11] = [
    "APIKEY",
    "AUTH",
    "CREDENTIAL",
    "CREDENTIALS",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
    "SECRETS",
    "TOKEN",
];
/// Words that mark a secret at the end of a name: a key, a personal access token, and a secret key.
const LAST_WORDS: [&str; 3] = ["KEY", "PAT", "SK"];
/// Suffixes that mark a secret without a separator, such as in PGPASSWORD.
const ENDS: [&str; 7] = ["APIKEY", "PASSWD", "PASSWORD", "SECRET", "SSHPASS", "TOKEN", "_PWD"];
/// Prefixes of secrets of particular programs, and of configuration for a single command (`git -c`), which may contain
/// headers with a secret.
const STARTS: [&str; 5] = ["AWS_", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_VALUE_"];

/// Returns the environment of a command that also gets the variables in `passed`.
pub fn variables(env: &Env, passed: &[String]) -> BTreeMap<OsString, OsString> {
    let may = |name: &OsString| {
        let name = name.to_string_lossy();
        passed.iter().any(|one| *one == name) || !is_secret(&name)
    };
    env.vars().iter().filter(|(name, _)| may(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns whether a variable's name suggests a secret.
fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    // This is the address of an agent, which does not reveal keys.
    if upper == "SSH_AUTH_SOCK" {
        return false;
    }
    let mut words = upper.split(|c: char| !c.is_ascii_alphanumeric()).peekable();
    let has_word = std::iter::from_fn(|| words.next().map(|word| (word, words.peek().is_none())))
        .any(|(word, is_last)| WORDS.contains(&word) || (LAST_WORDS.contains(&word) && is_last));
    has_word || ENDS.iter().any(|end| upper.ends_with(end)) || STARTS.iter().any(|start| upper.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_their_names() {
        let secrets = "GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN CI_JOB_TOKEN FORGEJO_TOKEN GITEA_TOKEN GIT_BLUE_TOKEN \
                       AWS_SECRET_ACCESS_KEY AWS_PROFILE ACTIONS_ID_TOKEN_REQUEST_URL npm_config__authToken \
                       NPM_CONFIG__AUTH DOCKER_AUTH_CONFIG PGPASSWORD MYSQL_PWD SSHPASS OPENAI_API_KEY apikey \
                       MY_SECRET DB_PASSWORD GOOGLE_APPLICATION_CREDENTIALS GPG_PASSPHRASE GIT_CONFIG_VALUE_0 \
                       GIT_CONFIG_PARAMETERS SECRET_KEY_BASE TOKEN \
                       GITHUB_PAT AZURE_DEVOPS_EXT_PAT STRIPE_SK";
        assert_eq!(secrets.split_whitespace().filter(|name| !is_secret(name)).collect::<Vec<_>>(), [""; 0]);
        let plain = "PATH HOME PWD OLDPWD LANG TERM USER SSH_AUTH_SOCK GIT_BLUE_HOME GIT_CONFIG_GLOBAL KEYMAP \
                     GIT_EXEC_PATH TOKENIZERS_PARALLELISM XAUTHORITY PASSENGER_ROOT KEY_DIR MONKEY VIRTUAL_ENV \
                     PAT_HOME DISK TASK";
        assert_eq!(plain.split_whitespace().filter(|name| is_secret(name)).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn a_secret_is_passed_only_if_the_user_says_so() {
        let vars = ["GITHUB_TOKEN", "GH_TOKEN", "PATH"].map(|name| (name.into(), "x".into()));
        let found = variables(&Env::isolated("/", vars), &["GH_TOKEN".to_owned()]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["GH_TOKEN", "PATH"]);
    }
}
