//! Converts changes to a domain into edits of its tree.

use super::{encode, encode_contract};
use crate::{
    model::change::DomainChange,
    store::TreePath,
    store::{layout, port::Edit},
};

/// Returns the edit for `change`.
pub fn edit(change: &DomainChange) -> (TreePath, Edit) {
    match change {
        DomainChange::Domain(domain) => (layout::domain(), Edit::Put(encode(domain))),
        DomainChange::Contract(contract) => (layout::contract(&contract.name), Edit::Put(encode_contract(contract))),
        DomainChange::Version(contract) => {
            (layout::version(&contract.name, &contract.version), Edit::Put(encode_contract(contract)))
        }
        DomainChange::Binding(repo, binding) => (layout::binding(repo), Edit::Put(encode(binding))),
        DomainChange::RemoveBinding(repo) => (layout::binding(repo), Edit::Remove),
        DomainChange::SettleBinding(repo) => (layout::lost_bindings(repo), Edit::Remove),
        DomainChange::Source(repo, source) => (layout::source(repo), Edit::Put(encode(source))),
        DomainChange::Transfers(record) if record.transfers.is_empty() => {
            (layout::transfers(&record.contract), Edit::Remove)
        }
        DomainChange::Transfers(record) => (layout::transfers(&record.contract), Edit::Put(encode(record))),
        DomainChange::Approval(record) => {
            (layout::approval(&record.contract, &record.fingerprint), Edit::Put(encode(&**record)))
        }
        DomainChange::RemoveSource(repo) => (layout::source(repo), Edit::Remove),
    }
}
