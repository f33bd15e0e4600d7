//! The receivers: `blue.notify.<name>.…` in the user's own git configuration, or in `$GIT_BLUE_HOME/config`. The
//! configuration of a repository and the content of a realm are ignored, because they would let a stranger choose
//! where changes are sent.

use std::{collections::BTreeMap, path::Path, str::FromStr};

use crate::{
    env::Env,
    error::{NextStep, OpError},
    forge::{self, Secret},
    locate,
    machine::{
        home::Home,
        user_config::{self, Values},
    },
    model::{
        name::{DomainName, NameError, ReaderName, RealmName, RepoName},
        rank::Rank,
        text::{comma_separated, shell_path, shell_word},
    },
    ops::{ctx::Ctx, repos::forges},
    platform::{files, process},
    store::{Store, StoreError, overview::Overview},
};

/// The maximum size of a file with a secret, in bytes.
const MAX_SECRET: u64 = 4_096;

/// A receiver of changes.
#[derive(Debug, Clone)]
pub struct Receiver {
    /// Its name.
    pub name: ReaderName,
    /// The channel by which it is notified.
    pub channel: Channel,
    /// The changes that it is notified of.
    pub filter: Filter,
    secret: SecretPlace,
}

/// The channels by which a receiver can be notified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// An event as JSON, posted to a URL.
    Webhook(String),
    /// One line per change, posted to an incoming webhook. If the configuration has no URL, the secret is the URL.
    Chat(Chat, Option<String>),
    /// An email to these addresses, sent with sendmail.
    Email(Vec<String>),
    /// A shell command that gets the event as JSON on its standard input.
    Command(String),
}

/// The supported chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chat {
    /// Slack.
    Slack,
    /// Mattermost.
    Mattermost,
}

/// The changes that a receiver is notified of. An empty list accepts all values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    realms: Vec<RealmName>,
    /// Only changes that are new to one of these.
    repos: Vec<RepoName>,
    domains: Vec<DomainName>,
    /// Only changes that are at least this important to one of them.
    pub rank: Option<Rank>,
}

/// The place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SecretPlace {
    None,
    Command(String),
    File(String),
}

/// The name of a configured receiver, which may be invalid, and the receiver or the error in its configuration.
pub type Configured = (String, Result<Receiver, String>);

/// Returns the receivers for a realm, sorted by name.
///
/// # Errors
/// Returns an error if the configuration cannot be read.
pub fn of_realm(ctx: &Ctx, realm: &RealmName) -> Result<Vec<Configured>, OpError> {
    let mut all = all(&ctx.env, &ctx.home)?;
    all.retain(|(_, one)| one.as_ref().map_or(true, |one| accepts(&one.filter.realms, realm)));
    Ok(all)
}

/// Returns the realms of a receiver that is for other realms only.
///
/// # Errors
/// Returns an error if the configuration cannot be read.
pub fn other_realms(ctx: &Ctx, name: &ReaderName) -> Result<Option<String>, OpError> {
    let found = all(&ctx.env, &ctx.home)?.into_iter().find(|(found, _)| *found == name.as_str());
    let realms = found.and_then(|(_, one)| one.ok()).map(|one| one.filter.realms).unwrap_or_default();
    Ok((!realms.is_empty()).then(|| comma_separated(&realms)))
}

/// Returns the names and errors of the receivers that are not used.
///
/// # Errors
/// Returns an error if the configuration cannot be read.
pub fn problems(ctx: &Ctx) -> Result<Vec<(String, String)>, OpError> {
    Ok(all(&ctx.env, &ctx.home)?.into_iter().filter_map(|(name, one)| Some((name, one.err()?))).collect())
}

/// Returns the step for a receiver that is not used: the one that renames it if its name is invalid, else the one that
/// shows its configuration.
///
/// # Errors
/// Returns an error if the configuration cannot be read.
pub fn correction(ctx: &Ctx, name: &str) -> Result<NextStep, OpError> {
    let is_at_home = ctx.home.subsections("notify.")?.iter().any(|(known, _)| known == name);
    let place =
        if is_at_home { format!("--file {}", shell_path(&ctx.home.config_path())) } else { "--global".to_owned() };
    Ok(if name.parse::<ReaderName>().is_ok() {
        format!("git config {place} --get-regexp '^blue.notify.{name}.'  # show how it is configured")
    } else {
        let section = shell_word(&format!("blue.notify.{name}"));
        format!("git config {place} --rename-section {section} blue.notify.NAME  # give the receiver a valid name")
    }
    .into())
}

/// Returns a remark for each name in a filter that does not exist, which may be misspelled, with the receiver's name.
///
/// # Errors
/// Returns an error if the realm or the configuration cannot be read.
pub fn unknown_names(ctx: &Ctx) -> Result<Vec<(String, String)>, OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let mut remarks = Vec::new();
    for (name, filter) in all(&ctx.env, &ctx.home)?.into_iter().filter_map(|(name, one)| Some((name, one.ok()?.filter)))
    {
        let mut note = |key: &str, value: &str, what: String| {
            remarks.push((name.clone(), format!("blue.notify.{name}.{key} is {value}: there is no such {what}")));
        };
        if !accepts(&filter.realms, &here.realm) {
            for realm in filter.realms.iter().filter(|realm| locate::known(&ctx.home, realm).is_err()) {
                note("realm", realm.as_str(), "realm on this machine".to_owned());
            }
            continue;
        }
        let current = filter.current_repos(&*here.store)?;
        for (repo, _) in filter.repos.iter().zip(current).filter(|(_, current)| !overview.repos().contains_key(current))
        {
            note("repo", repo.as_str(), format!("repository in the realm {}", here.realm));
        }
        for domain in filter.domains.iter().filter(|domain| overview.domains().iter().all(|line| line.name != **domain))
        {
            note("domain", domain.as_str(), format!("domain in the realm {}", here.realm));
        }
    }
    Ok(remarks)
}

fn all(env: &Env, home: &Home) -> Result<Vec<Configured>, OpError> {
    let mut sections: BTreeMap<String, Values> = BTreeMap::new();
    let own = user_config::subsections(env.vars(), "notify.")?;
    for (name, values) in own.into_iter().chain(home.subsections("notify.")?) {
        sections.entry(name).or_default().extend(values);
    }
    let read = |(name, values): (String, Values)| {
        let receiver = match name.parse() {
            Ok(name) => Receiver::read(name, &values),
            Err(error) => Err(NameError { kind: "receiver", ..error }.to_string()),
        };
        (name, receiver)
    };
    Ok(sections.into_iter().map(read).collect())
}

fn accepts<T: PartialEq>(wanted: &[T], one: &T) -> bool {
    wanted.is_empty() || wanted.contains(one)
}

/// Parses names that are separated by commas or spaces.
fn list<T: FromStr<Err: std::fmt::Display>>(values: &Values, key: &str) -> Result<Vec<T>, String> {
    let words = values.get(key).map(String::as_str).unwrap_or_default().split([',', ' ', '\t']);
    words.filter(|word| !word.is_empty()).map(|word| word.parse().map_err(|error| format!("{key}: {error}"))).collect()
}

impl Receiver {
    fn read(name: ReaderName, values: &Values) -> Result<Self, String> {
        let text = |key: &str| values.get(key).filter(|text| !text.is_empty()).cloned();
        let known = ["url", "kind", "command", "secretCommand", "secretFile", "realm", "repo", "domain", "rank"];
        if values.contains_key("secret") {
            return Err("secrets are not read from the configuration: set secretCommand or secretFile".to_owned());
        }
        if let Some(key) = values.keys().find(|key| !known.iter().any(|one| one.eq_ignore_ascii_case(key))) {
            return Err(format!("unknown key {key}; the keys are {}", known.join(", ")));
        }
        let secret = match (text("secretcommand"), text("secretfile")) {
            (Some(_), Some(_)) => return Err("set secretCommand or secretFile, not both".to_owned()),
            (Some(command), None) => SecretPlace::Command(command),
            (None, Some(file)) => SecretPlace::File(file),
            (None, None) => SecretPlace::None,
        };
        let filter = Filter {
            realms: list(values, "realm")?,
            repos: list(values, "repo")?,
            domains: list(values, "domain")?,
            rank: text("rank").map(|word| word.parse()).transpose()?,
        };
        let channel = Channel::read(text("kind"), text("url"), text("command"), secret != SecretPlace::None)?;
        Ok(Self { name, channel, filter, secret })
    }

    /// Returns the secret, if one is configured.
    ///
    /// # Errors
    /// Returns an error if the secret cannot be read.
    pub fn secret(&self, env: &Env) -> Result<Option<Secret>, String> {
        match &self.secret {
            SecretPlace::None => Ok(None),
            SecretPlace::Command(command) => forges::secret_from_command(env, process::shell(), &["-c", command])
                .and_then(|secret| secret.map(Some).ok_or_else(|| "it printed nothing".to_owned()))
                .map_err(|why| format!("secretCommand: {why}")),
            SecretPlace::File(file) => {
                let file = match (file.strip_prefix("~/"), env.home()) {
                    (Some(rest), Some(home)) => home.join(rest),
                    _ => file.into(),
                };
                secret_file(&file).map(Some).map_err(|why| format!("secretFile {}: {why}", file.display()))
            }
        }
    }
}

/// Reads a secret from a file that only its owner may read.
fn secret_file(file: &Path) -> Result<Secret, String> {
    let data = file.metadata().map_err(|error| error.to_string())?;
    if !data.is_file() || data.len() > MAX_SECRET {
        return Err("it is too large, or not a file".to_owned());
    }
    if files::is_open_to_others(file).unwrap_or(true) {
        return Err(format!("others can read it: chmod 600 {}", file.display()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    Secret::of(&text).ok_or_else(|| "its first line is not a secret".to_owned())
}

impl Channel {
    fn read(
        kind: Option<String>,
        url: Option<String>,
        command: Option<String>,
        has_secret: bool,
    ) -> Result<Self, String> {
        let guess = match (&url, &command) {
            (None, Some(_)) => "command",
            (Some(url), None) if url.starts_with("mailto:") => "email",
            _ => "webhook",
        };
        let needs = |what: &str| format!("it has no {what}");
        match kind.as_deref().unwrap_or(guess) {
            "webhook" => private(url.ok_or_else(|| needs("URL"))?).map(Self::Webhook),
            word @ ("slack" | "mattermost") => {
                let chat = if word == "slack" { Chat::Slack } else { Chat::Mattermost };
                let is_given = url.is_some() || has_secret;
                if is_given {
                    Ok(Self::Chat(chat, url.map(private).transpose()?))
                } else {
                    Err(needs("URL, and no secretCommand that prints it"))
                }
            }
            "email" => addresses(&url.ok_or_else(|| needs("URL, such as mailto:team@example.com"))?).map(Self::Email),
            "command" => command.map(Self::Command).ok_or_else(|| needs("command")),
            other => Err(format!(
                "{other:?} is not a kind of receiver: expected webhook, slack, mattermost, email or command"
            )),
        }
    }

    /// Returns the name of the channel in answers.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Webhook(_) => "webhook",
            Self::Chat(Chat::Slack, _) => "slack",
            Self::Chat(Chat::Mattermost, _) => "mattermost",
            Self::Email(_) => "email",
            Self::Command(_) => "command",
        }
    }

    /// Returns the destination without parts that may be secret, such as the path of a URL.
    pub fn destination(&self) -> String {
        match self {
            Self::Webhook(url) | Self::Chat(_, Some(url)) => {
                let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                host.rsplit('@').next().unwrap_or_default().to_owned()
            }
            Self::Chat(_, None) => "the URL that is its secret".to_owned(),
            Self::Email(addresses) => addresses.join(", "),
            Self::Command(command) => command.clone(),
        }
    }
}

/// Returns the URL if events may be sent to it.
fn private(url: String) -> Result<String, String> {
    let why = "its URL must begin with https:// and contain no user name: events are only sent encrypted";
    if forge::is_private(&url) { Ok(url) } else { Err(why.to_owned()) }
}

/// Returns the addresses of a `mailto:` URL. They become arguments of sendmail and a header of the email.
fn addresses(url: &str) -> Result<Vec<String>, String> {
    let all = url.strip_prefix("mailto:").unwrap_or(url).split(',').map(|one| one.trim().to_owned());
    let is_address = |one: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-@=".contains(c);
        !one.starts_with(['-', '.', '@']) && one.len() <= 254 && one.contains('@') && one.chars().all(is_plain)
    };
    let all: Vec<_> = all.collect();
    match all.iter().find(|one| !is_address(one)) {
        Some(wrong) => Err(format!("{wrong:?} is not a mail address")),
        None => Ok(all),
    }
}

impl Filter {
    /// Returns whether the filter accepts a domain.
    pub fn has_domain(&self, domain: &DomainName) -> bool {
        accepts(&self.domains, domain)
    }

    /// Returns the current names of the repositories whose news the filter accepts. If there are none, it accepts the
    /// news of all.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn current_repos(&self, store: &dyn Store) -> Result<Vec<RepoName>, StoreError> {
        let current = |name: &RepoName| Ok(locate::renamed::newer(store, name)?.unwrap_or_else(|| name.clone()));
        self.repos.iter().map(current).collect()
    }

    /// Returns whether the filter accepts a rank.
    pub fn has_rank(&self, rank: Rank) -> bool {
        self.rank.is_none_or(|least| rank <= least)
    }
}

impl std::fmt::Display for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let joined = |names: Vec<&str>| names.join(",");
        let parts = [
            ("repo", joined(self.repos.iter().map(RepoName::as_str).collect())),
            ("domain", joined(self.domains.iter().map(DomainName::as_str).collect())),
            ("rank", self.rank.map(|rank| rank.word().to_owned()).unwrap_or_default()),
        ];
        let set = parts.iter().filter(|(_, value)| !value.is_empty());
        let words: Vec<_> = set.map(|(key, value)| format!("{key}={value}")).collect();
        f.write_str(if words.is_empty() { "everything" } else { "" })?;
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> Result<Receiver, String> {
        let values = values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Receiver::read("x".parse().unwrap(), &values)
    }

    #[test]
    fn the_kind_follows_from_the_other_keys() {
        for (values, kind, destination) in [
            (&[("url", "https://hooks.example.com/a/b?c")][..], "webhook", "hooks.example.com"),
            (&[("url", "mailto:a@example.com, b@example.com")], "email", "a@example.com, b@example.com"),
            (&[("command", "cat >>news")], "command", "cat >>news"),
            (&[("kind", "slack"), ("url", "https://hooks.slack.com/services/T/B/x")], "slack", "hooks.slack.com"),
            (&[("kind", "mattermost"), ("secretcommand", "pass url")], "mattermost", "the URL that is its secret"),
        ] {
            let channel = read(values).unwrap().channel;
            assert_eq!((channel.kind(), &*channel.destination()), (kind, destination));
        }
    }

    #[test]
    fn invalid_configurations_are_reported() {
        for (values, why) in [
            (&[("kind", "webhook")][..], "no URL"),
            (&[("kind", "fax"), ("url", "https://h/")], "is not a kind"),
            (&[("url", "https://h/"), ("secret", "abc")], "secretCommand or secretFile"),
            (&[("url", "https://h/"), ("repos", "a")], "unknown key repos"),
            (&[("url", "https://h/"), ("rank", "urgent")], "is not a rank"),
            (&[("url", "https://h/"), ("domain", "a/b")], "domain:"),
            (&[("url", "http://h/")], "must begin with https"),
            (&[("url", "ftp://h/")], "must begin with https"),
            (&[("url", "https://me:x@h/")], "no user name"),
            (&[("kind", "slack"), ("url", "http://h/")], "must begin with https"),
            (&[("url", "mailto:-oQ/tmp@h")], "is not a mail address"),
            (&[("url", "mailto:a@h\nBcc: b@h")], "is not a mail address"),
        ] {
            let said = read(values).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_filter_accepts_what_it_names() {
        let one = read(&[("url", "https://h/"), ("domain", "a, b"), ("rank", "attention")]).unwrap().filter;
        assert!(one.has_domain(&"b".parse().unwrap()) && !one.has_domain(&"c".parse().unwrap()));
        assert!(one.has_rank(Rank::Broken) && one.has_rank(Rank::Attention) && !one.has_rank(Rank::Import));
        assert_eq!(one.to_string(), "domain=a,b rank=attention");
        assert_eq!(Filter::default().to_string(), "everything");
    }

    #[test]
    fn a_secret_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "s3cret\n").unwrap();
        for (mode, is_fine) in [(0o644, false), (0o640, false), (0o600, true), (0o400, true)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(secret_file(&file).is_ok(), is_fine, "{mode:o}");
        }
    }
}
