//! Predicts the effect of a branch of a choice: whether it contradicts the facts, or follows from them.

use super::engine::{Atom, Engine};
use super::flatten::{EXCLUDED, Fact, HOLDS, Item, Kind, LENIENT, REFUSED, State, others};
use super::naming::Part;
use super::summary::are_apart;
use crate::model::compatibility::graph::node::{Id, Lit, Sym};

/// The status of a branch, given the facts.
#[derive(PartialEq, Eq)]
pub enum BranchStatus {
    /// It contradicts them.
    Closed,
    /// It adds to them.
    Open,
    /// It follows from them.
    Given,
}

impl BranchStatus {
    fn open_if_given(self) -> Self {
        if self == Self::Given { Self::Open } else { self }
    }
}

impl State {
    pub fn branch_status(&self, engine: &mut Engine<'_>, branch: &[Item], deeply: bool) -> BranchStatus {
        let mut all = BranchStatus::Given;
        // Each item may ask every open choice what it names.
        if !engine.budget.visit(branch.len() * (1 + self.open.len())) {
            return BranchStatus::Open;
        }
        for item in branch {
            match self.item_status(engine, *item, deeply) {
                BranchStatus::Closed => return BranchStatus::Closed,
                BranchStatus::Open => all = BranchStatus::Open,
                BranchStatus::Given => {}
            }
        }
        all
    }

    fn item_status(&self, engine: &mut Engine<'_>, item: Item, deeply: bool) -> BranchStatus {
        let seen = |id: Id| self.seen.get(&id).copied().unwrap_or_default();
        match item {
            Item::Atom(atom) if atom.holds() => {
                let known = seen(atom.id());
                if known & (REFUSED | EXCLUDED) != 0 || self.is_disjoint(engine, atom.id()) {
                    return BranchStatus::Closed;
                }
                let is_read = !atom.is_lenient() || known & LENIENT != 0;
                let is_given = known & HOLDS != 0 && is_read
                    || (self.kind != Kind::Object || is_read) && self.always_holds(engine, atom.id());
                if is_given { BranchStatus::Given } else { BranchStatus::Open }
            }
            Item::Atom(atom) => {
                let known = seen(atom.id());
                if known & HOLDS != 0 || self.always_holds(engine, atom.id()) {
                    BranchStatus::Closed
                } else if known & REFUSED != 0 || self.is_disjoint(engine, atom.id()) && !engine.allows_more(atom.id())
                {
                    BranchStatus::Given
                } else {
                    BranchStatus::Open
                }
            }
            Item::NoOtherBranch { node, at, only } => self.exclusion_status(engine, node, at, only),
            Item::Present(name) if self.is_barred(engine, name) => BranchStatus::Closed,
            Item::Present(name) if self.present.contains(&name) => BranchStatus::Given,
            Item::Absent(name) if self.present.contains(&name) => BranchStatus::Closed,
            Item::Absent(name) if self.is_barred(engine, name) => BranchStatus::Given,
            Item::AtLeastTwo { node, at, first } => {
                let lits = engine.table.lits(node);
                let Lit::OneOf(ids) = &lits[at] else { return BranchStatus::Open };
                if self.always_holds(engine, ids[first])
                    && ids[first + 1..].iter().any(|id| self.always_holds(engine, *id))
                {
                    return BranchStatus::Given;
                }
                self.item_status(engine, Item::Atom(Atom::is(ids[first], false)), false).open_if_given()
            }
            Item::Lit(fact) => self.lit_status(engine, fact, deeply),
            _ => BranchStatus::Open,
        }
    }

    /// Returns the status of the demand that no other branch of a `oneOf` holds.
    fn exclusion_status(&self, engine: &mut Engine<'_>, node: Id, at: usize, only: usize) -> BranchStatus {
        let lits = engine.table.lits(node);
        let Lit::OneOf(ids) = &lits[at] else { return BranchStatus::Open };
        let mut all = BranchStatus::Given;
        engine.budget.visit(ids.len());
        for id in others(ids, only) {
            match self.seen.get(&id).copied().unwrap_or_default() {
                seen if seen & HOLDS != 0 => return BranchStatus::Closed,
                seen if seen & (EXCLUDED | REFUSED) != 0 => {}
                _ if self.always_holds(engine, id) => return BranchStatus::Closed,
                _ => all = BranchStatus::Open,
            }
        }
        all
    }

    fn lit_status(&self, engine: &mut Engine<'_>, fact: Fact, deeply: bool) -> BranchStatus {
        let Fact { node, at, holds, .. } = fact;
        let lits = engine.table.lits(node);
        let lit = &lits[at];
        if lit.kinds() & self.kind.types() == 0 {
            return if holds { BranchStatus::Given } else { BranchStatus::Closed };
        }
        if holds {
            return BranchStatus::Open;
        }
        if let Some(rest) = engine.mask_of(node, lit) {
            let rest = rest.map(|rest| self.item_status(engine, Item::Atom(Atom::is_not(rest)), deeply));
            return rest.unwrap_or(BranchStatus::Closed);
        }
        match lit {
            Lit::Never => BranchStatus::Given,
            Lit::Type(types) if self.types & !types == 0 => BranchStatus::Closed,
            Lit::Type(types) if self.types & types == 0 => BranchStatus::Given,
            Lit::Sub(id) => self.item_status(engine, Item::Atom(Atom::is_not(*id)), deeply),
            Lit::Not(id) => self.item_status(engine, Item::Atom(Atom::is(*id, false)), deeply),
            Lit::Required(name) => self.item_status(engine, Item::Absent(*name), deeply),
            Lit::Prop(name, _) if self.is_barred(engine, *name) => BranchStatus::Closed,
            Lit::Prop(_, id) if engine.table.is_true(*id) => BranchStatus::Closed,
            Lit::Prop(name, id) => self.member_status(engine, *name, *id, deeply),
            _ => BranchStatus::Open,
        }
    }

    /// Returns the status of a property that must not satisfy `id`.
    fn member_status(&self, engine: &mut Engine<'_>, name: Sym, id: Id, deeply: bool) -> BranchStatus {
        let mut known = self.members.get(&name).cloned().unwrap_or_default();
        self.certain(engine, Part::Property(name), &mut known);
        let is_certain = self.present.contains(&name) && !engine.allows_more(id);
        if is_certain && are_apart(engine, &known, id) {
            return BranchStatus::Given;
        }
        let has_pattern = |engine: &Engine<'_>| engine.table.lits(id).iter().any(|lit| matches!(lit, Lit::Pattern(_)));
        if deeply && is_certain && !known.is_empty() && has_pattern(engine) {
            let goal = known.iter().copied().chain([Atom::is(id, false)]).collect();
            if engine.goal(goal).is_empty() {
                return BranchStatus::Given;
            }
        }
        if deeply {
            let goal = known.iter().copied().chain([Atom::is_not(id)]).collect();
            if engine.goal(goal).is_empty() {
                return BranchStatus::Closed;
            }
        }
        BranchStatus::Open
    }

    /// Returns whether it is certain that every value of this state satisfies the node, since it constrains only other
    /// types.
    fn always_holds(&self, engine: &Engine<'_>, id: Id) -> bool {
        engine.table.lits(id).iter().all(|lit| match lit {
            Lit::Type(types) => self.types & !types == 0,
            lit => lit.kinds() & self.kind.types() == 0,
        })
    }

    /// Returns whether it is certain that no value of this state satisfies the node.
    fn is_disjoint(&self, engine: &mut Engine<'_>, id: Id) -> bool {
        let summary = engine.summary(id);
        if summary.types & self.types == 0 {
            return true;
        }
        if self.kind != Kind::Object {
            return false;
        }
        if summary.required.iter().any(|name| self.absent.contains(name)) {
            return true;
        }
        summary.members.iter().any(|(name, member)| {
            let is_there = self.present.contains(name) || summary.required.contains(name);
            is_there && self.members.get(name).is_some_and(|known| are_apart(engine, known, *member))
        })
    }
}
