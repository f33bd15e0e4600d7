//! Builds arrays: the demands on each index, which items must occur, and how often items may occur.

use std::rc::Rc;

use serde_json::Value;

use super::counting::{Counted, Counting, Demand};
use super::engine::{Answer, Atom, Engine};
use super::flatten::State;
use super::items::{another, distinct, items};
use super::naming::Part;
use crate::model::compatibility::{
    automata::repetition::Lengths,
    graph::node::{self, Id, Lit},
};

/// The maximum length of an array that is built, and of one whose items differ.
const LONGEST: u64 = 200_000;
const LONGEST_UNIQUE: u64 = 10_000;
/// The same limit while choices are open.
const LONGEST_OPEN: u64 = 1_000;
/// The maximum number of items that are placed one by one.
const MAX_WANTED: u64 = 10_000;
/// The maximum number of places and wanted items for which every assignment is tried.
const MAX_PLACES: u64 = 6;
const MAX_PLACED: usize = 5;
/// The maximum number of wanted items' schemas for which all combinations are tried.
const MAX_NAMING: usize = 2;
/// The number of lengths that are tried above the minimum.
const MORE_LENGTHS: u64 = 4;

/// The demands of the facts on an array.
#[derive(Default)]
pub struct Shape {
    pub least: u64,
    pub most: Option<u64>,
    /// The demands on the item at an index.
    at: Vec<(u64, Atom)>,
    /// The demands on every item from an index onwards.
    from: Vec<(u64, Atom)>,
    /// Items that must satisfy an atom, anywhere from an index onwards.
    wanted: Vec<Wanted>,
    /// Nodes that only a limited number of items may satisfy.
    limited: Vec<(Id, u64)>,
    pub unique: bool,
    repeated: bool,
}

#[derive(Clone)]
struct Wanted {
    first: u64,
    atom: Atom,
    /// The `contains` that this item counts for. The items of one group must be at different indexes.
    group: Option<Id>,
}

impl Shape {
    /// Returns the demands on the item at an index.
    fn item(&self, at: u64) -> Vec<Atom> {
        let here = self.at.iter().filter(|(place, _)| *place == at).map(|(_, atom)| *atom);
        here.chain(self.from.iter().filter(|(from, _)| at >= *from).map(|(_, atom)| *atom)).collect()
    }

    /// Returns the demands on the item at an index that hold even if it is a wanted item, whose schema may name more
    /// properties for a lenient sender.
    pub fn any_item(&self, at: u64) -> Vec<Atom> {
        let mut goal = self.item(at);
        if self.names_more() {
            goal.iter_mut().for_each(|atom| *atom = atom.strict());
        }
        goal
    }

    /// Returns the schemas of wanted items that may name more properties for a lenient sender.
    fn naming(&self) -> Vec<Atom> {
        let mut naming: Vec<_> =
            self.wanted.iter().map(|wanted| wanted.atom).filter(|atom| atom.is_lenient()).collect();
        naming.sort_unstable();
        naming.dedup();
        naming
    }

    /// Returns a value for the item at an index that also satisfies `more`, wanted item or not.
    fn fits(&self, engine: &mut Engine<'_>, at: u64, more: &[Atom]) -> Answer {
        if !engine.budget.visit(1 + self.at.len()) {
            return Answer::Undecided;
        }
        let naming = self.naming();
        if naming.len() > MAX_NAMING {
            let more = more.iter().map(|atom| atom.strict());
            return engine.goal(self.any_item(at).into_iter().chain(more).collect());
        }
        let mut best = Answer::Empty;
        for followed in 0..1usize << naming.len() {
            let followed = naming.iter().enumerate().filter(|(n, _)| followed >> n & 1 == 1).map(|(_, atom)| *atom);
            let goal = self.item(at).into_iter().chain(more.iter().copied()).chain(followed).collect();
            best = best.or(engine.goal(goal));
            if matches!(best, Answer::Witness(_)) {
                break;
            }
        }
        best
    }

    /// Returns whether the schemas of wanted items may name more properties for a lenient sender.
    pub fn names_more(&self) -> bool {
        self.wanted.iter().any(|wanted| wanted.atom.is_lenient())
    }

    /// Returns the index from which all items have the same demands.
    fn uniform_from(&self) -> u64 {
        let places = self.at.iter().map(|(at, _)| at + 1).chain(self.from.iter().map(|(from, _)| *from));
        let wanted = self.wanted.iter().map(|wanted| wanted.first);
        places.chain(wanted).max().unwrap_or_default()
    }
}

impl State {
    pub fn array(&self, engine: &mut Engine<'_>) -> Answer {
        let mut shape = self.array_shape(engine);
        if shape.unique && shape.repeated {
            return Answer::Empty;
        }
        let mut is_sure = true;
        self.shorten(engine, &mut shape, &mut is_sure);
        if shape.most.is_some_and(|most| shape.least > most) || is_overfull(engine, &shape) {
            return Answer::Empty;
        }
        let Some(placed) = place_each(engine, &shape, &mut is_sure) else { return Answer::Empty };
        if shape.repeated && !can_repeat(engine, &shape, &mut is_sure) {
            return Answer::Empty;
        }
        let has_no_room = is_sure && (cannot_place_all(engine, &shape) || lacks_places(engine, &shape));
        if has_no_room || is_sure && shape.unique && must_repeat(engine, &shape) {
            return Answer::Empty;
        }
        if is_sure && shape.unique && too_few_values(engine, &shape) {
            return Answer::Empty;
        }
        let built = if !self.open.is_empty() {
            LONGEST_OPEN
        } else if shape.unique || shape.wanted.len() > MAX_PLACED {
            LONGEST_UNIQUE
        } else {
            LONGEST
        };
        if shape.least > built {
            engine.record_obstacle(self.nodes(), || {
                format!("arrays of {} items are too large to construct", shape.least)
            });
            return Answer::Undecided;
        }
        let longest = shape.most.unwrap_or(u64::MAX);
        let start = shape.least.max(placed.iter().map(|at| at + 1).max().unwrap_or_default());
        let mut best = Answer::Undecided;
        for length in shape.least..=longest.min(start + MORE_LENGTHS + shape.wanted.len() as u64) {
            let Some(found) = self.of_length(engine, &shape, length) else { continue };
            let answer = match engine.check(&self.goal, &found) {
                Some(true) => return Answer::Witness(Rc::new(found)),
                None => Answer::PossibleWitness(Rc::new(found)),
                Some(false) => Answer::Undecided,
            };
            best = best.or(answer);
        }
        if matches!(best, Answer::Undecided) {
            match counted(engine, &shape) {
                Counted::Impossible => return Answer::Empty,
                Counted::Items(goals) => {
                    if let Some(found) = items(engine, shape.unique, shape.repeated, goals)
                        && engine.check(&self.goal, &found) == Some(true)
                    {
                        return Answer::Witness(Rc::new(found));
                    }
                }
                Counted::Unknown => {}
            }
            engine
                .record_obstacle(self.nodes(), || "a combination of contains, item counts and uniqueItems".to_owned());
        }
        best
    }

    pub fn array_shape(&self, engine: &mut Engine<'_>) -> Shape {
        let Lengths { least, most } = self.limits(engine);
        let mut shape = Shape { least, most, ..Shape::default() };
        let is_certain = !self.may_name(engine, Part::Items);
        for fact in &self.facts {
            let lenient = fact.lenient && is_certain;
            match (&engine.table.lits(fact.node)[fact.at], fact.holds) {
                (Lit::Unique, holds) => {
                    shape.unique |= holds;
                    shape.repeated |= !holds;
                }
                (Lit::Item(at, id), true) => shape.at.push((*at, Atom::is(*id, lenient))),
                (Lit::Item(at, id), false) => {
                    shape.least = shape.least.max(at + 1);
                    shape.at.push((*at, Atom::is_not(*id)));
                }
                (Lit::Items(from, id), true) => shape.from.push((*from, Atom::is(*id, lenient))),
                (Lit::Items(from, id), false) => {
                    shape.least = shape.least.max(from + 1);
                    shape.wanted.push(Wanted { first: *from, atom: Atom::is_not(*id), group: None });
                }
                (Lit::AtLeast(id, n), true) => want(&mut shape, *id, *n, lenient),
                (Lit::AtLeast(id, 1), false) => shape.from.push((0, Atom::is_not(*id))),
                (Lit::AtLeast(id, n), false) => shape.limited.push((*id, n.saturating_sub(1))),
                (Lit::AtMost(id, 0), true) => shape.from.push((0, Atom::is_not(*id))),
                (Lit::AtMost(id, n), true) => shape.limited.push((*id, *n)),
                (Lit::AtMost(id, n), false) => want(&mut shape, *id, n.saturating_add(1), false),
                _ => {}
            }
        }
        if shape.repeated {
            shape.least = shape.least.max(2);
        }
        shape
    }

    /// Ends the array before the first index that no value can fill.
    pub fn shorten(&self, engine: &mut Engine<'_>, shape: &mut Shape, is_sure: &mut bool) {
        for at in 0..=shape.uniform_from() {
            if shape.most.is_some_and(|most| at >= most) {
                return;
            }
            match shape.fits(engine, at, &[]) {
                Answer::Empty => {
                    shape.most = Some(at);
                    return;
                }
                Answer::Undecided => *is_sure = false,
                _ => {}
            }
        }
    }

    /// Builds an array of this length.
    fn of_length(&self, engine: &mut Engine<'_>, shape: &Shape, length: u64) -> Option<Value> {
        let mut goals: Vec<_> = (0..length).map(|at| shape.item(at)).collect();
        let mut taken: Vec<Vec<Id>> = vec![Vec::new(); goals.len()];
        // Later indexes first, since they have fewer demands.
        for wanted in &shape.wanted {
            let places = (wanted.first..length).rev();
            let mut places: Vec<_> = places.map(|at| usize::try_from(at).unwrap_or_default()).collect();
            places.sort_by_key(|at| !taken[*at].is_empty());
            let place = places.into_iter().find(|at| {
                let is_counted = wanted.group.is_some_and(|group| taken[*at].contains(&group));
                let goal = goals[*at].iter().copied().chain([wanted.atom]).collect();
                !is_counted && matches!(engine.goal(goal), Answer::Witness(_) | Answer::PossibleWitness(_))
            })?;
            goals[place].push(wanted.atom);
            taken[place].push(wanted.group.unwrap_or(Id::MAX));
        }
        for (id, most) in &shape.limited {
            let mut counted = 0;
            for (at, goal) in goals.iter_mut().enumerate() {
                let without: Vec<_> = goal.iter().copied().chain([Atom::is_not(*id)]).collect();
                if !taken[at].contains(id)
                    && matches!(engine.goal(without.clone()), Answer::Witness(_) | Answer::PossibleWitness(_))
                {
                    *goal = without;
                } else {
                    counted += 1;
                }
            }
            if counted > *most {
                return None;
            }
        }
        items(engine, shape.unique, shape.repeated, goals)
    }
}

/// Counts the items that satisfy schemas, if their number is restricted.
fn counted(engine: &mut Engine<'_>, shape: &Shape) -> Counted {
    let mut demands: Vec<Demand> = Vec::new();
    for wanted in &shape.wanted {
        let demand = |demand: &&mut Demand| wanted.group == Some(demand.id) && demand.holds;
        if let Some(known) = demands.iter_mut().find(demand) {
            known.least += 1;
            continue;
        }
        let (id, holds, lenient) = (wanted.atom.id(), wanted.atom.holds(), wanted.atom.is_lenient());
        demands.push(Demand { id, holds, lenient, first: wanted.first, least: 1, most: None });
    }
    for (id, most) in &shape.limited {
        demands.push(Demand { id: *id, holds: true, lenient: false, first: 0, least: 0, most: Some(*most) });
    }
    if demands.is_empty() {
        return Counted::Unknown;
    }
    let is_exact = shape.naming().len() <= 1;
    let item = |at, leniently| if leniently || is_exact { shape.item(at) } else { shape.any_item(at) };
    let (uniform_from, least, most) = (shape.uniform_from(), shape.least, shape.most);
    Counting { demands: &demands, item: &item, uniform_from, least, most }.solve(engine)
}

fn want(shape: &mut Shape, id: Id, count: u64, lenient: bool) {
    shape.least = shape.least.max(count);
    let known = shape.wanted.iter().filter(|wanted| wanted.group == Some(id)).count() as u64;
    for _ in known..count.min(MAX_WANTED) {
        shape.wanted.push(Wanted { first: 0, atom: Atom::is(id, lenient), group: Some(id) });
    }
}

/// Returns whether more items must satisfy a node than are allowed to.
fn is_overfull(engine: &mut Engine<'_>, shape: &Shape) -> bool {
    shape.limited.iter().any(|(limited, most)| {
        let mut groups: Vec<_> = shape.wanted.iter().filter_map(|wanted| wanted.group).collect();
        groups.dedup();
        let by_group = groups.into_iter().any(|group| {
            let count = shape.wanted.iter().filter(|wanted| wanted.group == Some(group)).count() as u64;
            count > *most && engine.goal(vec![Atom::is(group, false), Atom::is_not(*limited)]).is_empty()
        });
        let forced =
            (0..shape.least.min(MAX_WANTED)).filter(|at| shape.fits(engine, *at, &[Atom::is_not(*limited)]).is_empty());
        by_group || forced.count() as u64 > *most
    })
}

/// Returns an index for each wanted item, placed independently, or `None` if one fits nowhere.
fn place_each(engine: &mut Engine<'_>, shape: &Shape, is_sure: &mut bool) -> Option<Vec<u64>> {
    let last = shape.uniform_from();
    let mut placed = Vec::new();
    for wanted in &shape.wanted {
        let mut found = None;
        for at in wanted.first..=last.max(wanted.first) {
            if shape.most.is_some_and(|most| at >= most) {
                break;
            }
            match shape.fits(engine, at, &[wanted.atom]) {
                Answer::Empty => {}
                Answer::Undecided => *is_sure = false,
                _ => {
                    found = Some(at);
                    break;
                }
            }
        }
        match found {
            Some(at) => placed.push(at),
            None if *is_sure => return None,
            None => {}
        }
    }
    Some(placed)
}

/// Returns whether the wanted items cannot all be placed. Only decided if there are few indexes.
fn cannot_place_all(engine: &mut Engine<'_>, shape: &Shape) -> bool {
    let is_small = shape.wanted.len() > 1 && shape.wanted.len() <= MAX_PLACED;
    match shape.most {
        Some(most) if is_small && most <= MAX_PLACES => {
            let mut goals: Vec<_> = (0..most).map(|at| (shape.any_item(at), Vec::new())).collect();
            !can_place(engine, &shape.wanted, &mut goals)
        }
        _ => false,
    }
}

/// Returns whether more matching items are required than there are indexes for them.
fn lacks_places(engine: &mut Engine<'_>, shape: &Shape) -> bool {
    let mut groups: Vec<_> = shape.wanted.iter().filter_map(|wanted| wanted.group).collect();
    groups.dedup();
    let last = shape.uniform_from();
    groups.into_iter().any(|group| {
        let mut fits = |at: u64| {
            shape.most.is_none_or(|most| at < most) && !shape.fits(engine, at, &[Atom::is(group, false)]).is_empty()
        };
        let wanted = shape.wanted.iter().filter(|wanted| wanted.group == Some(group)).count();
        wanted > 1 && !fits(last) && (0..last).filter(|at| fits(*at)).count() < wanted
    })
}

/// An index to which items are assigned: its demands, and the `contains` groups that it counts for.
type Place = (Vec<Atom>, Vec<Id>);

fn can_place(engine: &mut Engine<'_>, wanted: &[Wanted], places: &mut [Place]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    for place in usize::try_from(first.first).unwrap_or(usize::MAX)..places.len() {
        if first.group.is_some_and(|group| places[place].1.contains(&group)) {
            continue;
        }
        let before = places[place].clone();
        places[place].0.push(first.atom.strict());
        places[place].1.extend(first.group);
        if !engine.goal(places[place].0.clone()).is_empty() && can_place(engine, rest, places) {
            return true;
        }
        places[place] = before;
    }
    false
}

/// Returns whether there are too few distinct values for the required items.
fn must_repeat(engine: &mut Engine<'_>, shape: &Shape) -> bool {
    let mut groups: Vec<_> = shape.wanted.iter().filter_map(|wanted| Some((wanted.group?, wanted.atom))).collect();
    groups.dedup();
    let is_short = groups.into_iter().any(|(group, atom)| {
        let count = shape.wanted.iter().filter(|wanted| wanted.group == Some(group)).count();
        fewer_than(engine, &[atom.strict()], count as u64).is_some()
    });
    is_short || {
        let least = shape.least.min(MAX_PLACES);
        (0..least).any(|one| {
            let Answer::Witness(value) = engine.goal(shape.any_item(one)) else { return false };
            let others = distinct(engine, shape.any_item(one), std::slice::from_ref(&value));
            engine.goal(others).is_empty()
                && (0..least).filter(|other| *other != one).any(|other| {
                    let goal = distinct(engine, shape.any_item(other), std::slice::from_ref(&value));
                    engine.goal(goal).is_empty()
                })
        })
    }
}

/// Returns whether two indexes can have equal values, or this is not known.
fn can_repeat(engine: &mut Engine<'_>, shape: &Shape, is_sure: &mut bool) -> bool {
    let last = shape.uniform_from() + 1;
    let end = shape.most.map_or(last, |most| last.min(most.saturating_sub(1)));
    for one in 0..=end {
        for other in one + 1..=end {
            let goal = shape.any_item(one).into_iter().chain(shape.any_item(other)).collect();
            match engine.goal(goal) {
                Answer::Empty if engine.budget.visit(1 + 2 * shape.at.len()) => {}
                Answer::Empty | Answer::Undecided => {
                    *is_sure = false;
                    return true;
                }
                _ => return true,
            }
        }
    }
    engine.table.words.tells_spellings && {
        // No value has the types of both 1 and 1.0, but they are equal.
        let spelled = engine.table.node(vec![Lit::Type(node::NUMBER | node::ARRAY | node::OBJECT)]);
        let mut is_spelled = |at: &u64| {
            let goal = shape.any_item(*at).into_iter().chain([Atom::is(spelled, false)]).collect();
            !engine.goal(goal).is_empty()
        };
        (0..=end).filter(&mut is_spelled).nth(1).is_some()
    }
}

/// Returns whether there are fewer distinct values than items that must have one of them.
fn too_few_values(engine: &mut Engine<'_>, shape: &Shape) -> bool {
    let last = shape.uniform_from();
    let Some(values) = fewer_than(engine, &shape.any_item(last), shape.least) else { return false };
    let before = (0..last.min(shape.least)).filter(|at| {
        let others = distinct(engine, shape.any_item(*at), &values);
        engine.goal(others).is_empty()
    });
    before.count() as u64 + shape.least.saturating_sub(last) > values.len() as u64
}

/// Returns all values that satisfy a goal, if they are fewer than `count`.
pub fn fewer_than(engine: &mut Engine<'_>, goal: &[Atom], count: u64) -> Option<Vec<Rc<Value>>> {
    let mut items = Vec::new();
    while (items.len() as u64) < count.min(LONGEST_UNIQUE) {
        if let Some(value) = another(engine, goal, &items) {
            items.push(value);
            continue;
        }
        let goal = distinct(engine, goal.to_vec(), &items);
        match engine.goal(goal) {
            Answer::Witness(value) => items.push(value),
            Answer::Empty => return Some(items),
            _ => return None,
        }
    }
    None
}
