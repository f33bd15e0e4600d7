//! Machines that work concurrently and sync with a hub converge in any order, and everything acknowledged is
//! published or recorded.

use std::collections::BTreeMap;

use git_blue::{
    model::{
        binding::{Binding, Import, Role, UsedIn},
        contract::Contract,
        domain::{Domain, Source},
        name::{ContractName, DomainName, RepoName},
        oid::Oid,
        realm::Rename,
    },
    store::{
        Change, Edit, Objects as _, Parents, Store as _, StoreRef, append_only, codec, history::Relation, layout,
        merge, read,
    },
    testing::{make, memory::MemoryStore},
};
use proptest::prelude::*;

const MACHINES: usize = 3;

/// An event on one machine.
#[derive(Debug, Clone)]
enum Step {
    /// A repository publishes a version with this content.
    Publish { repo: usize, contract: usize, version: u8, value: u8 },
    /// A repository changes its imports.
    Bind { repo: usize, range: u8 },
    /// A repository removes its binding.
    Unbind { repo: usize },
    /// The first repository is renamed.
    Rename,
    /// A repository becomes a member.
    Enter { repo: usize },
    /// A clone of a repository pulls a commit that another machine published, and publishes it as well.
    Pull { from: usize, repo: usize },
    /// The machine syncs with the hub.
    Sync,
}

fn a_step() -> impl Strategy<Value = (usize, Step)> {
    let step = prop_oneof![
        4 => (0..2usize, 0..2usize, 0..3u8, 0..3u8)
            .prop_map(|(repo, contract, version, value)| Step::Publish { repo, contract, version, value }),
        2 => (0..2usize, 0..3u8).prop_map(|(repo, range)| Step::Bind { repo, range }),
        1 => (0..2usize).prop_map(|repo| Step::Unbind { repo }),
        1 => Just(Step::Rename),
        1 => (0..4usize).prop_map(|repo| Step::Enter { repo }),
        3 => (0..MACHINES, 0..2usize).prop_map(|(from, repo)| Step::Pull { from, repo }),
        3 => Just(Step::Sync),
    ];
    (0..MACHINES, step)
}

struct Meeting {
    store: MemoryStore,
    hub: Oid,
    /// Every acknowledged content, with its version.
    published: Vec<(ContractName, String, String)>,
    /// The number of source commits.
    commits: u32,
}

fn domain() -> StoreRef {
    StoreRef::Domain("s3".parse().unwrap())
}

/// The refs of several machines are in one object store.
fn machine(at: usize) -> StoreRef {
    StoreRef::Seen(format!("m{at}").parse().unwrap(), Box::new(domain()))
}

impl Meeting {
    fn new() -> Self {
        let store = MemoryStore::new();
        {
            let rename = Rename { from: "repo0".parse().unwrap(), to: "renamed".parse().unwrap() };
            let put = make::put(layout::rename(&rename.from), codec::encode(&rename));
            let _lease = store.lock(&StoreRef::Realm).unwrap();
            store.commit_change(&StoreRef::Realm, None, &make::change("rename", [put])).unwrap();
        }
        let name: DomainName = "s3".parse().unwrap();
        let info =
            Domain { name, description: String::new(), members: ["repo0".parse().unwrap()].into(), removed: false };
        let first = make::change("make", [make::put(layout::domain(), codec::encode(&info))]);
        let hub = {
            let _lease = store.lock(&machine(0)).unwrap();
            store.commit_change(&machine(0), None, &first).unwrap()
        };
        let meeting = Self { store, hub, published: Vec::new(), commits: 0 };
        for at in 1..MACHINES {
            meeting.advance(at, None, hub);
        }
        meeting
    }

    fn tip(&self, at: usize) -> Oid {
        self.store.tip(&machine(at)).unwrap().unwrap()
    }

    fn advance(&self, at: usize, from: Option<Oid>, to: Oid) {
        let _lease = self.store.lock(&machine(at)).unwrap();
        self.store.advance(&machine(at), from, to).unwrap();
    }

    fn commit(&self, at: usize, change: &Change) -> Oid {
        let _lease = self.store.lock(&machine(at)).unwrap();
        self.store.commit_change(&machine(at), Some(self.tip(at)), change).unwrap()
    }

    fn exists(&self, at: usize, path: &str) -> bool {
        let tree = self.store.commit(&self.tip(at)).unwrap().tree;
        read::lookup(&self.store, &tree, path).unwrap().is_some()
    }

    /// Returns the name of a repository on a machine.
    fn name(&self, at: usize, repo: usize) -> RepoName {
        let is_renamed = repo == 0 && self.info(at).has_member(&"renamed".parse().unwrap());
        if is_renamed { "renamed".parse().unwrap() } else { format!("repo{repo}").parse().unwrap() }
    }

    fn info(&self, at: usize) -> Domain {
        let tree = self.store.commit(&self.tip(at)).unwrap().tree;
        read::file(&self.store, &domain(), &tree, &layout::domain()).unwrap().unwrap()
    }

    /// Returns the change that moves everything of the first repository to its new name.
    fn rename(&self, at: usize) -> Change {
        let (old, new): (RepoName, RepoName) = ("repo0".parse().unwrap(), "renamed".parse().unwrap());
        let view = read::domain_at(&self.store, &"s3".parse().unwrap(), &self.tip(at)).unwrap();
        let members = view.info.members.iter().filter(|repo| **repo != old).chain([&new]).cloned().collect();
        let mut edits = vec![make::put(layout::domain(), codec::encode(&Domain { members, ..view.info.clone() }))];
        for contract in view.contracts.values().filter(|contract| contract.owner == old) {
            let renamed = Contract { owner: new.clone(), ..contract.clone() };
            edits.push(make::put(layout::contract(&contract.name), codec::encode(&renamed)));
        }
        if let Some(binding) = view.bindings.get(&old) {
            edits.push((layout::binding(&old), Edit::Remove));
            edits.push(make::put(layout::binding(&new), codec::encode(binding)));
        }
        if let Some(source) = view.sources.get(&old) {
            edits.push((layout::source(&old), Edit::Remove));
            edits.push(make::put(layout::source(&new), codec::encode(source)));
        }
        make::change("rename\n\nBlue-Repo: renamed\n", edits)
    }

    /// Returns whether a machine knows that another repository owns the contract.
    fn is_anothers(&self, at: usize, document: &Contract) -> bool {
        let tree = self.store.commit(&self.tip(at)).unwrap().tree;
        let path = layout::contract(&document.name);
        let held: Option<Contract> = read::file(&self.store, &domain(), &tree, &path).unwrap();
        held.is_some_and(|held| held.owner != document.owner)
    }

    fn step(&mut self, at: usize, step: &Step) {
        let change = match step {
            Step::Publish { repo, contract, version, value } => {
                let name: ContractName = format!("c{contract}").parse().unwrap();
                let repo = self.name(at, *repo);
                let document = Contract::new(name.clone(), repo.clone());
                let document = Contract {
                    version: format!("1.{version}.0").parse().unwrap(),
                    value: serde_json::Value::from(*value).into(),
                    ..document
                }
                .sealed();
                let path = layout::version(&name, &document.version);
                if self.exists(at, path.as_str()) || self.is_anothers(at, &document) {
                    return;
                }
                let content = document.computed_content_hash();
                self.published.push((name.clone(), document.version.to_string(), content));
                let bytes = codec::encode(&document);
                make::change(
                    &format!("publish\n\nBlue-Repo: {repo}\n"),
                    [make::put(path, bytes.clone()), make::put(layout::contract(&name), bytes), self.source(&repo)],
                )
            }
            Step::Bind { repo, range } => {
                let import =
                    Import::new("c0".parse().unwrap(), format!(">=1.{range}.0").parse().unwrap(), UsedIn::default());
                let binding = Binding { role: Role::Consumer, exports: vec![], imports: vec![import] };
                let repo = self.name(at, *repo);
                make::change(
                    &format!("bind\n\nBlue-Repo: {repo}\n"),
                    [make::put(layout::binding(&repo), codec::encode(&binding)), self.source(&repo)],
                )
            }
            Step::Unbind { repo } => {
                let repo = self.name(at, *repo);
                make::change(&format!("unbind\n\nBlue-Repo: {repo}\n"), [(layout::binding(&repo), Edit::Remove)])
            }
            Step::Enter { repo } => {
                let mut info = self.info(at);
                info.members.insert(format!("repo{repo}").parse().unwrap());
                make::change("enter", [make::put(layout::domain(), codec::encode(&info))])
            }
            Step::Rename if self.name(at, 0).as_str() == "renamed" => return,
            Step::Rename => self.rename(at),
            Step::Pull { from, repo } => {
                let Some(change) = self.pull(at, *from, *repo) else { return };
                change
            }
            Step::Sync => return self.sync(at),
        };
        self.commit(at, &change);
    }

    /// Returns the change that publishes what another machine published last for a repository.
    fn pull(&self, at: usize, from: usize, repo: usize) -> Option<Change> {
        let name: DomainName = "s3".parse().unwrap();
        let repo = self.name(from, repo);
        let [there, here] = [from, at].map(|at| read::domain_at(&self.store, &name, &self.tip(at)).unwrap());
        let source = there.sources.get(&repo).filter(|_| here.info.members == there.info.members)?;
        let mut edits = vec![make::put(layout::source(&repo), codec::encode(source))];
        edits.extend(there.bindings.get(&repo).map(|one| make::put(layout::binding(&repo), codec::encode(one))));
        for document in there.contracts.values().filter(|one| one.owner == repo) {
            let version = layout::version(&document.name, &document.version);
            if !self.exists(at, version.as_str()) && !self.is_anothers(at, document) {
                let bytes = codec::encode(document);
                edits.extend([make::put(version, bytes.clone()), make::put(layout::contract(&document.name), bytes)]);
            }
        }
        Some(make::change(&format!("pulled\n\nBlue-Repo: {repo}\n"), edits))
    }

    fn source(&mut self, repo: &RepoName) -> (git_blue::store::TreePath, Edit) {
        self.commits += 1;
        let commit = format!("{:040x}", self.commits).parse().unwrap();
        make::put(layout::source(repo), codec::encode(&Source::of(commit)))
    }

    fn sync(&mut self, at: usize) {
        let ours = self.tip(at);
        let relation = Relation::of(&self.store, &ours, &self.hub).unwrap();
        // Neither side sees a rule broken by the other.
        for (known, came) in [(ours, self.hub), (self.hub, ours)] {
            let examined = append_only::examine(&self.store, &domain(), &known, &came).unwrap();
            assert!(examined.records.is_empty() && examined.overrides.files.is_empty(), "{examined:?}");
        }
        if relation.is_contained {
            self.advance(at, Some(ours), self.hub);
        } else if relation.contains {
            self.hub = ours;
        } else if !merge::superseded(&self.store, &domain(), &ours, &self.hub).unwrap().is_empty() {
            let merged = self.tree(at, &ours, &self.hub);
            assert_eq!(merged, self.store.commit(&self.hub).unwrap().tree, "nothing is lost");
            self.advance(at, Some(ours), self.hub);
        } else {
            self.hub = self.merged(at, &ours, &self.hub.clone());
        }
    }

    fn merged(&self, at: usize, ours: &Oid, theirs: &Oid) -> Oid {
        let change = self.merge(ours, theirs);
        self.commit(at, &change)
    }

    fn merge(&self, ours: &Oid, theirs: &Oid) -> Change {
        let relation = Relation::of(&self.store, ours, theirs).unwrap();
        let merged = merge::merge(&self.store, &domain(), &relation, ours, theirs).unwrap();
        Change { parents: Parents::Merge(*theirs), ..make::change("merge", merged.edits) }
    }

    /// Returns the tree of merging two commits, on any machine.
    fn tree(&self, at: usize, ours: &Oid, theirs: &Oid) -> Oid {
        let tip = self.tip(at);
        self.advance(at, Some(tip), *ours);
        let merged = self.merged(at, ours, theirs);
        self.advance(at, Some(merged), tip);
        self.store.commit(&merged).unwrap().tree
    }

    /// Returns every published or recorded content, by contract and version.
    fn kept(&self) -> BTreeMap<(ContractName, String), Vec<String>> {
        let tree = self.store.commit(&self.hub).unwrap().tree;
        let mut kept: BTreeMap<_, Vec<String>> = BTreeMap::new();
        let mut open = vec![tree];
        while let Some(tree) = open.pop() {
            for entry in self.store.entries(&tree).unwrap() {
                if entry.kind == git_blue::store::EntryKind::Tree {
                    open.push(entry.id);
                } else if let Ok(contract) = codec::decode::<Contract>(&self.store.blob(&entry.id).unwrap()) {
                    let key = (contract.name.clone(), contract.version.to_string());
                    kept.entry(key).or_default().push(contract.computed_content_hash());
                }
            }
        }
        kept
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn merges_converge_and_lose_nothing(steps in prop::collection::vec(a_step(), 1..40)) {
        let mut meeting = Meeting::new();
        for (at, step) in &steps {
            meeting.step(*at, step);
        }
        for at in (0..MACHINES).chain(0..MACHINES) {
            meeting.sync(at);
        }
        for at in 0..MACHINES {
            prop_assert_eq!(meeting.tip(at), meeting.hub);
        }
        let kept = meeting.kept();
        for (name, version, content) in &meeting.published {
            let found = kept.get(&(name.clone(), version.clone())).is_some_and(|all| all.contains(content));
            prop_assert!(found, "{} {} is gone", name, version);
        }
        let view = read::domain_at(&meeting.store, &"s3".parse().unwrap(), &meeting.hub).unwrap();
        prop_assert_eq!(view.damage, vec![]);
        for (name, contract) in &view.contracts {
            prop_assert!(view.versions[name].contains(&contract.version), "{} has a published current version", name);
        }
    }

    /// Two machines that merge the same two tips concurrently get the same tree.
    #[test]
    fn merge_result_does_not_depend_on_the_merger(steps in prop::collection::vec(a_step(), 1..25)) {
        let mut meeting = Meeting::new();
        for (at, step) in &steps {
            meeting.step(*at, step);
        }
        let (a, b) = (meeting.tip(0), meeting.tip(1));
        let ours = meeting.tree(2, &a, &b);
        prop_assert_eq!(ours, meeting.tree(2, &b, &a));
    }
}
