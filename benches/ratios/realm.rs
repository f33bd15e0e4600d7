//! A realm of any size: the small one of `make_realm.sh`, and generated domains beside it. The same
//! size gives the same objects on every machine.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

use git_blue::{
    model::{
        binding::{Binding, Export, Import, Role},
        contract::{Contract, Evolution},
        domain::Domain,
        json::Json,
        name::{ContractName, RepoName},
    },
    store::{codec, layout},
};

/// Contracts in one domain.
pub const PER_DOMAIN: usize = 50;
/// How many of the domains the measured repository takes part in.
const MINE: usize = 3;
/// When everything was written.
const AT: &str = "1768986000 +0000";

/// Writes the domains of `contracts` contracts into the store, as `git fast-import` reads them, and
/// packs it as `git blue gc` would. Returns how many domains there are.
pub fn generate(store: &std::path::Path, contracts: usize, variables: &[(String, String)]) -> usize {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(store).args(arguments).env_clear().envs(variables.iter().cloned());
        git
    };
    let mut import = git(&["fast-import", "--quiet"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut stream = std::io::BufWriter::new(import.stdin.take().unwrap());
    let domains = contracts.div_ceil(PER_DOMAIN);
    for at in 0..domains {
        let count = PER_DOMAIN.min(contracts - at * PER_DOMAIN);
        domain(&mut stream, at, count);
    }
    stream.flush().unwrap();
    drop(stream);
    assert!(import.wait().unwrap().success());
    for arguments in [["pack-refs", "--all"].as_slice(), &["repack", "-a", "-d", "--quiet"]] {
        assert!(git(arguments).stdout(Stdio::null()).status().unwrap().success());
    }
    domains
}

fn domain(stream: &mut impl std::io::Write, at: usize, count: usize) {
    let provider: RepoName = "aperture".parse().unwrap();
    let consumer: RepoName = if at < MINE { "fungal" } else { "blue" }.parse().unwrap();
    let contracts: Vec<Contract> = (0..count).map(|number| contract(at, number, &provider)).collect();
    let mut files = Vec::new();
    let info = Domain {
        name: format!("domain-{at:05}").parse().unwrap(),
        description: "Generated for measuring".into(),
        members: vec![provider.clone(), consumer.clone()],
    };
    files.push((layout::domain(), codec::encode(&info)));
    for contract in &contracts {
        files.push((layout::contract(&contract.name), codec::encode(contract)));
        files.push((layout::version(&contract.name, &contract.version), codec::encode(contract)));
    }
    let export =
        |contract: &Contract| Export { contract: contract.name.clone(), source_files: vec!["src/api.rs".into()] };
    let exports = contracts.iter().map(export).collect();
    files
        .push((layout::binding(&provider), codec::encode(&Binding { role: Role::Provider, exports, imports: vec![] })));
    let import = |contract: &Contract| Import {
        contract: contract.name.clone(),
        version: ">=1.0.0, <2.0.0".parse().unwrap(),
        binding: Some("src/client.rs".into()),
        resolved_version: Some(contract.version.clone()),
        resolved_at: None,
    };
    let imports = contracts.iter().map(import).collect();
    files
        .push((layout::binding(&consumer), codec::encode(&Binding { role: Role::Consumer, exports: vec![], imports })));

    let message = format!("Generate {}\n", info.name);
    let mut head = String::new();
    writeln!(head, "commit refs/blue/domains/{}", info.name).unwrap();
    write!(head, "committer Ada Lovelace <ada@example.com> {AT}\ndata {}\n{message}", message.len()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    for (path, bytes) in files {
        write!(stream, "M 100644 inline {path}\ndata {}\n", bytes.len()).unwrap();
        stream.write_all(&bytes).unwrap();
        stream.write_all(b"\n").unwrap();
    }
}

/// About 1.5 KB as it is stored.
fn contract(domain: usize, number: usize, owner: &RepoName) -> Contract {
    let name: ContractName = format!("contract-{number:02}").parse().unwrap();
    let field = |at: usize| format!("field_{domain}_{number}_{at}");
    let property = |at: usize| (field(at), serde_json::json!({"type": "string", "minLength": at}));
    let properties: serde_json::Map<_, _> = (0..6).map(property).collect();
    let value: serde_json::Map<_, _> =
        (0..6).map(|at| (field(at), serde_json::json!(format!("value {at} of {number} in {domain}")))).collect();
    let required: Vec<_> = (0..3).map(field).collect();
    let schema = serde_json::json!({"type": "object", "required": required, "properties": properties});
    let version = format!("1.{}.0", number % 7);
    Contract {
        version: version.parse().unwrap(),
        description: format!("What contract {number} of domain {domain} promises to its consumers"),
        schema: Json(schema),
        value: Json(value.into()),
        evolution: vec![Evolution {
            version: version.parse().unwrap(),
            changes: vec!["Initial release".into()],
            compatible: true,
        }],
        ..Contract::new(name, owner.clone())
    }
    .sealed()
}
