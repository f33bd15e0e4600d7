//! The remote of a clone that code is fetched from and pushed to, usually `origin`, its URL as git would use it, and the
//! remotes of a partial clone.

use std::{collections::BTreeSet, path::Path};

use gix::bstr::ByteSlice as _;

use super::{CodeRepo, DiscoverOptions, absolute};
use crate::{
    model::repo_url::{RepoUrl, for_others, without_credentials},
    store::git::git_command,
};

/// The usual name of the remote that branches are fetched from and pushed to.
pub(super) const ORIGIN: &str = "origin";

/// Returns the full name of the ref of a branch at a remote.
pub(super) fn at_remote(remote: &str, branch: &str) -> String {
    format!("refs/remotes/{remote}/{branch}")
}

impl CodeRepo {
    /// Returns the name of the remote that branches are fetched from and pushed to: `origin`, or the only remote if it has
    /// another name (`git clone -o`).
    pub fn origin(&self) -> String {
        let has_url = |name: &String| self.config(&format!("remote.{name}.url")).is_some();
        let named: BTreeSet<_> = self.remotes().into_iter().filter(has_url).collect();
        let only = named.first().filter(|_| named.len() == 1);
        only.cloned().unwrap_or_else(|| ORIGIN.to_owned())
    }

    /// Returns the full name of the ref of a branch at [`Self::origin`].
    pub fn at_origin(&self, branch: &str) -> String {
        at_remote(&self.origin(), branch)
    }

    /// Returns the URL of origin, without credentials, in the form that is valid for others. A relative path, which git
    /// resolves from the clone's folder, is returned as an absolute one.
    pub fn origin_url(&self) -> Option<String> {
        self.origin_urls().map(|[configured, used]| for_others(configured, used))
    }

    /// Returns the URL of origin as it is configured, and as git uses it after `insteadOf` was applied.
    pub fn origin_urls(&self) -> Option<[String; 2]> {
        let snapshot = self.repo.config_snapshot();
        let urls = snapshot.plumbing().strings(format!("remote.{}.url", self.origin()).as_str())?;
        // git fetches from the first one. An empty one discards those before it.
        let url = urls.rsplit(|url| url.is_empty()).next()?.first()?.to_str().ok()?.to_owned();
        let used = self.rewritten(&url);
        Some([url, used].map(|url| {
            if RepoUrl::of(&url).is_relative() {
                absolute(&self.main_folder(), Path::new(&url)).display().to_string()
            } else {
                without_credentials(&url)
            }
        }))
    }

    /// Returns a URL after `url.BASE.insteadOf` was applied to it, as git does: the longest match counts.
    pub fn rewritten(&self, url: &str) -> String {
        let snapshot = self.repo.config_snapshot();
        let sections = snapshot.plumbing().sections_by_name("url").into_iter().flatten();
        rewrite(
            url,
            sections.flat_map(|section| {
                let base = section.header().subsection_name().map(ToString::to_string).unwrap_or_default();
                section.values("insteadOf").into_iter().map(move |prefix| (prefix.to_string(), base.clone()))
            }),
        )
    }

    /// Returns a URL that the user typed in the form that is valid for others, by the configuration
    /// outside of any repository.
    pub fn url_for_others(place: &DiscoverOptions, url: &str) -> String {
        let rules = git_command::global_values(&place.vars, r"^url\..*\.insteadof$").into_iter().filter_map(|one| {
            let base = one.0.strip_prefix("url.")?.strip_suffix(".insteadof")?.to_owned();
            Some((one.1, base))
        });
        for_others(url.to_owned(), rewrite(url, rules))
    }

    /// Returns the remotes other than origin, each with its URL after `insteadOf` was applied.
    pub fn other_remotes(&self) -> Vec<(String, String)> {
        let url = |name: &str| self.config(&format!("remote.{name}.url"));
        let origin = self.origin();
        let others = self.remotes().into_iter().filter(|name| *name != origin);
        others.filter_map(|name| url(&name).map(|url| (name, self.rewritten(&url)))).collect()
    }

    /// Returns the remote from which git fetches missing objects, if this is a partial clone.
    pub fn promisor(&self) -> Option<String> {
        let snapshot = self.repo.config_snapshot();
        let config = snapshot.plumbing();
        let promises = |name: &String| config.boolean(format!("remote.{name}.promisor").as_str());
        let marked = self.remotes().into_iter().find(|name| matches!(promises(name), Ok(Some(true))));
        marked.or_else(|| self.config("extensions.partialClone"))
    }

    /// Returns the names of the remotes, in the order of the configuration. A remote may be listed more than once.
    fn remotes(&self) -> Vec<String> {
        let snapshot = self.repo.config_snapshot();
        let sections = snapshot.plumbing().sections_by_name("remote").into_iter().flatten();
        let names = sections.filter_map(|section| section.header().subsection_name()?.to_str().ok().map(str::to_owned));
        names.collect()
    }
}

/// Replaces the longest of these prefixes that a URL starts with.
fn rewrite(url: &str, rules: impl Iterator<Item = (String, String)>) -> String {
    let matching = rules.filter(|(prefix, _)| !prefix.is_empty() && url.starts_with(prefix.as_str()));
    match matching.max_by_key(|(prefix, _)| prefix.len()) {
        Some((prefix, base)) => format!("{base}{}", &url[prefix.len()..]),
        None => url.to_owned(),
    }
}
