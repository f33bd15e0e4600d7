//! Predicts the effect of a branch of a choice: whether it contradicts the facts, or follows from them.

use super::flatten::{HOLDS, Item, Kind, LENIENT, REFUSED, State, UNLESS};
use super::node::{Id, Lit, Sym};
use super::prove::{Atom, Engine};

/// The changes that a branch would make.
#[derive(PartialEq, Eq)]
pub(super) enum Outlook {
    Closed,
    Open,
    Given,
}

impl Outlook {
    fn open_if_given(self) -> Self {
        if self == Self::Given { Self::Open } else { self }
    }
}

impl State {
    pub(super) fn outlook(&self, engine: &mut Engine<'_>, branch: &[Item], deeply: bool) -> Outlook {
        let mut all = Outlook::Given;
        for item in branch {
            match self.outlook_of(engine, *item, deeply) {
                Outlook::Closed => return Outlook::Closed,
                Outlook::Open => all = Outlook::Open,
                Outlook::Given => {}
            }
        }
        all
    }

    fn outlook_of(&self, engine: &mut Engine<'_>, item: Item, deeply: bool) -> Outlook {
        let seen = |id: Id| self.seen.get(&id).copied().unwrap_or_default();
        match item {
            Item::Atom(atom) if atom.holds() => {
                let known = seen(atom.id());
                if known & (REFUSED | UNLESS) != 0 || self.is_disjoint(engine, atom.id()) {
                    Outlook::Closed
                } else if known & HOLDS != 0 && (!atom.is_lenient() || known & LENIENT != 0) {
                    Outlook::Given
                } else {
                    Outlook::Open
                }
            }
            Item::Atom(atom) => {
                let known = seen(atom.id());
                if known & HOLDS != 0 || engine.table.is_true(atom.id()) {
                    Outlook::Closed
                } else if known & REFUSED != 0 || self.is_disjoint(engine, atom.id()) {
                    Outlook::Given
                } else {
                    Outlook::Open
                }
            }
            Item::Unless(id) if seen(id) & HOLDS != 0 => Outlook::Closed,
            Item::Unless(id) if seen(id) & (UNLESS | REFUSED) != 0 => Outlook::Given,
            Item::Unless(_) => Outlook::Open,
            Item::Present(name) if self.absent.contains(&name) => Outlook::Closed,
            Item::Present(name) if self.present.contains(&name) => Outlook::Given,
            Item::Absent(name) if self.present.contains(&name) => Outlook::Closed,
            Item::Absent(name) if self.absent.contains(&name) => Outlook::Given,
            Item::Two { node, at, first } => {
                let lits = engine.table.lits(node);
                let Lit::OneOf(ids) = &lits[at] else { return Outlook::Open };
                self.outlook_of(engine, Item::Atom(Atom::is(ids[first], false)), false).open_if_given()
            }
            Item::Lit { node, at, holds, .. } => self.outlook_of_lit(engine, node, at, holds, deeply),
            _ => Outlook::Open,
        }
    }

    fn outlook_of_lit(&self, engine: &mut Engine<'_>, node: Id, at: usize, holds: bool, deeply: bool) -> Outlook {
        let lits = engine.table.lits(node);
        let lit = &lits[at];
        if lit.kinds() & self.kind.types() == 0 {
            return if holds { Outlook::Given } else { Outlook::Closed };
        }
        if holds {
            return Outlook::Open;
        }
        if !engine.masked.is_empty() && engine.masked.contains(&(node, lit.clone())) {
            return Outlook::Closed;
        }
        match lit {
            Lit::Never => Outlook::Given,
            Lit::Type(types) if self.types & !types == 0 => Outlook::Closed,
            Lit::Type(types) if self.types & types == 0 => Outlook::Given,
            Lit::Sub(id) => self.outlook_of(engine, Item::Atom(Atom::is_not(*id)), deeply),
            Lit::Not(id) => self.outlook_of(engine, Item::Atom(Atom::is(*id, false)), deeply),
            Lit::Required(name) => self.outlook_of(engine, Item::Absent(*name), deeply),
            Lit::Prop(name, _) if self.absent.contains(name) => Outlook::Closed,
            Lit::Prop(_, id) if engine.table.is_true(*id) => Outlook::Closed,
            Lit::Prop(name, id) => self.outlook_of_member(engine, *name, *id, deeply),
            _ => Outlook::Open,
        }
    }

    /// Returns the outlook of a property that must not satisfy `id`.
    fn outlook_of_member(&self, engine: &mut Engine<'_>, name: Sym, id: Id, deeply: bool) -> Outlook {
        let known = self.members.get(&name).map(Vec::as_slice).unwrap_or_default();
        if self.present.contains(&name) && are_apart(engine, known, id) {
            return Outlook::Given;
        }
        if deeply {
            let goal = known.iter().copied().chain([Atom::is_not(id)]).collect();
            if engine.goal(goal).is_empty() {
                return Outlook::Closed;
            }
        }
        Outlook::Open
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

/// Returns whether it is certain that no value satisfies both `known` and `id`.
fn are_apart(engine: &mut Engine<'_>, known: &[Atom], id: Id) -> bool {
    let other = engine.summary(id);
    let mut types = other.types;
    for atom in known {
        types &= engine.types(*atom);
        if types == 0 {
            return true;
        }
        if !atom.holds() {
            continue;
        }
        let one = engine.summary(atom.id());
        if let (Some(one), Some(other)) = (&one.values, &other.values)
            && one.is_disjoint(other)
        {
            return true;
        }
    }
    false
}
