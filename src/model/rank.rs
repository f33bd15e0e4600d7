//! Ranks changes and imports by their importance to a repository. All interfaces sort by rank.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    binding::Import,
    domain_view::ImportResolution,
    notification::ChangeType,
    verdict::{ImportEffect, ImportState, Outcome},
    version::Version,
};

/// The importance of something to a repository, from the highest. Within a rank, the newest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Rank {
    /// An import of this repository is broken. A change has this rank only if it broke the import.
    #[cfg_attr(feature = "cli", value(help = "A change broke an import"))]
    Broken,
    /// An import of this repository holds but needs attention: it is behind, its contract is deprecated or retired, its
    /// version was yanked, the effect of the version is unknown or the contract cannot be read, it expects properties that
    /// are never sent, or the owner left the domain. Also a change of a contract whose import was broken before and still is.
    #[cfg_attr(
        feature = "cli",
        value(help = "An import is still broken, behind, deprecated, retired, yanked, unknown, or has no owner")
    )]
    Attention,
    /// A contract that this repository imports changed.
    #[cfg_attr(feature = "cli", value(help = "An imported contract changed"))]
    Import,
    /// Two machines changed this repository's data in different ways, somebody else changed it, or
    /// the change was refused.
    #[cfg_attr(feature = "cli", value(help = "A conflict, a change by somebody else, or a refused change"))]
    Conflict,
    /// Another contract in this repository's domains changed, or another repository began or ceased to import one of this
    /// repository's.
    #[default]
    #[cfg_attr(
        feature = "cli",
        value(help = "Another contract of the repository's domains, or who imports its own, changed")
    )]
    Contract,
    /// A repository updated its binding.
    #[cfg_attr(feature = "cli", value(help = "A repository updated its binding"))]
    Binding,
}

impl Rank {
    /// All ranks, most important first.
    pub const ALL: [Self; 6] =
        [Self::Broken, Self::Attention, Self::Import, Self::Conflict, Self::Contract, Self::Binding];
    /// The names of all ranks, in the same order.
    pub const WORDS: &[&str] = &["broken", "attention", "import", "conflict", "contract", "binding"];

    /// Returns its name.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// Returns the rank of an import in its current state. `is_discouraged` is whether its contract is deprecated or
    /// retired, or the current version was yanked.
    pub fn of_import(import: &Import, state: &ImportState, is_discouraged: bool) -> Self {
        match state.effect() {
            ImportEffect::Broken => Self::Broken,
            ImportEffect::Unknown | ImportEffect::Behind => Self::Attention,
            ImportEffect::Satisfied if is_discouraged || is_unproved(import, state) || state.lacks_properties() => {
                Self::Attention
            }
            ImportEffect::Satisfied => Self::Import,
        }
    }

    /// Returns the rank of a change of the contract of an import that now has this rank. Only the change that broke the import
    /// is a break, so that a later one raises no further alarm, and least of all one for the better.
    #[must_use]
    pub fn of_later_change(self, was_broken: bool) -> Self {
        if was_broken { self.max(Self::Attention) } else { self }
    }

    /// Returns the rank of a change. `import` is the rank of the import of the changed contract, if there is one.
    /// `is_mine` is whether someone else changed something that belongs to the repository.
    pub fn of_change(kind: ChangeType, import: Option<Self>, is_mine: bool) -> Self {
        match (import, is_mine, kind) {
            (Some(import), ..) => import,
            (None, true, _) => Self::Conflict,
            (None, false, ChangeType::BindingAdded | ChangeType::BindingRemoved) => Self::Binding,
            (None, false, _) => Self::Contract,
        }
    }
}

impl std::fmt::Display for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl std::str::FromStr for Rank {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|rank| rank.word() == word);
        known.ok_or_else(|| format!("{word:?} is not a rank: expected one of {}", Self::WORDS.join(", ")))
    }
}

/// Returns whether the code of an import is adapted to another version than the current one, and not proved to work with
/// it.
fn is_unproved(import: &Import, state: &ImportState) -> bool {
    let is_proved = state.verdict.as_ref().is_some_and(|verdict| verdict.verdict == Outcome::Compatible);
    let is_other = |current: &Version| import.adapted().is_some_and(|adapted| adapted != current);
    match &state.resolution {
        ImportResolution::Satisfied(current) => !is_proved && is_other(current),
        ImportResolution::Behind { .. }
        | ImportResolution::Broken { .. }
        | ImportResolution::Missing
        | ImportResolution::Unreadable => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::binding::UsedIn;

    fn import(adapted: Option<&str>) -> Import {
        let mut import = Import::new("token".parse().unwrap(), ">=1.0.0".parse().unwrap(), UsedIn::default());
        import.adapted_version = adapted.map(|version| version.parse().unwrap());
        import
    }

    fn state(resolution: ImportResolution) -> ImportState {
        ImportState::by_range(resolution)
    }

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn a_broken_import_comes_before_everything() {
        let broken = state(ImportResolution::Broken { current: version("2.0.0") });
        let rank = Rank::of_import(&import(None), &broken, true);
        assert_eq!(rank, Rank::Broken);
        assert_eq!(Rank::of_change(ChangeType::VersionChanged, Some(rank), false), Rank::Broken);
        assert!(Rank::ALL.is_sorted() && Rank::ALL[0] == Rank::Broken);
        assert_eq!(Rank::of_import(&import(None), &state(ImportResolution::Missing), false), Rank::Broken);
        let unreadable = Rank::of_import(&import(None), &state(ImportResolution::Unreadable), false);
        assert_eq!(unreadable, Rank::Attention, "it may be satisfied");
    }

    #[test]
    fn a_satisfied_import_may_need_attention() {
        let holds = || state(ImportResolution::Satisfied(version("1.1.0")));
        assert_eq!(Rank::of_import(&import(Some("1.1.0")), &holds(), false), Rank::Import);
        assert_eq!(Rank::of_import(&import(None), &holds(), false), Rank::Import);
        assert_eq!(Rank::of_import(&import(Some("1.0.0")), &holds(), false), Rank::Attention, "not adapted");
        assert_eq!(Rank::of_import(&import(Some("1.1.0")), &holds(), true), Rank::Attention, "deprecated");
        let behind = state(ImportResolution::Behind { current: version("2.0.0"), served: version("1.1.0") });
        assert_eq!(Rank::of_import(&import(None), &behind, false), Rank::Attention, "an older one is served");
    }

    #[test]
    fn only_the_change_that_breaks_an_import_is_a_break() {
        assert_eq!(Rank::Broken.of_later_change(true), Rank::Attention);
        assert_eq!(Rank::Broken.of_later_change(false), Rank::Broken);
        assert_eq!(Rank::Import.of_later_change(true), Rank::Import, "it holds again");
    }

    #[test]
    fn changes_to_contracts_that_are_not_imported_rank_by_kind() {
        let of = |kind, is_mine| Rank::of_change(kind, None, is_mine);
        assert_eq!(of(ChangeType::VersionChanged, false), Rank::Contract);
        assert_eq!(of(ChangeType::BindingAdded, false), Rank::Binding);
        assert_eq!(of(ChangeType::BindingRemoved, false), Rank::Binding);
        assert_eq!(of(ChangeType::BindingAdded, true), Rank::Conflict);
        assert_eq!(of(ChangeType::ContractAdded, true), Rank::Conflict);
    }

    #[test]
    fn every_rank_has_a_word() {
        for rank in Rank::ALL {
            assert_eq!(rank.word().parse(), Ok(rank));
            assert_eq!(serde_json::to_value(rank).unwrap(), rank.word());
        }
        assert!("urgent".parse::<Rank>().is_err());
    }
}
